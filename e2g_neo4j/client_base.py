"""How the clients begin and end: models, driver and runner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import aclosing
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from neo4j import AsyncDriver, Driver

from e2g_neo4j.documents import processes
from e2g_neo4j.managed_neo4j.address import address
from e2g_neo4j.models.embedding.base import Embedder
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.strategies import with_strategies
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.runtime import bookmarks, database, drivers
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.runtime.runner import AsyncRunner, Runner
from e2g_neo4j.settings import Settings, load_settings
from e2g_neo4j.types.results import Answer, Evidence

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from spacy.language import Language

T = TypeVar("T")


class SyncClient:
    """What `E2G` does apart from its calls.

    Attributes:
        settings: the settings in use.
        models: the models, loaded when they are first needed.
        strategies: the retrieval modes, by name.
        runner: executes operations; to be used by code that extends this package.
        driver: the neo4j driver.
    """

    def __init__(
        self,
        driver: Driver | None = None,
        *,
        settings: Settings | None = None,
        chat_model: BaseChatModel | None = None,
        embedder: Embedder | None = None,
        nlp: Language | None = None,
        strategies: Iterable[Strategy] = (),
    ) -> None:
        self.strategies = with_strategies(strategies)
        self.settings = settings or load_settings()
        self.models = Models(self.settings, chat_model, embedder=embedder, nlp=nlp)
        self._borrowed = driver is not None
        self.driver = driver or drivers.open_driver(address(self.settings), self.settings)
        self.runner = Runner(self.driver, self.settings.neo4j_database, self.models)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the driver, unless it is borrowed."""
        processes.end_idle()
        if not self._borrowed:
            self.driver.close()

    def bookmark(self) -> str:
        """What this client has written and read so far, for `wait_for` of another client. Opaque, printable ASCII
        without spaces; empty if the client has done nothing yet. In a cluster, or on Aura, a server may lag behind; a
        client always sees its own writes."""
        return bookmarks.as_text(self.driver.execute_query_bookmark_manager.get_bookmarks())

    def wait_for(self, bookmark: str) -> None:
        """Wait until the server has seen what the client that returned this bookmark had seen. All later reads of this
        client see it too, on any server of a cluster. Takes one round trip, or none if the bookmark is this client's.

        Args:
            bookmark: a result of `bookmark()`.

        Raises:
            InputError: this is not a bookmark.
            DatabaseError: the server did not catch up in time, by default 30 s.
        """
        database.wait_for(self.driver, self.settings.neo4j_database, bookmarks.parse(bookmark))

    def _run(self, operation: Operation[T]) -> T:
        return self.runner.run(operation)

    def _ask(self, operation: Operation[T]) -> T:
        return self.runner.run(operation)

    def _stream(self, operation: Operation[Answer]) -> Generator[Evidence | str | Answer]:
        """Yield the evidence, the text of the answer in pieces, and the answer."""
        shown = False
        for piece in self.runner.stream(operation):
            if isinstance(piece, Answer) and piece.text and not shown:  # without evidence, no model is asked
                yield piece.text
            shown = shown or isinstance(piece, str)
            yield piece


class AsyncClient:
    """What `AsyncE2G` does apart from its calls. The attributes are those of `SyncClient`; the driver is opened by the
    first call."""

    def __init__(
        self,
        driver: AsyncDriver | None = None,
        *,
        settings: Settings | None = None,
        chat_model: BaseChatModel | None = None,
        embedder: Embedder | None = None,
        nlp: Language | None = None,
        strategies: Iterable[Strategy] = (),
    ) -> None:
        self.strategies = with_strategies(strategies)
        self.settings = settings or load_settings()
        self.models = Models(self.settings, chat_model, embedder=embedder, nlp=nlp)
        self._borrowed = driver is not None
        self.driver = driver
        self._opening = asyncio.Lock()
        self.runner = AsyncRunner(self._connect, self.settings.neo4j_database, self.models)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the driver, unless it is borrowed."""
        await asyncio.to_thread(processes.end_idle)
        if self.driver is not None and not self._borrowed:
            await self.driver.close()

    async def bookmark(self) -> str:
        """As `SyncClient.bookmark`."""
        if self.driver is None:
            return ""
        return bookmarks.as_text(await self.driver.execute_query_bookmark_manager.get_bookmarks())

    async def wait_for(self, bookmark: str) -> None:
        """As `SyncClient.wait_for`."""
        wanted = bookmarks.parse(bookmark)
        await database.wait_for_async(await self._connect(), self.settings.neo4j_database, wanted)

    async def _connect(self) -> AsyncDriver:
        async with self._opening:
            if self.driver is None:
                where = await asyncio.to_thread(address, self.settings)
                self.driver = drivers.open_async_driver(where, self.settings)
            return self.driver

    async def _run(self, operation: Operation[T]) -> T:
        return await self.runner.run(operation)

    async def _ask(self, operation: Operation[T]) -> T:
        return await self.runner.ask(operation)

    async def _stream(self, operation: Operation[Answer]) -> AsyncGenerator[Evidence | str | Answer, None]:
        """As `SyncClient._stream`."""
        shown = False
        async with aclosing(self.runner.stream(operation)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Answer) and piece.text and not shown:
                    yield piece.text
                shown = shown or isinstance(piece, str)
                yield piece
