"""What indexing finds in documents, and the rows in which it is sent: parameters of `cypher/index/*`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.chunking import cut_by
from e2g_neo4j.cooccurrence import ChunkMentions
from e2g_neo4j.model import Chunk, SourceDocument, Span, Summary, Vectors
from e2g_neo4j.naming import Join


@dataclass(frozen=True, slots=True)
class Before:
    """What queries see of a document before it is replaced: rows of its nodes by id. Nothing of a new document."""

    chunks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    summaries: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadChunk:
    """A chunk of a document with what the models found in it: the extraction, packed; the windows in which the
    embedding model read it, as spans in its text; their vectors, shape (windows, dimensions), and its own."""

    document: str
    chunk: Chunk
    notes: bytes
    windows: Sequence[Span]
    window_vectors: Vectors
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document that is staged: its chunks and its tree, and the chunks that stay as they were `before`. `persistence`
    is that of its windows."""

    document: SourceDocument
    chunks: Sequence[Chunk]
    summaries: Sequence[Summary]
    joins: Sequence[Join]
    windows: int
    persistence: float
    before: Before = field(default_factory=Before)
    staying: Collection[str] = ()

    @property
    def new_summaries(self) -> list[Summary]:
        return [summary for summary in self.summaries if summary.id not in self.before.summaries]


def told(mentions: ChunkMentions) -> str:
    """A hash of what a chunk mentions, the same in every corpus."""
    found = [(one.entity, one.count, one.sentences, one.windows, one.forms) for one in mentions.mentions]
    return sha256(repr(found).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def window_weights(mentions: ChunkMentions) -> list[float]:
    """For each window of a chunk: the sum over its entities of 1 + ln(sentences that hold the entity)."""
    counts = np.array([mention.windows for mention in mentions.mentions], dtype=float)
    if not counts.size:
        return []
    weights: list[float] = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0).sum(axis=0).tolist()
    return weights


def staying_row(indexed: IndexedDocument) -> dict[str, Any]:
    """What a new version has in common with the one before."""
    return {
        "document": indexed.document.id,
        "chunks": sorted(indexed.staying),
        "summaries": [summary.id for summary in indexed.summaries if summary.id in indexed.before.summaries],
        "all": False,
    }


def ready_row(indexed: IndexedDocument) -> dict[str, Any]:
    """What a document is told of itself when it is complete."""
    return {
        "id": indexed.document.id,
        "title": indexed.document.title,
        "source": indexed.document.source,
        "sha256": indexed.document.sha256,
        "chunker": cut_by(indexed.document),
        "characters": len(indexed.document.text),
        "tokens": sum(chunk.tokens for chunk in indexed.chunks),
        "chunks": len(indexed.chunks),
        "windows": indexed.windows,
        "persistence": indexed.persistence,
    }


def chunk_row(read: ReadChunk) -> dict[str, Any]:
    chunk = read.chunk
    lengths = [end - start for start, end in read.windows]
    return {
        "id": chunk.id,
        "document": read.document,
        "index": chunk.index,
        "text": None if chunk.stands_for else chunk.text,
        "start": chunk.start,
        "end": chunk.end,
        "tokens": chunk.tokens,
        "page": chunk.page,
        "heading": chunk.heading,
        "own": [place - chunk.start for place in chunk.own],
        "notes": read.notes,
        "window_shares": [length / sum(lengths) for length in lengths],
        "embedding": None if chunk.stands_for else read.vector.tolist(),
        "stands_for": asdict(chunk.stands_for) if chunk.stands_for else None,
    }


def window_rows(read: ReadChunk) -> Iterator[Mapping[str, Any]]:
    for number, ((start, end), vector) in enumerate(zip(read.windows, read.window_vectors, strict=True)):
        yield {
            "id": f"{read.chunk.id}-w{number}",
            "document": read.document,
            "chunk": read.chunk.id,
            "index": number,
            "text": None if read.chunk.stands_for else read.chunk.text[start:end],
            "start": read.chunk.start + start,
            "end": read.chunk.start + end,
            "embedding": vector.tolist(),
        }


