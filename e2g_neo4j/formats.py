"""What a file of each format holds: its text, the title that it declares, and where pages and headings begin.

Text and Markdown are taken as they are. HTML, DOCX and EPUB become Markdown by markitdown, PDF plain text by pdfminer.
Nothing is fetched from anywhere, and archives are unpacked within bounds.
"""

from __future__ import annotations

import codecs
import io
import logging
import re
import shlex
import warnings
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

from e2g_neo4j.errors import ReadingError
from e2g_neo4j.model import Section

logging.getLogger("bs4").setLevel(logging.CRITICAL)  # it warns about every character that it replaces

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_NO_CHARSET = ("utf-8", "utf8", "utf-16", "utf-16le", "utf-16be")  # declared in a page that is not UTF-8: a mistake
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")
_UNMAPPED = re.compile(r"\(cid:\d+\)")  # what pdfminer writes for a glyph that no character is known for
_METADATA = re.compile(  # how markitdown begins an EPUB: what a reader would not see goes, as do the marks
    r"^\*\*(?:(?:Identifier|Language):\*\* .*\n?|(?P<kept>(?:Title|Authors|Publisher|Date|Description):)\*\*)", re.M
)
_LOCKED = re.compile(rb'URI="[^"]+\.x?html?"')  # a chapter, not only a font
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_MARKUP_SUFFIXES = {".xml", ".rels", ".opf", ".ncx", ".xhtml", ".html", ".htm", ""}
_MARKDOWN: dict[str, Any] = {  # words without addresses, pictures and marks of emphasis: those would become entities
    "strip": ["a", "b", "del", "em", "i", "img", "s", "strong", "sub", "sup", "u"],
    "escape_asterisks": False,
    "escape_underscores": False,
}
_DOCX: dict[str, Any] = _MARKDOWN | {"style_map": "p[style-name='Title'] => h1:fresh"}


def load(path: Path, max_bytes: int) -> tuple[str, str | None, list[Section]]:
    """Text, title and sections of one file. Raises ReadingError, and whatever a broken file makes parsers raise."""
    suffix = path.suffix.lower()
    if suffix == ".pdf":
        text, sections = _pdf(path, max_bytes)
        return text, None, sections
    if suffix == ".txt":
        text = decode(read_bytes(path, max_bytes), path)
        return text, None, chapters(text)
    if suffix not in (".docx", ".epub", ".htm", ".html", ".md"):
        raise ReadingError(f"{shown(path)} is of a kind that is not read here.")
    text, title = _markdown(path, max_bytes)
    heading, sections = _headings(text)
    return text, title or heading, sections


def read_bytes(path: Path, max_bytes: int) -> bytes:
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            within(max(path.stat().st_size, len(data)), max_bytes, shown(path))
    return data


def decode(data: bytes, path: Path, fallback: str | None = None) -> str:
    """Text as `Path.read_text` gives it: UTF-8, or UTF-16 with its mark, or `fallback`; newlines made single."""
    mark, encoding = next((one for one in _BOMS if data.startswith(one[0])), (b"", "utf-8"))
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        if fallback is not None:
            text = data.decode(fallback)
        else:
            raise _not_text(data, path, encoding, len(mark) + error.start) from error
    if _binary(text[:8192].encode("utf-8", "replace")):
        raise _is_binary(path)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _not_text(data: bytes, path: Path, encoding: str, offset: int) -> ReadingError:
    if b"\0" in data or _binary(data[:8192]):
        return _is_binary(path)
    name = shlex.quote(str(path)) if str(path).isprintable() else "FILE"
    return ReadingError(
        f"{shown(path)} is not {encoding.upper()}: byte 0x{data[offset]:02x} at offset {offset}. "
        f"Convert it, for example: iconv -f WINDOWS-1252 -t UTF-8 {name} > converted{path.suffix}"
    )


def _is_binary(path: Path) -> ReadingError:
    return ReadingError(
        f"{shown(path)} is binary, not text. Name a text file; one in UTF-16 without a byte-order mark: convert it "
        "to UTF-8 first."
    )


def _binary(head: bytes) -> bool:
    controls = sum(byte < 9 or 13 < byte < 27 or 27 < byte < 32 for byte in head)
    return controls > len(head) // 20


def _pdf(path: Path, max_bytes: int) -> tuple[str, list[Section]]:
    from e2g_neo4j.formats_pdf import PDFPasswordIncorrect, pages

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
    """Markdown of a file, and the title that the file itself declares."""
    suffix = path.suffix.lower()
    if suffix == ".md":
        return decode(read_bytes(path, max_bytes), path), None

    # The converters are called themselves: MarkItDown would load a model to guess what we know, and plugins.
    from bs4.dammit import EncodingDetector
    from markitdown import StreamInfo
    from markitdown.converters import DocxConverter, EpubConverter, HtmlConverter

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bs4 warns about XHTML, and about text that looks like a path
        if suffix in (".html", ".htm"):
            data = read_bytes(path, max_bytes)
            declared = EncodingDetector.find_declared_encoding(data, is_html=True)
            if declared in ("ascii", "us-ascii", "iso-8859-1", "latin-1", "latin1"):
                declared = "windows-1252"  # what browsers take these for
            elif declared in _NO_CHARSET:
                declared = None
            made = HtmlConverter().convert_string(_tidy(decode(data, path, declared)), **_MARKDOWN)
        else:
            docx = suffix == ".docx"
            converter = DocxConverter() if docx else EpubConverter()  # type: ignore[no-untyped-call]
            options = _DOCX if docx else _MARKDOWN
            made = converter.convert(_unpacked(path, max_bytes), StreamInfo(extension=suffix), **options)
    # A page's title often carries the site's name, so that its first heading goes before it; a book's does not.
    title = _clean(made.title or "")
    heading = None if suffix == ".epub" else _headings(made.markdown)[0]
    text = made.markdown if suffix != ".epub" else _METADATA.sub(r"\g<kept>", made.markdown)
    return _clean(text), heading or title or None


