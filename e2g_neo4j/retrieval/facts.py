"""Facts: relationships of the user's graph around a question's entities."""

from __future__ import annotations

from typing import Any

from e2g_neo4j.types.results import Fact

MAX_FACTS = 25
"""Maximum number of facts in the evidence."""

LONGEST_VALUE = 200
"""Maximum characters of a property of a fact, or of a list of values."""


def fact_of(row: dict[str, Any]) -> Fact:
    """Convert a row of `facts.cypher`."""
    return Fact(
        subject=row["subject"],
        subject_id=row["subject_id"],
        relationship=row["relationship"],
        object=row["object"],
        object_id=row["object_id"],
        properties={name: format_value(value) for name, value in sorted(row["properties"].items())},
        entities=tuple(sorted(set(row["entities"]))),
    )


def format_value(value: Any) -> str:
    """Format a property value, truncated to LONGEST_VALUE characters."""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text[:LONGEST_VALUE]
