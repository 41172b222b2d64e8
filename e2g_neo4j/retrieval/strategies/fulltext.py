"""`fulltext`: rank windows or chunks by BM25 with Neo4j's full-text indexes."""

from __future__ import annotations

from typing import Any

from e2g_neo4j.retrieval.lucene import lucene
from e2g_neo4j.retrieval.passages import top_k
from e2g_neo4j.retrieval.query import Query, Ranking
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.retrieval.windows import rank_windows
from e2g_neo4j.runtime.requests import Operation


def fulltext(query: Query) -> Ranking:
    """Find the best windows by BM25, at most `query.limit` of each corpus."""
    return rank_windows((yield from query.read_each("fulltext", _parameters(query))))


def fulltext_chunks(query: Query) -> Operation[list[tuple[str, float]]]:
    """Like `fulltext`, for whole chunks. Return their ids with their scores."""
    rows = yield from query.read_each("fulltext_chunks", _parameters(query))
    return [(node.row["id"], node.score) for node in top_k(rows, len(rows))]


def _parameters(query: Query) -> dict[str, dict[str, Any]]:
    return {
        corpus: {
            "words": lucene(query.question, corpus, query.statistics, fulltext=query.fulltext),
            "limit": query.limit,
        }
        for corpus in query.corpora
    }


FULLTEXT = Strategy(
    name="fulltext",
    summary="Windows by BM25.",
    source="full-text search",
    ranked_by="the full-text index",
    needs={"full_text"},
    rank_windows=fulltext,
    rank_chunks=fulltext_chunks,
)
