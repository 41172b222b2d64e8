"""Lines, columns, paragraphs and tables of a page, from where its glyphs stand.

Distances are in points. `y` grows upwards, as in PDF. A page that reads from right to left is mirrored first, so that
`x` always grows in the direction of reading.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

CELL_GAP = 0.95
"""How wide a gap within a line is that divides it, as a multiple of the height of its glyphs."""

WORD_GAP = 0.2
"""How wide a gap is that divides words where there is no space, likewise."""

COLUMN_LINES = 5
"""The fewest lines of a column of text."""

COLUMN_CHARACTERS = 20
"""The fewest characters of half of the lines of a column of text."""

_RTL = ("R", "AL")


@dataclass(slots=True)
class Glyph:
    """A character, the span that it takes, its baseline and its height. `gap` is whether a space precedes it."""

    sign: str
    x0: float
    x1: float
    y: float
    size: float
    gap: bool = False


@dataclass(slots=True)
class Segment:
    """A part of a line without wide gaps."""

    x0: float
    x1: float
    text: str


@dataclass(slots=True)
class Line:
    """Segments on one baseline."""

    y: float
    size: float
    segments: list[Segment]

    @property
    def text(self) -> str:
        return " ".join(one.text for one in self.segments)

    @property
    def x0(self) -> float:
        return self.segments[0].x0

    @property
    def x1(self) -> float:
        return self.segments[-1].x1


# --- lines -------------------------------------------------------------------------------------------


def read_lines(glyphs: Sequence[Glyph], *, rtl: bool = False) -> list[Line]:
    """Return the lines of a page from top to bottom."""
    ordered = sorted(glyphs, key=lambda one: -one.y)
    rows: list[list[Glyph]] = []
    for glyph in ordered:
        if rows and rows[-1][-1].y - glyph.y <= 0.15 * min(glyph.size, rows[-1][-1].size):
            rows[-1].append(glyph)
        else:
            rows.append([glyph])
    lines: list[Line] = []
    for row in _with_scripts(rows):
        row.sort(key=lambda one: one.x0)
        size = median(one.size for one in row)
        segments = list(_segments(row, size, rtl=rtl))
        if segments:
            _append(lines, Line(_baseline(row, size), size, segments))
    return lines


def _append(lines: list[Line], line: Line) -> None:
    """Add a line, or put it beside the last one if it is hardly lower: labels and figures may differ by a little."""
    last = lines[-1] if lines else None
    if last is not None and last.y - line.y < 0.5 * min(last.size, line.size):
        beside = sorted([*last.segments, *line.segments], key=lambda one: one.x0)
        if all(one.x1 <= other.x0 for one, other in pairwise(beside)):
            last.segments = beside
            return
    lines.append(line)


def _baseline(row: Sequence[Glyph], size: float) -> float:
    return median(one.y for one in row if one.size > 0.8 * size)


def _with_scripts(rows: list[list[Glyph]]) -> list[list[Glyph]]:
    """Move superscripts and subscripts to the lines that they stand in."""
    kept: list[list[Glyph]] = [list(row) for row in rows]
    for at, row in enumerate(rows):
        size = max(one.size for one in row)
        for other in (at + 1, at - 1, at + 2, at - 2):
            if not 0 <= other < len(rows) or not kept[other] or not kept[at]:
                continue
            host = kept[other]
            high = max(one.size for one in host)
            rise = row[0].y - host[0].y
            if size > 0.85 * high or not -0.4 * high < rise < 0.75 * high:
                continue
            ends = sorted(one.x1 for one in host)
            moved = [one for one in kept[at] if _touches(one, ends, 0.6 * high, kept[at])]
            host.extend(moved)
            taken = set(map(id, moved))
            kept[at] = [one for one in kept[at] if id(one) not in taken]
    return [row for row in kept if row]


def _touches(glyph: Glyph, ends: Sequence[float], far: float, row: Sequence[Glyph]) -> bool:
    """Return whether a glyph follows one that ends just before it, perhaps with some of its own row between."""
    place = bisect_left(ends, glyph.x0 + 1)
    if place and glyph.x0 - ends[place - 1] < far:
        return True
    before = [one.x1 for one in row if one is not glyph and one.x0 < glyph.x0]
    run = glyph.x0 - max(before, default=-1e9) < 0.5 * glyph.size
    return run and bool(place) and glyph.x0 - ends[place - 1] < 4 * far


def _segments(row: Sequence[Glyph], size: float, *, rtl: bool) -> Iterator[Segment]:
    signs: list[str] = []
    base = _baseline(row, size)
    start = end = 0.0
    last: Glyph | None = None
    for glyph in row:
        if last is not None and glyph.sign == last.sign and abs(glyph.x0 - last.x0) < 0.12 * size:
            continue  # bold that is printed twice
        gap = 0.0 if last is None else glyph.x0 - end
        if last is not None and gap > CELL_GAP * size:
            yield from _segment(start, end, signs, rtl=rtl)
            signs = []
        elif last is not None and (gap > WORD_GAP * size or (glyph.gap and gap > 0.05 * size)):
            signs.append(" ")
        if not signs:
            start, end = glyph.x0, glyph.x1
        raised = glyph.size < 0.85 * size and glyph.y - base > 0.15 * size
        was_raised = last is not None and last.size < 0.85 * size and last.y - base > 0.15 * size
        if raised and not was_raised and signs:
            before = "".join(signs[-2:])
            signs.append(
                "^" if before[-1:].isdigit() or (before[-1:].isalpha() and not before[-2:-1].isalpha()) else " "
            )
        elif was_raised and not raised and glyph.sign.isalnum() and signs and signs[-1] != " ":
            signs.append(" ")
        signs.append(glyph.sign)
        end = max(end, glyph.x1)
        last = glyph
    yield from _segment(start, end, signs, rtl=rtl)


def _segment(start: float, end: float, signs: Sequence[str], *, rtl: bool) -> Iterator[Segment]:
    if text := " ".join(_logical(signs, rtl=rtl).split()):
        yield Segment(start, end, text)


def _logical(signs: Sequence[str], *, rtl: bool) -> str:
    """Return signs in logical order that are in the order of places, from the side where the page begins."""
    if not rtl and not any(is_rtl(sign) for sign in signs):
        return "".join(signs)
    runs: list[tuple[bool, list[str]]] = []
    for sign in signs:
        kind = unicodedata.bidirectional(sign[:1])
        against = kind in _RTL if not rtl else kind in ("L", "EN", "AN")
        neutral = kind not in ("L", "EN", "AN", *_RTL)
        if runs and (neutral or runs[-1][0] == against):
            runs[-1][1].append(sign)
        else:
            runs.append((against, [sign]))
    parts = []
    for against, run in runs:
        tail = []
        while against and run and unicodedata.bidirectional(run[-1][:1]) not in ("L", "EN", "AN", *_RTL):
            tail.append(run.pop())
        parts += [*(reversed(run) if against else run), *reversed(tail)]
    return "".join(parts)


def is_rtl(sign: str) -> bool:
    """Return whether a character is written from right to left."""
    return sign > "\u0590" and unicodedata.bidirectional(sign[:1]) in _RTL


# --- columns -----------------------------------------------------------------------------------------


def split_columns(lines: Sequence[Line], depth: int = 0) -> Iterator[list[Line]]:
    """Yield the lines of a page in the order of reading, one block for each column of text."""
    if depth > 4 or len(lines) < COLUMN_LINES:
        yield list(lines)
        return
    edges = Counter(round(one.x0 / 3) for line in lines for one in line.segments)
    left = min(line.x0 for line in lines)
    best: tuple[int, float, list[tuple[int, int]]] = (0, 0.0, [])
    for edge, number in edges.most_common(12):
        x = edge * 3 - 2.5
        if number >= COLUMN_LINES and x > left + 40:
            runs = list(_column_runs(lines, x))
            best = max(best, (sum(stop - start for start, stop in runs), x, runs))
    _, x, runs = best
    if not runs:
        yield list(lines)
        return
    at = 0
    for start, stop in runs:
        if at < start:
            yield from split_columns(lines[at:start], depth + 1)
        for side in (0, 1):
            yield from split_columns(_side(lines[start:stop], x, side), depth + 1)
        at = stop
    if at < len(lines):
        yield from split_columns(lines[at:], depth + 1)


def _column_runs(lines: Sequence[Line], x: float) -> Iterator[tuple[int, int]]:
    """Yield the runs of lines that no segment crosses `x` in, and that are prose on both of its sides."""
    start = 0
    for at in range(len(lines) + 1):
        if at == len(lines) or any(one.x0 < x < one.x1 for one in lines[at].segments):
            if at - start >= COLUMN_LINES and _is_prose(lines[start:at], x):
                yield start, at
            start = at + 1


def _is_prose(lines: Sequence[Line], x: float) -> bool:
    """Return whether the columns beside `x` are text that fills them: beside labels, much of the height is empty."""
    height = lines[0].y - lines[-1].y + lines[-1].size
    for side in (0, 1):
        part = _side(lines, x, side)
        texts = [line.segments[side - 1].text for line in part]  # the segment at `x`
        letters = sum(sign.isalpha() for text in texts for sign in text)
        if (
            len(part) < COLUMN_LINES
            or median(map(len, texts)) < COLUMN_CHARACTERS
            or letters < 0.55 * sum(map(len, texts))
            or sum(line.size for line in part) < 0.45 * height
        ):
            return False
    return True


def _side(lines: Sequence[Line], x: float, side: int) -> list[Line]:
    parts = (Line(line.y, line.size, [one for one in line.segments if (one.x0 >= x) == bool(side)]) for line in lines)
    return [one for one in parts if one.segments]
