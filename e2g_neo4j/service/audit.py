"""The audit log: who changed or exported what, and who was refused.

It has one entry for each request that is not a question or a list, and one for each key that was refused, at most
MOST_REFUSED in a minute.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.errors import E2GError
from e2g_neo4j.graph import keys
from e2g_neo4j.service.limits import QUESTIONS
from e2g_neo4j.service.observability import template

logger = logging.getLogger(__name__)

MOST_REFUSED = 10
"""Entries for refused keys in a minute. Those beyond are counted in the next entry, so that they do not fill the
database."""


class Log:
    """Writes entries of the audit log, beside the requests that they are about."""

    def __init__(self, client: AsyncE2G) -> None:
        self._client = client
        self._writing: set[asyncio.Task[None]] = set()

    def add(self, **entry: Any) -> None:
        """Begin to write an entry."""
        task = asyncio.create_task(self._write(entry))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _write(self, entry: Mapping[str, Any]) -> None:
        try:
            await self._client.runner.ask(keys.add_audit([entry]))
        except E2GError as error:
            logger.warning("A request was not recorded in the audit log: %s", error)


class RefusedKeys:
    """Records keys and access tokens that were refused."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._recorded: deque[float] = deque()
        self._left_out = 0

    def record(self, address: str, key: str | None, request_id: str) -> None:
        """Record that a request was refused.

        Args:
            address: Where it came from.
            key: The id that the key names, whether there is such a key or not; None if it is no API key.
            request_id: The id of the request.
        """
        now = time.monotonic()
        while self._recorded and self._recorded[0] <= now - 60:
            self._recorded.popleft()
        if len(self._recorded) >= MOST_REFUSED:
            self._left_out += 1
            return
        self._recorded.append(now)
        more = f", and {self._left_out} refused before that were not recorded" if self._left_out else ""
        self._left_out = 0
        target = f"{'a key' if key is None else f'key {key}'} from {address[:100]}{more}"
        self._log.add(key="", action="REFUSED KEY", target=target, status=401, request_id=request_id)


class Audit:
    """Middleware that records each request that changes or exports something, with its key and status."""

    def __init__(self, app: ASGIApp, log: Log) -> None:
        self._app, self._log = app, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = scope["type"] == "http"
        audited = http and (scope["method"] in ("POST", "PUT", "PATCH", "DELETE") or scope["path"].endswith("/export"))
        if not audited or scope["path"].startswith((*QUESTIONS, "/mcp")):
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
            self._record(scope, status)
        return None

    def _record(self, scope: Scope, status: int) -> None:
        values = scope.get("path_params", {})
        self._log.add(
            key=scope["state"]["caller"].key if "caller" in scope["state"] else "",
            action=f"{scope['method']} {template(scope)}",
            corpus=values.get("corpus"),
            target=next((values[name] for name in ("document", "task", "name", "key") if name in values), None),
            status=status,
            request_id=scope["state"]["request_id"],
        )
