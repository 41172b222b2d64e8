"""Operations of clients that change a corpus."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote
from threading import Event
from typing import Any, TypeAlias, get_args

from e2g_neo4j.documents.files import ReadingReport, SourceGoneError, file_of, read_files
from e2g_neo4j.documents.processes import LIBRARY, limits_of, read_file
from e2g_neo4j.errors import AdoptedCorpusError, BudgetError, InputError, ModelError, ReadingError
from e2g_neo4j.graph import catalog, schema
from e2g_neo4j.graph.fingerprint import (
    create_indexes,
    prepare_models,
    read_models,
    suffix_in,
)
from e2g_neo4j.graph.lease import fail
from e2g_neo4j.graph.schema import Applied, Part
from e2g_neo4j.graph.writer import delete as delete_documents
from e2g_neo4j.indexing import merge_overrides, pipeline
from e2g_neo4j.indexing.adopting import text_nodes
from e2g_neo4j.indexing.archive.importing import restore
from e2g_neo4j.indexing.archive.reading import Archive
from e2g_neo4j.indexing.asking import SummaryCache
from e2g_neo4j.indexing.known_files import recognise
from e2g_neo4j.indexing.language import corpus_language
from e2g_neo4j.indexing.layers import update as update_layers
from e2g_neo4j.indexing.references import update_references
from e2g_neo4j.indexing.run import IndexRun
from e2g_neo4j.indexing.summaries.base import Summariser
from e2g_neo4j.indexing.summaries.chat import ChatSummariser, DryRunChatModel
from e2g_neo4j.indexing.summaries.extractive import ExtractiveSummariser
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.models.choice import command_for_language, models_of_archive
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import (
    CallDriver,
    GetExecutor,
    Operation,
    Read,
    Rows,
    with_vectors,
)
from e2g_neo4j.types.chat import ChatModel
from e2g_neo4j.types.documents import SourceDocument
from e2g_neo4j.types.fingerprint import Fingerprint
from e2g_neo4j.types.ids import check_corpus_name
from e2g_neo4j.types.languages import name_of
from e2g_neo4j.types.properties import Properties
from e2g_neo4j.types.reports import (
    Adoption,
    AdoptReport,
    ArchiveInfo,
    DocumentInfo,
    IndexReport,
    Layer,
    Progress,
)

Source: TypeAlias = str | Path | SourceDocument
"""A file, folder or glob, or a document that is in memory."""

TOKENS = "LLM tokens"
"""The stage of progress that counts tokens of the chat model."""


class Cancelled(BaseException):
    """The caller has cancelled the run."""


def migrate(models: Models, *parts: Part) -> Operation[list[Applied]]:
    """Apply migrations: create the core of the schema, and parts of it that are about to be used."""
    call = partial(schema.migrate, embedding_dimensions=lambda: models.dimensions, parts=parts)
    applied: list[Applied] = yield CallDriver(call)
    return applied


def index(
    models: Models,
    sources: Sequence[Source],
    corpus: str,
    progress: Progress | None,
    budget_tokens: int | None,
    properties: Properties | None = None,
    *,
    language: str | None = None,
    strict: bool = False,
    prune: bool = False,
    dry_run: bool = False,
) -> Operation[IndexReport]:
    """Read sources and index them into a corpus. `properties` are added to those of each document. `language` is that
    of a new corpus. With `strict`, nothing is indexed unless all sources can be read. With `prune`, documents are
    deleted whose files are gone from the folders among the sources. With `dry_run`, nothing is written."""
    if dry_run:
        return (yield from plan(models, sources, corpus, language=language, strict=strict))
    began = time.perf_counter()
    yield from migrate(models)
    parsing = time.perf_counter()
    documents, reading = yield from _read(models, sources, corpus, strict=strict)
    parsed = time.perf_counter()
    if properties is not None:
        documents = [one.with_properties(properties) for one in documents]
    yield from catalog.check_kind(corpus, False)  # before anything is deleted
    documents, renamed, gone = yield from recognise(corpus, documents, _paths(sources))
    for id in gone.values() if prune else ():
        yield from delete_documents(corpus, [id])
    report = yield from _index(models, documents, corpus, progress, budget_tokens, language=language)
    report.failed, report.passed_over = reading.failed, reading.passed_over
    report.warnings = reading.warnings | report.warnings
    report.losses = _losses(documents)
    report.renamed, report.gone, report.pruned = renamed, list(gone), len(gone) * prune
    seconds = {"schema": parsing - began, "parsing": parsed - parsing, **report.seconds}
    report.seconds = {**seconds, "total": time.perf_counter() - began}
    return report


def resume(models: Models, corpus: str, progress: Progress | None, budget_tokens: int | None) -> Operation[IndexReport]:
    """Index documents that are not ready."""
    yield from migrate(models)
    if adoption := (yield from text_nodes.read_adoption(corpus)):
        return (yield from adopt(models, corpus, adoption, progress, budget_tokens)).index
    listed = yield from catalog.documents(corpus)
    unfinished = {one.id: one for one in listed if one.state != "ready"}
    ids = {one.source: one.id for one in unfinished.values()}
    read_source = yield from _reader(models, corpus)
    documents: dict[str, SourceDocument] = {}
    failed: dict[str, str] = {}
    for one in unfinished.values():
        if one.id in documents:
            continue
        try:
            reading = ReadingReport()
            read = read_source(file_of(one.source), reading)  # the very file: a source is never a glob
            mine = (replace(document, id=ids[document.source]) for document in read if document.source in ids)
            documents |= {document.id: document for document in mine}
            if one.id not in documents:
                reading.check(strict=True, read=True)  # a line that cannot be read may be this one
                raise SourceGoneError(one.source)
        except ReadingError as error:
            failed[one.source] = str(error)
            yield fail(corpus, [one.id], error)
    report = yield from _index(models, list(documents.values()), corpus, progress, budget_tokens)
    report.failed = failed
    return report


def plan(
    models: Models, sources: Sequence[Source], corpus: str, *, language: str | None = None, strict: bool = False
) -> Operation[IndexReport]:
    """Plan what `index` would do and cost."""
    documents, reading = yield from _read(models, sources, corpus, strict=strict)
    documents, renamed, gone = yield from recognise(corpus, documents, _paths(sources))
    models, vectors = yield from read_models(models, corpus, _language_of(documents, models, language))
    _check_language(models, corpus, language)
    spans, tokens = models.embedder.token_spans, models.settings.summary_tokens
    dry_run = DryRunChatModel(models.chat_model, spans, tokens) if models.chat_model else None
    executor = yield GetExecutor()
    meter = UsageMeter()
    summariser = _summariser(models, dry_run, SummaryCache(executor.execute, corpus, read_only=True), meter)
    run = IndexRun(corpus, models, summariser, meter, until_cancelled(executor.cancelled, None))
    found = yield from with_vectors(pipeline.plan(documents, run), vectors)
    found.failed, found.passed_over = reading.failed, reading.passed_over
    found.warnings = reading.warnings | found.warnings
    found.losses = _losses(documents)
    found.renamed, found.gone = renamed, list(gone)
    return found


def delete(models: Models, targets: Sequence[str | Path] | None, corpus: str) -> Operation[list[DocumentInfo]]:
    """Delete documents, or all documents of a corpus if `targets` is None."""
    yield from migrate(models)
    if (yield from text_nodes.read_adoption(corpus)):
        raise AdoptedCorpusError(
            corpus,
            f"`e2g unadopt --corpus {quote(corpus)}` removes all of it; to remove a part, delete their nodes and adopt "
            "again",
        )
    listed = yield from catalog.documents(corpus)
    to_delete = listed if targets is None else catalog.choose_documents(targets, listed, corpus)
    for document in to_delete:
        yield from delete_documents(corpus, [document.id])
    yield from update_after_deletion(models, corpus)
    return to_delete


def update_after_deletion(models: Models, corpus: str, progress: Progress | None = None) -> Operation[None]:
    """Bring references and layers up to date, and names of linked nodes if their last change was killed."""
    yield from merge_overrides.update_linked_names(corpus)
    yield from update_references(corpus)
    yield from update_own_layers(models, corpus, progress)


def adopt(
    models: Models, corpus: str, adoption: Adoption, progress: Progress | None, budget_tokens: int | None
) -> Operation[AdoptReport]:
    """Index text nodes of the user's graph in place."""
    yield from migrate(models)
    check_corpus_name(corpus)
    yield from text_nodes.check(corpus, adoption)
    found = yield from text_nodes.read(corpus, adoption)
    yield from prepare_models(models, corpus, _language_of(found.documents, models))
    yield from text_nodes.mark(corpus, adoption)
    report = yield from _index(models, found.documents, corpus, progress, budget_tokens, adopted=True)
    yield from text_nodes.update_text_nodes(corpus, found.documents)
    removed = yield from text_nodes.remove_others(corpus, found.documents)
    yield from update_own_layers(models, corpus)
    return AdoptReport(
        corpus=corpus,
        adoption=adoption,
        nodes=found.nodes,
        without_text=found.without["text"],
        without_key=found.without["key"],
        without_document=found.without["document"],
        removed=removed,
        index=report,
        several_values=dict(found.several_values),
    )


