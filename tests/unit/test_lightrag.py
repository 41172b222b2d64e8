"""How mode `lightrag` mixes windows, without a database."""

from __future__ import annotations

from typing import Any

import pytest
from operations import chunk_row

from e2g_neo4j.retrieval.explain import with_entities_reason
from e2g_neo4j.retrieval.linking import Linked
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import STRATEGIES, lightrag
from e2g_neo4j.retrieval.strategies.lightrag import mix_rows, relations_told
from e2g_neo4j.retrieval.windows import round_robin
from e2g_neo4j.runtime.requests import Embed


def row(*windows: tuple[int, float, str], **found: Any) -> dict[str, Any]:
    """A row of `lightrag.cypher`: a chunk of five windows, of which some are found; each mentions some letters."""
    given = [{"number": number, "score": score, "mentioned": list(letters)} for number, score, letters in windows]
    candidate = chunk_row("d-c0", given, shares=[0.2] * 5)
    return {"nearest": [], "named": [], "local": [], "global": [], "candidates": [candidate]} | found


def numbers(*rows: dict[str, Any], sources: lightrag.Sources = lightrag.MIX) -> list[int]:
    return [window.number for window, _ in mix_rows(rows, sources)]


def test_lists_take_turns() -> None:
    assert round_robin([["a", "b"], ["b", "c"]]) == ["a", "b", "c"]
    assert round_robin([["1", "2"], ["2", "3"], ["4"]]) == ["1", "2", "4", "3"]
    assert round_robin([[], ["a"], []]) == ["a"]
    assert round_robin([]) == []


def test_windows_by_vector_entity_and_relation_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """By vector 4 and 3, by entity 3, 2 and 1, by relation 1; and 0, which only mentions an end of a local relation."""
    monkeypatch.setattr(lightrag, "WINDOWS_EACH", 2.5)
    windows = [(0, 0.9, "c"), (1, 0.5, "ac"), (2, 0.6, "a"), (3, 0.7, "a"), (4, 0.8, "")]
    one = row(*windows, nearest=["d-c0-w4", "d-c0-w3"], named=["a"], local=[["a", "c"]])
    assert numbers(one) == [4, 3, 1, 2, 0], "by entity two, 2.5 for one entity"


def test_ends_of_global_relations_are_entities(monkeypatch: pytest.MonkeyPatch) -> None:
    one = row(
        (0, 0.5, "a"), (1, 0.6, "b"), (2, 0.4, "ab"), (3, 0.9, ""), nearest=["d-c0-w3"], **{"global": [["a", "b"]]}
    )
    monkeypatch.setattr(lightrag, "WINDOWS_EACH", 1)
    assert numbers(one) == [3, 1, 2, 0], "3 by vector, 1 and 0 by entity, 2 by relation"
    monkeypatch.setattr(lightrag, "WINDOWS_EACH", 0)
    assert numbers(one) == [3, 1, 0, 2], "the rest by cosine"


def test_entities_and_relations_have_windows_by_their_own_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """One entity has 0, two relations have 2 and 3; the rest by cosine."""
    monkeypatch.setattr(lightrag, "WINDOWS_EACH", 1)
    windows = [(0, 0.9, "a"), (1, 0.8, "a"), (2, 0.5, "ab"), (3, 0.4, "ac"), (4, 0.95, "")]
    assert numbers(row(*windows, named=["a"], local=[["a", "b"], ["a", "c"]])) == [0, 2, 3, 4, 1]


def test_every_mode_takes_its_own_sources() -> None:
    """0 is near, 1 mentions the question's a, 2 its relation a-b, 3 the other relation b-c, and 4 an end of that."""
    found: dict[str, Any] = {"nearest": ["d-c0-w0"], "named": ["a"], "local": [["a", "b"]], "global": [["b", "c"]]}
    one = row((0, 0.9, ""), (1, 0.5, "a"), (2, 0.6, "ab"), (3, 0.7, "bc"), (4, 0.8, "c"), **found)
    assert sorted(numbers(one)) == [0, 1, 2, 3, 4]
    assert numbers(one)[0] == 0, "vectors first"
    assert numbers(one, sources=lightrag.HYBRID) == [4, 3, 2, 1], "entities a, b and c; relations a-b and b-c"
    assert numbers(one, sources=lightrag.LOCAL) == [2, 1, 3], "a; a-b; 3 mentions an end of this relation"
    assert numbers(one, sources=lightrag.GLOBAL) == [4, 3, 2], "b and c; b-c; not 1, which only mentions a"
    assert numbers(row((0, 0.9, ""), nearest=["d-c0-w0"]), sources=lightrag.HYBRID) == []


