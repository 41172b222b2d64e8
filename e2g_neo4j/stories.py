"""What both clients can do, as stories that leave the I/O to whoever drives them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from e2g_neo4j.answering import answer
from e2g_neo4j.chat.chatting import Askable, ChatModel, load_chat_model
from e2g_neo4j.chat.spending import Meter, cost
from e2g_neo4j.errors import InputError, QueryError, ReadingError, is_adopted, no_corpus, no_document
from e2g_neo4j.explore.statements import evidence_parameters
from e2g_neo4j.formats import utf8
from e2g_neo4j.model import (
    Adoption,
    AdoptReport,
    Alias,
    Answer,
    ArchiveInfo,
    DocumentInfo,
    EntityInfo,
    Evidence,
    Finding,
    Fingerprint,
    IndexPlan,
    IndexReport,
    LinkReport,
    Progress,
    SourceDocument,
)
from e2g_neo4j.queries import Embed, Perform, Read, Story, Write
from e2g_neo4j.reading import file_of, find, gone, read_all
from e2g_neo4j.retrieval import Mode, check, retrieve
from e2g_neo4j.settings import Settings, load_settings
from e2g_neo4j.summarising.cache import SummaryCache

# These take seconds to import: only calls that read text load them, and only what embeds text loads the embedder.
if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from neo4j.graph import Path as GraphPath
    from spacy.language import Language

    from e2g_neo4j.embedding.embedder import Embedder
    from e2g_neo4j.indexing import Tools
    from e2g_neo4j.summarising.tree import Summariser

Source: TypeAlias = str | Path | SourceDocument
"""A file, folder or glob, or a document that was read already."""

LONGEST_NAME = 1000
"""Bytes of a corpus' name. Neo4j's indexes take 8 kB for name and key together."""

TOKENS = "LLM tokens"
"""The stage of progress that counts what the chat model read and wrote."""


class Stories:
    """The calls of the clients, and the models behind them, loaded when they are first needed."""

    def __init__(self, settings: Settings | None, chat_model: BaseChatModel | None) -> None:
        self.settings = settings or load_settings()
        self._given_model = chat_model
        self._loading = Lock()

    @cached_property
    def _nlp(self) -> Language:
        from e2g_neo4j.extraction import load_pipeline

        return load_pipeline(self.settings.spacy_model)

    @cached_property
    def _embedder(self) -> Embedder:
        from e2g_neo4j.embedding.embedder import load_embedder

        return load_embedder(self.settings.embedding_model, ollama_host=self.settings.ollama_host)

    @property
    def nlp(self) -> Language:
        with self._loading:
            return self._nlp

    @property
    def embedder(self) -> Embedder:
        with self._loading:
            return self._embedder

    @property
    def tools(self) -> Tools:
        from e2g_neo4j.indexing import Tools

        return Tools(self.nlp, self.embedder)

    @property
    def dimensions(self) -> int:
        """Of the embedding model; the bundled one need not be loaded for that."""
        from e2g_neo4j.embedding.embedder import BUNDLED, BUNDLED_DIMENSIONS

        return BUNDLED_DIMENSIONS if self.settings.embedding_model == BUNDLED else self.embedder.dimensions

    @property
    def fingerprint(self) -> Fingerprint:
        from e2g_neo4j.embedding.embedder import POOLING
        from e2g_neo4j.extraction import pipeline_id

        return Fingerprint(self.settings.embedding_model, self.dimensions, POOLING, pipeline_id(self.nlp))

    @cached_property
    def chat_model(self) -> ChatModel | None:
        return load_chat_model(self.settings, self._given_model)

    def vector(self, request: Embed) -> list[float]:
        """The embedding of a question of any length, shape (dimensions,)."""
        from e2g_neo4j.embedding.embedder import embed_long

        row: list[float] = embed_long(self.embedder, [request.text])[0].tolist()
        return row

    def index(
        self,
        sources: Sequence[Source],
        corpus: str,
        progress: Progress | None,
        budget_tokens: int | None,
        perform: Perform,
    ) -> Story[IndexReport]:
        documents = self._documents(sources, corpus)
        return (yield from self._index(documents, corpus, progress, budget_tokens, perform))

    def resume(
        self, corpus: str, progress: Progress | None, budget_tokens: int | None, perform: Perform
    ) -> Story[IndexReport]:
        from e2g_neo4j.adopting import adopted
        from e2g_neo4j.leases import fail

        if adoption := (yield from adopted(corpus)):
            return (yield from self.adopt(corpus, adoption, progress, budget_tokens, perform)).index
        listed = yield from self.documents(corpus)
        left = {one.id: one for one in listed if one.state != "ready"}
        found: dict[str, SourceDocument] = {}
        failed: dict[str, str] = {}
        for one in left.values():
            if one.id in found:
                continue
            try:
                read = self._documents([file_of(one.source)], corpus)
                found |= {document.id: document for document in read if document.id in left}
                if one.id not in found:
                    raise gone(one.source)
            except ReadingError as error:
                failed[one.source] = str(error)
                yield fail(corpus, [one.id], error)
        report = yield from self._index(list(found.values()), corpus, progress, budget_tokens, perform)
        report.failed = failed
        return report

    def _index(
        self,
        documents: Sequence[SourceDocument],
        corpus: str,
        progress: Progress | None,
        budget_tokens: int | None,
        perform: Perform,
        adopted: bool = False,
    ) -> Story[IndexReport]:
        from e2g_neo4j.indexing import index

        show = progress or (lambda stage, done, total: None)
        meter = Meter(budget_tokens, lambda spent: show(TOKENS, spent, budget_tokens or spent))
        report = yield from index(
            documents,
            corpus=corpus,
            tools=self.tools,
            summariser=self._summariser(self.chat_model, SummaryCache(perform, corpus), meter),
            settings=self.settings,
            progress=show,
            perform=perform,
            adopted=adopted,
        )
        report.spending = meter.levels
        report.cost = cost(meter.levels, self.settings.price_prompt, self.settings.price_completion)
        return report

    def adopt(
        self,
        corpus: str,
        adoption: Adoption,
        progress: Progress | None,
        budget_tokens: int | None,
        perform: Perform,
    ) -> Story[AdoptReport]:
        from e2g_neo4j import adopting
        from e2g_neo4j.indexing import agree_on_fingerprint

        check_name(corpus)
        yield from adopting.check(corpus, adoption)
        found = yield from adopting.read(corpus, adoption)
        yield from agree_on_fingerprint(self.tools.fingerprint)
        yield from adopting.mark(corpus, adoption)
        report = yield from self._index(found.documents, corpus, progress, budget_tokens, perform, adopted=True)
        yield from adopting.stand(corpus, found.documents)
        return AdoptReport(
            corpus=corpus,
            adoption=adoption,
            nodes=found.nodes,
            without_text=found.without["text"],
            without_key=found.without["key"],
            without_document=found.without["document"],
            removed=(yield from adopting.remove_others(corpus, found.documents)),
            index=report,
        )

    def unadopt(self, corpus: str) -> Story[list[DocumentInfo]]:
        from e2g_neo4j.adopting import unadopt

        return [DocumentInfo(**row) for row in (yield from unadopt(corpus))]

    def plan(self, sources: Sequence[Source], corpus: str, perform: Perform) -> Story[IndexPlan]:
        from e2g_neo4j.indexing import plan
        from e2g_neo4j.planning import Rehearsal

        spans, tokens = self.tools.embedder.token_spans, self.settings.summary_tokens
        rehearsal = Rehearsal(self.chat_model, spans, tokens) if self.chat_model else None
        meter = Meter()
        return (
            yield from plan(
                self._documents(sources, corpus),
                corpus=corpus,
                tools=self.tools,
                summariser=self._summariser(rehearsal, SummaryCache(perform, corpus, read_only=True), meter),
                meter=meter,
                settings=self.settings,
            )
        )

    def _documents(self, sources: Sequence[Source], corpus: str) -> list[SourceDocument]:
        check_name(corpus)
        documents = [one for one in sources if isinstance(one, SourceDocument)]
        paths = [one for one in sources if not isinstance(one, SourceDocument)]
        largest = self.settings.max_document_mb * 2**20
        documents += [
            document for path in (find(paths) if paths else ()) for document in read_all(path, corpus, largest)
        ]
        return documents

    def retrieve(
        self,
        question: str,
        corpora: Sequence[str],
        k: int | None,
        hops: int | None,
        mode: Mode,
        through: Sequence[str] = (),
    ) -> Story[Evidence]:
        from e2g_neo4j.extraction import extract, unwrapped

        k, hops = self.settings.top_k if k is None else k, self.settings.hops if hops is None else hops
        check(question, k, hops, mode, through)  # before spaCy meets it
        story = retrieve(
            question,
            corpora=corpora,
            names=list(extract(self.nlp(unwrapped(question))).counts),
            made_with=self.fingerprint,
            k=k,
            hops=hops,
            mode=mode,
            through=through,
        )
        return (yield from _counting_round_trips(story))

    def paths(self, evidence: Evidence) -> Story[list[GraphPath]]:
        rows = yield Read("explore/evidence", evidence_parameters(evidence))
        return [row["path"] for row in rows]

    def answer(
        self,
        question: str,
        corpora: Sequence[str],
        k: int | None,
        hops: int | None,
        mode: Mode,
        options: Sequence[str],
        through: Sequence[str] = (),
    ) -> Story[Answer]:
        evidence = yield from self.retrieve(question, corpora, k, hops, mode, through)
        return (yield from answer(evidence, self.chat_model, self.settings, options))

    def corpora(self) -> Story[dict[str, int]]:
        rows = yield Read("query/corpora", {})
        return {row["corpus"]: row["documents"] for row in rows}

    def documents(self, corpus: str) -> Story[list[DocumentInfo]]:
        rows = yield Read("query/documents", {"corpus": corpus})
        if not rows:
            raise no_corpus(corpus)
        return [DocumentInfo(**row) for row in rows]

    def status(self, corpus: str | None) -> Story[dict[str, list[DocumentInfo]]]:
        if corpus is not None:
            return {corpus: (yield from self.documents(corpus))}
        rows = yield Read("query/corpora", {})
        found = {}
        for row in rows:
            listed = yield Read("query/documents", {"corpus": row["corpus"]})
            if listed:  # none if the corpus was deleted between the two reads
                found[row["corpus"]] = [DocumentInfo(**document) for document in listed]
        return found

    def delete(self, targets: Sequence[str | Path] | None, corpus: str) -> Story[list[DocumentInfo]]:
        from e2g_neo4j.adopting import adopted
        from e2g_neo4j.writing import delete

        if (yield from adopted(corpus)):
            raise is_adopted(
                corpus,
                f"`e2g unadopt --corpus {corpus}` removes all of it; to remove a part, delete their "
                "nodes and adopt again",
            )
        listed = yield from self.documents(corpus)
        going = listed if targets is None else chosen(targets, listed, corpus)
        for document in going:
            yield from delete(corpus, [document.id])
        return going

    def entities(self, corpus: str, query: str, limit: int) -> Story[list[EntityInfo]]:
        from e2g_neo4j.extraction import entity_key

        yield from self.documents(corpus)
        rows = yield Read("query/entities", {"corpus": corpus, "words": entity_key(query), "limit": limit})
        return [
            EntityInfo(
                **{
                    **row,
                    "forms": {one["form"]: one["count"] for one in row["forms"]},
                    "aliases": tuple(row["aliases"]),
                }
            )
            for row in rows
        ]

    def merges(self, corpus: str, query: str) -> Story[list[Alias]]:
        from e2g_neo4j.extraction import entity_key
        from e2g_neo4j.relinking import aliases

        yield from self.documents(corpus)
        return (yield from aliases(corpus, entity_key(query)))

    def split(self, name: str, corpus: str) -> Story[list[Alias]]:
        from e2g_neo4j.relinking import split

        yield from self.documents(corpus)
        return (yield from split(name, corpus=corpus))

    def join(self, name: str, corpus: str) -> Story[list[Alias]]:
        from e2g_neo4j.relinking import join

        yield from self.documents(corpus)
        return (yield from join(name, corpus=corpus))

    def link(self, corpus: str, label: str, name: str, aliases: str | None, dry_run: bool) -> Story[LinkReport]:
        from e2g_neo4j.embedding.embedder import embed_long
        from e2g_neo4j.linking import link

        for what, value in (("label", label), ("name", name), *([("aliases", aliases)] if aliases is not None else [])):
            if not utf8(value, f"`{what}`").strip():
                raise InputError(f"`{what}` is empty: name what the nodes to be joined have, such as Person and name.")
        yield from self.documents(corpus)
        return (
            yield from link(
                corpus,
                label=label,
                name=name,
                aliases=aliases,
                embed=lambda names: embed_long(self.embedder, names),
                dry_run=dry_run,
            )
        )

    def unlink(self, corpus: str, label: str | None) -> Story[int]:
        from e2g_neo4j.linking import unlink

        yield from self.documents(corpus)
        return (yield from unlink(corpus, label))

    def doctor(self) -> Story[list[Finding]]:
        from e2g_neo4j.doctor import doctor

        return (yield from doctor(self.settings.neo4j_database, self.fingerprint))

    def stats(self, corpus: str) -> Story[dict[str, int]]:
        [row] = yield Read("query/stats", {"corpus": corpus})
        if not row["documents"]:
            raise no_corpus(corpus)
        return dict(row)

    def import_corpus(
        self, file: Path, corpus: str | None, migrate: Callable[[], object], perform: Perform
    ) -> ArchiveInfo:
        from e2g_neo4j.archive.importing import Archive, restore

        with closing(Archive(file)) as archive:
            corpus = archive.manifest.corpus if corpus is None else corpus
            check_name(corpus)
            made_with = Fingerprint(**archive.manifest.fingerprint.model_dump())
            self.fingerprint.check(made_with, "This archive was made")
            migrate()
            perform(Write((("index/set_fingerprint", asdict(made_with)),)))
            [row] = perform(Read("index/fingerprint", {}))
            made_with.check(Fingerprint(**row))
            return restore(perform, archive, corpus)

    def _summariser(self, model: Askable | None, cache: SummaryCache, meter: Meter) -> Summariser:
        from e2g_neo4j.summarising.chat import ChatSummariser
        from e2g_neo4j.summarising.extractive import ExtractiveSummariser

        settings = self.settings
        if model is None:
            return ExtractiveSummariser(self.embedder.token_spans, budget=settings.summary_tokens)
        return ChatSummariser(
            model,
            cache,
            meter,
            prompts=settings.prompts,
            budget=settings.summary_tokens,
            concurrency=settings.llm_concurrency,
        )


def chosen(targets: Sequence[str | Path], listed: Sequence[DocumentInfo], corpus: str) -> list[DocumentInfo]:
    """The documents that are meant: by id; by source, or the folder or JSON Lines file it is in; or else by title.

    Raises NotFoundError for a target that means none, and QueryError for a title that several have.
    """
    going: dict[str, DocumentInfo] = {}
    for target in map(str, targets):
        place = _place(target)
        within = (place + os.sep, place + "#")
        meant = [one for one in listed if one.id == target or one.source in (target, place)]
        meant = meant or [one for one in listed if one.source.startswith(within)]
        if not meant:
            meant = [one for one in listed if one.title == target]
            if len(meant) > 1:
                raise QueryError(
                    f"{len(meant)} documents of the corpus {corpus!r} have the title {target!r}: name one by its file "
                    f"({', '.join(one.source for one in meant)}). Nothing was deleted."
                )
        if not meant:
            raise no_document(target, corpus)
        going |= {one.id: one for one in meant}
    return list(going.values())


def _place(target: str) -> str:
    """The absolute path that a target would have as a file; the target itself where it cannot be one."""
    with suppress(OSError, ValueError, RuntimeError):  # too long, a NUL, no such user, links in a circle
        if target:  # nothing at all is not the working directory
            return str(Path(target).expanduser().resolve())
    return target


def asked(corpus: str | None, corpora: Sequence[str]) -> tuple[str, ...]:
    """The corpora that a question is for. Raises QueryError where it is for none, or for both ways of naming them."""
    if isinstance(corpora, str) or (corpus is None) == (not corpora):
        raise QueryError('Name one corpus, `corpus="novels"`, or several, `corpora=["novels", "letters"]`.')
    return tuple(dict.fromkeys(corpora)) if corpus is None else (corpus,)


def check_name(corpus: str) -> None:
    """Raise InputError unless documents can be kept under the name of a corpus."""
    if not corpus.strip():
        raise InputError("The name of the corpus is empty: give it one, for example `--corpus novels`.")
    if len(utf8(corpus, "The name of the corpus")) > LONGEST_NAME:
        raise InputError(f"The name of the corpus has more than {LONGEST_NAME} bytes: choose a shorter one.")


def _counting_round_trips(story: Story[Evidence]) -> Story[Evidence]:
    trips = 0
    reply: Any = None
    while True:
        try:
            request = story.send(reply)
        except StopIteration as end:
            found: Evidence = end.value
            return replace(found, round_trips=trips)
        trips += isinstance(request, Read)
        reply = yield request
