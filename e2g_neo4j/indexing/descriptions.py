"""What each entity is: the layer `descriptions`.

A description is what statements about the entity say, if the corpus has any; else the sentence that defines it best.
Common nouns have none. Only descriptions that are new are written.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from e2g_neo4j.graph.writer import ROWS
from e2g_neo4j.indexing.asking import key_of, read_replies
from e2g_neo4j.indexing.communities.elements import StoredStatement, read_statements
from e2g_neo4j.indexing.communities.merging import DescriptionMerger, long_groups, parse_description, text_to_merge
from e2g_neo4j.indexing.describing import LONGEST, Place, names_pattern, rate, shorten
from e2g_neo4j.indexing.layer import Layer, Making, NotMadeError
from e2g_neo4j.models.entities.extraction_codec import decode, own_sentences_before_list
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.requests import Operation, Read
from e2g_neo4j.types.reports import LayerReport

ENTITIES_READ = 500
"""Entities that one statement reads."""

CHUNKS_READ = 200
"""Chunks whose mentions one statement reads."""


class Description(NamedTuple):
    """What an entity is, and the chunk that says it."""

    text: str | None
    chunk: str | None


class RatedSentence(NamedTuple):
    """A sentence about an entity. The smallest says most."""

    lack: int
    place: Place
    chunk: str
    text: str


def _make(making: Making) -> Operation[LayerReport]:
    entities = yield from _entities(making.corpus)
    named = {key: row for key, row in entities.items() if not row["noun"]}
    found = yield from _describe_by_sentences(making, {key: names_pattern(row["names"]) for key, row in named.items()})
    found |= yield from _describe_by_statements(making, {key: row["name"] for key, row in named.items()})
    new = [
        {"key": key, "description": one.text, "chunk": one.chunk}
        for key, row in entities.items()
        if (one := found.get(key, Description(None, None))) != (row["description"], row["chunk"])
    ]
    for rows in split_batches(new, ROWS):
        yield from making.write(("descriptions/set", {"corpus": making.corpus, "rows": rows}))
    yield from making.set_revision()
    making.made += len(new)
    return LayerReport(total=len(found), made=making.made)


def _entities(corpus: str) -> Operation[dict[str, Mapping[str, Any]]]:
    """Read the entities that may have a description, or that have one, by key."""
    found: dict[str, Mapping[str, Any]] = {}
    after = ""
    while rows := (yield Read("descriptions/entities", {"corpus": corpus, "after": after, "limit": ENTITIES_READ})):
        found |= {row["key"]: row for row in rows}
        after = rows[-1]["key"]
    return found


def _describe_by_sentences(making: Making, names: Mapping[str, re.Pattern[str]]) -> Operation[dict[str, Description]]:
    """Return of each entity the sentence that says best what it is.

    Args:
        names: The spellings and other names of entities, by key, as `rate` takes them.
    """
    best: dict[str, RatedSentence] = {}
    language = making.models.language
    after = ""
    while rows := (yield Read("descriptions/chunks", {"corpus": making.corpus, "after": after, "limit": CHUNKS_READ})):
        for row in rows:
            mentioned: defaultdict[int, list[str]] = defaultdict(list)
            for entity, numbers in row["mentions"]:
                for number in numbers:
                    mentioned[number].append(entity)
            sentences = decode(row["notes"]).sentences if mentioned else ()
            for number, at in enumerate(own_sentences_before_list(sentences, tuple(row["own"]))):
                span = sentences[at].start, sentences[at].end
                text, place = " ".join(row["text"][slice(*span)].split()), (row["document"], row["index"], span)
                for entity in mentioned[number]:
                    others = len(mentioned[number]) - 1
                    points = rate(text, names[entity], others, language) if entity in names else None
                    if points is not None:
                        rated = RatedSentence(-points, place, row["chunk"], text)
                        best[entity] = min(best.get(entity, rated), rated)
        after = rows[-1]["chunk"]
    return {entity: Description(shorten(one.text), one.chunk) for entity, one in best.items()}


def _describe_by_statements(making: Making, names: Mapping[str, str]) -> Operation[dict[str, Description]]:
    """Return what statements say about entities. What a chat model has merged for reports of communities is taken from
    its cached replies; otherwise the strongest statements count.

    Args:
        names: The names of entities, by key.
    """
    state = making.state
    if state["statements"] is None:
        return {}
    behind = {layer for layer in ("statements", "communities") if state[layer] not in (None, state["revision"])}
    if "statements" in behind or (behind and state["report_models"]):
        raise NotMadeError(
            f"Descriptions are made from the statements of the corpus {making.corpus!r}, and from its reports, which "
            "are out of date: make these before."
        )
    statements = [one for one in (yield from read_statements(making.corpus)) if one.object is None]
    groups: defaultdict[str, list[StoredStatement]] = defaultdict(list)
    for one in sorted(statements, key=lambda one: (-one.strength, one.text, one.id)):
        if one.subject in names:
            groups[one.subject].append(one)
    found = {entity: Description(_fitting(group), group[0].chunks[0]) for entity, group in groups.items()}
    tasks = [name for name in state["report_models"] or () if name.startswith(f"{DescriptionMerger.stage}-")]
    merged = {entities[0]: group for entities, group in long_groups(statements).items() if entities[0] in names}
    keys = {
        entity: [key_of(task, text_to_merge([names[entity]], group)) for task in tasks]
        for entity, group in merged.items()
    }
    replies = yield from read_replies(making.corpus, dict.fromkeys(key for each in keys.values() for key in each))
    for entity, each in keys.items():
        said = next((replies[key] for key in each if key in replies), "")
        if text := parse_description(said):
            found[entity] = Description(shorten(text), merged[entity][0].chunks[0])
    return found


def _fitting(statements: Iterable[StoredStatement]) -> str:
    """Return the first statements that fit into a description."""
    text = ""
    for one in dict.fromkeys(one.text for one in statements):
        joined = f"{text} {one}".strip()
        if text and len(joined) > LONGEST:
            break
        text = joined
    return shorten(text)


DESCRIPTIONS = Layer("descriptions", "descriptions", "its entities were described", _make)
