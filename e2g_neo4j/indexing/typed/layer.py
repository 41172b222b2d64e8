"""The typed graph of a corpus: labels of its entities by their types, and relationships between them.

It depends on the visible statements and the schema alone. Only what differs from the stored graph is written, in one
transaction. What a statement that is gone has made is removed together with the statement.
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

from e2g_neo4j.indexing.graph_schema import GraphSchema
from e2g_neo4j.indexing.layer import Layer, Making, NotMadeError, read_state
from e2g_neo4j.indexing.typed.names import Names, split_period
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.requests import Operation, Read
from e2g_neo4j.types.reports import LayerReport

READ = 5_000
"""Statements, or entities, that one statement reads."""

ROWS = 10_000
"""Relationships, or labels, that one statement writes."""

MOST_NAMES = 200
"""Without a schema, the number of relationship types and of labels at most, the most frequent ones. Neo4j keeps each
name for ever."""

MOST_PATTERNS = 200
"""Patterns that a prompt names."""

UNSURE = ("false", "suspected")
"""Statements with this status are no facts."""

Ends: TypeAlias = tuple[str, str, str]
"""The key of an entity, a relationship type, the key of another entity."""


@dataclass(slots=True)
class TypedGraph:
    """A typed graph. All names have their prefix.

    Attributes:
        labels: The label of entities, by key.
        relationships: Their properties.
        outside: The number of relations that have no name, do not fit the patterns of the schema, are no facts, or have
            a text that does not name both ends.
    """

    labels: dict[str, str] = field(default_factory=dict)
    relationships: dict[Ends, dict[str, Any]] = field(default_factory=dict)
    outside: int = 0

    def patterns(self) -> list[str]:
        """Return the patterns of the relationships, the most frequent first."""
        counts = Counter(
            f"(:{self.labels.get(a, 'Entity')})-[:{type}]->(:{self.labels.get(b, 'Entity')})"
            for a, type, b in self.relationships
        )
        return sorted(counts, key=lambda pattern: (-counts[pattern], pattern))[:MOST_PATTERNS]


def build_graph(statements: Iterable[Mapping[str, Any]], schema: GraphSchema) -> TypedGraph:
    """Make the typed graph of statements, which are rows of `typed/statements`."""
    names = Names(schema)
    rows = sorted(statements, key=lambda row: row["id"])
    types: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        for end in ("subject", "object"):
            if row[end] and (label := names.label(row[f"{end}_type"] or "")):
                types[row[end]][label] += 1
    labels = {key: most_frequent(counts) or "" for key, counts in types.items()}
    if not schema.entities:
        common = set(_most_common(Counter(labels.values())))
        labels = {key: label for key, label in labels.items() if label in common}
    graph = TypedGraph({key: schema.prefix + label for key, label in labels.items()})
    found: defaultdict[Ends, list[tuple[str, str]]] = defaultdict(list)
    for row in rows:
        if not row["object"]:
            continue
        said = names.relationship(row["predicate"])
        start, end = ("object", "subject") if said.swapped else ("subject", "object")
        kinds = [names.label(row[f"{one}_type"] or "") or labels.get(row[one], "") for one in (start, end)]
        if not names.fits(said.type, *kinds) and names.fits(said.type, *reversed(kinds)):
            start, end, kinds = end, start, kinds[::-1]
        fits = said.type and names.fits(said.type, *kinds)
        if not fits or row["status"] in UNSURE or not _is_about_both(row):
            graph.outside += 1
            continue
        found[row[start], said.type, row[end]].append((row["id"], row["period"] or said.period))
    if not schema.relationships:
        common = set(_most_common(Counter(type for (_, type, _), said in found.items() for _ in said)))
        graph.outside += sum(len(found.pop(ends)) for ends in [ends for ends in found if ends[1] not in common])
    for (a, type, b), stated in found.items():
        held = {"statements": [id for id, _ in stated], "count": len(stated)}
        periods = [split_period(period) for _, period in stated]
        for name, dates in zip(("valid_from", "valid_to"), zip(*periods, strict=True), strict=True):
            held[name] = most_frequent(Counter(date for date in dates if date))
        graph.relationships[a, schema.prefix + type, b] = held
    return graph


def _is_about_both(row: Mapping[str, Any]) -> bool:
    """Return whether the text of a statement has a word of the name of each end, as the prompt asks for. A small model
    relates names of a part at will, and copies any sentence of it."""
    text = entity_key(row["text"])
    return not text or all(any(word in text for word in row[end].split()) for end in ("subject", "object"))


def most_frequent(counts: Counter[str]) -> str | None:
    """Return what is counted most often, the first by name of several; None of nothing."""
    return min(counts, key=lambda name: (-counts[name], name), default=None)


def _most_common(counts: Counter[str]) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))[:MOST_NAMES]


def _read_stored(corpus: str) -> Operation[TypedGraph]:
    """Read the typed graph that the database has."""
    graph, after = TypedGraph(), ""
    while rows := (yield Read("typed/stored", {"corpus": corpus, "after": after, "limit": READ})):
        for row in rows:
            if row["label"]:
                graph.labels[row["key"]] = row["label"]
            for one in row["relationships"]:
                held = {name: one[name] for name in ("statements", "count", "valid_from", "valid_to")}
                graph.relationships[row["key"], one["type"], one["object"]] = held
        after = rows[-1]["key"]
    return graph


def _make(making: Making, *, remove: bool = False) -> Operation[LayerReport]:
    corpus, schema = making.corpus, making.schema
    if making.state["statements"] is None and not remove:
        raise NotMadeError(
            f"The typed graph is made from statements, and the corpus {corpus!r} has none: run `e2g enrich --with "
            f"statements,typed --corpus {shlex.quote(corpus)}`, or add graph documents."
        )
    [stored] = yield Read("statements/stored", {"corpus": corpus})
    graph, before = TypedGraph(), (yield from _read_stored(corpus))
    if not remove:
        statements, after = [], ""
        while rows := (yield Read("typed/statements", {"corpus": corpus, "after": after, "limit": READ})):
            statements += rows
            after = rows[-1]["id"]
            making.show("typed", len(statements), len(stored["ids"]))
        graph = build_graph(statements, schema)
    labels, types = sorted(set(graph.labels.values())), sorted({type for _, type, _ in graph.relationships})
    yield from _check_names(making, labels, types)
    record = {
        "corpus": corpus,
        "revision": None if remove else making.state["revision"],
        "labels": labels,
        "types": types,
        "patterns": graph.patterns(),
        "graph_schema": schema.dump(),
    }
    yield from making.write(*_changes(corpus, before, graph), ("typed/publish", record), stored=stored["ids"])
    return LayerReport(
        total=len(graph.relationships),
        made=len(graph.relationships.keys() - before.relationships.keys()),
        labelled=len(graph.labels),
        outside=graph.outside,
    )


def _check_names(making: Making, labels: list[str], types: list[str]) -> Operation[None]:
    """Raise NotMadeError if nodes or relationships of others have a name that the corpus has not used so far."""
    new = {
        "labels": sorted(set(labels) - set(making.state["typed_labels"] or ())),
        "types": sorted(set(types) - set(making.state["typed_types"] or ())),
    }
    if not any(new.values()):
        return
    [taken] = yield Read("typed/taken", new)
    ruled = {label for row in (yield Read("doctor/schema", {})) for label in row["labels"]}
    ruled |= {label for row in (yield Read("doctor/constraints", {})) for label in row["labels"]}
    used = sorted({*taken["labels"], *taken["types"], *ruled.intersection(labels, new["labels"])})
    if used:
        raise NotMadeError(
            f"Nodes, relationships, indexes or constraints of another graph in the database have these names: "
            f"{', '.join(used[:10])}. Nothing was changed: choose other names with `--prefix`, such as `--prefix E2G_`."
        )


def _changes(corpus: str, before: TypedGraph, after: TypedGraph) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield statements, for one transaction, that make one typed graph of another."""
    old, new = before.relationships, after.relationships
    gone = [{"a": a, "type": type, "b": b} for (a, type, b), held in old.items() if new.get((a, type, b)) != held]
    made = [
        {"a": a, "type": type, "b": b, "properties": {"corpus": corpus, **held}}
        for (a, type, b), held in new.items()
        if old.get((a, type, b)) != held
    ]
    labels = [
        {"key": key, "label": after.labels.get(key), "before": before.labels.get(key)}
        for key in sorted(before.labels.keys() | after.labels.keys())
        if before.labels.get(key) != after.labels.get(key)
    ]
    for statement, rows in (("delete", gone), ("set_labels", labels), ("create", made)):
        for batch in split_batches(rows, ROWS):
            yield f"typed/{statement}", {"corpus": corpus, "rows": batch}


TYPED = Layer("typed", "typed", "its typed graph was made", _make)


def remove(models: Models, corpus: str) -> Operation[LayerReport]:
    """Remove the typed graph of a corpus, and leave its schema."""
    layer = replace(TYPED, make=partial(_make, remove=True))
    return (yield from layer.attempt(Making(layer, models, corpus)))


def count_outside(statements: Iterable[Mapping[str, Any]], schema: GraphSchema) -> int:
    """Return how many relations are outside of a schema; 0 without one."""
    return build_graph(statements, schema).outside if schema.entities or schema.relationships else 0


def read_schema(corpus: str) -> Operation[GraphSchema]:
    """Read the schema of a corpus."""
    return GraphSchema.load((yield from read_state(corpus))["graph_schema"])
