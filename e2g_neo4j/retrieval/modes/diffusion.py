"""`diffusion`: rank windows by vectors and by activation through entities, without words."""

from __future__ import annotations

from e2g_neo4j.retrieval.modes.auto import auto
from e2g_neo4j.retrieval.query import Query, Ranking


def diffusion(query: Query) -> Ranking:
    """Like `auto`, without BM25. Words only propose candidates."""
    return (yield from auto(query, words=False))
