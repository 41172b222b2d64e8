"""The names of the typed graph: what predicates and types of statements are called in the schema, or without one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from e2g_neo4j.indexing.graph_schema import GraphSchema, Type, name_fault, words_of
from e2g_neo4j.models.porter import stem

Words: TypeAlias = tuple[str, ...]

OTHER = "other"
"""The type that a chat model gives to what is of no type of the schema."""

DESCRIBED, RELATED = "is", "related to"
"""The predicates that a chat model gives to descriptions, and to relations that are none of the schema."""

_NO_TYPES = frozenset([("other",), ("entity",), ("node",), ("thing",), ("unknown",), ("misc",)])
_NO_RELATION = tuple(RELATED.split())

_AUXILIARIES = frozenset(
    ["am", "is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "did", "does", "do", "got"]
)
_FILLERS = frozenset(
    ["a", "an", "the", "also", "then", "later", "once", "now", "still", "already", "formerly", "currently", "finally"]
)
_PREPOSITIONS = frozenset(["to", "with", "of", "for", "in", "at", "from", "on", "by", "as", "into"])

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = (
    r"(?:(?:about|around|circa|c\.|early|late|mid|spring|summer|autumn|winter|the)[ -]?(?:of )?)*"
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?)?(?:{_MONTH} (?:\d{{1,2}}(?:st|nd|rd|th)?,? )?)?"
    r"(?:\d{4}-\d\d(?:-\d\d)?|[12]\d{3}s?|\d{3,4}(?= ?(?:bc|ad|bce|ce)\b))(?: ?(?:bc|ad|bce|ce)\b)?"
)
_PERIOD = re.compile(
    rf"\b(?:(?:in|on|since|from|until|till|during|between|after|before|as of|at|by) )?{_DATE}"
    rf"(?: ?(?:to|until|till|and|[-–—]) ?{_DATE})?(?!\w)",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"^(?:from|between)?\s*(.+?)\s*(?:\b(?:to|until|till|and)\b|(?<=\d)\s?-\s?(?=\d{3}|[A-Z])|[–—])\s*(.+)$",
    re.IGNORECASE,
)
_BEGIN = re.compile(r"^(?:since|from|as of|after)\s+(.+)$", re.IGNORECASE)
_END = re.compile(r"^(?:until|till|up to|to|before)\s+(.+)$", re.IGNORECASE)
_ON = re.compile(r"^(?:in|on|during|at|by)\s+(.+)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """What a predicate says.

    Attributes:
        type: The relationship type, without prefix; "" if there is none.
        swapped: Whether it leads from the object to the subject, as "killed by" does if the schema has KILLED.
        period: When it is so, if the predicate says it.
    """

    type: str
    swapped: bool = False
    period: str = ""


@dataclass(slots=True)
class _Lookup:
    """Finds types by words: first by all of them, then by their stems without auxiliaries, then without the last
    preposition. Words that fit two types there fit none."""

    types: Iterable[Type]
    exact: dict[Words, str] = field(default_factory=dict)
    stems: dict[Words, str] = field(default_factory=dict)
    short: dict[Words, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        stems: defaultdict[Words, set[str]] = defaultdict(set)
        short: defaultdict[Words, set[str]] = defaultdict(set)
        for one in self.types:
            for name in (one.name, *one.aliases):
                words = words_of(name)
                self.exact[words] = one.name
                stems[_stems(words)].add(one.name)
                if len(words) > 1 and words[-1] in _PREPOSITIONS:
                    short[_stems(words[:-1])].add(one.name)
        self.stems = {words: min(names) for words, names in stems.items() if len(names) == 1}
        self.short = {words: min(names) for words, names in short.items() if len(names) == 1 and words not in stems}

    def find(self, words: Words) -> str:
        key = _stems(words)
        return self.exact.get(words) or self.stems.get(key) or self.short.get(key) or ""


class Names:
    """Gives predicates and types of statements their names."""

    def __init__(self, schema: GraphSchema) -> None:
        self._schema = schema
        self._entities, self._relationships = _Lookup(schema.entities), _Lookup(schema.relationships)
        self._patterns = {one.name: one.patterns for one in schema.relationships}
        self.label = lru_cache(maxsize=None)(self._label)
        self.relationship = lru_cache(maxsize=None)(self._relationship)

    def _label(self, type: str) -> str:
        """Return the label for a type of an entity, without prefix; "" if there is none."""
        words = words_of(type)
        if not words or (words in _NO_TYPES and words not in self._entities.exact):
            return ""
        if self._schema.entities:
            return self._entities.find(words)
        return self._usable("".join(word[:1].upper() + word[1:] for word in words))

    def _relationship(self, predicate: str) -> Said:
        """Return the relationship type for a predicate."""
        if self._schema.relationships and (name := self._relationships.find(words_of(predicate))):
            return Said(name)
        text = predicate.replace("_", " ")
        dated = _PERIOD.search(text)
        period = dated[0].strip() if dated else ""
        words = words_of(f"{text[: dated.start()]} {text[dated.end() :]}" if dated else predicate)
        if not self._schema.relationships:
            kept = _without_fillers(words)
            return Said("" if kept == _NO_RELATION else self._usable("_".join(kept).upper()), period=period)
        name = self._relationships.find(words)
        if not name and words[-1:] == ("by",) and (name := self._relationships.find(words[:-1])):
            return Said(name, swapped=True, period=period)
        return Said(name, period=period)

    def fits(self, type: str, start: str, end: str) -> bool:
        """Return whether a relationship may lead from one type of entity to another. An entity without a type fits."""
        patterns = self._patterns.get(type)
        return not patterns or any(start in ("", a) or not a for a, b in patterns if end in ("", b) or not b)

    def _usable(self, name: str) -> str:
        return name if name and not name_fault(self._schema.prefix + name) else ""


def split_period(period: str) -> tuple[str | None, str | None]:
    """Return from when and until when, as the text says it: "from May 1890 to 1893" is "May 1890" and "1893". Of a
    single date, it is the first."""
    text = " ".join(period.split())
    if not text:
        return None, None
    if (found := _END.match(text)) and not _SPAN.match(found[1]):
        return None, found[1]
    if found := _SPAN.match(text):
        return found[1], found[2]
    found = _BEGIN.match(text) or _ON.match(text)
    return (found[1] if found else text), None


def _without_fillers(words: Words) -> Words:
    """Return words without auxiliaries at the beginning, articles and adverbs of time; all if nothing else is left."""
    kept = [word for word in words if word not in _FILLERS]
    while len(kept) > 1 and kept[0] in _AUXILIARIES:
        del kept[0]
    return tuple(kept) or words


def _stems(words: Words) -> Words:
    return tuple(map(stem, _without_fillers(words)))
