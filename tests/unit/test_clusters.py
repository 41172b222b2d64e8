"""Clusters: which nodes form one, what their summaries are made of, and which of them fit a budget."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from libraries import MODELS, REAL_DIMENSIONS

from e2g_neo4j.indexing.clusters import layer
from e2g_neo4j.indexing.clusters.grouping import TOKENS, WHOLE, groups
from e2g_neo4j.indexing.clusters.mixture import memberships, principal_components
from e2g_neo4j.indexing.clusters.nodes import Cluster, Leaf, chunk_input, in_order
from e2g_neo4j.indexing.summaries.base import SummaryInput
from e2g_neo4j.indexing.summaries.extractive import ExtractiveSummariser
from e2g_neo4j.models.embedding.base import normalise, quantise
from e2g_neo4j.models.entities.extraction_codec import encode, own_sentences_before_list
from e2g_neo4j.retrieval.passages import ScoredNode, fit_nodes
from e2g_neo4j.retrieval.selection import Selection
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.retrieval.windows import Budget
from e2g_neo4j.types.documents import Vectors
from e2g_neo4j.types.graph import Extraction, Sentence


def near(*centres: int, count: int, seed: int = 0, spread: float = 0.01) -> Vectors:
    """So many unit vectors near each of the axes that are named."""
    random = np.random.default_rng(seed)
    axes = np.eye(REAL_DIMENSIONS)[list(centres)].repeat(count, axis=0)
    return normalise((axes + random.normal(0, spread, axes.shape)).astype(np.float32))


def leaf(number: int, vector: Any = None, *, document: str = "d", tokens: int = 100) -> Leaf:
    vector = near(0, count=1)[0] if vector is None else vector
    return Leaf(f"{document}-c{number}", document, number, (number * 10, number * 10 + 10), tokens, vector)


# --- groups ------------------------------------------------------------------------------------------


def test_two_far_groups_of_six_are_two_clusters() -> None:
    assert groups(near(0, 1, count=6), [100] * 12) == [(0, 1, 2, 3, 4, 5), (6, 7, 8, 9, 10, 11)]


def test_the_order_of_nodes_does_not_matter() -> None:
    vectors = near(0, 1, 2, count=10, spread=0.05)
    order = np.random.default_rng(1).permutation(30)
    expected = {frozenset(group) for group in groups(vectors, [100] * 30)}
    assert len(expected) > 2
    assert {frozenset(order[list(group)].tolist()) for group in groups(vectors[order], [100] * 30)} == expected


def test_noise_in_the_last_bits_does_not_matter() -> None:
    vectors = near(0, 1, 2, count=10, spread=0.05)
    noise = np.random.default_rng(2).normal(0, 1e-7, vectors.shape).astype(np.float32)
    assert groups(vectors + noise, [100] * 30) == groups(vectors, [100] * 30)


@pytest.mark.parametrize("count", [1, 2, 3, WHOLE])
def test_few_nodes_are_one_group_however_long(count: int) -> None:
    vectors = near(*range(count), count=1)
    assert groups(vectors, [TOKENS] * count) == [tuple(range(count))]


@pytest.mark.parametrize("count", [1, 2, 3, 9, 50])
def test_equal_vectors_are_one_group(count: int) -> None:
    assert groups(np.ones((count, REAL_DIMENSIONS), np.float32), [TOKENS // count] * count) == [tuple(range(count))]
    assert memberships(np.ones((count, 5), np.float32)).shape == (count, 1)


def test_long_groups_of_equal_vectors_are_cut_in_order() -> None:
    vectors = np.ones((400, REAL_DIMENSIONS), np.float32)
    assert groups(vectors, [TOKENS // 4] * 400) == [tuple(range(at, at + 4)) for at in range(0, 400, 4)]
    assert groups(vectors[:9], [TOKENS // 2] * 8 + [2 * TOKENS]) == [(0, 1), (2, 3), (4, 5), (6, 7), (8,)]
    found = groups(np.vstack([vectors, near(1, count=20)]), [TOKENS // 4] * 420)
    assert {node for group in found for node in group} == set(range(420))
    assert max(map(len, found)) <= WHOLE


def test_nothing_has_no_groups() -> None:
    assert groups(np.empty((0, REAL_DIMENSIONS), np.float32), []) == []


def test_groups_of_equal_vectors_are_told_apart() -> None:
    vectors = np.eye(3, REAL_DIMENSIONS, dtype=np.float32).repeat(5, axis=0)
    assert groups(vectors, [1] * 15) == [(0, 1, 2, 3, 4), (5, 6, 7, 8, 9), (10, 11, 12, 13, 14)]


def test_a_node_between_two_groups_belongs_to_both() -> None:
    vectors = near(0, 1, count=10, spread=0.03)
    between = normalise((vectors[:10].mean(axis=0) + vectors[10:].mean(axis=0))[None] / 2)
    found = groups(np.vstack([vectors, between]), [1] * 21)
    assert sum(20 in group for group in found) == 2
    assert all(sum(node in group for group in found) == 1 for node in range(20))


def test_long_groups_are_divided_though_one_gaussian_fits_best() -> None:
    vectors = near(0, count=40, spread=0.02)
    assert groups(vectors, [1] * 40) == [tuple(range(40))]
    found = groups(vectors, [TOKENS // 5] * 40)
    assert len(found) > 4
    assert {node for group in found for node in group} == set(range(40))
    assert all(len(group) <= WHOLE for group in found)


def test_principal_components_keep_distances() -> None:
    vectors = near(0, 1, 2, count=3)
    for rows in (vectors, vectors[:, :4]):  # fewer nodes than dimensions, and more
        points = principal_components(rows)
        assert points.shape[1] <= 8
        assert np.linalg.norm(points[0] - points[8]) == pytest.approx(np.linalg.norm(rows[0] - rows[8]), abs=2e-3)
        assert (points.max(axis=0) >= -points.min(axis=0) - 1e-9).all()


# --- levels ------------------------------------------------------------------------------------------


def test_a_level_has_fewer_nodes_than_the_one_below() -> None:
    nodes = [leaf(number, vector) for number, vector in enumerate(near(0, 1, count=6))]
    assert [len(members) for members in layer._members(nodes)] == [6, 6]
    assert layer._members(nodes[:1]) == []
    assert layer._members([]) == []
    assert [len(members) for members in layer._members(nodes[:2])] == [2]


def test_groups_that_overlap_too_much_are_no_level(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [leaf(number) for number in range(3)]
    monkeypatch.setattr(layer, "groups", lambda vectors, tokens: [(0, 1), (0, 2), (1, 2)])
    assert layer._members(nodes) == []


def cluster(*members: Any, text: str = "A text.") -> Cluster:
    leaves = frozenset[Leaf]().union(*(member.leaves for member in members))
    return Cluster(1, members, SummaryInput(text), 2, members[0].vector, leaves)


def test_a_cluster_is_cited_with_the_document_that_has_most_of_its_chunks() -> None:
    a, b, c = leaf(3, document="a"), leaf(1, document="b"), leaf(4, document="b")
    assert cluster(a, b, c).source == ("b", (10, 50))
    assert cluster(a, b).source == ("a", (30, 40)), "of several such, the first"
    assert in_order([cluster(b, c), c, a, b])[0] is a


def test_ids_depend_on_members_and_hashes_on_text_too() -> None:
    a, b = leaf(0), leaf(1)
    assert cluster(a, b).id == cluster(b, a).id
    assert cluster(a, b).id != replace(cluster(a, b), level=2).id
    assert cluster(a, b).sha256 != cluster(a, b, text="Another.").sha256
    upper = cluster(cluster(a, b), leaf(2))
    other = cluster(cluster(a, b, text="Another."), leaf(2))
    assert (upper.id, upper.text_sha256) == (other.id, other.text_sha256)
    assert upper.sha256 != other.sha256, "its member is another node"


# --- what summaries are made of ----------------------------------------------------------------------


def row(text: str, sentences: list[Sentence], own: tuple[int, int], *, vectors: bool = True) -> dict[str, Any]:
    extraction = Extraction(tuple(sentences), {})
    rows = near(*range(len(sentences)), count=1) if sentences else np.empty((0, REAL_DIMENSIONS), np.float32)
    stored = quantise(rows[own_sentences_before_list(extraction.sentences, own)]) if vectors else None
    return {"chunk": "c", "text": text, "own": list(own), "notes": encode(extraction), "vectors": stored}


def test_the_own_sentences_of_a_chunk_are_summarised_once() -> None:
    text = "Before. Ann sees Bob. After."
    found = chunk_input(row(text, [Sentence(0, 7, ()), Sentence(8, 21, ("ann", "bob"))], (8, 22)), near(0, count=1)[0])
    assert found.text == "Ann sees Bob. "
    assert [found.text[one.start : one.end] for one in found.sentences] == ["Ann sees Bob."]
    assert found.counts == {"ann": 1, "bob": 1}
    assert found.vectors is not None
    assert found.vectors[0] == pytest.approx(near(0, 1, count=1)[1], abs=0.01)


@pytest.mark.parametrize("sentences", [[], [Sentence(90, 95, ())]])
def test_a_chunk_without_sentences_counts_as_one(sentences: list[Sentence]) -> None:
    """Also one of an adopted corpus whose text is shorter than it was."""
    vector = near(0, count=1)[0]
    found = chunk_input(row("No sentence", sentences, (0, 99)), vector)
    assert [(one.start, one.end) for one in found.sentences] == [(0, 11)]
    summariser = ExtractiveSummariser(MODELS.embedder.token_spans, budget=40)
    assert summariser.summarise(found).text == "No sentence"
    assert chunk_input(row("No vectors.", [Sentence(0, 11, ())], (0, 11), vectors=False), vector).vectors is not None


# --- budgets -----------------------------------------------------------------------------------------


def words(text: str) -> list[tuple[int, int]]:
    return [(at, at + 1) for at in range(0, len(text), 2)]


def nodes(*lengths: int) -> list[ScoredNode]:
    texts = [" ".join(chr(97 + number) * length) for number, length in enumerate(lengths)]
    return [
        ScoredNode({"id": str(n), "text": text, "level": n % 2, "start": 0, "end": len(text)}, 1.0)
        for n, text in enumerate(texts)
    ]


def test_nodes_that_do_not_fit_are_skipped_and_later_ones_are_not() -> None:
    assert [len(words(node.row["text"])) for node in fit_nodes(nodes(60, 50, 40), 100, words, skip=True)] == [60, 40]
    assert [len(words(node.row["text"])) for node in fit_nodes(nodes(60, 50, 40), 100, words)] == [60, 40]
    assert [node.row["id"] for node in fit_nodes(nodes(60, 50, 40), 100, words, skip=True)] == ["0", "2"]
    assert [node.row["id"] for node in fit_nodes(nodes(60, 50, 40), 100, words)] == ["0", "1"], "which is cut"


def test_the_best_node_is_cut_if_none_fits() -> None:
    [only] = fit_nodes(nodes(60, 50), 40, words, skip=True)
    assert (only.row["id"], len(words(only.row["text"]))) == ("0", 40)
    assert fit_nodes([], 40, words, skip=True) == []


@pytest.mark.parametrize(("mode", "chosen"), [("raptor", ["0", "2"]), ("tree", ["0", "1"])])
def test_raptor_skips_what_does_not_fit_and_other_modes_cut_it(mode: str, chosen: list[str]) -> None:
    place = {"corpus": "c", "document": "D", "source": "d", "path": [], "page": "", "heading": ""}
    ranked = [replace(one, row={**one.row, **place, "document_id": one.row["id"]}) for one in nodes(300, 250, 150)]
    operation: Any = Selection("Who?", ["c"], Budget(9, 500), "chunk", words).of_nodes(
        ranked, skip=STRATEGIES[mode].skips
    )
    with pytest.raises(StopIteration) as end:
        operation.send(None)
    assert [passage.nodes[0] for passage in end.value.value] == chosen
