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
        sorted((key, sorted(types.items())) for key, types in extraction.types.items()),
    ]
    return zlib.compress(json.dumps(fields).encode())


def decode(notes: bytes) -> Extraction:
    """Unpack an extraction. It has no types if an earlier version packed it."""
    sentences, counts, forms, people, *types = json.loads(zlib.decompress(notes))
    return Extraction(
        tuple(Sentence(start, end, tuple(entities)) for start, end, entities in sentences),
        dict(counts),
        {key: dict(written) for key, written in forms},
        dict(people),
        {key: dict(counted) for counts_by_key in types for key, counted in counts_by_key},
    )
