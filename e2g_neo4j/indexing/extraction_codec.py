"""Serialise extractions. They are stored with the chunk, so its mentions can be updated without extracting again."""

from __future__ import annotations

import json
import zlib

from e2g_neo4j.types.graph import Extraction, Sentence


def encode(extraction: Extraction) -> bytes:
    """Pack an extraction. The result is deterministic."""
    fields = [
        [(one.start, one.end, one.entities) for one in extraction.sentences],
        sorted(extraction.counts.items()),
        sorted((key, sorted(forms.items())) for key, forms in extraction.forms.items()),
        sorted(extraction.people.items()),
    ]
    return zlib.compress(json.dumps(fields).encode())


def decode(notes: bytes) -> Extraction:
    """Unpack an extraction."""
    sentences, counts, forms, people = json.loads(zlib.decompress(notes))
    return Extraction(
        tuple(Sentence(start, end, tuple(entities)) for start, end, entities in sentences),
        dict(counts),
        {key: dict(written) for key, written in forms},
        dict(people),
    )
