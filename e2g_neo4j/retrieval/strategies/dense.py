"""`dense`: rank windows by the cosine of their vectors to that of the question."""

from __future__ import annotations

from e2g_neo4j.retrieval.query import Query, Ranking
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.retrieval.windows import rank_windows
from e2g_neo4j.runtime.requests import Embed


def dense(query: Query) -> Ranking:
    """Find the nearest windows, at most `query.limit` of each corpus. Scores are (1 + cosine) / 2."""
    vector = yield Embed(query.question)
    parameters = {"vector": vector, "limit": query.limit}
    return rank_windows((yield from query.read_each("dense", dict.fromkeys(query.corpora, parameters))))


DENSE = Strategy(
    name="dense",
    summary="Windows by vector.",
    source="vector search",
    ranked_by="vector",
    needs={"vector"},
    rank_windows=dense,
)
