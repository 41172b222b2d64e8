"""Server-sent events. A stream ends with an `error` event if something fails, if its key is revoked, or when the
service stops."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
from fastapi import Request
from pydantic_core import to_json
from sse_starlette import EventSourceResponse, ServerSentEvent

from e2g_neo4j.errors import E2GError
from e2g_neo4j.graph import keys
from e2g_neo4j.service.problems import ProblemError, problem_of, request_id
from e2g_neo4j.service.state import state_of

T = TypeVar("T")

logger = logging.getLogger(__name__)

PING_SECONDS = 15
"""A comment is sent this often while there is nothing else, so that proxies keep the connection."""

LINE_END = "\n"
"""Some clients look for an empty line without carriage returns."""

REVOKED_SECONDS = 1.0

SECONDS_TO_FINISH = 8.0
"""How long streams may go on after the service was told to stop."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event: its name, if it has one, and its data. Text is sent as it is, everything else as JSON."""

    name: str | None
    data: Any


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of work. If the client disconnects, it is cancelled, and this raises a 408. The body must have
    been read."""
    working, leaving = asyncio.create_task(work), asyncio.create_task(_wait_for_disconnect(request))
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ProblemError(408, "disconnected", "The client has left.")
    finally:
        leaving.cancel()
        working.cancel()
        await asyncio.wait([working])


async def last_piece(request: Request, pieces: AsyncGenerator[T, None]) -> T:
    """Return the last of the pieces. If the client disconnects, no more are made, and this raises a 408."""

    async def find_last() -> T:
        async with aclosing(pieces):
            return [piece async for piece in pieces][-1]

    return await while_connected(request, find_last())


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def event_stream(request: Request, events: AsyncGenerator[Event, None]) -> EventSourceResponse:
    """Return a reply that sends events. If the client disconnects, the generator is closed."""
    stopping = anyio.Event()
    return EventSourceResponse(
        _send_events(request, events, stopping),
        ping=PING_SECONDS,
        ping_message_factory=lambda: ServerSentEvent(comment="ping", sep=LINE_END),
        sep=LINE_END,
        shutdown_event=stopping,
        shutdown_grace_period=SECONDS_TO_FINISH + 2,
    )


async def _send_events(
    request: Request, events: AsyncGenerator[Event, None], stopping: anyio.Event
) -> AsyncGenerator[ServerSentEvent, None]:
    try:
        async with aclosing(events), aclosing(_until(events, _over(request, stopping))) as some:
            async for event in some:
                data = event.data if isinstance(event.data, str) else to_json(event.data).decode()
                yield ServerSentEvent(data, event=event.name, sep=LINE_END)
    except (E2GError, ProblemError) as error:
        yield _error(request, error)
    except Exception as error:
        logger.exception("The stream of request %s failed.", request_id(request))
        yield _error(request, error)


async def _until(events: AsyncIterator[Event], over: Coroutine[Any, Any, ProblemError]) -> AsyncGenerator[Event, None]:
    """Yield events, until `over` returns an error, which is raised."""
    stop = asyncio.ensure_future(over)
    following: asyncio.Future[Event] | None = None
    try:
        while True:
            following = asyncio.ensure_future(anext(events))
            await asyncio.wait([following, stop], return_when=asyncio.FIRST_COMPLETED)
            if stop.done():
                raise stop.result()
            try:
                yield following.result()
            except StopAsyncIteration:
                return
    finally:
        stop.cancel()
        if following is not None and not following.done():
            following.cancel()
            await asyncio.wait([following])


async def _over(request: Request, stopping: anyio.Event) -> ProblemError:
    """Return why a stream ends: its key is revoked or has expired, or the service was told to stop some time ago."""
    key, runner = request.state.caller.key, state_of(request).client.runner
    while not stopping.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), REVOKED_SECONDS)
        with suppress(E2GError):
            if await runner.look_up(keys.is_refused(key)):
                return ProblemError(401, "unauthenticated", "The key was revoked, or has expired.")
    await asyncio.sleep(SECONDS_TO_FINISH)
    return ProblemError(503, "stopping", "The service is stopping.")


def _error(request: Request, error: Exception) -> ServerSentEvent:
    content = problem_of(error, request_id(request)).content_for(request.url.path)
    return ServerSentEvent(to_json(content).decode(), event="error", sep=LINE_END)
