"""What is chosen by vectors stays the same when their last bits change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from perturbed import disturbed
from trees import grow_tree

from e2g_neo4j.cli.setup import CHUNKS, LIBRARY
from e2g_neo4j.documents.files import find, from_text, read
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.indexing.chunking import chunk
from e2g_neo4j.indexing.entity_linking import link
from e2g_neo4j.indexing.summaries.base import SummaryInput
from e2g_neo4j.indexing.summaries.extractive import ExtractiveSummariser
from e2g_neo4j.indexing.topic_persistence import Persistence
from e2g_neo4j.models.embedding.base import Embedder
from e2g_neo4j.models.embedding.load import load_embedder
from e2g_neo4j.models.embedding.windows import embed_with_parts
from e2g_neo4j.models.entities.extraction import extract_all
from e2g_neo4j.models.entities.pipeline import load_pipeline
from e2g_neo4j.retrieval.passages import top_k
from e2g_neo4j.retrieval.ranking import rank_signals
from e2g_neo4j.types.documents import SourceDocument, Vectors
from e2g_neo4j.types.graph import Sentence, Summary
from e2g_neo4j.types.ties import best_first, first_best

pytestmark = pytest.mark.timeout(900)

BOOKS = Path(__file__).parents[3] / "shared" / "books"
SEEDS = range(5)

pipeline = cache(load_pipeline)


# --- scores ------------------------------------------------------------------------------------------


def test_of_scores_that_are_nearly_equal_the_first_is_the_best() -> None:
    assert first_best([0.1, 0.5, 0.5 + 1e-9, 0.2], 1e-6) == 1
    assert first_best([0.1, 0.5, 0.6], 1e-6) == 2
    assert best_first([0.5, 0.7, 0.5 + 1e-9, 0.9, 0.5 - 1e-9, 0.1], 1e-6) == [3, 1, 0, 2, 4, 5]
    assert best_first([], 1e-6) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_nodes_that_are_equally_near_are_in_the_order_of_their_ids(seed: int) -> None:
    noise = np.random.default_rng(seed).standard_normal(9) * 1e-7
    rows = [{"id": f"n{number}", "score": 0.8 - number // 3 / 10 + noise[number]} for number in range(9)]
    assert [node.row["id"] for node in top_k(reversed(rows), 7)] == [f"n{number}" for number in range(7)]


@pytest.mark.parametrize("seed", SEEDS)
def test_windows_that_say_the_same_are_in_reading_order(seed: int) -> None:
    noise = np.random.default_rng(seed).standard_normal((6, 2)) * 1e-7
    candidates = [
        {"chunk": f"c{n}", "document": "d", "index": 2 * n, "tokens": 9, "persistence": 0.0, "shares": [0.5, 0.5]}
        | {"nears": ([0.9, 0.1] + noise[n]).tolist()}
        for n in range(6)
    ]
    empty: dict[str, list[object]] = {
        name: [] for name in ("word_ids", "word_scores", "word_chunk_ids", "word_chunk_scores", "spread_ids", "spreads")
    }
    for name in ("references", "referred", "titled"):
        empty[name] = []
    signals = {**empty, "spread_sum": 0.0, "spread_squares": 0.0, "windows": 12, "candidates": candidates}
    assert [unit.id for unit, _ in rank_signals([signals])] == [f"c{n}-w{w}" for w in (0, 1) for n in range(6)]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_persistence_of_a_repeated_text_is_near_0(seed: int) -> None:
    random = np.random.default_rng(seed)
    row = random.standard_normal((1, 384))
    for noise in (1e-6, 1e-2):
        found = Persistence()
        found.add(disturbed(np.repeat(row / np.linalg.norm(row), 3 + seed, axis=0), random, noise))
        assert found.value < 0.01


def test_a_link_whose_score_changed_by_rounding_is_not_written_again() -> None:
    """The score is kept with four digits, the last of which may round either way."""
    operation: Any = link(
        "c",
        labels=["Person"],
        name="name",
        aliases=None,
        type=None,
        embed=lambda names: same[: len(names)],
        dry_run=True,
    )
    same: Vectors = np.eye(1, 4, dtype=np.float32)
    assert operation.send(None).statement == "link/entities"
    entities = [{"key": "karl", "name": "Karl", "forms": ["Karl"], "aliases": []}]
    assert operation.send(entities).statement == "adopt/adopted"
    assert operation.send([{"adopts": None}]).statement == "link/nodes"
    assert operation.send([{"node": "n", "name": "Carl", "aliases": None}]).statement == "link/links"
    with pytest.raises(StopIteration) as end:
        operation.send([{"key": "karl", "node": "n", "method": "vector", "score": 0.9999, "property": "name"}])
    report = end.value.value
    assert (report.methods, report.added, report.removed) == ({"vector": 1}, 0, 0)


# --- trees -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> Embedder:
    return load_embedder()


@pytest.mark.parametrize("seed", SEEDS)
def test_of_sentences_that_are_repeated_the_first_are_picked(seed: int) -> None:
    """Nothing but rounding tells their vectors apart, and how alike they are to all others."""
    random = np.random.default_rng(seed)
    texts = [f"The harbour of Hesk was closed on day {n} of the storm." for n in range(40)]
    starts = np.cumsum([0, *(len(text) + 1 for text in texts)])
    sentences = tuple(Sentence(int(at), int(at) + len(text), ()) for at, text in zip(starts, texts, strict=False))
    one = np.full((1, 16), 0.25)
    prose = SummaryInput(" ".join(texts), sentences, disturbed(np.repeat(one, 40, axis=0), random), Counter())
    spans = [(0, 1)] * 12
    found = ExtractiveSummariser(lambda text: spans * text.count("."), budget=40).summarise(prose)
    assert found.text == " ".join(texts[:3])


def assert_same_trees(document: SourceDocument, model: Embedder, seeds: Sequence[int]) -> list[Summary]:
    """All that a tree says and how it hangs together, but for the vectors that are kept beside it."""
    chunks = chunk(document, model.token_spans, size=CHUNKS["chunk_tokens"], overlap=CHUNKS["chunk_overlap"])
    extractions = list(extract_all(pipeline(), [one.text for one in chunks]))
    texts = [
        (one.text, [(sentence.start, sentence.end) for sentence in extraction.sentences])
        for one, extraction in zip(chunks, extractions, strict=True)
    ]
    vectors = [embedded.part_vectors for embedded in embed_with_parts(model, texts)]

    def grown(vectors: Sequence[Vectors]) -> list[Summary]:
        return grow_tree(
            document,
            chunks,
            ExtractiveSummariser(model.token_spans),
            group_size=5,
            token_spans=model.token_spans,
            extractions=extractions,
            sentence_vectors=vectors,
        )

    def told(tree: list[Summary]) -> list[tuple[object, ...]]:
        return [(s.id, s.level, s.index, s.text, s.tokens, s.children, s.made_of) for s in tree]

    tree = grown(vectors)
    for seed in seeds:
        random = np.random.default_rng(seed)
        other = [disturbed(rows, random) for rows in vectors]
        assert any((a != b).any() for a, b in zip(vectors, other, strict=True))
        assert told(grown(other)) == told(tree)
    return tree


def read_small(path: Path) -> SourceDocument:
    return read(path, "c", Limits(2**20))


@pytest.mark.full
def test_the_trees_of_the_sample_library_are_the_same(model: Embedder) -> None:
    trees = [assert_same_trees(one, model, SEEDS) for one in map(read_small, find([LIBRARY]))]
    assert sum(map(len, trees)) >= 12


@pytest.mark.full
@pytest.mark.needs_data
@pytest.mark.skipif(not BOOKS.is_dir(), reason="the novels are not beside this checkout")
def test_the_tree_of_a_novel_is_the_same(model: Embedder) -> None:
    text = (BOOKS / "11_alices_adventures_in_wonderland.txt").read_text(encoding="utf-8")
    tree = assert_same_trees(from_text(text, corpus="c", source="x"), model, SEEDS)
    assert max(summary.level for summary in tree) >= 3
