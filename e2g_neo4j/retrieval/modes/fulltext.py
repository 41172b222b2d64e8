"""`fulltext`: rank windows or chunks by BM25 with Neo4j's full-text indexes."""

from __future__ import annotations

from collections.abc import Sequence

from e2g_neo4j.retrieval.lucene import lucene
from e2g_neo4j.retrieval.passages import top_k
from e2g_neo4j.retrieval.windows import Window, ranked_windows
from e2g_neo4j.retrieval.word_statistics import WordStatistics
from e2g_neo4j.runtime.requests import Operation, read_each


def fulltext(
    question: str, *, corpora: Sequence[str], limit: int, statistics: WordStatistics | None = None
) -> Operation[list[tuple[Window, float]]]:
    """Find the best windows by BM25, at most `limit` of each corpus.

    Args:
        question: The question.
        corpora: The corpora to search.
        limit: Number of windows per corpus.
        statistics: How rare the words of the question are in these corpora. Default: as in the whole index.
    """
    parameters = {corpus: {"words": lucene(question, corpus, statistics), "limit": limit} for corpus in corpora}
    return ranked_windows((yield from read_each("query/fulltext", parameters)))


def fulltext_chunks(
    question: str, *, corpora: Sequence[str], limit: int, statistics: WordStatistics | None = None
) -> Operation[list[tuple[str, float]]]:
    """Like `fulltext`, for whole chunks. Return their ids with their scores."""
    parameters = {corpus: {"words": lucene(question, corpus, statistics), "limit": limit} for corpus in corpora}
    rows = yield from read_each("query/fulltext_chunks", parameters)
    return [(node.row["id"], node.score) for node in top_k(rows, len(rows))]
