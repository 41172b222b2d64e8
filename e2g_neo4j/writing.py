"""How documents come into the database, and leave it: staged in bounded transactions under labels that no index and
no query looks at, then published in one transaction; deleted in one. Only this module knows the columns of
`cypher/index/*`.

Every one of these transactions takes the lock of its corpus first, so that the writers of a corpus go one after the
other, wherever they run. What takes long, reading and summarising, is done outside of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from e2g_neo4j.cooccurrence import ChunkMentions, edges
from e2g_neo4j.model import Chunk, SourceDocument, Summary, Vectors, Window
from e2g_neo4j.naming import Join
from e2g_neo4j.queries import Story, Write, corpus_key

NODE_ROWS = 500
"""Nodes of a transaction: each carries a text and a vector."""

ROWS = 10_000
"""Relationships of a transaction, or of a statement where one transaction must take all."""


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document with everything that was made of it; vectors stand in the order of their nodes."""

    document: SourceDocument
    chunks: Sequence[Chunk]
    summaries: Sequence[Summary]
    mentions: Sequence[ChunkMentions]
    joins: Sequence[Join]
    windows: Sequence[Window]
    chunk_vectors: Vectors
    window_vectors: Vectors
    summary_vectors: Vectors


def claim(corpus: str, run: str, documents: Sequence[SourceDocument]) -> Iterator[Write]:
    """Take documents for a run, which alone may then write them. What another run holds stays with it, and nothing is
    taken while the corpus is being imported."""
    rows = ({"id": one.id, "source": one.source, "title": one.title} for one in documents)
    for batch in _batches(rows, ROWS):
        yield Write(
            (("index/claim_documents", {"corpus": corpus, "run": run, "rows": batch}),),
            condition=("index/open_corpus", {"corpus": corpus}),
        )


def write(corpus: str, run: str, documents: Sequence[IndexedDocument]) -> Story[bool]:
    """Stage documents and publish them; whether that was done, or else another run, or a deletion, came between."""
    for request in stage(corpus, run, documents):
        if not (yield request):
            return False
    return bool((yield publish(corpus, run, documents)))


def stage(corpus: str, run: str, documents: Sequence[IndexedDocument]) -> Iterator[Write]:
    """Everything but what makes it visible. What an interrupted run staged before is removed first.

    Each request is conditional on the run still holding the documents.
    """
    condition = holding(corpus, run, [indexed.document.id for indexed in documents])

    def in_batches(statement: str, rows: Iterator[Mapping[str, Any]], size: int, **parameters: Any) -> Iterator[Write]:
        for batch in _batches(rows, size):
            yield Write(((statement, {"corpus": corpus, "rows": batch, **parameters}),), condition)

    ids = [indexed.document.id for indexed in documents]
    yield Write((("index/discard_staged", {"corpus": corpus, "documents": ids}),), condition)
    key = corpus_key(corpus)
    yield from in_batches("index/stage_chunks", _chunk_rows(documents), NODE_ROWS, corpus_key=key)
    yield from in_batches("index/stage_windows", _window_rows(documents), NODE_ROWS, corpus_key=key)
    yield from in_batches("index/stage_order", _order_rows(documents), ROWS)
    yield from in_batches("index/stage_summaries", _summary_rows(documents), NODE_ROWS)
    yield from in_batches("index/stage_tree", _tree_rows(documents), ROWS)
    yield from in_batches("index/mentions", _mention_rows([indexed.mentions for indexed in documents]), ROWS)


