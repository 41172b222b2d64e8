"""HTML, as Markdown."""

from __future__ import annotations

import io
import logging
import warnings
from pathlib import Path
from typing import Any

from e2g_neo4j.documents.headings import markdown_headings
from e2g_neo4j.documents.reading import Limits, Reading
from e2g_neo4j.documents.text import clean, decode, read_bytes, shown
from e2g_neo4j.runtime.lazy_imports import needs

logging.getLogger("bs4").setLevel(logging.CRITICAL)  # it warns about every character that it replaces

_NO_CHARSET = ("utf-8", "utf8", "utf-16", "utf-16le", "utf-16be")  # declared in a page that is not UTF-8: a mistake

MARKDOWN: dict[str, Any] = {  # no addresses, pictures and emphasis marks, which would become entities
    "strip": ["a", "b", "del", "em", "i", "img", "s", "strong", "sub", "sup", "u"],
    "escape_asterisks": False,
    "escape_underscores": False,
}


def read(path: Path, limits: Limits) -> Reading:
    """Read a web page."""
    with needs(shown(path), "documents"):
        from bs4.dammit import EncodingDetector
        from markitdown.converters import HtmlConverter

        from e2g_neo4j.documents import bounded_markdown

    bounded_markdown.install()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bs4 warns about XHTML, and about text that looks like a path
        data = read_bytes(path, limits.bytes)
        declared = EncodingDetector.find_declared_encoding(data, is_html=True)
        if declared in ("ascii", "us-ascii", "iso-8859-1", "latin-1", "latin1"):
            declared = "windows-1252"  # as browsers do
        elif declared in _NO_CHARSET:
            declared = None
        made = HtmlConverter().convert_string(_tidy(decode(data, path, declared)), **MARKDOWN)
    heading, sections = markdown_headings(text := clean(made.markdown))
    # The title of a page often contains the name of the site, so its first heading is preferred.
    return Reading(text, heading or clean(made.title or "") or None, sections)


def convert(page: io.BytesIO) -> str:
    """Return the Markdown of a chapter of a book."""
    from markitdown import StreamInfo
    from markitdown.converters import HtmlConverter

    from e2g_neo4j.documents import bounded_markdown

    bounded_markdown.install()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        markdown: str = HtmlConverter().convert(page, StreamInfo(), **MARKDOWN).markdown
    return markdown


def _tidy(page: str) -> str:
    """Close all tags of a page. The parser of the converter needs quadratic time for broken pages."""
    from lxml import etree, html  # type: ignore[import-untyped]

    parser = html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        tree = html.document_fromstring(page.encode("utf-8", "replace"), parser)
    except etree.ParserError:  # nothing is left
        return ""
    if parser.error_log.filter_from_fatals():  # nested too deeply, so text is missing
        return page
    tidied: str = html.tostring(tree, encoding="unicode")
    return tidied
