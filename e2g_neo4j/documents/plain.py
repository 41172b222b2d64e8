"""Plain text: as it is, with its chapters as headings."""

from __future__ import annotations

from pathlib import Path

from e2g_neo4j.documents.headings import chapters
from e2g_neo4j.documents.reading import Limits, Reading
from e2g_neo4j.documents.text import decode, read_bytes


def read(path: Path, limits: Limits) -> Reading:
    """Read a text file. Only its encoding and its line ends change."""
    text, losses = decode(read_bytes(path, limits.bytes), path)
    return Reading(text, sections=chapters(text), losses=losses)
