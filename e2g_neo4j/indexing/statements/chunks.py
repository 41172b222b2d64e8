"""The chunks of a corpus as statements are made from them: the parts that are asked about, and their entities."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from e2g_neo4j.indexing.statements.chat import keys_of
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.models.entities.extraction_codec import decode
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Operation, Read
from e2g_neo4j.types.documents import Span, TokenSpans

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


PART_TOKENS = 600
"""Tokens of a part, about. Models find more in short texts: the authors of GraphRAG (arXiv 2404.16130, section 3.1.1)
counted almost twice as many references to entities with parts of 600 tokens as with 2400."""


def parts(text: str, own: Span, starts: Iterable[int], token_spans: TokenSpans) -> list[str]:
    """Cut the own text of a chunk into parts of about equal length, at the beginnings of sentences.

    What a chunk shares with the chunk before belongs to one of them alone, so that it is paid for once.

    Args:
        text: the text of the chunk.
        own: the span of its own text.
        starts: where its sentences begin.
    """
    begin, end = own[0], min(own[1], len(text))
    tokens = token_spans(text[begin:end])
    number = -(-len(tokens) // PART_TOKENS)
    borders = sorted(start - begin for start in set(starts) if begin < start < end)
    cuts = {0, end - begin}
    for part in range(1, number if borders else 0):
        wanted = tokens[part * len(tokens) // number][0]
        cuts.add(min(borders, key=lambda border: abs(border - wanted)))
    found = (text[begin + first : begin + last].strip() for first, last in pairwise(sorted(cuts)))
    return [part for part in found if part]


def entity_of(name: str, mentioned: Collection[str], aliases: Mapping[str, str]) -> str | None:
    """Return the key of the entity that a name stands for in a chunk, or None.

    It is an entity that the chunk mentions: the one of that name, or that the name resolves to in the document. Else it
    is the one with the longest end of the name, because in English the last words say what it is: "the old Count
    Dracula" is Count Dracula, but "Dracula's castle" is not Dracula. An entity that the chunk does not mention is not
    one that its text states anything about.

    Args:
        mentioned: the keys of the entities that the chunk mentions.
        aliases: the entities that other names resolve to in the document.
    """
    words = entity_key(name).split()
    for first in range(len(words)):
        key = " ".join(words[first:])
        for found in (key, aliases.get(key)):
            if found in mentioned:
                return found
    return None
