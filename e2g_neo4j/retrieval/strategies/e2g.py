"""`e2g`: select chunks that mention pairs of the question's entities, like the paper (arXiv 2505.24226)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from e2g_neo4j.retrieval.explain import count_of, why_global
from e2g_neo4j.retrieval.linking import Candidate, Linked
from e2g_neo4j.retrieval.passages import ScoredNode, drop_duplicates, read_chunks, top_k
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.runtime.requests import Embed, Operation, Rows
from e2g_neo4j.types.results import Pair, Round

Score: TypeAlias = Callable[[Candidate, Sequence[Pair]], float]
"""Scores a chunk that mentions several entities. The pairs are those of it that are left."""


def e2g(query: Query) -> Operation[list[ScoredNode]]:
    """Select chunks by pairs of entities. If no chunk mentions a pair, rank chunks and summaries by vector."""
    linked = query.linked
    if chosen := choose_chunks(query, linked.pairs, linked.shared, by_mentions):
        return (yield from local_nodes(query, chosen))
    rows = yield from nearest_nodes(query, query.entities)
    return global_nodes(rows, k=query.limit)


def by_mentions(candidate: Candidate, pairs: Sequence[Pair]) -> float:
    """Score a chunk by its distinct entities of the question, then by their mentions."""
    mentions = sum(candidate.counts.values())
    return len(candidate.counts) + mentions / (1 + mentions)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A chunk of the local route, with its score and the pairs that it mentions."""

    chunk: str
    score: float
    pairs: tuple[Pair, ...]


def choose_chunks(query: Query, pairs: Sequence[Pair], shared: Sequence[Candidate], score: Score) -> list[Chosen]:
    """Select the chunks of the local route, and tell it in the explanation. If there are none, the route is global.

    Args:
        pairs: The pairs within its hops.
    """
    told, k = query.explanation, query.limit
    chosen, used, told.trace = select_chunks(pairs, shared, score, k=k, hops=query.hops)
    if chosen:
        told.route, told.reason = "local", local_reason(pairs, told.trace, used, len(chosen), k)
        told.hops, told.pairs = used, tuple(pair for pair in pairs if pair.hops <= used)
    else:
        told.route, told.reason = "global", global_reason(query.linked, query.hops)
    return chosen


def select_chunks(
    pairs: Sequence[Pair], shared: Sequence[Candidate], score: Score, *, k: int, hops: int
) -> tuple[list[Chosen], int, tuple[Round, ...]]:
    """Select the chunks of the local route.

    While more than k chunks are left, h decreases by one. If this leaves none, the previous h is used, and its k chunks
    with the highest scores are kept.

    Args:
        pairs: The pairs within `hops`.
        hops: The initial h.

    Returns:
        The chunks, best first; the final h; and the trace of the rounds.
    """
    trace: list[Round] = []
    kept: list[Candidate] = []
    used = hops
    for h in range(hops, 0, -1):
        near = [pair for pair in pairs if pair.hops <= h]
        left = [candidate for candidate in shared if any(pair.hops <= h for pair in candidate.pairs)]
        trace.append(Round(h, len(near), len(left)))
        if left:
            kept, used = left, h
        if len(left) <= k:
            break
    chosen = []
    for one in sorted(kept, key=lambda candidate: candidate.place):
        near_pairs = tuple(pair for pair in one.pairs if pair.hops <= used)
        chosen.append(Chosen(one.chunk, score(one, near_pairs), near_pairs))
    chosen.sort(key=lambda one: one.score, reverse=True)
    return chosen[:k], used, tuple(trace)


def local_nodes(query: Query, chosen: Sequence[Chosen]) -> Operation[list[ScoredNode]]:
    """Read the text of the selected chunks."""
    by_id = yield from read_chunks([one.chunk for one in chosen], query.corpora)
    return [ScoredNode(by_id[one.chunk], one.score, one.pairs) for one in chosen if one.chunk in by_id]


def nearest_nodes(query: Query, entities: Mapping[str, Sequence[str]]) -> Operation[Rows]:
    """Read the chunks and summaries that are nearest by vector, twice as many as wanted: some are duplicates, and with
    entities they are ranked further.

    Args:
        entities: Per corpus, the entities whose mentions are counted.
    """
    vector = yield Embed(query.question)
    parameters = {
        corpus: {"vector": vector, "k": 2 * query.limit, "names": list(names)} for corpus, names in entities.items()
    }
    return (yield from query.read_each("nearest", parameters))


def global_nodes(rows: Sequence[dict[str, Any]], *, k: int) -> list[ScoredNode]:
    """Return the k best of the nearest nodes, sorted by mentions of the question's entities, then by score."""
    nearest = drop_duplicates(top_k(rows, len(rows)))
    return sorted(nearest, key=lambda node: -node.row["occurrences"])[:k]


def local_reason(pairs: Sequence[Pair], trace: Sequence[Round], used: int, kept: int, k: int) -> str:
    """Explain the local route of mode `e2g`."""
    near = [pair for pair in pairs if pair.hops <= used]
    counted = {entry.hops: entry.candidates for entry in trace}[used]
    reason = (
        f"{count_of(len(near), 'pair')} of entities within {count_of(used, 'hop')} share {count_of(counted, 'chunk')}"
    )
    if counted > kept:
        reason += f"; the best {kept} by entities and occurrences are kept (k={k})"
    return reason + "."


def global_reason(linked: Linked, hops: int) -> str:
    """Explain the global route of mode `e2g`."""
    why = f"{why_global(linked, hops)}: all chunks and summaries are searched by vector"
    return f"{why}; those that mention the entities most come first." if linked.entities else f"{why}."


E2G = Strategy(
    name="e2g",
    summary="Chunks that mention pairs of the question's entities; without any, chunks and summaries by vector.",
    source="E²GraphRAG (arXiv 2505.24226)",
    ranked_by="pairs of entities",
    needs={"entities"},
    uses={"vector"},
    rank_nodes=e2g,
    nodes="chunks and summaries",
)
