"""Paragraphs and tables of a column of lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import median

from e2g_neo4j.documents.layout import Line, Segment

NEAR = 3.5
"""How far apart lines of one table are at most, as a multiple of the height of their glyphs."""

LONGEST_LABEL = 110
"""The most characters of a line within a table that is not divided."""

CAPTION_LINES, CAPTION_CHARACTERS = 5, 110
"""The most lines of a caption, and the most characters of a line unless the caption begins with "Table 1"."""

_CAPTION = re.compile(r"(?:table|tab\.|tabelle|tableau|tabla)\s+[\dIVX]", re.I)

_MARKER = re.compile(r"[•·▪◦‣●○■□–—*-]|[(\[]?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.)\]]")

_FIGURE = re.compile(r"[-–—−(]*[$€£¥]?\s*[-–—−(]?[\d.,]*\d[\d.,]*\s*(?:%|x|bps|pts?)?\)*%?|[-–—−]+|n/?a|n\.m\.", re.I)

_AFTER = re.compile(r"[)%]{1,2}|pts?\.?")

_CURRENCY = re.compile(r"[$€£¥]|[A-Z]{3}|R\$|US\$")

_DIVIDER = re.compile(r"(?:[.·…_] ?){4,}|(?<=[\d)%—–]) (?=[$€£¥]$)")

_BULLET = re.compile(r"(?:[•·▪◦‣●○■□]|[–—-] |(?:\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]) )")


@dataclass(slots=True)
class Table:
    """Rows of cells. The first `headers` rows say what the columns are."""

    rows: list[list[str]]
    headers: int
    caption: str = ""


def read_block(lines: Sequence[Line]) -> Iterator[list[str] | Table]:
    """Yield the paragraphs of a column, as lists of lines, and its tables."""
    lines = [_with_leaders(line) for line in lines]
    at = 0
    prose: list[Line] = []
    for start, stop in _table_spans(lines):
        prose += lines[at:start]
        table = _table(lines[start:stop])
        caption = _caption(prose, lines[start])
        yield from _paragraphs(prose[: len(prose) - len(caption)])
        table.caption = " ".join(one.text for one in caption)
        yield table
        prose, at = [], stop
    yield from _paragraphs([*prose, *lines[at:]])


def _with_leaders(line: Line) -> Line:
    """Return a line whose leader dots are gaps, and whose bullets, currencies and percent signs are no cells."""
    parts = [piece for one in line.segments for piece in _pieces(one)]
    merged: list[Segment] = []
    for one in parts:
        before = merged[-1] if merged else None
        if before is not None and (
            (_CURRENCY.fullmatch(before.text) and _FIGURE.fullmatch(one.text))
            or (_AFTER.fullmatch(one.text) and one.x0 - before.x1 < 3 * line.size)
            or (len(merged) == 1 and _MARKER.fullmatch(before.text) and not _FIGURE.fullmatch(one.text))
        ):
            space = "" if _AFTER.fullmatch(one.text) or _CURRENCY.fullmatch(before.text) else " "
            merged[-1] = Segment(before.x0, one.x1, f"{before.text}{space}{one.text}")
        else:
            merged.append(one)
    return Line(line.y, line.size, merged)


def _pieces(segment: Segment) -> Iterator[Segment]:
    """Yield what leader dots divide, and the currency of the next figure apart from the figure before it."""
    share = (segment.x1 - segment.x0) / len(segment.text)
    start = 0
    for found in chain(_DIVIDER.finditer(segment.text), (None,)):
        text = segment.text[start : found.start() if found else None].strip()
        if text:
            begin = segment.x0 + share * segment.text.index(text, start)
            yield Segment(begin, begin + share * len(text), text)
        start = found.end() if found else start


def _table_spans(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Yield the spans of lines that are tables: lines that are divided, and what stands between them."""
    at = ended = 0
    while at < len(lines):
        if len(lines[at].segments) < 2:
            at += 1
            continue
        stop, single = at + 1, 0
        for place in range(at + 1, len(lines)):
            line, before = lines[place], lines[place - 1]
            if before.y - line.y > NEAR * max(line.size, before.size, 9):
                break
            if len(line.segments) > 1:
                stop, single = place + 1, 0
            else:
                single += 1
                if single > 3 or len(line.text) > LONGEST_LABEL:
                    break
        while stop < len(lines) and _continues(lines[stop - 1], lines[stop], lines[at:stop]):
            stop += 1
        left = min(line.x0 for line in lines[at:stop])
        while at > ended and _is_head(lines[at - 1], lines[at], left):
            at -= 1
        yield from _parts(lines, at, stop)
        at = ended = stop


