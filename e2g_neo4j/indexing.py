"""The story of index(): what changed is chunked, read by spaCy and the embedding model side by side, summarised
into a tree, staged and published."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from spacy.language import Language

from e2g_neo4j.chunking import chunk
from e2g_neo4j.cooccurrence import difference, edges, mentions
from e2g_neo4j.embedding import Embedder, embed_long
from e2g_neo4j.extraction import extract_all, pipeline_id
from e2g_neo4j.model import Chunk, Extraction, Fingerprint, IndexReport, SourceDocument, Vectors
from e2g_neo4j.queries import Read, Story, Write
from e2g_neo4j.settings import Settings
from e2g_neo4j.summarising import Summariser, grow_tree
from e2g_neo4j.writing import IndexedDocument, contributed, publish, stage

BATCH_CHUNKS = 256
"""Documents are written together up to so many chunks; a longer one is written by itself."""

Progress = Callable[[str, int, int], None]
"""Called with (stage, done, total) as work goes on, from more than one thread."""


@dataclass(frozen=True, slots=True)
class Tools:
    """The models that indexing works with."""

    nlp: Language
    embedder: Embedder
    summariser: Summariser

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(self.embedder.name, self.embedder.dimensions, pipeline_id(self.nlp))


def index(
    documents: Sequence[SourceDocument], *, corpus: str, tools: Tools, settings: Settings, progress: Progress
) -> Story[IndexReport]:
    """Bring documents into a corpus; one that is there unchanged is left alone, a changed one replaced.

    A document becomes visible to queries in the transaction that completes it. Raises FingerprintError when the
    index was made with other models.
    """
    work = _Work(IndexReport(corpus), tools, settings, progress)
    with work.timed("total"):
        yield from agree_on_fingerprint(tools.fingerprint)
        changed, replaced = yield from _changed(documents, corpus, work.report)
        with work.timed("chunking"):
            chunked = [(document, work.chunks(document)) for document in changed]
        work.total = sum(len(chunks) for _, chunks in chunked)

        for batch in _batches(chunked):
            extractions, vectors = work.read_by_models(batch)
            indexed = [
                work.complete(document, chunks, found, rows)
                for (document, chunks), found, rows in zip(batch, extractions, vectors, strict=True)
            ]
            with work.timed("writing"):
                for request in stage(corpus, indexed):
                    yield request
                yield (yield from _publication(corpus, indexed, replaced))
            work.count(indexed)
        yield from _totals(corpus, work.report)
    return work.report


def agree_on_fingerprint(mine: Fingerprint) -> Story[None]:
    """Record what the index is made with, or raise FingerprintError when it was made with something else."""
    yield Write((("index/set_fingerprint", asdict(mine)),))
    [row] = yield Read("index/fingerprint", {})
    mine.check(Fingerprint(**row))


def _changed(
    documents: Sequence[SourceDocument], corpus: str, report: IndexReport
) -> Story[tuple[list[SourceDocument], set[str]]]:
    """The documents whose text the database does not hold yet, and the ids of those that it holds otherwise."""
    rows = yield Read("index/documents", {"corpus": corpus, "ids": [document.id for document in documents]})
    ready = {row["id"]: row["sha256"] for row in rows if row["state"] == "ready"}
    changed = [document for document in documents if ready.get(document.id) != document.sha256]
    replaced = {document.id for document in changed} & ready.keys()
    report.unchanged = len(documents) - len(changed)
    report.replaced = len(replaced)
    return changed, replaced


def _publication(corpus: str, indexed: Sequence[IndexedDocument], replaced: set[str]) -> Story[Write]:
    """The transaction that swaps old versions for new ones."""
    going = [one.document.id for one in indexed if one.document.id in replaced]
    old = []
    for document in going:
        rows = yield Read("index/contributions", {"corpus": corpus, "document": document})
        old.append(contributed(rows))
    orphans = sorted({mention.entity for chunks in old for one in chunks for mention in one.mentions})
    delta = difference(edges(one.mentions for one in indexed), edges(old))
    return publish(corpus, indexed, replaced=going, orphans=orphans, delta=delta)


def _totals(corpus: str, report: IndexReport) -> Story[None]:
    [row] = yield Read("query/stats", {"corpus": corpus})
    report.entities = row["entities"]
    report.co_occurrences = row["co_occurrences"]
    report.mentions = row["mentions"]


def _batches(chunked: Sequence[tuple[SourceDocument, list[Chunk]]]) -> Iterator[list[tuple[SourceDocument, list[Chunk]]]]:
    batch: list[tuple[SourceDocument, list[Chunk]]] = []
    size = 0
    for document, chunks in chunked:
        if batch and size + len(chunks) > BATCH_CHUNKS:
            yield batch
            batch, size = [], 0
        batch.append((document, chunks))
        size += len(chunks)
    if batch:
        yield batch


@dataclass(slots=True)
class _Work:
    """The models at work, with the clock and the progress bars."""

    report: IndexReport
    tools: Tools
    settings: Settings
    progress: Progress
    total: int = 0
    done: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.report.seconds[stage] = self.report.seconds.get(stage, 0.0) + time.perf_counter() - began

    def advance(self, stage: str, by: int) -> None:
        self.done[stage] = self.done.get(stage, 0) + by
        self.progress(stage, self.done[stage], self.total)

    def chunks(self, document: SourceDocument) -> list[Chunk]:
        settings = self.settings
        return chunk(
            document, self.tools.embedder.token_spans, size=settings.chunk_tokens, overlap=settings.chunk_overlap
        )

    def read_by_models(
        self, batch: Sequence[tuple[SourceDocument, list[Chunk]]]
    ) -> tuple[list[list[Extraction]], list[Vectors]]:
        """Entities, found in processes of their own, while this one embeds: the chunks' extractions and vectors
        by document."""
        texts = [one.text for _, chunks in batch for one in chunks]
        with ThreadPoolExecutor(1) as beside:
            pending = beside.submit(self._extracted, texts)
            vectors = self._embedded("embedding", texts)
            extractions = pending.result()
        by_document: list[list[Extraction]] = []
        rows: list[Vectors] = []
        start = 0
        for _, chunks in batch:
            by_document.append(extractions[start : start + len(chunks)])
            rows.append(vectors[start : start + len(chunks)])
            start += len(chunks)
        return by_document, rows

    def _extracted(self, texts: Sequence[str]) -> list[Extraction]:
        found = []
        with self.timed("extracting"):
            for extraction in extract_all(self.tools.nlp, texts, self.settings.workers or os.cpu_count() or 1):
                found.append(extraction)
                self.advance("extracting", 1)
        return found

    def _embedded(self, stage: str, texts: Sequence[str]) -> Vectors:
        with self.timed(stage):
            return embed_long(self.tools.embedder, texts)
