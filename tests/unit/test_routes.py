"""How mode `routes` ranks windows, without a database; and what it says of where they come from."""

from __future__ import annotations

from typing import Any

import pytest

from e2g_neo4j.retrieval.explain import with_entities_reason
from e2g_neo4j.retrieval.linking import Linked
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.retrieval.strategies.routes import DECAY, HOPS, origins_told, ranked, routes
from e2g_neo4j.retrieval.windows import Origin
from e2g_neo4j.runtime.requests import Embed

VECTOR, QUESTION, SEED, NEIGHBOUR = range(4)


def row(document: str, index: int, *windows: tuple[int, float, float, int]) -> dict[str, Any]:
    """A row of `routes.cypher`: a chunk of three windows, of which some are found."""
    return {
        "chunk": f"{document}-c{index}",
        "document": document,
        "index": index,
        "tokens": 100,
        "shares": [0.2, 0.3, 0.5],
        "persistence": 0.3,
        "windows": [list(window) for window in windows],
    }


def ranking(rows: list[dict[str, Any]]) -> list[tuple[str, float]]:
    return [(window.id, score) for window, score in ranked(rows)]


def test_cosine_coverage_and_document_count_alike() -> None:
    """Each signal of two windows is 1 or -1 after normalisation, if it says anything."""
    near, covered = (0, 0.9, 0.1, VECTOR), (1, 0.1, 0.9, NEIGHBOUR)
    assert ranking([row("d", 0, near, covered)]) == [("d-c0-w0", 0.0), ("d-c0-w1", 0.0)], "one document"
    apart = ranking([row("a", 0, (1, 0.1, 0.9, NEIGHBOUR)), row("b", 0, near)])
    assert [id for id, _ in apart] == ["b-c0-w0", "a-c0-w1"]
    assert dict(apart) == pytest.approx({"b-c0-w0": 1, "a-c0-w1": -1}), "the entry is in b"
    both = ranking([row("a", 0, (2, 0.9, 0.9, VECTOR)), row("b", 0, (0, 0.1, 0.1, NEIGHBOUR))])
    assert [id for id, _ in both] == ["a-c0-w2", "b-c0-w0"]
    assert dict(both) == pytest.approx({"a-c0-w2": 3, "b-c0-w0": -3})


def test_a_document_weighs_by_its_part_of_the_nearest_windows() -> None:
    """Two, one and none of three: 2/3, 1/3 and 0."""
    rows = [
        row("a", 0, (0, 0.5, 0.5, SEED)),
        row("b", 0, (0, 0.5, 0.5, VECTOR)),
        row("c", 0, (0, 0.5, 0.5, VECTOR), (1, 0.5, 0.5, VECTOR)),
    ]
    scores = dict(ranking(rows))
    deviation = (11 / 16) ** 0.5  # of 0, 1, 2, 2, whose mean is 5/4
    assert scores == pytest.approx(
        {"a-c0-w0": -1.25 / deviation, "b-c0-w0": -0.25 / deviation}
        | {f"c-c0-w{n}": 0.75 / deviation for n in range(2)}
    )


def test_equals_are_in_reading_order() -> None:
    rows = [
        row("b", 0, (1, 0.5, 0.2, SEED)),
        row("a", 7, (2, 0.5, 0.2 + 1e-12, QUESTION), (0, 0.5 + 1e-12, 0.2, QUESTION)),
        row("a", 1, (0, 0.5, 0.2, NEIGHBOUR)),
    ]
    assert [id for id, _ in ranking(rows)] == ["a-c1-w0", "a-c7-w0", "a-c7-w2", "b-c0-w1"]


def test_a_window_keeps_what_its_chunk_says_and_where_it_comes_from() -> None:
    [(window, score)] = ranked([row("d", 3, (2, 0.4, 0.0, SEED))])
    assert (window.chunk, window.number, window.index, window.last) == ("d-c3", 2, 3, True)
    assert (window.share, window.tokens, window.persistence, window.origin) == (0.5, 50.0, 0.3, "seed")
    assert score == 0


def test_nothing_found_is_no_window() -> None:
    assert ranked([]) == []


@pytest.mark.parametrize(("hops", "followed"), [(1, 1), (2, 2), (6, 2)])
def test_each_corpus_is_asked_once_for_its_own_entities(hops: int, followed: int) -> None:
    operation: Any = routes(Query("Who?", ["a", "b"], 100, {"a": ["ann"], "b": []}, hops))
    assert operation.send(None) == Embed("Who?")
    first, second = operation.send([1.0]).reads
    assert [(one.statement, one.parameters["corpus"], one.parameters["names"]) for one in (first, second)] == [
        ("query/routes", "a", ["ann"]),
        ("query/routes", "b", []),
    ]
    assert (first.parameters["hops"], first.parameters["decay"]) == (followed, DECAY)
    assert followed <= HOPS
    with pytest.raises(StopIteration) as end:
        operation.send([[], []])
    assert end.value.value == []


def test_the_reason_counts_windows_by_origin() -> None:
    windows = [window for window, _ in ranked([row("d", 0, (0, 0.4, 0.0, VECTOR), (1, 0.1, 0.2, NEIGHBOUR))])]
    assert origins_told(windows) == (
        "Windows found: 1 by vector, 0 by entities of the question, 0 by entities of the nearest windows, 1 by "
        "neighbours of these entities."
    )
    assert with_entities_reason(STRATEGIES["routes"], Linked(("ann",)), 3).endswith(
        "vectors, entities and documents rank the text."
    )
    assert with_entities_reason(STRATEGIES["auto"], Linked(("ann",)), 3).endswith(
        "vectors, words and entities rank the text."
    )
    known: set[Origin | None] = {window.origin for window in windows}
    assert known == {"vector", "neighbour"}