def unadopt(models: Models, corpus: str) -> Operation[list[DocumentInfo]]:
    """Remove everything that `adopt` and `link` wrote for a corpus."""
    yield from migrate(models)
    return [catalog.document_info(row) for row in (yield from text_nodes.unadopt(corpus))]


def update_own_layers(models: Models, corpus: str, progress: Progress | None = None) -> Operation[None]:
    """Bring the layers of a corpus up to date, with its own models."""
    models, vectors = yield from read_models(models, corpus)
    yield from with_vectors(update_layers(models, corpus, progress), vectors)


def import_corpus(
    models: Models,
    file: Path,
    corpus: str | None,
    mark: tuple[str, dict[str, Any]] | None = None,
) -> Operation[ArchiveInfo]:
    """Import a corpus from an archive. `mark` records it in the transaction that completes it."""
    executor = yield GetExecutor()
    cancelled = partial(until_cancelled(executor.cancelled, None), "reading", 0, 0)
    with closing(Archive(file, cancelled)) as archive:
        corpus = archive.manifest.corpus if corpus is None else corpus
        check_corpus_name(corpus)
        made_with = Fingerprint(**archive.manifest.fingerprint.model_dump())
        own = models_of_archive(made_with, models)
        yield from migrate(models, *get_args(Layer), "links")
        rows: Rows = yield Read("index/fingerprint", {"corpus": corpus})
        vectors = yield from suffix_in(made_with, rows[0]["first"] if rows else None)
        yield from create_indexes(made_with, vectors)
        show = until_cancelled(executor.cancelled, None)
        yield from with_vectors(restore(own, archive, corpus, vectors, show, mark), vectors)
        return archive.info(corpus)


