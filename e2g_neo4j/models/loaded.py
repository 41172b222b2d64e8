"""The models of a client, loaded on first use."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing, contextmanager
from contextvars import copy_context
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

from e2g_neo4j.errors import ConfigurationError, FingerprintError, ModelError, PipelineError
from e2g_neo4j.models.chat import retry
from e2g_neo4j.models.chat.load import load_chat_model
from e2g_neo4j.models.embedding.base import POOLING, Embedder, adapt, too_many_dimensions
from e2g_neo4j.models.embedding.prefixes import Prefixes, knows_language, model_prefixes
from e2g_neo4j.models.embedding.weights import PUBLISHED, Weights
from e2g_neo4j.models.entities.rules import by_capitals
from e2g_neo4j.runtime.lazy_imports import needs
from e2g_neo4j.runtime.requests import Chat, Embed, EmbedAll, Rerank
from e2g_neo4j.runtime.threads import cores, in_thread, once
from e2g_neo4j.runtime.tracing import span
from e2g_neo4j.runtime.waiting import report_waiting
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatReply, StreamingChatModel
from e2g_neo4j.types.fingerprint import Fingerprint, pooling_after
from e2g_neo4j.types.languages import LANGUAGES

# These packages take seconds to import. spaCy is loaded only if text is processed.
if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from spacy.language import Language

    from e2g_neo4j.models.reranking import Reranker


class Models:
    """The spaCy pipeline, the embedding model, the reranker and the chat model. Thread-safe.

    A corpus that was made with other models than these is asked with its own: see `of`.

    Attributes:
        known: Of corpora that were asked, their models and the suffix of their vectors.

    Args:
        settings: Settings that name the models.
        chat_model: A langchain-core chat model. Default: the configured one.
        embedder: An embedding model. Default: the configured one.
    """

    def __init__(
        self,
        settings: Settings,
        chat_model: BaseChatModel | None = None,
        *,
        embedder: Embedder | None = None,
        nlp: Language | None = None,
    ) -> None:
        self.settings = settings
        self._given_chat_model, self._given_embedder, self._given_nlp = chat_model, embedder, nlp
        self._loading = RLock()
        self._others: dict[Fingerprint, Models] = {}
        self.known: dict[str, tuple[Fingerprint, str]] = {}

    def of(self, made_with: Fingerprint) -> Models:
        """Return the models that a corpus was made with: these, or others, which are loaded on first use."""
        if made_with.embedding_model == self.embedding_name and made_with == self.fingerprint:
            return self
        with self._loading:
            if made_with not in self._others:
                self._others[made_with] = OtherModels(self, made_with)
            return self._others[made_with]

    @once
    def nlp(self) -> Language:
        """The spaCy pipeline.

        Raises:
            PipelineError: The pipeline cannot be loaded.
        """
        with report_waiting("Loading the spaCy pipeline"):
            from e2g_neo4j.models.entities.pipeline import check_pipeline, load_pipeline

            nlp = self._given_nlp or load_pipeline(self.settings.spacy_model)
        check_pipeline(nlp)
        return nlp

    @property
    def workers(self) -> int:
        """Processes for extraction. A pipeline of the caller's stays in this process: others would load its files, and
        miss what was added in memory."""
        return 1 if self._given_nlp is not None else self.settings.workers or cores()

    @once
    def embedder(self) -> Embedder:
        """The embedding model for passages: windows, summaries and names. It adds the prefix of passages.

        Raises:
            ConfigurationError: The model has fewer dimensions than configured, or a prefix is too long.
            ModelError: The model cannot be loaded.
        """
        settings, prefix = self.settings, self._prefixes.passage
        dimensions = settings.embedding_dimensions
        return adapt(self.unadapted, prefix=prefix, window_tokens=settings.window_tokens, dimensions=dimensions)

    @once
    def unadapted(self) -> Embedder:
        """The embedding model without prefix, in its full length."""
        settings = self.settings
        with report_waiting(f"Loading the embedding model {self.embedding_name}"):
            from e2g_neo4j.models.embedding.load import load_embedder

            return self._given_embedder or load_embedder(
                settings.embedding_model,
                ollama_host=settings.ollama_host,
                url=settings.embedding_url,
                precision=settings.embedding_precision,
                dimensions=settings.embedding_dimensions,
                window_tokens=settings.window_tokens,
            )

    @once
    def query_embedder(self) -> Embedder:
        """The embedding model for questions. It adds the prefix of questions. Raises what `embedder` raises."""
        embedder = getattr(self.unadapted, "for_questions", self.unadapted)
        return adapt(embedder, prefix=self._prefixes.query, dimensions=self.settings.embedding_dimensions)

    @cached_property
    def chat_model(self) -> StreamingChatModel | None:
        """The chat model, or None if none is configured.

        Raises:
            ConfigurationError: The model cannot be created.
        """
        return load_chat_model(self.settings, self._given_chat_model)

    @property
    def are_loaded(self) -> bool:
        """Whether the pipeline and the embedding model are in memory."""
        return {"nlp", "unadapted"} <= self.__dict__.keys()

    @property
    def dimensions(self) -> int:
        """The vector length of the embedding model. A model of `PUBLISHED` is not loaded for this."""
        if self._weights:
            wanted = self.settings.embedding_dimensions or self._weights.dimensions
            if wanted > self._weights.dimensions:
                raise too_many_dimensions(self._weights.name, self._weights.dimensions, wanted)
            return wanted
        return self.embedder.dimensions

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint that a corpus made with these models records. The pipeline is not loaded for this."""
        pooling = pooling_after(POOLING, self._prefixes.passage)
        return Fingerprint(self.embedding_name, self.dimensions, pooling, self.pipeline_id)

    @property
    def are_given(self) -> bool:
        """Whether the caller gave the pipeline or the embedding model."""
        return self._given_nlp is not None or self._given_embedder is not None

    @property
    def has_own_embedder(self) -> bool:
        """Whether the caller gave the embedding model."""
        return self._given_embedder is not None

    @property
    def embedding_name(self) -> str:
        """The name of the embedding model, which is not loaded for this."""
        return self._given_embedder.name if self._given_embedder else self.settings.embedding_model

    @property
    def language(self) -> str:
        """The code of the language of the spaCy pipeline."""
        return self.pipeline_id.partition("_")[0]

    @property
    def knows_language(self) -> bool:
        """Whether the embedding model knows the language of the pipeline. A model of the caller's does."""
        return self._given_embedder is not None or knows_language(self.embedding_name, self.language)

    @property
    def is_remote(self) -> bool:
        """Whether a server embeds texts."""
        return self._given_embedder is None and not self._weights and hasattr(self.unadapted, "request")

    @property
    def finds_no_names(self) -> bool:
        """Whether the pipeline finds names by capital letters, which the language does not have."""
        language = LANGUAGES.get(self.language)
        return not (language is None or language.capitals) and by_capitals(self.pipeline_id)

    @once
    def pipeline_id(self) -> str:
        """What identifies the spaCy pipeline, which is not loaded for this if it is installed."""
        from e2g_neo4j.models.entities.pipeline import find_pipeline_id, pipeline_id

        known = None if self._given_nlp else find_pipeline_id(self.settings.spacy_model)
        return known or pipeline_id(self.nlp)

    @cached_property
    def threads(self) -> ThreadPoolExecutor:
        """Threads in which an async client parses and ranks questions. Only two: they share the GIL, and more threads
        would delay the event loop."""
        return ThreadPoolExecutor(2, thread_name_prefix="e2g-question")

    @property
    def chats_at_once(self) -> int:
        """How many calls of the chat model a question may make at once."""
        return self.settings.llm_concurrency

    def vector(self, request: Embed) -> Future[list[float]]:
        """Embed a question of any length in another thread. The vector has shape (dimensions,)."""
        return request.vector or self._embedding.submit(copy_context().run, self._vector, request.text)

    def vectors(self, request: EmbedAll) -> Future[list[list[float]]]:
        """Embed texts of a question in another thread. Each vector has shape (dimensions,)."""
        return request.vectors or self._embedding.submit(copy_context().run, self._vectors, request.texts)

    def scores(self, request: Rerank) -> Future[list[float]]:
        """Score texts in another thread, with the reranker, which is loaded on first use."""
        return self._reranking.submit(self._scores, request)

    def ask(self, request: Chat) -> ChatReply:
        """Return the reply of a chat model.

        Raises:
            ModelError: The model failed.
        """
        with _chat_span(request) as replied:
            return replied(retry.ask(request.model, request.request, request.stopped))

    async def ask_async(self, request: Chat) -> ChatReply:
        """Like `ask`, as a coroutine."""
        await in_thread(_name, request)
        with _chat_span(request) as replied:
            return replied(await retry.ask_async(request.model, request.request))

    def stream(self, request: Chat) -> Iterator[str | ChatReply]:
        """Yield the text of the reply in pieces, then the complete reply."""
        with _chat_span(request) as replied:
            for piece in retry.stream(request.model, request.request):
                yield replied(piece) if isinstance(piece, ChatReply) else piece

    async def stream_async(self, request: Chat) -> AsyncGenerator[str | ChatReply, None]:
        """Like `stream`, as an async iterator."""
        await in_thread(_name, request)
        with _chat_span(request) as replied:
            async with aclosing(retry.stream_async(request.model, request.request)) as pieces:
                async for piece in pieces:
                    yield replied(piece) if isinstance(piece, ChatReply) else piece

    @property
    def _weights(self) -> Weights | None:
        return None if self._given_embedder else PUBLISHED.get(self.settings.embedding_model)

    @once
    def _prefixes(self) -> Prefixes:
        """The configured prefixes, otherwise those of the model. A model of `PUBLISHED` is not loaded for this. A model
        of the caller's has none."""
        own = model_prefixes(self._weights.name) if self._weights else getattr(self.unadapted, "prefixes", None)
        own = own if isinstance(own, Prefixes) else Prefixes()
        query, passage = self.settings.query_prefix, self.settings.passage_prefix
        return Prefixes(own.query if query is None else query, own.passage if passage is None else passage)

    @cached_property
    def _reranker(self) -> Reranker:
        if self.settings.reranker is None:
            raise ConfigurationError("No reranker is configured. Set E2G_RERANKER.")
        with report_waiting(f"Loading the reranker {self.settings.reranker}"):
            with needs(f"The reranker {self.settings.reranker}", "sentence-transformers", "or unset E2G_RERANKER"):
                from e2g_neo4j.models.reranking import Reranker

            return Reranker(self.settings.reranker)

    @cached_property
    def _reranking(self) -> ThreadPoolExecutor:
        """A single thread: the model uses all cores, and its tokenizer is not thread-safe."""
        return ThreadPoolExecutor(1, thread_name_prefix="e2g-reranking")

    def _scores(self, request: Rerank) -> list[float]:
        return self._reranker.rerank(request.question, request.texts)

    @cached_property
    def _embedding(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(min(4, cores()), thread_name_prefix="e2g-question-vector")

    def _vector(self, text: str) -> list[float]:
        return self._vectors([text])[0]

    def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        from e2g_neo4j.models.embedding.windows import embed_long

        embedder = self.query_embedder
        with span("e2g.embed", {"e2g.model": embedder.name}):
            rows: list[list[float]] = embed_long(embedder, texts).tolist()
        return rows


class OtherModels(Models):
    """The models of a corpus that was made with other models than those of the settings.

    What it has in common with these is shared. Whether the rest can be had is only known when it is loaded.

    Args:
        configured: The models of the settings.
        made_with: What the corpus was made with.
    """

    def __init__(self, configured: Models, made_with: Fingerprint) -> None:
        changes: dict[str, object] = {
            "embedding_model": made_with.embedding_model,
            "embedding_dimensions": made_with.dimensions,
            "passage_prefix": made_with.passage_prefix,
        }
        same = made_with.embedding_model == configured.embedding_name
        if not same:
            changes["query_prefix"] = None
        super().__init__(
            configured.settings.model_copy(update=changes),
            configured._given_chat_model,
            embedder=configured._given_embedder if same else None,
        )
        self._configured, self._made_with, self._same_embedder = configured, made_with, same

    @property
    def fingerprint(self) -> Fingerprint:
        return self._made_with

    @property
    def pipeline_id(self) -> str:
        return self._made_with.spacy_model

    @property
    def dimensions(self) -> int:
        return self._made_with.dimensions

    @cached_property
    def chat_model(self) -> StreamingChatModel | None:
        return self._configured.chat_model

    @property
    def workers(self) -> int:
        return self._configured.workers if self.nlp is self._configured.nlp else super().workers

    @once
    def nlp(self) -> Language:
        from e2g_neo4j.models.entities.pipeline import load_pipeline, pipeline_of

        id = self._made_with.spacy_model
        if self._configured.pipeline_id == id:
            return self._configured.nlp
        try:
            return load_pipeline(pipeline_of(id, self.settings.spacy_model))
        except PipelineError as error:
            raise FingerprintError(f"This corpus was indexed with the spaCy pipeline {id}. {error}") from error

    @once
    def unadapted(self) -> Embedder:
        name, dimensions = self._made_with.embedding_model, self._made_with.dimensions
        if self._same_embedder and (shared := self._configured.unadapted).dimensions >= dimensions:
            return shared
        try:
            return super().unadapted
        except (ConfigurationError, ModelError) as error:
            raise FingerprintError(
                f"This corpus was indexed with the embedding model {name}, which cannot be loaded: {error} If it has "
                "another name or place here, set E2G_EMBEDDING_MODEL to it and index the documents again."
            ) from error


def _name(request: Chat) -> str:
    """Return the name of a model, for which its server may be asked, and waited for, the first time."""
    return request.model.name


@contextmanager
def _chat_span(request: Chat) -> Iterator[Callable[[ChatReply], ChatReply]]:
    """Open a span for a call of a chat model. Pass the reply to what is yielded, which records its tokens."""
    with span("e2g.chat", {"e2g.model": request.model.name}) as opened:

        def record_reply(reply: ChatReply) -> ChatReply:
            opened.set_attribute("e2g.prompt_tokens", reply.prompt_tokens)
            opened.set_attribute("e2g.completion_tokens", reply.completion_tokens)
            return reply

        yield record_reply
