"""Reports of communities that a chat model of a real Ollama server writes, by the client and the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from at_server import set_variables
from graphs import evidence, forget_replies, snapshot
from neo4j import Driver
from real_ollama import RealOllama, settings_for, with_model
from scripted_models import Says

from e2g_neo4j import E2G, Settings
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import BudgetError, ConfigurationError, InputError
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.models.chat import retry

pytestmark = [pytest.mark.full, pytest.mark.by_turns(2)]

REPORT = json.dumps(
    {"title": "The crew of the Averil", "summary": "Luke Farran sails.", "findings": ["A gale comes."], "rating": 9}
)
WRITTEN = ("The crew of the Averil", "Luke Farran sails.\nA gale comes.", 9)
TEXT = "\n\n".join(
    f"On day {day} of the voyage Luke Farran wrote in the log of the Averil. The wind was in the north and the mate, "
    f"Josiah Quill, counted {day + 3} sails. They spoke of Port Hesk and of the gale."
    for day in range(6)
)
MORE = "In Lisbon, Dora Finch sold a letter to Carol Dean. Carol Dean and Dora Finch read the letter in Lisbon."
REPLYING = tuple(f"ollama:{one}@" for one in ("reporter", "shy-reporter", "silent-reporter"))
"""How the names of the models begin whose replies are cached."""


@pytest.fixture(scope="module", autouse=True)
def models(ollama_server: RealOllama) -> None:
    """A prompt ends with the fence, one after an unusable reply with a brace."""
    ollama_server.create("reporter", Says(REPORT))
    ollama_server.create("shy-reporter", {"": Says("Aye, aye."), "}": Says(REPORT)})
    ollama_server.create("silent-reporter", Says("Aye, aye."))


@pytest.fixture
def settings(
    neo4j_connection: Connection, ollama_server: RealOllama, monkeypatch: pytest.MonkeyPatch, driver: Driver
) -> Settings:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.01)
    forget_replies(driver, *REPLYING)
    return settings_for(neo4j_connection, ollama_server)


def reports(driver: Driver, corpus: str) -> list[tuple[str, str, int | None]]:
    rows = driver.execute_query("MATCH (c:Community {corpus: $c}) RETURN c.title, c.text, c.rating", c=corpus).records
    return [tuple(row) for row in rows]


def test_the_life_of_written_reports(settings: Settings, corpus: str, driver: Driver, tmp_path: Path) -> None:
    log, copy = from_text(TEXT, corpus=corpus, source="log"), f"{corpus}-copy"
    with E2G(settings=settings) as e2g:  # summaries are extractive, so that only reports are asked for
        e2g.index([log], corpus=corpus)
        for faulty in ({"layers": ["entities"], "reports": "llm"}, {"reports": "short"}):
            arguments: Any = faulty
            with pytest.raises(InputError):
                e2g.enrich(corpus=corpus, **arguments)
        with pytest.raises(ConfigurationError, match="E2G_CHAT_MODEL"):
            e2g.enrich(corpus=corpus, reports="llm")
        assert e2g.stats(corpus)["communities"] == 0, "before anything is made"
    with E2G(settings=with_model(settings, "reporter")) as e2g:
        planned = e2g.enrich(corpus=corpus, layers=["communities"], reports="llm", dry_run=True).layers["communities"]
        with pytest.raises(BudgetError):
            e2g.enrich(corpus=corpus, layers=["communities"], reports="llm", budget_tokens=100)
        done = e2g.enrich(corpus=corpus, reports="llm").layers["communities"]
        assert done.total == planned.usage.calls > 0
        assert done.usage.calls + done.usage.remembered == done.total
        assert done.cost == pytest.approx(done.usage.prompt_tokens / 1e6)
        assert set(reports(driver, corpus)) == {WRITTEN}
        found = e2g.retrieve("Who sailed?", corpus=corpus, mode="communities")
        assert found.passages
        assert all(passage.level == 0 for passage in found.passages), "a report is no evidence"
        file = tmp_path / "corpus.zip"
        e2g.export_corpus(file, corpus=corpus)
        e2g.import_corpus(file, corpus=copy)
        again = e2g.retrieve("Who sailed?", corpus=copy, mode="communities")
        assert [one.text for one in evidence(again.passages)] == [one.text for one in evidence(found.passages)]
        assert set(reports(driver, copy)) == {WRITTEN}
        e2g.delete(corpus=copy)
    with E2G(settings=settings) as e2g:
        e2g.index([from_text(MORE, corpus=corpus, source="note")], corpus=corpus)
        reason = e2g.retrieve("Who sailed?", corpus=corpus, mode="communities").reason
        assert f"are out of date: run `e2g enrich --with communities --corpus {corpus}`." in reason
        assert any(corpus in one.what for one in e2g.doctor() if one.check == "layers")
    with E2G(settings=with_model(settings, "reporter")) as e2g:
        report = e2g.index([from_text(f"{MORE} All was well.", corpus=corpus, source="note")], corpus=corpus)
        assert report.spending[-1].calls > 0
        assert set(reports(driver, corpus)) == {WRITTEN}
        assert not any(corpus in one.what for one in e2g.doctor() if one.check == "layers")
        e2g.delete(corpus=corpus)
    assert snapshot(driver, corpus) == ({}, {})
    left = "MATCH (s:CachedSummary) WHERE any(one IN s.corpora WHERE one STARTS WITH $corpus) RETURN s"
    assert not driver.execute_query(left, corpus=corpus).records


def test_an_unusable_report_is_asked_for_again(settings: Settings, corpus: str, driver: Driver) -> None:
    with E2G(settings=with_model(settings, "shy-reporter")) as e2g:
        e2g.index([from_text(MORE, corpus=corpus, source="note")], corpus=corpus)
        done = e2g.enrich(corpus=corpus, layers=["communities"], reports="llm").layers["communities"]
        assert done.usage.calls == 2 * done.total > 0
        assert done.unreadable == 0
        assert set(reports(driver, corpus)) == {WRITTEN}
        e2g.delete(corpus=corpus)


def test_the_command_says_what_it_costs_and_what_could_not_be_read(
    settings: Settings,
    ollama_server: RealOllama,
    corpus: str,
    driver: Driver,
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[..., tuple[int, str, str]],
) -> None:
    set_variables(monkeypatch, settings, OLLAMA_HOST=ollama_server.host, E2G_CHAT_MODEL="ollama:silent-reporter")
    with E2G(settings=settings) as e2g:
        e2g.index([from_text(MORE, corpus=corpus, source="note")], corpus=corpus)

    def enrich(*options: str) -> tuple[int, str, str]:
        return run("enrich", "--corpus", corpus, "--with", "communities", *options)

    code, out, _ = enrich("--reports", "llm", "--dry-run")
    assert code == 0
    assert out.splitlines()[1].split()[0] == "reports"
    assert enrich("--reports", "llm", "--budget-tokens", "100")[0] == BudgetError.exit_code
    code, out, _ = enrich("--reports", "llm")
    assert code == 0
    assert "because replies could not be read" in " ".join(out.split())
    made = json.loads(enrich("--json")[1])["layers"]["communities"]
    assert made["unreadable"] == made["total"] > 0
    assert {rating for _, _, rating in reports(driver, corpus)} == {None}
    made = json.loads(enrich("--reports", "extractive", "--json")[1])["layers"]["communities"]
    assert (made["unreadable"], made["usage"]["calls"]) == (0, 0)
    assert "No chat model calls" in enrich("--dry-run")[1]
    with E2G(settings=settings) as e2g:
        e2g.delete(corpus=corpus)