def _losses(documents: Sequence[SourceDocument]) -> dict[str, list[str]]:
    return {one.source: list(one.losses) for one in documents if one.losses}


def _read(
    models: Models, sources: Sequence[Source], corpus: str, *, strict: bool
) -> Operation[tuple[list[SourceDocument], ReadingReport]]:
    check_corpus_name(corpus)
    report = ReadingReport()
    documents = [one for one in sources if isinstance(one, SourceDocument)]
    if paths := _paths(sources):
        documents += read_files(paths, (yield from _reader(models, corpus)), report)
    report.check(strict=strict, read=bool(documents))
    return documents, report


def _paths(sources: Sequence[Source]) -> list[str | Path]:
    return [one for one in sources if not isinstance(one, SourceDocument)]


def _reader(models: Models, corpus: str) -> Operation[Callable[[Path, ReadingReport], list[SourceDocument]]]:
    """Return a function that reads the documents of a file, and stops when the run is cancelled."""
    cancelled = (yield GetExecutor()).cancelled
    limits = limits_of(models.settings, LIBRARY)

    def check() -> None:
        if cancelled.is_set():
            raise Cancelled

    return lambda path, report: read_file(path, corpus, limits, check, report)


def _index(
    models: Models,
    documents: Sequence[SourceDocument],
    corpus: str,
    progress: Progress | None,
    budget_tokens: int | None,
    *,
    adopted: bool = False,
    language: str | None = None,
) -> Operation[IndexReport]:
    began = time.perf_counter()
    own, vectors = yield from prepare_models(models, corpus, _language_of(documents, models, language))
    _check_language(own, corpus, language)
    executor = yield GetExecutor()
    show = until_cancelled(executor.cancelled, progress)
    meter = meter_of(budget_tokens, show)
    summariser = _summariser(own, own.chat_model, SummaryCache(executor.execute, corpus), meter)
    run = IndexRun(corpus, own, summariser, meter, show, vectors=vectors)
    report = yield from with_vectors(_index_with(run, documents, adopted=adopted), vectors)
    report.seconds["total"] = time.perf_counter() - began
    return report


