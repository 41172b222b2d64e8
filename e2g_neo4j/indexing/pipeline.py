"""The indexing pipeline: chunk documents, extract entities and embed, build summary trees, stage and publish."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

from e2g_neo4j.graph.catalog import check_kind
from e2g_neo4j.graph.fingerprint import confirm_models
from e2g_neo4j.graph.lease import Lease
from e2g_neo4j.graph.rows import StoredDocument, mentions_hash
from e2g_neo4j.graph.writer import (
    PROPERTY_ROWS,
    Staging,
    claim,
    decrement_ahead,
    load_stored,
    publish,
    purge,
    window_vectors,
)
from e2g_neo4j.indexing.cooccurrence import mentions
from e2g_neo4j.indexing.linked_names import LinkedNames, read_linked_names
from e2g_neo4j.indexing.merge_overrides import read_overrides, update_linked_names
from e2g_neo4j.indexing.missed_names import collect_known_names
from e2g_neo4j.indexing.name_merging import apply_merges, find_merges, name_counts
from e2g_neo4j.indexing.reading import ReadAhead
from e2g_neo4j.indexing.references import MOST_BEARERS, MOST_REFERENCES, update_references
from e2g_neo4j.indexing.run import DocumentDraft, IndexRun, LeaseLostError, needs_extraction
from e2g_neo4j.indexing.summaries.tree import SummaryTreeBuilder
from e2g_neo4j.models.entities.extraction import extract_all
from e2g_neo4j.models.entities.extraction_codec import decode, encode
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.cypher import split_suffix
from e2g_neo4j.runtime.requests import GetExecutor, Operation, Read, Write
from e2g_neo4j.runtime.threads import beside
from e2g_neo4j.types.documents import Chunk, SourceDocument, Vectors, cut_by
from e2g_neo4j.types.languages import name_words
from e2g_neo4j.types.mentions import Overrides
from e2g_neo4j.types.properties import from_stored, same, to_stored
from e2g_neo4j.types.reports import IndexReport

BATCH_CHUNKS = 256
"""Maximum number of chunks of documents that are published together. A longer document is published separately."""

PART_CHUNKS = 64
"""Chunks that are in memory with their extractions and vectors, besides those that are read ahead."""

WAIT_SECONDS = 0.5
"""How long to wait before checking again whether another run has released a document."""


def index(documents: Sequence[SourceDocument], run: IndexRun, *, adopted: bool = False) -> Operation[IndexReport]:
    """Index documents into a corpus. Unchanged documents are skipped, changed ones replaced.

    A document becomes queryable when it is completely indexed, in one transaction. If another run is indexing a
    document, this run waits for it.

    Args:
        adopted: whether the documents are text nodes of the user's graph.

    Raises:
        FingerprintError: another run has begun to index the corpus with other models.
        InputError: the corpus is adopted and the documents are not, or the other way round.
    """
    corpus = run.corpus
    left = list({document.id: document for document in documents}.values())
    yield from check_kind(corpus, adopted)
    with run.measure("loading models"):
        _ = run.models.nlp, run.models.embedder  # both load their models on first use
    execute = (yield GetExecutor()).execute
    with Lease(execute, corpus) as lease:
        yield from write_documents(left, run, lease, adopted=adopted)
    with run.measure("merging names"):
        yield from update_linked_names(corpus)
    with run.measure("finding references"):
        cut = yield from update_references(corpus)
    if cut:
        run.report.warnings[f"corpus {corpus!r}"] = (
            f"Chunks of the corpus {corpus!r} that name more documents than are linked: {cut}. At most {MOST_BEARERS} "
            f"with the same title are, and {MOST_REFERENCES} in all."
        )
    with run.measure("counting"):
        yield from _totals(run.report)
    return run.report


def write_documents(
    left: Sequence[SourceDocument], run: IndexRun, lease: Lease, *, adopted: bool = False
) -> Operation[None]:
    """Publish documents whose ids differ. Names and references of others are not brought up to date."""
    corpus = run.corpus
    while left:
        with run.measure("preparing"):
            yield from check_kind(corpus, adopted)
            yield from purge(corpus)
            mine, left, replaced = yield from _claim_documents(left, lease, run, adopted)
            if mine:
                yield from confirm_models(run.models, corpus, run.vectors)
        if left and not mine:
            with run.measure("waiting"):
                time.sleep(WAIT_SECONDS)
        chunked = run.split(mine)
        with run.measure("preparing"):
            drafts = yield from _drafts(chunked, replaced, run)
        with run.start_trees(drafts) as builder, run.start_reading(drafts, builder) as reader:
            for batch in _group_drafts(drafts):
                try:
                    yield from _stage_and_publish(batch, builder, reader, lease, run)
                    run.report.replaced += sum(draft.document.id in replaced for draft in batch)
                except LeaseLostError:  # to another run or a deletion, or because names have changed
                    left += [draft.document for draft in batch]
        run.add_seconds("reading", reader.seconds)


def _claim_documents(
    documents: Sequence[SourceDocument], lease: Lease, run: IndexRun, adopted: bool
) -> Operation[tuple[list[SourceDocument], list[SourceDocument], set[str]]]:
    """Claim changed documents. Return those of this run, those of other runs, and the ids of replaced ones."""
    corpus = run.corpus
    changed, _ = yield from _find_changed(documents, run)
    run.report.warnings |= run.recognise_languages(changed)
    yield from _set_properties(documents, changed, run, adopted)
    yield from claim(corpus, lease.run, changed, adopted=adopted)
    rows = yield Read("index/documents", {"corpus": corpus, "ids": [document.id for document in changed]})
    known = {row["id"]: row for row in rows}
    mine = [one for one in changed if known.get(one.id, {}).get("run") == lease.run]
    mine = yield from _with_claimed_properties(mine, corpus)
    ready = {row["id"] for row in rows if row["state"] == "ready"}
    taken = {document.id for document in mine}
    return mine, [document for document in changed if document.id not in taken], ready & taken


def _set_properties(
    documents: Sequence[SourceDocument], changed: Sequence[SourceDocument], run: IndexRun, adopted: bool
) -> Operation[None]:
    """Replace the properties of documents of which only these have changed."""
    corpus = run.corpus
    ids = {document.id for document in changed}
    given = {one.id: one.properties for one in documents if one.properties is not None and one.id not in ids}
    for some in split_batches(given, PROPERTY_ROWS):
        rows = yield Read("index/properties", {"corpus": corpus, "ids": some})
        outdated = [row["id"] for row in rows if not same(from_stored(row["properties"]), given[row["id"]])]
        if outdated:
            new = [{"id": id, "properties": to_stored(given[id])} for id in outdated]
            yield Write(
                (("index/set_properties", {"corpus": corpus, "rows": new}),),
                condition=("index/open_corpus", {"corpus": corpus, "adopted": adopted}),
            )
            run.report.properties_replaced += len(outdated)


def _with_claimed_properties(documents: Sequence[SourceDocument], corpus: str) -> Operation[list[SourceDocument]]:
    """Return documents; those without properties with what an interrupted run was to give them."""
    claimed: dict[str, Any] = {}
    for some in split_batches([one.id for one in documents if one.properties is None], PROPERTY_ROWS):
        for row in (yield Read("index/properties", {"corpus": corpus, "ids": some})):
            if (text := row["properties"].get("claimed_properties")) is not None:
                claimed[row["id"]] = json.loads(text)
    return [replace(one, properties=claimed[one.id]) if one.id in claimed else one for one in documents]


def _drafts(
    chunked: Sequence[tuple[SourceDocument, list[Chunk]]], replaced: Collection[str], run: IndexRun
) -> Operation[list[DocumentDraft]]:
    """Create drafts, with the stored versions of documents that are replaced."""
    drafts = []
    for number, (document, chunks) in enumerate(chunked):
        stored = (yield from load_stored(run.corpus, document.id)) if document.id in replaced else StoredDocument()
        drafts.append(DocumentDraft(number, document, chunks, stored, run.extractor_of(document)))
    return drafts


def _stage_and_publish(
    batch: Sequence[DocumentDraft], builder: SummaryTreeBuilder, reader: ReadAhead, lease: Lease, run: IndexRun
) -> Operation[None]:
    """Index documents and publish them together.

    Some chunks at a time are processed, staged and released. Mentions are staged when the names of the whole document
    are known. Raises LeaseLostError if the run has lost the documents.
    """
    corpus = run.corpus
    fulltext = bool(split_suffix(run.vectors)[1])
    staging = Staging(corpus, lease.run, [draft.document.id for draft in batch], fulltext)
    try:
        yield from run.write([staging.begin()])
        for part in _parts(batch):
            yield from _stage_chunks(part, staging, builder, reader, run)
        with run.measure("merging names"):
            overrides, linked = yield from _merge_names(batch, run)
        summarised = beside(lambda: run.wait_for_summaries(batch, builder))
        for part in _parts(batch):
            yield from _stage_mentions(part, staging, run)
        with run.measure("summarising"):  # waiting for the rest of them
            trees, vectors = summarised.result()
        indexed = [draft.complete(tree) for draft, tree in zip(batch, trees, strict=True)]
        yield from run.write(staging.summaries(indexed, vectors))
        yield from run.write(decrement_ahead(corpus, lease.run, indexed))
        yield from run.write([publish(corpus, lease.run, indexed, overrides=overrides, linked=linked.versions)])
        with run.measure("writing"):
            yield from purge(corpus)
    except LeaseLostError:
        raise
    except Exception as error:
        lease.record_failure(staging.documents, error)
        raise
    run.count(batch, indexed)


def _merge_names(batch: Sequence[DocumentDraft], run: IndexRun) -> Operation[tuple[Overrides, LinkedNames]]:
    """Find the name merges of documents, and return what was decided by hand, and the names of linked nodes."""
    corpus, of = run.corpus, name_words(run.models.language)
    overrides = yield from read_overrides(corpus)
    linked = yield from read_linked_names(corpus)
    for draft in batch:
        in_text = run.linked_names(draft, linked)
        draft.known_names = collect_known_names(name_counts(map(decode, draft.notes)), of, in_text)
        counts = name_counts(map(draft.extraction, draft.chunks))
        decided, spelled = overrides.in_document(draft.document.id), overrides.spellings_in(draft.document.id)
        draft.merges = find_merges(counts, of, decided, spelled)
    return overrides, linked


_Part: TypeAlias = Sequence[tuple["DocumentDraft", Sequence[Chunk]]]
"""Some chunks of documents, in order, that are in memory at the same time."""


def _parts(batch: Sequence[DocumentDraft]) -> Iterator[_Part]:
    chunks = ((draft, one) for draft in batch for one in draft.chunks)
    for batch_of_chunks in split_batches(chunks, PART_CHUNKS):
        yield [(draft, [one for _, one in group]) for draft, group in groupby(batch_of_chunks, key=itemgetter(0))]


def _stage_chunks(
    part: _Part, staging: Staging, builder: SummaryTreeBuilder, reader: ReadAhead, run: IndexRun
) -> Operation[None]:
    """Stage new chunks. Drafts keep the extractions of all chunks, from which mentions are computed later. Kept chunks
    that other rules extracted are extracted again."""
    with run.measure("waiting for models"):
        read = {
            one.id: reader.take(one)
            for draft, chunks in part
            for one in chunks
            if needs_extraction(draft, one, builder)
        }
    kept = [one.id for draft, chunks in part for one in chunks if one.id in draft.before.chunks]
    with run.measure("loading stored vectors"):
        vectors = yield from _vectors_of(kept, staging)
    with run.measure("waiting for models"):
        extracted = dict[str, bytes]()
        for draft, chunks in part:
            extracted |= _extract_again(
                [one for one in chunks if draft.is_outdated(one)], run.models_of(draft.document)
            )
    new = []
    for draft, chunks in part:
        for one in chunks:
            if one.id in read and builder.needs(draft.number, one.index):
                extraction, embedded = read[one.id]
                builder.add_chunk(draft.number, one.index, extraction, embedded.part_vectors)
            if one.id in draft.before.chunks:
                row = draft.before.chunks[one.id]
                windows = tuple((start - row["start"], end - row["start"]) for start, end in row["windows"])
                draft.keep(extracted.get(one.id, row["notes"]), windows, vectors[one.id])
            else:
                extraction, embedded = read[one.id]
                draft.keep(encode(extraction), embedded.windows, embedded.window_vectors)
                new.append(draft.read(one, embedded.window_vectors))
    yield from run.write(staging.chunks(new))


def _extract_again(chunks: Sequence[Chunk], models: Models) -> dict[str, bytes]:
    """Return the packed extractions of chunks. Their vectors are kept, so the embedding model is not needed."""
    extractions = extract_all(models.nlp, [one.text for one in chunks], models.workers) if chunks else ()
    return {one.id: encode(extraction) for one, extraction in zip(chunks, extractions, strict=True)}


def _vectors_of(kept: Sequence[str], staging: Staging) -> Operation[dict[str, Vectors]]:
    """Read the vectors of the windows of stored chunks. Raises LeaseLostError if chunks were deleted."""
    vectors = yield from window_vectors(staging.corpus, kept)
    if len(vectors) < len(kept):
        raise LeaseLostError
    return vectors


def _stage_mentions(part: _Part, staging: Staging, run: IndexRun) -> Operation[None]:
    """Stage mentions. Name merges depend on the whole document, so the mentions of a kept chunk may change."""
    new, changed = [], []
    for draft, chunks in part:
        with run.measure("merging names"):
            extractions = list(apply_merges(map(draft.extraction, chunks), draft.merges))
            found = list(mentions(chunks, extractions, [draft.windows[one.index] for one in chunks]))
        for one, mentioned in zip(chunks, found, strict=True):
            stored = draft.before.chunks.get(one.id)
            if stored and stored["told"] == mentions_hash(mentioned) and not draft.is_outdated(one):
                draft.unchanged.add(one.id)
            else:
                new.append(mentioned)
                changed += [(draft, one)] if stored else []
    with run.measure("loading stored vectors"):
        vectors = yield from _vectors_of([one.id for _, one in changed], staging)
    rows = [draft.read(one, vectors[one.id]) for draft, one in changed]
    yield from run.write(staging.chunks(rows))
    yield from run.write(staging.mentions(new))


def plan(documents: Sequence[SourceDocument], run: IndexRun) -> Operation[IndexReport]:
    """Plan what `index` would do. The summariser of `run` is a dry run, or needs sentences and is not called."""
    yield from check_kind(run.corpus, False)
    changed, replaced = yield from _find_changed(documents, run)
    warnings = run.recognise_languages(changed)
    drafts = yield from _drafts(run.split(changed), replaced, run)
    with run.start_trees(drafts) as builder:
        new = [(one, builder.needs(draft.number, one.index)) for draft in drafts for one in draft.new_chunks]
        for number in range(0 if run.summariser.needs_sentences else len(drafts)):
            builder.tree(number)
    run.meter.embed(run.count_sent_tokens(new))
    return IndexReport(
        corpus=run.corpus,
        dry_run=True,
        documents=len(changed),
        unchanged=run.report.unchanged,
        chunks=len(new),
        tokens=sum(one.tokens for one, _ in new),
        spending=run.meter.levels,
        cost=run.cost,
        embedded_tokens=run.meter.embedded,
        warnings=warnings,
    )


def _find_changed(
    documents: Sequence[SourceDocument], run: IndexRun
) -> Operation[tuple[list[SourceDocument], set[str]]]:
    """The documents that the database does not hold yet with this text, source and title, or not chunked or extracted
    by the present rules, and the ids of those that it holds otherwise."""
    rows = yield Read("index/documents", {"corpus": run.corpus, "ids": [document.id for document in documents]})
    ready = {
        row["id"]: (row["sha256"], row["source"], row["title"], row["chunker"], run.extracts_as(row["extractor"]))
        for row in rows
        if row["state"] == "ready"
    }
    unfinished = {row["id"] for row in rows if row["work"]}
    changed = [
        one
        for one in documents
        if one.id in unfinished or ready.get(one.id) != (one.sha256, one.source, one.title, cut_by(one), True)
    ]
    replaced = {document.id for document in changed} & ready.keys()
    run.report.unchanged += len(documents) - len(changed)
    return changed, replaced


def _totals(report: IndexReport) -> Operation[None]:
    [row] = yield Read("query/stats", {"corpus": report.corpus})
    report.entities = row["entities"]
    report.co_occurrences = row["co_occurrences"]
    report.mentions = row["mentions"]


def _group_drafts(drafts: Sequence[DocumentDraft]) -> Iterator[list[DocumentDraft]]:
    """Yield the documents to publish together."""
    batch: list[DocumentDraft] = []
    size = 0
    for draft in drafts:
        chunks = max(1, len(draft.new_chunks))  # a document without new ones has properties
        if batch and size + chunks > BATCH_CHUNKS:
            yield batch
            batch, size = [], 0
        batch.append(draft)
        size += chunks
    if batch:
        yield batch
