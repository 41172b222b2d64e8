"""Mode `lightrag` and its variants beside what LightRAG selects, without a database."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from operations import outcome

from e2g_neo4j.retrieval.chat_calls import ChatCalls
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import lightrag
from e2g_neo4j.retrieval.strategies.dense import dense
from e2g_neo4j.retrieval.strategies.lightrag import mix_rows
from e2g_neo4j.runtime.requests import Chat, Embed
from e2g_neo4j.types.chat import ChatReply

PUBLISHED = json.loads((Path(__file__).parents[1] / "data" / "lightrag.json").read_text(encoding="utf-8"))
"""Written by scripts/record_lightrag.py. A chunk is a string of names of a letter each, and has one window here."""

SOURCES = {
    "mix": lightrag.MIX,
    "hybrid": lightrag.HYBRID,
    "local": lightrag.LOCAL,
    "global": lightrag.GLOBAL,
}
CASES = pytest.mark.parametrize("case", PUBLISHED, ids=range(len(PUBLISHED)))
RELATIONS = pytest.mark.parametrize("relations", ["mentioned", "stated"])


def candidate(number: int, **windows: Any) -> dict[str, Any]:
    base = {"chunk": f"c{number}", "document": "d", "index": number, "tokens": 100, "persistence": 0.3}
    return {**base, "shares": [1.0], **windows}


def row(case: Mapping[str, Any], relations: str) -> dict[str, Any]:
    """What the statements of `lightrag` would read. A pair is stated in the first chunk that mentions it."""
    scores = [(1 + cosine) / 2 for cosine in case["cosines"]]
    order = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    known = {*case["named"], *"".join(case["local"]), *"".join(case["near"])}

    def relation(pair: str) -> list[str]:
        [first, *_] = (f"c{number}" for number, names in enumerate(case["chunks"]) if {*pair} <= {*names})
        return [*pair] if relations == "mentioned" else [*pair, first]

    nearest = order[: case["nearest"]]
    candidates = []
    for number, names in enumerate(case["chunks"]):
        mentioned = [name for name in names if name in known]
        if mentioned or number in nearest:
            window = {"number": 0, "score": scores[number], "mentioned": mentioned}
            candidates.append(candidate(number, windows=[window]))
    return {
        "nearest": [f"c{number}-w0" for number in nearest],
        "named": [*case["named"]],
        "local": [relation(pair) for pair in case["local"]],
        "global": [relation(pair) for pair in case["near"]],
        "candidates": candidates,
    }


def taken(case: Mapping[str, Any], mode: str, *, relations: str = "mentioned") -> list[int]:
    recorded = case[relations][mode]
    chunks: list[int] = recorded["chunks"] if relations == "mentioned" else recorded
    return chunks


def drive(operation: Any, answer: Callable[[Any], Any]) -> list[int]:
    """The chunks of the windows that an operation ranks."""
    return [window.index for window, _ in outcome(operation, answer)]


@CASES
@RELATIONS
@pytest.mark.parametrize("mode", SOURCES)
def test_lightrag_takes_the_same_text_in_the_same_order(
    case: dict[str, Any], relations: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of windows that are as long as chunks. Here, the others that were found follow."""
    monkeypatch.setattr(lightrag, "WINDOWS_EACH", case["each"] / 2)
    expected = taken(case, mode, relations=relations)
    found = [window.index for window, _ in mix_rows([row(case, relations)], SOURCES[mode])]
    assert found[: len(expected)] == expected
    others = [case["cosines"][number] for number in found[len(expected) :]]
    assert others == sorted(others, reverse=True)


@CASES
@pytest.mark.parametrize("mode", SOURCES)
def test_entities_are_those_of_the_question_and_the_ends_of_other_relations(case: dict[str, Any], mode: str) -> None:
    sources = SOURCES[mode]
    named, ends = case["named"] if sources.local else "", "".join(case["near"]) if sources.others else ""
    assert {*case["mentioned"][mode]["entities"]} == {*named, *ends}


@CASES
def test_keywords_of_a_chat_model_lead_to_the_same(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Entities and other relations are read one after the other; what both find counts once."""
    monkeypatch.setattr(lightrag, "WINDOWS_EACH", case["each"] / 2)
    whole = row(case, "mentioned")

    def rows(statement: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        if statement == "query/link":
            return [{"named": [{"entity": name, "names": [name]} for name in case["named"]]}]
        scores = {f"c{number}-w0": (1 + cosine) / 2 for number, cosine in enumerate(case["cosines"])}
        if statement == "query/window_scores":
            return [{"id": id, "score": scores[id]} for id in parameters["ids"]]
        if parameters["entry"]:
            ends = {key for relation in whole["global"] for key in relation}
            return [{**whole, "nearest": [], "named": [], "local": [], "candidates": mentioning(ends, score=0.0)}]
        ends = {*whole["named"], *(key for relation in whole["local"] for key in relation)}
        return [{**whole, "global": [], "candidates": mentioning(ends)}]

    def mentioning(names: set[str], **score: float) -> list[dict[str, Any]]:
        found = []
        for one in whole["candidates"]:
            [window] = one["windows"]
            there = [name for name in window["mentioned"] if name in names]
            if there or f"{one['chunk']}-w0" in whole["nearest"]:
                found.append({**one, "windows": [{**window, "mentioned": there, **score}]})
        return found

    def answer(request: Any) -> Any:
        if isinstance(request, Embed):
            return [1.0]
        if isinstance(request, Chat):
            keywords = {"high_level": ["sea"], "low_level": [*case["named"]]}
            return ChatReply(json.dumps(keywords), "stop", 9, 9)
        return rows(request.statement, request.parameters)

    model: Any = SimpleNamespace(name="scripted", context=None, count=len)
    found = drive(lightrag.lightrag(Query("Who?", ["c"], 100, {"c": []}, chat=ChatCalls(model))), answer)
    expected = taken(case, "mix")
    assert found[: len(expected)] == expected


@CASES
def test_dense_begins_as_mode_naive(case: dict[str, Any]) -> None:
    rows = [candidate(at, scores=[[0, (1 + cosine) / 2]]) for at, cosine in enumerate(case["cosines"])]
    found = drive(dense(Query("Who?", ["c"], 100)), lambda request: [1.0] if isinstance(request, Embed) else rows)
    assert found[: case["nearest"]] == case["naive"]


@CASES
def test_relations_of_entities_are_cut_by_tokens_there_and_by_number_here(case: dict[str, Any]) -> None:
    """`test_lightrag_statements_real` compares their order."""
    assert case["few"] == case["local"][: len(case["few"])]
    assert len(case["few"]) < lightrag.RELATIONS


def test_the_cases_cut_something_and_not_everything() -> None:
    assert {len(case["few"]) < len(case["local"]) for case in PUBLISHED} == {True, False}
    assert any(taken(case, mode) != sorted(taken(case, mode)) for case in PUBLISHED for mode in SOURCES)
    assert any(taken(case, "mix") != taken(case, "mix", relations="stated") for case in PUBLISHED)
