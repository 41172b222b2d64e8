"""What the graph has about the entities of a question: which there are, how far apart, and the chunks they share."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from e2g_neo4j.retrieval.filters import Filter
from e2g_neo4j.retrieval.lucene import MAX_NAME, name_queries, terms_of
from e2g_neo4j.runtime.requests import Rows
from e2g_neo4j.types.graph import NOUN
from e2g_neo4j.types.results import Absence, Pair

MAX_ENTITIES = 24
"""Maximum number of entities of a question that are considered, names before nouns, the rarest first. This limits the
pairs to 276."""

MAX_MEANINGS = 3
"""Maximum number of entities that a name may resolve to as an alias, in addition to the entity of that name, or because
their names resemble it."""

MAX_ABSENCES = 10
"""Maximum number of pairs of entities that are told to be in no passage together."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that mentions at least two of the question's entities.

    Attributes:
        chunk: Id of the chunk.
        place: Document and number of the chunk.
        counts: Number of mentions per entity.
        pairs: The pairs within the allowed hops, closest first.
    """

    chunk: str
    place: tuple[str, int]
    counts: dict[str, int]
    pairs: tuple[Pair, ...]


def pairs_within_hops(pairs: Iterable[Mapping[str, Any]], hops: int) -> tuple[Pair, ...]:
    """Return the pairs that are at most `hops` edges apart, closest first."""
    found = {Pair(pair["a"], pair["b"], pair["hops"]) for pair in pairs if pair["hops"] <= hops}
    return tuple(sorted(found, key=lambda pair: (pair.hops, pair.a, pair.b)))


def candidates(link: Mapping[str, Any], hops: int) -> list[Candidate]:
    """Return the chunks that mention several of the question's entities in one corpus."""
    pairs = pairs_within_hops(link["pairs"], hops)
    found = []
    for row in link["shared"]:
        counts = {count["entity"]: count["count"] for count in row["counts"]}
        held = tuple(pair for pair in pairs if pair.a in counts and pair.b in counts)
        found.append(Candidate(row["chunk"], (row["document"], row["index"]), counts, held))
    return found


@dataclass(frozen=True, slots=True)
class Linked:
    """What the graph has about the entities of a question.

    Attributes:
        entities: The entities, in the order of the question.
        ignored: Those that are not considered because there are too many.
        unknown: The names that resolve to no entity.
        in_text: Those of them of which the text has a word.
        resolved: The names that nothing is called by, and the entities with similar names, the most mentioned first.
        readings: The same in words, such as "renfeild → Renfield".
        by_corpus: The entities of each corpus.
        distances: Pairs of entities with the lengths of their shortest paths: `a`, `b`, `hops`.
        pairs: The pairs within the allowed hops, closest first.
        shared: The chunks that mention several of the entities.
        types: The known types of the entities.
        absences: Pairs of names that no chunk mentions together.
    """

    entities: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    in_text: tuple[str, ...] = ()
    resolved: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    readings: Sequence[str] = ()
    by_corpus: Mapping[str, Sequence[str]] = field(default_factory=dict)
    distances: Sequence[Mapping[str, Any]] = ()
    pairs: tuple[Pair, ...] = ()
    shared: Sequence[Candidate] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    absences: tuple[Absence, ...] = ()

    @property
    def pairs_by_chunk(self) -> dict[str, tuple[Pair, ...]]:
        """The pairs that each chunk mentions, of the chunks that mention any."""
        return {candidate.chunk: candidate.pairs for candidate in self.shared if candidate.pairs}

    @property
    def hops_of_names(self) -> dict[str, int]:
        """How far the closest two names are apart that each chunk mentions, without nouns."""
        named = {key for key, type in self.types.items() if type != NOUN}
        found = {
            chunk: [pair.hops for pair in pairs if pair.a in named and pair.b in named]
            for chunk, pairs in self.pairs_by_chunk.items()
        }
        return {chunk: min(hops) for chunk, hops in found.items() if hops}


def link_parameters(
    names: Iterable[str],
    other_names: Sequence[str] = (),
    terms: Sequence[str] = (),
    *,
    proper: Mapping[str, Sequence[str]] | None = None,
    limit: int | None = None,
) -> dict[str, Any]:
    """Return the parameters of `link.cypher`, but for the corpus.

    Args:
        names: Keys of the question's entities.
        other_names: Keys of other words of the question.
        proper: Names that may be a part of the name of an entity, or have typing errors. Those with terms count only if
            the text of the corpus lacks one of these.
    """
    asked = [
        {"name": name, "words": name_queries(name), "terms": list(of_name)}
        for name, of_name in (proper or {}).items()
        if 0 < len(name.split()) <= MAX_NAME
    ]
    return {
        "names": sorted(set(names)),
        "other_names": list(other_names),
        "proper": asked[:MAX_ENTITIES],
        "limit": limit or MAX_ENTITIES,
        "meanings": MAX_MEANINGS,
        "terms": list(terms),
    }


def link(
    links: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    other_names: Sequence[str],
    hops: int,
    filter: Filter | None = None,
) -> Linked:
    """Return what rows of `link.cypher` say, one per corpus.

    Args:
        names: Keys of the question's entities.
        other_names: Keys of other words of the question.
        hops: How far entities may be apart, in edges.
        filter: The documents to search. Chunks of others are left out.
    """
    entities, ignored, unknown = resolve_entities(names, links, other_names)
    resolved, readings = _read_names(links)
    written = {term["term"] for link in links for term in link["words"]["terms"]}
    distances = [pair for link in links for pair in link["pairs"]]
    shared = [candidate for link in links for candidate in candidates(link, hops)]
    if filter:
        visible = {id for documents in filter.by_corpus.values() for id in documents.ids}
        shared = [one for one in shared if one.place[0] in visible]
    return Linked(
        entities,
        ignored,
        unknown,
        tuple(name for name in unknown if not written.isdisjoint(terms_of(name.split()))),
        resolved,
        readings,
        {link["corpus"]: resolve_entities(names, [link], other_names)[0] for link in links},
        distances,
        pairs_within_hops(distances, hops),
        shared,
        entity_types(links),
        find_absences(entities, links, shared, 0 if filter else sum(link["words"]["windows"] for link in links)),
    )


