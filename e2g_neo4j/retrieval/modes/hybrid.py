"""`hybrid`: rank chunks by reciprocal rank fusion of `dense` and `fulltext`."""

from __future__ import annotations

from collections.abc import Sequence

from e2g_neo4j.retrieval.modes.dense import dense
from e2g_neo4j.retrieval.modes.fulltext import fulltext
from e2g_neo4j.retrieval.passages import ScoredNode
from e2g_neo4j.runtime.requests import Operation

RANK_OFFSET = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): 1 / (60 + rank)."""

DEPTH = 50
"""Chunks of each list to fuse, or 2k if this is more."""


def hybrid(question: str, *, corpora: Sequence[str], k: int) -> Operation[list[ScoredNode]]:
    """Find the k best chunks by rank fusion."""
    depth = max(DEPTH, 2 * k)
    by_vector = yield from dense(question, corpora=corpora, k=depth)
    by_words = yield from fulltext(question, corpora=corpora, k=depth)
    return fused(by_vector, by_words)[:k]


def fused(*rankings: Sequence[ScoredNode]) -> list[ScoredNode]:
    """Fuse rankings by the sum of 1 / (60 + rank), best first. Ties are sorted by id."""
    scores: dict[str, float] = {}
    nodes: dict[str, ScoredNode] = {}
    for ranking in rankings:
        for rank, node in enumerate(ranking, 1):
            name = node.row["id"]
            nodes[name] = node
            scores[name] = scores.get(name, 0.0) + 1 / (RANK_OFFSET + rank)
    order = sorted(scores, key=lambda name: (-scores[name], name))
    return [ScoredNode(nodes[name].row, scores[name]) for name in order]
