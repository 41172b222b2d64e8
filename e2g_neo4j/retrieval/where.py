"""Conditions on the properties of documents: what they are, and how they are written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from e2g_neo4j.errors import InputError
from e2g_neo4j.types.properties import MAX_VALUES, PREFIX, Scalar, check_name, check_scalar, parse_value

Operator: TypeAlias = Literal["=", "<", "<=", ">", ">="]

OPERATORS: tuple[Operator, ...] = get_args(Operator)

MAX_CONDITIONS = 50
"""Maximum number of conditions of a question."""

MAX_CONDITION = 20_000
"""Maximum characters of a condition that is written as a text."""

SHOWN, LONGEST_SHOWN = 5, 60
"""Maximum number of values of a condition, and characters of each, in explanations."""

Where: TypeAlias = (
    Mapping[str, Scalar | Sequence[Scalar] | Mapping[Operator, Scalar]] | Sequence["str | Condition | Sequence[Any]"]
)
"""Conditions that all must hold: values by name, or texts such as `year>=1890`."""

WHERE_SCHEMA: dict[str, Any] = {
    "description": "Search only documents whose properties meet all conditions.",
    "anyOf": [
        {
            "type": "object",
            "description": 'By name: a value, a list of values, or as {"year": {">=": 1890}}.',
        },
        {"type": "array", "items": {"type": "string"}, "description": "Conditions such as year>=1890."},
    ],
}
"""The JSON schema of conditions."""

_OPERATOR = re.compile(r"<=|>=|==?|<|>")


class Condition(NamedTuple):
    """A condition on a property of a document.

    Attributes:
        operator: How it is compared.
        values: The values of which one must be equal; for other operators, one value.
    """

    name: str
    operator: Operator
    values: tuple[Scalar, ...]

    def parameter(self) -> dict[str, Any]:
        """Return the condition as `query/matching_documents.cypher` takes it."""
        return {"property": PREFIX + self.name, "operator": self.operator, "values": list(self.values)}

    def __str__(self) -> str:
        written = [json.dumps(value, ensure_ascii=False) for value in self.values[:SHOWN]]
        written = [value if len(value) <= LONGEST_SHOWN else f"{value[:LONGEST_SHOWN]}…" for value in written]
        if len(self.values) > SHOWN:
            written.append(f"{len(self.values) - SHOWN} other values")
        return f"{self.name} {self.operator} {' or '.join(written)}"


def conditions(where: Any) -> tuple[Condition, ...]:
    """Return the conditions of a filter.

    Args:
        where: A mapping from names of properties to a value, a list of values of which one must be equal, or a mapping
            from operators to values; or a list of texts such as `year>=1890`, conditions, or their name, operator and
            values.

    Raises:
        ValueError: The filter is invalid.
    """
    try:
        given = _of_mapping(where) if isinstance(where, Mapping) else _of_list(where)
        found = list(islice(given, MAX_CONDITIONS + 1))
    except InputError as error:
        raise ValueError(str(error)) from None
    if len(found) > MAX_CONDITIONS:
        raise ValueError(f"where has more than {MAX_CONDITIONS} conditions: choose at most {MAX_CONDITIONS}.")
    return tuple(dict.fromkeys(found))


def _of_mapping(where: Mapping[Any, Any]) -> Iterator[Condition]:
    for name, value in where.items():
        if isinstance(value, Mapping):
            if not value:
                raise InputError(f"The condition on {name!r} is empty: name a value.")
            for operator, operand in value.items():
                yield _condition(name, operator, operand)
        else:
            yield _condition(name, "=", value)


def _of_list(where: Any) -> Iterator[Condition]:
    if isinstance(where, str) or not isinstance(where, Sequence):
        raise InputError('where must be conditions by name, such as {"year": 1897}, or a list such as ["year>=1890"].')
    for one in where:
        if isinstance(one, str):
            yield parse_condition(one)
        elif isinstance(one, Sequence) and len(one) == 3:
            yield _condition(*one)
        else:
            raise InputError(
                f"{format_value(one)} is no condition: write NAME, an operator and a value, such as year>=1890."
            )


def parse_condition(text: str) -> Condition:
    """Return the condition of a text such as `year>=1890`. The value is JSON, or else a text.

    Raises:
        InputError: The text is too long or has no operator, or name or value are invalid.
    """
    if len(text) > MAX_CONDITION:
        raise InputError(f"A condition has {len(text)} characters; the maximum is {MAX_CONDITION}: shorten it.")
    stripped = text.strip()
    found = _OPERATOR.search(stripped, 1)  # a name has at least one character
    if not found:
        raise InputError(
            f"{format_value(text)} is no condition: write NAME, one of {' '.join(OPERATORS)} and a value, such as "
            'year>=1890 or author="Bram Stoker".'
        )
    name, operator, value = stripped[: found.start()].rstrip(), found[0], stripped[found.end() :].lstrip()
    if value.startswith(("<", ">", "=", "!")):
        raise InputError(
            f"{format_value(text)} has no valid operator: choose among {' '.join(OPERATORS)}. Quote a value that "
            "begins with one of their characters."
        )
    return _condition(name, operator.replace("==", "="), parse_value(value))


def format_value(value: Any) -> str:
    """Return a value for an error message, cut if it is long."""
    written = repr(value[: LONGEST_SHOWN + 1] if isinstance(value, str | list | tuple) else value)
    return written if len(written) <= LONGEST_SHOWN else f"{written[:LONGEST_SHOWN]}…"


def _condition(name: Any, operator: Any, value: Any) -> Condition:
    name = check_name(name)
    if name.endswith("!") or operator not in OPERATORS:
        written = "!=" if name.endswith("!") else operator
        raise InputError(f"There is no operator {format_value(written)}: choose among {' '.join(OPERATORS)}.")
    what = f"The condition on {name!r}"
    several = isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)
    if several and len(value) > MAX_VALUES:
        raise InputError(f"{what} has {len(value)} values; the maximum is {MAX_VALUES}.")
    values = tuple(check_scalar(one, what) for one in (value if several else (value,)))
    if not values:
        raise InputError(f"{what} has an empty list: name the values.")
    if operator != "=" and (len(values) > 1 or isinstance(values[0], bool)):
        raise InputError(f"{what} compares with {operator}: name one number or text.")
    return Condition(name, operator, values)