def find_absences(
    entities: Sequence[str], links: Sequence[Mapping[str, Any]], shared: Iterable[Candidate], windows: int
) -> tuple[Absence, ...]:
    """Return the pairs of names that no chunk mentions together, closest first, at most MAX_ABSENCES.

    Common nouns are left out, and so are two entities that only the same name of the question resolves to.

    Args:
        links: Rows of `link.cypher`, one per corpus.
        shared: The chunks that mention several of the entities.
        windows: The number of windows that were searched; 0: they are not counted.
    """
    rows = [row for link in links for row in link["named"]]
    nouns = {row["entity"] for row in rows if row.get("type") == "noun"}
    names = {key: {name for row in rows if row["entity"] == key for name in row["names"]} for key in entities}
    together = {pair for one in shared for pair in combinations(sorted(one.counts), 2)}
    hops = {(pair["a"], pair["b"]): pair["hops"] for link in reversed(links) for pair in link["pairs"]}
    found = [
        Absence(a, b, hops.get((a, b)), windows)
        for a, b in combinations(sorted(set(entities) - nouns), 2)
        if (a, b) not in together and len(names[a] | names[b]) > 1
    ]
    return tuple(sorted(found, key=lambda one: (one.hops is None, one.hops or 0, one.a, one.b))[:MAX_ABSENCES])


def join_absences(found: Sequence[Linked]) -> tuple[Absence, ...]:
    """Return the pairs that no chunk mentions together in any of several groups of corpora."""
    if len(found) == 1:
        return found[0].absences
    joined: dict[tuple[str, str], Absence] = {}
    for linked in found:
        for one in linked.absences:
            held = joined.get((one.a, one.b), Absence(one.a, one.b))
            hops = min((length for length in (one.hops, held.hops) if length is not None), default=None)
            joined[one.a, one.b] = Absence(one.a, one.b, hops, held.windows + one.windows)
    together = [set(linked.entities) for linked in found]
    absent = [{(one.a, one.b) for one in linked.absences} for linked in found]
    return tuple(
        one
        for pair, one in joined.items()
        if all(pair in apart or not known.issuperset(pair) for known, apart in zip(together, absent, strict=True))
    )[:MAX_ABSENCES]


def leave_out(links: Iterable[Mapping[str, Any]], keys: Collection[str]) -> Rows:
    """Return rows of `link.cypher` as if the entities with these keys did not exist."""
    return [
        {
            **link,
            **{name: [row for row in link[name] if row["entity"] not in keys] for name in ("named", "left", "similar")},
            "pairs": [pair for pair in link["pairs"] if not {pair["a"], pair["b"]} & set(keys)],
            "shared": [
                {**row, "counts": counts}
                for row in link["shared"]
                if len(counts := [one for one in row["counts"] if one["entity"] not in keys]) > 1
            ],
        }
        for link in links
    ]


def _read_names(links: Iterable[Mapping[str, Any]]) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the entities that stand for names which nothing is called by, and how to read these names."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    more: Counter[str] = Counter()
    for link in links:
        used = {(row["entity"], name) for row in (*link["named"], *link["left"]) for name in row["names"]}
        rows = [row for row in link["similar"] if (row["entity"], row["name"]) in used]
        for row in rows:
            found[row["name"]].setdefault(row["entity"], row["called"])
        more.update({row["name"]: row["count"] for row in rows})
        more.subtract(row["name"] for row in rows)
    readings = []
    for name, called in found.items():
        first, *others = called.values()
        count = len(called) + more[name]
        also = f": also {', '.join(others)}" if others else ""
        readings.append(f"{name} → {first}" + (f" (of {count}{also})" if count > 1 else ""))
    return {name: tuple(called) for name, called in found.items()}, readings


def entity_types(links: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the known types of the entities in rows of `link.cypher`. The first row with an entity decides."""
    rows = (row for link in reversed(links) for row in link["named"])
    return {row["entity"]: row["type"] for row in rows if row.get("type")}


def resolve_entities(
    names: Sequence[str], links: Sequence[Mapping[str, Any]], candidates: Sequence[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Resolve the names of a question to entities.

    Args:
        names: The names, in the order of the question.
        links: Rows of `link.cypher`, one per corpus.
        candidates: Other words that may be names.

    Returns:
        The entities, the entities that are not considered because there are too many, and the names that resolve to
        neither, each in the order of the question.
    """
    asked = [*names, *candidates]
    entities = _resolve(asked, (row for link in links for row in link["named"]))
    left = _resolve(asked, (row for link in links for row in link["left"]))
    known = {name for link in links for row in (*link["named"], *link["left"]) for name in row["names"]}
    parts = [f" {name} " for name in known.intersection(candidates)]
    unknown = tuple(
        name
        for name in dict.fromkeys(names)
        if name not in known and not any(part in f" {name} " or f" {name} " in part for part in parts)
    )
    return entities, tuple(key for key in left if key not in entities), unknown


def _resolve(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        for name in row["names"]:
            by_name[name].append(row["entity"])
    ordered = (key for name in names for key in sorted(by_name[name], key=lambda key: (key != name, key)))
    return tuple(dict.fromkeys(ordered))
