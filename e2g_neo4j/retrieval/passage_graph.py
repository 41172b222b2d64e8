"""Personalised PageRank over entities and the windows that mention them, as HippoRAG and LinearRAG use it.

PageRank runs on a part of the graph: the entities that have a weight of their own, the windows that mention them most,
and the windows nearest to the question. What flows to entities and windows outside returns to the seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.retrieval.passages import TIE
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.windows import Window, windows_of
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.ties import best_first

LIMIT = 200
"""Windows of either kind that are in the graph, or more if more are to be ranked."""

DAMPING = 0.5
"""The fraction of its PageRank that an entity or a window passes on, as in both systems. The rest returns to the
seeds."""

CONVERGED = 1e-12
"""PageRank is iterated until it changes by no more than this, over the whole graph."""

DIGITS = 9
"""Decimals of PageRank that are compared. Smaller differences are of rounding."""

Node: TypeAlias = tuple[str, str]
"""Corpus and key of an entity."""


@dataclass(slots=True)
class PassageGraph:
    """Windows with the entities that they mention.

    Attributes:
        cosines: The cosine of each with the question, or -1 if it is not among the nearest.
        degrees: Per window, the sum of 1 + ln(sentences that mention the entity) over all its entities.
        mentions: Per window, the number of sentences that mention an entity, by entity.
    """

    windows: list[Window] = field(default_factory=list)
    cosines: list[float] = field(default_factory=list)
    degrees: list[float] = field(default_factory=list)
    mentions: list[dict[Node, int]] = field(default_factory=list)

    def cosines_from_0_to_1(self) -> NDArray[np.float64]:
        """Return the cosines, scaled from 0 for the last of the nearest windows to 1 for the first. Others have 0."""
        cosines = np.array(self.cosines)
        nearest = cosines[cosines > -1.0]
        spread = np.ptp(nearest) if len(nearest) else 0.0
        return np.clip((cosines - nearest.min()) / spread, 0, 1) if spread else np.where(cosines > -1.0, 1.0, 0.0)


def read_passage_graph(
    query: Query, vector: Sequence[float], weights: Mapping[str, Mapping[str, float]]
) -> Operation[PassageGraph]:
    """Read the windows that mention entities most, and those nearest to the question.

    Args:
        weights: Per corpus, the weights of entities.
    """
    limit = max(query.limit, LIMIT)
    keys = {corpus: list(of) for corpus, of in weights.items()}
    parameters = {
        corpus: {"vector": vector, "keys": keys[corpus], "weights": list(of.values()), "limit": limit}
        for corpus, of in weights.items()
    }
    graph = PassageGraph()
    rows = yield from query.read_each("entity_windows", parameters)
    for row in sorted(rows, key=lambda row: (row["document"], row["index"])):
        corpus, windows = row["corpus"], windows_of(row)
        for number, cosine, degree, mentions in sorted(row["windows"]):
            graph.windows.append(windows[number])
            graph.cosines.append(-1.0 if cosine is None else cosine)
            graph.degrees.append(degree or 0.0)
            graph.mentions.append({(corpus, keys[corpus][at]): count for at, count in mentions})
    return graph


def pagerank(
    graph: PassageGraph,
    entity_degrees: Mapping[Node, float],
    entity_seeds: Mapping[Node, float],
    window_seeds: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the personalised PageRank of each window.

    An entity passes DAMPING of its PageRank to windows, and a window to entities, in proportion to 1 + ln(sentences of
    the window that mention the entity). The rest, and what leaves the graph, returns to the seeds.

    Args:
        entity_degrees: Per entity, the sum of 1 + ln(sentences that mention it) over all windows.
        entity_seeds: The weights of entities as seeds, at least 0.
        window_seeds: The weights of windows as seeds, at least 0.
    """
    keys = sorted(entity_degrees)
    place = {key: at for at, key in enumerate(keys)}
    weights = np.zeros((len(graph.windows), len(keys)))
    for at, mentions in enumerate(graph.mentions):
        for key, count in mentions.items():
            weights[at, place[key]] = 1 + log(count)
    to_windows = weights / np.maximum([entity_degrees[key] for key in keys], 1)
    to_entities = (weights / np.maximum(np.array(graph.degrees), 1)[:, None]).T
    entities = np.array([entity_seeds.get(key, 0.0) for key in keys])
    total = entities.sum() + window_seeds.sum()
    if not total:
        return np.zeros(len(graph.windows))
    entities, windows = entities / total, np.asarray(window_seeds / total, dtype=np.float64)
    restart = entities, windows
    change = np.inf
    while change > CONVERGED:
        new_entities, new_windows = DAMPING * (to_entities @ windows), DAMPING * (to_windows @ entities)
        returned = 1 - new_entities.sum() - new_windows.sum()
        new_entities += returned * restart[0]
        new_windows += returned * restart[1]
        change = np.abs(new_entities - entities).sum() + np.abs(new_windows - windows).sum()
        entities, windows = new_entities, new_windows
    return windows


def rank_passages(graph: PassageGraph, scores: NDArray[np.float64]) -> list[tuple[Window, float]]:
    """Rank windows by score, and those that score alike by cosine. Ties are in reading order."""
    by_cosine = best_first(graph.cosines, TIE)
    best = sorted(by_cosine, key=lambda at: -round(float(scores[at]), DIGITS))
    return [(graph.windows[at], float(scores[at])) for at in best]
