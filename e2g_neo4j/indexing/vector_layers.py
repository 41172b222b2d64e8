"""The layers that are vectors: of sentences and of the names of entities. Only those are made that are missing.

Sentences are embedded each by itself, as LinearRAG and HippoRAG 2 do. Indexing computes vectors of sentences too, as
means of their tokens in context. Those rank the sentences of one text for its summary. They can be compared with the
vector of a question only if the model was trained with mean pooling. A vector of a name depends on the name alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from e2g_neo4j.indexing.layer import Layer, Making
from e2g_neo4j.models.embedding.base import quantise
from e2g_neo4j.models.embedding.windows import embed_long
from e2g_neo4j.models.entities.extraction_codec import decode, own_sentences_before_list
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Operation, Read, Write
from e2g_neo4j.types.reports import LayerReport, Progress

Embed: TypeAlias = Callable[[Models, str, Progress], Operation[int]]
"""Embeds what has no vector, and returns how much it was."""

CHUNKS = 64
"""Chunks whose sentences are embedded, and written in one transaction."""

NAMES = 500
"""Names that are embedded, and written in one transaction."""


def embed_sentences(models: Models, corpus: str, show: Progress) -> Operation[int]:
    """Embed the own sentences, up to the first list, of chunks without vectors of them: row n of the packed vectors is
    sentence n of the mentions of the chunk. Return the number of these chunks."""
    done, after = 0, ""
    while rows := (yield Read("sentences/missing", {"corpus": corpus, "after": after, "limit": CHUNKS})):
        texts = []
        for row in rows:
            sentences = decode(row["notes"]).sentences
            own = own_sentences_before_list(sentences, tuple(row["own"]))
            texts.append([row["text"][sentences[at].start : sentences[at].end] for at in own])
        vectors = embed_long(models.embedder, [text for of_chunk in texts for text in of_chunk])
        packed = np.split(vectors, np.cumsum([len(of_chunk) for of_chunk in texts])[:-1])
        found = [
            {"chunk": row["chunk"], "notes": row["notes"], "vectors": quantise(own_vectors)}
            for row, own_vectors in zip(rows, packed, strict=True)
        ]
        yield Write((("sentences/set_vectors", {"corpus": corpus, "rows": found}),))
        show("sentences", done + len(rows), done + rows[0]["missing"])
        done, after = done + len(rows), rows[-1]["chunk"]
    return done


def embed_names(models: Models, corpus: str, show: Progress) -> Operation[int]:
    """Embed the names of entities that have no vector. Return their number."""
    done, after = 0, ""
    while rows := (yield Read("entities/missing", {"corpus": corpus, "after": after, "limit": NAMES})):
        vectors = embed_long(models.embedder, [row["name"] for row in rows]).tolist()
        named = [
            {"key": row["key"], "name": row["name"], "embedding": vector}
            for row, vector in zip(rows, vectors, strict=True)
        ]
        yield Write((("entities/set_vectors", {"corpus": corpus, "rows": named}),))
        show("entities", done + len(rows), done + rows[0]["missing"])
        done, after = done + len(rows), rows[-1]["key"]
    return done


def _make(embed: Embed, making: Making) -> Operation[LayerReport]:
    making.made += yield from embed(making.models, making.corpus, making.show)
    yield from making.set_revision()
    return LayerReport(made=making.made)


SENTENCES = Layer("sentences", "sentence_vectors", "its sentences were embedded", partial(_make, embed_sentences))

ENTITIES = Layer("entities", "entity_vectors", "the names of its entities were embedded", partial(_make, embed_names))
