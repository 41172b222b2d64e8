"""`tree`: rank all chunks and summaries by vector, like RAPTOR's collapsed tree (arXiv 2401.18059)."""

from __future__ import annotations

from e2g_neo4j.retrieval.passages import ScoredNode, top_k
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.runtime.requests import Embed, Operation


def tree(query: Query) -> Operation[list[ScoredNode]]:
    """Find the `query.limit` nearest chunks and summaries."""
    vector = yield Embed(query.question)
    parameters = {"vector": vector, "k": query.limit, "names": []}
    return top_k((yield from query.read_each("nearest", dict.fromkeys(query.corpora, parameters))), query.limit)


TREE = Strategy(
    name="tree",
    summary="Chunks and their summaries by vector.",
    source="RAPTOR (arXiv 2401.18059), collapsed, on the tree of E²GraphRAG",
    ranked_by="vector",
    needs={"vector"},
    rank_nodes=tree,
    nodes="chunks and summaries",
)
