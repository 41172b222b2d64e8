"""Puts the text of a document together, with its pages, headings, tables, links and losses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from e2g_neo4j.documents.headings import CHAPTER, check_headings
from e2g_neo4j.documents.links import CONTROLS_BUT_MARKS, END, Links, length, without_marks
from e2g_neo4j.documents.reading import Limits, Reading
from e2g_neo4j.documents.text import CONTROLS, clean, quote_path, within
from e2g_neo4j.types.documents import Section

REPEATED = 800
"""Characters of rows after which the header of a table is repeated, so that every part of it is understood alone."""

LONGEST_HEADER = 400
"""Longer headers are not repeated."""


class Builder:
    """The text of a document while it is read. Paragraphs, headings and tables are separated by empty lines.

    What is added may have the marks of `links`, which become links then.

    Args:
        path: the file, for messages.
        limits: the text has at most `limits.bytes` bytes.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path, self._limits = path, limits
        self._parts: list[str] = []
        self._length = self._size = self._tables = 0
        self.sections: list[Section] = []
        self.losses: list[str] = []
        self.links = Links()
        self.first_heading: str | None = None
        """The first heading of level 1 that is more than the number of a chapter."""

    def add(self, text: str) -> None:
        """Add a paragraph, or several that are separated by empty lines."""
        if text := _clean(text):
            self._put(text)

    def page(self, label: str) -> None:
        """Begin a page."""
        self._begin("page", label)

    def heading(self, label: str, level: int = 1) -> None:
        """Add a heading, as in Markdown."""
        if marked := " ".join(_clean(label).split()):
            label = without_marks(marked)
            if level == 1 and not CHAPTER.fullmatch(label):
                self.first_heading = self.first_heading or label[:200]
            self._begin("heading", label[:200])
            self._put(f"{'#' * min(max(level, 1), 6)} {marked}")

    def table(self, rows: Iterable[Sequence[str]], caption: str = "", headers: int = 1) -> None:
        """Add a table: a line for each row, with bars between its cells.

        Args:
            rows: the cells of each row. A merged cell is in each row and column that it covers.
            caption: what it is called.
            headers: how many rows at its beginning say what its columns are.
        """
        lines: list[str] = []
        size = 0
        for row in rows:
            size += sum(map(length, row)) + 3 * len(row)
            within(self._size + size, self._limits.bytes + 2, quote_path(self._path))  # merged cells can become many
            if (line := row_line(row)).strip("| "):
                lines.append(line)
        if not lines:
            return
        self._tables += 1
        caption = " ".join(_clean(caption).split())
        self._begin("table", without_marks(caption)[:200] or f"table {self._tables}")
        self._put("\n".join([caption] * bool(caption) + with_headers(lines, headers)))

    def build(self, title: str | None = None, properties: Mapping[str, Any] | None = None) -> Reading:
        """Return what was read. The title is the given one, or else the first heading."""
        title = " ".join(clean(title or "").split()) or self.first_heading
        text = "".join(self._parts).rstrip("\n")
        losses = [*self.losses, *self.links.losses]
        return Reading(text, title, self.sections, properties, losses, links=self.links.found)

    def _begin(self, kind: Any, label: str) -> None:
        check_headings(len(self.sections))
        self.sections.append(Section(kind, label, self._length))

    def _put(self, text: str) -> None:
        if END in text:
            text = self.links.take(text, self._length)
        self._size += len(text.encode("utf-8", "replace")) + 2
        within(self._size, self._limits.bytes + 2, quote_path(self._path))
        self._parts.append(f"{text}\n\n")
        self._length += len(text) + 2


def _clean(text: str) -> str:
    return clean(text, CONTROLS_BUT_MARKS if END in text else CONTROLS)


def row_line(cells: Sequence[str]) -> str:
    """Return a row as a line of a table of Markdown, without the empty cells at its end."""
    texts = [" ".join(_clean(cell).replace("|", "¦").split()) for cell in cells]
    while len(texts) > 1 and not texts[-1]:
        texts.pop()
    return f"| {' | '.join(texts)} |"


def with_headers(lines: Sequence[str], headers: int) -> list[str]:
    """Return the lines of a table with its header repeated after every REPEATED characters."""
    header = list(lines[:headers])
    if not header or sum(map(length, header)) > LONGEST_HEADER:
        return list(lines)
    found, since = list(header), 0
    for at, line in enumerate(lines[headers:], headers):
        if since > REPEATED and at + 2 < len(lines):
            found += header
            since = 0
        found.append(line)
        since += length(line)
    return found
