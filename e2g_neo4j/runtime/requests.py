"""The requests of operations: reads, writes, embeddings, chat requests.

An operation is a generator without I/O. It yields requests and receives their results, so that the sync and the async
client execute the same code (`runtime.runner`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import closing
from dataclasses import dataclass, replace
from threading import Event, Lock
from typing import Any, Protocol, TypeAlias, TypeVar

from neo4j import Driver

from e2g_neo4j.types.chat import ChatRequest, StreamingChatModel
from e2g_neo4j.types.results import Evidence

T = TypeVar("T")

Rows: TypeAlias = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Read:
    """Run one read statement, in one round trip. Result: its rows. `vectors` is the suffix of the vectors that it uses,
    see `runtime.cypher`."""

    statement: str
    parameters: dict[str, Any]
    vectors: str = ""


@dataclass(frozen=True, slots=True)
class ReadAll:
    """Run reads that do not wait for each other, several at once. Result: the rows of each, in their order."""

    reads: tuple[Read, ...]


@dataclass(frozen=True, slots=True)
class Write:
    """Run write statements in one transaction. Result: the rows of the condition.

    The condition is the first statement of the transaction. If it returns no row, nothing is written. `vectors` is as
    in `Read`.
    """

    statements: tuple[tuple[str, dict[str, Any]], ...]
    condition: tuple[str, dict[str, Any]] | None = None
    vectors: str = ""


@dataclass(frozen=True, slots=True)
class Embed:
    """Embed a question. Result: its vector, a list of floats. `vector` is set if the embedding has been started."""

    text: str
    vector: Future[list[float]] | None = None


@dataclass(frozen=True, slots=True)
class EmbedAll:
    """Embed short texts of a question together, such as its keywords. Result: their vectors, lists of floats. `vectors`
    is set if the embedding has been started."""

    texts: tuple[str, ...]
    vectors: Future[list[list[float]]] | None = None


@dataclass(frozen=True, slots=True)
class Rerank:
    """Score texts by how well they answer a question. Result: a list of floats, one per text, higher is better."""

    question: str
    texts: tuple[str, ...]


class TextFilter(Protocol):
    """Filters a streamed text."""

    def add(self, piece: str) -> str: ...

    def end(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Chat:
    """Call a chat model. Result: its `ChatReply`. `shown` filters the text that is streamed to the caller. A call that
    failed is not repeated once `stopped` is set."""

    model: StreamingChatModel
    request: ChatRequest
    shown: TextFilter
    stopped: Event | None = None


@dataclass(frozen=True, slots=True)
class AtOnce:
    """Run operations that call a chat model and do not wait for each other, as many at once as the settings allow.
    Result: the result of each, in their order, or the first error in this order. Their steps take turns, so that they
    may share what they count."""

    operations: tuple[Operation[Any], ...]

    def take_turns(self, stopped: Event) -> list[Operation[Any]]:
        """Return the operations so that only one of them makes a step at a time, and none once `stopped` is set."""
        turns = Lock()
        return [_take_turns(one, turns, stopped) for one in self.operations]


@dataclass(frozen=True, slots=True)
class Emit:
    """Pass evidence to the caller of a stream before the operation ends. Result: None."""

    evidence: Evidence


Execute: TypeAlias = Callable[[Read | Write], Rows]
"""Executes one request and returns its rows. Thread-safe."""


@dataclass(frozen=True, slots=True)
class Executor:
    """Executes requests from other threads. `cancelled` is set when the caller no longer waits for the operation, which
    then has some seconds to end."""

    execute: Execute
    cancelled: Event


@dataclass(frozen=True, slots=True)
class GetExecutor:
    """Get an executor for other threads. Result: an `Executor`."""


@dataclass(frozen=True, slots=True)
class CallDriver:
    """Call a function with a sync driver and the name of the database. Result: its return value."""

    call: Callable[[Driver, str], Any]


Request: TypeAlias = (
    Read | ReadAll | Write | Embed | EmbedAll | Rerank | Chat | AtOnce | Emit | GetExecutor | CallDriver
)

Operation: TypeAlias = Generator[Request, Any, T]
"""A generator that yields requests, receives their results and returns T."""


def _take_turns(operation: Operation[T], turns: Lock, stopped: Event) -> Operation[T]:
    reply: Any = None
    with closing(operation):
        while True:
            with turns:
                if stopped.is_set():
                    raise CancelledError
                try:
                    request = operation.send(reply)
                except StopIteration as end:
                    result: T = end.value
                    return result
            reply = yield replace(request, stopped=stopped) if isinstance(request, Chat) else request


def map_requests(
    operation: Operation[T],
    change: Callable[[Request], Request],
    receive: Callable[[Request, Any], Any] = lambda request, reply: reply,
) -> Operation[T]:
    """Run an operation with other requests in place of its own, and of those of operations that it runs at once.

    Args:
        change: Returns the request that is sent.
        receive: Returns what the operation gets, from the request that was sent and its result.
    """
    reply: Any = None
    with closing(operation):
        while True:
            try:
                request = change(operation.send(reply))
            except StopIteration as end:
                result: T = end.value
                return result
            if isinstance(request, AtOnce):
                request = AtOnce(tuple(map_requests(one, change, receive) for one in request.operations))
            reply = receive(request, (yield request))


def reads_of(request: Request) -> tuple[Read, ...]:
    """Return the reads of a request, each of which is a round trip."""
    match request:
        case Read():
            return (request,)
        case ReadAll():
            return request.reads
        case _:
            return ()


def change_vectors(request: Request, vectors: str) -> Request:
    """Return a request that uses the vectors with a suffix, if it uses any."""
    match request:
        case Read() | Write():
            return replace(request, vectors=vectors)
        case ReadAll():
            return ReadAll(tuple(replace(one, vectors=vectors) for one in request.reads))
        case _:
            return request


def with_vectors(operation: Operation[T], vectors: str) -> Operation[T]:
    """Run an operation whose statements use the vectors with a suffix, see `runtime.cypher`."""

    def change(request: Request) -> Request:
        return change_vectors(request, vectors)

    def receive(request: Request, reply: Any) -> Any:
        if isinstance(request, GetExecutor):
            return Executor(execute_with(reply.execute, vectors), reply.cancelled)
        return reply

    return map_requests(operation, change, receive) if vectors else operation


def execute_with(execute: Execute, vectors: str) -> Execute:
    """Return a function that executes requests which use the vectors with a suffix."""
    return lambda request: execute(replace(request, vectors=vectors))


def read_each(statement: str, parameters: Mapping[str, Mapping[str, Any]]) -> Operation[Rows]:
    """Run a read in each corpus, several at once, and add the corpus to every row.

    Each read covers one corpus, so that a question sees only the corpora that the caller named.

    Args:
        parameters: Parameters per corpus, without `corpus`.
    """
    reads = tuple(Read(statement, {"corpus": corpus, **values}) for corpus, values in parameters.items())
    found: list[Rows] = [(yield reads[0])] if len(reads) == 1 else (yield ReadAll(reads)) if reads else []
    return [{**row, "corpus": corpus} for corpus, rows in zip(parameters, found, strict=True) for row in rows]