def _is_head(line: Line, below: Line, left: float) -> bool:
    """Return whether a line stands above the heads of columns alone, not above the labels, which begin at `left`."""
    near = line.y - below.y < 2 * max(line.size, below.size)
    return near and min(line.x0, below.x0) > left + 4 * line.size and len(line.text) <= LONGEST_LABEL


def _parts(lines: Sequence[Line], at: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the tables of a span: what is above the head of the figures is not part of their table."""
    first = next((place for place in range(at, stop) if _values(lines[place])), None)
    if first is None:
        if _is_table(lines[at:stop]):
            yield at, stop
        return
    end = _end(lines, first, stop)
    values = [one for line in lines[first:end] for one in _values(line)]
    left = min(one.x0 for one in values)
    start = first
    while start > at and not _is_title(lines[start - 1], left):
        start -= 1
    if start > at:
        yield from _parts(lines, at, start)
    if _is_table(lines[start:end]):
        yield start, end
    if end < stop:
        yield from _parts(lines, end, stop)


def _values(line: Line) -> list[Segment]:
    """Return the figures of a line that has a label, or other figures."""
    found = [one for one in line.segments if _FIGURE.fullmatch(one.text)]
    return found if len(line.segments) > 1 and not all(_is_year(one.text) for one in found) else []


def _is_title(line: Line, left: float) -> bool:
    """Return whether a line begins among the labels of a table and ends among its figures, which begin at `left`."""
    return len(line.segments) == 1 and line.x0 < left - 4 * line.size and line.x1 > left + 2 * line.size


def _end(lines: Sequence[Line], first: int, stop: int) -> int:
    """Return where the first line is whose figures do not stand in the columns of those above it."""
    columns: list[tuple[float, float]] = []
    for at in range(first, stop):
        values = _values(lines[at])
        if values:
            merged = _unite_spans(columns, values)
            if any(sum(one.x0 < x1 and x0 < one.x1 for one in values) > 1 for x0, x1 in merged):
                labels = at
                while labels > first + 1 and not _values(lines[labels - 1]):
                    labels -= 1
                return labels
            columns = merged
    return stop


def _unite_spans(columns: Sequence[tuple[float, float]], segments: Sequence[Segment]) -> list[tuple[float, float]]:
    """Return the spans that columns and segments cover together."""
    united: list[tuple[float, float]] = []
    for x0, x1 in sorted([*columns, *((one.x0, one.x1) for one in segments)]):
        if united and x0 < united[-1][1]:
            united[-1] = united[-1][0], max(x1, united[-1][1])
        else:
            united.append((x0, x1))
    return united


def _continues(before: Line, line: Line, rows: Sequence[Line]) -> bool:
    """Return whether a line goes on with the label above it."""
    right = min(one.segments[1].x0 for one in rows if len(one.segments) > 1)
    near = before.y - line.y < 1.45 * max(line.size, before.size)
    return near and len(line.segments) == 1 and line.x1 < right and line.text[:1].islower()


def _is_table(lines: Sequence[Line]) -> bool:
    """Return whether lines are divided in the same places, and not only stretched to the margins."""
    divided = [one for one in lines if len(one.segments) > 1]
    figures = sum(bool(_values(one)) for one in divided)
    if len(divided) < (2 if figures else 3) or len(divided) < (0.3 if figures else 0.5) * len(lines):
        return False
    edges = Counter[tuple[str, int]]()
    for line in divided:
        cells = line.segments[1:]
        edges.update({("left", round(one.x0 / 4)) for one in cells} | {("right", round(one.x1 / 4)) for one in cells})
        edges.update({("middle", round((one.x0 + one.x1) / 8)) for one in cells})
    return max(edges.values()) >= max(2, (0.3 if figures else 0.5) * len(divided))


def _caption(prose: Sequence[Line], first: Line) -> list[Line]:
    """Return the lines before a table that say what it is."""
    taken, below = 0, first
    for at, line in enumerate(reversed(prose[-CAPTION_LINES:]), 1):
        if line.y - below.y > NEAR * max(line.size, below.size):
            break
        if _CAPTION.match(line.text):
            return list(prose[-at:])
        if taken == at - 1 and len(line.text) <= CAPTION_CHARACTERS and line.text[-1] not in ".,;:":
            taken = at
        below = line
    return list(prose[len(prose) - taken :])


def _table(lines: Sequence[Line]) -> Table:
    columns = _columns(lines)
    placed = [(line, _cells(line, columns, merged=False)) for line in lines]
    headers = _count_headers(placed)
    placed[:headers] = [(line, _cells(line, columns, merged=True)) for line in lines[:headers]]
    rows = [_head(placed[:headers], len(columns))] if headers else []
    right = [max((cells[at].x1 for _, cells in placed if at in cells), default=0.0) for at in range(len(columns))]
    last: tuple[Line, dict[int, Segment]] | None = None
    for line, cells in placed[headers:]:
        if last is not None and _belongs(last, (line, cells), right):
            merged = last[1] | {
                at: _join_segments(last[1][at], one) if at in last[1] else one for at, one in cells.items()
            }
            last = line, merged
            rows.pop()
        else:
            last = line, cells
        rows.append([last[1][at].text if at in last[1] else "" for at in range(len(columns))])
    return Table(rows, int(bool(headers)))


def _cells(line: Line, columns: Sequence[tuple[float, float]], *, merged: bool) -> dict[int, Segment]:
    """Return the cells of a line. With `merged`, one that covers several columns is in each of them."""
    cells: dict[int, Segment] = {}
    for one in line.segments:
        covered = _find_columns(one, columns)
        for column in covered if merged and covered[0] and len(one.text) <= 60 else covered[:1]:
            cells[column] = _join_segments(cells[column], one) if column in cells else one
    return cells


def _join_segments(before: Segment, after: Segment) -> Segment:
    return Segment(min(before.x0, after.x0), max(before.x1, after.x1), f"{before.text} {after.text}")


def _columns(lines: Sequence[Line]) -> list[tuple[float, float]]:
    """Return the spans of the columns: those of figures, then of text that stands in none of these or in one."""
    columns = _unite_spans([], [one for line in lines for one in _values(line)])
    texts = [one for line in lines if len(line.segments) > 1 for one in line.segments]
    for one in sorted(texts, key=lambda one: one.x1 - one.x0):
        hit = [at for at, (x0, x1) in enumerate(columns) if one.x0 < x1 and x0 < one.x1]
        if not hit:
            columns.append((one.x0, one.x1))
        elif len(hit) == 1:
            x0, x1 = columns[hit[0]]
            columns[hit[0]] = min(x0, one.x0), max(x1, one.x1)
    return _without_shifts(sorted(columns), lines)


def _without_shifts(columns: list[tuple[float, float]], lines: Sequence[Line]) -> list[tuple[float, float]]:
    """Return columns of which those are one that no line has both of: indented labels, heads beside their figures."""
    both = set[tuple[int, int]]()
    figures = set[int]()
    for line in lines:
        if len(line.segments) > 1:
            hit = [(at, one) for one in line.segments for at in _find_columns(one, columns)]
            figures |= {at for at, one in hit if _FIGURE.fullmatch(one.text)}
            both |= {(at, other) for (at, one), (other, more) in pairwise(hit) if one is not more}
    merged = columns[:1]
    for at in range(1, len(columns)):
        if (at - 1, at) in both or {at - 1, at} <= figures:
            merged.append(columns[at])
        else:
            merged[-1] = merged[-1][0], max(columns[at][1], merged[-1][1])
    return merged


def _find_columns(segment: Segment, columns: Sequence[tuple[float, float]]) -> list[int]:
    hit = [at for at, (x0, x1) in enumerate(columns) if segment.x0 < x1 and x0 < segment.x1]
    middle = (segment.x0 + segment.x1) / 2
    return hit or [min(range(len(columns)), key=lambda at: abs(sum(columns[at]) / 2 - middle))]


def _count_headers(placed: Sequence[tuple[Line, dict[int, Segment]]]) -> int:
    """Return how many lines precede the first row with a label and figures, none if that is not soon."""
    for at, (line, _) in enumerate(placed[:9]):
        if _values(line) and not _FIGURE.fullmatch(line.segments[0].text):
            while at and not any(column for column in placed[at - 1][1]):
                at -= 1  # a heading of the rows that follow
            return at
    first = placed[0][0]
    return int(len(first.segments) > 1 and not any(_FIGURE.fullmatch(one.text) for one in first.segments))


def _head(placed: Sequence[tuple[Line, dict[int, Segment]]], columns: int) -> list[str]:
    """Return the header of each column, which may be written in several lines."""
    head = []
    for column in range(columns):
        texts = [cells[column].text for _, cells in placed if column in cells]
        head.append(" ".join(dict.fromkeys(texts)))
    return head


def _is_year(cell: str) -> bool:
    return len(cell) == 4 and cell.isdigit() and 1900 <= int(cell) <= 2100


def _belongs(
    before: tuple[Line, dict[int, Segment]], row: tuple[Line, dict[int, Segment]], right: Sequence[float]
) -> bool:
    """Return whether a line goes on with the row above it, whose cells are written in several lines."""
    (upper, above), (lower, below) = before, row
    if upper.y - lower.y > 1.45 * max(lower.size, upper.size) or not below:
        return False
    first = min(below)
    if first not in above or above[first].text.endswith(":"):
        return False
    text, start = above[first], below[first]
    if _values(lower):
        # A label of two lines has its figures beside the second.
        full = text.x1 > right[first] - 3 * upper.size and len(text.text) > 30
        indented = start.x0 > text.x0 + 0.5 * lower.size and len(text.text) > 30
        return len(above) == 1 + (0 in above and first > 0) and (start.text[:1].islower() or full or indented)
    if len(below) == 1 and first == 0:
        return start.text[:1].islower()
    return all(at in above and abs(one.x0 - above[at].x0) < 1.5 * lower.size for at, one in below.items()) and (
        first > 0 or start.text[:1].islower()
    )


def _paragraphs(lines: Sequence[Line]) -> Iterator[list[str]]:
    if not lines:
        return
    leading = _line_distance(lines)
    right = sorted(one.x1 for one in lines)[int(0.9 * (len(lines) - 1))]
    left = Counter(round(one.x0) for one in lines).most_common(1)[0][0]
    current = [lines[0]]
    for line in lines[1:]:
        before = current[-1]
        step = before.y - line.y
        full = before.x1 > right - 0.15 * (right - left) - 2 * before.size
        begins = (
            step > 1.3 * leading
            or step < 0
            or abs(line.size - before.size) > 0.18 * max(line.size, before.size)
            or bool(_BULLET.match(line.text))
            or (not full and (before.text[-1:] in '.!?:;”"' or not line.text[:1].islower()))
            or (line.x0 > before.x0 + 0.8 * line.size and before.text[-1:] in '.!?:”"')
            or (line.x0 > before.x0 + 2 * line.size and not _BULLET.match(current[0].text))
            or line.x0 < before.x0 - 5 * line.size
        )
        if begins:
            yield [one.text for one in current]
            current = []
        current.append(line)
    yield [one.text for one in current]


def _line_distance(lines: Sequence[Line]) -> float:
    """Return the usual distance of lines."""
    steps = [before.y - line.y for before, line in pairwise(lines) if before.y > line.y]
    near = [one for one in steps if one < 3 * median(line.size for line in lines)]
    if not near:
        return 1.2 * lines[0].size
    return Counter(round(one * 2) / 2 for one in near).most_common(1)[0][0]
