"""LangChain: our retrieval as a retriever, and our embedding model for stores that read our index.

with E2G() as e2g:
    retriever = E2GRetriever(client=e2g, corpus="novels", k=5)
    for document in retriever.invoke("How is Jonathan Harker related to Mina?"):
        print(document.metadata["source"], document.metadata["start"], document.page_content[:80])
"""

from __future__ import annotations

import asyncio
from threading import Lock
from typing import Self
from weakref import WeakKeyDictionary

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from e2g_neo4j.client import E2G, AsyncE2G
from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.integrations.passages import Vectoriser, metadata, passage_id
from e2g_neo4j.model import Evidence
from e2g_neo4j.retrieval import DEFAULT_MODE, MAX_HOPS, Mode
from e2g_neo4j.settings import Settings
from e2g_neo4j.stories import asked

__all__ = ["E2GEmbeddings", "E2GRetriever"]


class E2GRetriever(BaseRetriever):
    """Passages of a corpus, or of several, as LangChain's documents, best first. `invoke` and `ainvoke` take k, hops
    and mode too.

    A document's text is an exact slice of what was indexed, or a summary; its metadata say where from and why
    (`e2g_neo4j.integrations.passages.metadata`). Neighbours come as one document, so that there may be fewer than k.

    `client` and `async_client` are borrowed, and stay open. Without either, the retriever opens its own when it is
    first asked, one for each event loop, to the server that the settings name; `close` and `aclose` end those.

    Raises QueryError where it is for no corpus, ConfigurationError where it is awaited and was given a `client` only,
    or the other way round, and what `E2G.retrieve` raises.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    corpus: str | None = None
    """What is asked; no document of another one is ever returned."""
    corpora: tuple[str, ...] = ()
    """Several that are asked together, instead of `corpus`."""
    k: int | None = Field(None, ge=1, le=1000)
    """How many documents at most, of the evidence that k chunks make up. None: all that of `settings.top_k` chunks."""
    hops: int | None = Field(None, ge=1, le=MAX_HOPS)
    """Longest path between two entities of the question, in edges. None: `settings.hops`."""
    mode: Mode = DEFAULT_MODE
    """How text is ranked: see `e2g_neo4j.retrieval`."""
    client: E2G | None = Field(None, exclude=True, repr=False)
    async_client: AsyncE2G | None = Field(None, exclude=True, repr=False)

    _own: E2G | None = PrivateAttr(None)
    _own_async: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncE2G] = PrivateAttr(default_factory=WeakKeyDictionary)
    _opening: Lock = PrivateAttr(default_factory=Lock)

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        asked(self.corpus, self.corpora)
        return self

    def close(self) -> None:
        """Close the client that was opened for `invoke`, if any."""
        with self._opening:
            if self._own is not None:
                self._own.close()
            self._own = None

    async def aclose(self) -> None:
        """Close the client that was opened for `ainvoke` on this event loop, if any."""
        own = self._own_async.pop(asyncio.get_running_loop(), None)
        if own is not None:
            await own.close()

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        hops: int | None = None,
        mode: Mode | None = None,
    ) -> list[Document]:
        k = self.k if k is None else k
        found = self._client().retrieve(
            query,
            corpus=self.corpus,
            corpora=self.corpora,
            k=k,
            hops=self.hops if hops is None else hops,
            mode=mode or self.mode,
        )
        return _documents(found, k)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        hops: int | None = None,
        mode: Mode | None = None,
    ) -> list[Document]:
        k = self.k if k is None else k
        found = await self._async_client().retrieve(
            query,
            corpus=self.corpus,
            corpora=self.corpora,
            k=k,
            hops=self.hops if hops is None else hops,
            mode=mode or self.mode,
        )
        return _documents(found, k)

    def _client(self) -> E2G:
        if self.client is not None:
            return self.client
        if self.async_client is not None:
            raise ConfigurationError(
                "This retriever was given an async_client only, which `invoke` cannot use: await `ainvoke`, or give it "
                "client=E2G(…) as well."
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
                "This retriever was given a client only, which would hold up the event loop: call `invoke`, or give it "
                "async_client=AsyncE2G(…) as well."
            )
        with self._opening:
            return self._own_async.setdefault(asyncio.get_running_loop(), AsyncE2G())


def _documents(evidence: Evidence, k: int | None) -> list[Document]:
    return [
        Document(page_content=passage.text, id=passage_id(passage), metadata=metadata(passage, evidence))
        for passage in evidence.passages[:k]
    ]


class E2GEmbeddings(Embeddings):
    """The embedding model of our index, for LangChain's stores: vectors of length 1, for texts of any length.

    Args:
        settings: None: those of the environment and `.env`; they must name the model that the index was made with.

    Raises ModelError where there is no such model.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self._vectoriser = Vectoriser(settings)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One row a text, shape (len(texts), dimensions)."""
        rows: list[list[float]] = self._vectoriser.vectors(texts).tolist()
        return rows

    def embed_query(self, text: str) -> list[float]:
        """Shape (dimensions,)."""
        return self.embed_documents([text])[0]
