"""Give a corpus the vectors of another embedding model. Those that it has answer meanwhile.

The new vectors are written beside the others, in properties and indexes of their own: see `runtime.cypher`. Once no
node lacks one, a short transaction switches: it changes the record of the models. What others have changed meanwhile
has no new vector, and is embedded before. What an interrupted run has written is used by the next one.

Texts, trees, entities and names stay, and so do the windows. Clusters are made again after the switch, because vectors
decide what is in them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from e2g_neo4j.errors import FingerprintError
from e2g_neo4j.graph import catalog
from e2g_neo4j.graph.fingerprint import create_indexes, suffix_in
from e2g_neo4j.graph.lease import write_locked
from e2g_neo4j.graph.writer import CHUNKS_READ, ROWS
from e2g_neo4j.indexing.layer import read_state
from e2g_neo4j.indexing.layers import update as update_layers
from e2g_neo4j.indexing.operations import migrate, until_cancelled
from e2g_neo4j.indexing.pipeline import WAIT_SECONDS
from e2g_neo4j.indexing.references import update_references
from e2g_neo4j.indexing.topic_persistence import Persistence
from e2g_neo4j.indexing.vector_layers import embed_names, embed_sentences
from e2g_neo4j.models.choice import with_embedding
from e2g_neo4j.models.embedding.base import normalise
from e2g_neo4j.models.embedding.windows import Embedded, embed_long, embed_with_parts
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.cypher import split_suffix
from e2g_neo4j.runtime.requests import GetExecutor, Operation, Read, Rows, Write, with_vectors
from e2g_neo4j.types.fingerprint import Fingerprint
from e2g_neo4j.types.reports import Progress, ReindexReport

CHUNKS = 64
"""Chunks whose windows are embedded, and written in one transaction."""

TEXTS = 200
"""Summaries and the like that are embedded, and written in one transaction."""

SETTLE_SECONDS = 2.0
"""How long the former vectors stay after the switch, for questions that had begun before it."""


@dataclass(slots=True)
class _Run:
    """One run.

    Attributes:
        models: the models that it gets.
        vectors: the suffix of their vectors.
        before: the suffix of the vectors that it has.
        made: the number of vectors that were made.
        long_windows: the number of windows that do not fit the model.
    """

    corpus: str
    models: Models
    vectors: str
    before: str
    show: Progress
    made: int = 0
    long_windows: int = 0


def reindex(models: Models, corpus: str, progress: Progress | None) -> Operation[ReindexReport]:
    """Give a corpus the vectors of the embedding model of these models. It keeps its spaCy pipeline.

    Raises:
        NotFoundError: the corpus has no documents.
        FingerprintError: the database has no record of its models, or another run has given it others meanwhile.
        ModelError: the model cannot be loaded, or failed. The corpus keeps the vectors that it has.
    """
    began = time.perf_counter()
    yield from migrate(models)
    yield from catalog.check_corpus(corpus)
    yield from update_references(corpus)
    row = yield from _record(models, corpus)
    made_with = Fingerprint.of_row(row)
    target = models.of(with_embedding(models, made_with.language, made_with.spacy_model))
    vectors = yield from suffix_in(target.fingerprint, row["first"])
    show = until_cancelled((yield GetExecutor()).cancelled, progress)
    run = _Run(corpus, target, vectors, row["vectors"] or "", show)
    if vectors != run.before:
        _ = target.embedder  # before anything is written
        yield from create_indexes(target.fingerprint, vectors)
        yield write_locked("reindex/add_unused", corpus, added=_property_suffix(vectors))
        yield from _remove_unused(run, [one for one in row["unused"] if one != _property_suffix(vectors)])
        yield from _embed_and_switch(run)
        yield from with_vectors(update_layers(target, corpus, show), vectors)
        time.sleep(SETTLE_SECONDS)
        row = yield from _record(models, corpus)
    yield from _remove_unused(run, row["unused"])
    return ReindexReport(
        corpus,
        target.embedding_name,
        made_with.embedding_model,
        vectors=run.made,
        long_windows=run.long_windows,
        seconds=time.perf_counter() - began,
    )


def _record(models: Models, corpus: str) -> Operation[dict[str, Any]]:
    """Read what a corpus was made with: a row of `index/fingerprint`."""
    rows: Rows = yield Read("index/fingerprint", {"corpus": corpus})
    if not rows:
        models.fingerprint.check(None)
    return rows[0]


def _embed_and_switch(run: _Run) -> Operation[None]:
    """Embed what has no vector yet, until the corpus has not changed meanwhile and no run is indexing it."""
    while True:
        state = yield from read_state(run.corpus)
        before = run.made
        yield from with_vectors(_embed(run, state), run.vectors)
        persistence = yield from with_vectors(_persistence(run), run.vectors)
        if (yield _switch(run, state["revision"], persistence)):
            return
        row = yield from _record(run.models, run.corpus)
        if (row["vectors"] or "") != run.before:
            if Fingerprint.of_row(row) == run.models.fingerprint:
                return  # another run has done the same
            yield from _remove_unused(run, [_property_suffix(run.vectors)])
            raise FingerprintError(
                f"Another run has given the corpus {run.corpus!r} the model {row['embedding_model']} meanwhile. Start "
                "again if it is to have another one."
            )
        if run.made == before:
            run.show("waiting", 0, 1)  # for runs that are indexing documents
            time.sleep(WAIT_SECONDS)


def _embed(run: _Run, state: Mapping[str, Any]) -> Operation[None]:
    """Embed what has no vector, also of the layers that the corpus has."""
    yield from _embed_windows(run)
    yield from _embed_texts(run)
    if state["sentence_vectors"] is not None:
        run.made += yield from embed_sentences(run.models, run.corpus, run.show)
    if state["entity_vectors"] is not None:
        run.made += yield from embed_names(run.models, run.corpus, run.show)


def _embed_windows(run: _Run) -> Operation[None]:
    """Embed the windows of chunks. The vector of a chunk is the mean of those of its windows."""
    total = sum(one.chunks for one in (yield from catalog.documents(run.corpus)) if one.visible)
    done, after = 0, ""
    while rows := (yield Read("reindex/missing_windows", {"corpus": run.corpus, "after": after, "limit": CHUNKS})):
        texts = (
            row["text"][start - row["start"] : end - row["start"]] for row in rows for _, start, end in row["windows"]
        )
        embedded = list(embed_with_parts(run.models.embedder, ((text, ()) for text in texts)))
        run.long_windows += sum(len(one.windows) > 1 for one in embedded)
        yield from _write(run, list(_window_rows(rows, embedded)))
        run.made += len(embedded)
        done, after = done + len(rows), rows[-1]["chunk"]
        run.show("chunks", done, max(done, total))


def _window_rows(rows: Rows, embedded: Sequence[Embedded]) -> Iterator[dict[str, Any]]:
    """Yield rows of `reindex/set_vectors` for chunks and their windows, whose vectors are given in order."""
    left = iter(embedded)
    for row in rows:
        vectors = [next(left).vector for _ in row["windows"]]
        for (id, _, _), vector in zip(row["windows"], vectors, strict=True):
            yield _vector_row("Window", id, vector.tolist())
        if vectors and not row["adopted"]:
            yield _vector_row("Chunk", row["chunk"], normalise(np.mean(vectors, axis=0)).tolist())


def _embed_texts(run: _Run) -> Operation[None]:
    """Embed summaries, reports of communities, summaries of clusters, and statements."""
    done, after = 0, ""
    while rows := (yield Read("reindex/missing_texts", {"corpus": run.corpus, "after": after, "limit": TEXTS})):
        vectors = embed_long(run.models.embedder, [row["text"] for row in rows]).tolist()
        found = zip(rows, vectors, strict=True)
        yield from _write(run, [_vector_row(row["label"], row["id"], vector, row["version"]) for row, vector in found])
        run.show("summaries", done + len(rows), done + rows[0]["missing"])
        run.made += len(rows)
        done, after = done + len(rows), rows[-1]["id"]


def _vector_row(label: str, id: str, vector: list[float], version: str = "") -> dict[str, Any]:
    return {"label": label, "id": id, "version": version, "embedding": vector}


def _write(run: _Run, rows: Sequence[Mapping[str, Any]]) -> Operation[None]:
    notes_of = f"embedding{_property_suffix(run.before)}"
    yield write_locked("reindex/set_vectors", run.corpus, rows=rows, notes_of=notes_of)


def _persistence(run: _Run) -> Operation[list[dict[str, Any]]]:
    """Return the topic persistence of each document with these vectors, as rows of `reindex/set_persistence`."""
    found = []
    for document in (yield from catalog.documents(run.corpus)):
        spread, after = Persistence(), -1
        parameters = {"corpus": run.corpus, "document": document.id, "limit": CHUNKS_READ}
        while rows := (yield Read("reindex/document_windows", {**parameters, "after": after})):
            for row in rows:
                spread.add(np.array([vector for vector in row["vectors"] if vector], np.float32))
            after = rows[-1]["index"]
        if document.visible:
            found.append({"document": document.id, "persistence": spread.value})
    return found


def _switch(run: _Run, revision: int, persistence: Sequence[dict[str, Any]]) -> Write:
    """Return the transaction after which the corpus is asked with the new vectors."""
    corpus, fingerprint = {"corpus": run.corpus}, asdict(run.models.fingerprint)
    added, removed = _property_suffix(run.before), _property_suffix(run.vectors)
    record = {**corpus, **fingerprint, "vectors": run.vectors, "unsuffixed": not removed}
    return Write(
        (
            ("reindex/switch", {**record, "added": added, "removed": removed}),
            *(("reindex/set_persistence", {**corpus, "rows": rows}) for rows in split_batches(persistence, ROWS)),
        ),
        condition=("reindex/hold", {**corpus, "revision": revision, "before": run.before}),
        vectors=run.vectors,
    )


def _remove_unused(run: _Run, unused: Sequence[str]) -> Operation[None]:
    """Remove vectors that no question uses, in bounded transactions."""
    corpus = {"corpus": run.corpus}
    for suffix in unused:
        step = Write(
            (("reindex/remove_vectors", {**corpus, "limit": ROWS}),), ("reindex/has_unused", corpus), vectors=suffix
        )
        while (yield step):
            pass
        yield write_locked("reindex/forget_unused", run.corpus, removed=suffix)


def _property_suffix(vectors: str) -> str:
    """Return the suffix of the properties with vectors: that of the indexes, without the one for words."""
    return split_suffix(vectors)[0]
