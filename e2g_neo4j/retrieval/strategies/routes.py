"""`routes`: rank the windows that several routes lead to: vectors, entities, and neighbours of entities in the graph.

This is the common recipe of retrieval with a knowledge graph and several routes: the nearest 3 to 10 text units; their
entities and those of the question; 1 or 2 hops to the neighbours with the greatest weights; the text that mentions any
of these; then ranking by relevance, entity coverage and document weight. Here text units are windows, edges are
co-occurrences, and neighbours are compared by weight, by rarity (as in `auto`), and in corpora with vectors of entities
by the similarity of their names to the question. No chat model is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from e2g_neo4j.retrieval.query import Query, RankedWindows, Ranking
from e2g_neo4j.retrieval.ranking import TIE, z
from e2g_neo4j.retrieval.sentences import HUB
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.retrieval.windows import ORIGINS, Window, windows_in
from e2g_neo4j.runtime.requests import Embed
from e2g_neo4j.types.ties import best_first

ENTRY = 10
"""Nearest windows, whose entities are seeds: the upper end of the recipe's 3 to 10."""

SEEDS = 10
"""Entities of these windows from which the graph is searched, besides those of the question. Chosen, like all numbers
below; none of them was tuned."""

NEIGHBOURS = 10
"""Neighbours per hop."""

COMPARED = 100
"""The strongest neighbours of a hop, whose names are compared with the question. To compare all of them took as long as
the rest of the question."""

HOPS = 2
"""Maximum number of hops, the upper end of the recipe's 1 or 2. The option `hops` may make it 1."""

DECAY = 0.5
"""What a neighbour counts in entity coverage, as a fraction of the entity that leads to it."""

LIMIT = 200
"""Windows that are read by coverage. The mode returns no more, whatever the budget."""

RELEVANCE = COVERAGE = DOCUMENT = 1.0
"""Weights of the z-normalised cosine, entity coverage and document weight. All are equal."""


def routes(query: Query) -> Ranking:
    """Rank the windows that vectors and entities lead to, best first. Each has its `origin`.

    `query.hops` is how far neighbours may be from an entity, in edges. More than HOPS counts as HOPS.
    """
    vector = yield Embed(query.question)
    constants = {
        "vector": vector,
        "entry": ENTRY,
        "seeds": SEEDS,
        "hops": min(query.hops, HOPS),
        "neighbours": NEIGHBOURS,
        "compared": COMPARED,
        "decay": DECAY,
        "hub": HUB,
        "limit": LIMIT,
    }
    parameters = {
        corpus: {"names": list(names), "by_name": corpus in query.layered, **constants}
        for corpus, names in query.entities.items()
    }
    windows = rank_rows((yield from query.read_each("routes", parameters)))
    query.explanation.notes.append(origins_told(window for window, _ in windows))
    return windows


def rank_rows(rows: Iterable[Mapping[str, Any]]) -> RankedWindows:
    """Rank windows by the sum of z-normalised cosine, entity coverage and document weight. Ties are in reading order.

    The weight of a document is the number of nearest windows that it has.
    """
    windows, cosines, coverages = list[Window](), list[float](), list[float]()
    for window, (_, cosine, coverage, origin) in windows_in(rows):
        windows.append(replace(window, origin=ORIGINS[origin]))
        cosines.append(cosine)
        coverages.append(coverage)
    nearest = Counter(window.document for window in windows if window.origin == "vector")
    documents = [float(nearest[window.document]) for window in windows]
    signals = ((RELEVANCE, cosines), (COVERAGE, coverages), (DOCUMENT, documents))
    scores = sum((weight * z(np.array(values)) for weight, values in signals), np.zeros(len(windows)))
    return [(windows[i], float(scores[i])) for i in best_first(scores, TIE)]


def origins_told(windows: Iterable[Window]) -> str:
    """Count the windows that were ranked by how they were found."""
    counts = Counter(window.origin for window in windows)
    return (
        f"Windows found: {counts['vector']} by vector, {counts['question']} by entities of the question, "
        f"{counts['seed']} by entities of the nearest windows, {counts['neighbour']} by neighbours of these entities."
    )


ROUTES = Strategy(
    name="routes",
    summary="Windows that vectors, entities and their neighbours in the graph lead to.",
    source="multi-route recall with a knowledge graph",
    ranked_by="vectors, entities and documents",
    needs={"vector", "entities"},
    uses={"entity_vectors"},
    rank_windows=routes,
)