def publish(corpus: str, run: str, documents: Sequence[IndexedDocument]) -> Write:
    """One transaction: nodes and edges of the versions before go, with entities that nothing else mentions, and the
    staged ones become visible. What the versions before contributed is read in the same transaction."""
    ids = [indexed.document.id for indexed in documents]
    edge_rows = _edge_rows([indexed.mentions for indexed in documents])
    aliases = (row for indexed in documents for row in _alias_rows(indexed.document.id, indexed.joins))
    ready = [
        {
            "id": indexed.document.id,
            "title": indexed.document.title,
            "source": indexed.document.source,
            "sha256": indexed.document.sha256,
            "characters": len(indexed.document.text),
            "tokens": sum(chunk.tokens for chunk in indexed.chunks),
            "chunks": len(indexed.chunks),
            "windows": len(indexed.windows),
            "persistence": persistence(indexed.window_vectors),
        }
        for indexed in documents
    ]
    return Write(
        (
            # Adding first spares what both versions have from being removed and made again.
            *_in_batches("index/co_occurrences", corpus, edge_rows),
            ("index/withdraw_edges", {"corpus": corpus, "documents": ids}),
            ("index/count_mentions", {"corpus": corpus, "documents": ids}),
            ("index/withdraw_aliases", {"corpus": corpus, "documents": ids}),
            ("index/retire", {"corpus": corpus, "documents": ids}),
            ("index/publish_chunks", {"corpus": corpus, "documents": ids}),
            ("index/publish_windows", {"corpus": corpus, "documents": ids}),
            ("index/publish_summaries", {"corpus": corpus, "documents": ids}),
            ("index/publish_documents", {"corpus": corpus, "rows": ready}),
            *_in_batches("index/aliases", corpus, aliases),
            ("index/count_corpus", {"corpus": corpus}),
        ),
        condition=holding(corpus, run, ids),
    )


def rewrite_mentions(
    corpus: str,
    document: str,
    sha256: str,
    found: Sequence[ChunkMentions],
    joins: Sequence[Join],
    *,
    before: Collection[str],
) -> Write:
    """One transaction: a visible document gets other mentions, edges and aliases; `before` are the entities it had.

    Conditional on the document still having this text, and on no run being at work on it. What an interrupted run
    staged of it is removed.
    """
    these = {"corpus": corpus, "documents": [document]}
    weights = ({"id": one.chunk, "window_weights": window_weights(one)} for one in found)
    return Write(
        (
            ("index/discard_staged", these),
            ("index/withdraw_edges", these),
            ("index/count_mentions", these),
            ("index/withdraw_aliases", these),
            ("index/withdraw_mentions", {"corpus": corpus, "document": document}),
            *_in_batches("index/mentions", corpus, _mention_rows([found])),
            *_in_batches("index/weigh_windows", corpus, weights),
            ("index/count_mentions", these),
            *_in_batches("index/co_occurrences", corpus, _edge_rows([found])),
            ("index/publish_chunks", these),
            ("index/forget_entities", {"corpus": corpus, "keys": sorted(before)}),
            *_in_batches("index/aliases", corpus, _alias_rows(document, joins)),
        ),
        condition=("index/hold_version", {"corpus": corpus, "document": document, "sha256": sha256}),
    )


def holding(corpus: str, run: str, documents: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """The condition that a run holds documents. It takes the lock of the corpus first, as all its writers do: so none
    waits for another while that one waits for it, and what is read stays true until the transaction ends."""
    return "index/hold_documents", {"corpus": corpus, "documents": list(documents), "run": run}


def delete(corpus: str, documents: Sequence[str]) -> Write:
    """One transaction: documents go with all that they alone contributed, whoever holds them."""
    these = {"corpus": corpus, "documents": list(documents)}
    return Write(
        (
            ("index/lock_corpus", {"corpus": corpus}),
            ("index/withdraw_edges", these),
            ("index/discard_staged", these),
            ("index/count_mentions", these),
            ("index/withdraw_aliases", these),
            ("index/retire", these),
            ("index/delete_documents", these),
            ("index/count_corpus", {"corpus": corpus}),
            ("index/forget_corpus", {"corpus": corpus}),
        )
    )


def persistence(vectors: Vectors) -> float:
    """How much more alike neighbouring windows of a document are than any two of it, from 0 to 1.

    (mean cosine of neighbours - mean cosine of all pairs) / (1 - mean cosine of all pairs). 0 for fewer than three
    windows, and for one that is repeated, where 32-bit vectors tell rounding only.
    """
    n = len(vectors)
    if n < 3:
        return 0.0
    rows = vectors.astype(np.float64)
    neighbours = float((rows[:-1] * rows[1:]).sum(axis=1).mean())
    total = rows.sum(axis=0)
    pairs = float((total @ total - n) / (n * (n - 1)))
    if pairs > 1 - 1e-6:
        return 0.0
    return min(max(0.0, (neighbours - pairs) / (1 - pairs)), 1.0)


def window_shares(indexed: IndexedDocument) -> dict[str, list[float]]:
    """For each chunk: the part of its characters that each of its windows holds."""
    lengths: dict[str, list[int]] = {chunk.id: [] for chunk in indexed.chunks}
    for window in indexed.windows:
        lengths[window.chunk].append(window.end - window.start)
    return {chunk: [length / sum(found) for length in found] for chunk, found in lengths.items()}


def window_weights(mentions: ChunkMentions) -> list[float]:
    """For each window of a chunk: the sum over its entities of 1 + ln(sentences that hold the entity)."""
    counts = np.array([mention.windows for mention in mentions.mentions], dtype=float)
    if not counts.size:
        return []
    weights: list[float] = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0).sum(axis=0).tolist()
    return weights


