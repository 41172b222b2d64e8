"""DOCX and EPUB: archives of markup. Their unpacked size is limited, and nothing in them is expanded or fetched."""

from __future__ import annotations

import io
import re
import zipfile
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any
from xml.parsers import expat

from lxml import etree  # type: ignore[import-untyped]

from e2g_neo4j.documents.text import quote_path, within
from e2g_neo4j.errors import ReadingError

XML_DEPTH = 256
"""How deep elements of XML may be nested. A table takes three."""

_LOCKED = re.compile(rb'URI="[^"]+\.x?html?"')  # a chapter, not only a font

_XML_SUFFIXES = {".xml", ".rels", ".opf", ".ncx", ""}

_MARKUP_SUFFIXES = _XML_SUFFIXES | {".xhtml", ".html", ".htm"}


def unpack_markup(path: Path, max_bytes: int) -> io.BytesIO:
    """Return the archive with its markup only. Pictures and fonts become empty, which limits the use of memory.

    Raises:
        ReadingError: this is no such archive, its markup is larger than `max_bytes`, defines entities or is nested
            too deeply, or it is protected.
    """
    name, slim, size = quote_path(path), io.BytesIO(), 0
    if not zipfile.is_zipfile(path):
        raise ReadingError(
            f"{name} is not a {path.suffix[1:].upper()} file: it is broken, encrypted, or in an older format. Open it "
            "in its own program and save it again, without a password."
        )
    with zipfile.ZipFile(path) as packed, zipfile.ZipFile(slim, "w") as kept:
        for part in packed.infolist():
            suffix = PurePosixPath(part.filename).suffix.lower()
            markup = suffix in _MARKUP_SUFFIXES
            size += part.file_size * markup
            within(size, max_bytes, f"The markup in {name}")
            content = packed.read(part) if markup else b""
            if part.filename == "META-INF/encryption.xml" and _LOCKED.search(content):
                raise ReadingError(f"{name} is protected against copying. Read a copy without protection.")
            _check_xml(content, name, XML_DEPTH if suffix in _XML_SUFFIXES else None)
            kept.writestr(part.filename, content)
    slim.seek(0)
    return slim


def _check_xml(content: bytes, name: str, max_depth: int | None) -> None:
    """Raise ReadingError if XML, in whatever encoding, defines entities or is nested too deeply."""
    depth = 0

    def refuse(*_: Any) -> None:
        raise ReadingError(f"{name} defines XML entities, which are not expanded. Save it without them.")

    def start(*_: Any) -> None:
        nonlocal depth
        depth += 1
        if max_depth is not None and depth > max_depth:
            raise ReadingError(
                f"{name} has tables or other elements that are nested more than {max_depth} deep. Open it in its own "
                "program, and save it without them."
            )

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    if b"<!ENTITY" in content:
        refuse()
    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = start, end
    with suppress(expat.ExpatError):  # not XML, which the reader of the file says
        parser.Parse(content, True)


def parse_xml(content: bytes) -> Any:
    """Return the root of XML, as far as it can be read. Nothing in it is expanded or fetched."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True, remove_comments=True)
    return etree.fromstring(content, parser)
