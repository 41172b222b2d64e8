"""Statements that a chat model of a real Ollama server extracts from real text, by the client and the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from at_server import set_variables
from graphs import evidence, forget_replies, snapshot
from real_ollama import RealOllama, settings_for, with_model
from scripted_models import Says
from stated import statements

from e2g_neo4j import E2G, LayerReport, Settings
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import BudgetError, ConfigurationError, QueryError
from e2g_neo4j.models.chat import retry

pytestmark = pytest.mark.full

LINES = statements("""Luke Farran | sails | Averil | Luke Farran sailed the brig Averil into a gale. | voyage, gale | 9
Josiah Quill | serves under | Luke Farran | Josiah Quill was the mate of Luke Farran. | crew | 6
King Arthur | rules | Britain | King Arthur ruled Britain. | kings | 1""")
TEXT = "\n\n".join(
    f"On day {day} of the voyage Luke Farran wrote in the log of the Averil. The wind was in the north and the mate, "
    f"Josiah Quill, counted {day + 3} sails. They spoke of Port Hesk and of the gale."
    for day in range(6)
)
MORE = "Luke Farran sold the Averil in Port Hesk. Josiah Quill went home."
REPLYING = tuple(f"ollama:{one}@" for one in ("lister", "shy-lister", "silent-lister"))
"""How the names of the models begin whose replies are cached."""


@pytest.fixture(scope="module", autouse=True)
def models(ollama_server: RealOllama) -> None:
    """A prompt ends with the fence, one after an unusable reply with a brace."""
    ollama_server.create("lister", Says(LINES))
    ollama_server.create("shy-lister", {"": Says("Aye, aye."), "}": Says(LINES)})
    ollama_server.create("silent-lister", Says("Aye, aye."))


@pytest.fixture
def settings(
    neo4j_connection: Any, ollama_server: RealOllama, monkeypatch: pytest.MonkeyPatch, driver: Any
) -> Settings:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.01)
    forget_replies(driver, *REPLYING)
    return settings_for(neo4j_connection, ollama_server)


def test_the_life_of_statements(settings: Settings, corpus: str, driver: Any, tmp_path: Any) -> None:
    log, note = from_text(TEXT, corpus=corpus, source="log"), from_text(MORE, corpus=corpus, source="note")
    with E2G(settings=settings) as e2g:  # summaries are extractive, so that only statements are asked for
        chunks = e2g.index([log], corpus=corpus).chunks
        with pytest.raises(ConfigurationError, match="E2G_CHAT_MODEL"):
            e2g.enrich(corpus=corpus, layers=["entities", "statements"])
        assert "statements" not in e2g.enrich(corpus=corpus).layers
        with pytest.raises(QueryError, match=f"e2g enrich --with statements --corpus {corpus}"):
            e2g.retrieve("Who?", corpus=corpus, mode="graphrag_local")
    with E2G(settings=with_model(settings, "lister")) as e2g:
        before = snapshot(driver, corpus, exact=True)
        planned = e2g.enrich(corpus=corpus, layers=["statements"], dry_run=True)
        assert planned.dry_run
        assert planned.layers["statements"].usage.calls == chunks
        assert snapshot(driver, corpus, exact=True) == before
        with pytest.raises(BudgetError):
            e2g.enrich(corpus=corpus, layers=["statements"], budget_tokens=6_000)
        assert e2g.stats(corpus)["statements"] == 0
        made = e2g.enrich(corpus=corpus, layers=["statements"]).layers["statements"]
        assert 0 < made.usage.calls < chunks
        assert made.usage.calls + made.usage.remembered == chunks
        assert made.cost == pytest.approx(made.usage.prompt_tokens / 1e6)
        assert made.unmatched >= chunks, "no text mentions King Arthur"
        assert made.total == e2g.stats(corpus)["statements"] > 0
        found = e2g.retrieve("Who sailed the Averil?", corpus=corpus, mode="graphrag_local")
        assert found.passages
        assert "statements about the entities" in found.reason
        assert "out of date" not in found.reason
        mixed = e2g.retrieve("Who sailed the Averil?", corpus=corpus, mode="lightrag")
        assert mixed.reason.endswith("rank the text. Relations are the statements.")
        assert (mixed.round_trips, mixed.calls, bool(mixed.passages)) == (3, 0, True)
        file = tmp_path / "corpus.zip"
        e2g.export_corpus(file, corpus=corpus)
        e2g.import_corpus(file, corpus=(copy := f"{corpus}-copy"))
        again = e2g.retrieve("Who sailed the Averil?", corpus=copy, mode="graphrag_local")
        assert [one.text for one in evidence(again.passages)] == [one.text for one in evidence(found.passages)]
        assert e2g.enrich(corpus=copy, layers=["statements"]).layers["statements"] == LayerReport(
            made.total,
            unmatched=made.unmatched,
            usage=replace(made.usage, calls=0, remembered=chunks, **NO_TOKENS),
        )
        e2g.delete(corpus=copy)
    with E2G(settings=settings) as e2g:
        e2g.index([note], corpus=corpus)
        found = e2g.retrieve("Who sailed the Averil?", corpus=corpus, mode="graphrag_local")
        assert f"are out of date: run `e2g enrich --with statements --corpus {corpus}`" in found.reason
        mixed = e2g.retrieve("Who sailed the Averil?", corpus=corpus, mode="lightrag")
        assert f"are out of date: run `e2g enrich --with statements --corpus {corpus}`" in mixed.reason
        assert any(corpus in one.what for one in e2g.doctor() if one.check == "layers")
    with E2G(settings=with_model(settings, "lister")) as e2g:
        report = e2g.index([from_text(MORE + " All was well.", corpus=corpus, source="note")], corpus=corpus)
        assert report.spending[0].calls == 1
        assert e2g.stats(corpus)["statements"] == made.total + 2
        e2g.delete(["note"], corpus=corpus)
        assert e2g.stats(corpus)["statements"] == made.total
        e2g.delete(corpus=corpus)
    assert snapshot(driver, corpus) == ({}, {})
    left = "MATCH (n:Statement|StagedStatement|CachedSummary) WHERE n.corpus = $corpus OR $corpus IN n.corpora RETURN n"
    assert not driver.execute_query(left, corpus=corpus).records


NO_TOKENS = {"prompt_tokens": 0, "completion_tokens": 0}


def test_unusable_replies_are_asked_for_again_with_the_reason(settings: Settings, corpus: str) -> None:
    with E2G(settings=with_model(settings, "shy-lister")) as e2g:
        e2g.index([from_text(MORE, corpus=corpus, source="note")], corpus=corpus)
        made = e2g.enrich(corpus=corpus, layers=["statements"]).layers["statements"]
        assert (made.usage.calls, made.total, made.unreadable) == (2, 2, 0)
        e2g.delete(corpus=corpus)


def test_the_command_says_what_it_costs_and_what_could_not_be_read(
    settings: Settings,
    ollama_server: RealOllama,
    corpus: str,
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[..., tuple[int, str, str]],
) -> None:
    set_variables(monkeypatch, settings, OLLAMA_HOST=ollama_server.host, E2G_CHAT_MODEL="ollama:silent-lister")
    with E2G(settings=settings) as e2g:
        e2g.index([from_text(MORE, corpus=corpus, source="note")], corpus=corpus)

    def enrich(*options: str) -> tuple[int, str, str]:
        return run("enrich", "--corpus", corpus, *options)

    assert "No chat model calls: only statements and reports by a chat model need them." in enrich("--dry-run")[1]
    code, out, _ = enrich("--with", "statements", "--dry-run")
    assert code == 0
    assert out.splitlines()[1].split()[:3] == ["statements", "1", "0"]
    assert enrich("--with", "statements", "--budget-tokens", "100")[0] == BudgetError.exit_code
    code, out, _ = enrich("--with", "statements")
    assert code == 0
    assert "has 0 statements, 0 new." in out
    assert "Replies that could not be read: 1." in out
    assert json.loads(enrich("--with", "statements", "--json")[1])["layers"]["statements"]["unreadable"] == 1
    with E2G(settings=settings) as e2g:
        e2g.delete(corpus=corpus)
