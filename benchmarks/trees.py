"""The summary tree of one document, for benchmarks and tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from e2g_neo4j.indexing.summaries.base import Summariser, TreeInput
from e2g_neo4j.indexing.summaries.tree import SummaryTreeBuilder
from e2g_neo4j.types.documents import Chunk, SourceDocument, TokenSpans, Vectors
from e2g_neo4j.types.graph import Extraction, Summary


def grow_tree(
    document: SourceDocument,
    chunks: Sequence[Chunk],
    summariser: Summariser,
    *,
    group_size: int,
    token_spans: TokenSpans,
    extractions: Sequence[Extraction] | None = None,
    sentence_vectors: Sequence[Vectors] | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[Summary]:
    """Build the tree of one document; see `TreeInput` and `SummaryTreeBuilder`."""
    tree_input = TreeInput(document, chunks)
    with SummaryTreeBuilder(
        [tree_input], summariser, group_size=group_size, token_spans=token_spans, progress=progress
    ) as builder:
        for number, (extraction, vectors) in enumerate(zip(extractions or (), sentence_vectors or (), strict=True)):
            if builder.needs(0, number):
                builder.add_chunk(0, number, extraction, vectors)
        return builder.tree(0)
