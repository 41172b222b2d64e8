"""The story of index(): what changed is chunked, read by spaCy and the embedding model side by side, summarised
into a tree, staged and published."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from spacy.language import Language

from e2g_neo4j.archive.importing import settle
from e2g_neo4j.chat.spending import Meter, cost
from e2g_neo4j.chunking import chunk, cut_by, whole_nodes
from e2g_neo4j.cooccurrence import mentions
from e2g_neo4j.embedding.embedder import POOLING, Embedded, Embedder, embed_long, embed_with_parts, normalised
from e2g_neo4j.embedding.topic_persistence import Persistence
from e2g_neo4j.errors import InputError, is_adopted
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
    Span,
    Summary,
    Vectors,
)
from e2g_neo4j.naming import Join, joined, joins, name_counts
from e2g_neo4j.packing import packed, unpacked
from e2g_neo4j.queries import Perform, Read, Story, Write
from e2g_neo4j.rows import Before, IndexedDocument, ReadChunk, told
from e2g_neo4j.settings import Settings
from e2g_neo4j.summarising.tree import Forest, Ground, Summariser, tree_size
from e2g_neo4j.writing import Staging, batches, before, claim, clean, publish, window_vectors, withdrawn

BATCH_CHUNKS = 256
"""Chunks that are held at once with all that is found in them. Documents are published together up to so many chunks;
a longer one is published by itself."""

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
    adopted: bool = False,
) -> Story[IndexReport]:
    """Bring documents into a corpus; one that is there unchanged is left alone, a changed one replaced.

    A document becomes visible to queries in the transaction that completes it. One that another run is indexing is
    waited for. `perform` serves the thread that renews the lease. `adopted`: the documents are text nodes of somebody
    else's, and the corpus is marked so. Raises FingerprintError when the index was made with other models, InputError
    where the corpus is adopted and the documents are not, or the other way round.
    """
    work = _Work(IndexReport(corpus), tools, summariser, settings, progress)
    left = list({document.id: document for document in documents}.values())
    with work.timed("total"):
        yield from check_kind(corpus, adopted)
        yield from agree_on_fingerprint(tools.fingerprint)
        with Lease(perform, corpus) as lease:
            while left:
                settle(perform)
                yield from check_kind(corpus, adopted)
                yield from clean(corpus)
                mine, left, replaced = yield from _claimed(left, corpus, lease, work.report, adopted)
                if left and not mine:
                    with work.timed("waiting"):
                        time.sleep(WAIT_SECONDS)
                drafts = yield from _drafts(work.chunked(mine), replaced, corpus)
                with work.growing(drafts) as forest:
                    for batch in _batches(drafts):
                        try:
                            yield from _indexed(batch, forest, corpus, lease, work)
                            work.report.replaced += sum(draft.document.id in replaced for draft in batch)
                        except (
                            _LostError
                        ):  # to another run, by a deletion, or for names that are told apart otherwise now
                            left += [draft.document for draft in batch]
        yield from _totals(corpus, work.report)
    return work.report


def _claimed(
    documents: Sequence[SourceDocument], corpus: str, lease: Lease, report: IndexReport, adopted: bool
) -> Story[tuple[list[SourceDocument], list[SourceDocument], set[str]]]:
    """Changed documents that are now this run's, those that are another's, and the ids of those that are replaced."""
    changed, _ = yield from _changed(documents, corpus, report)
    yield from claim(corpus, lease.run, changed, adopted=adopted)
    rows = yield Read("index/documents", {"corpus": corpus, "ids": [document.id for document in changed]})
    known = {row["id"]: row for row in rows}
    mine = [document for document in changed if known.get(document.id, {}).get("run") == lease.run]
    ready = {row["id"] for row in rows if row["state"] == "ready"}
    taken = {document.id for document in mine}
    return mine, [document for document in changed if document.id not in taken], ready & taken


def _drafts(
    chunked: Sequence[tuple[SourceDocument, list[Chunk]]], replaced: Collection[str], corpus: str
) -> Story[list[_Draft]]:
    """Documents with what the versions before have in common with them."""
    drafts = []
    for number, (document, chunks) in enumerate(chunked):
        there = (yield from before(corpus, document.id)) if document.id in replaced else Before()
        drafts.append(_Draft(number, document, chunks, there))
    return drafts


def _indexed(batch: Sequence[_Draft], forest: Forest, corpus: str, lease: Lease, work: _Work) -> Story[None]:
    """Index documents and publish them together. They are read some chunks at a time, which are staged and let go of;
    what they mention is told when all of a document is read. Raises _LostError where the run has lost them."""
    staging = Staging(corpus, lease.run, [draft.document.id for draft in batch])
    try:
        yield from work.written([staging.begin()])
        for part in _parts(batch):
            yield from _read(part, staging, forest, work)
        apart = {row["key"] for row in (yield Read("index/apart", {"corpus": corpus}))}
        for draft in batch:
            draft.joins = joins(name_counts(map(unpacked, draft.notes)), apart)
        for part in _parts(batch):
            yield from _told(part, staging, work)
        with work.timed("summarising"):  # waiting for the rest of them: trees grow meanwhile
            indexed = [draft.indexed(forest.tree(draft.number)) for draft in batch]
        with work.timed("embedding summaries"):
            texts = [summary.text for one in indexed for summary in one.new_summaries]
            vectors = embed_long(work.tools.embedder, texts)
        yield from work.written(staging.summaries(indexed, vectors))
        yield from work.written(withdrawn(corpus, lease.run, indexed))
        yield from work.written([publish(corpus, lease.run, indexed, apart=apart)])
        with work.timed("writing"):
            yield from clean(corpus)
    except _LostError:
        raise
    except Exception as error:
        lease.failed(staging.documents, error)
        raise
    work.count(batch, indexed)


_Part: TypeAlias = Sequence[tuple["_Draft", Sequence[Chunk]]]
"""Some chunks of documents, in order, that are held at once with all that is found in them."""


def _parts(batch: Sequence[_Draft]) -> Iterator[_Part]:
    chunks = ((draft, one) for draft in batch for one in draft.chunks)
    for some in batches(chunks, BATCH_CHUNKS):
        yield [(draft, [one for _, one in group]) for draft, group in groupby(some, key=itemgetter(0))]


def _read(part: _Part, staging: Staging, forest: Forest, work: _Work) -> Story[None]:
    """Stage the chunks that are new. Of all, their draft keeps what their mentions are told from."""
    read = work.read([one for draft, chunks in part for one in chunks if _is_to_read(draft, one, forest)])
    kept = [one.id for draft, chunks in part for one in chunks if one.id in draft.before.chunks]
    vectors = yield from _vectors_of(kept, staging)
    new = []
    for draft, chunks in part:
        for one in chunks:
            if one.id in read and forest.wants(draft.number, one.index):
                extraction, embedded = read[one.id]
                forest.feed(draft.number, one.index, extraction, embedded.part_vectors)
            if one.id in draft.before.chunks:
                row = draft.before.chunks[one.id]
                windows = tuple((start - row["start"], end - row["start"]) for start, end in row["windows"])
                draft.keep(row["notes"], windows, vectors[one.id])
            else:
                extraction, embedded = read[one.id]
                draft.keep(packed(extraction), embedded.windows, embedded.window_vectors)
                new.append(draft.read(one, embedded.window_vectors))
    yield from work.written(staging.chunks(new))


def _vectors_of(kept: Sequence[str], staging: Staging) -> Story[dict[str, Vectors]]:
    """The vectors of the windows of chunks that are there, by chunk. Raises _LostError where they were deleted."""
    vectors = yield from window_vectors(staging.corpus, kept)
    if len(vectors) < len(kept):
        raise _LostError
    return vectors


def _is_to_read(draft: _Draft, chunk: Chunk, forest: Forest) -> bool:
    """Whether a chunk is new, or its sentences are needed for a summary that is."""
    return chunk.id not in draft.before.chunks or forest.wants(draft.number, chunk.index)


def _told(part: _Part, staging: Staging, work: _Work) -> Story[None]:
    """Stage what chunks mention. All of a document decides what its names stand for: a chunk that was there before
    stays as it is if it mentions what it did."""
    new, changed = [], []
    for draft, chunks in part:
        extractions = joined((unpacked(draft.notes[one.index]) for one in chunks), draft.joins)
        found = mentions(chunks, extractions, [draft.windows[one.index] for one in chunks])
        for one, mentioned in zip(chunks, found, strict=True):
            there = draft.before.chunks.get(one.id)
            if there and there["told"] == told(mentioned):
                draft.staying.add(one.id)
            else:
                new.append(mentioned)
                changed += [(draft, one)] if there else []
    vectors = yield from _vectors_of([one.id for _, one in changed], staging)
    yield from work.written(staging.chunks([draft.read(one, vectors[one.id]) for draft, one in changed]))
    yield from work.written(staging.mentions(new))


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
    yield from check_kind(corpus, False)
    report = IndexReport(corpus)
    work = _Work(report, tools, summariser, settings, lambda stage, done, total: None)
    changed, replaced = yield from _changed(documents, corpus, report)
    drafts = yield from _drafts(work.chunked(changed), replaced, corpus)
    with work.growing(drafts) as forest:
        for number in range(0 if summariser.needs_sentences else len(drafts)):
            forest.tree(number)
    return IndexPlan(
        corpus=corpus,
        documents=len(changed),
        unchanged=report.unchanged,
        chunks=sum(len(draft.new_chunks) for draft in drafts),
        tokens=sum(chunk.tokens for draft in drafts for chunk in draft.new_chunks),
        levels=meter.levels,
        cost=cost(meter.levels, settings.price_prompt, settings.price_completion),
    )


def agree_on_fingerprint(mine: Fingerprint) -> Story[None]:
    """Record what the index is made with, or raise FingerprintError when it was made with something else."""
    yield Write((("index/set_fingerprint", asdict(mine)),))
    [row] = yield Read("index/fingerprint", {})
    mine.check(Fingerprint(**row))


def check_kind(corpus: str, adopted: bool) -> Story[None]:
    """Raise InputError unless a corpus is adopted, or not, as what is to come into it."""
    [row] = yield Read("adopt/adopted", {"corpus": corpus})
    if row["adopts"] and not adopted:
        raise is_adopted(corpus, "index into another corpus, and ask both with `--corpus` twice")
    if adopted and not row["adopts"]:
        raise InputError(f"The corpus {corpus!r} was unadopted meanwhile: adopt it again.")


def _changed(
    documents: Sequence[SourceDocument], corpus: str, report: IndexReport
) -> Story[tuple[list[SourceDocument], set[str]]]:
    """The documents whose text the database does not hold yet, or not cut as it is now, and the ids of those that it
    holds otherwise."""
    rows = yield Read("index/documents", {"corpus": corpus, "ids": [document.id for document in documents]})
    ready = {row["id"]: (row["sha256"], row["chunker"]) for row in rows if row["state"] == "ready"}
    unfinished = {row["id"] for row in rows if row["work"]}
    changed = [one for one in documents if one.id in unfinished or ready.get(one.id) != (one.sha256, cut_by(one))]
    replaced = {document.id for document in changed} & ready.keys()
    report.unchanged += len(documents) - len(changed)
    return changed, replaced


def _totals(corpus: str, report: IndexReport) -> Story[None]:
    [row] = yield Read("query/stats", {"corpus": corpus})
    report.entities = row["entities"]
    report.co_occurrences = row["co_occurrences"]
    report.mentions = row["mentions"]


def _batches(drafts: Sequence[_Draft]) -> Iterator[list[_Draft]]:
    """Documents to be published together."""
    batch: list[_Draft] = []
    size = 0
    for draft in drafts:
        chunks = draft.new_chunks
        if batch and size + len(chunks) > BATCH_CHUNKS:
            yield batch
            batch, size = [], 0
        batch.append(draft)
        size += len(chunks)
    if batch:
        yield batch


class _LostError(Exception):
    """Documents are no longer the run's, or names were kept apart or joined meanwhile."""


