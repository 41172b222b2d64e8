"""The entity graph of one document: mentions and co-occurrences.

Mentions are stored with the numbers of their sentences, so the contribution of a document to each edge can be computed
again when the document is deleted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

from e2g_neo4j.models.entities.extraction_codec import MOST_ENTITIES
from e2g_neo4j.types.documents import Chunk, Span
from e2g_neo4j.types.graph import Extraction, Sentence
from e2g_neo4j.types.mentions import ChunkMentions, Mention

Edges = dict[tuple[str, str], tuple[int, float]]
"""(a, b) with a < b → (count, weight): shared sentences, and the sum of 1 / number of entities in the sentence."""


def mentions(
    chunks: Sequence[Chunk], extractions: Iterable[Extraction], windows: Iterable[Sequence[Span]]
) -> list[ChunkMentions]:
    """Assign every sentence of a document to one chunk, and list the mentions of each chunk.

    A sentence belongs to the chunk whose own text it begins in, so the mentions of a chunk only depend on the chunk. A
    sentence with more than MOST_ENTITIES entities is split into several, so that only neighbours in a list are
    connected.

    Args:
        chunks: the chunks of a document.
        windows: the windows of each chunk, as spans in its text.
    """
    result = []
    for chunk, extraction, spans in zip(chunks, extractions, windows, strict=True):
        own = own_sentences(extraction, chunk.own_in_text)
        numbers: dict[str, list[int]] = {}
        for number, sentence in enumerate(own):
            for name in sentence.entities:
                numbers.setdefault(name, []).append(number)
        by_window = _by_window(extraction.sentences, spans)
        result.append(
            ChunkMentions(
                chunk.id,
                tuple(
                    Mention(
                        name,
                        chunk.id,
                        count,
                        tuple(numbers.get(name, ())),
                        tuple(by_window[name]),
                        tuple(sorted(extraction.forms[name].items())) if name in extraction.forms else None,
                        tuple(sorted(extraction.types.get(name, {}).items())),
                    )
                    for name, count in sorted(extraction.counts.items())
                ),
            )
        )
    return result


def own_sentences(extraction: Extraction, own: Span) -> list[Sentence]:
    """Return the sentences of a chunk that begin in its own text, by number. One with more than MOST_ENTITIES entities
    has several numbers.

    Args:
        extraction: the extraction of the chunk.
        own: the span of its own text, relative to its start.
    """
    sentences = []
    for sentence in extraction.sentences:
        if own[0] <= sentence.start < own[1]:
            names = sentence.entities
            for at in range(0, max(len(names), 1), MOST_ENTITIES):
                sentences.append(Sentence(sentence.start, sentence.end, names[at : at + MOST_ENTITIES]))
    return sentences


def _by_window(sentences: Sequence[Sentence], windows: Sequence[Span]) -> dict[str, list[int]]:
    """Count for each entity the sentences of each window. A sentence belongs to the window that contains its middle."""
    starts = [start for start, _ in windows]
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(windows))
    for sentence in sentences:
        window = max(bisect_right(starts, (sentence.start + sentence.end) / 2) - 1, 0)
        for name in sentence.entities:
            counts[name][window] += 1
    return counts


def edges(documents: Iterable[Iterable[ChunkMentions]]) -> Edges:
    """Return the CO_OCCURS edges of documents, with count and weight summed over all sentences.

    In the database, `cypher/index/add_edges.cypher` computes them from staged chunks. `count` is the edge weight of
    E²GraphRAG (arXiv 2505.24226). For `weight`, a sentence of n entities adds 1 / n to each pair, so that long lists do
    not dominate.
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
