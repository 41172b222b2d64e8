"""Indexed documents, and their conversion to rows, the parameters of `cypher/index/*`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.models.titles import document_key
from e2g_neo4j.models.words import count_terms, divide_words
from e2g_neo4j.types.documents import EXTRACTOR, Chunk, SourceDocument, Span, Vectors, cut_by
from e2g_neo4j.types.graph import Summary
from e2g_neo4j.types.mentions import ChunkMentions, NameMerge
from e2g_neo4j.types.properties import to_stored
from e2g_neo4j.types.sections import name_of, page_of


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """The visible version of a document before it is replaced: rows of its nodes by id. Empty for a new document."""

    chunks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    summaries: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EmbeddedChunk:
    """A chunk of a document with the results of the models.

    Attributes:
        document: the id of the document.
        notes: the packed extraction.
        windows: the windows, as spans in the text of the chunk.
        window_vectors: their vectors, of shape (windows, dimensions).
    """

    document: str
    chunk: Chunk
    notes: bytes
    windows: Sequence[Span]
    window_vectors: Vectors
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document that is staged.

    Attributes:
        windows: the number of windows.
        before: the version that is replaced.
        unchanged: the ids of the chunks that are kept as they are.
    """

    document: SourceDocument
    chunks: Sequence[Chunk]
    summaries: Sequence[Summary]
    merges: Sequence[NameMerge]
    windows: int
    persistence: float
    before: StoredDocument = field(default_factory=StoredDocument)
    unchanged: Collection[str] = ()
    extractor: str = EXTRACTOR

    @property
    def new_summaries(self) -> list[Summary]:
        return [summary for summary in self.summaries if summary.id not in self.before.summaries]


def mentions_hash(mentions: ChunkMentions) -> str:
    """Return a hash of the mentions of a chunk that does not depend on the corpus."""
    found = [(one.entity, one.count, one.sentences, one.windows, one.forms, one.types) for one in mentions.mentions]
    return sha256(repr(found).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def window_weights(mentions: Sequence[Sequence[int]]) -> list[float]:
    """Return for each window of a chunk the sum of 1 + ln(sentences that mention the entity) over its entities.

    Args:
        mentions: For each entity, the number of these sentences in each window.
    """
    counts = np.array(mentions, dtype=float)
    if not counts.size:
        return []
    weights: list[float] = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0).sum(axis=0).tolist()
    return weights


def kept_row(indexed: IndexedDocument) -> dict[str, Any]:
    """Return the nodes that a new version has in common with the previous one."""
    return {
        "document": indexed.document.id,
        "chunks": sorted(indexed.unchanged),
        "summaries": [summary.id for summary in indexed.summaries if summary.id in indexed.before.summaries],
        "all": False,
    }


def ready_row(indexed: IndexedDocument) -> dict[str, Any]:
    """Return the properties of a document that is complete."""
    properties = indexed.document.properties
    links = [(link.start, link.end, target) for link in indexed.document.links if (target := document_key(link.target))]
    return {
        "id": indexed.document.id,
        "title": indexed.document.title,
        "source": indexed.document.source,
        "properties": None if properties is None else to_stored(properties),
        "sha256": indexed.document.sha256,
        "chunker": cut_by(indexed.document),
        "extractor": indexed.extractor,
        "characters": len(indexed.document.text),
        "tokens": sum(chunk.tokens for chunk in indexed.chunks),
        "chunks": len(indexed.chunks),
        "windows": indexed.windows,
        "persistence": indexed.persistence,
        "losses": list(indexed.document.losses) or None,
        "link_starts": [start for start, _, _ in links] or None,
        "link_ends": [end for _, end, _ in links] or None,
        "link_targets": [target for _, _, target in links] or None,
    }


def chunk_row(read: EmbeddedChunk) -> dict[str, Any]:
    chunk = read.chunk
    lengths = [end - start for start, end in read.windows]
    texts = [] if chunk.stands_for else [chunk.text[start:end] for start, end in read.windows]
    terms = count_terms(texts)
    return {
        "id": chunk.id,
        "document": read.document,
        "index": chunk.index,
        "text": None if chunk.stands_for else chunk.text,
        "divided": None if chunk.stands_for else divide_words(chunk.text),
        "start": chunk.start,
        "end": chunk.end,
        "tokens": chunk.tokens,
        **_pages_and_headings(chunk, read.windows),
        "own": list(chunk.own_in_text),
        "notes": read.notes,
        "window_shares": [length / sum(lengths) for length in lengths],
        "terms": None if chunk.stands_for else list(terms.keys()),
        "term_windows": None if chunk.stands_for else list(terms.values()),
        "embedding": None if chunk.stands_for else read.vector.tolist(),
        "stands_for": asdict(chunk.stands_for) if chunk.stands_for else None,
    }


