"""Cells of tables: as a person sees them, with merged ones repeated, and without what is empty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from e2g_neo4j.documents.builder import Builder

Place = tuple[int, int]
"""The row and the column of a cell, from 0 on."""


def write_value(value: Any) -> str:
    """Return a value as a person sees it: 3 for 3.0, and no time for a day."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 2**53 else f"{value:.15g}"
        case datetime():
            value = (value + timedelta(microseconds=500_000)).replace(microsecond=0, tzinfo=None)
            day, clock = value.date().isoformat(), value.time().isoformat().removesuffix(":00")
            return day if clock == "00:00" else f"{day} {clock}"
        case date():
            return value.isoformat()
        case time():
            return value.isoformat("seconds")
    return str(value)


def repeat_merged(rows: Sequence[list[str]], merged: Iterable[tuple[Place, Place]]) -> None:
    """Write the value of each merged cell, given by its first and its last place, into all that it covers."""
    left = sum(map(len, rows))  # valid ones do not overlap
    for (top, start), (bottom, end) in merged:
        value = rows[top][start] if top < len(rows) and start < len(rows[top]) else ""
        for row in rows[top : bottom + 1] if value else ():
            covered = range(start, min(end + 1, len(row)))
            if (left := left - len(covered) - 1) < 0:
                return
            for column in covered:
                row[column] = row[column] or value


def add_tables(builder: Builder, rows: Iterable[Sequence[str]]) -> None:
    """Add a sheet: a table for each block of rows between empty ones. Lines above its columns become paragraphs."""
    for block in _blocks(rows):
        first = next((number for number, row in enumerate(block) if sum(map(bool, row)) > 1), len(block))
        builder.add("\n".join("".join(row) for row in block[:first]))
        used = {column for row in block[first:] for column, cell in enumerate(row) if cell.strip()}
        builder.table([cell for column, cell in enumerate(row) if column in used] for row in block[first:])


def _blocks(rows: Iterable[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    block: list[Sequence[str]] = []
    for row in rows:
        if any(cell.strip() for cell in row):
            block.append(row)
        elif block:
            yield block
            block = []
    if block:
        yield block
