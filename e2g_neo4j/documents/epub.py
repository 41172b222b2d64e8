"""EPUB: the chapters of a book in the order of its spine."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from e2g_neo4j.documents import markup, visible
from e2g_neo4j.documents.archives import parse_xml, unpack_markup
from e2g_neo4j.documents.builder import Builder
from e2g_neo4j.documents.formulas import local
from e2g_neo4j.documents.html import find_encoding
from e2g_neo4j.documents.reading import Limits, Reading, count
from e2g_neo4j.documents.text import decode, quote_path
from e2g_neo4j.errors import ReadingError

_CLOSED = re.compile(r"<(a|b|div|em|i|iframe|li|p|s|script|span|strong|style|td|textarea|th|title)\b([^<>]*)/>", re.I)
"""Elements of XHTML without content, which HTML would leave open."""

_ABSOLUTE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:|//)", re.I)

_FACTS = {
    "title": "Title",
    "creator": "Authors",
    "publisher": "Publisher",
    "date": "Date",
    "description": "Description",
}


def read(path: Path, limits: Limits) -> Reading:
    """Read a book."""
    builder = Builder(path, limits)
    with zipfile.ZipFile(unpack_markup(path, limits.bytes)) as book:
        [root, *_] = _find_elements(parse_xml(book.read("META-INF/container.xml")), "rootfile")
        name = root.get("full-path", "")
        package, folder = parse_xml(book.read(name)), posixpath.dirname(name)
        facts = {key: list(filter(None, map(_text, _find_elements(package, key)))) for key in _FACTS}
        for key in ("title", "publisher", "date", "description"):
            facts[key] = facts[key][:1]
        builder.add("\n".join(f"{label}: {', '.join(facts[key])}" for key, label in _FACTS.items() if facts[key]))
        there = {one.lower(): one for one in book.namelist()}
        items = {one.get("id"): one for one in _find_elements(package, "item")}
        spine = dict.fromkeys(one.get("idref") for one in _find_elements(package, "itemref"))  # each chapter once
        named = [items[one].get("href", "") for one in spine if one in items]
        chapters = dict.fromkeys(_in_archive(address, folder, there) for address in named)
        missing = len(spine) - len(named) + sum(_in_archive(address, folder, there) is None for address in named)
        titles = dict(_contents(book, items.values(), folder, there))
        empty, lost = 0, Counter[str]()
        for chapter in filter(None, chapters):
            empty += not _add_chapter(builder, path, book.read(chapter), titles.get(chapter), lost)
    chapters.pop(None, None)
    builder.losses += markup.losses(lost)
    builder.losses += count(
        missing, f"of {len(spine):,} chapters", "missing in the file", f"of {len(spine):,} chapters"
    )
    builder.losses += count(empty, "chapter", "without text, such as pictures of pages")
    if empty == len(chapters):
        why = f"{missing} of its {len(spine)} chapters are missing" if missing else "its chapters are pictures"
        raise ReadingError(
            f"{quote_path(path)} is an EPUB file without text: {why}. Read a complete copy, or one with text."
        )
    return builder.build(next(iter(facts["title"]), None))


def _add_chapter(builder: Builder, path: Path, content: bytes, title: str | None, lost: Counter[str]) -> bool:
    """Add a chapter, and return whether it has text."""
    page, _ = decode(content, path, find_encoding(content))
    if "<?xml" in page[:100] or "xhtml" in page[:1000]:
        page = _CLOSED.sub(r"<\1\2></\1>", page)
    tree = visible.parse(page)
    for link in tree.iterfind(".//a[@href]"):  # the other files are of the same document
        if not _ABSOLUTE.match(target := link.get("href")):
            link.set("href", f"#{target.partition('#')[2]}")
    body = tree if (found := tree.find("body")) is None else found
    texts = [text for text in body.itertext() if any(map(str.isalnum, text))]
    if title and texts and not any(body.find(f".//h{level}") is not None for level in range(1, 7)):
        builder.heading(title)
    lost += markup.walk(tree, builder)
    return bool(texts)


def _contents(book: zipfile.ZipFile, items: Any, folder: str, there: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the first title that the table of contents has for each chapter."""
    seen: set[str] = set()
    for item in items:
        is_nav = "nav" in (item.get("properties") or "").split()
        if not is_nav and item.get("media-type") != "application/x-dtbncx+xml":
            continue
        if (name := _in_archive(item.get("href", ""), folder, there)) is None:
            continue
        tree = parse_xml(book.read(name))
        for entry in _find_elements(tree, "a" if is_nav else "navPoint"):
            address = entry if is_nav else _first(entry, "content")
            title = _text(entry if is_nav else _first(entry, "text"))
            target = (address.get("href") or address.get("src") or "").partition("#")[0]
            chapter = _in_archive(target, posixpath.dirname(name), there) if target else None
            if chapter and title and chapter not in seen:
                seen.add(chapter)
                yield chapter, title


def _in_archive(address: str, folder: str, there: dict[str, str]) -> str | None:
    """Return the name of a file in an archive by its address, which may be quoted or differ in case."""
    names = (posixpath.normpath(posixpath.join(folder, one)).lower() for one in (unquote(address), address))
    return next((there[one] for one in names if one in there), None)


def _find_elements(tree: Any, name: str) -> list[Any]:
    return [one for one in tree.iter() if local(one) == name]


def _first(element: Any, name: str) -> Any:
    return next((one for one in element.iter() if local(one) == name), element)


def _text(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())