def test_a_mode_reads_only_what_it_takes() -> None:
    def parameters(sources: lightrag.Sources) -> tuple[Any, Any]:
        operation: Any = lightrag.lightrag(Query("Who?", ["a"], 100, {"a": ["ann"]}), sources)
        operation.send(None)
        asked = operation.send([1.0]).parameters
        return asked["names"], asked["entry"]

    assert parameters(lightrag.HYBRID) == (["ann"], lightrag.ENTRY)
    assert parameters(lightrag.LOCAL) == (["ann"], 0)
    assert parameters(lightrag.GLOBAL) == ([], lightrag.ENTRY)


def test_equals_are_in_reading_order() -> None:
    assert numbers(row((3, 0.5, ""), (1, 0.5 + 1e-12, ""), (0, 0.5 - 1e-12, ""))) == [0, 1, 3]


def test_nothing_found_is_no_window() -> None:
    assert mix_rows([]) == []
    assert mix_rows([row(candidates=[])]) == []


def test_each_corpus_is_asked_once_for_its_own_entities() -> None:
    operation: Any = lightrag.lightrag(Query("Who?", ["a", "b"], 100, {"a": ["ann"], "b": []}))
    assert operation.send(None) == Embed("Who?")
    first, second = operation.send([1.0]).reads
    assert [(one.statement, one.parameters["corpus"], one.parameters["names"]) for one in (first, second)] == [
        ("query/lightrag", "a", ["ann"]),
        ("query/lightrag", "b", []),
    ]
    with pytest.raises(StopIteration) as end:
        operation.send([[], []])
    assert end.value.value == []


def test_the_reason_says_what_takes_turns() -> None:
    assert with_entities_reason(STRATEGIES["lightrag"], Linked(("ann",)), 3).endswith(
        "turns of vectors, entities and relations rank the text."
    )


# --- statements as relations -------------------------------------------------------------------------


def test_windows_of_a_statement_are_in_its_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """2 mentions both ends of the relation in the first chunk, 3 and 0 one of them; 1 is in another chunk. Without 2, 3
    is the first of the relation."""
    elsewhere = {**row((1, 0.9, "ab"))["candidates"][0], "chunk": "d-c1", "index": 1}
    monkeypatch.setattr(lightrag, "WINDOWS_EACH", 1)

    def first_of(*windows: tuple[int, float, str]) -> list[str]:
        stated = row(*windows, local=[["a", "b", "d-c0"]])
        stated["candidates"].append(elsewhere)
        return [window.id for window, _ in mix_rows([stated])]

    assert first_of((0, 0.1, "a"), (2, 0.4, "ab"), (3, 0.8, "b")) == ["d-c0-w2", "d-c1-w1", "d-c0-w3", "d-c0-w0"]
    assert first_of((0, 0.1, "a"), (3, 0.8, "b")) == ["d-c0-w3", "d-c1-w1", "d-c0-w0"]


def test_vectors_entities_and_statements_take_turns() -> None:
    """By vector 1 and 2, by entity 2 and 3, by relation 4."""
    windows = [(0, 0.1, ""), (1, 0.9, ""), (2, 0.8, "a"), (3, 0.7, "a"), (4, 0.6, "bc")]
    one = row(*windows, nearest=["d-c0-w1", "d-c0-w2"], named=["a"], local=[["b", "c", "d-c0"]])
    assert numbers(one) == [1, 2, 4, 3, 0]


def test_corpora_with_statements_are_asked_for_these() -> None:
    query = Query("Who?", ["a", "b"], 100, {"a": ["ann"], "b": ["bob"]}, layered=["b"])
    operation: Any = lightrag.lightrag(query)
    operation.send(None)
    first, second = operation.send([1.0]), operation.send([])
    assert [(one.statement, one.parameters["corpus"], one.parameters["names"]) for one in (first, second)] == [
        ("query/lightrag", "a", ["ann"]),
        ("query/lightrag_statements", "b", ["bob"]),
    ]
    assert second.parameters["vector"] == second.parameters["statement_vector"] == [1.0]


def test_the_reason_says_where_relations_are_statements() -> None:
    assert relations_told(["a", "b"], ["b"]) == "Relations are the statements of b."
    assert relations_told(["a", "b"], ["a", "b"]) == "Relations are the statements."
