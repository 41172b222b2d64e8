"""Read-your-writes across replicas of the service: bookmarks of the database in a header."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from functools import partial

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.errors import E2GError
from e2g_neo4j.service.problems import ProblemError, busy

HEADER = "E2G-Bookmark"

WAIT_SECONDS = 2.0
"""How long a request waits until the database has seen its bookmark."""

MAX_WAITS = 4
"""Bookmarks of a key that the database waits for at once. It goes on, for 30 seconds by default, when the request has
given up, or its client has left."""


class ReadYourWrites:
    """Middleware that lets a request wait for its bookmark, and returns one after a request that may have written.

    `needs` waits with `request.state.catch_up`, once the scope of the key was checked. MCP, which checks scopes within
    a message, waits here.
    """

    def __init__(self, app: ASGIApp, client: AsyncE2G) -> None:
        self._app, self._client = app, client
        self._waits: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "caller" not in scope.get("state", {}):
            return await self._app(scope, receive, send)
        catch_up = partial(self._wait_for, Headers(scope=scope).get(HEADER, ""), scope["state"]["caller"].account)
        scope["state"]["catch_up"] = catch_up
        if scope["path"] == "/mcp":
            await catch_up()

        async def send_bookmark(message: Message) -> None:
            if message["type"] == "http.response.start" and scope["method"] not in ("GET", "HEAD"):
                with suppress(E2GError):  # the reply is worth more
                    MutableHeaders(scope=message)[HEADER] = await self._client.bookmark()
            await send(message)

        await self._app(scope, receive, send_bookmark)
        return None

    async def _wait_for(self, bookmark: str, key: str) -> None:
        if not bookmark:
            return
        if self._waits[key] >= MAX_WAITS:
            raise busy(f"The database waits for {MAX_WAITS} bookmarks of this key already, the maximum.")
        waiting = asyncio.create_task(self._client.wait_for(bookmark))
        self._waits[key] += 1
        waiting.add_done_callback(partial(self._end_wait, key))
        done, _ = await asyncio.wait([waiting], timeout=WAIT_SECONDS)
        if not done:
            detail = f"The database has not seen the write of this {HEADER} within {WAIT_SECONDS:.0f} s."
            raise ProblemError(503, "behind", detail, {"Retry-After": "1"})
        waiting.result()

    def _end_wait(self, key: str, waiting: asyncio.Task[None]) -> None:
        self._waits -= Counter([key])
        if not waiting.cancelled():
            waiting.exception()  # nobody may be there to read it
