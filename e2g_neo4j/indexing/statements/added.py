"""Statements that others have extracted: what graph documents say about texts.

They are kept by the texts that they are about, and found in the chunks whenever statements are made. So it does not
matter how others have cut the text, nor what is indexed first, and after any updates the statements are those of a
fresh corpus.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate
from typing import Any

from e2g_neo4j.indexing.statements.chunks import ChunkParts
from e2g_neo4j.indexing.statements.replies import LONGEST_NAME, Claim, read_claim
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.runtime.requests import Operation, Read
from e2g_neo4j.types.graph import GraphDocument, GraphNode
from e2g_neo4j.types.ids import addition_key

TEXTS_READ = 500
"""Texts that one statement reads."""

PROBE = 40
"""Characters by which a text is looked for. Only where they are, all of its characters are compared."""

WHOLE = 8
"""Texts with fewer words are compared as they are. Of longer ones, the first and the last word may be cut off, because
some splitters cut within words. In short texts these two may make all the difference."""

ID_NAMES = ("id", "chunk_id")
"""Where the metadata of a text may name a chunk of the corpus."""

UNTYPED = "Node"
"""The type that LangChain gives to nodes without one."""

OTHER_NAMES = ("name", "aliases")
"""Properties of a node with other names for it."""

MOST_NAMES = 20
"""Other names of a node that are used."""

WHEN, SINCE, UNTIL = (
    ("period", "date", "year"),
    ("valid_from", "start_date", "since"),
    ("valid_to", "end_date", "until"),
)
"""Properties of a relationship that say when it holds."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class AddedText:
    """A text with what was found in it. White space does not count.

    Attributes:
        characters: the number of characters that are compared.
        before: the number of characters before them, of a word that may be cut off.
        after: the number of characters after them.
        probe: the first of those that are compared.
        sha256: a hash of all of those.
    """

    characters: int
    before: int
    after: int
    probe: str
    sha256: str
    claims: tuple[Claim, ...]

    @classmethod
    def of(cls, text: str, claims: tuple[Claim, ...]) -> AddedText:
        words = text.split()
        cut = 0 if len(words) < WHOLE else 1
        before, after = "".join(words[:cut]), "".join(words[len(words) - cut :])
        compared = "".join(words[cut : len(words) - cut])
        return cls(len(compared), len(before), len(after), compared[:PROBE], _hash(compared), claims)

    @classmethod
    def load(cls, text: str) -> AddedText:
        """Return what `dump` has written."""
        held = json.loads(text)
        claims = tuple(
            Claim(**(claim | {name: tuple(each) for name, each in claim.items() if isinstance(each, list)}))
            for claim in held["claims"]
        )
        return cls(**{**held, "claims": claims})

    def dump(self) -> str:
        return json.dumps(asdict(self))


def chunk_ids(document: GraphDocument) -> list[str]:
    """Return the ids that the source of a graph document may name a chunk by."""
    source = document.source
    if source is None:
        return []
    named = [getattr(source, "id", None), *(source.metadata.get(name) for name in ID_NAMES)]
    return [one for one in named if isinstance(one, str)]


def claims_of(document: GraphDocument) -> list[Claim | None]:
    """Return what a graph document states: its relationships, and the descriptions of its nodes. None for what has no
    names, or too long ones."""
    said = [_claim(one.source, readable(one.type), one.target, one.properties) for one in document.relationships]
    return said + [_claim(node, "is", None, node.properties) for node in document.nodes if _text(node.properties)]


def readable(type: str) -> str:
    """Return the type of a relationship as words: `MARRIED_TO` and `marriedTo` are "married to"."""
    return " ".join(_CAMEL.sub(" ", type).replace("_", " ").lower().split())


def _claim(subject: GraphNode, predicate: str, object: GraphNode | None, properties: Mapping[str, Any]) -> Claim | None:
    held = {
        "subject": str(subject.id),
        "subject_type": _type(subject),
        "predicate": predicate,
        "object": str(object.id) if object else "",
        "object_type": _type(object) if object else "",
        "period": _period(properties),
        "description": _text(properties),
        "keywords": properties.get("keywords") or "",
        "strength": properties.get("strength") or "",
    }
    claim = read_claim(held)
    if claim is None:
        return None
    return replace(claim, subject_names=_other_names(subject), object_names=_other_names(object) if object else ())


def _other_names(node: GraphNode) -> tuple[str, ...]:
    """Return the other names of a node: its properties `name` and `aliases`."""
    listed = (node.properties.get(name) for name in OTHER_NAMES)
    names = [one for value in listed for one in (re.split("[,;|]", value) if isinstance(value, str) else value or ())]
    cleaned = (" ".join(one.split()) for one in names if isinstance(one, str) and len(one) <= LONGEST_NAME)
    return tuple(dict.fromkeys(one for one in cleaned if one and one != str(node.id)))[:MOST_NAMES]


