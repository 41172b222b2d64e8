"""Execute operations: `Runner` for the sync client, `AsyncRunner` for the async client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator
from concurrent.futures import Executor as ThreadPool
from concurrent.futures import Future
from contextlib import aclosing, contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import partial
from threading import Event, RLock
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from neo4j import AsyncDriver, Driver

from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import (
    AtOnce,
    CallDriver,
    Chat,
    Embed,
    EmbedAll,
    Emit,
    Executor,
    GetExecutor,
    Operation,
    Read,
    ReadAll,
    Request,
    Rerank,
    Rows,
    Write,
)
from e2g_neo4j.runtime.sync_driver import SyncDriver
from e2g_neo4j.runtime.threads import each_beside, each_task, in_thread
from e2g_neo4j.runtime.waiting import report_waiting
from e2g_neo4j.types.chat import ChatReply
from e2g_neo4j.types.results import Evidence

T = TypeVar("T")

SECONDS_TO_STOP = 10.0
"""Maximum time that a cancelled index run gets to stop. It publishes nothing after that either."""

READS_AT_ONCE = 8
"""Maximum number of reads of one operation that run at once, each on a connection of its own."""


class Models(Protocol):
    """The models that execute requests. The async client runs the steps of questions in `threads`."""

    @property
    def threads(self) -> ThreadPool: ...

    @property
    def chats_at_once(self) -> int: ...

    def vector(self, request: Embed) -> Future[list[float]]: ...

    def vectors(self, request: EmbedAll) -> Future[list[list[float]]]: ...

    def scores(self, request: Rerank) -> Future[list[float]]: ...

    def ask(self, request: Chat) -> ChatReply: ...

    async def ask_async(self, request: Chat) -> ChatReply: ...

    def stream(self, request: Chat) -> Iterator[str | ChatReply]: ...

    def stream_async(self, request: Chat) -> AsyncGenerator[str | ChatReply, None]: ...


class Observer(Protocol):
    """Is called before every request, and after it with its result."""

    def on_request(self, request: Request) -> None: ...

    def on_result(self, request: Request, result: Any) -> None: ...


class Runner:
    """Executes operations with a sync driver. Thread-safe.

    Args:
        driver: The driver. It is not closed here.
    """

    def __init__(self, driver: Driver, name: str, models: Models) -> None:
        self.driver, self.name = driver, name
        self._models = models
        self._observer: ContextVar[Observer | None] = ContextVar("observer", default=None)
        self._observing = RLock()

    @contextmanager
    def observe(self, observer: Observer) -> Iterator[None]:
        """Notify an observer of the requests of operations that this thread runs within the context, one at a time, to
        time them or to count round trips. Streamed chat requests are not observed, nor those of an `Executor`."""
        token = self._observer.set(observer)
        try:
            yield
        finally:
            self._observer.reset(token)

    def run(self, operation: Operation[T]) -> T:
        """Execute an operation and return its result."""
        with _close_after(operation):
            step = advance(operation, None)
            while not isinstance(step, Done):
                step = advance(operation, self._execute(step))
            return step.value

    def stream(self, operation: Operation[T]) -> Iterator[Evidence | str | T]:
        """Execute an operation. Yield the evidence that it emits, the chat model's text in pieces, and the result."""
        with _close_after(operation):
            step = advance(operation, None)
            while not isinstance(step, Done):
                if isinstance(step, Chat):
                    reply = yield from _stream_reply(step, self._models.stream(step))
                    step = advance(operation, reply)
                else:
                    if isinstance(step, Emit):
                        yield step.evidence
                    step = advance(operation, self._execute(step))
            yield step.value

    def execute(self, request: Read | Write) -> Rows:
        """Execute one request and return its rows."""
        if isinstance(request, Read):
            return database.read(self.driver, self.name, request)
        return database.write(self.driver, self.name, request)

    def _execute(self, request: Request) -> Any:
        observer = self._observer.get()
        if observer:
            with self._observing:
                observer.on_request(request)
        with report_waiting(_describe(request)):
            result = self._result(request)
        if observer:
            with self._observing:
                observer.on_result(request, result)
        return result

    def _result(self, request: Request) -> Any:
        match request:
            case Embed():
                return self._models.vector(request).result()
            case EmbedAll():
                return self._models.vectors(request).result()
            case Rerank():
                return self._models.scores(request).result()
            case Chat():
                return self._models.ask(request)
            case Emit():
                return None
            case GetExecutor():
                return Executor(self.execute, Event())
            case CallDriver():
                database.is_old(self.driver)
                return request.call(self.driver, self.name)
            case ReadAll():
                return each_beside([partial(self.execute, one) for one in request.reads], READS_AT_ONCE)
            case AtOnce():
                stopped = Event()
                try:
                    parts = [partial(self.run, one) for one in request.take_turns(stopped)]
                    return each_beside(parts, self._models.chats_at_once)
                finally:
                    stopped.set()
            case _:
                return self.execute(request)


def _describe(request: Request) -> str:
    """Tell what a request waits for."""
    match request:
        case Chat() | AtOnce():
            return "Waiting for the chat model"
        case Embed() | EmbedAll() | Rerank():
            return "Computing vectors"
        case _:
            return "Waiting for Neo4j"


