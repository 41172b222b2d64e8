"""Mentions of entities in chunks, and name merges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

Decisions: TypeAlias = Mapping[str, str | None]
"""What was decided about names by hand, by name: the key that it resolves to, or None if it is split."""


class Sense(NamedTuple):
    """The entity that a name means in one document: its key and its name, which no text has."""

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class Overrides:
    """What was decided about the names of a corpus by hand.

    Attributes:
        names: the decisions for all documents.
        senses: names that mean another entity in a document: by its id, the keys of the names with the entities.
    """

    names: Decisions = field(default_factory=dict)
    senses: Mapping[str, Mapping[str, Sense]] = field(default_factory=dict)

    def in_document(self, document: str) -> Decisions:
        """Return the decisions for one document."""
        return {**self.names, **{name: sense.key for name, sense in self.senses.get(document, {}).items()}}

    def spellings_in(self, document: str) -> dict[str, str]:
        """Return the names of the entities that names mean in one document only, by key."""
        return dict(self.senses.get(document, {}).values())


def find_circle(overrides: Decisions) -> list[str]:
    """Return the names of a circle of merges, or [] if there is none. The first name is followed first."""
    checked: set[str] = set()
    for name in overrides:
        path: list[str] = []
        following: str | None = name
        while following is not None and following not in checked:
            checked.add(following)
            path.append(following)
            following = overrides.get(following)
        if following in path:
            return path[path.index(following) :]
    return []


@dataclass(frozen=True, slots=True)
class Mention:
    """The mentions of an entity in a chunk.

    A sentence in the overlap of two chunks is part of the own text of only one of them, but it is counted in the
    windows of both.

    Attributes:
        entity: the key of the entity.
        chunk: the id of the chunk.
        count: the number of occurrences in the text of the chunk.
        sentences: the numbers of the sentences that mention the entity, among those of the chunk's own text.
        windows: for each window, the number of sentences that mention the entity.
        forms: the spellings with their counts, in order. None if the key is the only spelling, empty if only other
            names that resolve to the entity occur.
        types: the types with their counts, in order. Empty if unknown.
    """

    entity: str
    chunk: str
    count: int
    sentences: tuple[int, ...]
    windows: tuple[int, ...]
    forms: tuple[tuple[str, int], ...] | None = None
    types: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkMentions:
    """All mentions of a chunk."""

    chunk: str
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class NameMerge:
    """A name that resolves to another name in a document.

    Attributes:
        name: the key of the name.
        full: the key of the name that it resolves to.
        why: the reason for the merge.
        count: how often the document uses the name.
        form: its most frequent spelling in the document.
        spelled: the name of the entity if a text never has it.
    """

    name: str
    full: str
    why: str
    count: int
    form: str
    spelled: str | None = None
