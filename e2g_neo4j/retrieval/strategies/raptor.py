"""`raptor`: rank all chunks and clusters by vector: the collapsed tree of RAPTOR (arXiv 2401.18059)."""

from __future__ import annotations

from e2g_neo4j.retrieval.passages import ScoredNode, top_k
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.runtime.requests import Embed, Operation


def raptor(query: Query) -> Operation[list[ScoredNode]]:
    """Find the `query.limit` nearest chunks and clusters."""
    vector = yield Embed(query.question)
    parameters = {"vector": vector, "k": query.limit}
    return top_k((yield from query.read_each("raptor", dict.fromkeys(query.corpora, parameters))), query.limit)


RAPTOR = Strategy(
    name="raptor",
    summary="Chunks and clusters of chunks by vector.",
    source="RAPTOR (arXiv 2401.18059), collapsed tree",
    ranked_by="vector",
    needs={"vector", "clusters"},
    rank_nodes=raptor,
    nodes="chunks and clusters",
    skips=True,
)