@dataclass(slots=True)
class _Draft:
    """A document that is being indexed, what the database has of it, and what is found in it, little for each chunk.

    `number`: its place among those of this run. By chunk: `notes`, its packed extraction, and the spans of its windows
    in its text.
    """

    number: int
    document: SourceDocument
    chunks: Sequence[Chunk]
    before: Before
    notes: list[bytes] = field(default_factory=list)
    windows: list[Sequence[Span]] = field(default_factory=list)
    persistence: Persistence = field(default_factory=Persistence)
    joins: Sequence[Join] = ()
    staying: set[str] = field(default_factory=set)

    @property
    def new_chunks(self) -> list[Chunk]:
        return [one for one in self.chunks if one.id not in self.before.chunks]

    @property
    def known(self) -> dict[str, tuple[str, bytes]]:
        """The summaries that need not be written again."""
        return {row["made_of"]: (row["text"], row["notes"] or b"") for row in self.before.summaries.values()}

    def keep(self, notes: bytes, windows: Sequence[Span], vectors: Vectors) -> None:
        """What is needed of the next chunk."""
        self.notes.append(notes)
        self.windows.append(windows)
        self.persistence.add(vectors)

    def read(self, chunk: Chunk, vectors: Vectors) -> ReadChunk:
        return ReadChunk(
            self.document.id,
            chunk,
            self.notes[chunk.index],
            self.windows[chunk.index],
            vectors,
            normalised(vectors.mean(axis=0)),
        )

    def indexed(self, tree: Sequence[Summary]) -> IndexedDocument:
        return IndexedDocument(
            self.document,
            self.chunks,
            tree,
            self.joins,
            self.persistence.windows,
            self.persistence.value,
            self.before,
            self.staying,
        )


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
                if document.cuts:
                    chunks = whole_nodes(document, spans)
                else:
                    chunks = chunk(document, spans, size=settings.chunk_tokens, overlap=settings.chunk_overlap)
            found.append((document, chunks))
            self.totals["summarising"] += tree_size(len(chunks), settings.group_size)
            self.advance("chunking", 1)
        self.totals["writing"] += len(documents)
        return found

    def growing(self, drafts: Sequence[_Draft]) -> Forest:
        """The trees of all documents, growing beside everything else."""
        forest = Forest(
            [Ground(draft.document, draft.chunks, draft.known) for draft in drafts],
            self.summariser,
            group_size=self.settings.group_size,
            token_spans=self.tools.embedder.token_spans,
            progress=lambda written: self.advance("summarising", written),
        )
        self.totals["reading"] += sum(_is_to_read(draft, one, forest) for draft in drafts for one in draft.chunks)
        return forest

    def read(self, chunks: Sequence[Chunk]) -> dict[str, tuple[Extraction, Embedded]]:
        """Entities and vectors of chunks: spaCy reads ahead in processes of its own while this one embeds."""
        texts = [one.text for one in chunks]
        extractions: list[Extraction] = []

        def with_sentences() -> Iterator[tuple[str, list[tuple[int, int]]]]:
            for text, extraction in zip(texts, extract_all(self.tools.nlp, texts, self._workers), strict=True):
                extractions.append(extraction)
                yield text, [(sentence.start, sentence.end) for sentence in extraction.sentences]

        found = {}
        with self.timed("reading"):
            for number, embedded in enumerate(embed_with_parts(self.tools.embedder, with_sentences())):
                found[chunks[number].id] = extractions[number], embedded
                self.advance("reading", 1)
        return found

    @property
    def _workers(self) -> int:
        return self.settings.workers or os.cpu_count() or 1

    def written(self, requests: Iterable[Write]) -> Story[None]:
        """One transaction after the other. Raises _LostError where one finds that the run has lost documents."""
        with self.timed("writing"):
            for request in requests:
                if not (yield request):
                    raise _LostError

    def count(self, batch: Sequence[_Draft], indexed: Sequence[IndexedDocument]) -> None:
        """Add written documents to the report."""
        self.report.documents += len(indexed)
        for draft, one in zip(batch, indexed, strict=True):
            self.report.chunks += len(draft.new_chunks)
            self.report.kept += len(draft.chunks) - len(draft.new_chunks)
            self.report.tokens += sum(chunk.tokens for chunk in draft.new_chunks)
            for summary in one.summaries:
                level = self.report.summaries_by_level
                level[summary.level] = level.get(summary.level, 0) + 1
        self.advance("writing", len(indexed))
