"""The properties that users give to documents.

A document node keeps each of them as a property of its own, whose name begins with PREFIX, so that `author` is
`d.meta_author` in Cypher.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from e2g_neo4j.errors import InputError

Scalar: TypeAlias = str | int | float | bool
Property: TypeAlias = Scalar | Sequence[str] | Sequence[int] | Sequence[float] | Sequence[bool]
"""The value of a property: a text, a number, a boolean, or a list of one of these types."""

StoredProperty: TypeAlias = Scalar | tuple[Scalar, ...]
"""A property of a document in the database. A list is a tuple."""

Properties: TypeAlias = Mapping[str, Property]
"""Properties by name."""

PREFIX = "meta_"
"""What the names begin with in the database, so that they are never those of this program.
`query/properties` and `fragments/document_rows` have it too."""

MAX_PROPERTIES = 100
"""Maximum number of properties of a document."""

MAX_NAME = 100
"""Maximum characters of the name of a property."""

MAX_TEXT = 10_000
"""Maximum characters of a text."""

MAX_VALUES = 1_000
"""Maximum number of values of a list."""

MAX_BYTES = 2**16
"""Maximum bytes of all properties of a document, as JSON."""

_NOT_TEXT = re.compile("[\0\ud800-\udfff]")


def check_name(name: Any) -> str:
    """Return the name of a property. Raise InputError if it is none."""
    if isinstance(name, str) and len(name) > MAX_NAME:
        raise InputError(f"The name of the property {name[:40]}… has more than {MAX_NAME} characters: shorten it.")
    if not isinstance(name, str) or not name.strip() or not _is_text(name):
        raise InputError(f"{name!r} cannot be the name of a property: choose a text without control characters.")
    return name


def check_scalar(value: Any, what: str) -> Scalar:
    """Return a value. Raise InputError if it is no text, number or boolean that the database can hold.

    Args:
        what: The beginning of the error message, such as "The property year".
    """
    match value:
        case bool():
            return value
        case int():
            if -(2**63) <= value < 2**63:
                return value
            raise InputError(f"{what} has a number of more than 64 bits: write it as a text.")
        case float():
            if math.isfinite(value):
                return value
            raise InputError(f"{what} has the number {value}: leave it out.")
        case str():
            if len(value) > MAX_TEXT:
                raise InputError(f"{what} has a text of more than {MAX_TEXT} characters: shorten it.")
            if _is_text(value):
                return value
            raise InputError(f"{what} has a text with NUL characters or halves of surrogate pairs: correct it.")
    raise InputError(f"{what} has a value of type {type(value).__name__}: use a text, a number, true or false.")


def check_names(given: Any) -> tuple[str, ...]:
    """Return names of properties, each once. Raise InputError if one is invalid, or there are too many."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputError(f"{given!r} is no list of names of properties: use a list such as ['author', 'year'].")
    names = tuple(dict.fromkeys(map(check_name, given)))
    if len(names) > MAX_PROPERTIES:
        raise InputError(f"{len(names)} properties are named; a document can have at most {MAX_PROPERTIES}.")
    return names


def check_properties(given: Any) -> Properties:
    """Return properties as an immutable mapping in the order of their names. Lists become tuples.

    Raises:
        InputError: A name or value is invalid, or there are too many, or they are too large.
    """
    if not isinstance(given, Mapping):
        raise InputError(f"The properties are of type {type(given).__name__}: use an object with names and values.")
    if len(given) > MAX_PROPERTIES:
        raise InputError(f"A document has {len(given)} properties; the maximum is {MAX_PROPERTIES}.")
    checked = {check_name(name): _check_value(value, f"The property {name!r}") for name, value in given.items()}
    if (size := size_of(checked)) > MAX_BYTES:
        raise InputError(
            f"The properties of a document have {size} bytes as JSON; the maximum is {MAX_BYTES}: leave some out, or "
            "put long texts into the document."
        )
    return MappingProxyType(dict(sorted(checked.items())))


def size_of(properties: Mapping[str, Any]) -> int:
    """Return the bytes of properties as JSON."""
    return len(json.dumps(dict(properties), ensure_ascii=False).encode())


def _check_value(value: Any, what: str) -> Property:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return check_list(value, what)
    return check_scalar(value, what)


def check_list(given: Sequence[Any], what: str) -> tuple[Any, ...]:
    """Return the values of a list, which are all of one type. Raise InputError if a document cannot have it.

    Args:
        what: The beginning of the error message, such as "The property year".
    """
    if len(given) > MAX_VALUES:
        raise InputError(f"{what} has {len(given)} values; the maximum is {MAX_VALUES}.")
    values = [check_scalar(one, what) for one in given]
    kinds = {type(one) for one in values}
    if kinds == {int, float}:
        values = [float(one) for one in values]
    elif len(kinds) > 1:
        raise InputError(f"{what} has values of several types: use texts, numbers or booleans only.")
    return tuple(values)


def _is_text(text: str) -> bool:
    return not _NOT_TEXT.search(text)


def to_stored(properties: Properties) -> dict[str, Any]:
    """Return properties as the database has them."""
    return {PREFIX + name: list(value) if isinstance(value, tuple) else value for name, value in properties.items()}


def from_stored(node: Mapping[str, Any]) -> dict[str, StoredProperty]:
    """Return the properties of the user among those of a document node."""
    own = {name.removeprefix(PREFIX): value for name, value in node.items() if name.startswith(PREFIX)}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in sorted(own.items())}


def as_json(properties: Properties | None) -> str | None:
    """Return properties as text, for documents that are not published yet. None: none are given."""
    return None if properties is None else json.dumps(dict(properties), ensure_ascii=False)


def same(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Return whether two documents have the same properties. 1, 1.0 and true are not the same."""
    return repr(sorted(first.items())) == repr(sorted(second.items()))


def parse_value(text: str) -> Any:
    """Return a value as it is written on a command line: JSON, or else a text."""
    try:
        value = json.loads(text, parse_constant=lambda name: name)
    except (ValueError, RecursionError):
        return text
    return text if value is None or isinstance(value, dict) else value


def parse_property(text: str) -> tuple[str, Any]:
    """Return name and value of `NAME=VALUE`. Raise InputError if there is no `=`."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f'{text!r} is no property: write NAME=VALUE, such as author="Bram Stoker" or year=1897.')
    return name.strip(), parse_value(value.strip())
