"""The Python client: `E2G` and `AsyncE2G`, the same calls.

with E2G() as e2g:
    e2g.index(["dracula.txt"], corpus="novels")
    for passage in e2g.retrieve("How does Van Helsing know Dracula?", corpus="novels").passages:
        print(passage.document, passage.start, passage.text)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from neo4j import AsyncDriver, Driver

from e2g_neo4j import database, migrate
from e2g_neo4j.bridge import Bridged
from e2g_neo4j.migrate import Applied, MigrationInfo
from e2g_neo4j.model import Answer, DocumentInfo, Evidence, IndexReport, Progress
from e2g_neo4j.queries import Chat, Embed, Read, Story, Write
from e2g_neo4j.retrieval import DEFAULT_MODE, Mode
from e2g_neo4j.settings import Settings
from e2g_neo4j.stories import Source, Stories

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

T = TypeVar("T")


class E2G:
    """Index documents into Neo4j and ask them. Thread-safe; a context manager that closes its own driver.

    Args:
        driver: a neo4j driver to borrow, left open in the end; None: one of its own, to the configured server
            or else to the managed one, which is started when it is not running.
        settings: None: those of the environment and `.env`.
        chat_model: any langchain-core chat model, for answers; None: the one that the settings name, if any.

    Every call may raise UnreachableError, AccessError or another DatabaseError.
    """

    def __init__(
        self,
        driver: Driver | None = None,
        *,
        settings: Settings | None = None,
        chat_model: BaseChatModel | None = None,
    ) -> None:
        self._stories = Stories(settings, chat_model)
        self.settings = self._stories.settings
        self._borrowed = driver is not None
        self._driver = driver or database.open_driver(database.address(self.settings))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the driver, unless it is borrowed."""
        if not self._borrowed:
            self._driver.close()

    def migrate(self) -> list[Applied]:
        """Bring the schema up to date and return what was applied. `index` does so by itself. Raises MigrationError."""
        return migrate.migrate(
            self._driver, self.settings.neo4j_database, embedding_dimensions=self._stories.dimensions
        )

    def migrations(self) -> list[MigrationInfo]:
        """The migrations and what the database knows of them."""
        return migrate.info(self._driver, self.settings.neo4j_database)

    def validate(self) -> None:
        """Raise MigrationError unless the schema is what the migrations say."""
        migrate.validate(self._driver, self.settings.neo4j_database)

    def index(self, sources: Iterable[Source], *, corpus: str, progress: Progress | None = None) -> IndexReport:
        """Bring files, folders, globs or documents into a corpus.

        A document that is there unchanged is left alone, a changed one replaced; each becomes visible when it is
        whole. Everything is read before anything is written. `progress` is called with (stage, done, total).
        Raises ReadingError for what cannot be read and FingerprintError for an index made with other models.
        """
        self.migrate()
        return self._drive(self._stories.index(list(sources), corpus, progress))

    def retrieve(
        self, question: str, *, corpus: str, k: int | None = None, hops: int | None = None, mode: Mode = DEFAULT_MODE
    ) -> Evidence:
        """The evidence for a question. `k` chunks (None: settings.top_k), `hops` edges (None: settings.hops).

        Raises QueryError for a question, k, hops or mode out of range, NotFoundError for a corpus without
        documents, FingerprintError for an index made with other models.
        """
        return self._drive(self._stories.retrieve(question, corpus, k, hops, mode))

    def answer(
        self, question: str, *, corpus: str, k: int | None = None, hops: int | None = None, mode: Mode = DEFAULT_MODE
    ) -> Answer:
        """The chat model's answer from the evidence that `retrieve` finds; no text where none is configured.

        Raises what `retrieve` raises, and ModelError when the chat model fails.
        """
        return self._drive(self._stories.answer(question, corpus, k, hops, mode))

    def corpora(self) -> dict[str, int]:
        """The corpora and how many documents of each can be asked."""
        return self._drive(self._stories.corpora())

    def documents(self, corpus: str) -> list[DocumentInfo]:
        """The documents of a corpus. Raises NotFoundError where there is none."""
        return self._drive(self._stories.documents(corpus))

    def stats(self, corpus: str) -> dict[str, int]:
        """How much a corpus holds, as flat numbers. Raises NotFoundError where there is nothing."""
        return self._drive(self._stories.stats(corpus))

    def _drive(self, story: Story[T]) -> T:
        step = _advance(story, None)
        while not isinstance(step, _End):
            match step:
                case Read():
                    reply: Any = database.read(self._driver, self.settings.neo4j_database, step)
                case Write():
                    reply = None
                    database.write(self._driver, self.settings.neo4j_database, step)
                case Embed():
                    reply = self._stories.vector(step)
                case Chat():
                    reply = step.model.invoke(step.messages)
            step = _advance(story, reply)
        return step.value


