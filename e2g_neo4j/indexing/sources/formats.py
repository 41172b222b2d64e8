"""Read files of each format: text, declared title, pages and headings.

Text and Markdown are not changed. markitdown converts HTML, DOCX and EPUB to Markdown, pdfminer converts PDF to plain
text. Nothing is fetched from the network, and what is unpacked, repeated or nested is limited.
"""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from e2g_neo4j.errors import ReadingError
from e2g_neo4j.indexing.sources.archives import epub, unpacked
from e2g_neo4j.indexing.sources.text import _clean, decode, read_bytes, shown, within
from e2g_neo4j.runtime.lazy_imports import needs
from e2g_neo4j.types.documents import Section

logging.getLogger("bs4").setLevel(logging.CRITICAL)  # it warns about every character that it replaces

MAX_HEADINGS = 200_000
"""Maximum headings of a document. In memory, each takes a hundred times the bytes of its line."""

_NO_CHARSET = ("utf-8", "utf8", "utf-16", "utf-16le", "utf-16be")  # declared in a page that is not UTF-8: a mistake

_UNMAPPED = re.compile(r"\(cid:\d+\)")  # what pdfminer writes for a glyph without a known character

_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})

_MARKDOWN: dict[str, Any] = {  # no addresses, pictures and emphasis marks, which would become entities
    "strip": ["a", "b", "del", "em", "i", "img", "s", "strong", "sub", "sup", "u"],
    "escape_asterisks": False,
    "escape_underscores": False,
}

_DOCX: dict[str, Any] = _MARKDOWN | {"style_map": "p[style-name='Title'] => h1:fresh"}


def load(path: Path, max_bytes: int) -> tuple[str, str | None, list[Section]]:
    """Return text, title and sections of a file. Raises ReadingError, and any exception of parsers for broken files."""
    suffix = path.suffix.lower()
    if suffix == ".pdf":
        text, sections = _pdf(path, max_bytes)
        return text, None, sections
    if suffix == ".txt":
        text = decode(read_bytes(path, max_bytes), path)
        return text, None, chapters(text)
    if suffix not in (".docx", ".epub", ".htm", ".html", ".md"):
        raise ReadingError(f"{shown(path)} has an unsupported file type.")
    text, title = _markdown(path, max_bytes)
    heading, sections = _headings(text)
    return text, title or heading, sections


def _pdf(path: Path, max_bytes: int) -> tuple[str, list[Section]]:
    with needs(shown(path), "documents"):
        from e2g_neo4j.indexing.sources.pdf import PDFPasswordIncorrect, pages

    parts: list[str] = []
    sections: list[Section] = []
    length = size = 0
    try:
        for number, raw in enumerate(pages(path, max_bytes), 1):
            page = _clean(_UNMAPPED.sub("", raw).translate(_LIGATURES))
            if page:
                sections.append(Section("page", str(number), length))
                parts.append(page + "\n\n")
                length += len(parts[-1])
                size += len(parts[-1].encode())
                within(size, max_bytes, shown(path))
    except PDFPasswordIncorrect as error:
        raise ReadingError(
            f"{shown(path)} is an encrypted PDF. Save a copy without a password and read that."
        ) from error
    if not parts:
        raise ReadingError(f"{shown(path)} is a PDF without text. If its pages are scanned, run OCR first (ocrmypdf).")
    text = "".join(parts)
    return text, sorted(sections + chapters(text), key=lambda section: section.start)


