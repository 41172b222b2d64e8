"""The audit log: who changed or exported what. One entry for each request that is not a question or a list."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.errors import E2GError
from e2g_neo4j.graph import keys
from e2g_neo4j.service.observability import template

logger = logging.getLogger(__name__)

_QUESTIONS = ("/v1/retrieve", "/v1/explain", "/v1/ask", "/v1/chat/completions", "/mcp", "/api")


class Audit:
    """Middleware that records each request that changes or exports something, with its key and status, in the database.

    Args:
        app: The application.
        client: The client, whose database has the log.
    """

    def __init__(self, app: ASGIApp, client: AsyncE2G) -> None:
        self._app, self._client = app, client
        self._writing: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = scope["type"] == "http"
        audited = http and (scope["method"] in ("POST", "PUT", "PATCH", "DELETE") or scope["path"].endswith("/export"))
        if not audited or scope["path"].startswith(_QUESTIONS):
            return await self._app(scope, receive, send)
        status = 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            self._start(self._record(scope, status))
        return None

    def _start(self, writing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(writing)
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _record(self, scope: Scope, status: int) -> None:
        values = scope.get("path_params", {})
        row = {
            "key": scope["state"]["caller"].key if "caller" in scope["state"] else "",
            "action": f"{scope['method']} {template(scope)}",
            "corpus": values.get("corpus"),
            "target": next((values[name] for name in ("document", "task", "name", "key") if name in values), None),
            "status": status,
            "request_id": scope["state"]["request_id"],
        }
        try:
            await self._client.runner.ask(keys.add_audit([row]))
        except E2GError as error:
            logger.warning("A request was not recorded in the audit log: %s", error)