def _tidy(page: str) -> str:
    """The same page with every tag closed. The converter's own parser takes the square of the time for broken ones."""
    from lxml import etree, html  # type: ignore[import-untyped]

    parser = html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        tree = html.document_fromstring(page.encode("utf-8", "replace"), parser)
    except etree.ParserError:  # nothing is left
        return ""
    if parser.error_log.filter_from_fatals():  # nested deeper than it goes, so that text is missing
        return page
    tidied: str = html.tostring(tree, encoding="unicode")
    return tidied


def _unpacked(path: Path, max_bytes: int) -> io.BytesIO:
    """The archive with its markup only. Pictures and fonts become empty, so that no archive can fill the memory."""
    name, slim, size = shown(path), io.BytesIO(), 0
    if not zipfile.is_zipfile(path):
        raise ReadingError(
            f"{name} is no {path.suffix[1:].upper()}: it is broken, encrypted, or an older format under this name. "
            "Open it in its own program and save it anew, without a password."
        )
    with zipfile.ZipFile(path) as packed, zipfile.ZipFile(slim, "w") as kept:
        for part in packed.infolist():
            markup = PurePosixPath(part.filename).suffix.lower() in _MARKUP_SUFFIXES
            size += part.file_size * markup
            within(size, max_bytes, f"The markup in {name}")
            content = packed.read(part) if markup else b""
            if b"<!ENTITY" in content:
                raise ReadingError(f"{name} defines XML entities, which are not expanded. Save it anew without them.")
            if part.filename == "META-INF/encryption.xml" and _LOCKED.search(content):
                raise ReadingError(f"{name} is protected against copying. Read a copy without protection.")
            kept.writestr(part.filename, content)
    slim.seek(0)
    return slim


# --- headings ----------------------------------------------------------------------------------------

_HEADING_OR_FENCE = re.compile(
    r"^ {0,3}(?:(?P<level>#{1,6})[ \t]+(?P<label>\S.*)|(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})(?P<info>.*))", re.M
)
_UNIT = "one|two|three|four|five|six|seven|eight|nine"
_NUMBER = (
    rf"\d{{1,4}}|[ivxlc]+|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:{_UNIT}))?|{_UNIT}|ten"
    "|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
)
_CHAPTER = re.compile(
    r"^[ \t]*(?P<label>(?:Chapter|CHAPTER|CHAP\.|Book|BOOK|Part|PART|Volume|VOLUME|Letter|LETTER)[ \t]+"
    rf"(?i:{_NUMBER})(?:[ \t]*[.:\u2013\u2014-][^\n]{{0,80}}|[ \t]+[^a-z\n]{{2,80}})?"
    r"|[IVXLC]+(?:\.(?:[ \t]+[A-Z][^.\n]{1,60})?)?)[ \t]*$",
    re.M,
)


def _headings(markdown: str) -> tuple[str | None, list[Section]]:
    """The first top-level heading, and every `#` heading outside of fenced code."""
    first, sections, fence = None, [], ""
    for found in _HEADING_OR_FENCE.finditer(markdown):
        if mark := found["fence"]:
            if not fence:
                fence = mark
            elif mark.startswith(fence) and not found["info"].strip():
                fence = ""
        elif not fence and (label := _plain(found["label"])):
            sections.append(Section("heading", label, found.start()))
            if found["level"] == "#" and not _CHAPTER.fullmatch(label):
                first = first or label
    return first, sections


def _plain(heading: str) -> str:
    return re.sub(r"[ \t]#+$|[*`]", "", heading.rstrip()).strip("_ \t")[:200]


def chapters(text: str) -> list[Section]:
    """Lines such as "CHAPTER IV", "Chapter 1. Title", "IX" or "IX. Title" between empty lines."""
    sections = []
    for found in _CHAPTER.finditer(text):
        before = text[text.rfind("\n", 0, max(found.start() - 1, 0)) + 1 : found.start()]
        after = text[found.end() + 1 : found.end() + 200].partition("\n")[0]
        if not before.strip() and not after.strip():
            sections.append(Section("heading", " ".join(found["label"].split()), found.start("label")))
    return sections


# --- small things ------------------------------------------------------------------------------------


def _clean(text: str) -> str:
    """Text of our own making: no control characters, no spaces at line ends, one empty line at most."""
    text = _CONTROLS.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip()


def utf8(text: str, what: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ReadingError(
            f"{what} cannot be written as UTF-8: character {error.start} is half of a surrogate pair. Correct it first."
        ) from error


def within(size: int, limit: int, what: str) -> None:
    if size > limit:
        raise ReadingError(
            f"{what} is larger ({size / 2**20:,.1f} MiB) than the limit of {limit / 2**20:,.4g} MiB. "
            "Split it, or raise E2G_MAX_DOCUMENT_MB."
        )


def shown(path: str | Path) -> str:
    name = str(path)
    return name if name.isprintable() and name else repr(name)
