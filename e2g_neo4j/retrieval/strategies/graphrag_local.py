"""`graphrag_local`: windows whose chunks state something about the entities of the nearest statements.

This is the local search of GraphRAG ("From Local to Global", arXiv 2404.16130, and its code). The question is compared
with descriptions of entities; relations of the nearest entities are selected, those between two of them first; text is
taken by the order of the entities, then by the number of an entity's relations in it. Here the descriptions are the
statements about an entity, one by one, and the text is windows that mention it. The published code also fills its
prompt with reports of communities (15 %) and with entities and relations (35 %); here the text alone is the evidence
(there 50 %), and statements choose it. It takes 20 entities, because the list of twice as many candidates as wanted is
never cut; here they are the 10 that are wanted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from e2g_neo4j.retrieval.passages import TIE
from e2g_neo4j.retrieval.query import Query, RankedWindows, Ranking
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.retrieval.windows import Window, by_score, windows_in
from e2g_neo4j.runtime.requests import Embed
from e2g_neo4j.types.ties import best_first

ENTRY = 10
"""Entities of the nearest statements."""

CANDIDATES = 100
"""Nearest statements. Several are about the same entities."""

AROUND = 10
"""Selected relations to other entities, for each of the entities, as in the published code."""

LIMIT = 200
"""Windows by entities that are read, and at least as many by vector."""


def graphrag_local(query: Query) -> Ranking:
    """Rank windows, best first."""
    vector = yield Embed(query.question)
    constants = {
        "vector": vector,
        "entry": ENTRY,
        "candidates": CANDIDATES,
        "around": AROUND,
        "limit": max(query.limit, LIMIT),
    }
    rows = yield from query.read_each("graphrag_local", dict.fromkeys(query.corpora, constants))
    return rank_rows(rows)[: query.limit]


def rank_rows(rows: Iterable[Mapping[str, Any]]) -> RankedWindows:
    """Rank the windows of rows of `graphrag_local.cypher`, one row per corpus.

    First come windows of the nearest entity, those with most of its relations first, then those of the next one, and so
    on. Windows of no entity follow. Among equals the nearest window is first. The score of a window is its own,
    (1 + cosine) / 2.
    """
    rows = list(rows)
    entities = [(at, place) for at, row in enumerate(rows) for place in range(len(row["entities"]))]
    nearest = best_first([rows[at]["entities"][place]["score"] for at, place in entities], TIE)
    order = {entities[number]: rank for rank, number in enumerate(nearest)}
    groups: defaultdict[tuple[int, int], list[tuple[Window, float]]] = defaultdict(list)
    for at, row in enumerate(rows):
        for window, one in windows_in(row["candidates"]):
            rank = len(entities) if one["place"] is None else order[at, one["place"]]
            groups[rank, -one["relations"]].append((window, one["score"]))
    return [window for _, group in sorted(groups.items()) for window in by_score(group)]


GRAPHRAG_LOCAL = Strategy(
    name="graphrag_local",
    summary="Windows by statements about the entities of the nearest statements.",
    source="GraphRAG (arXiv 2404.16130), local search",
    ranked_by="statements about the entities of the nearest statements",
    needs={"vector", "statements"},
    rank_windows=graphrag_local,
)
