"""`vector_context`: windows that mention the entities nearest to the question together with their neighbours.

This is LlamaIndex' VectorContextRetriever for property graphs: the nearest entities by vector, their relations, those
of the nearest entities first, and the text of these relations. Here relations are co-occurrences, the vector of an
entity is that of its name, and the text of a relation is each window that mentions both ends. The published code takes
text in the order of the relations alone; here windows are ranked by their own vectors too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from e2g_neo4j.retrieval.query import Query, RankedWindows, Ranking
from e2g_neo4j.retrieval.sentences import HUB
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.retrieval.windows import Window, by_score, windows_in
from e2g_neo4j.runtime.requests import Embed

ENTRY = 10
"""Nearest entities."""

CANDIDATES = 100
"""Entities that the index is asked for. It is approximate: asked for 10, it returned 91 % of the ten nearest of
MuSiQue, asked for 100, 98 %."""

NEIGHBOURS = 10
"""Relations of an entity, those with the greatest weight."""

LIMIT = 200
"""Windows by relations that are read, and at least as many by vector."""

RELATION = 0.02
"""Weight of the relations of a window, in relation to its own vector. With more, fewer of the first windows were
evidence: .615 of the first five on MuSiQue, .603 with .05, .565 with .1, and .520 with .2."""


def vector_context(query: Query) -> Ranking:
    """Rank windows, best first."""
    vector = yield Embed(query.question)
    constants = {
        "vector": vector,
        "entry": ENTRY,
        "candidates": CANDIDATES,
        "neighbours": NEIGHBOURS,
        "hub": HUB,
        "limit": max(query.limit, LIMIT),
    }
    rows = yield from query.read_each("vector_context", dict.fromkeys(query.corpora, constants))
    return rank_rows(rows)[: query.limit]


def rank_rows(rows: Iterable[Mapping[str, Any]]) -> RankedWindows:
    """Rank the windows of rows of `vector_context.cypher`.

    The score of a relation is that of the nearer of its two ends. The score of a window is its own plus RELATION times
    that of its best relation, if it mentions any; of entities and windows, (1 + cosine) / 2.
    """
    relations = []
    for row in rows:
        scores = {one["key"]: one["score"] for one in row["entities"]}
        relations.append((row, [max(scores.get(key, 0.0) for key in pair) for pair in row["relations"]]))
    return rank_by_relations(relations, RELATION)


def rank_by_relations(rows: Iterable[tuple[Mapping[str, Any], Sequence[float]]], weight: float) -> RankedWindows:
    """Rank windows by their own scores, plus `weight` times that of the best relation that they mention.

    Args:
        rows: Rows with the windows and the relations that they mention, and the scores of these relations.
    """
    found: list[tuple[Window, float]] = []
    for row, relations in rows:
        for window, one in windows_in(row["candidates"]):
            best = max((relations[at] for at in one["relations"]), default=0.0)
            found.append((window, one["score"] + weight * best))
    return by_score(found)


VECTOR_CONTEXT = Strategy(
    name="vector_context",
    summary="Windows by relations of the entities whose names are nearest.",
    source="LlamaIndex, VectorContextRetriever",
    ranked_by="relations of the nearest entities and by vector",
    needs={"vector", "entity_vectors"},
    rank_windows=vector_context,
)
