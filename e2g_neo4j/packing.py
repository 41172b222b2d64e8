"""What the pipeline found in a chunk, kept beside it, so that its mentions can be told anew without reading it."""

from __future__ import annotations

import json
import zlib

from e2g_neo4j.model import Extraction, Sentence


def packed(extraction: Extraction) -> bytes:
    """The same bytes for the same extraction."""
    told = [
        [(one.start, one.end, one.entities) for one in extraction.sentences],
        sorted(extraction.counts.items()),
        sorted((key, sorted(forms.items())) for key, forms in extraction.forms.items()),
        sorted(extraction.people.items()),
    ]
    return zlib.compress(json.dumps(told).encode())


def unpacked(notes: bytes) -> Extraction:
    sentences, counts, forms, people = json.loads(zlib.decompress(notes))
    return Extraction(
        tuple(Sentence(start, end, tuple(entities)) for start, end, entities in sentences),
        dict(counts),
        {key: dict(written) for key, written in forms},
        dict(people),
    )
