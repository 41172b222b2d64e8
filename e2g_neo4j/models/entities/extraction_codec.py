"""Serialise extractions, and number their sentences. They are stored with the chunk, so its mentions can be updated
without extracting again."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence

from e2g_neo4j.types.documents import Span
from e2g_neo4j.types.graph import Extraction, Sentence

MOST_ENTITIES = 40
"""Maximum number of entities in a sentence that are all connected with each other. A longer sentence is a list, and the
number of its edges would be quadratic."""


def encode(extraction: Extraction) -> bytes:
    """Pack an extraction. The result is deterministic."""
    fields = [
        [(one.start, one.end, one.entities) for one in extraction.sentences],
        sorted(extraction.counts.items()),
        sorted((key, sorted(forms.items())) for key, forms in extraction.forms.items()),
        sorted(extraction.people.items()),
        sorted((key, sorted(types.items())) for key, types in extraction.types.items()),
    ]
    return zlib.compress(json.dumps(fields).encode())


def decode(notes: bytes) -> Extraction:
    """Unpack an extraction."""
    sentences, counts, forms, people, types = json.loads(zlib.decompress(notes))
    return Extraction(
        tuple(Sentence(start, end, tuple(entities)) for start, end, entities in sentences),
        dict(counts),
        {key: dict(written) for key, written in forms},
        dict(people),
        {key: dict(counted) for key, counted in types},
    )


def own_sentences_before_list(sentences: Sequence[Sentence], own: Span) -> list[int]:
    """Return which sentences begin in the own text of a chunk, before the first with more than MOST_ENTITIES entities.

    The number of each among them is its number in mentions, however names are merged. Later ones have numbers that
    depend on it: a list has fewer parts if some of its names are merged.

    Args:
        sentences: the sentences of the chunk, with names before they are merged.
        own: the span of its own text, relative to its start.
    """
    found = []
    for at, sentence in enumerate(sentences):
        if own[0] <= sentence.start < own[1]:
            if len(sentence.entities) > MOST_ENTITIES:
                break
            found.append(at)
    return found