class AsyncRunner:
    """Executes operations with an async driver. CPU-bound work runs in threads, so that the event loop is not blocked.

    Args:
        connect: Opens the driver, or returns the open one.
    """

    def __init__(self, connect: Callable[[], Awaitable[AsyncDriver]], name: str, models: Models) -> None:
        self._connect, self.name = connect, name
        self._models = models

    async def run(self, operation: Operation[T]) -> T:
        """Execute an operation and return its result. Its steps run in daemon threads."""
        driver = await self._connect()
        cancelled = Event()
        executor: Executor | None = None
        try:
            step = await _advance_in_thread(operation, None, None)
            while not isinstance(step, Done):
                if isinstance(step, GetExecutor):
                    executor = result = Executor(self._from_threads(driver), cancelled)
                else:
                    result = await self._result(driver, step)
                step = await _advance_in_thread(operation, result, cancelled if executor else None)
            return step.value
        finally:
            await in_thread(_close, operation)

    async def ask(self, operation: Operation[T]) -> T:
        """Like `run`, for questions. Their steps are short and run in a small thread pool."""
        driver = await self._connect()
        with _close_after(operation):
            step = await self._advance_in_pool(operation, None)
            while not isinstance(step, Done):
                step = await self._advance_in_pool(operation, await self._result(driver, step))
            return step.value

    async def look_up(self, operation: Operation[T]) -> T:
        """Like `ask`, for operations whose steps compute next to nothing: they run in the event loop."""
        driver = await self._connect()
        with _close_after(operation):
            step = advance(operation, None)
            while not isinstance(step, Done):
                step = advance(operation, await self._result(driver, step))
            return step.value

    async def stream(self, operation: Operation[T]) -> AsyncGenerator[Evidence | str | T, None]:
        """Like `Runner.stream`, as an async iterator."""
        driver = await self._connect()
        with _close_after(operation):
            step = await self._advance_in_pool(operation, None)
            while not isinstance(step, Done):
                if isinstance(step, Chat):
                    reply: Any = None
                    async with aclosing(self._models.stream_async(step)) as pieces:
                        async for piece in pieces:
                            reply, text = _filter_piece(step, piece)
                            if text:
                                yield text
                else:
                    if isinstance(step, Emit):
                        yield step.evidence
                    reply = await self._result(driver, step)
                step = await self._advance_in_pool(operation, reply)
            yield step.value

    async def execute(self, driver: AsyncDriver, request: Read | Write) -> Rows:
        """Execute one request and return its rows."""
        if isinstance(request, Read):
            return await database.read_async(driver, self.name, request)
        return await database.write_async(driver, self.name, request)

    def _from_threads(self, driver: AsyncDriver) -> Callable[[Read | Write], Rows]:
        sync_driver = SyncDriver(driver, asyncio.get_running_loop())
        return lambda request: sync_driver.wait(self.execute(driver, request))

    async def _result(self, driver: AsyncDriver, request: Request) -> Any:
        match request:
            case Embed():
                return await asyncio.wrap_future(self._models.vector(request))
            case EmbedAll():
                return await asyncio.wrap_future(self._models.vectors(request))
            case Rerank():
                return await asyncio.wrap_future(self._models.scores(request))
            case Chat():
                return await self._models.ask_async(request)
            case Emit():
                return None
            case CallDriver():
                await database.is_old_async(driver)
                sync: Any = SyncDriver(driver, asyncio.get_running_loop())
                return await asyncio.to_thread(request.call, sync, self.name)
            case ReadAll():
                return await each_task([partial(self.execute, driver, one) for one in request.reads], READS_AT_ONCE)
            case AtOnce():
                parts = [partial(self.ask, one) for one in request.take_turns(Event())]
                return await each_task(parts, self._models.chats_at_once)
            case Read() | Write():
                return await self.execute(driver, request)
        raise TypeError(f"A question cannot ask for {request!r}.")

    async def _advance_in_pool(self, operation: Operation[T], result: Any) -> Step[T]:
        context = copy_context()  # has the current span
        return await asyncio.get_running_loop().run_in_executor(
            self._models.threads, lambda: context.run(advance, operation, result)
        )


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """The end of an operation, with its result."""

    value: T


Step: TypeAlias = Request | Done[T]


def advance(operation: Operation[T], result: Any) -> Step[T]:
    """Resume an operation. Return its next request, or `Done`, because StopIteration cannot cross threads."""
    try:
        return operation.send(result)
    except StopIteration as end:
        return Done(end.value)


async def _advance_in_thread(operation: Operation[T], result: Any, cancelled: Event | None) -> Step[T]:
    """Like `advance`, in a thread. If the caller is cancelled, an operation with an executor gets SECONDS_TO_STOP to
    end; others are abandoned."""
    step = asyncio.ensure_future(in_thread(advance, operation, result))
    try:
        return await asyncio.shield(step)
    except asyncio.CancelledError:
        if cancelled is None:
            step.cancel()
        else:
            cancelled.set()
            step.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # mark it as retrieved
            await asyncio.wait([step], timeout=SECONDS_TO_STOP)
        raise


def _stream_reply(request: Chat, pieces: Iterator[str | ChatReply]) -> Generator[str, None, Any]:
    reply: ChatReply | None = None
    for piece in pieces:
        reply, text = _filter_piece(request, piece)
        if text:
            yield text
    return reply


def _filter_piece(request: Chat, piece: str | ChatReply) -> tuple[ChatReply | None, str]:
    """Return the complete reply, if this is the last piece, and the text to show now."""
    if isinstance(piece, ChatReply):
        return piece, request.shown.end()
    return None, request.shown.add(piece)


@contextmanager
def _close_after(operation: Operation[Any]) -> Iterator[None]:
    try:
        yield
    finally:
        _close(operation)  # stops the operation's background work


def _close(operation: Operation[Any]) -> None:
    with suppress(ValueError):  # the last step of a cancelled operation may still be running
        operation.close()
