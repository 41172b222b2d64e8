"""Match the keywords of a question to entities: by key, alias, another form of the words, and the vector of the name.

Mode `synonyms` uses the matches. They are read before it ranks, because the evidence tells them too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from e2g_neo4j.models.porter import stem
from e2g_neo4j.models.words import terms
from e2g_neo4j.runtime.requests import EmbedAll, Operation, read_each

MAX_KEYWORDS = 12
"""Maximum keywords of a question."""

MEANINGS = 3
"""Maximum entities that a keyword resolves to as an alias."""

FORMS = 20
"""Maximum entities with the stem of a keyword that are compared with it."""

SIMILAR = 3
"""Maximum entities of a keyword by vector."""

CANDIDATES = 20
"""Entities that the index is asked for, because it is approximate. With 100, the same was found on MuSiQue."""

THRESHOLD = 0.9
"""Least score of an entity by vector, (1 + cosine) / 2. Of thirty pairs of names of one thing, such as physician and
doctor, the bundled model puts 15 above it, and none of thirty pairs of different things, such as father and mother;
above .85 it puts 21 and 6."""

_SHORTEST_STEM = 3

By: TypeAlias = Literal["key", "alias", "form", "vector"]

_ORDER: Sequence[By] = ("key", "alias", "form", "vector")


@dataclass(frozen=True, slots=True)
class Match:
    """An entity that a keyword means.

    Attributes:
        keyword: The key of the keyword.
        entity: The key of the entity.
        by: How it was found. `form`: the words have the same stems.
        score: 1, or for `vector` (1 + cosine) / 2 of the two names.
    """

    keyword: str
    entity: str
    by: By
    score: float


def first_keywords(keywords: Mapping[str, str]) -> dict[str, str]:
    """Return the keywords that are looked up, by key: names before nouns and phrases, in the order of the question."""
    first = sorted(keywords, key=lambda key: keywords[key] == key)[:MAX_KEYWORDS]
    return {key: form for key, form in keywords.items() if key in first}


def match_keywords(keywords: Mapping[str, str], corpora: Sequence[str]) -> Operation[dict[str, tuple[Match, ...]]]:
    """Match keywords to entities, in one read per corpus.

    Args:
        keywords: By key, how the question spells them.
        corpora: The corpora.

    Returns:
        The matches per corpus, in the order of the keywords, the surest first.
    """
    vectors = yield EmbedAll(tuple(keywords.values()))
    given = [
        {"key": key, "stem": stem_of(key), "vector": vector} for key, vector in zip(keywords, vectors, strict=True)
    ]
    constants = {
        "keywords": given,
        "meanings": MEANINGS,
        "forms": FORMS,
        "similar": SIMILAR,
        "candidates": CANDIDATES,
        "threshold": THRESHOLD,
    }
    rows = yield from read_each("query/synonyms", dict.fromkeys(corpora, constants))
    order = [one["key"] for one in given]
    return {corpus: matches(order, [row for row in rows if row["corpus"] == corpus]) for corpus in corpora}


def stem_of(key: str) -> str | None:
    """Return what all forms of a keyword begin with: "compan" for "companies". None if that is too short."""
    *first, last = key.split(" ")
    beginning = " ".join([*first, stem(last).rstrip("i")])
    return beginning if len(beginning) >= _SHORTEST_STEM and key.startswith(beginning) else None


def matches(order: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> tuple[Match, ...]:
    """Return the matches in the rows of `synonyms.cypher`. A pair of keyword and entity counts once, as the surest.

    An entity by stem is a match if its words have the same stems as those of the keyword.

    Args:
        order: The keywords.
        rows: The rows of one corpus.
    """
    found = [
        Match(row["keyword"], row["entity"], row["by"], row["score"])
        for row in rows
        if row["by"] != "form" or list(terms(row["entity"])) == list(terms(row["keyword"]))
    ]
    found.sort(key=lambda one: (order.index(one.keyword), _ORDER.index(one.by), -round(one.score, 5), one.entity))
    first: dict[tuple[str, str], Match] = {}
    for one in found:
        first.setdefault((one.keyword, one.entity), one)
    return tuple(first.values())


def entities_of(
    matches: Mapping[str, Sequence[Match]], keywords: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the entities that keywords were matched to, and the keywords that match none, in the order of keywords."""
    found = [one for of_corpus in matches.values() for one in of_corpus]
    order = list(keywords)
    entities = dict.fromkeys(one.entity for one in sorted(found, key=lambda one: order.index(one.keyword)))
    known = {one.keyword for one in found}
    return tuple(entities), tuple(key for key in order if key not in known)


def matches_told(matches: Mapping[str, Sequence[Match]]) -> str:
    """Tell which entities keywords were matched to, and how."""
    told: dict[str, dict[str, str]] = {}
    for one in (one for corpus in matches.values() for one in corpus):
        how = f"vector, {one.score:.2f}" if one.by == "vector" else one.by
        told.setdefault(one.keyword, {}).setdefault(one.entity, f"{one.entity} ({how})")
    if not told:
        return "No entity matches a keyword of the question."
    return "; ".join(f"“{keyword}” matches {', '.join(found.values())}" for keyword, found in told.items()) + "."
