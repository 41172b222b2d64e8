"""The story of index(): what changed is chunked, read by spaCy and the embedding model side by side, summarised
into a tree, staged and published."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

import numpy as np
from spacy.language import Language

from e2g_neo4j.archive.importing import settle
from e2g_neo4j.chat.spending import Meter, cost
from e2g_neo4j.chunking import chunk
from e2g_neo4j.cooccurrence import mentions
from e2g_neo4j.embedding.embedder import POOLING, Embedded, Embedder, embed_long, embed_with_parts
from e2g_neo4j.extraction import extract_all, pipeline_id
from e2g_neo4j.leases import Lease
from e2g_neo4j.model import (
    Chunk,
    Extraction,
    Fingerprint,
    IndexPlan,
    IndexReport,
    Progress,
    SourceDocument,
    Window,
)
from e2g_neo4j.naming import joined, joins, name_counts
from e2g_neo4j.queries import Perform, Read, Story, Write
from e2g_neo4j.settings import Settings
from e2g_neo4j.summarising.tree import Forest, Ground, Summariser, tree_size
from e2g_neo4j.writing import IndexedDocument, claim, holding, write

BATCH_CHUNKS = 256
"""Documents are written together up to so many chunks; a longer one is written by itself."""

WAIT_SECONDS = 0.5
"""How long to wait before looking again whether another run has let go of a document."""


@dataclass(frozen=True, slots=True)
class Tools:
    """The models that documents and questions are read with."""

    nlp: Language
    embedder: Embedder

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(self.embedder.name, self.embedder.dimensions, POOLING, pipeline_id(self.nlp))


def index(
    documents: Sequence[SourceDocument],
    *,
    corpus: str,
    tools: Tools,
    summariser: Summariser,
    settings: Settings,
    progress: Progress,
    perform: Perform,
) -> Story[IndexReport]:
    """Bring documents into a corpus; one that is there unchanged is left alone, a changed one replaced.

    A document becomes visible to queries in the transaction that completes it. One that another run is indexing is
    waited for. `perform` serves the thread that renews the lease. Raises FingerprintError when the index was made with
    other models.
    """
    work = _Work(IndexReport(corpus), tools, summariser, settings, progress)
    left = list({document.id: document for document in documents}.values())
    with work.timed("total"):
        yield from agree_on_fingerprint(tools.fingerprint)
        with Lease(perform, corpus) as lease:
            while left:
                settle(perform)
                mine, left, replaced = yield from _claimed(left, corpus, lease, work.report)
                if left and not mine:
                    with work.timed("waiting"):
                        time.sleep(WAIT_SECONDS)
                chunked = work.chunked(mine)
                with work.growing(chunked) as forest:
                    for first, batch in _batches(chunked):
                        if (yield from _written(batch, first, forest, corpus, lease, work)):
                            work.report.replaced += sum(document.id in replaced for document, _ in batch)
                        else:  # another run took over, or somebody deleted them
                            left += [document for document, _ in batch]
        yield from _totals(corpus, work.report)
    return work.report


def _claimed(
    documents: Sequence[SourceDocument], corpus: str, lease: Lease, report: IndexReport
) -> Story[tuple[list[SourceDocument], list[SourceDocument], set[str]]]:
    """Changed documents that are now this run's, those that are another's, and the ids of those that are replaced."""
    changed, _ = yield from _changed(documents, corpus, report)
    yield from claim(corpus, lease.run, changed)
    rows = yield Read("index/documents", {"corpus": corpus, "ids": [document.id for document in changed]})
    known = {row["id"]: row for row in rows}
    mine = [document for document in changed if known.get(document.id, {}).get("run") == lease.run]
    ready = {row["id"] for row in rows if row["state"] == "ready"}
    taken = {document.id for document in mine}
    return mine, [document for document in changed if document.id not in taken], ready & taken


def _written(
    batch: Sequence[tuple[SourceDocument, list[Chunk]]],
    first: int,
    forest: Forest,
    corpus: str,
    lease: Lease,
    work: _Work,
) -> Story[bool]:
    """Index a batch; whether it was written, or else the run had lost it. `first` is its place in the forest."""
    ids = [document.id for document, _ in batch]
    begun = ("index/begin_documents", {"corpus": corpus, "documents": ids})
    if not (yield Write((begun,), holding(corpus, lease.run, ids))):
        return False
    apart = yield Read("index/apart", {"corpus": corpus})
    try:
        indexed = work.indexed(batch, forest, first, {row["key"] for row in apart})
    except Exception as error:
        lease.failed(ids, error)
        raise
    with work.timed("writing"):
        written = yield from write(corpus, lease.run, indexed)
    if written:
        work.count(indexed)
    return written


def plan(
    documents: Sequence[SourceDocument],
    *,
    corpus: str,
    tools: Tools,
    summariser: Summariser,
    meter: Meter,
    settings: Settings,
) -> Story[IndexPlan]:
    """What `index` would do. `summariser` rehearses, or else needs sentences and is left out; `meter` is its own."""
    report = IndexReport(corpus)
    work = _Work(report, tools, summariser, settings, lambda stage, done, total: None)
    changed, _ = yield from _changed(documents, corpus, report)
    chunked = work.chunked(changed)
    with work.growing(chunked) as forest:
        for number in range(0 if summariser.needs_sentences else len(chunked)):
            forest.tree(number)
    return IndexPlan(
        corpus=corpus,
        documents=len(changed),
        unchanged=report.unchanged,
        chunks=sum(len(chunks) for _, chunks in chunked),
        tokens=sum(chunk.tokens for _, chunks in chunked for chunk in chunks),
        levels=meter.levels,
        cost=cost(meter.levels, settings.price_prompt, settings.price_completion),
    )


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
    unfinished = {row["id"] for row in rows if row["work"]}
    changed = [one for one in documents if one.id in unfinished or ready.get(one.id) != one.sha256]
    replaced = {document.id for document in changed} & ready.keys()
    report.unchanged += len(documents) - len(changed)
    return changed, replaced


def _totals(corpus: str, report: IndexReport) -> Story[None]:
    [row] = yield Read("query/stats", {"corpus": corpus})
    report.entities = row["entities"]
    report.co_occurrences = row["co_occurrences"]
    report.mentions = row["mentions"]


def windows_of(chunks: Sequence[Chunk], embedded: Sequence[Embedded]) -> list[Window]:
    """The windows in which the embedding model read each chunk."""
    return [
        Window(
            f"{chunk.id}-w{number}",
            chunk.id,
            number,
            chunk.text[start:end],
            chunk.start + start,
            chunk.start + end,
        )
        for chunk, one in zip(chunks, embedded, strict=True)
        for number, (start, end) in enumerate(one.windows)
    ]


def _batches(
    chunked: Sequence[tuple[SourceDocument, list[Chunk]]],
) -> Iterator[tuple[int, list[tuple[SourceDocument, list[Chunk]]]]]:
    """Documents to be written together, and the place of the first of them."""
    first = 0
    batch: list[tuple[SourceDocument, list[Chunk]]] = []
    size = 0
    for document, chunks in chunked:
        if batch and size + len(chunks) > BATCH_CHUNKS:
            yield first, batch
            first += len(batch)
            batch, size = [], 0
        batch.append((document, chunks))
        size += len(chunks)
    if batch:
        yield first, batch


def _grounds(
    batch: Sequence[tuple[SourceDocument, list[Chunk]]],
    extractions: Sequence[Extraction],
    embedded: Sequence[Embedded],
) -> list[Ground]:
    """What trees grow on whose summariser needs the sentences and their vectors."""
    grounds = []
    at = 0
    for document, chunks in batch:
        here = slice(at, at + len(chunks))
        grounds.append(Ground(document, chunks, extractions[here], [one.part_vectors for one in embedded[here]]))
        at = here.stop
    return grounds


@dataclass(slots=True)
class _Work:
    """The models at work, with the clock and the progress bars."""

    report: IndexReport
    tools: Tools
    summariser: Summariser
    settings: Settings
    progress: Progress
    totals: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.report.seconds[stage] = self.report.seconds.get(stage, 0.0) + time.perf_counter() - began

    def advance(self, stage: str, by: int) -> None:
        self.done[stage] += by
        self.progress(stage, self.done[stage], self.totals[stage])

    def chunked(self, documents: Sequence[SourceDocument]) -> list[tuple[SourceDocument, list[Chunk]]]:
        settings, spans = self.settings, self.tools.embedder.token_spans
        self.totals["chunking"] += len(documents)
        found = []
        for document in documents:
            with self.timed("chunking"):
                chunks = chunk(document, spans, size=settings.chunk_tokens, overlap=settings.chunk_overlap)
            found.append((document, chunks))
            self.totals["reading"] += len(chunks)
            self.totals["summarising"] += tree_size(len(chunks), settings.group_size)
            self.advance("chunking", 1)
        self.totals["writing"] += len(documents)
        return found

    def growing(self, chunked: Sequence[tuple[SourceDocument, list[Chunk]]]) -> Forest:
        """The trees of all documents, beside everything else; none, if the summariser needs the sentences first."""
        return self._forest([] if self.summariser.needs_sentences else [Ground(*one) for one in chunked])

    def indexed(
        self, batch: Sequence[tuple[SourceDocument, list[Chunk]]], forest: Forest, first: int, apart: Collection[str]
    ) -> list[IndexedDocument]:
        """Everything about a batch of documents that the models find. Their trees begin at `first` in the forest; the
        names in `apart` are joined to no other."""
        extractions, embedded = self._read([one for _, chunks in batch for one in chunks])
        with self.timed("summarising"):  # of trees that grew meanwhile: waiting for the rest of them
            if self.summariser.needs_sentences:
                forest, first = self._forest(_grounds(batch, extractions, embedded)), 0
            trees = [forest.tree(first + number) for number in range(len(batch))]
        with self.timed("embedding summaries"):
            texts = [summary.text for tree in trees for summary in tree]
            summary_vectors = embed_long(self.tools.embedder, texts)
        found = []
        at = summary_at = 0
        for (document, chunks), tree in zip(batch, trees, strict=True):
            here, summaries_here = slice(at, at + len(chunks)), slice(summary_at, summary_at + len(tree))
            found_in = extractions[here]
            same = joins(name_counts(found_in), apart)
            found.append(
                IndexedDocument(
                    document=document,
                    chunks=chunks,
                    summaries=tree,
                    mentions=mentions(chunks, joined(found_in, same), [one.windows for one in embedded[here]]),
                    joins=same,
                    windows=windows_of(chunks, embedded[here]),
                    chunk_vectors=np.stack([one.vector for one in embedded[here]]),
                    window_vectors=np.concatenate([one.window_vectors for one in embedded[here]]),
                    summary_vectors=summary_vectors[summaries_here],
                )
            )
            at, summary_at = here.stop, summaries_here.stop
        return found

    def _read(self, chunks: Sequence[Chunk]) -> tuple[list[Extraction], list[Embedded]]:
        """Entities and vectors of chunks: spaCy reads ahead in processes of its own while this one embeds."""
        extractions: list[Extraction] = []

        def with_sentences() -> Iterator[tuple[str, list[tuple[int, int]]]]:
            texts = [one.text for one in chunks]
            for text, extraction in zip(texts, extract_all(self.tools.nlp, texts, self._workers), strict=True):
                extractions.append(extraction)
                yield text, [(sentence.start, sentence.end) for sentence in extraction.sentences]

        embedded = []
        with self.timed("reading"):
            for one in embed_with_parts(self.tools.embedder, with_sentences()):
                embedded.append(one)
                self.advance("reading", 1)
        return extractions, embedded

    @property
    def _workers(self) -> int:
        return self.settings.workers or os.cpu_count() or 1

    def _forest(self, grounds: Sequence[Ground]) -> Forest:
        return Forest(
            grounds,
            self.summariser,
            group_size=self.settings.group_size,
            token_spans=self.tools.embedder.token_spans,
            progress=lambda written: self.advance("summarising", written),
        )

    def count(self, indexed: Sequence[IndexedDocument]) -> None:
        """Add written documents to the report."""
        self.report.documents += len(indexed)
        for one in indexed:
            self.report.chunks += len(one.chunks)
            self.report.tokens += sum(chunk.tokens for chunk in one.chunks)
            for summary in one.summaries:
                level = self.report.summaries_by_level
                level[summary.level] = level.get(summary.level, 0) + 1
        self.advance("writing", len(indexed))
