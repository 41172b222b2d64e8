"""The entity graph of one document: who is mentioned where, and which two share a sentence.

The sentences of a chunk are kept with its mentions, so that every edge can be derived again from what a
document contributed, however often documents come and go.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from e2g_neo4j.model import Chunk, Extraction, Sentence, Span

MOST_ENTITIES = 40
"""Of one sentence that are joined with each other: more are no sentence but a list, whose edges would be their number
squared."""


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity in a chunk: `count` occurrences in its text, the numbers of the chunk's own sentences that hold it,
    and in how many sentences of each window it stands. A sentence in the overlap of two chunks is the own sentence
    of one of them only, but is counted in the windows of both. `forms` tells how often each form is written, in order;
    it is None where the key is the only one, and empty where other names stand for the entity."""

    entity: str
    chunk: str
    count: int
    sentences: tuple[int, ...]
    windows: tuple[int, ...]
    forms: tuple[tuple[str, int], ...] | None = None


@dataclass(frozen=True, slots=True)
class ChunkMentions:
    """All mentions of a chunk."""

    chunk: str
    mentions: tuple[Mention, ...]


Edges = dict[tuple[str, str], tuple[int, float]]
"""(a, b) with a < b → (count, weight): shared sentences, and their sum of 1 / entities in the sentence."""


def mentions(
    chunks: Sequence[Chunk], extractions: Iterable[Extraction], windows: Iterable[Sequence[Span]]
) -> list[ChunkMentions]:
    """Give every sentence of a document to one chunk, and list each chunk's mentions.

    Chunks come with their extractions and the spans of their windows in their text. A sentence belongs to the chunk
    whose own it begins in: so what a chunk mentions depends on nothing but the chunk. One of more than MOST_ENTITIES
    counts as several, of so many each: edges join a list's neighbours, not all of a list.
    """
    found = []
    for chunk, extraction, cut in zip(chunks, extractions, windows, strict=True):
        own: list[tuple[str, ...]] = []
        for sentence in extraction.sentences:
            if chunk.own[0] <= chunk.start + sentence.start < chunk.own[1]:
                names = sentence.entities
                own += (names[at : at + MOST_ENTITIES] for at in range(0, max(len(names), 1), MOST_ENTITIES))
        places: dict[str, list[int]] = {}
        for number, names in enumerate(own):
            for name in names:
                places.setdefault(name, []).append(number)
        by_window = _by_window(extraction.sentences, cut)
        found.append(
            ChunkMentions(
                chunk.id,
                tuple(
                    Mention(
                        name,
                        chunk.id,
                        count,
                        tuple(places.get(name, ())),
                        tuple(by_window[name]),
                        tuple(sorted(extraction.forms[name].items())) if name in extraction.forms else None,
                    )
                    for name, count in sorted(extraction.counts.items())
                ),
            )
        )
    return found


def _by_window(sentences: Sequence[Sentence], windows: Sequence[Span]) -> dict[str, list[int]]:
    """In how many sentences of each window an entity stands; a sentence belongs to the window of its middle."""
    starts = [start for start, _ in windows]
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(windows))
    for sentence in sentences:
        window = max(bisect_right(starts, (sentence.start + sentence.end) / 2) - 1, 0)
        for name in sentence.entities:
            counts[name][window] += 1
    return counts


def edges(documents: Iterable[Iterable[ChunkMentions]]) -> Edges:
    """CO_OCCURS edges of the given documents: count and weight summed over their sentences. In the database
    `cypher/index/add_edges.cypher` makes them, of what is staged.

    `count` is the edge weight of E²GraphRAG (arXiv 2505.24226); `weight` gives a sentence of n entities
    1 / n a pair, so that long lists do not drown real ties.
    """
    total: Edges = {}
    for document in documents:
        for chunk in document:
            sentences: defaultdict[int, list[str]] = defaultdict(list)
            for mention in chunk.mentions:
                for number in mention.sentences:
                    sentences[number].append(mention.entity)
            for names in sentences.values():
                for pair in combinations(sorted(names), 2):
                    count, weight = total.get(pair, (0, 0.0))
                    total[pair] = (count + 1, weight + 1 / len(names))
    return total
