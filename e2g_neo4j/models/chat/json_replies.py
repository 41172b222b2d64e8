"""Read JSON in replies of chat models, which may put it between other text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MOST_DIGITS = 9
"""Maximum digits of a number that is written as text."""

LONGEST_TEXT = 100
"""Characters of a short text, such as a keyword, that are used."""


def object_schema(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object that has all of these properties and no others."""
    return {
        "title": "reply",
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def list_schema(items: Mapping[str, Any], most: int, *, least: int = 0) -> dict[str, Any]:
    """Return the JSON schema of a list of at most, and at least, so many items."""
    return {"type": "array", "items": items, "maxItems": most} | ({"minItems": least} if least else {})


def number_schema(least: int, most: int) -> dict[str, Any]:
    """Return the JSON schema of a whole number within limits."""
    return {"type": "integer", "minimum": least, "maximum": most}


TEXT: Mapping[str, Any] = {"type": "string"}
"""The JSON schema of a text."""


def objects_in(text: str) -> list[dict[str, Any]]:
    """Return the JSON objects of a text, in order. Of an object that is broken, those inside it are returned. Texts in
    them may have line breaks."""
    decoder = json.JSONDecoder(strict=False)
    found: list[dict[str, Any]] = []
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            found.append(value)
        at = text.find("{", end)
    return found


def find_list(text: str, name: str, of_item: str) -> tuple[list[object], bool]:
    """Return the items of the last list with this name in a text, and whether there is one. Of a text that was cut off,
    the items are the objects with the field `of_item`."""
    items: list[object] = []
    said = False
    for one in objects_in(text):
        listed = one.get(name)
        if isinstance(listed, list):
            items, said = listed, True
        elif of_item in one and not said:
            items.append(one)
    return items, said


def example_texts(instructions: str) -> frozenset[str]:
    """Return all texts in the JSON examples of a prompt. Small models send them back as if they had read them."""
    texts: set[str] = set()
    values: list[Any] = list(objects_in(instructions))
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values += value.values()
        elif isinstance(value, list):
            values += value
        elif isinstance(value, str):
            texts.add(value)
    return frozenset(texts)


def whole_number(value: object) -> int | None:
    """Return a value as a whole number: 3, 3.0 or "3". None if it is anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = value.strip()
        return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) else None


def valid_numbers(values: object, most: int) -> list[int] | None:
    """Return the numbers from 1 to `most` of a list, each once. None if it is no list, or all its items are invalid."""
    if not isinstance(values, list):
        return None
    numbers = [number for number in map(whole_number, values) if number is not None and 1 <= number <= most]
    return list(dict.fromkeys(numbers)) if numbers or not values else None


def short_texts(value: object, most: int) -> tuple[str, ...]:
    """Return the first texts of a list, or of a text with commas, each once and cut to LONGEST_TEXT characters."""
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    texts = (" ".join(_characters(one).split())[:LONGEST_TEXT] for one in items if isinstance(one, str))
    return tuple(dict.fromkeys(text for text in texts if text))[:most]


def _characters(text: str) -> str:
    """Return a text without unpaired surrogates, which JSON may have, but no database or model accepts."""
    return "".join(one for one in text if not "\ud800" <= one <= "\udfff")
