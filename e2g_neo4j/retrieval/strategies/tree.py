"""`tree` and `raptor`: rank all chunks and what is above them by vector, like the collapsed tree of RAPTOR (arXiv
2401.18059)."""

from __future__ import annotations

from e2g_neo4j.retrieval.passages import ScoredNode, drop_duplicates, top_k
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies.e2g import nearest_nodes
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.runtime.requests import Embed, Operation


def tree(query: Query) -> Operation[list[ScoredNode]]:
    """Find the `query.limit` nearest chunks and summaries."""
    near = yield from nearest_nodes(query, dict.fromkeys(query.corpora, ()))
    return drop_duplicates(top_k(near, len(near)))[: query.limit]


TREE = Strategy(
    name="tree",
    summary="Chunks and their summaries by vector.",
    source="RAPTOR (arXiv 2401.18059), collapsed, on the tree of E²GraphRAG",
    ranked_by="vector",
    needs={"vector"},
    rank_nodes=tree,
    nodes="chunks and summaries",
)


def raptor(query: Query) -> Operation[list[ScoredNode]]:
    """Find the `query.limit` nearest chunks and clusters."""
    vector = yield Embed(query.question)
    parameters = {"vector": vector, "k": 2 * query.limit}
    rows = yield from query.read_each("raptor", dict.fromkeys(query.corpora, parameters))
    return drop_duplicates(top_k(rows, len(rows)))[: query.limit]


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
