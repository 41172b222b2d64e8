"""`e2g_normalised`: mode `e2g` with coverage and occurrence as shares.

The coverage of a chunk is the share of the question's entities that it mentions, its occurrence the share that these
have of all its mentions. Their sum ranks the local route, occurrence alone the global one. So a long chunk or a high
summary is not ahead because it mentions more of everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from e2g_neo4j.retrieval.linking import Candidate
from e2g_neo4j.retrieval.passages import ScoredNode, top_k
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies.e2g import Score, choose_chunks, local_nodes, nearest_nodes
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.runtime.requests import Operation, read_each
from e2g_neo4j.types.results import Pair


def e2g_normalised(query: Query) -> Operation[list[ScoredNode]]:
    """Select chunks by pairs of entities. If no chunk mentions a pair, rank chunks and summaries by vector."""
    linked = query.linked
    mentions = yield from _mentions(query, (candidate.chunk for candidate in linked.shared))
    score = by_shares(mentions, len(linked.entities))
    if chosen := choose_chunks(query, linked.pairs, linked.shared, score):
        return (yield from local_nodes(query, chosen))
    rows = yield from nearest_nodes(query, query.entities)
    return global_nodes(rows, (yield from _mentions(query, (row["id"] for row in rows))), k=query.limit)


def _mentions(query: Query, ids: Iterable[str]) -> Operation[dict[str, int]]:
    """Read how often nodes mention any entity, by id."""
    listed = list(ids)
    if not listed:
        return {}
    rows = yield from read_each("query/mentions", {corpus: {"ids": listed} for corpus in query.corpora})
    return {row["id"]: row["mentions"] for row in rows}


def by_shares(mentions: Mapping[str, int], entities: int) -> Score:
    """Return a score by coverage plus occurrence.

    Args:
        mentions: How often each chunk mentions any entity.
    """

    def score(candidate: Candidate, _pairs: Sequence[Pair]) -> float:
        counts = candidate.counts
        return len(counts) / entities + _share(sum(counts.values()), mentions.get(candidate.chunk, 0))

    return score


def global_nodes(rows: Sequence[dict[str, Any]], mentions: Mapping[str, int], *, k: int) -> list[ScoredNode]:
    """Return the k best of the nearest nodes, sorted by occurrence, then by vector."""
    nearest = top_k(rows, len(rows))
    return sorted(nearest, key=lambda node: -_share(node.row["occurrences"], mentions.get(node.row["id"], 0)))[:k]


def _share(part: int, of: int) -> float:
    return part / of if of else 0.0


E2G_NORMALISED = Strategy(
    name="e2g_normalised",
    summary="Like e2g, but entities and mentions count as shares of those of the question and of the text.",
    source="E²GraphRAG (arXiv 2505.24226), normalised",
    ranked_by="pairs of entities",
    needs={"entities"},
    uses={"vector"},
    rank_nodes=e2g_normalised,
    nodes="chunks and summaries",
)