def _period(properties: Mapping[str, Any]) -> str:
    """Return when a relationship holds, by its properties; "" if they do not say it."""
    whole, begin, end = (
        next((str(properties[name]) for name in names if properties.get(name)), "") for names in (WHEN, SINCE, UNTIL)
    )
    return whole or " ".join([*([f"from {begin}"] if begin else []), *([f"until {end}"] if end else [])])


def _type(node: GraphNode) -> str:
    """Return the type of a node, if it has one: `Node` is LangChain's default."""
    return "" if node.type == UNTYPED else node.type


def _text(properties: Mapping[str, Any]) -> str:
    description = properties.get("description")
    return description.strip() if isinstance(description, str) else ""


def key_of(corpus: str, text: str) -> str:
    """Return the key under which what is stated about a text is kept. White space does not count."""
    return addition_key(corpus, _hash("".join(text.split())))


def read_added(corpus: str) -> Operation[list[AddedText]]:
    """Read the texts of a corpus about which graph documents were added."""
    first = after = addition_key(corpus)
    found = []
    while rows := (yield Read("statements/added", {"first": first, "after": after, "limit": TEXTS_READ})):
        found += [AddedText.load(row["text"]) for row in rows]
        after = rows[-1]["key"]
    return found


@dataclass(frozen=True, slots=True)
class Placed:
    """Where added texts are in a corpus.

    Attributes:
        claims: what they state, by the texts of parts. A part that an added text has as a whole is here even if nothing
            is stated about it.
        missing: the texts that the corpus does not have.
    """

    claims: Mapping[str, Sequence[Claim]]
    missing: Sequence[AddedText]


def place(chunks: Iterable[ChunkParts], added: Sequence[AddedText]) -> Placed:
    """Find added texts in a corpus, and the part that each of their statements belongs to.

    Of the parts that a text is in, it is the first one that mentions both names, else the first one that mentions the
    subject, else the first one that mentions the object, else the first.
    """
    by_document: defaultdict[str, list[ChunkParts]] = defaultdict(list)
    for chunk in chunks if added else ():
        by_document[chunk.document].append(chunk)
    claims: defaultdict[str, dict[Claim, None]] = defaultdict(dict)
    missing = dict.fromkeys(added)
    for of_document in by_document.values():
        of_document.sort(key=lambda chunk: chunk.index)
        parts = [part.text for chunk in of_document for part in chunk.parts]
        words = [part.split() for part in parts]
        borders = list(accumulate((sum(map(len, of_part)) for of_part in words), initial=0))
        for text, start, end in _occurrences([word for of_part in words for word in of_part], added):
            missing.pop(text, None)
            first, after = bisect_right(borders, start) - 1, bisect_left(borders, end)
            for number in range(first, after):
                if start <= borders[number] and borders[number + 1] <= end:
                    claims[parts[number]] |= {}
            for claim in text.claims:
                claims[_part_about(claim, parts[first:after])][claim] = None
    return Placed({part: tuple(of_part) for part, of_part in claims.items()}, tuple(missing))


def _occurrences(words: Iterable[str], added: Iterable[AddedText]) -> Iterator[tuple[AddedText, int, int]]:
    """Yield where a document has an added text, in characters without white space. It begins and ends with a word."""
    wanted: defaultdict[int, defaultdict[str, list[AddedText]]] = defaultdict(lambda: defaultdict(list))
    for text in added:
        wanted[len(text.probe)][text.probe].append(text)
    words = list(words)
    whole = "".join(words)
    borders = dict.fromkeys(accumulate(map(len, words), initial=0))
    for length, by_probe in wanted.items():
        for start in borders if length else ():
            for text in by_probe.get(whole[start : start + length], ()):
                end = start + text.characters
                if end in borders and _hash(whole[start:end]) == text.sha256:
                    yield text, max(start - text.before, 0), min(end + text.after, len(whole))


def _part_about(claim: Claim, parts: Sequence[str]) -> str:
    def mentions(part: str) -> tuple[bool, bool]:
        words = _words_of(part)
        subject, object = (claim.subject, *claim.subject_names), (claim.object, *claim.object_names)
        return any(_last_word(one) in words for one in subject), any(_last_word(one) in words for one in object)

    return max(parts, key=mentions)


@lru_cache(maxsize=64)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(word for written in text.split() for word in _key(written).split())


def _last_word(name: str) -> str:
    """Return the last word of a name, which says what it is: see `entities`."""
    return _key(name).rpartition(" ")[2]


_key = lru_cache(maxsize=50_000)(entity_key)


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