def moved_chunk_rows(documents: Sequence[IndexedDocument]) -> Iterator[Mapping[str, Any]]:
    for indexed in documents:
        for chunk in indexed.chunks:
            there = indexed.before.chunks[chunk.id] if chunk.id in indexed.staying else None
            row = {
                "id": chunk.id,
                "index": chunk.index,
                "start": chunk.start,
                "end": chunk.end,
                "page": chunk.page,
                "heading": chunk.heading,
            }
            if there and any(there[name] != value for name, value in row.items()):
                yield {**row, "shift": chunk.start - there["start"]}


def order_rows(documents: Sequence[IndexedDocument]) -> Iterator[Mapping[str, Any]]:
    """Chunks that are followed by another one than before."""
    for indexed in documents:
        following = [*(chunk.id for chunk in indexed.chunks[1:]), None]
        for chunk, after in zip(indexed.chunks, following, strict=False):
            there = indexed.before.chunks[chunk.id] if chunk.id in indexed.staying else {}
            if there.get("next") != after:
                yield {"chunk": chunk.id, "next": after}


def summary_rows(documents: Sequence[IndexedDocument], vectors: Vectors) -> Iterator[Mapping[str, Any]]:
    left = iter(vectors)
    for indexed in documents:
        spans = _spans(indexed)
        for summary in indexed.new_summaries:
            start, end = spans[summary.id]
            yield {
                "id": summary.id,
                "document": indexed.document.id,
                "level": summary.level,
                "index": summary.index,
                "text": summary.text,
                "tokens": summary.tokens,
                "start": start,
                "end": end,
                "made_of": summary.made_of,
                "notes": summary.notes or None,
                "embedding": next(left).tolist(),
            }


def moved_summary_rows(documents: Sequence[IndexedDocument]) -> Iterator[Mapping[str, Any]]:
    for indexed in documents:
        spans = _spans(indexed)
        for summary in indexed.summaries:
            there = indexed.before.summaries.get(summary.id)
            start, end = spans[summary.id]
            row = {
                "id": summary.id,
                "index": summary.index,
                "start": start,
                "end": end,
                "made_of": summary.made_of,
                "notes": summary.notes or None,
            }
            if there and any(there[name] != value for name, value in row.items()):
                yield row


def _spans(indexed: IndexedDocument) -> dict[str, Span]:
    """The characters of the document that each node stands for."""
    spans = {chunk.id: (chunk.start, chunk.end) for chunk in indexed.chunks}
    for summary in indexed.summaries:
        spans[summary.id] = spans[summary.children[0]][0], spans[summary.children[-1]][1]
    return spans


def tree_rows(documents: Sequence[IndexedDocument]) -> Iterator[Mapping[str, Any]]:
    """Nodes that another summary stands on than before."""
    for indexed in documents:
        parents = {child: summary.id for summary in indexed.summaries for child in summary.children}
        chunks = {id: row for id, row in indexed.before.chunks.items() if id in indexed.staying}
        there = {**chunks, **indexed.before.summaries}
        for node in [*(chunk.id for chunk in indexed.chunks), *(summary.id for summary in indexed.summaries)]:
            parent = parents.get(node)
            if there.get(node, {}).get("parent") != parent:
                yield {"child": node, "parent": parent}


def mention_rows(found: Sequence[ChunkMentions]) -> Iterator[Mapping[str, Any]]:
    mentions = (mention for chunk in found for mention in chunk.mentions)
    for mention in sorted(mentions, key=lambda mention: (mention.entity, mention.chunk)):
        yield {
            "entity": mention.entity,
            "chunk": mention.chunk,
            "count": mention.count,
            "sentences": list(mention.sentences),
            "windows": list(mention.windows),
            "forms": None if mention.forms is None else [form for form, _ in mention.forms],
            "form_counts": None if mention.forms is None else [count for _, count in mention.forms],
        }


def weight_rows(found: Sequence[ChunkMentions]) -> Iterator[Mapping[str, Any]]:
    for one in found:
        yield {"id": one.chunk, "window_weights": window_weights(one), "told": told(one)}


def alias_rows(document: str, joins: Sequence[Join]) -> Iterator[Mapping[str, Any]]:
    for join in joins:
        yield {
            "document": document,
            "name": join.name,
            "full": join.full,
            "count": join.count,
            "form": join.form,
            "why": join.why,
        }
