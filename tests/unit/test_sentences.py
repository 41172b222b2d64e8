"""Vectors of sentences, and the ranking of modes `linear` and `hipporag`, without a database."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pytest

from e2g_neo4j.indexing.cooccurrence import own_sentences
from e2g_neo4j.models.embedding.base import dequantise, quantise
from e2g_neo4j.models.entities.extraction_codec import MOST_ENTITIES, own_sentences_before_list
from e2g_neo4j.retrieval.passage_graph import PassageGraph, pagerank, rank_passages
from e2g_neo4j.retrieval.sentences import Entity, cosines, entities_of
from e2g_neo4j.retrieval.strategies import hipporag, linear
from e2g_neo4j.retrieval.windows import Window
from e2g_neo4j.types.graph import Extraction, Sentence


def window(number: int, document: str = "d") -> Window:
    return Window(f"{document}-c", number, document, 0, False, 0.5, 10.0, 0.3)


def graph(*windows: tuple[float, float, dict[str, int]]) -> PassageGraph:
    """Windows with their cosines, degrees and mentions."""
    return PassageGraph(
        [window(number) for number in range(len(windows))],
        [cosine for cosine, _, _ in windows],
        [degree for _, degree, _ in windows],
        [{("c", name): count for name, count in mentions.items()} for _, _, mentions in windows],
    )


def entity(key: str, *sentences: tuple[str, int], told: tuple[int, ...] = (), chunks: int = 1) -> Entity:
    return Entity(key, chunks, 1.0, told, sentences)


# --- vectors of sentences ----------------------------------------------------------------------------


def test_cosines_of_packed_vectors_are_off_by_less_than_a_hundredth() -> None:
    rows = np.random.default_rng(7).standard_normal((500, 384)).astype(np.float32)
    again = dequantise(quantise(5 * rows), 384)
    assert again.shape == (500, 384)
    assert np.linalg.norm(again, axis=1) == pytest.approx(1, abs=1e-6)
    question = rows[0] / np.linalg.norm(rows[0])
    exact = rows @ question / np.linalg.norm(rows, axis=1)
    assert 0 < np.abs(again @ question - exact).max() < 0.01


def test_no_sentence_is_no_bytes() -> None:
    assert quantise(np.empty((0, 384), np.float32)) == b""
    assert dequantise(b"", 384).shape == (0, 384)


def test_own_sentences_are_numbered_as_in_mentions_up_to_a_list() -> None:
    """The first begins before the own text, the last after it. A list has several numbers, which depend on merges."""
    names = tuple(f"n{number}" for number in range(MOST_ENTITIES + 1))
    full = [(0, 4, ("a",)), (5, 9, ("b",)), (10, 14, names[:-1]), (15, 19, names), (20, 24, ("c",)), (30, 34, ("d",))]
    extraction = Extraction(tuple(Sentence(*one) for one in full), {}, {}, {}, {})
    own = (5, 30)
    found = own_sentences_before_list(extraction.sentences, own)
    assert found == [1, 2]
    assert [extraction.sentences[at] for at in found] == own_sentences(extraction, own)[:2]


def test_cosines_are_by_chunk_and_number() -> None:
    rows = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
    found = cosines([1.0, 0.0], "c", [("x", quantise(rows[:2])), ("y", quantise(rows[2:])), ("z", b"")])
    assert found == pytest.approx({("x", 0): 1.0, ("x", 1): 0.0, ("y", 0): 0.5**0.5}, abs=1e-6)


# --- PageRank ----------------------------------------------------------------------------------------


def test_what_leaves_the_graph_returns_to_the_seeds() -> None:
    """A is in two windows, of which one is looked at; that one mentions another entity, which is not. The window W gets
    A/4, and A gets W/4 of it. The rest returns to A: A + W = 1, so A = 4/5 and W = 1/5."""
    one = graph((0.1, 2.0, {"a": 1}))
    assert pagerank(one, {("c", "a"): 2.0}, {("c", "a"): 3.0}, np.zeros(1)).tolist() == pytest.approx([0.2], abs=1e-10)


def test_windows_are_seeds_too() -> None:
    """Without an entity, a window keeps its part of the weights."""
    two = graph((0.4, 0.0, {}), (0.8, 0.0, {}))
    assert pagerank(two, {}, {}, np.array([1.0, 3.0])).tolist() == pytest.approx([0.25, 0.75])
    assert pagerank(two, {}, {}, np.zeros(2)).tolist() == [0, 0]


def test_cosines_are_scaled_from_0_to_1() -> None:
    assert graph((0.2, 0, {}), (0.6, 0, {}), (0.3, 0, {})).cosines_from_0_to_1().tolist() == pytest.approx([0, 1, 0.25])
    assert graph((-1.0, 0, {}), (0.6, 0, {}), (0.2, 0, {})).cosines_from_0_to_1().tolist() == [0, 1, 0]
    assert graph((0.2, 0, {}), (-1.0, 0, {})).cosines_from_0_to_1().tolist() == [1, 0]
    assert graph().cosines_from_0_to_1().tolist() == []


def test_equal_scores_are_by_cosine_and_then_in_reading_order() -> None:
    four = graph((0.1, 0, {}), (0.5, 0, {}), (0.1 + 1e-8, 0, {}), (0.2, 0, {}))
    found = rank_passages(four, np.array([0.1, 0.1, 0.1 + 1e-12, 0.3]))
    assert [one.number for one, _ in found] == [3, 1, 0, 2]


# --- linear ------------------------------------------------------------------------------------------


def test_scores_are_products_of_cosines_until_they_are_too_low(monkeypatch: pytest.MonkeyPatch) -> None:
    """.8, .7 and .6 on the way: .8, .56, and .336 is below .5."""
    monkeypatch.setattr(linear, "THRESHOLD", 0.5)
    near = {("x", 0): 0.8, ("y", 0): 0.7, ("z", 0): 0.6}
    used: set[tuple[str, int]] = set()
    first = linear.next_sentences([entity("a", ("x", 0))], {"a": 1.0}, near, used)
    assert first == pytest.approx({("x", 0): 0.8})
    second = linear.next_sentences([entity("b", ("x", 0), ("y", 0))], {"b": 0.8}, near, used)
    assert second == pytest.approx({("y", 0): 0.56})
    assert linear.next_sentences([entity("c", ("y", 0), ("z", 0))], {"c": 0.56}, near, used) == {}
    assert used == {("x", 0), ("y", 0), ("z", 0)}


def test_the_mean_cosine_of_the_sentences_read_first_is_no_nearness(monkeypatch: pytest.MonkeyPatch) -> None:
    """(.6 + .5 + .4) / (3 + 2) = .3. A mean below 0 is none."""
    monkeypatch.setattr(linear, "PRIOR", 2)
    assert linear.baseline_of([0.6, 0.5, 0.4]) == pytest.approx(0.3)
    assert linear.baseline_of([-0.6]) == 0
    assert linear.baseline_of([]) == 0


def test_the_best_entity_chooses_first_and_a_sentence_is_used_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "SENTENCES", 1)
    near = {("x", 0): 0.9, ("x", 1): 0.8}
    both = [entity("a", ("x", 0), ("x", 1)), entity("b", ("x", 0), ("x", 1))]
    assert linear.next_sentences(both, {"a": 0.9, "b": 1.0}, near, set()) == pytest.approx(
        {("x", 0): 0.9, ("x", 1): 0.72}
    )


def test_a_window_weighs_by_its_cosine_and_its_active_entities() -> None:
    """5 times the scaled cosine, and ln(1 + 1 ln 3 + .5 ln 2 / 2): two sentences with a, one with b of step 2."""
    two = graph((0.9, 2.0, {"a": 2, "b": 1}), (0.1, 1.0, {}))
    active = {("c", "a"): (1.0, 1), ("c", "b"): (0.5, 2)}
    found = linear.window_seeds(two, active).tolist()
    assert found == pytest.approx([5 + log(1 + log(3) + 0.25 * log(2)), 0])


# --- hipporag ----------------------------------------------------------------------------------------


def test_entities_weigh_by_the_mean_of_their_facts() -> None:
    """A is in two facts and the question, b in one fact, c in a sentence that does not count, d in the question."""
    told = {"c": [(("x", 0), 0.8), (("x", 1), 0.4), (("y", 0), 0.3)]}
    reached = [
        entity("a", told=(0, 1), chunks=2),
        entity("b", told=(1,), chunks=4),
        entity("c", told=(2,)),
        entity("d", chunks=5),
    ]
    facts = {("c", ("x", 0)), ("c", ("x", 1))}
    assert hipporag.entity_seeds({"c": reached}, {"c": ["a", "d"]}, told, facts) == pytest.approx(
        {("c", "a"): (0.6 + 1) / 2, ("c", "b"): 0.1, ("c", "d"): 0.2}
    )


def test_rows_become_entities() -> None:
    row: dict[str, Any] = {"entities": [["a", 2, 2.5, [1], [["y", [3]], ["x", [0, 2]]]]]}
    assert entities_of(row) == [Entity("a", 2, 2.5, (1,), (("x", 0), ("x", 2), ("y", 3)))]
