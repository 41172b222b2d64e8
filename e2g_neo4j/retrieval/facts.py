"""Facts: relationships of the user's graph around a question's entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from neo4j.vector import Vector

from e2g_neo4j.errors import QueryError
from e2g_neo4j.runtime.requests import Operation, read_each
from e2g_neo4j.types.ids import did_you_mean
from e2g_neo4j.types.results import Fact

MAX_FACTS = 25
"""Maximum number of facts in the evidence."""

LONGEST_VALUE = 200
"""Maximum characters of a property of a fact, or of a list of values."""

LEAST_DIMENSIONS = 32
"""A list of at least so many numbers is taken for an embedding."""


def fact_of(row: dict[str, Any]) -> Fact:
    """Convert a row of `facts.cypher`."""
    return Fact(
        subject=row["subject"],
        subject_id=row["subject_id"],
        relationship=row["relationship"],
        object=row["object"],
        object_id=row["object_id"],
        properties={
            name: format_value(value) for name, value in sorted(row["properties"].items()) if not is_vector(value)
        },
        entities=tuple(sorted(set(row["entities"]))),
    )


def is_vector(value: Any) -> bool:
    """Return whether a property is an embedding, which tells nobody anything."""
    numbers = isinstance(value, list) and len(value) >= LEAST_DIMENSIONS
    numbers = numbers and all(isinstance(one, int | float) for one in value)
    return numbers or isinstance(value, Vector)


def format_value(value: Any) -> str:
    """Format a property value, truncated to LONGEST_VALUE characters."""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text[:LONGEST_VALUE]


def read_facts(types: Sequence[str], entities: Mapping[str, Sequence[str]]) -> Operation[tuple[Fact, ...]]:
    """Read the facts of these types around entities.

    Args:
        types: Relationship types; without any, there are no facts.
        entities: The entities of each corpus.

    Raises:
        QueryError: The database does not know one of the types.
    """
    facts: tuple[Fact, ...] = ()
    if types and any(entities.values()):
        parameters = {
            corpus: {"names": list(keys), "types": list(types), "limit": MAX_FACTS} for corpus, keys in entities.items()
        }
        facts = tuple(dict.fromkeys(map(fact_of, (yield from read_each("query/facts", parameters)))))[:MAX_FACTS]
    if types and not facts:
        yield from _check_types(types, list(entities))
    return facts


def _check_types(types: Sequence[str], corpora: Sequence[str]) -> Operation[None]:
    """Raise QueryError if the database does not know one of these types."""
    rows = yield from read_each("query/relationship_types", {corpus: {"types": list(types)} for corpus in corpora})
    for missing in rows[0]["missing"]:
        linked = sorted({type for row in rows for type in row["linked"]})
        raise QueryError(
            f"The database has no relationships of the type {missing!r}.{did_you_mean(missing, linked)} Pass types of "
            "your own graph."
        )
