"""What is reckoned of a document before it is written, against plain recounts."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import indexed, libraries, published, stage
from naive import NaiveDocument, weight
from naive import persistence as naive_persistence

from e2g_neo4j.graph.rows import window_weights
from e2g_neo4j.indexing.topic_persistence import Persistence
from e2g_neo4j.runtime.requests import Write


def persistence(vectors: np.ndarray, at: int = 1) -> float:
    """Of a document whose windows come in two parts."""
    found = Persistence()
    found.add(vectors[:at])
    found.add(vectors[at:])
    return found.value


def unit(*rows: list[float]) -> np.ndarray:
    vectors = np.array(rows, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


# --- how long a document stays with a topic ----------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.floats(0, 1))
def test_persistence_equals_a_double_loop(seed: int, number: int, drift: float) -> None:
    """Rows that drift from one to the next: the less, the longer they stay with a topic."""
    random = np.random.default_rng(seed)
    rows = [random.standard_normal(8)]
    for _ in range(number - 1):
        rows.append((1 - drift) * rows[-1] + (drift + 0.05) * random.standard_normal(8))
    found = persistence(unit(*(row.tolist() for row in rows)))
    assert found == pytest.approx(naive_persistence([row.tolist() for row in rows]), abs=1e-3)
    assert 0 <= found <= 1


def test_persistence_of_topics_one_after_the_other_is_more_than_of_topics_in_turns() -> None:
    a, b = [1.0, 0.0], [0.0, 1.0]
    # Four of five neighbours are alike and 6 of 15 pairs: (0.8 - 0.4) / (1 - 0.4).
    assert persistence(unit(a, a, a, b, b, b)) == pytest.approx(2 / 3)
    assert persistence(unit(a, b, a, b, a, b)) == 0


@pytest.mark.parametrize("number", [0, 1, 2])
def test_persistence_of_fewer_than_three_windows_is_0(number: int) -> None:
    assert persistence(np.eye(8, dtype=np.float32)[:number]) == 0


@given(st.integers(0, 2**32 - 1), st.integers(3, 500))
def test_persistence_of_the_same_window_again_and_again_is_0(seed: int, number: int) -> None:
    """Where 32-bit numbers alone make a difference."""
    row = np.random.default_rng(seed).standard_normal(384).tolist()
    assert persistence(unit(*[row] * number)) == 0


# --- windows -----------------------------------------------------------------------------------------


@given(libraries())
def test_shares_are_the_parts_of_a_chunks_characters(library: list[NaiveDocument]) -> None:
    for document in library:
        staged = (rows(request, "index/stage_chunks") for request in stage("c", "run", [indexed(document, "c")]))
        shares = {row["id"]: row["window_shares"] for found in staged for row in found}
        for chunk in document.chunks:
            whole = chunk.end - chunk.start
            assert shares.pop(chunk.id) == pytest.approx([(w.end - w.start) / whole for w in chunk.windows])
        assert shares == {}


@given(libraries())
def test_weights_are_what_all_entities_of_a_window_count_together(library: list[NaiveDocument]) -> None:
    for document in library:
        for chunk, mentions in zip(document.chunks, indexed(document, "c").mentions, strict=True):
            told = [weight(counts) for counts in document.sentences_of(chunk)]
            found = window_weights([mention.windows for mention in mentions.mentions])
            assert found == pytest.approx(told if any(told) else [])


def test_a_weight_counts_sentences_by_their_logarithm() -> None:
    assert window_weights([(3, 0, 0), (1, 1, 0)]) == pytest.approx([1 + log(3) + 1, 1, 0])
    assert window_weights([]) == []


# --- what is written of them -------------------------------------------------------------------------


@given(libraries())
def test_every_window_has_a_share_and_a_document_counts_its_windows(library: list[NaiveDocument]) -> None:
    documents = [indexed(document, "c") for document in library]
    chunks = [row for request in stage("c", "run", documents) for row in rows(request, "index/stage_chunks")]
    assert {row["id"]: len(row["window_shares"]) for row in chunks} == {
        chunk.id: len(chunk.windows) for document in library for chunk in document.chunks
    }
    ready = rows(published("c", "run", documents), "index/publish_documents")
    assert [(row["chunks"], row["windows"]) for row in ready] == [
        (len(document.chunks), sum(len(chunk.windows) for chunk in document.chunks)) for document in library
    ]


def rows(request: Write, statement: str) -> list[dict]:
    return [row for name, parameters in request.statements if name == statement for row in parameters["rows"]]
