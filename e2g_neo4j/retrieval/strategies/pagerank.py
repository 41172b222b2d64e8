"""`pagerank`: rank windows by the relations they state between entities that are near the question in the graph.

This is the retrieval of FastGraphRAG (CircleMind) without a chat model. There, personalised PageRank runs around the
entities that are nearest to those of the question; a relation scores the sum of its two entities, the 64 best relations
count, and a chunk scores the sum of its relations. This follows the published code, which has no paper. Here relations
are co-occurrences instead of statements that a model has extracted, and text units are windows. Names in the question
are looked up by key, and those that no entity has by their vectors, in corpora that have vectors of entities; with the
option `llm`, these are keywords of a chat model. Entities of the windows nearest to the question take the place of
entities nearest to it. For speed, PageRank runs on the part of the graph that is next to the seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.retrieval.passages import TIE
from e2g_neo4j.retrieval.query import Query, RankedWindows, Ranking
from e2g_neo4j.retrieval.sentences import HUB
from e2g_neo4j.retrieval.strategies.lightrag import entities_named, keywords_of
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.retrieval.windows import windows_in
from e2g_neo4j.runtime.requests import Embed, EmbedAll, Operation
from e2g_neo4j.types.graph import NOUN
from e2g_neo4j.types.ties import best_first

ENTRY = 10
"""Nearest windows, whose entities are seeds, as in `routes`."""

SEEDS = 10
"""Entities of these windows that are seeds, besides those of the question, as in `routes`."""

NEAREST = 1
"""Entities that a name of the question means by its vector, as published."""

LEAST_COSINE = 0.7
"""Least cosine of the two names, as published."""

CANDIDATES = 20
"""Entities that the index is asked for, because it is approximate, as in `synonyms`."""

AROUND = 200
"""Entities next to the seeds that PageRank reaches."""

DAMPING = 0.85
"""The fraction of its PageRank that an entity passes on. The rest returns to the seeds."""

RELATIONS = 64
"""Relations that count."""

CONVERGED = 1e-12
"""PageRank is iterated until it changes by no more than this, over all entities."""

DIGITS = 9
"""Decimals of sums of PageRank that are compared. Smaller differences are of rounding."""


def pagerank(query: Query) -> Ranking:
    """Rank windows by the PageRank of the relations that they state, best first."""
    vector = yield Embed(query.question)
    entities, unknown = yield from find_named_entities(query)
    constants = {
        "vector": vector,
        "entry": ENTRY,
        "similar": NEAREST,
        "candidates": CANDIDATES,
        "threshold": (1 + LEAST_COSINE) / 2,
        "seeds": SEEDS,
        "around": AROUND,
        "hub": HUB,
    }
    graphs = yield from query.read_each(
        "pagerank",
        {
            corpus: {"names": list(names), "unknown": unknown if corpus in query.layered else [], **constants}
            for corpus, names in entities.items()
        },
    )
    relations = {}
    for graph in graphs:
        query.explanation.notes += similar_told(graph["similar"])
        edges = [(a, b) for a, others in graph["edges"] for b in others]
        relations[graph["corpus"]] = best_relations(personalised_pagerank(dict(graph["seeds"]), edges), edges)
    parameters = {
        corpus: {"vector": vector, "limit": query.limit, **as_parameters(best)} for corpus, best in relations.items()
    }
    return rank_rows((yield from query.read_each("pagerank_windows", parameters)))[: query.limit]


def find_named_entities(query: Query) -> Operation[tuple[Mapping[str, Sequence[str]], list[dict[str, Any]]]]:
    """Return the entities that a question names, per corpus, and its names that no entity has, with vectors if a corpus
    has vectors to compare with. With a chat model, its keywords are the names."""
    forms = query.keywords()
    keys = [key for key in query.linked.unknown if query.names.get(key) != NOUN]
    entities: Mapping[str, Sequence[str]] = query.entities
    keywords = (yield from keywords_of(query.question, query.chat)) if query.chat else None
    if keywords:
        forms = {key: one for one in (*keywords.specific, *keywords.general) if (key := entity_key(one))}
        named = yield from entities_named(forms, query.corpora)
        entities = {corpus: list(of_corpus) for corpus, of_corpus in named.items()}
        known = {name for of_corpus in named.values() for names in of_corpus.values() for name in names}
        keys = [key for key in forms if key not in known]
    if not keys or not query.layered:
        return entities, []
    vectors = yield EmbedAll(tuple(forms.get(key, key) for key in keys))
    return entities, [{"key": key, "vector": vector} for key, vector in zip(keys, vectors, strict=True)]


def similar_told(similar: Iterable[Mapping[str, Any]]) -> list[str]:
    """Tell which entities were taken for names that no entity has."""
    return [
        f"No entity is called {' or '.join(one['names'])}: the nearest is {one['entity']} (cosine {one['cosine']:.2f})."
        for one in similar
    ]


def personalised_pagerank(seeds: Mapping[str, float], edges: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Return the personalised PageRank of each entity. All add up to 1.

    An entity passes DAMPING of its PageRank to its neighbours, in equal parts, and the rest to the seeds, by their
    weights. An entity without neighbours passes everything to the seeds.

    Args:
        seeds: The weights of the seeds, at least 0.
        edges: The undirected edges, each listed once.
    """
    keys = sorted({*seeds, *(key for edge in edges for key in edge)})
    if not seeds:
        return {}
    place = {key: at for at, key in enumerate(keys)}
    restart = np.array([seeds.get(key, 0.0) for key in keys])
    restart /= restart.sum()
    one = np.array([place[a] for a, _ in edges], dtype=np.intp)
    other = np.array([place[b] for _, b in edges], dtype=np.intp)
    size = len(keys)
    from scipy.sparse import csr_matrix  # here, because it slows the start of each command

    graph = csr_matrix((np.ones(2 * len(edges)), (np.r_[one, other], np.r_[other, one])), shape=(size, size))
    graph.sort_indices()  # so that sums do not depend on the order of edges
    neighbours = np.maximum(graph.sum(axis=0).A1, 1)
    ranks, before = restart, np.zeros(size)
    while np.abs(ranks - before).sum() > CONVERGED:
        before = ranks
        ranks = DAMPING * (graph @ (before / neighbours))
        ranks += (1 - ranks.sum()) * restart
    return dict(zip(keys, ranks.tolist(), strict=True))


