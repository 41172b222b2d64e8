"""Word documents, as Markdown."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from e2g_neo4j.documents.archives import unpacked
from e2g_neo4j.documents.headings import markdown_headings
from e2g_neo4j.documents.html import MARKDOWN
from e2g_neo4j.documents.reading import Limits, Reading
from e2g_neo4j.documents.text import clean, shown
from e2g_neo4j.runtime.lazy_imports import needs


def read(path: Path, limits: Limits) -> Reading:
    """Read a Word document."""
    with needs(shown(path), "documents"):
        from markitdown import StreamInfo
        from markitdown.converters import DocxConverter

        from e2g_neo4j.documents import bounded_markdown

    bounded_markdown.install()
    style_map = "p[style-name='Title'] => h1:fresh"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        converter: Any = DocxConverter  # its constructor has no types
        packed = unpacked(path, limits.bytes)
        made = converter().convert(packed, StreamInfo(extension=".docx"), **MARKDOWN, style_map=style_map)
    heading, sections = markdown_headings(text := clean(made.markdown))
    return Reading(text, heading or clean(made.title or "") or None, sections)
