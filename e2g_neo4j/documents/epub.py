"""EPUB: the chapters of a book, as Markdown."""

from __future__ import annotations

from pathlib import Path

from e2g_neo4j.documents.archives import epub, unpacked
from e2g_neo4j.documents.headings import markdown_headings
from e2g_neo4j.documents.html import convert
from e2g_neo4j.documents.reading import Limits, Reading
from e2g_neo4j.documents.text import clean, shown, within
from e2g_neo4j.runtime.lazy_imports import needs


def read(path: Path, limits: Limits) -> Reading:
    """Read a book."""
    with needs(shown(path), "documents"):
        import markitdown  # noqa: F401
    parts: list[str] = []
    titles: list[str | None] = []
    size = 0
    for title, text in epub(unpacked(path, limits.bytes), convert):
        titles.append(title)
        parts.append(text)
        size += len(text.encode("utf-8", "replace"))
        within(size, limits.bytes, shown(path))
    text = clean("\n\n".join(parts))
    heading, sections = markdown_headings(text)
    return Reading(text, clean(titles[0] or "") or heading, sections)
