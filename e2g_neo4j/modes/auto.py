"""`auto`: windows by what vectors, words and entities say together (`e2g_neo4j.ranking`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from e2g_neo4j.evidence import Ranked
from e2g_neo4j.model import Pair
from e2g_neo4j.modes.fulltext import lucene
from e2g_neo4j.queries import Embed, Story, read_each
from e2g_neo4j.ranking import ranked, worth

DEPTH = 20
"""The first windows or chunks of each signal's list whose chunks are candidates."""

MATCHES = 200
"""Scores that are read of each signal; what comes later counts as 0."""

SEEDS = 5
"""Nearest windows that activate their entities."""

TEMPERATURE = 0.05
"""Of the softmax that shares activation among them: a cosine .05 higher counts 2.7 times as much."""

OWN = 0.3
"""The share of activation that the question's own entities get, if the corpus knows any."""

ACTIVE = 50
"""Entities that spread, those that can give a window most."""

HUB = 1000
"""Chunks that an entity may be in to spread at all: it bounds the work where a corpus is large, and says little."""


def auto(
    question: str,
    *,
    entities: Mapping[str, Sequence[str]],
    k: int,
    behind: Mapping[str, tuple[Pair, ...]],
    words: bool = True,
) -> Story[list[Ranked]]:
    """Windows that make up as much text as k chunks. `entities`: by corpus, what the question names there; `behind`: by
    chunk, the pairs that it mentions."""
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
    asked = {
        corpus: {"names": list(names), "words": lucene(question, corpus), **constants}
        for corpus, names in entities.items()
    }
    signals = yield from read_each("query/signals", asked)
    best = worth(ranked(signals, words=words), k)
    ids = [unit.id for unit, _ in best]
    rows = yield from read_each("query/windows", {corpus: {"ids": ids} for corpus in entities})
    by_id = {window["id"]: row | window | {"level": 0} for row in rows for window in row["windows"]}
    return [
        Ranked(by_id[unit.id], score, behind.get(unit.chunk, ()), unit.share)
        for unit, score in best
        if unit.id in by_id  # gone if its document was replaced between the two reads
    ]
