"""`lightrag`: windows by vectors, by entities and by relations, in turn, as in LightRAG (arXiv 2410.05779, mode "mix").

LightRAG has a chat model name specific and general keywords of a question. It finds entities by the specific ones and
relations by the general ones, takes the text units of both, and mixes them with those found by vector. Here no chat
model is used: the specific keywords are the entities of the question; relations are co-occurrences; and instead of
general keywords, the nearest windows lead to relations. As in the published code, text units are taken by their
similarity to the question, 2.5 for each entity or relation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from e2g_neo4j.retrieval.modes.auto import HUB
from e2g_neo4j.retrieval.passages import TIE
from e2g_neo4j.retrieval.query import Query, RankedWindows, Ranking
from e2g_neo4j.retrieval.windows import Window, round_robin, windows_of
from e2g_neo4j.runtime.requests import Embed
from e2g_neo4j.types.ties import best_first

NEAREST = 20
"""Windows by vector: LightRAG's `chunk_top_k`."""

RELATIONS = 40
"""Relations of the question's entities, and as many of the nearest windows: LightRAG's `top_k`."""

ENTRY = 5
"""The nearest windows whose relations are taken. In *Dracula*, a window has about 130, so the first gives all 40."""

WINDOWS_EACH = 2.5
"""Windows per entity and per relation: half of LightRAG's `related_chunk_number` of 5."""

LIMIT = 200
"""Windows by entities that are read."""


def lightrag(query: Query) -> Ranking:
    """Rank windows, best first."""
    vector = yield Embed(query.question)
    constants = {
        "vector": vector,
        "nearest": NEAREST,
        "entry": ENTRY,
        "relations": RELATIONS,
        "hub": HUB,
        "limit": LIMIT,
    }
    parameters = {corpus: {"names": list(names), **constants} for corpus, names in query.entities.items()}
    return mixed((yield from query.read_each("lightrag", parameters)))


def mixed(rows: Iterable[Mapping[str, Any]]) -> RankedWindows:
    """Return the windows of rows of `lightrag.cypher`: by vector, by entity and by relation in turn, then all others.

    Each list has the windows nearest to the question first. The score of a window is (1 + cosine) / 2, so scores may
    rise down the list.
    """
    found: list[tuple[Window, float]] = []
    by_vector, by_entity, by_relation = set[str](), set[str](), set[str]()
    entities = relations = 0
    for row in rows:
        of_entity = {*row["named"], *(key for pair in row["global"] for key in pair)}
        pairs = {tuple(pair) for pair in (*row["local"], *row["global"])}
        entities, relations = entities + len(of_entity), relations + len(pairs)
        by_vector.update(row["nearest"])
        mentioning = defaultdict[str, set[str]](set)
        for candidate in sorted(row["candidates"], key=lambda one: (one["document"], one["index"])):
            windows = windows_of(candidate)
            for one in sorted(candidate["windows"], key=lambda one: one["number"]):
                window = windows[one["number"]]
                found.append((window, one["score"]))
                for key in one["mentioned"]:
                    mentioning[key].add(window.id)
        by_entity.update(*(mentioning[key] for key in of_entity))
        by_relation.update(*(mentioning[a] & mentioning[b] for a, b in pairs))
    nearest = {found[at][0].id: found[at] for at in best_first([score for _, score in found], TIE)}
    lists = [
        [id for id in nearest if id in by_vector][:NEAREST],
        [id for id in nearest if id in by_entity][: int(WINDOWS_EACH * entities)],
        [id for id in nearest if id in by_relation][: int(WINDOWS_EACH * relations)],
    ]
    return [nearest[id] for id in dict.fromkeys([*round_robin(lists), *nearest])]
