"""JSON: documents, a table, or lines such as `a.b: value`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from e2g_neo4j.documents.builder import Builder
from e2g_neo4j.documents.json_lines import document
from e2g_neo4j.documents.reading import Limits, Reading
from e2g_neo4j.documents.text import decode, quote_path, read_bytes
from e2g_neo4j.errors import ReadingError

_DEPTH = 100
"""How deep values may be nested."""

_COLUMNS = 100
"""Maximum columns of a table."""


def read_each(path: Path, limits: Limits) -> Iterator[tuple[str, Reading | ReadingError]]:
    """Yield the documents of an array of objects with `text`, as in JSON Lines, or else one document of all values."""
    text, losses = decode(read_bytes(path, limits.bytes), path)
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise ReadingError(f"{quote_path(path)} is nested too deeply. Save its inner values.") from error
    except ValueError as error:
        raise ReadingError(f"{quote_path(path)} is not JSON: {' '.join(str(error).split())}. Correct it.") from error
    rows = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    if rows and len(rows) == len(found) and 2 * sum(isinstance(row.get("text"), str) for row in rows) >= len(rows):
        for number, row in enumerate(rows, 1):
            place = f"object {number}"
            try:
                yield place, document(row, number, f"{quote_path(path)}, {place}")
            except ReadingError as error:
                yield place, error
    else:
        reading = _values(found, rows, path, limits)
        yield "its values", replace(reading, losses=[*reading.losses, *losses])


def _values(found: Any, rows: list[dict[str, Any]], path: Path, limits: Limits) -> Reading:
    builder = Builder(path, limits)
    names = list(dict.fromkeys(name for row in rows for name in row))
    flat = rows and not any(isinstance(value, dict | list) for row in rows for value in row.values())
    if flat and len(rows) == len(found) and len(names) <= min(_COLUMNS, 2 * sum(map(len, rows)) // len(rows)):
        builder.table([names, *([_format_value(row.get(name)) for name in names] for row in rows)])
    else:
        for one in found if rows else [found]:
            builder.add("\n".join(_lines(one, "", path, 0)))
    title = found.get("title") if isinstance(found, dict) else None
    return builder.build(title if isinstance(title, str) else None)


def _lines(value: Any, name: str, path: Path, depth: int) -> Iterator[str]:
    """Yield a line for each value, with the names that lead to it."""
    if depth > _DEPTH:
        raise ReadingError(f"{quote_path(path)} is nested more than {_DEPTH} deep. Save its inner values.")
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _lines(one, f"{name}.{key}" if name else key, path, depth + 1)
    elif isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        for number, one in enumerate(value, 1):
            yield from _lines(one, f"{name}[{number}]", path, depth + 1)
    elif text := ", ".join(map(_format_value, value)) if isinstance(value, list) else _format_value(value):
        yield f"{name}: {text}" if name else text


def _format_value(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
