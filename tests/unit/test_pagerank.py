"""PageRank and the ranking of mode `pagerank`, without a database."""

from __future__ import annotations

from typing import Any

import pytest
from operations import chunk_row

from e2g_neo4j.retrieval.linking import Linked
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies.pagerank import (
    as_parameters,
    pagerank,
    personalised_pagerank,
)
from e2g_neo4j.runtime.requests import EmbedAll


def test_an_entity_without_neighbours_passes_all_to_the_seeds() -> None:
    """Of the seeds a and d, d has none: d = (.15 + .85 d) / 2 = 3/23. As much returns to a:

    a = .85 b + 3/23 and b = .85 a, so a = 400/851 and b = 340/851.
    """
    expected = {"a": 400 / 851, "b": 340 / 851, "d": 111 / 851}
    assert personalised_pagerank({"a": 0.5, "d": 0.5}, [("a", "b")]) == pytest.approx(expected, abs=1e-11)


def test_each_relation_is_a_parameter_once() -> None:
    assert as_parameters([("b", "c", 0.5), ("a", "c", 0.25)]) == {
        "keys": ["a", "b", "c"],
        "scores": [[], [0.0], [0.25, 0.5]],
    }


def row(document: str, index: int, *windows: tuple[int, float, float | None]) -> dict[str, Any]:
    """A row of `pagerank_windows.cypher`: a chunk of three windows, of which some are found."""
    given, shares = [list(window) for window in windows], [0.2, 0.3, 0.5]
    return chunk_row(f"{document}-c{index}", given, document=document, index=index, shares=shares)


def test_names_that_no_entity_has_are_looked_up_by_vector_where_entities_have_vectors() -> None:
    """Of the unknown words only names, and only in the corpus with the layer."""
    query = Query(
        "Who met Ana in the abbey?",
        ["a", "b"],
        7,
        {"a": [], "b": []},
        layered=["b"],
        names={"ana": "person", "abbey": "noun"},
        linked=Linked(unknown=("ana", "abbey")),
        keywords=lambda: {"ana": "Ana", "abbey": "abbey"},
    )
    operation: Any = pagerank(query)
    operation.send(None)
    assert operation.send([1.0]) == EmbedAll(("Ana",))
    first, second = operation.send([[0.5]]).reads
    similar = {"entity": "ann", "names": ["ana"], "cosine": 0.8}
    empty: dict[str, Any] = {"seeds": [], "edges": [], "similar": []}
    assert [one.parameters["unknown"] for one in (first, second)] == [[], [{"key": "ana", "vector": [0.5]}]]
    operation.send([[empty], [{"seeds": [["ann", 0.8]], "edges": [], "similar": [similar]}]])
    assert query.explanation.notes == ["No entity is called ana: the nearest is ann (cosine 0.80)."]
