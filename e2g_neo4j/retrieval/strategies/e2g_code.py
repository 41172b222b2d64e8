"""`e2g_code`: mode `e2g` as in the published code of E²GraphRAG, where this differs from the paper.

What the code makes of a name decides what it finds: it takes the names of people apart, so "Luke Farran" is a pair of
terms, and a question with one full name has a local route. Faults of the code that change which chunks are found are
kept: its search for runs of neighbouring chunks ends after one chunk on each side, and summaries take up places in the
global route, but are then left out. Its order of the evidence, by groups of terms, is no ranking. Here its criteria for
a choice among too many chunks also rank few.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from e2g_neo4j.retrieval.linking import Candidate, candidates, pairs_within_hops
from e2g_neo4j.retrieval.passages import ScoredNode, top_k
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies.e2g import Score, choose_chunks, local_nodes, nearest_nodes
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.graph import NAME, PERSON
from e2g_neo4j.types.results import Pair

TOP_K = 25
"""Chunks that the published code returns at most (`max_chunk_setting`)."""

SPLIT = (PERSON, NAME)
"""The types of entities whose words are terms. The code never joins proper nouns that are no named entity."""

MEMBERS = 10
"""Entities of a term between which paths are searched, if the terms are not adjacent. Common first names have many."""


NO_PAIR = (
    "No chunk mentions two terms of the question that are near each other: all chunks and summaries are searched by "
    "vector; the chunks that mention terms most often come first."
)
NO_TERM = "The question has no term: all chunks and summaries are searched by vector."


def e2g_code(query: Query) -> Operation[list[ScoredNode]]:
    """Select chunks by pairs of terms. If no chunk mentions a pair, rank chunks by mentions among the nearest nodes."""
    terms, without = query.terms(), {word for name in query.without for word in (name, *name.split())}
    constants = {
        "name_words": [word for word in terms.parts if word not in without],
        "wholes": [name for name in terms.wholes if name not in query.without],
        "people": list(SPLIT),
        "members": MEMBERS,
    }
    rows = yield from query.read_each("e2g_code", dict.fromkeys(query.corpora, constants))
    pairs = pairs_within_hops([pair for row in rows for pair in row["pairs"]], query.hops)
    shared = [candidate for row in rows for candidate in candidates(row, query.hops)]
    if chosen := choose_chunks(query, pairs, shared, by_runs(shared)):
        return (yield from local_nodes(query, chosen))
    told = query.explanation
    told.pairs = pairs
    told.reason = NO_PAIR if constants["name_words"] or constants["wholes"] else NO_TERM
    entities = {row["corpus"]: sorted({key for group in row["entities"] for key in group}) for row in rows}
    return global_chunks((yield from nearest_nodes(query, entities)), k=query.limit)


def by_runs(shared: Iterable[Candidate]) -> Score:
    """Return a score by distinct terms of the pairs that are left, then by neighbours that mention them all, then by
    their mentions."""
    known = {candidate.place: candidate.counts.keys() for candidate in shared}

    def score(candidate: Candidate, pairs: Sequence[Pair]) -> float:
        terms = {term for pair in pairs for term in (pair.a, pair.b)}
        document, index = candidate.place
        neighbours = sum(terms <= known.get((document, at), set()) for at in (index - 1, index + 1))
        mentions = sum(candidate.counts[term] for term in terms)
        return len(terms) + (neighbours + mentions / (1 + mentions)) / 3

    return score


def global_chunks(rows: Sequence[dict[str, Any]], *, k: int) -> list[ScoredNode]:
    """Return the chunks among the k of the nearest nodes that mention the terms most, or the k nearest nodes if none
    mentions any."""
    nearest = top_k(rows, len(rows))
    mentioning = [node for node in nearest if node.row["occurrences"]]
    if not mentioning:
        return nearest[:k]
    mentioning.sort(key=lambda node: -node.row["occurrences"])
    return [node for node in mentioning[:k] if node.row["level"] == 0]


E2G_CODE = Strategy(
    name="e2g_code",
    summary="Like e2g, but as in the published code: words of names are terms, and neighbouring chunks count.",
    source="E²GraphRAG, published code (f598d4f)",
    ranked_by="pairs of terms",
    needs={"entities"},
    uses={"vector"},
    rank_nodes=e2g_code,
    nodes="chunks and summaries",
    top_k=TOP_K,
)