def _pages_and_headings(chunk: Chunk, windows: Sequence[Span]) -> dict[str, Any]:
    """Return pages and headings of a chunk and of its windows, which are spans in its text. In a list, "" is none."""
    if chunk.places is not None:
        return dict(chunk.places)
    sections, start = chunk.sections, chunk.start
    spans = [(start + first, start + last) for first, last in windows]
    texts = [chunk.text[first:last] for first, last in windows]
    kinds = {section.kind for section in sections}
    return {
        "page": page_of(sections, start, chunk.end),
        "heading": name_of(sections, chunk.text, start),
        "window_pages": [page_of(sections, *span) or "" for span in spans] if "page" in kinds else None,
        "window_headings": [name_of(sections, text, first) or "" for text, (first, _) in zip(texts, spans, strict=True)]
        if kinds & {"heading", "table"}
        else None,
    }


def window_rows(read: EmbeddedChunk) -> Iterator[Mapping[str, Any]]:
    for number, ((start, end), vector) in enumerate(zip(read.windows, read.window_vectors, strict=True)):
        yield {
            "id": f"{read.chunk.id}-w{number}",
            "document": read.document,
            "chunk": read.chunk.id,
            "index": number,
            "text": None if read.chunk.stands_for else read.chunk.text[start:end],
            "divided": None if read.chunk.stands_for else divide_words(read.chunk.text[start:end]),
            "start": read.chunk.start + start,
            "end": read.chunk.start + end,
            "embedding": vector.tolist(),
        }


def chunk_move_rows(documents: Sequence[IndexedDocument]) -> Iterator[Mapping[str, Any]]:
    for indexed in documents:
        for chunk in indexed.chunks:
            if chunk.id not in indexed.unchanged:
                continue
            stored = indexed.before.chunks[chunk.id]
            windows = [(start - stored["start"], end - stored["start"]) for start, end in stored["windows"]]
            row = {
                "id": chunk.id,
                "index": chunk.index,
                "start": chunk.start,
                "end": chunk.end,
                **_pages_and_headings(chunk, windows),
            }
            if any(stored[name] != value for name, value in row.items()):
                yield {**row, "shift": chunk.start - stored["start"]}


def order_rows(documents: Sequence[IndexedDocument]) -> Iterator[Mapping[str, Any]]:
    """Yield the chunks whose next chunk has changed."""
    for indexed in documents:
        following = [*(chunk.id for chunk in indexed.chunks[1:]), None]
        for chunk, after in zip(indexed.chunks, following, strict=False):
            stored = indexed.before.chunks[chunk.id] if chunk.id in indexed.unchanged else {}
            if stored.get("next") != after:
                yield {"chunk": chunk.id, "next": after}


def summary_rows(documents: Sequence[IndexedDocument], vectors: Vectors) -> Iterator[Mapping[str, Any]]:
    remaining = iter(vectors)
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
                "made_of": summary.made_of or None,
                "notes": summary.notes or None,
                "embedding": next(remaining).tolist(),
            }


def summary_move_rows(documents: Sequence[IndexedDocument]) -> Iterator[Mapping[str, Any]]:
    for indexed in documents:
        spans = _spans(indexed)
        for summary in indexed.summaries:
            stored = indexed.before.summaries.get(summary.id)
            start, end = spans[summary.id]
            row = {
                "id": summary.id,
                "index": summary.index,
                "start": start,
                "end": end,
                "made_of": summary.made_of or None,
                "notes": summary.notes or None,
            }
            if stored and any(stored[name] != value for name, value in row.items()):
                yield row


def _spans(indexed: IndexedDocument) -> dict[str, Span]:
    """Return the span of the document that each node covers."""
    spans = {chunk.id: (chunk.start, chunk.end) for chunk in indexed.chunks}
    for summary in indexed.summaries:
        spans[summary.id] = spans[summary.children[0]][0], spans[summary.children[-1]][1]
    return spans


def tree_rows(documents: Sequence[IndexedDocument]) -> Iterator[Mapping[str, Any]]:
    """Yield the nodes whose parent summary has changed."""
    for indexed in documents:
        parents = {child: summary.id for summary in indexed.summaries for child in summary.children}
        chunks = {id: row for id, row in indexed.before.chunks.items() if id in indexed.unchanged}
        stored = {**chunks, **indexed.before.summaries}
        for node in [*(chunk.id for chunk in indexed.chunks), *(summary.id for summary in indexed.summaries)]:
            parent = parents.get(node)
            if stored.get(node, {}).get("parent") != parent:
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
            "types": [type for type, _ in mention.types] or None,
            "type_counts": [count for _, count in mention.types] or None,
        }


def weight_rows(found: Sequence[ChunkMentions]) -> Iterator[Mapping[str, Any]]:
    for one in found:
        weights = window_weights([mention.windows for mention in one.mentions])
        yield {"id": one.chunk, "window_weights": weights, "told": mentions_hash(one)}


def alias_rows(document: str, merges: Sequence[NameMerge]) -> Iterator[Mapping[str, Any]]:
    for merge in merges:
        yield {"document": document, **asdict(merge)}
