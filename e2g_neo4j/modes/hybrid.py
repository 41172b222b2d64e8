"""`hybrid`: chunks by the reciprocal ranks of `dense` and `fulltext` together."""

from __future__ import annotations

from collections.abc import Sequence

from e2g_neo4j.evidence import Ranked
from e2g_neo4j.modes.dense import dense
from e2g_neo4j.modes.fulltext import fulltext
from e2g_neo4j.queries import Story

RANK_OFFSET = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): 1 / (60 + rank)."""

DEPTH = 50
"""Chunks of each list that are fused, or 2k if that is more."""


def hybrid(question: str, *, corpora: Sequence[str], k: int) -> Story[list[Ranked]]:
    depth = max(DEPTH, 2 * k)
    by_vector = yield from dense(question, corpora=corpora, k=depth)
    by_words = yield from fulltext(question, corpora=corpora, k=depth)
    return fused(by_vector, by_words)[:k]


def fused(*rankings: Sequence[Ranked]) -> list[Ranked]:
    """Nodes of several rankings by the sum of 1 / (60 + rank), best first; ties by id."""
    scores: dict[str, float] = {}
    nodes: dict[str, Ranked] = {}
    for ranking in rankings:
        for rank, node in enumerate(ranking, 1):
            name = node.row["id"]
            nodes[name] = node
            scores[name] = scores.get(name, 0.0) + 1 / (RANK_OFFSET + rank)
    order = sorted(scores, key=lambda name: (-scores[name], name))
    return [Ranked(nodes[name].row, scores[name]) for name in order]
