"""What both clients can do, as stories that leave the I/O to whoever drives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from e2g_neo4j.answering import answer, load_chat_model
from e2g_neo4j.errors import no_corpus
from e2g_neo4j.model import Answer, DocumentInfo, Evidence, Fingerprint, IndexReport, Progress, SourceDocument
from e2g_neo4j.queries import Embed, Read, Story
from e2g_neo4j.reading import find, read_all
from e2g_neo4j.retrieval import Mode, retrieve
from e2g_neo4j.settings import Settings, load_settings

# These take seconds to import: only calls that read text load them, and only what embeds text loads the embedder.
if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from spacy.language import Language

    from e2g_neo4j.embedding import Embedder
    from e2g_neo4j.indexing import Tools
    from e2g_neo4j.summarising import Summariser

Source: TypeAlias = str | Path | SourceDocument
"""A file, folder or glob, or a document that was read already."""


class Stories:
    """The calls of the clients, and the models behind them, loaded when they are first needed."""

    def __init__(self, settings: Settings | None, chat_model: BaseChatModel | None) -> None:
        self.settings = settings or load_settings()
        self._chat_model = chat_model
        self._loading = Lock()

    @cached_property
    def _nlp(self) -> Language:
        from e2g_neo4j.extraction import load_pipeline

        return load_pipeline(self.settings.spacy_model)

    @cached_property
    def _embedder(self) -> Embedder:
        from e2g_neo4j.embedding import load_embedder

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
        from e2g_neo4j.embedding import BUNDLED, BUNDLED_DIMENSIONS

        return BUNDLED_DIMENSIONS if self.settings.embedding_model == BUNDLED else self.embedder.dimensions

    @property
    def fingerprint(self) -> Fingerprint:
        from e2g_neo4j.embedding import POOLING
        from e2g_neo4j.extraction import pipeline_id

        return Fingerprint(self.settings.embedding_model, self.dimensions, POOLING, pipeline_id(self.nlp))

    @cached_property
    def chat_model(self) -> BaseChatModel | None:
        return self._chat_model or load_chat_model(self.settings)

    def vector(self, request: Embed) -> list[float]:
        """The embedding of a question, shape (dimensions,)."""
        row: list[float] = self.embedder.embed([request.text])[0].tolist()
        return row

    def index(self, sources: Sequence[Source], corpus: str, progress: Progress | None) -> Story[IndexReport]:
        from e2g_neo4j.indexing import index

        documents = [one for one in sources if isinstance(one, SourceDocument)]
        paths = [one for one in sources if not isinstance(one, SourceDocument)]
        largest = self.settings.max_document_mb * 2**20
        documents += [
            document for path in (find(paths) if paths else ()) for document in read_all(path, corpus, largest)
        ]
        return (
            yield from index(
                documents,
                corpus=corpus,
                tools=self.tools,
                summariser=self._summariser(),
                settings=self.settings,
                progress=progress or (lambda stage, done, total: None),
            )
        )

    def retrieve(self, question: str, corpus: str, k: int | None, hops: int | None, mode: Mode) -> Story[Evidence]:
        from e2g_neo4j.extraction import extract

        story = retrieve(
            question,
            corpus=corpus,
            names=list(extract(self.nlp(question)).counts),
            made_with=self.fingerprint,
            k=self.settings.top_k if k is None else k,
            hops=self.settings.hops if hops is None else hops,
            mode=mode,
        )
        return (yield from _counting_round_trips(story))

    def answer(self, question: str, corpus: str, k: int | None, hops: int | None, mode: Mode) -> Story[Answer]:
        evidence = yield from self.retrieve(question, corpus, k, hops, mode)
        return (yield from answer(evidence, self.chat_model))

    def corpora(self) -> Story[dict[str, int]]:
        rows = yield Read("query/corpora", {})
        return {row["corpus"]: row["documents"] for row in rows}

    def documents(self, corpus: str) -> Story[list[DocumentInfo]]:
        rows = yield Read("query/documents", {"corpus": corpus})
        if not rows:
            raise no_corpus(corpus)
        return [DocumentInfo(**row) for row in rows]

    def stats(self, corpus: str) -> Story[dict[str, int]]:
        [row] = yield Read("query/stats", {"corpus": corpus})
        if not row["documents"]:
            raise no_corpus(corpus)
        return dict(row)

    def _summariser(self) -> Summariser:
        from e2g_neo4j.extractive import ExtractiveSummariser
        from e2g_neo4j.summarising import ChatSummariser

        if self.chat_model is not None:
            return ChatSummariser(self.chat_model, budget=self.settings.summary_tokens)
        return ExtractiveSummariser(self.embedder.token_spans, budget=self.settings.summary_tokens)


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
