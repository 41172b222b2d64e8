"""Read properties of nodes of the user's graph as properties of documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from neo4j.time import Date, DateTime, Duration, Time

from e2g_neo4j.errors import InputError
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.requests import Operation, Read
from e2g_neo4j.types.properties import Property, check_list, check_scalar

NODES = 500
"""Nodes whose properties one statement reads."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The document that a node gives its properties to: its name, and its title for error messages."""

    document: str
    title: str


@dataclass(slots=True)
class NodeProperties:
    """Properties by the names of documents, and the number of documents that have several values, by property."""

    by_document: dict[str, dict[str, Property]] = field(default_factory=dict)
    several: Counter[str] = field(default_factory=Counter)


def read_properties(owners: Mapping[str, Owner], names: Sequence[str], kind: str) -> Operation[NodeProperties]:
    """Read properties of nodes. A document whose nodes have different values of a property gets all of them as a list.

    Args:
        owners: The documents by the element ids of the nodes.
        kind: What the nodes are, for error messages, such as "text node".

    Raises:
        InputError: A document cannot have a value, or no node has a property of a name.
    """
    values: dict[tuple[str, str], dict[str, Property]] = {}
    for nodes in split_batches(owners, NODES):
        for row in (yield Read("adopt/properties", {"nodes": nodes, "names": list(names)})):
            owner = owners[row["node"]]
            for name, value in zip(names, row["values"], strict=True):
                if value is not None:
                    what = f"The property {name!r} of the node {row['node']} of the document {owner.title!r}"
                    checked = _check_value(value, what)
                    values.setdefault((owner.document, name), {})[repr(checked)] = checked
    having = {name for _, name in values}
    if missing := [name for name in names if name not in having]:
        raise InputError(
            f"No {kind} has a property {missing[0]!r}. Nothing was changed. Check its spelling in the database."
        )
    titles = {owner.document: owner.title for owner in owners.values()}
    found = NodeProperties()
    for (document, name), different in values.items():
        if len(different) > 1:
            found.several[name] += 1
            what = f"The property {name!r} of the text nodes of the document {titles[document]!r}"
            value = _together(different.values(), what)
        else:
            [value] = different.values()
        found.by_document.setdefault(document, {})[name] = value
    return found


def _check_value(value: Any, what: str) -> Property:
    """Return a value as a property of a document. Dates and times become ISO 8601 texts."""
    try:
        if isinstance(value, list):
            return check_list([_plain(one) for one in value], what)
        return check_scalar(_plain(value), what)
    except InputError as error:
        raise _refusal_error(error) from None


def _plain(value: Any) -> Any:
    if isinstance(value, Date | DateTime | Time | Duration):
        return value.iso_format().replace(".000000000", "")
    return value


def _together(different: Iterable[Property], what: str) -> tuple[Any, ...]:
    """Return different values, and the values of lists among them, as one sorted list."""
    scalars = (one for value in different for one in (value if isinstance(value, tuple) else (value,)))
    try:
        values = check_list(list({repr(one): one for one in scalars}.values()), what)
    except InputError as error:
        raise _refusal_error(error) from None
    return tuple(sorted(set(values)))


def _refusal_error(error: InputError) -> InputError:
    return InputError(f"{error} Nothing was changed. Correct it in the database, or leave it out of `properties`.")
