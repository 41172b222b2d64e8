"""Pages, headings and tables of a part of a document."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence

from e2g_neo4j.types.documents import Section

ROW = "| "
"""How a line begins that is a row of a table, as in Markdown."""

LONGEST_ROW = 4000
"""Characters before a place that are searched for the beginning of its row. Longer rows may be divided."""


def row_start(text: str, place: int) -> int:
    """Return where the row of a table starts that a place is inside of, or the place itself if it is in none."""
    start = text.rfind("\n", max(0, place - LONGEST_ROW), place) + 1
    return start if text.startswith(ROW, start) and (start or place <= LONGEST_ROW) else place


def begins_table(text: str, place: int) -> bool:
    """Return whether a paragraph begins at a place that is a table, perhaps below its caption."""
    if place >= 2 and text[place - 2 : place] != "\n\n":
        return False
    following = text.find("\n", place, place + LONGEST_ROW) + 1
    return text.startswith(ROW, place) or (following > 0 and text.startswith(ROW, following))


def around(sections: Sequence[Section], start: int, end: int) -> Sequence[Section]:
    """Return the sections that overlap a span: the one that contains `start`, and those that begin before `end`.

    `sections` are of one kind and sorted.
    """
    first = bisect_right(sections, start, key=lambda section: section.start) - 1
    return sections[max(first, 0) : bisect_left(sections, end, key=lambda section: section.start)]


def page_of(sections: Sequence[Section], start: int, end: int) -> str | None:
    """Return the page of a span, such as "3", or a range such as "3–4"; None if the document has no pages."""
    pages = around([section for section in sections if section.kind == "page"], start, end)
    if not pages:
        return None
    first, last = pages[0].label, pages[-1].label
    return first if first == last else f"{first}–{last}"


def name_of(sections: Sequence[Section], text: str, start: int) -> str | None:
    """Return what a text is called that begins at `start`: the table that most of it is in, or else its heading."""
    heading, table = heading_of(sections, start, start + len(text)), _table_of(sections, text, start)
    return f"{heading}, {table}" if heading and table and table.startswith("table ") else table or heading


def _table_of(sections: Sequence[Section], text: str, start: int) -> str | None:
    tables = [section for section in sections if section.kind == "table"]
    rows = [line for line in text.split("\n") if line.startswith(ROW)] if tables else []
    if not rows or sum(map(len, rows)) < len(text) / 2:
        return None
    before = [section.label for section in tables if section.start <= start + text.find(rows[0])]
    return before[-1] if before else None


def heading_of(sections: Sequence[Section], start: int, end: int) -> str | None:
    """Return the heading of most of a span, the first in case of a tie. None if most of it precedes the first one."""
    position, label = start, None
    characters: Counter[str | None] = Counter()
    for section in around([section for section in sections if section.kind == "heading"], start, end):
        characters[label] += max(section.start - position, 0)
        position, label = max(section.start, start), section.label
    characters[label] += end - position
    return max(characters, key=characters.__getitem__)
