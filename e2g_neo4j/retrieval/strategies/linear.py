"""`linear`: rank windows by PageRank from the entities that sentences connect with the question.

This is LinearRAG (arXiv 2510.10114): relations are not extracted; a sentence connects the entities that it mentions.
Entities of the question are active. In each step, the sentences nearest to the question among those that mention an
active entity activate their other entities, until scores fall below a threshold. Then PageRank runs over entities and
passages. The published code sums the scores of an entity; here the highest of its first step counts. Here passages are
windows, the entities of the question are linked by name instead of by the vectors of names, and PageRank runs on a part
of the graph (`e2g_neo4j.retrieval.passage_graph`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log1p

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.retrieval.passage_graph import Node, PassageGraph, pagerank, rank_passages, read_passage_graph
from e2g_neo4j.retrieval.passages import TIE
from e2g_neo4j.retrieval.query import Query, Ranking
from e2g_neo4j.retrieval.sentences import HUB, Entity, Sentence, cosines, entities_of
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.runtime.requests import Embed, Operation
from e2g_neo4j.types.ties import best_first

STEPS = 3
"""Steps from sentences to entities, at most. The sentences of an entity are read only if one as near as the nearest so
far would activate others."""

SENTENCES = 3
"""Sentences of an entity that activate others in a step."""

THRESHOLD = 0.3
"""Least score of an active entity: the product of the nearness of the sentences on the way to it."""

PRIOR = 10
"""Sentences with cosine 0 that are added to those read first, whose mean cosine counts as no nearness: models differ in
how near any two texts are to each other."""

CHUNKS = 10
"""Chunks of an entity whose sentences are compared: those with the nearest windows. With 30, no more is found."""

PASSAGES = 0.05
"""Weight of windows as seeds, in relation to entities."""

COSINE = 5.0
"""Weight of the cosine of a window, in relation to the logarithm of its active entities. With 3, R@5 on MuSiQue
was .03 lower, with 7 R@25 .01 lower."""


def linear(query: Query) -> Ranking:
    """Rank windows by PageRank, best first.

    Raises:
        QueryError: The sentences of a corpus have no vectors.
    """
    vector = yield Embed(query.question)
    active, degrees = yield from activate(query, vector)
    weights: dict[str, dict[str, float]] = {corpus: {} for corpus in query.entities}
    for (corpus, key), (score, step) in active.items():
        weights[corpus][key] = score / step
    graph = yield from read_passage_graph(query, vector, weights)
    seeds = {node: score for node, (score, _) in active.items()}
    return rank_passages(graph, pagerank(graph, degrees, seeds, PASSAGES * window_seeds(graph, active)))


def activate(
    query: Query, vector: Sequence[float]
) -> Operation[tuple[dict[Node, tuple[float, int]], dict[Node, float]]]:
    """Return the active entities with their scores and the step at which they became active, from 1, and their degrees.

    Args:
        query: The question, with the entities that it names.
    """
    active: dict[Node, tuple[float, int]] = {}
    degrees: dict[Node, float] = {}
    used: set[Sentence] = set()
    nearest = baseline = 0.0
    names = {corpus: list(keys) for corpus, keys in query.entities.items()}
    reached: dict[str, dict[Sentence, float]] = {corpus: {} for corpus in query.entities}
    for step in range(1, STEPS + 2):
        parameters = {
            corpus: {
                "vector": vector,
                "names": names.get(corpus, []),
                "known": [key for of, key in active if of == corpus],
                "sentences": [
                    {"chunk": chunk, "number": number, "passes": step <= STEPS and score * nearest >= THRESHOLD}
                    for (chunk, number), score in sentences.items()
                ],
                "nearest": CHUNKS,
                "hub": HUB,
            }
            for corpus, sentences in reached.items()
        }
        following = {}
        rows = yield from query.read_each("activate", parameters)
        found = [cosines(vector, row["corpus"], row["vectors"]) for row in rows]
        if step == 1:
            baseline = baseline_of([cosine for of_corpus in found for cosine in of_corpus.values()])
        for row, of_corpus in zip(rows, found, strict=True):
            corpus, told = row["corpus"], list(reached[row["corpus"]].values())
            new = entities_of(row)
            scores = {one.key: max((told[at] for at in one.told), default=1.0) for one in new}
            active |= {(corpus, key): (score, step) for key, score in scores.items()}
            degrees |= {(corpus, one.key): one.degree for one in new}
            near = {one: (cosine - baseline) / (1 - baseline) for one, cosine in of_corpus.items()}
            nearest = max([nearest, *near.values()])
            following[corpus] = next_sentences(new, scores, near, used)
        names = {}
        reached = {corpus: sentences for corpus, sentences in following.items() if sentences}
        if not reached:
            break
    return active, degrees


def baseline_of(cosines: Sequence[float]) -> float:
    """Return the cosine that counts as no nearness: the mean of the sentences read first, and of PRIOR zeros."""
    return max(sum(cosines) / (len(cosines) + PRIOR), 0.0)


def next_sentences(
    entities: Iterable[Entity],
    scores: Mapping[str, float],
    near: Mapping[Sentence, float],
    used: set[Sentence],
) -> dict[Sentence, float]:
    """Return the sentences by which entities activate others, with the score that they pass on.

    Of each entity, the SENTENCES nearest to the question count that no other entity has used, if the product of its
    score and their nearness is at least THRESHOLD. Entities with higher scores choose first.

    Args:
        near: How near sentences are to the question, at most 1.
        used: Sentences that were used, to which these are added.
    """
    found = {}
    for entity in sorted(entities, key=lambda one: (-round(scores[one.key], 5), one.key)):
        free = [one for one in entity.sentences if one in near and one not in used]
        for at in best_first([near[one] for one in free], TIE)[:SENTENCES]:
            used.add(free[at])
            if (score := scores[entity.key] * near[free[at]]) >= THRESHOLD:
                found[free[at]] = score
    return found


def window_seeds(graph: PassageGraph, active: Mapping[Node, tuple[float, int]]) -> NDArray[np.float64]:
    """Return COSINE * cosine + ln(1 + sum of score * ln(1 + n) / step) for each window: the cosine from 0 to 1, and the
    sum over its active entities, which n of its sentences mention (LinearRAG's weight of a passage).

    Args:
        active: The scores of entities, and the step at which they became active, from 1.
    """
    counted = [
        sum(active[node][0] * log1p(count) / active[node][1] for node, count in of.items()) for of in graph.mentions
    ]
    return COSINE * graph.cosines_from_0_to_1() + np.log1p(np.array(counted, dtype=np.float64))


LINEAR = Strategy(
    name="linear",
    summary="Windows by PageRank from the entities that sentences connect with the question.",
    source="LinearRAG (arXiv 2510.10114)",
    ranked_by="PageRank from entities that sentences connect with the question",
    needs={"vector", "entities", "sentence_vectors"},
    rank_windows=linear,
)