def _chunk_rows(documents: Sequence[IndexedDocument]) -> Iterator[Mapping[str, Any]]:
    for indexed in documents:
        shares = window_shares(indexed)
        for chunk, mentions, vector in zip(indexed.chunks, indexed.mentions, indexed.chunk_vectors, strict=True):
            yield {
                "id": chunk.id,
                "document": indexed.document.id,
                "index": chunk.index,
                "text": chunk.text,
                "start": chunk.start,
                "end": chunk.end,
                "tokens": chunk.tokens,
                "page": chunk.page,
                "heading": chunk.heading,
                "window_shares": shares[chunk.id],
                "window_weights": window_weights(mentions),
                "embedding": vector.tolist(),
            }


def _window_rows(documents: Sequence[IndexedDocument]) -> Iterator[Mapping[str, Any]]:
    for indexed in documents:
        for window, vector in zip(indexed.windows, indexed.window_vectors, strict=True):
            yield {
                "id": window.id,
                "document": indexed.document.id,
                "chunk": window.chunk,
                "index": window.index,
                "text": window.text,
                "start": window.start,
                "end": window.end,
                "embedding": vector.tolist(),
            }


def _order_rows(documents: Sequence[IndexedDocument]) -> Iterator[Mapping[str, Any]]:
    for indexed in documents:
        for chunk, following in zip(indexed.chunks, indexed.chunks[1:], strict=False):
            yield {"chunk": chunk.id, "next": following.id}


def _summary_rows(documents: Sequence[IndexedDocument]) -> Iterator[Mapping[str, Any]]:
    for indexed in documents:
        spans = {chunk.id: (chunk.start, chunk.end) for chunk in indexed.chunks}
        for summary, vector in zip(indexed.summaries, indexed.summary_vectors, strict=True):
            spans[summary.id] = spans[summary.children[0]][0], spans[summary.children[-1]][1]
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
                "embedding": vector.tolist(),
            }


def _tree_rows(documents: Sequence[IndexedDocument]) -> Iterator[Mapping[str, Any]]:
    for indexed in documents:
        for summary in indexed.summaries:
            for child in summary.children:
                yield {"child": child, "parent": summary.id}


def _edge_rows(documents: Sequence[Sequence[ChunkMentions]]) -> Iterator[Mapping[str, Any]]:
    for (a, b), (count, weight) in sorted(edges(documents).items()):
        yield {"a": a, "b": b, "count": count, "weight": weight}


def _mention_rows(documents: Sequence[Sequence[ChunkMentions]]) -> Iterator[Mapping[str, Any]]:
    mentions = (mention for document in documents for chunk in document for mention in chunk.mentions)
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


def _alias_rows(document: str, joins: Sequence[Join]) -> Iterator[Mapping[str, Any]]:
    for join in joins:
        yield {
            "document": document,
            "name": join.name,
            "full": join.full,
            "count": join.count,
            "form": join.form,
            "why": join.why,
        }


def _in_batches(statement: str, corpus: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A statement for each so many rows, of one transaction."""
    for batch in _batches(rows, ROWS):
        yield statement, {"corpus": corpus, "rows": batch}


def _batches(items: Any, size: int) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
