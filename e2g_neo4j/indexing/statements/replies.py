"""Read what a chat model states about a text.

The prompt asks for lines of six fields. Small models also write tables, lists and JSON, leave fields out, and add
sentences of their own, so all of these are read as far as they say what is stated about what.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from e2g_neo4j.models.chat.json_replies import objects_in

STRENGTH = 5
"""The strength of a statement without one."""

STRONGEST = 10

LONGEST_NAME, LONGEST_PREDICATE, LONGEST_TEXT = 200, 100, 1_000
"""Maximum characters of a subject or object, of a predicate and of a description. Longer names and predicates are no
names and predicates, longer descriptions are cut off."""

KEYWORDS = 8
"""Maximum number of keywords."""

_FIELDS = 6
_LIST_MARK = re.compile(r"^(?:[-*•+]|\(?\d{1,3}[.):])\s+")
_RULE = re.compile(r"^[\s|:+=_-]+$")
_NOTHING = re.compile(r"^\W*(none|nothing|no statements?)\W*$", re.IGNORECASE)
_EMPTY = frozenset(["", "-", "–", "—", "none", "null", "n/a", "na"])
_NAMES: Mapping[str, Sequence[str]] = {
    "subject": ("subject", "source", "head"),
    "predicate": ("predicate", "relation", "relationship", "type"),
    "object": ("object", "target", "tail"),
    "text": ("description", "text"),
    "keywords": ("keywords",),
    "strength": ("strength", "weight"),
}

Fields: TypeAlias = tuple[str, str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement as a model writes it, with names instead of entities.

    Attributes:
        subject: the name that it is about.
        predicate: the relation.
        object: the name that the subject is related to; empty if the subject is described.
        text: a sentence that says it.
        keywords: what it is about.
        strength: how much it matters, 1 to 10.
    """

    subject: str
    predicate: str
    object: str
    text: str
    keywords: tuple[str, ...]
    strength: int


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """What a reply says.

    Attributes:
        claims: the statements, each once, in order.
        nothing: whether it says that the text states nothing.
        unreadable: the number of lines that say neither.
    """

    claims: tuple[Claim, ...]
    nothing: bool
    unreadable: int

    @property
    def usable(self) -> bool:
        return bool(self.claims) or self.nothing


def parse(reply: str) -> ParsedReply:
    """Read the text of a reply: its lines, or the JSON objects in it if they state more."""
    lines = _parsed(_rows(reply))
    objects = _parsed(row for one in objects_in(reply) for row in _of_json(one))
    return max(lines, objects, key=lambda read: len(read.claims))


def _parsed(rows: Iterable[Fields | str]) -> ParsedReply:
    claims: dict[Claim, None] = {}
    nothing, unreadable = False, 0
    for fields in rows:
        if isinstance(fields, str):
            nothing = nothing or bool(_NOTHING.match(fields))
            unreadable += not _NOTHING.match(fields)
        elif claim := _claim(fields):
            claims[claim] = None
        else:
            unreadable += 1
    return ParsedReply(tuple(claims), nothing and not claims, unreadable)


def _rows(reply: str) -> Iterator[Fields | str]:
    """Yield the fields of each statement, or a line without any."""
    bare = "\n".join(line for line in reply.splitlines() if not line.strip().startswith("```")).strip()
    if bare.startswith(("[", "{")):
        try:
            whole = json.loads(bare)
        except (ValueError, RecursionError):
            pass
        else:
            yield from _of_json(whole)
            return
    for line in map(str.strip, bare.splitlines()):
        if not line or _RULE.match(line):
            continue
        line = _LIST_MARK.sub("", line)
        if line.startswith("{"):
            try:
                yield from _of_json(json.loads(line.rstrip(",")))
                continue
            except (ValueError, RecursionError):
                pass
        fields = _of_line(line)
        if fields is None:
            yield line
        elif [field.casefold() for field in fields[:3]] != ["subject", "predicate", "object"]:
            yield fields


def _of_line(line: str) -> Fields | None:
    """Return the fields of a line, with empty ones for those that are missing."""
    if line.startswith("(") and line.endswith(")"):
        line = line[1:-1]
    bar = "|" if "|" in line else "\t"
    if line.endswith("|"):  # a row of a table
        line = line.removeprefix("|").removesuffix("|")
    cells = line.split(bar)
    if len(cells) < 3:
        return None
    if len(cells) > _FIELDS:  # a bar in the description
        cells = [*cells[:3], bar.join(cells[3:-2]), *cells[-2:]]
    if len(cells) == _FIELDS - 1 and cells[-1].strip().isdigit():  # no keywords
        cells.insert(-1, "")
    subject, predicate, object, text, keywords, strength = [*map(_clean, cells), "", "", ""][:_FIELDS]
    return subject, predicate, object, text, keywords, strength


def _of_json(value: Any) -> Iterator[Fields | str]:
    if isinstance(value, dict):
        lists = [one for one in value.values() if isinstance(one, list) and one and isinstance(one[0], dict)]
        if lists:  # such as entities and relationships
            value = max(lists, key=lambda rows: len(_parsed(_of_json(rows)).claims))
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, dict):
            yield str(one)
            continue
        lower = {str(name).casefold(): found for name, found in one.items()}
        cells = [next((lower[name] for name in names if name in lower), "") for names in _NAMES.values()]
        texts = [", ".join(map(str, cell)) if isinstance(cell, list) else str(cell) for cell in cells]
        subject, predicate, object, text, keywords, strength = map(_clean, texts)
        yield subject, predicate, object, text, keywords, strength


def _clean(field: str) -> str:
    """Return a field without quotes, emphasis, line breaks, and what no database stores."""
    text = " ".join(field.encode("utf-8", "ignore").decode().replace("\0", "").split())
    return text.strip(" \"'`*_“”")


def _claim(fields: Fields) -> Claim | None:
    subject, predicate, object, text, keywords, strength = fields
    if object.casefold() in _EMPTY:
        object = ""
    if text.casefold() in _EMPTY:
        text = ""
    if subject.casefold() in _EMPTY or predicate.casefold() in _EMPTY or not (object or text):
        return None
    if max(len(subject), len(object)) > LONGEST_NAME or len(predicate) > LONGEST_PREDICATE:
        return None
    number = re.search(r"\d+", strength)
    words = dict.fromkeys(word for word in map(_clean, re.split("[,;]", keywords)) if word.casefold() not in _EMPTY)
    return Claim(
        subject,
        predicate,
        object,
        text[:LONGEST_TEXT] or f"{subject} {predicate} {object}",
        tuple(words)[:KEYWORDS],
        min(max(int(number[0][:4]), 1), STRONGEST) if number else STRENGTH,
    )
