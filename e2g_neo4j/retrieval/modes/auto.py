"""`auto`: rank windows by vectors, words and entities together (`e2g_neo4j.retrieval.ranking`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from e2g_neo4j.retrieval.lucene import lucene
from e2g_neo4j.retrieval.passages import ScoredNode
from e2g_neo4j.retrieval.ranking import ranked, take_budget
from e2g_neo4j.runtime.requests import Embed, Operation, read_each
from e2g_neo4j.types.results import Pair

DEPTH = 20
"""Chunks are candidates if they are among the first DEPTH windows or chunks of a signal's list."""

MATCHES = 200
"""Scores that are read per signal. Later ones count as 0."""

SEEDS = 5
"""Number of nearest windows that activate their entities."""

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
    k: int,
    pairs_by_chunk: Mapping[str, tuple[Pair, ...]],
    words: bool = True,
) -> Operation[list[ScoredNode]]:
    """Find the best windows, with as much text as k chunks.

    Args:
        question: The question.
        entities: Per corpus, the entities that the question names.
        k: Number of chunks.
        pairs_by_chunk: Per chunk, the pairs that it mentions.
        words: Whether BM25 counts.
    """
    vector = yield Embed(question)
    constants = {
        "vector": vector,
        "depth": DEPTH,
        "matches": MATCHES,
        "seeds": SEEDS,
        "temperature": TEMPERATURE,
        "own": OWN,
        "active": ACTIVE,
        "hub": HUB,
    }
    parameters = {
        corpus: {"names": list(names), "words": lucene(question, corpus), **constants}
        for corpus, names in entities.items()
    }
    signals = yield from read_each("query/signals", parameters)
    best = take_budget(ranked(signals, words=words), k)
    ids = [window.id for window, _ in best]
    rows = yield from read_each("query/windows", {corpus: {"ids": ids} for corpus in entities})
    by_id = {window["id"]: row | window | {"level": 0} for row in rows for window in row["windows"]}
    return [
        ScoredNode(by_id[window.id], score, pairs_by_chunk.get(window.chunk, ()), window.share)
        for window, score in best
        if window.id in by_id  # missing if its document was replaced between the two reads
    ]