class AsyncE2G:
    """As `E2G`, to be awaited: database and chat model are spoken to asynchronously, and what needs the processor
    runs in a thread, so that the event loop stays free.
    """

    def __init__(
        self,
        driver: AsyncDriver | None = None,
        *,
        settings: Settings | None = None,
        chat_model: BaseChatModel | None = None,
    ) -> None:
        self._stories = Stories(settings, chat_model)
        self.settings = self._stories.settings
        self._borrowed = driver is not None
        self._driver = driver
        self._opening = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the driver, unless it is borrowed."""
        if self._driver is not None and not self._borrowed:
            await self._driver.close()

    async def migrate(self) -> list[Applied]:
        """As `E2G.migrate`."""
        dimensions = await asyncio.to_thread(lambda: self._stories.dimensions)
        return await self._in_thread(partial(migrate.migrate, embedding_dimensions=dimensions))

    async def migrations(self) -> list[MigrationInfo]:
        """As `E2G.migrations`."""
        return await self._in_thread(migrate.info)

    async def validate(self) -> None:
        """As `E2G.validate`."""
        await self._in_thread(migrate.validate)

    async def index(self, sources: Iterable[Source], *, corpus: str, progress: Progress | None = None) -> IndexReport:
        """As `E2G.index`; `progress` is called from other threads."""
        await self.migrate()
        return await self._drive(self._stories.index(list(sources), corpus, progress))

    async def retrieve(
        self, question: str, *, corpus: str, k: int | None = None, hops: int | None = None, mode: Mode = DEFAULT_MODE
    ) -> Evidence:
        """As `E2G.retrieve`."""
        return await self._drive(self._stories.retrieve(question, corpus, k, hops, mode))

    async def answer(
        self, question: str, *, corpus: str, k: int | None = None, hops: int | None = None, mode: Mode = DEFAULT_MODE
    ) -> Answer:
        """As `E2G.answer`."""
        return await self._drive(self._stories.answer(question, corpus, k, hops, mode))

    async def corpora(self) -> dict[str, int]:
        """As `E2G.corpora`."""
        return await self._drive(self._stories.corpora())

    async def documents(self, corpus: str) -> list[DocumentInfo]:
        """As `E2G.documents`."""
        return await self._drive(self._stories.documents(corpus))

    async def stats(self, corpus: str) -> dict[str, int]:
        """As `E2G.stats`."""
        return await self._drive(self._stories.stats(corpus))

    async def _connected(self) -> AsyncDriver:
        async with self._opening:
            if self._driver is None:
                where = await asyncio.to_thread(database.address, self.settings)
                self._driver = database.open_async_driver(where)
            return self._driver

    async def _in_thread(self, call: Callable[[Driver, str], T]) -> T:
        """What is written for a sync driver, over the one that we have."""
        bridged: Any = Bridged(await self._connected(), asyncio.get_running_loop())
        return await asyncio.to_thread(call, bridged, self.settings.neo4j_database)

    async def _drive(self, story: Story[T]) -> T:
        driver = await self._connected()
        step = await asyncio.to_thread(_advance, story, None)
        while not isinstance(step, _End):
            match step:
                case Read():
                    reply: Any = await database.read_async(driver, self.settings.neo4j_database, step)
                case Write():
                    reply = None
                    await database.write_async(driver, self.settings.neo4j_database, step)
                case Embed():
                    reply = await asyncio.to_thread(self._stories.vector, step)
                case Chat():
                    reply = await step.model.ainvoke(step.messages)
            step = await asyncio.to_thread(_advance, story, reply)
        return step.value


@dataclass(frozen=True, slots=True)
class _End(Generic[T]):
    value: T


def _advance(story: Story[T], reply: Any) -> Read | Write | Embed | Chat | _End[T]:
    """The next request of a story, or its end; StopIteration itself cannot cross from one thread to another."""
    try:
        return story.send(reply)
    except StopIteration as end:
        return _End(end.value)
