"""`auto`: rank windows by vectors, words and entities together (`e2g_neo4j.retrieval.ranking`); `diffusion`: without
words."""

from __future__ import annotations

from functools import partial

from e2g_neo4j.models.titles import possible_titles, titles_in_question
from e2g_neo4j.retrieval.lucene import lucene
from e2g_neo4j.retrieval.query import Query, Ranking
from e2g_neo4j.retrieval.ranking import rank_signals
from e2g_neo4j.retrieval.sentences import HUB
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.runtime.requests import Embed

DEPTH = 20
"""Chunks are candidates if they are among the first DEPTH windows or chunks of a signal's list."""

MATCHES = 200
"""Scores that are read per signal. Later ones count as 0."""

SEEDS = 3
"""Number of windows that activate their entities: the best by vector and words among the first DEPTH of both lists."""

SEED_WORDS = 0.5
"""What the best window by words is worth as a seed, relative to the range of the DEPTH best cosines: how far these lie
apart depends on the embedding model. Others count by their share of its BM25."""

FOREIGN_SEED_WORDS = 2.0
"""The same if the embedding model does not know the language."""

TEMPERATURE = 0.25
"""Temperature of the softmax that distributes activation among them, relative to the same range: a quarter of it counts
2.7 times as much."""

OWN = 0.3
"""Fraction of the activation for the entities of the question, if the corpus has any of them."""

ACTIVE = 50
"""Maximum number of entities that pass on activation: those that can give a window most."""

REACH = 2_000
"""Chunks to which they pass it on, counted once for each entity: the next entity is the last if this many are reached.
Novels and MuSiQue do not reach as many. In one corpus of 99 novels, this takes a third of the time without it, and
finds as much."""


def auto(query: Query, *, words: bool = True) -> Ranking:
    """Rank windows, best first. `words`: whether BM25 counts."""
    vector = yield Embed(query.question)
    constants = {
        "vector": vector,
        "depth": DEPTH,
        "matches": MATCHES,
        "seeds": SEEDS,
        "seed_words": (FOREIGN_SEED_WORDS if query.foreign else SEED_WORDS) if words else 0.0,
        "temperature": TEMPERATURE,
        "own": OWN,
        "active": ACTIVE,
        "reach": REACH,
        "hub": HUB,
        "without": list(query.without),
        "titles": possible_titles(query.question),
    }
    parameters = {
        corpus: {
            "names": list(names),
            "words": lucene(query.question, corpus, query.statistics, fulltext=query.fulltext),
            **constants,
        }
        for corpus, names in query.entities.items()
    }
    signals = yield from query.read_each("signals", parameters)
    hops = query.linked.hops_of_names
    if hops:
        query.explanation.notes.append(f"Chunks with a pair of names count more ({len(hops)}).")
    if words and query.foreign:
        query.explanation.notes.append("The embedding model does not know the language, so words count more.")
    named = partial(titles_in_question, query.question)
    return rank_signals(signals, words=words, named=named, hops=hops, foreign=words and query.foreign)


AUTO = Strategy(
    name="auto",
    summary="Windows by vectors, words and entities together.",
    source="this project",
    ranked_by="vectors, words and entities",
    needs={"vector", "entities"},
    uses={"full_text"},
    rank_windows=auto,
)


def diffusion(query: Query) -> Ranking:
    """Like `auto`, without BM25. Words only propose candidates."""
    return (yield from auto(query, words=False))


DIFFUSION = Strategy(
    name="diffusion",
    summary="As auto, but words only propose candidates.",
    source="this project",
    ranked_by="vectors and entities",
    needs={"vector", "entities"},
    uses={"full_text"},
    rank_windows=diffusion,
)
