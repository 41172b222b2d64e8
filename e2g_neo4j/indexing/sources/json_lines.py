"""JSON Lines: one document a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from e2g_neo4j.errors import ReadingError
from e2g_neo4j.indexing.sources.text import shown, within

FIELDS = ("id", "properties", "text", "title")
"""The fields of a line."""


def lines(path: Path, max_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the content of each line that is not empty. What is too long to be parsed is cut off.

    Args:
        path: the file.
        max_bytes: the maximum size of the text of a line.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file, _longest(max_bytes)), 1):
            if line.strip():
                yield number, line


def parse(line: bytes, what: str, max_bytes: int) -> Mapping[str, Any]:
    """Return the object of a line. Raises ReadingError, which begins with `what`, if it is not an object with text."""
    within(len(line), _longest(max_bytes), f"{what},")
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ReadingError(f"{what} is not JSON in UTF-8: {error}. Correct it.") from error
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise ReadingError(f'{what} has no "text". Each line must be an object such as {{"title": "…", "text": "…"}}.')
    return row


def warn_of_unknown(fields: Iterable[str], path: Path) -> str | None:
    """Return a warning that names the fields that are not read, or None if there are none."""
    names = sorted(set(fields) - set(FIELDS))
    if not names:
        return None
    listed = ", ".join(shown(name[:60]) for name in names[:10]) + (" and others" if len(names) > 10 else "")
    return (
        f"{shown(path)} has fields that are not read: {listed}. Read are {', '.join(FIELDS)}: put others into "
        "`properties`."
    )


def _lines(file: BinaryIO, longest: int) -> Iterator[bytes]:
    """Yield the lines of a file; of a line with more than `longest` bytes, one byte more than these."""
    while line := file.readline(longest + 1):
        yield line
        while len(line) > longest and not line.endswith(b"\n"):
            line = file.readline(longest + 1)


def _longest(max_bytes: int) -> int:
    """Return the maximum size of a line. JSON may take six bytes to write one."""
    return 6 * max_bytes + 2**16
