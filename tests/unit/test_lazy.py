"""Mode `lazy`: the order in which windows of communities are tested."""

from __future__ import annotations

from typing import Any

import pytest
from operations import chunk_row

from e2g_neo4j.retrieval.strategies import lazy
from e2g_neo4j.retrieval.strategies.lazy import Key, rank_rows, visit

ROOT, OTHER, FINE, NEAR = ("c", "root"), ("c", "other"), ("c", "fine"), ("c", "near")
RANKS: dict[Key, list[int]] = {ROOT: [0, 2, 3, 5], OTHER: [1, 4], FINE: [2, 5], NEAR: [0, 3]}
PARENTS: dict[Key, Key | None] = {ROOT: None, OTHER: None, FINE: ROOT, NEAR: ROOT}


def visited(
    monkeypatch: pytest.MonkeyPatch, relevant: set[int], *, budget: int = 100, tests: int = 1, barren: int = 1
) -> list[int]:
    monkeypatch.setattr(lazy, "BUDGET", budget)
    monkeypatch.setattr(lazy, "TESTS", tests)
    monkeypatch.setattr(lazy, "BARREN", barren)
    return visit(RANKS, PARENTS, [rank in relevant for rank in range(6)])


def test_windows_of_two_communities_are_tested_in_the_order_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The root is nearest: 0 is relevant. The other community's 1 is not, which ends the turn. Below the root, the
    community that has 0 is first: its next window is 3. That is not relevant either, so 2 is never tested."""
    assert visited(monkeypatch, {0}, budget=3) == [0, 1, 3]
    assert visited(monkeypatch, {0}) == [0, 1, 3]


def test_a_relevant_window_leads_to_the_next_community(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fine community comes after the one with 0, and has 2 tested, then, in a turn of its own, 5."""
    assert visited(monkeypatch, {0, 3, 2}) == [0, 1, 3, 2, 5]
    assert visited(monkeypatch, {0, 3, 2}, budget=4) == [0, 1, 3, 2]
    assert visited(monkeypatch, {0, 3}) == [0, 1, 3, 2]


def test_communities_without_relevant_windows_end_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    assert visited(monkeypatch, {1, 4}) == [0]
    assert visited(monkeypatch, {1, 4}, barren=2) == [0, 1, 4]


def test_a_turn_tests_several_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    assert visited(monkeypatch, {0}, tests=3) == [0, 2, 3, 1, 4, 5]
    assert visited(monkeypatch, {0}, tests=3, budget=4) == [0, 2, 3, 1]


def row(corpus: str, scores: list[float], of: list[str], mean: float, deviation: float) -> dict[str, Any]:
    candidates = [
        chunk_row(f"{corpus}{at}", [{"number": 0, "score": score, "at": at}], document=corpus, index=at)
        for at, score in enumerate(scores)
    ]
    communities = [
        {"id": id, "parent": None, "windows": [at for at, one in enumerate(of) if one == id]}
        for id in sorted({*of} - {""})
    ]
    return {
        "corpus": corpus,
        "mean": mean,
        "deviation": deviation,
        "communities": communities,
        "candidates": candidates,
    }


def test_relevant_windows_come_first_and_the_others_by_score(monkeypatch: pytest.MonkeyPatch) -> None:
    """.6 + .1 divides them. A window without a community is never tested."""
    monkeypatch.setattr(lazy, "DEVIATIONS", 1.0)
    monkeypatch.setattr(lazy, "TESTS", 1)
    found = rank_rows([row("a", [0.9, 0.8, 0.75, 0.65], ["x", "", "y", "x"], mean=0.6, deviation=0.1)])
    assert [(window.chunk, score) for window, score in found] == [("a0", 0.9), ("a2", 0.75), ("a1", 0.8), ("a3", 0.65)]
