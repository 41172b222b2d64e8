"""One run of indexing: models, report, times, progress and document drafts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from e2g_neo4j.graph.rows import EmbeddedChunk, IndexedDocument, StoredDocument
from e2g_neo4j.indexing.chunking import chunk, whole_nodes
from e2g_neo4j.indexing.cluster import read_on_cluster
from e2g_neo4j.indexing.language import code_of, other_language
from e2g_neo4j.indexing.linked_names import LinkedNames
from e2g_neo4j.indexing.missed_names import KnownNames, add_missed_names
from e2g_neo4j.indexing.reading import Found, ReadAhead, Text, read_texts
from e2g_neo4j.indexing.summaries.base import Summariser, TreeInput
from e2g_neo4j.indexing.summaries.tree import SummaryTreeBuilder, tree_size
from e2g_neo4j.indexing.topic_persistence import Persistence
from e2g_neo4j.models.chat.usage import UsageMeter, cost
from e2g_neo4j.models.choice import models_beside
from e2g_neo4j.models.embedding.base import normalise
from e2g_neo4j.models.embedding.windows import embed_long
from e2g_neo4j.models.entities.extraction_codec import decode
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Operation, Write
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.documents import EXTRACTOR, Chunk, SourceDocument, Span, Vectors
from e2g_neo4j.types.graph import Extraction, Summary
from e2g_neo4j.types.languages import name_of
from e2g_neo4j.types.mentions import NameMerge
from e2g_neo4j.types.reports import IndexReport, Progress


def needs_extraction(draft: DocumentDraft, chunk: Chunk, builder: SummaryTreeBuilder) -> bool:
    """Return whether a chunk is new, or its sentences are needed for a new summary."""
    return chunk.id not in draft.before.chunks or builder.needs(draft.number, chunk.index)


class LeaseLostError(Exception):
    """The run does not hold its documents any more, or names were split or joined in the meantime."""


@dataclass(slots=True)
class DocumentDraft:
    """A document that is being indexed.

    Attributes:
        number: its number in this run.
        extractor: what reads it, see `EXTRACTOR`.
        notes: the packed extraction of each chunk.
        windows: the windows of each chunk, as spans in its text.
        known_names: its names that are found wherever they are spelled the same.
        unchanged: the ids of the chunks that are kept with their mentions.
    """

    number: int
    document: SourceDocument
    chunks: Sequence[Chunk]
    before: StoredDocument
    extractor: str
    notes: list[bytes] = field(default_factory=list)
    windows: list[Sequence[Span]] = field(default_factory=list)
    persistence: Persistence = field(default_factory=Persistence)
    known_names: KnownNames = field(default_factory=KnownNames)
    merges: Sequence[NameMerge] = ()
    unchanged: set[str] = field(default_factory=set)

    @property
    def new_chunks(self) -> list[Chunk]:
        """The chunks that are not stored yet."""
        return [one for one in self.chunks if one.id not in self.before.chunks]

    @property
    def known(self) -> dict[str, tuple[str, bytes]]:
        """The stored summaries by input hash: text and notes. They are reused."""
        return {row["made_of"]: (row["text"], row["notes"] or b"") for row in self.before.summaries.values()}

    def is_outdated(self, chunk: Chunk) -> bool:
        """Return whether a chunk is stored with an extraction by other rules, or another pipeline."""
        stored = self.before.chunks.get(chunk.id)
        return stored is not None and stored["extractor"] != self.extractor

    def keep(self, notes: bytes, windows: Sequence[Span], vectors: Vectors) -> None:
        """Keep the packed extraction and the windows of the next chunk."""
        self.notes.append(notes)
        self.windows.append(windows)
        self.persistence.add(vectors)

    def extraction(self, chunk: Chunk) -> Extraction:
        """Return what is found in a chunk, with names that only other chunks show to be names."""
        return add_missed_names(chunk.text, decode(self.notes[chunk.index]), self.known_names)

    def read(self, chunk: Chunk, vectors: Vectors) -> EmbeddedChunk:
        return EmbeddedChunk(
            self.document.id,
            chunk,
            self.notes[chunk.index],
            self.windows[chunk.index],
            vectors,
            normalise(vectors.mean(axis=0)),
        )

    def complete(self, tree: Sequence[Summary]) -> IndexedDocument:
        return IndexedDocument(
            self.document,
            self.chunks,
            tree,
            self.merges,
            self.persistence.windows,
            self.persistence.value,
            self.before,
            self.unchanged,
            self.extractor,
        )


@dataclass(slots=True)
class IndexRun:
    """One run of `index` or `plan`.

    Attributes:
        languages: the codes of the languages of documents that are not in that of the corpus, by their ids.
        totals: the total work by stage, for progress.
        done: the work done by stage, for progress.
    """

    corpus: str
    models: Models
    summariser: Summariser
    meter: UsageMeter
    progress: Progress
    vectors: str = ""
    languages: dict[str, str] = field(default_factory=dict)
    report: IndexReport = field(init=False)
    totals: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.report = IndexReport(self.corpus)

    @property
    def settings(self) -> Settings:
        return self.models.settings

    @property
    def cost(self) -> float:
        """The cost of chat and embedding models so far, in the currency of the configured prices."""
        settings = self.settings
        chat = cost(self.meter.levels, settings.price_prompt, settings.price_completion)
        return chat + self.meter.embedded * settings.price_embedding / 1e6

    def models_of(self, document: SourceDocument) -> Models:
        """Return the models for a document: those of the corpus, with a pipeline for its language."""
        language = self.languages.get(document.id)
        return models_beside(language, self.models) if language else self.models

    def extractor_of(self, document: SourceDocument) -> str:
        language = self.languages.get(document.id)
        return f"{EXTRACTOR}+{self.models_of(document).pipeline_id}" if language else EXTRACTOR

    def recognise_languages(self, documents: Sequence[SourceDocument]) -> dict[str, str]:
        """Find the documents that are not in the language of their corpus. Return what to tell of them, by source, of
        those in one language by the first."""
        corpus, models = self.corpus, self.models
        told, sources = dict[str, str](), dict[str, list[str]]()
        for document in documents:
            found = other_language(document.text, models.language)
            if found and (code := code_of(found)):
                self.languages[document.id] = code
                sources.setdefault(code, []).append(document.source)
            elif found:
                told[document.source] = (
                    f"{document.source} is in {found}, of which this package knows no words, so its entities will be "
                    "wrong. To mend it, set E2G_SPACY_MODEL to a pipeline for it, and index it into another corpus."
                )
        for code, those in sources.items():
            which = f"{those[0]} is" if len(those) == 1 else f"{those[0]} and {len(those) - 1} more are"
            own, other = name_of(models.language), name_of(code)
            told[those[0]] = (
                f"{which} in {other}, and the corpus {corpus!r} in {own}: names are found by the pipeline "
                f"{models_beside(code, models).pipeline_id}, and words by the stems of {own}."
            )
        return told

    def linked_names(self, draft: DocumentDraft, linked: LinkedNames) -> Mapping[str, str]:
        """Return the types of the names of linked nodes that are in a document, by spelling."""
        return linked.find_in(chunk.text for chunk in draft.chunks)

    def count_sent_tokens(self, chunks: Iterable[tuple[Chunk, bool]]) -> int:
        """Return about how many tokens a server is sent to embed chunks, of some of which the sentences too."""
        return sum((1 + parted) * one.tokens for one, parted in chunks) if self.models.is_remote else 0

    def extracts_as(self, extractor: str | None) -> bool:
        """Return whether a stored document was read by the present rules, and the present pipeline for its language."""
        rules, _, pipeline = (extractor or "").partition("+")
        language = pipeline.partition("_")[0]
        return rules == EXTRACTOR and (not pipeline or models_beside(language, self.models).pipeline_id == pipeline)

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Add the duration of a block to the report."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.add_seconds(stage, time.perf_counter() - began)

    def add_seconds(self, stage: str, seconds: float) -> None:
        self.report.seconds[stage] = self.report.seconds.get(stage, 0.0) + seconds

    def advance(self, stage: str, by: int) -> None:
        self.done[stage] += by
        self.progress(stage, self.done[stage], self.totals[stage])

    def split(self, documents: Sequence[SourceDocument]) -> list[tuple[SourceDocument, list[Chunk]]]:
        """Split documents into chunks."""
        settings, spans = self.settings, self.models.embedder.token_spans
        self.totals["chunking"] += len(documents)
        chunked = []
        for document in documents:
            with self.measure("chunking"):
                if document.cuts:
                    chunks = whole_nodes(document, spans)
                else:
                    chunks = chunk(document, spans, size=settings.chunk_tokens, overlap=settings.chunk_overlap)
            chunked.append((document, chunks))
            self.totals["summarising"] += tree_size(len(chunks), settings.group_size)
            self.advance("chunking", 1)
        self.totals["writing"] += len(documents)
        return chunked

    def start_trees(self, drafts: Sequence[DocumentDraft]) -> SummaryTreeBuilder:
        """Start to build the summary trees of all documents, in threads."""
        return SummaryTreeBuilder(
            [TreeInput(draft.document, draft.chunks, draft.known) for draft in drafts],
            self.summariser,
            group_size=self.settings.group_size,
            token_spans=self.models.embedder.token_spans,
            progress=lambda written: self.advance("summarising", written),
        )

    def start_reading(self, drafts: Sequence[DocumentDraft], builder: SummaryTreeBuilder) -> ReadAhead:
        """Start to extract entities and compute vectors of all chunks that need it, in order, in a thread."""
        found = [
            (draft, one, builder.needs(draft.number, one.index))
            for draft in drafts
            for one in draft.chunks
            if needs_extraction(draft, one, builder)
        ]
        self.meter.embed(self.count_sent_tokens((one, parted) for _, one, parted in found))
        self.totals["reading"] += len(found)
        read = self._read([(self.models_of(draft.document), (one.text, parted)) for draft, one, parted in found])
        return ReadAhead([one for _, one, _ in found], read, lambda: self.advance("reading", 1))

    def _read(self, texts: Iterable[tuple[Models, Text]]) -> Iterator[Found]:
        """Yield what is found in each text by its models, in this process or on the cluster."""
        for models, group in groupby(texts, key=itemgetter(0)):
            these = [text for _, text in group]
            if self.settings.cluster:
                yield from read_on_cluster(self.settings.cluster, models, these)
            else:
                yield from read_texts(models.nlp, models.embedder, these, models.workers)

    def wait_for_summaries(
        self, batch: Sequence[DocumentDraft], builder: SummaryTreeBuilder
    ) -> tuple[list[list[Summary]], Vectors]:
        """Wait for the summary trees of documents. Return them, and the vectors of the new summaries."""
        trees = [builder.tree(draft.number) for draft in batch]
        new = [
            summary.text
            for draft, tree in zip(batch, trees, strict=True)
            for summary in tree
            if summary.id not in draft.before.summaries
        ]
        return trees, embed_long(self.models.embedder, new)

    def write(self, requests: Iterable[Write]) -> Operation[None]:
        """Run transactions in order. Raises LeaseLostError if the condition of one fails."""
        with self.measure("writing"):
            for request in requests:
                if not (yield request):
                    raise LeaseLostError

    def count(self, batch: Sequence[DocumentDraft], indexed: Sequence[IndexedDocument]) -> None:
        """Add written documents to the report."""
        self.report.documents += len(indexed)
        for draft, one in zip(batch, indexed, strict=True):
            self.report.chunks += len(draft.new_chunks)
            self.report.kept += len(draft.chunks) - len(draft.new_chunks)
            self.report.tokens += sum(chunk.tokens for chunk in draft.new_chunks)
            levels, known = self.report.summaries_by_level, draft.known
            for summary in one.summaries:
                if summary.made_of in known:
                    self.report.summaries_kept += 1
                else:
                    levels[summary.level] = levels.get(summary.level, 0) + 1
        self.advance("writing", len(indexed))