def _markdown(path: Path, max_bytes: int) -> tuple[str, str | None]:
    """Return the Markdown of a file, and the title that it declares."""
    suffix = path.suffix.lower()
    if suffix == ".md":
        return decode(read_bytes(path, max_bytes), path), None

    # Converters are called directly, because MarkItDown would load plugins, and a model that guesses the file type.
    with needs(shown(path), "documents"):
        from bs4.dammit import EncodingDetector
        from markitdown import StreamInfo
        from markitdown.converters import DocxConverter, HtmlConverter

        from e2g_neo4j.indexing.sources import bounded_markdown

    bounded_markdown.install()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bs4 warns about XHTML, and about text that looks like a path
        if suffix in (".html", ".htm"):
            data = read_bytes(path, max_bytes)
            declared = EncodingDetector.find_declared_encoding(data, is_html=True)
            if declared in ("ascii", "us-ascii", "iso-8859-1", "latin-1", "latin1"):
                declared = "windows-1252"  # as browsers do
            elif declared in _NO_CHARSET:
                declared = None
            made = HtmlConverter().convert_string(_tidy(decode(data, path, declared)), **_MARKDOWN)
        elif suffix == ".docx":
            converter: Any = DocxConverter  # its constructor has no types
            made = converter().convert(unpacked(path, max_bytes), StreamInfo(extension=suffix), **_DOCX)
        else:
            return _book(
                path, max_bytes, lambda page: HtmlConverter().convert(page, StreamInfo(), **_MARKDOWN).markdown
            )
    # The title of a page often contains the name of the site, so its first heading is preferred. In books it does not.
    return _clean(made.markdown), _headings(made.markdown)[0] or _clean(made.title or "") or None


def _book(path: Path, max_bytes: int, convert: Callable[[io.BytesIO], str]) -> tuple[str, str | None]:
    """Return the Markdown of an EPUB, and its title."""
    parts: list[str] = []
    titles: list[str | None] = []
    size = 0
    for title, text in epub(unpacked(path, max_bytes), convert):
        titles.append(title)
        parts.append(text)
        size += len(text.encode("utf-8", "replace"))
        within(size, max_bytes, shown(path))
    return _clean("\n\n".join(parts)), _clean(titles[0] or "") or None


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


_HEADING_OR_FENCE = re.compile(
    r"^ {0,3}(?:(?P<level>#{1,6})[ \t]+(?P<label>\S.*)|(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})(?P<info>.*))", re.M
)

_UNIT = "one|two|three|four|five|six|seven|eight|nine"

_NUMBER = (
    rf"\d{{1,4}}|[ivxlc]+|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:{_UNIT}))?|{_UNIT}|ten"
    "|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
)

# Possessive quantifiers (`++`) do not try shorter matches, so that time is linear.
_CHAPTER = re.compile(
    r"^[ \t]*+(?P<label>(?:Chapter|CHAPTER|CHAP\.|Book|BOOK|Part|PART|Volume|VOLUME|Letter|LETTER)[ \t]++"
    rf"(?i:{_NUMBER})(?:[ \t]*+[.:\u2013\u2014-][^\n]{{0,80}}+|(?=[^a-z\n]{{3,}}+$)[ \t]++[^a-z\n]{{1,80}}+)?"
    r"|[IVXLC]++(?:\.(?:[ \t]++[A-Z][^.\n]{1,60}+)?)?)[ \t]*+$",
    re.M,
)


def _headings(markdown: str) -> tuple[str | None, list[Section]]:
    """Return the first top-level heading, and all `#` headings outside of fenced code."""
    first, fence = None, ""
    sections: list[Section] = []
    for found in _HEADING_OR_FENCE.finditer(markdown):
        if mark := found["fence"]:
            if not fence:
                fence = mark
            elif mark.startswith(fence) and not found["info"].strip():
                fence = ""
        elif not fence and (label := _plain(found["label"])):
            _add_heading(sections, label, found.start())
            if found["level"] == "#" and not _CHAPTER.fullmatch(label):
                first = first or label
    return first, sections


def _plain(heading: str) -> str:
    return re.sub(r"[ \t]#+$|[*`]", "", heading.rstrip()).strip("_ \t")[:200]


def chapters(text: str) -> list[Section]:
    """Find headings such as "CHAPTER IV", "Chapter 1. Title", "IX" or "IX. Title" between empty lines."""
    sections: list[Section] = []
    for found in _CHAPTER.finditer(text):
        before = text[text.rfind("\n", 0, max(found.start() - 1, 0)) + 1 : found.start()]
        after = text[found.end() + 1 : found.end() + 200].partition("\n")[0]
        if not before.strip() and not after.strip():
            _add_heading(sections, " ".join(found["label"].split()), found.start("label"))
    return sections


def _add_heading(sections: list[Section], label: str, start: int) -> None:
    if len(sections) >= MAX_HEADINGS:
        raise ReadingError(f"The text has more than {MAX_HEADINGS:,} headings. Split it.")
    sections.append(Section("heading", label, start))
