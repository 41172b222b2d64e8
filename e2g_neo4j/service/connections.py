"""How two entities are connected: the shortest path between them, and sentences that mention each two neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from e2g_neo4j.graph.catalog import check_corpus, entity_not_found, find_entity
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.models.entities.extraction_codec import decode
from e2g_neo4j.runtime.requests import Operation, Read

CHUNKS = 10
"""Chunks per step in which sentences are looked for, those that mention both entities most often."""

QUOTES = 2
"""Sentences per step."""

LONGEST_QUOTE = 500
"""In characters."""

Sentence: TypeAlias = tuple[dict[str, Any], int, int]
"""A row of a chunk, and where the sentence starts and ends in it."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence that mentions two entities. Offsets count characters of the document's text."""

    document: str
    title: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """Two neighbours on a path.

    Attributes:
        a: the name of the first entity.
        b: the name of the second entity.
        sentences: how many sentences of the corpus mention both.
        quotes: at most QUOTES of them.
    """

    a: str
    b: str
    sentences: int
    quotes: tuple[Quote, ...]


def connect(corpus: str, a: str, b: str, hops: int) -> Operation[tuple[Step, ...]]:
    """Return the steps of the shortest path between two entities, by any of their names; none if no path of at most
    `hops` edges, 1 to 6, connects them, or if both names are those of one entity. Raises NotFoundError if the corpus
    has no such entity."""
    [found] = yield Read("query/connect", {"corpus": corpus, "a": entity_key(a), "b": entity_key(b), "hops": hops})
    for name, key in ((a, found["a"]), (b, found["b"])):
        if key is None:
            yield from check_corpus(corpus)
            raise entity_not_found(corpus, name)
    if not found["names"]:
        return ()
    pairs = [{"a": one, "b": other} for one, other in pairwise(found["keys"])]
    chunks = yield Read("query/shared_chunks", {"corpus": corpus, "pairs": pairs, "document": None, "limit": CHUNKS})
    chosen = [_sentences([one for one in chunks if one["a"] == pair["a"] and one["b"] == pair["b"]]) for pair in pairs]
    quotes = yield from _read_quotes(corpus, chosen)
    return tuple(
        Step(one, other, number, tuple(step))
        for (one, other), number, step in zip(pairwise(found["names"]), found["sentences"], quotes, strict=True)
    )


def find_quotes(corpus: str, a: str, b: str, limit: int, document: str | None = None) -> Operation[list[Quote]]:
    """Return sentences that mention two entities, by any of their names, or one if both are the same, in reading order:
    from the chunks that do most often, of a document or of all. Raises NotFoundError if the corpus has no such
    entity."""
    pair = {"a": (yield from find_entity(corpus, a)), "b": (yield from find_entity(corpus, b))}
    options = {"corpus": corpus, "pairs": [pair], "document": document, "limit": limit}
    chunks = yield Read("query/shared_chunks", options)
    [quotes] = yield from _read_quotes(corpus, [_sentences(chunks, limit)])
    return sorted(quotes, key=lambda one: (one.title, one.document, one.start))


def _read_quotes(corpus: str, chosen: Sequence[Sequence[Sentence]]) -> Operation[list[list[Quote]]]:
    """Read the texts of the sentences of some steps."""
    spans = [{"chunk": chunk["chunk"], "start": start, "end": end} for step in chosen for chunk, start, end in step]
    rows = yield Read("query/sentences", {"corpus": corpus, "spans": spans})
    texts = {(row["chunk"], row["start"]): row["text"] for row in rows}
    return [[_quote(*sentence, texts) for sentence in step] for step in chosen]


def _sentences(chunks: Sequence[dict[str, Any]], most: int = QUOTES) -> list[Sentence]:
    """Return sentences that mention both entities of a step, each once although chunks overlap."""
    found: dict[tuple[str, int], Sentence] = {}
    for chunk in chunks:
        for one in decode(chunk["notes"]).sentences:
            if not (set(chunk["names_a"]).isdisjoint(one.entities) or set(chunk["names_b"]).isdisjoint(one.entities)):
                place = (chunk["document"], chunk["start"] + one.start)
                found.setdefault(place, (chunk, one.start, min(one.end, one.start + LONGEST_QUOTE)))
        if len(found) >= most:
            break
    return list(found.values())[:most]


def _quote(chunk: dict[str, Any], start: int, end: int, texts: dict[tuple[str, int], str]) -> Quote:
    begins = chunk["start"]
    return Quote(chunk["document"], chunk["title"], begins + start, begins + end, texts[chunk["chunk"], start])
