"""Mode `vector_context`: the scores of windows by relations, computed by hand."""

from __future__ import annotations

from typing import Any

import pytest
from operations import chunk_row

from e2g_neo4j.retrieval.strategies import vector_context
from e2g_neo4j.retrieval.strategies.vector_context import rank_rows


def row(scores: list[float], relations: list[list[int]], corpus: str = "c") -> dict[str, Any]:
    """Windows with their own scores and the relations that they mention: of ann (.9) with bob, and of cid (.6) with
    ann and with dan. Neither bob nor dan is among the nearest entities."""
    candidates = [
        chunk_row(f"{corpus}{at}", [{"number": 0, "score": score, "relations": of}], document=corpus, index=at)
        for at, (score, of) in enumerate(zip(scores, relations, strict=True))
    ]
    return {
        "corpus": corpus,
        "entities": [{"key": "ann", "score": 0.9}, {"key": "cid", "score": 0.6}],
        "relations": [["ann", "bob"], ["ann", "cid"], ["cid", "dan"]],
        "candidates": candidates,
    }


def test_a_window_gains_by_the_nearer_end_of_its_best_relation(monkeypatch: pytest.MonkeyPatch) -> None:
    """.5 + .5 * .9 with ann and bob, .6 + .5 * .6 with cid and dan, and .8 with nobody; a second relation adds none."""
    monkeypatch.setattr(vector_context, "RELATION", 0.5)
    found = rank_rows([row([0.5, 0.6, 0.8, 0.45], [[0], [2], [], [2, 1]])])
    assert [window.chunk for window, _ in found] == ["c0", "c1", "c3", "c2"]
    assert [score for _, score in found] == pytest.approx([0.95, 0.9, 0.9, 0.8])
