"""Embed the names of the entities of a corpus.

A vector depends on the name alone, so only names without a vector are embedded.
"""

from __future__ import annotations

from e2g_neo4j.indexing.layer import Layer, Making
from e2g_neo4j.models.embedding.windows import embed_long
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Operation, Read, Write
from e2g_neo4j.types.reports import LayerReport, Progress

NAMES = 500
"""Names that are embedded, and written in one transaction."""


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


def _make(making: Making) -> Operation[LayerReport]:
    making.made += yield from embed_names(making.models, making.corpus, making.show)
    yield from making.set_revision()
    return LayerReport(made=making.made)


ENTITIES = Layer("entities", "entity_vectors", "the names of its entities were embedded", _make)
