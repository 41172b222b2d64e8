"""Read-your-writes across replicas of the service: bookmarks of the database in a header."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.errors import E2GError
from e2g_neo4j.service.problems import problem_of

HEADER = "E2G-Bookmark"


class ReadYourWrites:
    """Middleware that waits for the bookmark of a request, and returns one after a request that may have written.

    Args:
        app: The application.
        client: The client.
    """

    def __init__(self, app: ASGIApp, client: AsyncE2G) -> None:
        self._app, self._client = app, client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "caller" not in scope.get("state", {}):
            return await self._app(scope, receive, send)
        if given := Headers(scope=scope).get(HEADER):
            try:
                await self._client.wait_for(given)
            except E2GError as error:
                return await problem_of(error, scope["state"]["request_id"])(scope, receive, send)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and scope["method"] not in ("GET", "HEAD"):
                MutableHeaders(scope=message)[HEADER] = await self._client.bookmark()
            await send(message)

        await self._app(scope, receive, sending)
        return None
