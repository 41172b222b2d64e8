"""Lines of an archive: read as nodes, relationships and cached replies that `contents` allows, or refused."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from e2g_neo4j.errors import InputError
from e2g_neo4j.graph.archive.contents import ADDED, NODES, RELATIONSHIPS, UNCOUNTED, Cached, Row
from e2g_neo4j.graph.archive.format import check_depth, decode
from e2g_neo4j.types.ids import corpus_key
from e2g_neo4j.types.properties import PREFIX, check_properties


@dataclass(frozen=True, slots=True)
class Node:
    """A node of an archive: its key there, its labels, the first of which is one of NODES, and its properties."""

    key: str
    labels: tuple[str, ...]
    properties: dict[str, Any]

    @property
    def label(self) -> str:
        return self.labels[0]


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship of an archive, whose ends are keys of nodes."""

    a: str
    type: str
    b: str
    properties: dict[str, Any]


def node(row: Any, corpus: str, dimensions: int) -> Node:
    """Return the node of a line. Raises ValueError if there may be no such node in an archive of the corpus."""
    key, labels, properties = _fields(row, "key", "labels", "properties")
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise ValueError("'labels' is not a list of texts")
    known = [label for label in labels if label in NODES]
    others = sorted({*labels} - {*known} - ({UNCOUNTED} if known == ["Chunk"] else set()))
    if others or len(known) != 1 or len(labels) > 2:
        named = ", ".join(map(repr, others or labels))[:200] or "none"
        raise ValueError(f"labels that are not allowed in a corpus: {named}")
    label = known[0]
    of_user = {}
    if label == "Document" and isinstance(properties, dict):
        of_user = {name: value for name, value in properties.items() if name.startswith(PREFIX)}
        properties = {name: value for name, value in properties.items() if name not in of_user}
    found = _check_properties(label, NODES[label], properties)
    of_user = {name: decode(value) for name, value in of_user.items()}
    check_properties({name.removeprefix(PREFIX): value for name, value in of_user.items()})
    if found.get("corpus_key", expected := corpus_key(corpus)) != expected:
        raise ValueError(f"{label}: property 'corpus_key': it is that of another corpus")
    if len(found.get("embedding", ())) not in (0, dimensions):
        raise ValueError(f"{label}: property 'embedding': it has {len(found['embedding'])} numbers")
    return Node(_end(key), (label, *(one for one in labels if one == UNCOUNTED)), found | of_user)


def relationship(row: Any, corpus: str) -> Relationship:
    """Return the relationship of a line. Raises ValueError if there may be none such in an archive of the corpus."""
    a, kind, b, properties = _fields(row, "a", "type", "b", "properties")
    if not isinstance(kind, str) or kind not in RELATIONSHIPS:
        raise ValueError(f"the type {str(kind)[:200]!r} is not allowed in a corpus")
    found = _check_properties(kind, RELATIONSHIPS[kind][0], properties)
    if found.get("corpus", corpus) != corpus:
        raise ValueError(f"{kind}: property 'corpus': it is another corpus")
    return Relationship(_end(a), kind, _end(b), found)


def parse_cache_row(row: Any) -> dict[str, Any]:
    """Return what a line holds of the cache, with its key in the archive. Raises ValueError."""
    [properties] = _fields(row, "properties")
    found = _check_properties("a cached reply", Cached, properties)
    if found["key"].startswith("added-"):
        ADDED.validate_json(check_depth(found["text"]), strict=True)
    return found


def _fields(row: Any, *names: str) -> list[Any]:
    if not isinstance(row, dict) or set(row) != set(names):
        raise ValueError(f"its fields are not {', '.join(names)}")
    return [row[name] for name in names]


def _end(key: Any) -> str:
    if not isinstance(key, str) or not 0 < len(key) <= 200 or not key.isprintable():
        raise ValueError("the key of a node is not a text of 1 to 200 characters")
    return key


def _check_properties(what: str, kind: type[Row], properties: Any) -> dict[str, Any]:
    if not isinstance(properties, dict):
        raise TypeError(f"{what}: 'properties' is no object")
    values = {}
    for name, value in properties.items():
        try:
            values[name] = decode(value)
        except (ValueError, TypeError, ArithmeticError, LookupError) as error:
            raise ValueError(f"{what}: property {name[:200]!r}: {error}") from error
    try:
        found = kind.model_validate(values)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, fault["loc"]))[:200]
        raise ValueError(f"{what}: property {place!r}: {fault['msg'][:200]}") from error
    try:
        found.check()
    except (InputError, ValueError) as error:
        raise ValueError(f"{what}: {error}") from error
    return found.model_dump(exclude_none=True)


# --- export ------------------------------------------------------------------------------------------


def own_node(row: dict[str, Any]) -> dict[str, Any]:
    """Return a node as it is exported: without labels and properties that others have added to it."""
    [label] = [label for label in row["labels"] if label in NODES]
    own = NODES[label].model_fields.keys()
    prefix = PREFIX if label == "Document" else None
    labels = [one for one in row["labels"] if one in (label, UNCOUNTED)]
    return {**row, "labels": labels, "properties": _own(row["properties"], own, prefix)}


def own_relationship(row: dict[str, Any]) -> dict[str, Any] | None:
    """Return a relationship as it is exported; None for one that others have added."""
    if row["type"] not in RELATIONSHIPS:
        return None
    return {**row, "properties": _own(row["properties"], RELATIONSHIPS[row["type"]][0].model_fields.keys())}


def _own(properties: dict[str, Any], names: Collection[str], prefix: str | None = None) -> dict[str, Any]:
    return {
        name: value
        for name, value in properties.items()
        if name in names or (prefix is not None and name.startswith(prefix))
    }
