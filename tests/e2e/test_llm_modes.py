"""Modes that call a chat model, and answers by map-reduce and DRIFT, with a real Ollama server and a real Neo4j."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from at_server import set_variables, settings_of
from real_ollama import RealOllama
from scripted_models import Says

from e2g_neo4j import E2G, Answer, AsyncE2G, Evidence, Settings
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import ConfigurationError, QueryError
from e2g_neo4j.managed_neo4j import Connection

pytestmark = pytest.mark.full

CORPUS = "llm-modes"
QUESTION = "Who was at the helm of the Averil when Luke Farran met Josiah Quill?"
TEXT = "\n\n".join(
    f"On day {day} of the voyage Luke Farran wrote in the log of the Averil. The mate Josiah Quill counted {day + 3} "
    f"sails off Port Hesk. Theodora Lisle and Josiah Quill saw the gale from Gannet Head."
    for day in range(12)
)
FOLLOW_UP = "What did Theodora Lisle see from Gannet Head?"
POINT = {"text": "Luke Farran was at the helm.", "score": 80, "passages": [1]}
REPLIES = {
    "relevant": {"relevant": [1]},
    "nothing": {"relevant": []},
    "rater": {"1": 0, "2": 5},
    "points": {"points": [POINT]},
    "reports": {"1": 5, "points": [{"text": "Luke Farran was at the helm.", "score": 80, "reports": [1]}]},
    "drift": {"points": [POINT], "follow_ups": [{"question": FOLLOW_UP, "score": 70}]},
}


@pytest.fixture(scope="module")
def settings(neo4j_connection: Connection, ollama_server: RealOllama) -> Iterator[Settings]:
    """A prompt ends with the question, that for keywords with a tag. Every model says the same to both."""
    for name, reply in REPLIES.items():
        ollama_server.create(f"modes-{name}", Says(json.dumps(reply)))
    keywords = {"high_level": ["a gale at sea"], "low_level": ["Theodora Lisle", "Nobody"]}
    ollama_server.create("modes-keywords", {">": Says(json.dumps(keywords)), "": Says("No.")})
    ollama_server.create("modes-prose", Says("Passage one is relevant."))
    settings = settings_of(
        neo4j_connection, chunk_tokens=120, chunk_overlap=20, ollama_host=ollama_server.host, chat_model=None
    )
    with E2G(settings=settings) as e2g:
        e2g.index([from_text(TEXT, corpus=CORPUS, source="log", title="The log")], corpus=CORPUS)
        e2g.enrich(corpus=CORPUS, layers=["communities", "sentences"])
    yield settings
    with E2G(settings=settings) as e2g:
        e2g.delete(corpus=CORPUS)


def found(settings: Settings, mode: str, model: str | None, **options: Any) -> Evidence:
    chosen = settings.model_copy(update={"chat_model": model and f"ollama:modes-{model}"})
    with E2G(settings=chosen) as e2g:
        return e2g.retrieve(QUESTION, corpus=CORPUS, mode=mode, k=3, **options)


MODES: list[tuple[str, str, int, str]] = [
    ("hipporag", "relevant", 1, "kept 1 of the 5 nearest sentences."),
    ("hipporag", "nothing", 1, "kept 0 of the 5 nearest sentences: windows are ranked by vector."),
    ("lightrag", "keywords", 1, "general a gale at sea; specific Theodora Lisle, Nobody."),
    ("lazy", "relevant", 0, "tested windows relevant."),
    ("communities", "rater", 0, "The chat model chose"),
]


@pytest.mark.parametrize(("mode", "model", "calls", "told"), MODES)
def test_a_mode_calls_the_model_and_counts_it(settings: Settings, mode: str, model: str, calls: int, told: str) -> None:
    without = found(settings, mode, None)
    assert (without.calls, without.prompt_tokens, without.completion_tokens) == (0, 0, 0)
    evidence = found(settings, mode, model, llm=True)
    assert told in evidence.reason
    assert evidence.reason.startswith(without.reason)
    assert 1 <= evidence.calls <= 9
    assert not calls or evidence.calls == calls
    assert evidence.prompt_tokens > 500 * evidence.calls, "a byte is a token"
    assert evidence.completion_tokens >= evidence.calls
    assert evidence.passages
    assert evidence.round_trips > without.round_trips

    async def asked() -> Evidence:
        chosen = settings.model_copy(update={"chat_model": f"ollama:modes-{model}"})
        async with AsyncE2G(settings=chosen) as client:
            return await client.retrieve(QUESTION, corpus=CORPUS, mode=mode, k=3, llm=True)

    again = asyncio.run(asked())
    assert [one.nodes for one in again.passages] == [one.nodes for one in evidence.passages]
    assert (again.reason, again.calls) == (evidence.reason, evidence.calls)


@pytest.mark.parametrize("mode", ["hipporag", "lightrag", "lazy", "communities"])
def test_prose_leads_to_the_way_without_a_model(settings: Settings, mode: str) -> None:
    without, evidence = found(settings, mode, None), found(settings, mode, "prose", llm=True)
    assert [one.nodes for one in evidence.passages] == [one.nodes for one in without.passages]
    assert evidence.calls == (6 if mode == "lazy" else 3), "lazy asks for parts of the question first"
    assert "The chat model sent no usable reply in 3 calls" in evidence.reason


def test_the_option_needs_a_model_and_a_mode_that_uses_it(settings: Settings) -> None:
    with pytest.raises(ConfigurationError, match="E2G_CHAT_MODEL"):
        found(settings, "lazy", None, llm=True)
    with pytest.raises(QueryError, match="choose among lightrag"):
        found(settings, "dense", "relevant", llm=True)


def test_only_the_answer_is_streamed(settings: Settings) -> None:
    """The model says the same to the filter of sentences and to the question."""
    chosen = settings.model_copy(update={"chat_model": "ollama:modes-relevant"})
    with E2G(settings=chosen) as e2g:
        _, *pieces, answer = e2g.stream(QUESTION, corpus=CORPUS, mode="hipporag", k=2, llm=True)
    assert isinstance(answer, Answer)
    assert "".join(map(str, pieces)) == answer.text == json.dumps(REPLIES["relevant"])
    assert (answer.calls, answer.evidence.calls) == (2, 1)
    assert answer.prompt_tokens > answer.evidence.prompt_tokens > 0


def without_scores(answer: Answer) -> Answer:
    """An answer without its evidence and the scores of its passages, whose last bits may differ from run to run."""
    given = tuple(replace(one, score=0) for one in answer.given)
    citations = tuple(replace(one, passage=replace(one.passage, score=0)) for one in answer.citations)
    return replace(answer, evidence=Evidence("", (), "global", "", (), (), 0, ()), given=given, citations=citations)


def test_map_reduce_reads_all_batches_and_streams_only_the_answer(settings: Settings) -> None:
    chosen = settings.model_copy(update={"chat_model": "ollama:modes-points", "evidence_tokens": 1500})
    with E2G(settings=chosen) as e2g:
        answer = e2g.answer(QUESTION, corpus=CORPUS, mode="dense", method="map_reduce")
        _, *pieces, streamed = e2g.stream(QUESTION, corpus=CORPUS, mode="dense", method="map_reduce")
    assert isinstance(streamed, Answer)
    assert answer.text == json.dumps(REPLIES["points"])
    assert "".join(map(str, pieces)) == streamed.text == answer.text
    assert [one.number for one in answer.citations] == [1]
    [cited] = answer.citations
    assert TEXT[cited.passage.start : cited.passage.end] == cited.passage.text
    assert "Map-reduce: " in answer.evidence.reason
    given = sum(len(one.text) for one in answer.given)
    assert given > 1500, "more than one batch"
    assert answer.calls >= 1 + given // 1500 + 1
    assert without_scores(streamed) == without_scores(answer)

    async def listen() -> list[Evidence | str | Answer]:
        async with AsyncE2G(settings=chosen) as client:
            return [one async for one in client.stream(QUESTION, corpus=CORPUS, mode="dense", method="map_reduce")]

    found, *heard, told = asyncio.run(listen())
    assert isinstance(found, Evidence)
    assert heard == pieces
    assert isinstance(told, Answer)
    assert (told.calls, told.prompt_tokens) == (answer.calls, answer.prompt_tokens)


def test_drift_searches_for_follow_up_questions_and_streams_only_the_answer(settings: Settings) -> None:
    """The model says the same to the reports, to the passages of both questions, and to the points."""
    chosen = settings.model_copy(update={"chat_model": "ollama:modes-drift", "evidence_tokens": 1500})
    with E2G(settings=chosen) as e2g:
        answer = e2g.answer(QUESTION, corpus=CORPUS, method="drift")
        _, *pieces, streamed = e2g.stream(QUESTION, corpus=CORPUS, method="drift")
    assert isinstance(streamed, Answer)
    assert answer.text == "".join(map(str, pieces)) == json.dumps(REPLIES["drift"])
    [cited] = answer.citations
    assert TEXT[cited.passage.start : cited.passage.end] == cited.passage.text
    assert "DRIFT: reports: " in answer.evidence.reason
    assert answer.evidence.reason.endswith(f"Follow-up questions in mode auto: {FOLLOW_UP}")
    assert answer.calls == 4
    assert without_scores(streamed) == without_scores(answer)

    async def listen() -> list[Evidence | str | Answer]:
        async with AsyncE2G(settings=chosen) as client:
            return [one async for one in client.stream(QUESTION, corpus=CORPUS, method="drift")]

    found, *heard, told = asyncio.run(listen())
    assert isinstance(found, Evidence)
    assert heard == pieces
    assert isinstance(told, Answer)
    assert (told.calls, told.prompt_tokens) == (answer.calls, answer.prompt_tokens)
    with E2G(settings=chosen) as e2g:
        e2g.index([from_text("It rained.", corpus=f"{CORPUS}-none", source="x")], corpus=f"{CORPUS}-none")
        with pytest.raises(QueryError, match="has no communities"):
            e2g.answer(QUESTION, corpus=f"{CORPUS}-none", method="drift")
        e2g.delete(corpus=f"{CORPUS}-none")


def test_the_command_line_has_all(
    settings: Settings, output: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    more = {"E2G_CHAT_MODEL": "ollama:modes-points", "E2G_EVIDENCE_TOKENS": "1500"}
    set_variables(monkeypatch, settings, E2G_OLLAMA_HOST=str(settings.ollama_host), **more)

    def run(*arguments: str) -> str:
        return output(*arguments, "--corpus", CORPUS)

    answer = json.loads(run("ask", QUESTION, "--mode", "dense", "--method", "map-reduce", "--json"))
    assert "Map-reduce" in answer["evidence"]["reason"]
    assert answer["calls"] > 2
    monkeypatch.setenv("E2G_CHAT_MODEL", "ollama:modes-drift")
    answer = json.loads(run("ask", QUESTION, "--method", "drift", "--json"))
    assert (answer["calls"], FOLLOW_UP in answer["evidence"]["reason"]) == (4, True)
    plan = run("ask", QUESTION, "--method", "all-text", "--dry-run")
    assert re.fullmatch(
        r"All text: documents: 1\. \d batches with \d+ tokens of text: \d calls of the chat model\.\n", plan
    )
    monkeypatch.setenv("E2G_CHAT_MODEL", "ollama:modes-reports")
    for level in ("1", "dynamic"):
        answer = json.loads(run("ask", QUESTION, "--method", "global", "--level", level, "--json"))
        assert answer["points"][0]["reports"][0]["level"] == 1
    assert "The chat model chose 1 of" in answer["evidence"]["reason"]
    assert "From the reports: " in run("ask", QUESTION, "--method", "global")
    monkeypatch.setenv("E2G_CHAT_MODEL", "ollama:modes-relevant")
    evidence = json.loads(run("query", QUESTION, "--mode", "hipporag", "--llm", "--json"))
    assert evidence["calls"] == 1
    assert "chat model: 1 call" in run("query", QUESTION, "--explain", "--mode", "hipporag", "--llm")
    compared = json.loads(run("query", QUESTION, "--compare", "dense,hipporag", "--llm", "--json"))
    assert [compared["modes"][mode]["calls"] for mode in ("dense", "hipporag")] == [0, 1]
    questions, results = tmp_path / "questions.jsonl", tmp_path / "results.json"
    questions.write_text(json.dumps({"id": "1", "question": QUESTION, "gold_passages": ["log"]}) + "\n")
    table = run("eval", str(questions), "--modes", "dense,hipporag", "--llm", "-k", "2", "--json", str(results))
    assert "calls" in table
    measured = json.loads(results.read_text())["modes"]
    assert [measured[mode]["calls"] for mode in ("dense", "hipporag")] == [0, 1]
    assert measured["hipporag"]["prompt_tokens"] == measured["hipporag"]["outcomes"][0]["prompt_tokens"] > 500
    without = run("eval", str(questions), "--modes", "dense,hipporag", "-k", "2")
    assert "calls" not in without
