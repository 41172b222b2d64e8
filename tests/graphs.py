"""When two graphs are equal, as docs/guarantees.md defines it: everything exactly, except vectors and the numbers
that are computed from them. Every test that compares graphs, or what a question finds, does so by this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from neo4j import Driver
from pydantic import BaseModel

from e2g_neo4j.indexing.summaries.base import SummaryInput
from e2g_neo4j.types.results import Passage

COSINE = 0.999
"""Vectors are equal from this cosine on."""

NUMBER = 0.01
"""Numbers that are computed from vectors are equal within this."""

Found: TypeAlias = dict[tuple[str, ...], dict[str, Any]]
Snapshot: TypeAlias = tuple[Found, Found]

_NAMING = {"corpus", "corpus_key"}

_SUFFIX = re.compile(r"^(embedding|sentence_vectors|embedded_name)_[0-9a-f]{8}$")
"""Of the properties with vectors, where the models of a corpus are not the first ones of the database."""


class Vector(list[float]):
    """A vector that equals those that point the same way."""

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list):
            return NotImplemented
        a, b = np.array(self, float), np.array(other, float)
        if a.shape != b.shape:
            return False
        lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
        return bool(a @ b >= COSINE * lengths) if lengths else bool((a == b).all())

    def __ne__(self, other: object) -> bool:
        return not self == other


class Number(float):
    """A number computed from vectors."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return abs(float(self) - other) <= NUMBER if isinstance(other, int | float) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other


def snapshot(driver: Driver, corpus: str, *, exact: bool = False) -> Snapshot:
    """Everything that a corpus holds, apart from its name and the record of its models: nodes and relationships by what
    identifies them.

    Nodes: labels, and id, key, name, term or label. Relationships: both ends, and the type between them. Weights are
    rounded to nine digits. `exact`: as stored, bit for bit, to show that nothing was changed.
    """
    nodes: Found = {}
    for row in driver.execute_query(
        "MATCH (n {corpus: $corpus}) WHERE NOT n:E2GIndex "
        "RETURN labels(n) + coalesce(n.id, n.key, n.name, n.term, n.label, '') AS key, properties(n) AS properties",
        corpus=corpus,
    ).records:
        key = tuple(row["key"])
        assert key not in nodes, f"{key} is there twice"
        nodes[key] = _held(row["properties"], exact)
    relationships: Found = {}
    for row in driver.execute_query(
        "MATCH (a {corpus: $corpus})-[r]->(b) RETURN labels(a) + coalesce(a.id, a.key, a.name) AS a, type(r) AS type, "
        "labels(b) + coalesce(b.id, b.key, b.name) AS b, properties(r) AS properties",
        corpus=corpus,
    ).records:
        key = (*row["a"], row["type"], *row["b"])
        if row["type"] == "ALIAS_OF":  # one for each document
            key = (*key, row["properties"]["document"])
        assert key not in relationships, f"{key} is there twice"
        relationships[key] = _held(row["properties"], exact)
        if "weight" in relationships[key]:
            relationships[key]["weight"] = round(relationships[key]["weight"], 9)
    return nodes, relationships


def _held(properties: Mapping[str, Any], exact: bool) -> dict[str, Any]:
    """A time is that of a history, and a revision counts its changes: whether layers are of the present one is
    compared."""
    if not exact:
        properties = {name: value for name, value in properties.items() if name != "changed"}
    if not exact and "revision" in properties:
        revision = properties["revision"]
        properties = {name: value for name, value in properties.items() if name != "revision"}
        for layer in {
            "communities",
            "clusters",
            "entity_vectors",
            "sentence_vectors",
            "descriptions",
            "statements",
            "typed",
        } & properties.keys():
            properties[layer] = properties[layer] == revision
    return {
        name if exact else _plain(name): value if exact else _compared(_plain(name), value, properties)
        for name, value in properties.items()
        if name not in _NAMING
    }


def _plain(name: str) -> str:
    return _SUFFIX.sub(r"\1", name)


def _compared(name: str, value: Any, properties: Mapping[str, Any]) -> Any:
    match name:
        case "embedding":
            return Vector(value)
        case "sentence_vectors":
            return Vector(np.frombuffer(bytes(value), np.int8).tolist())
        case "persistence" | "score":
            return Number(value)
        case "notes" if "made_of" in properties:  # a summary's; those of a chunk hold no vectors
            prose = SummaryInput.unpack(properties["text"], bytes(value))
            rows = [] if prose.vectors is None else [Vector(row.tolist()) for row in prose.vectors]
            return prose.sentences, prose.counts, rows
    return value


def comparable(driver: Driver, corpus: str) -> Snapshot:
    """A snapshot without the ids of documents and chunks, which the corpus is a part of."""
    ids = {
        row["id"]: f"{row['label']} {row['level']} {row['start']} {row['title'] or row['text']}"  # texts may repeat
        for row in driver.execute_query(
            "MATCH (n {corpus: $corpus}) WHERE n.id IS NOT NULL "
            "RETURN n.id AS id, labels(n)[0] AS label, n.level AS level, n.start AS start, n.title AS title, "
            "n.text AS text",
            corpus=corpus,
        ).records
    }

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {renamed(key): renamed(each) for key, each in value.items()}
        if isinstance(value, list | tuple) and not isinstance(value, Vector):
            return type(value)(map(renamed, value))
        return ids.get(value, value) if isinstance(value, str) else value

    found: Snapshot = renamed(snapshot(driver, corpus))
    return found


def evidence(found: Any) -> Any:
    """Evidence, passages and what else holds them, to be compared: scores are computed from vectors.

    That is also dictionaries of metadata, and documents and results of LangChain and neo4j-graphrag.
    """
    if isinstance(found, Mapping):
        return {name: _scored(name, value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return type(found)(map(evidence, found))
    if isinstance(found, BaseModel):
        return found.model_copy(update={name: _scored(name, value) for name, value in found})
    if not is_dataclass(found) or isinstance(found, type):
        return found
    given = [one.name for one in fields(found) if one.init]
    return replace(found, **{name: _scored(name, getattr(found, name)) for name in given})


def _scored(name: str, value: Any) -> Any:
    return Number(value) if name == "score" and value is not None else evidence(value)


def unordered(passages: Iterable[Passage]) -> list[Passage]:
    """Passages to be compared whatever their order: by where they are."""
    found: list[Passage] = evidence(sorted(passages, key=lambda one: (one.corpus, one.document, one.start, one.nodes)))
    return found


def cached_replies(driver: Driver, *models: str, corpora: Sequence[str] = ()) -> list[dict[str, Any]]:
    """What is cached of chat models whose names begin so, for any of the corpora if some are given."""
    named = (
        "MATCH (s:CachedSummary) WHERE any(one IN $models WHERE s.model STARTS WITH one) "
        "AND ($corpora = [] OR any(one IN s.corpora WHERE one IN $corpora)) RETURN s {.*} AS s"
    )
    return [row["s"] for row in driver.execute_query(named, models=models, corpora=corpora).records]


def forget_replies(driver: Driver, *models: str) -> None:
    """Delete what is cached of chat models whose names begin so: the cache serves all corpora."""
    named = "MATCH (s:CachedSummary) WHERE any(one IN $models WHERE s.model STARTS WITH one) DETACH DELETE s"
    driver.execute_query(named, models=models)
