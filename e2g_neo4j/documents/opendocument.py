"""Texts and presentations of LibreOffice."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from e2g_neo4j.documents.archives import unpack_markup
from e2g_neo4j.documents.builder import Builder
from e2g_neo4j.documents.cells import Place, repeat_merged
from e2g_neo4j.documents.reading import Limits, Reading, count
from e2g_neo4j.documents.text import quote_path
from e2g_neo4j.errors import ReadingError

_INDENTED = 12
"""How often items of lists are indented at most."""

_REPEATED = 100
"""How often a cell or a row is written at most that a file says to be repeated."""


def read(path: Path, limits: Limits) -> Reading:
    """Read a text or a presentation: headings, paragraphs, lists, tables, notes."""
    with zipfile.ZipFile(unpack_markup(path, limits.bytes)) as packed:
        if b"encryption-data" in packed.read("META-INF/manifest.xml"):
            raise ReadingError(f"{quote_path(path)} is protected with a password. Save it without one.")
        parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
        content = etree.fromstring(packed.read("content.xml"), parser)
        facts = etree.fromstring(packed.read("meta.xml"), parser) if "meta.xml" in packed.namelist() else content
    builder = Builder(path, limits)
    walk = _Walk(builder)
    walk.through(content.find("{*}body"), 0)
    builder.losses += count(walk.lost["picture"], "picture", "without a description")
    builder.losses += count(walk.lost["comment"], "comment", "not read")
    builder.losses += count(
        walk.lost["object"], "formula, chart or the like", "not read", "formulas, charts or the like"
    )
    return builder.build(facts.findtext(".//{http://purl.org/dc/elements/1.1/}title"))


class _Walk:
    """Takes what is in a document to a builder, and counts what is lost."""

    def __init__(self, builder: Builder) -> None:
        self.builder, self.lost = builder, Counter[str]()
        self.items: list[str] = []

    def through(self, tree: Any, depth: int) -> None:
        """Add what is in an element, which is in so many lists."""
        for one in tree.iterchildren(tag=etree.Element):
            name = etree.QName(one).localname
            if name == "p" and depth:
                text = self.text(one)
                self.items += ["  " * min(depth - 1, _INDENTED) + f"- {text}"] if text else []
                continue
            if name in ("h", "table"):
                self.end_list()
            match name:
                case "h":
                    self.builder.heading(self.text(one), _number(one, "outline-level"))
                case "frame" if _get(one, "class") == "title":
                    self.builder.heading(self.text(one))
                case "p" | "frame" if one.find("{*}text-box") is None:
                    self.builder.add(self.text(one) if name == "p" else "".join(self.pieces(one.getparent(), one)))
                case "table":
                    self.table(one)
                case "notes":
                    self.builder.add(f"Notes: {notes}" if (notes := self.text(one)) else "")
                case "tracked-changes" | "forms":
                    pass
                case _:
                    if name == "page":
                        self.lost["page"] += 1
                        self.builder.page(str(self.lost["page"]))
                    self.through(one, depth + (name == "list"))
                    if depth == 0:
                        self.end_list()

    def end_list(self) -> None:
        self.builder.add("\n".join(self.items))
        self.items = []

    def text(self, tree: Any) -> str:
        return "".join(self.pieces(tree)).strip()

    def pieces(self, tree: Any, only: Any = None) -> Iterator[str]:
        """Yield the text in an element, or in `only` one of its children. Notes stand in brackets."""
        yield tree.text or "" if only is None else ""
        for one in tree.iterchildren(tag=etree.Element) if only is None else [only]:
            match etree.QName(one).localname:
                case "s":
                    yield " "
                case "tab":
                    yield "\t"
                case "line-break":
                    yield "\n"
                case "annotation":
                    self.lost["comment"] += 1
                case "note":
                    body = one.find("{*}note-body")
                    yield "" if body is None else f" [{' '.join(self.text(body).split())}]"
                case "frame" if one.find("{*}text-box") is None and one.find("{*}table") is None:
                    described = " ".join(one.xpath("*[local-name()='title' or local-name()='desc']//text()")).strip()
                    yield f"Picture: {described}" if described else ""
                    self.lost["picture" if one.find("{*}object") is None else "object"] += not described
                case "tracked-changes" | "page-thumbnail" | "ruby-text":
                    pass
                case name:
                    yield from self.pieces(one)
                    yield "\n" if name in ("p", "h") else ""
            yield one.tail or "" if only is None else ""

    def table(self, table: Any) -> None:
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
                cells += [self.text(cell)] * min(_number(cell, "number-columns-repeated"), _REPEATED)
            rows += [cells] * min(_number(row, "number-rows-repeated"), _REPEATED)
        repeat_merged(rows, merged)
        self.builder.table(rows, headers=headers or 1)


def _get(one: Any, name: str) -> str:
    """Return an attribute in whatever namespace."""
    return next((value for key, value in one.attrib.items() if key.rpartition("}")[2] == name), "")


def _number(one: Any, name: str) -> int:
    """Return an attribute that is a number of things."""
    value = _get(one, name)
    return max(int(value), 1) if value.isascii() and value.isdigit() and len(value) < 10 else 1
