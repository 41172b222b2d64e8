"""LangChain: a retriever, and the embedding model of the index for LangChain's vector stores.

with E2G() as e2g:
    retriever = E2GRetriever(client=e2g, corpus="novels", k=5)
    for document in retriever.invoke("How is Jonathan Harker related to Mina?"):
        print(document.metadata["source"], document.metadata["start"], document.page_content[:80])
"""

from __future__ import annotations

import asyncio
from threading import Lock
from typing import Any, Self, Unpack
from weakref import WeakKeyDictionary

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.client import E2G
from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.integrations.passages import IndexEmbedder, metadata, passage_id
from e2g_neo4j.retrieval.options import RetrievalKeywords, RetrievalOptions
from e2g_neo4j.types.ids import corpora_to_ask
from e2g_neo4j.types.results import Evidence

__all__ = ["E2GEmbeddings", "E2GRetriever"]


class E2GRetriever(RetrievalOptions, BaseRetriever):
    """Retrieves passages of one or more corpora as LangChain documents, best first.

    It has the fields of `RetrievalOptions`, and `invoke` and `ainvoke` accept them as keywords too. `k` is also the
    maximum number of documents; without it, all evidence of `settings.top_k` chunks is returned.

    The text of a document is an exact slice of the indexed text, or a summary. Its metadata contain citation and reason
    (`e2g_neo4j.integrations.passages.metadata`). Neighbouring passages are merged, so that there may be fewer
    than k documents.

    `client` and `async_client` are not closed. Without either, the retriever opens its own clients on first use, one
    per event loop, for the configured server; `close` and `aclose` close them.

    Raises:
        QueryError: No corpus is named.
        ConfigurationError: `ainvoke` is used with only a `client`, or `invoke` with only an `async_client`.
        E2GError: Any error of `E2G.retrieve`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, frozen=False)

    corpus: str | None = None
    """The corpus to search. Documents of other corpora are never returned."""
    corpora: tuple[str, ...] = ()
    """Several corpora to search together, instead of `corpus`."""
    client: E2G | None = Field(None, exclude=True, repr=False)
    async_client: AsyncE2G | None = Field(None, exclude=True, repr=False)

    _own: E2G | None = PrivateAttr(None)
    _own_async: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncE2G] = PrivateAttr(default_factory=WeakKeyDictionary)
    _opening: Lock = PrivateAttr(default_factory=Lock)

    def model_post_init(self, context: Any) -> None:
        """Choose among the modes of the client, if one is given."""
        client = self.client or self.async_client
        super().model_post_init(client.strategies if client else context)

    @model_validator(mode="after")
    def _has_corpus(self) -> Self:
        corpora_to_ask(self.corpus, self.corpora)
        return self

    def close(self) -> None:
        """Close the client that `invoke` opened, if any."""
        with self._opening:
            if self._own is not None:
                self._own.close()
            self._own = None

    async def aclose(self) -> None:
        """Close the client that `ainvoke` opened on this event loop, if any."""
        own = self._own_async.pop(asyncio.get_running_loop(), None)
        if own is not None:
            await own.close()

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        **retrieval: Unpack[RetrievalKeywords],
    ) -> list[Document]:
        options = self._options(retrieval)
        found = self._client().retrieve(query, corpus=self.corpus, corpora=self.corpora, **options.keywords())
        return _documents(found, options.k)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **retrieval: Unpack[RetrievalKeywords],
    ) -> list[Document]:
        options = self._options(retrieval)
        found = await self._async_client().retrieve(
            query, corpus=self.corpus, corpora=self.corpora, **options.keywords()
        )
        return _documents(found, options.k)

    def _options(self, changed: RetrievalKeywords) -> RetrievalOptions:
        """Return the options of the retriever, overridden by those of the call."""
        given: Any = {name: value for name, value in changed.items() if value is not None}
        own: Any = self.keywords()
        return RetrievalOptions.of(
            own | RetrievalOptions.of(given, strategies=self._strategies).model_dump(exclude_unset=True),
            strategies=self._strategies,
        )

    def _client(self) -> E2G:
        if self.client is not None:
            return self.client
        if self.async_client is not None:
            raise ConfigurationError(
                "This retriever has only an async_client, which `invoke` cannot use: await `ainvoke`, or also pass "
                "client=E2G(…)."
            )
        with self._opening:
            if self._own is None:
                self._own = E2G()
            return self._own

    def _async_client(self) -> AsyncE2G:
        if self.async_client is not None:
            return self.async_client
        if self.client is not None:
            raise ConfigurationError(
                "This retriever has only a client, which would block the event loop: call `invoke`, or also pass "
                "async_client=AsyncE2G(…)."
            )
        with self._opening:
            return self._own_async.setdefault(asyncio.get_running_loop(), AsyncE2G())


def _documents(evidence: Evidence, k: int | None) -> list[Document]:
    return [
        Document(page_content=passage.text, id=passage_id(passage), metadata=metadata(passage, evidence))
        for passage in evidence.passages[:k]
    ]


class E2GEmbeddings(IndexEmbedder, Embeddings):
    """The embedding model of the index, for LangChain's vector stores. Accepts texts of any length.

    Args:
        settings: The settings. They must name the model that the index was made with. Default: from the environment and
            `.env`.

    Raises:
        ModelError: The model does not exist.
    """
