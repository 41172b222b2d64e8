"""Texts and presentations of LibreOffice."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from e2g_neo4j.documents.archives import unpacked
from e2g_neo4j.documents.builder import Builder
from e2g_neo4j.documents.cells import Place, repeat_merged
from e2g_neo4j.documents.reading import Limits, Reading, count
from e2g_neo4j.documents.text import shown
from e2g_neo4j.errors import ReadingError

_DEPTH = 12
"""How deep items of lists are indented."""

_MOST_REPEATED = 1000
"""How often a cell or a row is written that a file says to be repeated."""


def read(path: Path, limits: Limits) -> Reading:
    """Read a text or a presentation: headings, paragraphs, lists, tables, notes."""
    with zipfile.ZipFile(unpacked(path, limits.bytes)) as packed:
        if b"encryption-data" in packed.read("META-INF/manifest.xml"):
            raise ReadingError(f"{shown(path)} is protected with a password. Save it without one.")
        parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
        content, meta = (
            etree.fromstring(packed.read(name), parser) if name in packed.namelist() else None
            for name in ("content.xml", "meta.xml")
        )
    builder, lost = Builder(path, limits), Counter[str]()
    for body in content.iterfind(".//{*}body/*"):
        _walk(body, builder, lost, 0)
    pictures, comments = lost["picture"], lost["comment"]
    builder.losses += count(pictures, "picture", "has no description" if pictures == 1 else "have no description")
    builder.losses += count(comments, "comment", "is not read" if comments == 1 else "are not read")
    builder.losses += count(lost["object"], "formula or other object", "not read", "formulas or other objects")
    return builder.reading(None if meta is None else meta.findtext(".//{http://purl.org/dc/elements/1.1/}title"))


def _walk(tree: Any, builder: Builder, lost: Counter[str], depth: int) -> None:
    """Add what is in an element, which is in so many lists."""
    for one in tree.iterchildren(tag=etree.Element):
        match name := etree.QName(one).localname:
            case "h":
                builder.heading(_text(one, lost), _number(one, "outline-level"))
            case "p":
                sign = "  " * min(depth - 1, _DEPTH) + "- " if depth else ""
                if text := _text(one, lost).strip():
                    builder.add(sign + text)
            case "table":
                _add_table(one, builder, lost)
            case "page":
                lost["page"] += 1
                builder.page(str(lost["page"]))
                _walk(one, builder, lost, 0)
            case "frame" if _get(one, "class") == "title":
                builder.heading(_text(one, lost))
            case "frame" | "custom-shape" | "text-box" | "g" if name != "frame" or one.find(".//{*}text-box") is not None:
                _walk(one, builder, lost, 0)
            case "frame":
                builder.add(_text(one, lost))
            case "notes":
                builder.add(f"Notes: {notes}" if (notes := _text(one, lost).strip()) else "")
            case "tracked-changes" | "forms" | "sequence-decls":
                pass
            case _:
                _walk(one, builder, lost, depth + (name == "list"))


def _text(tree: Any, lost: Counter[str]) -> str:
    return "".join(_pieces(tree, lost))


def _pieces(tree: Any, lost: Counter[str]) -> Iterator[str]:
    """Yield the text in an element. Notes are in brackets, where they are referred to."""
    yield tree.text or ""
    for one in tree.iterchildren(tag=etree.Element):
        match etree.QName(one).localname:
            case "s":
                yield " "
            case "tab":
                yield "\t"
            case "line-break":
                yield "\n"
            case "annotation":
                lost["comment"] += 1
            case "note":
                body = one.find("{*}note-body")
                yield "" if body is None else f" [{' '.join(_text(body, lost).split())}]"
            case "frame":
                if one.find(".//{*}text-box") is not None or one.find("{*}table") is not None:
                    yield from _pieces(one, lost)
                elif described := " ".join(one.xpath("*[local-name()='title' or local-name()='desc']//text()")).strip():
                    yield f"Picture: {described}"
                else:
                    lost["picture" if one.find("{*}image") is not None else "object"] += 1
            case "p" | "h":
                yield from _pieces(one, lost)
                yield "\n"
            case "tracked-changes" | "page-thumbnail" | "ruby-text":
                pass
            case _:
                yield from _pieces(one, lost)
        yield one.tail or ""


def _add_table(table: Any, builder: Builder, lost: Counter[str]) -> None:
    rows: list[list[str]] = []
    merged: list[tuple[Place, Place]] = []
    headers = 0
    for row in table.iterfind(".//{*}table-row"):
        if next(row.iterancestors("{*}table")) is not table:  # of a table in a cell
            continue
        headers += etree.QName(row.getparent()).localname == "table-header-rows"
        cells: list[str] = []
        for cell in row.iterchildren("{*}table-cell", "{*}covered-table-cell"):
            down, across = _number(cell, "number-rows-spanned"), _number(cell, "number-columns-spanned")
            if max(down, across) > 1:
                merged.append(((len(rows), len(cells)), (len(rows) + down - 1, len(cells) + across - 1)))
            cells += [_text(cell, lost).strip()] * min(_number(cell, "number-columns-repeated"), _MOST_REPEATED)
        rows += [list(cells) for _ in range(min(_number(row, "number-rows-repeated"), _MOST_REPEATED))]
    repeat_merged(rows, merged)
    builder.table(rows, headers=headers or 1)


def _get(one: Any, name: str) -> str | None:
    """Return an attribute in whatever namespace."""
    return next((value for key, value in one.attrib.items() if key.rpartition("}")[2] == name), None)


def _number(one: Any, name: str) -> int:
    """Return an attribute that is a number of things."""
    value = _get(one, name) or ""
    return max(int(value), 1) if value.isascii() and value.isdigit() and len(value) < 10 else 1
