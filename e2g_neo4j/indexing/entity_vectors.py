"""Embed the names of the entities of a corpus, and keep the vectors up to date.

A vector depends on the name alone, so only names without a vector are embedded, and after any updates the vectors are
those of a fresh corpus.
"""

from __future__ import annotations

from e2g_neo4j.errors import CorpusChangedError, CorpusNotFoundError
from e2g_neo4j.models.embedding.windows import embed_long
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Operation, Read, Write
from e2g_neo4j.types.reports import Progress

NAMES = 500
"""Names that are embedded, and written in one transaction."""

ATTEMPTS = 5
"""How often names are searched again because the corpus has changed meanwhile."""


def enrich(models: Models, corpus: str, progress: Progress | None) -> Operation[int]:
    """Embed the names of entities that have no vector. Returns their number.

    Raises:
        NotFoundError: the corpus has no documents.
        CorpusChangedError: others change the corpus all the time.
    """
    embedded = 0
    for _ in range(ATTEMPTS):
        [state] = yield Read("entities/state", {"corpus": corpus})
        if not state["found"]:
            raise CorpusNotFoundError(corpus)
        embedded += yield from _embed_missing(models, corpus, progress)
        revision = {"corpus": corpus, "revision": state["revision"]}
        if (yield Write((("entities/publish", revision),), ("entities/hold", revision))):
            return embedded
    raise CorpusChangedError(corpus, ATTEMPTS, "the names of its entities were embedded", "entities")


def update(models: Models, corpus: str, progress: Progress | None = None) -> Operation[None]:
    """Embed the names of new entities of a corpus, if names were embedded before."""
    [state] = yield Read("entities/state", {"corpus": corpus})
    if state["entity_vectors"] is not None and state["entity_vectors"] != state["revision"]:
        yield from enrich(models, corpus, progress)


def _embed_missing(models: Models, corpus: str, progress: Progress | None) -> Operation[int]:
    show = progress or (lambda stage, done, total: None)
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