def best_relations(ranks: Mapping[str, float], edges: Sequence[tuple[str, str]]) -> list[tuple[str, str, float]]:
    """Return the RELATIONS best edges with their scores, the sums of the PageRank of their ends. Ties are by name.

    Args:
        ranks: The PageRank of each entity.
        edges: The undirected edges, each listed once.
    """
    scores = np.round([ranks[a] + ranks[b] for a, b in edges], DIGITS)
    least = np.sort(scores)[-RELATIONS:][:1]
    best = [(*edges[at], float(scores[at])) for at in np.flatnonzero(scores >= least).tolist()]
    by_name = [(min(a, b), max(a, b), score) for a, b, score in best]
    return sorted(by_name, key=lambda one: (-one[2], one[0], one[1]))[:RELATIONS]


def as_parameters(relations: Sequence[tuple[str, str, float]]) -> dict[str, Any]:
    """Return the parameters `keys` and `scores` of `pagerank_windows.cypher`."""
    keys = sorted({key for a, b, _ in relations for key in (a, b)})
    score = {(a, b): score for a, b, score in relations}
    return {"keys": keys, "scores": [[score.get((a, b), 0.0) for a in keys[:at]] for at, b in enumerate(keys)]}


def rank_rows(rows: Iterable[Mapping[str, Any]]) -> RankedWindows:
    """Rank windows by score, and those that score alike by cosine. Ties are in reading order.

    Windows that are not among the nearest have no cosine, and come after those that have one.

    Args:
        rows: Rows of `pagerank_windows.cypher`.
    """
    found, cosines = [], []
    for window, (_, score, cosine) in windows_in(rows):
        found.append((window, score))
        cosines.append(-1.0 if cosine is None else cosine)
    by_cosine = [found[at] for at in best_first(cosines, TIE)]
    return sorted(by_cosine, key=lambda one: -round(one[1], DIGITS))


PAGERANK = Strategy(
    name="pagerank",
    summary="Windows that state relations of the entities with most PageRank around the question.",
    source="FastGraphRAG",
    ranked_by="relations of entities that have most PageRank",
    needs={"vector", "entities"},
    uses={"entity_vectors"},
    calls_model=True,
    rank_windows=pagerank,
)
