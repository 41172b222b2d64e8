"""Facts that files declare about themselves, as properties of documents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from e2g_neo4j.documents.reading import count
from e2g_neo4j.errors import InputError
from e2g_neo4j.types.properties import (
    MAX_BYTES,
    MAX_NAME,
    MAX_PROPERTIES,
    Property,
    check_list,
    check_properties,
    size_of,
)


def fit_properties(given: Mapping[Any, Any]) -> tuple[dict[str, Property], list[str]]:
    """Return those facts that can be properties, and the loss of the others.

    Null is left out. An object becomes one property for each of its values, called `object.value`. A list of values of
    several types becomes JSON.
    """
    fitting: dict[str, Property] = {}
    lost: list[str] = []
    size = 0
    for name, value in _flat(given):
        try:
            checked = check_properties({name: _simple(value)})
        except (InputError, ValueError, RecursionError):
            checked = {}
        size += size_of(checked)
        if checked and len(fitting) < MAX_PROPERTIES and size <= MAX_BYTES:
            fitting |= checked
        else:
            lost.append(name[:40])
    named = ", ".join(map(repr, lost[:3])) + (", …" if len(lost) > 3 else "")
    rest = f"cannot be kept, for a name or value that is not allowed or for lack of space ({named})"
    return fitting, count(len(lost), "property", rest, "properties")


def _flat(given: Mapping[Any, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in given.items():
        path = f"{before}{name}"
        if isinstance(value, dict) and value and len(path) < MAX_NAME:
            yield from _flat(value, f"{path}.")
        elif value is not None and value != {}:
            yield path, value


def _simple(value: Any) -> Any:
    if isinstance(value, date):
        return str(value)
    if isinstance(value, list):
        values = [str(one) if isinstance(one, date) else one for one in value if one is not None]
        try:
            return check_list(values, "")
        except InputError:
            value = values
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, dict | list) else value
