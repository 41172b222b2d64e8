"""Read the chunks of a corpus, in the parts that are asked about."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from e2g_neo4j.indexing.statements.chat import keys_of
from e2g_neo4j.indexing.statements.parts import parts
from e2g_neo4j.models.entities.extraction_codec import decode
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Operation, Read

CHUNKS_READ = 200
"""Chunks that one statement reads."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a chunk: its text, and the keys of the cache under which a reply to it may be found."""

    text: str
    keys: Sequence[str]


@dataclass(frozen=True, slots=True)
class ChunkParts:
    """A chunk with its number in the document, the entities that it mentions, and its parts."""

    id: str
    document: str
    index: int
    entities: frozenset[str]
    parts: Sequence[Part]


def read_chunks(models: Models, corpus: str, names: Sequence[str]) -> Operation[list[ChunkParts]]:
    """Read the chunks of a corpus and cut them into parts.

    Args:
        names: the names of the extractors whose replies may be cached.
    """
    found = []
    after = ""
    while rows := (yield Read("statements/chunks", {"corpus": corpus, "after": after, "limit": CHUNKS_READ})):
        for row in rows:
            starts = [sentence.start for sentence in decode(row["notes"]).sentences]
            texts = parts(row["text"], tuple(row["own"]), starts, models.embedder.token_spans)
            found.append(
                ChunkParts(
                    row["chunk"],
                    row["document"],
                    row["index"],
                    frozenset(row["entities"]),
                    [Part(text, keys_of(names, text)) for text in texts],
                )
            )
        after = rows[-1]["chunk"]
    return found


def texts_of(corpus: str, ids: Collection[str]) -> Operation[dict[str, str]]:
    """Return the texts of those chunks of a corpus that are named, by id."""
    texts: dict[str, str] = {}
    after = ""
    while rows := (yield Read("statements/chunks", {"corpus": corpus, "after": after, "limit": CHUNKS_READ})):
        texts |= {row["chunk"]: row["text"] for row in rows if row["chunk"] in ids}
        after = rows[-1]["chunk"]
    return texts
