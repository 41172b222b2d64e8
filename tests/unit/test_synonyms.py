"""Mode `synonyms`: keywords of questions, their matches, and the scores of windows, without a database."""

from __future__ import annotations

from typing import Any

import pytest
from operations import chunk_row

from e2g_neo4j.models.entities.keywords import keywords
from e2g_neo4j.models.entities.pipeline import load_pipeline
from e2g_neo4j.retrieval.strategies import synonyms as mode
from e2g_neo4j.retrieval.strategies.synonyms import (
    MAX_KEYWORDS,
    Match,
    entities_of,
    first_keywords,
    match_keywords,
    matches_told,
    stem_of,
)
from e2g_neo4j.runtime.requests import EmbedAll


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who repairs chronometers?", {"chronometer": "chronometer"}),
        ("Who met Van Helsing?", {"van helsing": "Van Helsing"}),
        (
            "Who made the marine chronometer?",
            {"chronometer": "chronometer", "marine chronometer": "marine chronometer"},
        ),
        ("Why?", {}),
    ],
)
def test_keywords_are_entities_and_noun_phrases(question: str, expected: dict[str, str]) -> None:
    assert keywords(load_pipeline(None)(question)) == expected


@pytest.mark.parametrize(
    ("key", "stem"),
    [
        ("companies", "compan"),
        ("company", "compan"),
        ("old lighthouses", "old lighthous"),
        ("us", None),
        ("van helsing", "van hels"),
    ],
)
def test_the_stem_begins_all_forms_of_a_keyword(key: str, stem: str | None) -> None:
    assert stem_of(key) == stem


def test_the_evidence_tells_what_matched_what() -> None:
    found = {"c": (Match("b", "x", "key", 1.0), Match("a", "y", "vector", 0.934)), "d": (Match("a", "z", "form", 1.0),)}
    assert entities_of(found, ["a", "b", "n"]) == (("y", "z", "x"), ("n",))
    assert matches_told(found) == "“b” matches x (key); “a” matches y (vector, 0.93), z (form)."
    assert matches_told({"c": ()}) == "No entity matches a keyword of the question."


def test_keywords_are_bounded_and_embedded_together_as_they_are_spelled() -> None:
    operation: Any = match_keywords(first_keywords({f"k{n}": f"K{n}" for n in range(20)}), ["c"])
    assert operation.send(None) == EmbedAll(tuple(f"K{n}" for n in range(MAX_KEYWORDS)))
    request = operation.send([[float(n)] for n in range(MAX_KEYWORDS)])
    given = [(one["key"], one["vector"]) for one in request.parameters["keywords"]]
    assert given == [(f"k{n}", [float(n)]) for n in range(MAX_KEYWORDS)]


def candidates(corpus: str, windows: list[tuple[float, list[int]]]) -> dict[str, Any]:
    """Windows with their own scores and relations: of ann with bob, ann with cid, and dan with eve."""
    found = [
        chunk_row(f"{corpus}{at}", [{"number": 0, "score": score, "relations": of}], document=corpus, index=at)
        for at, (score, of) in enumerate(windows)
    ]
    return {"corpus": corpus, "relations": [["ann", "bob"], ["ann", "cid"], ["dan", "eve"]], "candidates": found}


def test_a_window_gains_by_the_mean_of_the_ends_of_its_best_relation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mode, "RELATION", 0.5)
    rows = [candidates("c", [(0.5, [0]), (0.5, [1, 2]), (0.72, []), (0.4, [2])])]
    found = mode.rank_rows(rows, {"c": {"ann": 1.0, "cid": 0.9}})
    assert [window.chunk for window, _ in found] == ["c1", "c0", "c2", "c3"]
    assert [score for _, score in found] == pytest.approx([0.975, 0.75, 0.72, 0.4])
