"""An owner's schema: which types entities have, and which relationships there may be between them.

It is JSON, in our form or that of neo4j-graphrag's `GraphSchema`. All of it is checked before anything is written, and
an error names the line.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeAlias
from unicodedata import category

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from e2g_neo4j.errors import InputError
from e2g_neo4j.graph.doctor import OWN_PROPERTIES
from e2g_neo4j.types.ids import HIDDEN_LABELS, OWN_TYPES

LARGEST = 2**18
"""Maximum bytes of a schema."""

LONGEST = 64
"""Maximum characters of a name, with its prefix, and of an alias."""

LONGEST_DESCRIPTION = 500

MOST_TYPES = 200
"""Maximum number of types of entities, and of relationships."""

MOST_ALIASES = 50
"""Maximum number of aliases of a type."""

ANY = ""
"""In a pattern: an entity of any type."""

Place: TypeAlias = tuple[int | str, ...]

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Type:
    """A type of entities or of relationships.

    Attributes:
        name: The label or relationship type, without prefix.
        aliases: Other words for it.
        patterns: Of a relationship, the types that it leads from and to. Empty: it may connect all.
    """

    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    patterns: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class GraphSchema:
    """A schema. Without types of entities, or of relationships, these have the words of the statements.

    Attributes:
        prefix: What all labels and relationship types in the database begin with.
    """

    prefix: str = ""
    entities: tuple[Type, ...] = ()
    relationships: tuple[Type, ...] = ()

    @classmethod
    def read(cls, given: Path | Mapping[str, Any]) -> GraphSchema:
        """Read a schema from a file, or take it from a mapping.

        Raises:
            InputError: It cannot be used. The message names the line, or the place in the mapping, and the next step.
        """
        if isinstance(given, Mapping):
            return _Reader("The schema", json.dumps(given, default=_as_json), lines=False).read()
        return _Reader(str(given), read_text(given)).read()

    @classmethod
    def load(cls, text: str | None) -> GraphSchema:
        """Return what `dump` has written; the empty schema for None."""
        held = json.loads(text or "{}")
        kinds = ("entities", "relationships")
        return cls(held.get("prefix", ""), *(tuple(map(_loaded, held.get(kind, ()))) for kind in kinds))

    def dump(self) -> str | None:
        """Return the schema as a text to store; None if it says nothing."""
        if self == GraphSchema():
            return None
        held = {
            kind: [[one.name, one.description, one.aliases, one.patterns] for one in types]
            for kind, types in (("entities", self.entities), ("relationships", self.relationships))
        }
        return json.dumps({"prefix": self.prefix, **held})

    def with_prefix(self, prefix: str) -> GraphSchema:
        """Return the schema with another prefix. Raises InputError if it cannot be one."""
        if fault := prefix_fault(prefix):
            raise InputError(f"The prefix {prefix!r} cannot be used: {fault}. Choose another, such as E2G_.")
        changed = GraphSchema(prefix, self.entities, self.relationships)
        for one in (*self.entities, *self.relationships):
            if fault := name_fault(prefix + one.name):
                raise InputError(f"The prefix {prefix!r} cannot be used: {prefix + one.name} {fault}. Choose another.")
        return changed


def read_text(path: Path) -> str:
    """Return the text of a schema's file."""
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path} has more than {LARGEST // 2**10} KiB: a schema has less. Shorten it.")
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The schema {path} cannot be read ({error}): name a JSON file in UTF-8.") from error


def name_fault(name: str) -> str:
    """Return why a name cannot be a label or relationship type of the typed graph; "" if it can."""
    if len(name) > LONGEST:
        return f"has more than {LONGEST} characters"
    if not name.isidentifier():
        return "is no name for Cypher: it begins with a letter, and has letters, digits and _"
    if name in RESERVED or re.match("E2G(?!_)|__", name):
        return "is a name of e2g-neo4j, or of tools for Neo4j"
    return ""


def prefix_fault(prefix: str) -> str:
    """Return why a text cannot begin names; "" if it can."""
    if len(prefix) > LONGEST // 2:
        return f"it has more than {LONGEST // 2} characters"
    return "" if not prefix or prefix.isidentifier() else "it begins with a letter, and has letters, digits and _"


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case: `MARRIED_TO` and `marriedTo` are "married", "to"."""
    return tuple("".join(sign if _in_words(sign) else " " for sign in _CAMEL.sub(" ", name).lower()).split())


def _in_words(sign: str) -> bool:
    return sign.isalnum() or category(sign)[0] == "M"  # vowel signs of Hindi are marks


RESERVED = frozenset([*OWN_PROPERTIES, *HIDDEN_LABELS, *OWN_TYPES])
"""Labels and relationship types of this project."""


def _loaded(held: Sequence[Any]) -> Type:
    name, description, aliases, patterns = held
    return Type(name, description, tuple(aliases), tuple((start, end) for start, end in patterns))


def _as_json(value: Any) -> Any:
    """Return a part of a mapping that JSON does not have, such as an object of neo4j-graphrag."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    raise InputError(f"The schema has {value!r}, which JSON cannot have. Write texts, lists and mappings.")


# --- the forms that are read -------------------------------------------------------------------------


def _named(field: str) -> Any:
    return BeforeValidator(lambda given: {field: given} if isinstance(given, str) else given)


_Text = Annotated[str, StringConstraints(max_length=LONGEST_DESCRIPTION)]
_Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST)]
_Aliases = Annotated[list[_Name], Field(max_length=MOST_ALIASES)]
_Ends = Annotated[list[_Name], Field(max_length=MOST_TYPES)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Entity(_Form):
    type: _Name
    description: _Text = ""
    aliases: _Aliases = []


class _Relationship(_Entity):
    starts: _Ends = Field([], alias="from")
    ends: _Ends = Field([], alias="to")


class _Ours(_Form):
    prefix: str = ""
    entities: Annotated[list[Annotated[_Entity, _named("type")]], Field(max_length=MOST_TYPES)] = []
    relationships: Annotated[list[Annotated[_Relationship, _named("type")]], Field(max_length=MOST_TYPES)] = []


class _Labelled(_Form):
    """Properties are not used."""

    label: _Name
    description: _Text = ""
    properties: list[Any] = []
    additional_properties: bool = True


class _Pattern(_Form):
    source: str
    relationship: str
    target: str


def _as_pattern(given: Any) -> Any:
    if isinstance(given, list) and len(given) == 3:
        return dict(zip(("source", "relationship", "target"), given, strict=True))
    return given


class _Theirs(_Form):
    """neo4j-graphrag's `GraphSchema`. Constraints are not used, nor what says that there may be other types."""

    node_types: Annotated[list[Annotated[_Labelled, _named("label")]], Field(max_length=MOST_TYPES)]
    relationship_types: Annotated[list[Annotated[_Labelled, _named("label")]], Field(max_length=MOST_TYPES)] = []
    patterns: Annotated[list[Annotated[_Pattern, BeforeValidator(_as_pattern)]], Field(max_length=10_000)] = []
    constraints: list[Any] = []
    additional_node_types: bool = True
    additional_relationship_types: bool = True
    additional_patterns: bool = True


@dataclass(slots=True)
class _Reader:
    """Reads a schema. Places in it are paths, such as ("entities", 3, "type")."""

    source: str
    text: str
    lines: bool = True
    places: dict[Place, int] = field(default_factory=dict)

    def read(self) -> GraphSchema:
        if len(self.text.encode("utf-8", "replace")) > LARGEST:
            raise InputError(f"{self.source} has more than {LARGEST // 2**10} KiB: a schema has less. Shorten it.")
        try:
            given = json.loads(self.text)
        except json.JSONDecodeError as error:
            raise InputError(
                f"{self.source}, line {error.lineno}: this is no JSON ({error.msg}). Correct it."
            ) from None
        except (RecursionError, ValueError) as error:
            raise InputError(f"{self.source} cannot be read as JSON ({error}). Correct it.") from None
        if not isinstance(given, dict):
            self._refuse((), "a schema is an object with `entities` and `relationships`")
        self._locate()
        try:
            if "node_types" in given:
                schema, at = self._from_theirs(_Theirs.model_validate(given)), ("node_types", "relationship_types")
            else:
                schema, at = self._from_ours(_Ours.model_validate(given)), ("entities", "relationships")
        except ValidationError as error:
            first = error.errors()[0]
            path = tuple(first["loc"])
            why = f"{path[-1]!r} is unknown" if first["type"] == "extra_forbidden" else first["msg"].lower()
            self._refuse(path, why)
        self._check(schema, *at)
        return schema

    def _from_ours(self, given: _Ours) -> GraphSchema:
        return GraphSchema(
            given.prefix,
            tuple(Type(one.type, one.description, tuple(one.aliases)) for one in given.entities),
            tuple(
                Type(
                    one.type,
                    one.description,
                    tuple(one.aliases),
                    tuple((a, b) for a in one.starts or [ANY] for b in one.ends or [ANY] if a or b),
                )
                for one in given.relationships
            ),
        )

    def _from_theirs(self, given: _Theirs) -> GraphSchema:
        patterns: dict[str, dict[tuple[str, str], None]] = {one.label: {} for one in given.relationship_types}
        for number, pattern in enumerate(given.patterns):
            if pattern.relationship not in patterns:
                self._refuse(("patterns", number), f"there is no relationship type {pattern.relationship!r}")
            patterns[pattern.relationship][pattern.source, pattern.target] = None
        relationships = (
            Type(one.label, one.description, patterns=tuple(patterns[one.label])) for one in given.relationship_types
        )
        entities = (Type(one.label, one.description) for one in given.node_types)
        return GraphSchema("", tuple(entities), tuple(relationships))

    def _check(self, schema: GraphSchema, entities: str, relationships: str) -> None:
        if fault := prefix_fault(schema.prefix):
            self._refuse(("prefix",), f"{schema.prefix!r} cannot be a prefix: {fault}")
        for kind, types in ((entities, schema.entities), (relationships, schema.relationships)):
            named: dict[tuple[str, ...], Type] = {}
            for number, one in enumerate(types):
                if fault := name_fault(schema.prefix + one.name):
                    self._refuse((kind, number), f"{schema.prefix + one.name!r} {fault}")
                if words_of(one.name) in named:
                    self._refuse((kind, number), f"{one.name!r} is there twice")
                named[words_of(one.name)] = one
            for number, one in enumerate(types):
                for at, alias in enumerate(one.aliases):
                    other = named.setdefault(words_of(alias), one)
                    if other is not one:
                        mutual = any(words_of(a) == words_of(one.name) for a in other.aliases)
                        circle = ", and they are aliases of each other" if mutual else ""
                        self._refuse(
                            (kind, number, "aliases", at),
                            f"{alias!r} is a name or alias of {other.name} too{circle}",
                        )
                    if not words_of(alias):
                        self._refuse((kind, number, "aliases", at), f"{alias!r} has no letters")
        known = {ANY, *(one.name for one in schema.entities)}
        for number, one in enumerate(schema.relationships):
            for name in (name for pattern in one.patterns for name in pattern):
                if schema.entities and name not in known:
                    self._refuse((relationships, number), f"there is no type of entities {name!r}")

    def _refuse(self, path: Place, why: str) -> NoReturn:
        while path and path not in self.places:
            path = path[:-1]
        place = f", line {self.places.get(path, 1)}" if self.lines else "".join(f", {part}" for part in path)
        raise InputError(f"{self.source}{place}: {why}. Correct it; docs/statements.md has an example.")

    def _locate(self) -> None:
        """Note the line of each value. Raise InputError for a field that is there twice."""
        breaks = [at for at, sign in enumerate(self.text) if sign == "\n"]
        tokens = ((found[1], bisect(breaks, found.start(1)) + 1) for found in _TOKEN.finditer(self.text))
        self._value((), *next(tokens), tokens)

    def _value(self, path: Place, begin: str, line: int, tokens: Iterator[tuple[str, int]]) -> None:
        self.places[path] = line
        number = 0
        if begin not in ("{", "["):
            return
        for part, at in tokens:
            if part in ("}", "]"):
                return
            if part == ",":
                continue
            if begin == "{":
                key = (*path, json.loads(part))
                if key in self.places:
                    self._refuse(key, f"{key[-1]!r} is there for the second time in line {at}")
                next(tokens)  # the colon
                self._value(key, *next(tokens), tokens)
            else:
                self._value((*path, number), part, at, tokens)
                number += 1
