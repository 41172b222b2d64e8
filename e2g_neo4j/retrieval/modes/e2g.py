"""`e2g`: select chunks that mention pairs of the question's entities, like the paper (arXiv 2505.24226)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from e2g_neo4j.retrieval.passages import ScoredNode, top_k
from e2g_neo4j.types.results import Pair, Round


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that mentions at least two of the question's entities.

    Attributes:
        chunk: Id of the chunk.
        place: Document and number of the chunk.
        counts: Number of mentions per entity.
        pairs: The pairs within the allowed hops, closest first.
    """

    chunk: str
    place: tuple[str, int]
    counts: dict[str, int]
    pairs: tuple[Pair, ...]

    def rank(self) -> tuple[int, int]:
        """Return the sort key: the number of distinct entities of the question, then their mentions."""
        return len(self.counts), sum(self.counts.values())


def pairs_within_hops(pairs: Iterable[dict[str, Any]], hops: int) -> tuple[Pair, ...]:
    """Return the pairs that are at most `hops` edges apart, closest first."""
    found = {Pair(pair["a"], pair["b"], pair["hops"]) for pair in pairs if pair["hops"] <= hops}
    return tuple(sorted(found, key=lambda pair: (pair.hops, pair.a, pair.b)))


def candidates(link: Mapping[str, Any], hops: int) -> list[Candidate]:
    """Return the chunks that mention several of the question's entities in one corpus."""
    pairs = pairs_within_hops(link["pairs"], hops)
    found = []
    for row in link["shared"]:
        counts = {count["entity"]: count["count"] for count in row["counts"]}
        held = tuple(pair for pair in pairs if pair.a in counts and pair.b in counts)
        found.append(Candidate(row["chunk"], (row["document"], row["index"]), counts, held))
    return found


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
