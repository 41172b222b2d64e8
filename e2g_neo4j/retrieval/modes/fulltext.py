"""`fulltext`: rank chunks by BM25 with Neo4j's full-text index. Word statistics are those of the whole index."""

from __future__ import annotations

from collections.abc import Sequence

from e2g_neo4j.retrieval.lucene import lucene
from e2g_neo4j.retrieval.passages import ScoredNode, top_k
from e2g_neo4j.runtime.requests import Operation, read_each


def fulltext(question: str, *, corpora: Sequence[str], k: int) -> Operation[list[ScoredNode]]:
    """Find the k best chunks by BM25."""
    parameters = {corpus: {"words": lucene(question, corpus), "k": k} for corpus in corpora}
    return top_k((yield from read_each("query/fulltext", parameters)), k)
