"""`diffusion`: rank windows by vectors and by activation through entities, without words."""

from __future__ import annotations

from e2g_neo4j.retrieval.query import Query, Ranking
from e2g_neo4j.retrieval.strategies.auto import auto
from e2g_neo4j.retrieval.strategy import Strategy


def diffusion(query: Query) -> Ranking:
    """Like `auto`, without BM25. Words only propose candidates."""
    return (yield from auto(query, words=False))


DIFFUSION = Strategy(
    name="diffusion",
    summary="As auto, but words only propose candidates.",
    source="this project",
    ranked_by="vectors and entities",
    needs={"vector", "entities"},
    uses={"full_text"},
    rank_windows=diffusion,
)
