"""JSON Lines: one document a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from e2g_neo4j.documents.headings import chapters
from e2g_neo4j.documents.properties import fit_properties
from e2g_neo4j.documents.reading import Limits, Reading
from e2g_neo4j.documents.text import quote_path, within
from e2g_neo4j.errors import ReadingError

_FIELDS = ("id", "properties", "text", "title")


def read_each(path: Path, limits: Limits) -> Iterator[tuple[str, Reading | ReadingError]]:
    """Yield the place and the document of each line: an object with `text` and perhaps `title`, `id`, `properties`.

    The title is put before the text, so that passages that only say "he" or "the town" can be found by it; offsets
    include it. Fields of other names become properties, as far as they can. The key is the id, or else the number of
    the line.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file, _longest(limits.bytes)), 1):
            if line.strip():
                place = f"line {number}"
                try:
                    what = f"{quote_path(path)}, {place}"
                    yield place, document(_parse(line, what, limits.bytes), number, what)
                except ReadingError as error:
                    yield place, error


def document(row: Any, number: int, what: str) -> Reading:
    """Return the document of an object. Raise ReadingError, which begins with `what`, if it is none with a text."""
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise ReadingError(f'{what} has no "text". Each must be an object such as {{"title": "…", "text": "…"}}.')
    text, title, given = row["text"], row.get("title"), row.get("properties")
    if title and text.strip():
        text = f"{title}\n\n{text}"
    declared = isinstance(given, dict)
    others = {
        name: value for name, value in row.items() if name not in _FIELDS or (name == "properties" and not declared)
    }
    fitting, losses = fit_properties({**others, **(given if isinstance(given, dict) else {})})
    key = str(number if row.get("id") is None else row["id"])
    properties = fitting if fitting or declared else None
    return Reading(text, str(title) if title else None, chapters(text), properties, losses, key)


def _parse(line: bytes, what: str, max_bytes: int) -> Any:
    within(len(line), _longest(max_bytes), f"{what},")
    try:
        return json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ReadingError(f"{what} is not JSON in UTF-8: {error}. Correct it.") from error


def _lines(file: BinaryIO, longest: int) -> Iterator[bytes]:
    """Yield the lines of a file; of a line with more than `longest` bytes, one byte more than these."""
    while line := file.readline(longest + 1):
        yield line
        while len(line) > longest and not line.endswith(b"\n"):
            line = file.readline(longest + 1)


def _longest(max_bytes: int) -> int:
    """Return the maximum size of a line. JSON may take six bytes to write one."""
    return 6 * max_bytes + 2**16
