"""Read-your-writes across replicas of the service: bookmarks of the database in a header.

The service signs them. One that nobody wrote would hold a connection to the database for as long as the database waits.
"""

from __future__ import annotations

import asyncio
import hmac
from collections import Counter
from contextlib import suppress
from functools import partial

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.errors import E2GError
from e2g_neo4j.graph import keys
from e2g_neo4j.service.limits import counted
from e2g_neo4j.service.problems import ProblemError, busy

HEADER = "E2G-Bookmark"

WAIT_SECONDS = 2.0
"""How long a request waits until the database has seen its bookmark."""

MAX_WAITS = 4
"""Requests of a key that wait at once."""

_NEXT = f"Send the header {HEADER} of an earlier reply unchanged, or none."


class ReadYourWrites:
    """Middleware that lets a request wait for its bookmark, and returns one after a request that may have written.

    It checks the signature. `needs` waits with `request.state.catch_up`, once the scope of the key was checked; MCP,
    which checks scopes within a message, waits here.
    """

    def __init__(self, app: ASGIApp, client: AsyncE2G) -> None:
        self._app, self._client = app, client
        self._secret = b""
        self._waits: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "caller" not in scope.get("state", {}):
            return await self._app(scope, receive, send)
        bookmark = await self._read(Headers(scope=scope).get(HEADER, ""))
        catch_up = partial(self._wait_for, bookmark, scope["state"]["caller"].account)
        scope["state"]["catch_up"] = catch_up
        if scope["path"] == "/mcp":
            await catch_up()

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and scope["method"] not in ("GET", "HEAD"):
                with suppress(E2GError):  # the secret cannot be read; the reply is worth more
                    bookmark = await self._client.bookmark()
                    signed = f"{await self._signature(bookmark)}.{bookmark}" if bookmark else ""
                    MutableHeaders(scope=message)[HEADER] = signed
            await send(message)

        await self._app(scope, receive, sending)
        return None

    async def _read(self, header: str) -> str:
        """Return the bookmark of a header, or an empty one. Raises a 422 if the service did not sign it."""
        signature, _, bookmark = header.partition(".")
        if header and not hmac.compare_digest(signature.encode(), (await self._signature(bookmark)).encode()):
            raise ProblemError(422, "bookmark", f"The header {HEADER} is not one of this service.", next_step=_NEXT)
        return bookmark

    async def _signature(self, bookmark: str) -> str:
        if not self._secret:
            self._secret = await self._client.runner.look_up(keys.bookmark_secret())
        return hmac.new(self._secret, bookmark.encode(), "sha256").hexdigest()

    async def _wait_for(self, bookmark: str, key: str) -> None:
        if not bookmark:
            return
        if self._waits[key] >= MAX_WAITS:
            raise busy(f"{MAX_WAITS} requests of this key wait for their {HEADER} already, the maximum.")
        try:
            with counted(self._waits, key):
                async with asyncio.timeout(WAIT_SECONDS):
                    await self._client.wait_for(bookmark)
        except TimeoutError:
            detail = f"The database has not seen the write of this {HEADER} within {WAIT_SECONDS:.0f} s."
            raise ProblemError(503, "behind", detail, {"Retry-After": "1"}) from None
