"""The vectors of the sentences of chunks. They are written with each chunk, and here for chunks that have lost them
because new rules of extraction divide their text into other sentences, or an archive had none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.indexing.layer import Layer, Making
from e2g_neo4j.models.embedding.base import normalised
from e2g_neo4j.models.embedding.quantised import quantised
from e2g_neo4j.models.embedding.windows import embed_with_parts
from e2g_neo4j.models.entities.extraction_codec import decode, own_sentences_before_list
from e2g_neo4j.runtime.requests import Operation, Read, Write
from e2g_neo4j.types.documents import Span, Vectors
from e2g_neo4j.types.graph import Extraction
from e2g_neo4j.types.reports import LayerReport

CHUNKS = 64
"""Chunks that are embedded, and written in one transaction."""


def packed(extraction: Extraction, own: Span, vectors: Vectors) -> bytes:
    """Pack the vectors of the own sentences of a chunk, up to the first list: row n is sentence n of its mentions.

    Args:
        extraction: the extraction of the chunk.
        own: the span of its own text, relative to its start.
        vectors: a row for each of its sentences, of shape (sentences, dimensions).
    """
    return quantised(vectors[own_sentences_before_list(extraction.sentences, own)])


def mean_by_length(vectors: Vectors, lengths: Sequence[int]) -> NDArray[np.float32]:
    """Return the mean of the vectors of sentences, weighted by their length and scaled to length 1.

    That is nearly the vector of their text, which is the mean of its tokens, and takes no model.

    Args:
        vectors: a row for each sentence, of shape (sentences, dimensions).
        lengths: the lengths of the sentences, in characters.
    """
    return normalised((np.array(lengths, np.float32)[:, None] * vectors).sum(axis=0))


def still_valid(vectors: bytes | None, before: bytes, now: bytes, own: Span) -> bytes | None:
    """Return packed vectors, or None if the chunk has other sentences by the rules that extract now.

    Args:
        vectors: the packed vectors of the own sentences.
        before: the packed extraction when they were computed.
        now: the packed extraction now.
        own: the span of the own text, relative to the start of the chunk.
    """
    return vectors if before == now or _spans(before, own) == _spans(now, own) else None


def _spans(notes: bytes, own: Span) -> list[Span]:
    sentences = decode(notes).sentences
    return [(sentences[at].start, sentences[at].end) for at in own_sentences_before_list(sentences, own)]


def _make(making: Making) -> Operation[LayerReport]:
    """Embed the sentences of chunks that have no vectors of them."""
    corpus, done, after = making.corpus, 0, ""
    while rows := (yield Read("sentences/missing", {"corpus": corpus, "after": after, "limit": CHUNKS})):
        extractions = [decode(row["notes"]) for row in rows]
        texts = (
            (row["text"], [(one.start, one.end) for one in extraction.sentences])
            for row, extraction in zip(rows, extractions, strict=True)
        )
        embedded = embed_with_parts(making.models.embedder, texts)
        found = [
            {
                "chunk": row["chunk"],
                "notes": row["notes"],
                "vectors": packed(extraction, tuple(row["own"]), one.part_vectors),
            }
            for row, extraction, one in zip(rows, extractions, embedded, strict=True)
        ]
        yield Write((("sentences/set_vectors", {"corpus": corpus, "rows": found}),))
        making.show("sentences", done + len(rows), done + rows[0]["missing"])
        done, after = done + len(rows), rows[-1]["chunk"]
    return LayerReport(made=done)


SENTENCES = Layer("sentences", "", "its sentences were embedded", _make)
