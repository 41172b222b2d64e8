"""DOCX and EPUB: archives of markup. Their unpacked size is limited, and nothing in them is expanded or fetched."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.parsers import expat

from e2g_neo4j.documents.text import shown, within
from e2g_neo4j.errors import ReadingError

XML_DEPTH = 256
"""How deep elements of XML may be nested. A table takes three."""

_LOCKED = re.compile(rb'URI="[^"]+\.x?html?"')  # a chapter, not only a font

_XML_SUFFIXES = {".xml", ".rels", ".opf", ".ncx", ""}

_MARKUP_SUFFIXES = _XML_SUFFIXES | {".xhtml", ".html", ".htm"}

_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"


def unpacked(path: Path, max_bytes: int) -> io.BytesIO:
    """Return the archive with its markup only. Pictures and fonts become empty, which limits the use of memory.

    Raises:
        ReadingError: this is no such archive, its markup is larger than `max_bytes`, defines entities or is nested
            too deeply, or it is protected.
    """
    name, slim, size = shown(path), io.BytesIO(), 0
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


def epub(packed: io.BytesIO, convert: Callable[[io.BytesIO], str]) -> Iterator[tuple[str | None, str]]:
    """Yield the parts of an EPUB: first its title and what else it says about itself, then None and each chapter.

    Args:
        packed: the file.
        convert: converts a chapter to Markdown.
    """
    with zipfile.ZipFile(packed) as book:
        container = ElementTree.fromstring(book.read("META-INF/container.xml"))  # noqa: S314 without entities: see unpacked
        [root, *_] = _named(container, "rootfile")
        package = ElementTree.fromstring(book.read(root.get("full-path", "")))  # noqa: S314 likewise
        facts = {key: _facts(package, key) for key in ("title", "creator", "publisher", "date", "description")}
        title = next(iter(facts["title"]), None)
        yield (
            title,
            "\n".join(
                f"{label}: {value}"
                for label, value in (
                    ("Title", title),
                    ("Authors", ", ".join(facts["creator"])),
                    *((key.capitalize(), next(iter(facts[key]), None)) for key in ("publisher", "date", "description")),
                )
                if value
            ),
        )
        folder = posixpath.dirname(root.get("full-path", ""))
        addresses = {item.get("id"): item.get("href", "") for item in _named(package, "item")}
        there = set(book.namelist())
        # A chapter that is named twice is read once.
        named = dict.fromkeys(addresses.get(one.get("idref"), "") for one in _named(package, "itemref"))
        chapters = [_in_archive(address, folder, there) for address in named]
        for chapter in dict.fromkeys(one for one in chapters if one):
            yield None, convert(io.BytesIO(book.read(chapter))).strip()


def _in_archive(address: str, folder: str, there: set[str]) -> str | None:
    """Return the name of a file in an archive by its address, which may be quoted, or None if it is not there."""
    names = (posixpath.normpath(posixpath.join(folder, one)) for one in (unquote(address), address))
    return next((one for one in names if one in there), None)


def _named(tree: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [one for one in tree.iter() if one.tag.rpartition("}")[2] == name]


def _facts(package: ElementTree.Element, key: str) -> list[str]:
    texts = ("".join(one.itertext()).strip() for one in package.iter(f"{_DUBLIN_CORE}{key}"))
    return [text for text in texts if text]