def _summariser(models: Models, model: ChatModel | None, cache: SummaryCache, meter: UsageMeter) -> Summariser:
    """Return the summariser: with a chat model, or extractive without."""
    settings, budget = models.settings, models.settings.summary_tokens
    if model is None:
        return ExtractiveSummariser(models.embedder.token_spans, budget=budget)
    prompts, concurrency = settings.prompts, settings.llm_concurrency
    return ChatSummariser(model, cache, meter, prompts=prompts, budget=budget, concurrency=concurrency)


def _language_of(documents: Sequence[SourceDocument], models: Models, language: str | None = None) -> Callable[[], str]:
    """Return a function that returns the language of a new corpus."""
    return lambda: language or corpus_language(documents, models.language)


def _check_language(models: Models, corpus: str, language: str | None) -> None:
    if language not in (None, models.language):
        raise InputError(
            f"The corpus {corpus!r} is in {name_of(models.language)}. Leave out --language {language}, or index into "
            "another corpus."
        )


def _index_with(run: IndexRun, documents: Sequence[SourceDocument], *, adopted: bool) -> Operation[IndexReport]:
    """Index with the models of a corpus."""
    models, corpus, show, meter = run.models, run.corpus, run.progress, run.meter
    try:
        report = yield from pipeline.index(documents, run, adopted=adopted)
    except (BudgetError, InputError, ModelError):
        with suppress(BudgetError, InputError, ModelError):
            yield from merge_overrides.update_linked_names(corpus)
            yield from update_references(corpus)
            yield from update_layers(models, corpus, show)  # other documents may be complete
        raise
    with run.measure("layers"):
        yield from update_layers(models, corpus, show, meter)
    report.spending, report.cost = meter.levels, run.cost
    if report.documents and (told := _language_limits(models, corpus)):
        report.warnings[corpus] = " ".join(told)
    return report


def _language_limits(models: Models, corpus: str) -> list[str]:
    """Return what the models lack for the language of a corpus."""
    language, told = name_of(models.language), []
    if not models.knows_language:
        told.append(
            f"The corpus {corpus!r} is in {language}, which its embedding model, {models.embedding_name}, does not "
            f"know, so words count more. To find more, run {command_for_language(corpus)}."
        )
    if models.finds_no_names:
        told.append(
            f"Names in {language} do not differ from other words, so the corpus {corpus!r} has entities in Latin "
            "letters only. To find others, set E2G_SPACY_MODEL to a pipeline for it, and index into a new corpus."
        )
    return told


def meter_of(budget_tokens: int | None, show: Progress) -> UsageMeter:
    return UsageMeter(budget_tokens, lambda spent: show(TOKENS, spent, budget_tokens or spent))


def until_cancelled(cancelled: Event, progress: Progress | None) -> Progress:
    """Return a progress function that raises Cancelled once the run is cancelled."""

    def report_stage(stage: str, done: int, total: int) -> None:
        # Tokens are reported before the reply is cached, which must not be lost.
        if cancelled.is_set() and stage != TOKENS:
            raise Cancelled
        if progress:
            progress(stage, done, total)

    return report_stage
