"""Read what a chat model states about a text: JSON, also where it is cut off or stands between other words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from e2g_neo4j.models.chat.json_replies import objects_in

STRENGTH = 5
"""The strength of a statement without one."""

STRONGEST = 10

LONGEST_NAME, LONGEST_PREDICATE, LONGEST_TEXT = 200, 100, 1_000
"""Maximum characters of a subject or object, of a predicate and of a description. Longer names and predicates are no
names and predicates, longer descriptions are cut off. Types and periods may be as long as predicates."""

STATUSES = ("true", "false", "suspected")
"""What a text may say of a claim: that it is so, that it is not so, or that somebody claims it."""

KEYWORDS = 8
"""Maximum number of keywords."""

_EMPTY = frozenset(["", "-", "–", "—", "none", "null", "n/a", "na"])


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
        subject_type: what kind of thing the subject is; empty if it is not said, as the others that follow.
        object_type: what kind of thing the object is.
        status: one of `STATUSES`.
        period: when it is so, as the text says it.
        subject_names: other names of the subject, by which it is found if the text does not have the first.
        object_names: other names of the object.
    """

    subject: str
    predicate: str
    object: str
    text: str
    keywords: tuple[str, ...]
    strength: int
    subject_type: str = ""
    object_type: str = ""
    status: str = ""
    period: str = ""
    subject_names: tuple[str, ...] = ()
    object_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """What a reply says.

    Attributes:
        claims: the statements, each once, in order.
        nothing: whether it says that the text states nothing.
    """

    claims: tuple[Claim, ...]
    nothing: bool

    @property
    def usable(self) -> bool:
        return bool(self.claims) or self.nothing


def parse(reply: str) -> ParsedReply:
    """Read the text of a reply: lists named `statements`, or, where one is cut off, the statements that are whole."""
    claims: dict[Claim, None] = {}
    nothing = False
    for one in objects_in(reply):
        listed = one.get("statements", [one])
        nothing = nothing or listed == []
        for row in listed if isinstance(listed, list) else ():
            if isinstance(row, dict) and (claim := read_claim(row)):
                claims[claim] = None
    return ParsedReply(tuple(claims), nothing and not claims)


def read_claim(row: Mapping[str, Any]) -> Claim | None:
    """Return a statement; None if it lacks a subject, a predicate, or both object and description."""
    subject, predicate, object, text = (_text(row, name) for name in ("subject", "predicate", "object", "description"))
    if not subject or not predicate or not (object or text):
        return None
    if max(len(subject), len(object)) > LONGEST_NAME or len(predicate) > LONGEST_PREDICATE:
        return None
    number = re.search(r"\d+", _text(row, "strength"))
    subject_type, object_type, period = (
        said if len(said) <= LONGEST_PREDICATE else ""
        for said in (_text(row, name) for name in ("subject_type", "object_type", "period"))
    )
    status = _text(row, "status").casefold()
    words = dict.fromkeys(filter(None, map(_clean_field, re.split("[,;]", _text(row, "keywords")))))
    return Claim(
        subject,
        predicate,
        object,
        text[:LONGEST_TEXT] or f"{subject} {predicate} {object}",
        tuple(words)[:KEYWORDS],
        min(max(int(number[0][:4]), 1), STRONGEST) if number else STRENGTH,
        subject_type,
        object_type if object else "",
        status if status in STATUSES else "",
        period,
    )


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return _clean_field(", ".join(map(str, value)) if isinstance(value, list) else str(value))


def _clean_field(field: str) -> str:
    """Return a field without quotes, emphasis, line breaks, and what no database stores; "" if it says nothing."""
    text = " ".join(field.encode("utf-8", "ignore").decode().replace("\0", "").split()).strip(" \"'`*_“”")
    return "" if text.casefold() in _EMPTY else text
