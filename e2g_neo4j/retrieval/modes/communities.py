"""`communities`: the windows of the communities of entities that are nearest to the question, by turns.

GraphRAG's global search ("From Local to Global", arXiv 2404.16130) has a chat model rate the report of every community,
and answers from the best reports. Here the vectors of the reports rate the communities, and no report is evidence: the
communities choose windows, so that citations lead to the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from e2g_neo4j.retrieval.passages import TIE
from e2g_neo4j.retrieval.query import Query, RankedWindows, Ranking
from e2g_neo4j.retrieval.windows import Window, round_robin, windows_of
from e2g_neo4j.runtime.requests import Embed
from e2g_neo4j.types.ties import best_first

COMMUNITIES = 10
"""Communities that take turns. 5, 20 and 40 found no more of the evidence for questions about a whole novel."""

WINDOWS = 200
"""At least as many of the nearest windows are assigned to communities."""


def communities(query: Query) -> Ranking:
    """Rank windows, best first."""
    vector = yield Embed(query.question)
    parameters = {"vector": vector, "best": COMMUNITIES, "windows": max(query.limit, WINDOWS)}
    rows = yield from query.read_each("communities", dict.fromkeys(query.corpora, parameters))
    return by_turns(rows)[: query.limit]


def by_turns(rows: Iterable[Mapping[str, Any]]) -> RankedWindows:
    """Return the windows of rows of `communities.cypher`.

    The first turn is the nearest window of each of the COMMUNITIES nearest communities, then come the second ones, and
    so on. A window that mentions entities of several communities has the first turn of them. Windows of no such
    community follow. The score of a window is its own, (1 + cosine) / 2.
    """
    found: list[tuple[Window, float, list[str]]] = []
    scores: dict[str, float] = {}
    for row in rows:
        scores |= {one["id"]: one["score"] for one in row["communities"]}
        of = {one["id"]: set(one["windows"]) for one in row["communities"]}
        for candidate in sorted(row["candidates"], key=lambda one: (one["document"], one["index"])):
            windows = windows_of(candidate)
            for one in sorted(candidate["windows"], key=lambda one: one["number"]):
                communities_of = [id for id, at in of.items() if one["at"] in at]
                found.append((windows[one["number"]], one["score"], communities_of))
    nearest = {found[at][0].id: found[at] for at in best_first([score for _, score, _ in found], TIE)}
    ids = sorted(scores)
    best = [ids[at] for at in best_first([scores[id] for id in ids], TIE)][:COMMUNITIES]
    members = [[window for window, (_, _, of) in nearest.items() if id in of] for id in best]
    return [nearest[window][:2] for window in dict.fromkeys([*round_robin(members), *nearest])]
