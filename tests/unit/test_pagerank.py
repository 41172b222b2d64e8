"""PageRank and the ranking of mode `pagerank`, without a database."""

from __future__ import annotations

from typing import Any

import pytest
from operations import chunk_row

from e2g_neo4j.retrieval.explain import with_entities_reason
from e2g_neo4j.retrieval.linking import Linked
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.retrieval.strategies import pagerank as module
from e2g_neo4j.retrieval.strategies.pagerank import (
    as_parameters,
    best_relations,
    pagerank,
    personalised_pagerank,
    rank_rows,
)
from e2g_neo4j.runtime.requests import Embed, EmbedAll


def test_pagerank_of_a_path_is_as_by_hand() -> None:
    """Of a – b – c with the seed a. A gets the restart, and half of what b passes on, as c does; b gets all of theirs:

    a = .15 + .85 b / 2, c = .85 b / 2, b = .85 (a + c) = .85 (.15 + .85 b), so b = .1275 / .2775 = 17/37.
    """
    expected = {"a": 0.15 + 0.425 * 17 / 37, "b": 17 / 37, "c": 0.425 * 17 / 37}
    assert personalised_pagerank({"a": 2.0}, [("b", "c"), ("a", "b")]) == pytest.approx(expected, abs=1e-11)


def test_an_entity_without_neighbours_passes_all_to_the_seeds() -> None:
    """Of the seeds a and d, d has none: d = (.15 + .85 d) / 2 = 3/23. As much returns to a:

    a = .85 b + 3/23 and b = .85 a, so a = 400/851 and b = 340/851.
    """
    expected = {"a": 400 / 851, "b": 340 / 851, "d": 111 / 851}
    assert personalised_pagerank({"a": 0.5, "d": 0.5}, [("a", "b")]) == pytest.approx(expected, abs=1e-11)


def test_heavier_seeds_have_more_of_it() -> None:
    """Without edges they have their share of the weights."""
    assert personalised_pagerank({"a": 1.0, "b": 3.0}, []) == pytest.approx({"a": 0.25, "b": 0.75})


def test_the_order_and_direction_of_edges_change_nothing() -> None:
    edges = [("a", "b"), ("b", "c"), ("a", "d"), ("c", "d"), ("d", "e")]
    turned = [(b, a) for a, b in reversed(edges)]
    seeds = {"a": 0.7, "c": 0.2}
    assert personalised_pagerank(seeds, turned) == personalised_pagerank(dict(reversed(seeds.items())), edges)
    ranks = personalised_pagerank(seeds, edges)
    assert best_relations(ranks, turned) == best_relations(ranks, edges)


def test_a_relation_scores_the_sum_of_its_ends() -> None:
    """Entities of .6, .3 and 0, related a – b and a – c."""
    relations = best_relations({"a": 0.6, "b": 0.3, "c": 0.0}, [("c", "a"), ("a", "b")])
    assert {(a, b): score for a, b, score in relations} == pytest.approx({("a", "b"): 0.9, ("a", "c"): 0.6})
    assert relations[0][:2] == ("a", "b")


def test_the_best_relations_count_and_equals_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RELATIONS", 3)
    ranks = {"a": 0.1, "b": 0.2, "c": 0.1 + 1e-13, "d": 0.3}
    edges = [("c", "d"), ("b", "c"), ("a", "b"), ("d", "a"), ("a", "c")]
    assert [pair for *pair, _ in best_relations(ranks, edges)] == [["a", "d"], ["c", "d"], ["a", "b"]]


def test_no_seed_is_no_relation() -> None:
    assert personalised_pagerank({}, []) == {}
    assert best_relations({}, []) == []
    assert as_parameters([]) == {"keys": [], "scores": []}


def test_each_relation_is_a_parameter_once() -> None:
    assert as_parameters([("b", "c", 0.5), ("a", "c", 0.25)]) == {
        "keys": ["a", "b", "c"],
        "scores": [[], [0.0], [0.25, 0.5]],
    }


def row(document: str, index: int, *windows: tuple[int, float, float | None]) -> dict[str, Any]:
    """A row of `pagerank_windows.cypher`: a chunk of three windows, of which some are found."""
    given, shares = [list(window) for window in windows], [0.2, 0.3, 0.5]
    return chunk_row(f"{document}-c{index}", given, document=document, index=index, shares=shares)


def test_relations_rank_windows_then_cosines_then_the_text() -> None:
    rows = [
        row("b", 0, (0, 0.0, 0.9), (1, 0.4, None), (2, 0.3 + 1e-13, 0.1)),
        row("a", 1, (2, 0.0, 0.9), (1, 0.3, 0.2), (0, 0.3, None)),
        row("a", 0, (0, 0.3, None)),
    ]
    assert [window.id for window, _ in rank_rows(rows)] == [
        "b-c0-w1",
        "a-c1-w1",
        "b-c0-w2",
        "a-c0-w0",
        "a-c1-w0",
        "a-c1-w2",
        "b-c0-w0",
    ]
    [(window, score), *_] = rank_rows(rows)
    assert (window.share, window.tokens, window.persistence, score) == (0.3, 30.0, 0.3, 0.4)
    assert rank_rows([]) == []


def test_each_corpus_is_asked_for_its_own_graph() -> None:
    operation: Any = pagerank(Query("Who?", ["a", "b"], 7, {"a": ["ann"], "b": []}))
    assert operation.send(None) == Embed("Who?")
    first, second = operation.send([1.0]).reads
    assert [(one.statement, one.parameters["corpus"], one.parameters["names"]) for one in (first, second)] == [
        ("query/pagerank", "a", ["ann"]),
        ("query/pagerank", "b", []),
    ]
    graph = {"seeds": [["ann", 0.5]], "edges": [["ann", ["bob"]]], "similar": []}
    first, second = operation.send([[graph], [{"seeds": [], "edges": [], "similar": []}]]).reads
    assert [(one.statement, one.parameters["corpus"], one.parameters["keys"]) for one in (first, second)] == [
        ("query/pagerank_windows", "a", ["ann", "bob"]),
        ("query/pagerank_windows", "b", []),
    ]
    assert first.parameters["scores"] == [[], [pytest.approx(1.0)]]
    with pytest.raises(StopIteration) as end:
        operation.send([[row("d", 0, (0, 0.5, 0.1))], [row("e", 0, *((number % 3, 0.0, 0.1) for number in range(9)))]])
    assert len(end.value.value) == 7
    assert end.value.value[0][0].id == "d-c0-w0"


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


def test_the_reason_says_what_ranks() -> None:
    reason = with_entities_reason(STRATEGIES["pagerank"], Linked(("ann",)), 3)
    assert reason.endswith(": relations of entities that have most PageRank rank the text.")
