"""Tables with merged cells."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from e2g_neo4j.documents.links import length

Cell: TypeAlias = tuple[str, int, int]
"""The text of a cell, and how many columns and rows it covers."""

WIDEST = 1000
"""Columns from which on cells cover one column each, and the most that a cell covers, as in browsers."""

LONGEST_REPEATED = 200
"""Characters of a merged cell that is repeated. A longer one is only in the first row and column that it covers."""

MOST_REPEATED = 200_000
"""How many cells of a table are repeated in the rows below."""


def fill_grid(rows: Sequence[Sequence[Cell]]) -> Iterator[list[str]]:
    """Yield the cells of each row of a table. A merged cell is in each row and column that it covers.

    Columns in which no cell begins are left out, and so are the repetitions of a cell that covers the whole row.
    """
    placed = _place(rows)
    starts = sorted({start for row in placed for start, *_ in row})
    for row in placed:
        cells: list[str] = []
        for start, across, text in row:
            at = bisect_left(starts, start)
            cells += [""] * (at - len(cells))
            more = bisect_left(starts, start + across) - at - 1
            whole = len(row) == 1 or length(text) > LONGEST_REPEATED
            cells += [text, *([] if whole and len(row) == 1 else ["" if whole else text] * more)]
        yield cells


def _place(rows: Sequence[Sequence[Cell]]) -> list[list[tuple[int, int, str]]]:
    """Return column, width and text of the cells of each row, also of those that begin in rows above."""
    found: list[list[tuple[int, int, str]]] = []
    pending: list[tuple[int, int, str, int]] = []  # column, width, text and the rows that are left, by column
    left = MOST_REPEATED
    for row in rows:
        above = [(start, across, text) for start, across, text, _ in pending]
        left -= len(above)
        placed: list[tuple[int, int, str]] = []
        still = [(start, across, text, down - 1) for start, across, text, down in pending if down > 1]
        column = at = 0
        for text, wide, down in row:
            while at < len(above) and above[at][0] <= column:
                placed.append(above[at])
                column = max(column, above[at][0] + above[at][1])
                at += 1
            across = 1 if column >= WIDEST else min(wide, WIDEST)
            if at < len(above):
                across = min(across, above[at][0] - column)
            placed.append((column, across, text))
            if down > 1:
                still.append((column, across, text if length(text) <= LONGEST_REPEATED else "", down - 1))
            column += across
        placed += above[at:]
        found.append(placed)
        pending = sorted(still) if left > 0 else []
    return found


def header_rows(rows: Sequence[Sequence[str]], marked: Sequence[bool]) -> int:
    """Return how many rows at the beginning of a table say what its columns are.

    Args:
        rows: the texts of the cells of each row.
        marked: whether each row is marked as a header. If none is, the first row is one if it alone has no figures.
    """
    number = next((at for at, one in enumerate(marked) if not one), len(marked))
    if number or len(rows) < 2:
        return number if number < len(rows) else 0
    figures = [any(any(sign.isdigit() for sign in text) for text in row) for row in rows[:50]]
    return int(not figures[0] and all(rows[0]) and sum(figures) * 2 > len(figures))
