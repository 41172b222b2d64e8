"""Import a corpus from an archive. Its documents are published as those of any run of indexing are, with what the
archive holds in place of what models would find. What follows from texts is computed again.

An import that was killed is continued by whoever imports the same archive again, once its lease has expired. One that
fails leaves nothing.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np

from e2g_neo4j.errors import DatabaseError, InputError
from e2g_neo4j.graph.fingerprint import CorpusModels, set_fingerprint
from e2g_neo4j.graph.lease import Lease, fail, write_locked
from e2g_neo4j.graph.writer import NODE_ROWS, ROWS, claim, delete
from e2g_neo4j.indexing import layers, pipeline
from e2g_neo4j.indexing.archive.contents import (
    ArchivedDocument,
    ChunkRow,
    DocumentRow,
    EntityRow,
    NameRow,
    ReplyRow,
    VectorRow,
    unpack_vectors,
)
from e2g_neo4j.indexing.archive.reading import Archive
from e2g_neo4j.indexing.chunking import chunk_identity
from e2g_neo4j.indexing.linked_names import LinkedNames
from e2g_neo4j.indexing.merge_overrides import update_linked_names
from e2g_neo4j.indexing.reading import Found, ReadAhead
from e2g_neo4j.indexing.references import update_references
from e2g_neo4j.indexing.run import DocumentDraft, IndexRun
from e2g_neo4j.indexing.summaries.base import TreeInput
from e2g_neo4j.indexing.summaries.extractive import ExtractiveSummariser
from e2g_neo4j.indexing.summaries.tree import SummaryTreeBuilder, place_summaries
from e2g_neo4j.indexing.vector_layers import CHUNKS
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.models.embedding.windows import Embedded, KnownVectors
from e2g_neo4j.models.entities.extraction_codec import decode
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.requests import Execute, GetExecutor, Operation, Read, Write
from e2g_neo4j.types.documents import CHUNKER, Chunk, Hyperlink, SourceDocument, Vectors
from e2g_neo4j.types.graph import Summary
from e2g_neo4j.types.ids import cache_key
from e2g_neo4j.types.reports import Progress


def restore(
    models: Models, archive: Archive, corpus: str, vectors: str, show: Progress, mark: tuple[str, dict[str, Any]] | None
) -> Operation[None]:
    """Make a corpus from an archive.

    Args:
        models: those that the archive was made with.
        vectors: the suffix of the indexes of the corpus.
        show: it may raise an exception, which ends the import.
        mark: a statement that records the import, in the transaction that completes it.

    Raises:
        InputError: the corpus exists already.
    """
    execute = (yield GetExecutor()).execute
    with Lease(execute, corpus) as lease:
        yield from _begin(models, archive, corpus, vectors, show, lease)
        try:
            yield from _restore(models, archive, corpus, vectors, show, lease)
        except BaseException:
            with suppress(DatabaseError):  # if the database cannot be reached, the next import of the archive continues
                _remove(execute, archive, corpus)
            raise
        yield Write(
            (("index/lock_corpus", {"corpus": corpus}), ("archive/end", {"corpus": corpus}), *([mark] if mark else []))
        )


def _begin(
    models: Models, archive: Archive, corpus: str, vectors: str, show: Progress, lease: Lease
) -> Operation[None]:
    """Note that the corpus is imported. If another run imports the same archive, wait until it has ended."""
    begun = {"corpus": corpus, "archive": archive.identity, "run": lease.run}
    statements = (("archive/begin", begun), set_fingerprint(corpus, CorpusModels(models, vectors)))
    while not (yield Write(statements, ("archive/is_free", begun))):
        if not (yield Read("archive/is_begun", begun)):
            raise InputError(
                f"The corpus {corpus!r} exists already. Delete it first, or import under another name with --corpus."
            )
        show("waiting", 0, 0)
        time.sleep(pipeline.WAIT_SECONDS)


def _remove(execute: Execute, archive: Archive, corpus: str) -> None:
    """Remove the documents of an archive, and what is left of a corpus without documents."""
    for documents in (*([id] for id in archive.ids_in(corpus).values()), []):
        deletion: Any = delete(corpus, documents)
        reply: Any = None
        with suppress(StopIteration):
            while True:
                reply = execute(deletion.send(reply))


def _restore(
    models: Models, archive: Archive, corpus: str, vectors: str, show: Progress, lease: Lease
) -> Operation[None]:
    ids, dimensions = archive.ids_in(corpus), archive.manifest.fingerprint.dimensions
    names = (
        {**row.model_dump(), "documents": row.documents and [ids.get(one, one) for one in row.documents]}
        for row in archive.rows(NameRow)
    )
    replies = ({**row.model_dump(), "key": cache_key(corpus, row.key)} for row in archive.rows(ReplyRow))
    yield from _write(corpus, "archive/set_names", names)
    yield from _write(corpus, "archive/add_replies", replies)
    meter = UsageMeter()
    run = RestoringRun(corpus, models, ExtractiveSummariser(lambda _: (), budget=1), meter, show, vectors=vectors)
    documents = (_restore_document(one, corpus, ids[one.row.id], dimensions) for one in archive.documents())
    for batch in split_batches(documents, pipeline.BATCH_CHUNKS, lambda one: one.bytes):
        run.restored = {one.document.id: one for one in batch}
        yield from pipeline.write_documents([one.document for one in batch if one.row.ready], run, lease)
        for some in split_batches(_sentence_rows(batch), CHUNKS):
            yield Write((("sentences/set_vectors", {"corpus": corpus, "rows": some}),))
        for one in batch:
            if one.row.work:
                yield from claim(corpus, lease.run, [one.claimed])
                if one.row.work == "failed":
                    yield fail(corpus, [one.document.id], RuntimeError(one.row.error or ""))
    yield from update_linked_names(corpus)
    yield from update_references(corpus)
    yield from _restore_layers(models, archive, corpus, show)


def _restore_layers(models: Models, archive: Archive, corpus: str, show: Progress) -> Operation[None]:
    """Make the layers that the corpus had, without asking models for what the archive holds. Vectors of entities and
    sentences that it has are not missing, so they are not made."""
    dimensions = archive.manifest.fingerprint.dimensions
    entities = (
        {"key": row.key, "name": row.name, "embedding": unpack_vectors(row.vector, dimensions)[0].tolist()}
        for row in archive.rows(EntityRow)
    )
    for some in split_batches(entities, NODE_ROWS):
        yield Write((("entities/set_vectors", {"corpus": corpus, "rows": some}),))
    yield write_locked("archive/set_layers", corpus, rows=[archive.manifest.layers.model_dump()])
    known = {row.sha256: unpack_vectors(row.vector, dimensions)[0] for row in archive.rows(VectorRow)}
    knowing = copy(models)
    knowing.__dict__["embedder"] = KnownVectors(lambda: models.embedder, known)
    yield from layers.update(knowing, corpus, show)


def _write(corpus: str, statement: str, rows: Iterable[Mapping[str, Any]]) -> Operation[None]:
    for some in split_batches(rows, ROWS, lambda row: len(row.get("text") or "")):
        yield write_locked(statement, corpus, rows=some)


def _sentence_rows(batch: Iterable[Restored]) -> Iterator[dict[str, Any]]:
    for one in batch:
        for chunk, row in zip(one.chunks, one.rows, strict=True):
            if row.sentence_vectors is not None:
                yield {"chunk": chunk.id, "notes": row.notes, "vectors": row.sentence_vectors}


# --- what models would find --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Restored:
    """A document of an archive, with the ids that it has in a corpus.

    Attributes:
        row: what the archive says of it.
        rows: the same of its chunks.
        vectors: those of its summaries.
    """

    row: DocumentRow
    rows: Sequence[ChunkRow]
    document: SourceDocument
    chunks: list[Chunk]
    summaries: list[Summary]
    vectors: Vectors

    @property
    def bytes(self) -> int:
        """About how much memory it takes."""
        return sum(3 * len(row.text) + len(row.vectors) + len(row.notes) for row in self.rows)

    @property
    def claimed(self) -> SourceDocument:
        """The document, with the properties that an interrupted run was to give it."""
        return replace(self.document, properties=None if self.row.claimed is None else json.loads(self.row.claimed))


def _restore_document(archived: ArchivedDocument, corpus: str, id: str, dimensions: int) -> Restored:
    row = archived.row
    document = SourceDocument(
        id,
        corpus,
        row.title or "",
        row.source,
        _text(archived),
        # A document that was cut by other rules is replaced when it is indexed.
        f"{row.sha256}" if row.chunker == CHUNKER else f"{row.sha256} {row.chunker}",
        properties=row.properties,
        losses=tuple(row.losses),
        links=tuple(Hyperlink(*link) for link in row.links),
    )
    seen: Counter[str] = Counter()
    chunks = [
        Chunk(
            chunk_identity(id, one.text, one.own, seen),
            number,
            one.text,
            one.start,
            one.end,
            one.tokens,
            own=(one.start + one.own[0], one.start + one.own[1]),
            places=one.places,
        )
        for number, one in enumerate(archived.chunks)
    ]
    levels = [
        [(one.text, one.tokens, one.made_of or "", one.notes or b"") for one in level]
        for _, level in groupby(archived.summaries, key=lambda one: one.level)
    ]
    summaries = place_summaries(id, [chunk.id for chunk in chunks], levels, row.group_size)
    vectors = unpack_vectors(b"".join(one.vector for one in archived.summaries), dimensions)
    return Restored(row, archived.chunks, document, chunks, summaries, vectors)


def _text(archived: ArchivedDocument) -> str:
    """Return the text of a document, with blanks for what no chunk has: white space."""
    parts, covered = [], 0
    for chunk in archived.chunks:
        parts += [" " * (chunk.start - covered), chunk.text[max(0, covered - chunk.start) :]]
        covered = max(covered, chunk.end)
    return "".join([*parts, " " * (archived.row.characters - covered)])


@dataclass(slots=True)
class RestoringRun(IndexRun):
    """A run that finds in an archive what models would find. `restored` has the documents of the archive, by id."""

    restored: Mapping[str, Restored] = field(default_factory=dict)

    def recognise_languages(self, documents: Sequence[SourceDocument]) -> dict[str, str]:
        return {}

    def extractor_of(self, document: SourceDocument) -> str:
        return self.restored[document.id].row.extractor or ""

    def extracts_as(self, extractor: str | None) -> bool:
        return True

    def linked_names(self, draft: DocumentDraft, linked: LinkedNames) -> Mapping[str, str]:
        return {**self.restored[draft.document.id].row.linked, **IndexRun.linked_names(self, draft, linked)}

    def split(self, documents: Sequence[SourceDocument]) -> list[tuple[SourceDocument, list[Chunk]]]:
        return [(document, self.restored[document.id].chunks) for document in documents]

    def start_trees(self, drafts: Sequence[DocumentDraft]) -> SummaryTreeBuilder:
        nothing = [TreeInput(draft.document, ()) for draft in drafts]
        return SummaryTreeBuilder(nothing, self.summariser, group_size=2, token_spans=lambda text: ())

    def start_reading(self, drafts: Sequence[DocumentDraft], builder: SummaryTreeBuilder) -> ReadAhead:
        new = [chunk for draft in drafts for chunk in draft.new_chunks]
        return ReadAhead(new, self._find(drafts), lambda: self.advance("reading", 1))

    def _find(self, drafts: Sequence[DocumentDraft]) -> Iterator[Found]:
        """Yield what models have found in the chunks that are not stored yet."""
        for draft in drafts:
            restored = self.restored[draft.document.id]
            for chunk, row in zip(restored.chunks, restored.rows, strict=True):
                if chunk.id not in draft.before.chunks:
                    vectors = unpack_vectors(row.vectors, restored.vectors.shape[1])
                    yield decode(row.notes), Embedded(vectors[0], tuple(row.windows), vectors, vectors[:0])

    def wait_for_summaries(
        self, batch: Sequence[DocumentDraft], builder: SummaryTreeBuilder
    ) -> tuple[list[list[Summary]], Vectors]:
        restored = [(self.restored[draft.document.id], draft.before.summaries) for draft in batch]
        new = [one.vectors[[summary.id not in before for summary in one.summaries]] for one, before in restored]
        return [one.summaries for one, _ in restored], np.concatenate(new)
