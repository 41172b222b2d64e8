"""HTML as text: one walk over a tree, in time that grows with the size of the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from e2g_neo4j.documents.builder import Builder
from e2g_neo4j.documents.inline import bare_tex, formula_of, in_brackets, is_described, mark_superscript, numeral
from e2g_neo4j.documents.links import change_marked, without_marks
from e2g_neo4j.documents.reading import count
from e2g_neo4j.documents.tables import Cell, fill_grid, header_rows
from e2g_neo4j.documents.visible import BLOCKS, HEADINGS

NESTED = 20
"""How deep lists and quotations are indented. Deeper ones are indented like these."""

_STRUCK = ("s", "del", "strike")

_SPACE = re.compile(r"[\t\r\n\f\xa0][ \t\r\n\f\xa0]*+| [ \t\r\n\f\xa0]++")
"""White space that is not one space already, which is most."""


def walk(element: Any, builder: Builder, skipped: Container[Any] = ()) -> Counter[str]:
    """Add the text of an element to a document, and return what is lost, for `losses`.

    Args:
        skipped: elements of the tree to leave out.
    """
    walk = _Walk(builder, skipped)
    walk.walk(element)
    return Counter(struck=walk.struck, pictures=walk.pictures)


def losses(lost: Counter[str]) -> list[str]:
    return [
        *count(lost["struck"], "struck passage", "left out"),
        *count(lost["pictures"], "picture", "without a description"),
    ]


class _Table:
    def __init__(self) -> None:
        self.rows: list[list[Cell]] = []
        self.heads: list[bool] = []
        self.caption = ""


class _Walk:
    """The state of a walk.

    Attributes:
        line: the pieces of the paragraph that is being read.
        lines: those of the list that is being read.
        lists: for each list that is open: how its items are numbered, and the next number.
        indents: what lines begin with, for each list item and quotation that is open.
        marker: what the next line begins with instead.
        anchor: where the text of the link that is open begins in the line, and its target.
        table: the table that is being read.
        cell: the paragraphs of its cell.
    """

    def __init__(self, builder: Builder, skipped: Container[Any]) -> None:
        self.builder, self.skipped = builder, skipped
        self.line: list[str] = []
        self.lines: list[str] = []
        self.lists: list[list[Any]] = []
        self.indents = [""]
        self.marker: str | None = None
        self.term = ""
        self.marks: list[int] = []
        self.linked = -1
        self.anchor: tuple[int, str] | None = None
        self.pre = self.inner = self.struck = self.pictures = 0
        self.table: _Table | None = None
        self.cell: list[str] | None = None

    def walk(self, root: Any) -> None:
        events, passed = etree.iterwalk(root, events=("start", "end")), None
        for event, element in events:
            tag = element.tag
            if event == "start":
                if tag == "head" or element in self.skipped or (tag in _STRUCK and self._strike(element)):
                    events.skip_subtree()
                    passed = element
                    continue
                if tag == "math":
                    self.line.append(f" {formula_of(element)} ")
                    events.skip_subtree()
                    passed = element
                    continue
                if tag in BLOCKS:
                    self.flush("" if element is root else element.getparent().tag)
                if start := _STARTS.get(tag):
                    start(self, element)
                self.put(element.text)
            else:
                if tag in BLOCKS:
                    self.flush(tag)
                if element is not passed and (end := _ENDS.get(tag)):
                    end(self, element)
                if element is not root:
                    self.put(element.tail)
        self.flush()
        self._end_lines()

    def put(self, text: str | None) -> None:
        if text:
            text = text.replace("\xad", "")
            self.line.append(text if self.pre else _SPACE.sub(" ", text))

    def flush(self, tag: str = "") -> None:
        """End a paragraph."""
        if not self.line:
            return
        if self.anchor is not None:  # of a link that has several paragraphs
            begin, target = self.anchor
            self.line[begin:] = self.builder.links.mark_pieces(self.line[begin:], target)
            self.anchor = 0, target
        text, self.line, self.linked = "".join(self.line), [], -1
        if self.pre and self.cell is None:
            if text.strip():
                fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
                self._add([fence, *text.rstrip().strip("\n").split("\n"), fence])
            return
        lines = [line for one in text.split("\n") if (line := " ".join(one.split()))]
        if not lines:
            return
        if self.cell is not None:
            self.cell.append(" ".join(lines))
        elif (level := HEADINGS.get(tag)) is not None:
            self._end_lines()
            self.marker = None
            self.builder.heading(" ".join(lines).rstrip("¶🔗 "), level)
        elif tag == "dt":
            self.term = f"{self.term}, {' '.join(lines)}" if self.term else " ".join(lines)
        else:
            self._add(lines)

    def _add(self, lines: list[str]) -> None:
        indent = self.indents[-1]
        first = indent if self.marker is None else self.marker
        self.marker = None
        marked = [f"{first}{lines[0]}", *(f"{indent}{line}" for line in lines[1:])]
        if self.lists:
            self.lines += marked
        else:
            self.builder.add("\n".join(marked))

    def _end_lines(self) -> None:
        if self.lines:
            self.builder.add("\n".join(self.lines))
            self.lines = []

    def _strike(self, element: Any) -> bool:
        self.struck += any(text.strip() for text in element.itertext())
        return True

    # --- lists and quotations ---

    def _indent(self, more: str) -> None:
        self.indents.append(self.indents[-1] + more if len(self.indents) <= NESTED else self.indents[-1])

    def _end_indent(self, _: Any) -> None:
        if len(self.indents) > 1:
            self.indents.pop()
        self.marker = None

    def _start_list(self, element: Any) -> None:
        if element.tag == "dl" or element.tag == "ul" or element.tag == "menu":
            self.lists.append(["", 0, 0])
            return
        step = -1 if "reversed" in element.attrib else 1
        first = _number(element.get("start"), sum(1 for _ in element.iterchildren("li")) if step < 0 else 1)
        self.lists.append([element.get("type") or "1", first, step])

    def _end_list(self, _: Any) -> None:
        if self.term:
            self._end_terms()
        self.lists.pop()
        if not self.lists:
            self._end_lines()

    def _end_terms(self) -> None:
        term, self.term = self.term, ""
        self._add([term])

    def _start_item(self, element: Any) -> None:
        sign = "- "
        if self.lists and (kind := self.lists[-1][0]):
            number = self.lists[-1][1] = _number(element.get("value"), self.lists[-1][1])
            self.lists[-1][1] += self.lists[-1][2]
            sign = f"{numeral(number, kind)}. "
        self.marker = self.indents[-1] + sign
        self._indent(" " * len(sign))

    def _start_definition(self, _: Any) -> None:
        if self.term:
            self.marker = f"{self.indents[-1]}{self.term.rstrip(': ')}: "
            self.term = ""
        self._indent("  ")

    # --- tables ---

    def _start_table(self, element: Any) -> None:
        if self.table is not None:
            self.inner += 1
        elif not is_layout(element):
            self._end_lines()
            self.table = _Table()
        else:
            self.inner = 0

    def _end_table(self, element: Any) -> None:
        if self.table is None:
            return
        if self.inner:
            self.inner -= 1
            return
        table, self.table, self.cell = self.table, None, None
        headers = header_rows([[text for text, *_ in row] for row in table.rows], table.heads)
        self.builder.table(fill_grid(table.rows), table.caption, headers)

    def _start_row(self, _: Any) -> None:
        if self.table is not None and not self.inner:
            self.table.rows.append([])
            self.table.heads.append(True)

    def _start_cell(self, element: Any) -> None:
        if self.table is not None and not self.inner:
            self.cell = []

    def _end_cell(self, element: Any) -> None:
        if self.table is None or self.inner:
            return
        text, self.cell = "; ".join(self.cell or ()), None
        if element.tag == "caption":
            self.table.caption = text
            return
        if not self.table.rows:
            self._start_row(element)
        down = _number(element.get("rowspan"), 1)
        self.table.rows[-1].append((text, max(1, _number(element.get("colspan"), 1)), down if down > 0 else 65_534))
        if element.tag == "td" and element.getparent().getparent().tag != "thead":
            self.table.heads[-1] = False

    # --- inline ---

    def _mark(self, _: Any) -> None:
        self.marks.append(len(self.line))

    def _take(self) -> tuple[int, str]:
        mark = min(self.marks.pop(), len(self.line))
        text = "".join(self.line[mark:])
        del self.line[mark:]
        return mark, text

    def _end_sup(self, _: Any) -> None:
        mark, text = self._take()
        before, linked = without_marks("".join(self.line[max(0, mark - 4) : mark]))[-20:], self.linked >= mark
        self.line.append(change_marked(text, lambda bare: mark_superscript(bare, before, linked=linked)))

    def _end_sub(self, _: Any) -> None:
        _, text = self._take()
        self.line.append(change_marked(text, _mark_subscript))

    def _start_link(self, element: Any) -> None:
        self._mark(element)
        if "href" in element.attrib:
            self.linked = len(self.line)
            self.anchor = self.linked, element.get("href")

    def _end_link(self, element: Any) -> None:
        mark, text = self._take()
        if "noteref" in f"{element.get('role')} {element.get('type')}" and "[" not in text:
            text = f"[{text.strip()}]"
        elif text.strip() in ("↩", "↩︎", "↑", "¶", "🔗"):
            text = ""
        if self.anchor is not None:
            text = self.builder.links.mark(text, self.anchor[1])
            self.anchor = None
        self.line.append(text)
        self.linked = mark if "href" in element.attrib else self.linked

    def _end_ruby(self, _: Any) -> None:
        _, text = self._take()
        self.line.append(f"({text.strip()})" if text.strip() else "")

    def _end_quote(self, _: Any) -> None:
        _, text = self._take()
        self.line.append(f"“{text}”")

    def _break(self, _: Any) -> None:
        self.line.append("\n")

    def _picture(self, element: Any) -> None:
        alt = " ".join((element.get("alt") or "").split())
        if "\\" in alt or (alt and "math" in element.get("class", "")):  # a formula
            self.line.append(f" {bare_tex(alt[:2000])} ")
        elif is_described(alt):
            self.line.append(f" [Picture: {alt[:500]}] ")
        elif element.get("aria-hidden") != "true" and (
            (alt or "alt" not in element.attrib) and {element.get("width"), element.get("height")} != {"1"}
        ):
            self.pictures += 1


_STARTS: dict[str, Callable[[_Walk, Any], None]] = {
    "a": _Walk._start_link,
    "blockquote": lambda walk, _: walk._indent("> "),
    "br": _Walk._break,
    "caption": _Walk._start_cell,
    "dd": _Walk._start_definition,
    "dl": _Walk._start_list,
    "img": _Walk._picture,
    "li": _Walk._start_item,
    "menu": _Walk._start_list,
    "ol": _Walk._start_list,
    "pre": lambda walk, _: setattr(walk, "pre", walk.pre + 1),
    "q": _Walk._mark,
    "rt": _Walk._mark,
    "sub": _Walk._mark,
    "sup": _Walk._mark,
    "table": _Walk._start_table,
    "td": _Walk._start_cell,
    "th": _Walk._start_cell,
    "tr": _Walk._start_row,
    "ul": _Walk._start_list,
}

_ENDS: dict[str, Callable[[_Walk, Any], None]] = {
    "a": _Walk._end_link,
    "blockquote": _Walk._end_indent,
    "caption": _Walk._end_cell,
    "dd": _Walk._end_indent,
    "dl": _Walk._end_list,
    "li": _Walk._end_indent,
    "menu": _Walk._end_list,
    "ol": _Walk._end_list,
    "pre": lambda walk, _: setattr(walk, "pre", walk.pre - 1),
    "q": _Walk._end_quote,
    "rt": _Walk._end_ruby,
    "sub": _Walk._end_sub,
    "sup": _Walk._end_sup,
    "table": _Walk._end_table,
    "td": _Walk._end_cell,
    "th": _Walk._end_cell,
    "ul": _Walk._end_list,
}


def _mark_subscript(text: str) -> str:
    return text if not text.strip() or text.strip().isdigit() else f"_{in_brackets(text.strip())}"


def is_layout(table: Any) -> bool:
    """Return whether a table only places what it holds: one column, or one cell a row, or tables without headings."""
    if table.get("role") in ("presentation", "none"):
        return True
    rows = [
        row
        for part in table.iterchildren("tr", "thead", "tbody", "tfoot")
        for row in ([part] if part.tag == "tr" else part.iterchildren("tr"))
    ]
    most = max((sum(1 for _ in row.iterchildren("td", "th")) for row in rows), default=0)
    if most <= 1 or table.get("holds") is None:
        return most <= 1
    return not any(cell.tag == "th" for row in rows for cell in row) and table.find("caption") is None


def _number(value: str | None, default: int) -> int:
    return int(value) if value and re.fullmatch(r"\s*-?\d{1,9}\s*", value) else default
