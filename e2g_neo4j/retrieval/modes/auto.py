"""`auto`: rank windows by vectors, words and entities together (`e2g_neo4j.retrieval.ranking`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from e2g_neo4j.retrieval.lucene import lucene
from e2g_neo4j.retrieval.ranking import ranked
from e2g_neo4j.retrieval.windows import Window
from e2g_neo4j.retrieval.word_statistics import WordStatistics
from e2g_neo4j.runtime.requests import Embed, Operation, read_each

DEPTH = 20
"""Chunks are candidates if they are among the first DEPTH windows or chunks of a signal's list."""

MATCHES = 200
"""Scores that are read per signal. Later ones count as 0."""

SEEDS = 3
"""Number of windows that activate their entities: the best by vector and words among the first DEPTH of both lists."""

SEED_WORDS = 0.2
"""What the best window by words is worth as a seed, in cosine. Others count by their share of its BM25."""

TEMPERATURE = 0.05
"""Temperature of the softmax that distributes activation among them: .05 more cosine counts 2.7 times as much."""

OWN = 0.3
"""Fraction of the activation for the entities of the question, if the corpus has any of them."""

ACTIVE = 50
"""Maximum number of entities that pass on activation: those that can give a window most."""

HUB = 1000
"""Entities in more chunks than this pass on no activation. They say little; this also limits the work."""


def auto(
    question: str,
    *,
    entities: Mapping[str, Sequence[str]],
    statistics: WordStatistics | None = None,
    words: bool = True,
) -> Operation[list[tuple[Window, float]]]:
    """Rank windows, best first.

    Args:
        question: The question.
        entities: Per corpus, the entities that the question names.
        statistics: How rare the words of the question are in these corpora. Default: as in the whole index.
        words: Whether BM25 counts.
    """
    vector = yield Embed(question)
    constants = {
        "vector": vector,
        "depth": DEPTH,
        "matches": MATCHES,
        "seeds": SEEDS,
        "seed_words": SEED_WORDS if words else 0.0,
        "temperature": TEMPERATURE,
        "own": OWN,
        "active": ACTIVE,
        "hub": HUB,
    }
    parameters = {
        corpus: {"names": list(names), "words": lucene(question, corpus, statistics), **constants}
        for corpus, names in entities.items()
    }
    return ranked((yield from read_each("query/signals", parameters)), words=words)
