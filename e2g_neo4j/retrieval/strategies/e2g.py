"""`e2g`: select chunks that mention pairs of the question's entities, like the paper (arXiv 2505.24226)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from e2g_neo4j.retrieval.explain import count_of, why_global
from e2g_neo4j.retrieval.linking import Candidate, Linked
from e2g_neo4j.retrieval.passages import ScoredNode, top_k
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.runtime.requests import Embed, Operation, read_each
from e2g_neo4j.types.results import Pair, Round


def e2g(query: Query) -> Operation[list[ScoredNode]]:
    """Select chunks by pairs of entities. If no chunk mentions a pair, rank chunks and summaries by vector."""
    linked, k, told = query.linked, query.limit, query.explanation
    chosen, used, told.trace = select_chunks(linked.pairs, linked.shared, k=k, hops=query.hops)
    if not chosen:
        told.route, told.reason = "global", global_reason(linked, query.hops)
        vector = yield Embed(query.question)
        parameters = {
            corpus: {"vector": vector, "k": 2 * k if names else k, "names": list(names)}
            for corpus, names in query.entities.items()
        }
        return global_nodes((yield from query.read_each("nearest", parameters)), k=k)
    told.route, told.reason = "local", local_reason(linked.pairs, told.trace, used, len(chosen), k)
    told.hops, told.pairs = used, tuple(pair for pair in linked.pairs if pair.hops <= used)
    ids = [candidate.chunk for candidate, _ in chosen]
    rows = yield from read_each("query/passages", {corpus: {"ids": ids} for corpus in query.corpora})
    return local_nodes(chosen, rows)


def select_chunks(
    pairs: Sequence[Pair], shared: Sequence[Candidate], *, k: int, hops: int
) -> tuple[list[tuple[Candidate, tuple[Pair, ...]]], int, tuple[Round, ...]]:
    """Select the chunks of the local route.

    While more than k chunks are left, h decreases by one. If this leaves none, the previous h is used, and its best k
    chunks by (distinct entities, mentions) are kept.

    Args:
        pairs: The pairs within `hops`.
        shared: The chunks that mention several entities.
        k: Number of chunks.
        hops: The initial h.

    Returns:
        The chunks with their pairs, best first; the final h; and the trace of the rounds.
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
    kept.sort(key=lambda candidate: candidate.place)
    kept.sort(key=Candidate.rank, reverse=True)
    chosen = [(c, tuple(pair for pair in c.pairs if pair.hops <= used)) for c in kept[:k]]
    return chosen, used, tuple(trace)


def local_nodes(
    chosen: Sequence[tuple[Candidate, tuple[Pair, ...]]], rows: Iterable[dict[str, Any]]
) -> list[ScoredNode]:
    """Return the selected chunks with their text, best first.

    The score is the number of distinct entities plus a fraction that grows with their mentions, so that it sorts like
    `Candidate.rank`.

    Args:
        chosen: The chunks with their pairs, best first.
        rows: Rows of `passages.cypher`.
    """
    by_id = {row["id"]: row for row in rows}
    ranked = []
    for candidate, pairs in chosen:
        if candidate.chunk in by_id:  # missing if its document was replaced between the two reads
            entities, mentions = candidate.rank()
            ranked.append(ScoredNode(by_id[candidate.chunk], entities + mentions / (1 + mentions), pairs))
    return ranked


def global_nodes(rows: Sequence[dict[str, Any]], *, k: int) -> list[ScoredNode]:
    """Return the k best of the nearest nodes, sorted by mentions of the question's entities, then by score."""
    return sorted(top_k(rows, len(rows)), key=lambda node: -node.row["occurrences"])[:k]


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
