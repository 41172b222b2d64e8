"""Pages and headings of a part of a document."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence

from e2g_neo4j.types.documents import Section


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


def heading_of(sections: Sequence[Section], start: int, end: int) -> str | None:
    """Return the heading of most of a span, the first in case of a tie. None if most of it precedes the first one."""
    position, label = start, None
    characters: Counter[str | None] = Counter()
    for section in around([section for section in sections if section.kind == "heading"], start, end):
        characters[label] += max(section.start - position, 0)
        position, label = max(section.start, start), section.label
    characters[label] += end - position
    return max(characters, key=characters.__getitem__)
