"""`e2g_normalised`: mode `e2g` with coverage and occurrence as shares.

The coverage of a chunk is the share of its entities that the question names, its occurrence the number of their
mentions divided by the number of its words. Their sum ranks both routes. So a long chunk or a high summary is not ahead
because it mentions more of everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from e2g_neo4j.retrieval.linking import Candidate
from e2g_neo4j.retrieval.passages import ScoredNode, drop_duplicates, top_k
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies.e2g import choose_chunks, local_nodes, nearest_nodes
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.runtime.requests import Operation, read_each
from e2g_neo4j.types.results import Pair


def e2g_normalised(query: Query) -> Operation[list[ScoredNode]]:
    """Select chunks by pairs of entities. If no chunk mentions a pair, rank chunks and summaries by vector."""
    linked = query.linked
    shares = yield from read_shares(query, (candidate.chunk for candidate in linked.shared))

    def score(candidate: Candidate, _pairs: Sequence[Pair]) -> float:
        return shares.get(candidate.chunk, 0.0)

    if chosen := choose_chunks(query, linked.pairs, linked.shared, score):
        return (yield from local_nodes(query, chosen))
    rows = yield from nearest_nodes(query, query.entities)
    return global_nodes(rows, (yield from read_shares(query, (row["id"] for row in rows))), k=query.limit)


def read_shares(query: Query, ids: Iterable[str]) -> Operation[dict[str, float]]:
    """Read the sum of coverage and occurrence of nodes, by id."""
    listed = list(ids)
    if not listed:
        return {}
    names = {corpus: query.entities.get(corpus, ()) for corpus in query.corpora}
    parameters = {corpus: {"ids": listed, "names": list(named)} for corpus, named in names.items()}
    rows = yield from read_each("query/shares", parameters)
    return {row["id"]: coverage_and_occurrence(row) for row in rows}


def coverage_and_occurrence(row: Mapping[str, int]) -> float:
    """Return the sum of the shares of a node."""
    coverage = row["matched"] / row["entities"] if row["entities"] else 0.0
    occurrence = row["mentions"] / row["words"] if row["words"] else 0.0
    return coverage + occurrence


def global_nodes(rows: Sequence[dict[str, Any]], shares: Mapping[str, float], *, k: int) -> list[ScoredNode]:
    """Return the k best of the nearest nodes, sorted by their shares, then by vector."""
    nearest = drop_duplicates(top_k(rows, len(rows)))
    return sorted(nearest, key=lambda node: -shares.get(node.row["id"], 0.0))[:k]


E2G_NORMALISED = Strategy(
    name="e2g_normalised",
    summary="Like e2g, but entities and mentions count as shares of the entities and words of the text.",
    source="E²GraphRAG (arXiv 2505.24226), normalised",
    ranked_by="pairs of entities",
    needs={"entities"},
    uses={"vector"},
    rank_nodes=e2g_normalised,
    nodes="chunks and summaries",
)
