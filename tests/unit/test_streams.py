"""Server-sent events: what ends a stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from starlette.requests import Request

from e2g_neo4j.service.streams import Event, event_stream


@pytest.mark.parametrize("while_sending", [False, True])
async def test_a_disconnect_closes_what_is_streamed_at_once(while_sending: bool) -> None:
    """While it waits for the next event, such as a piece of a model's answer, and while one is being sent."""
    closed, begun = False, asyncio.Event()

    async def events() -> AsyncGenerator[Event, None]:
        nonlocal closed
        try:
            yield Event("delta", {"text": "Luke"})
            await asyncio.sleep(60)
        finally:
            closed = True

    async def send(message: Any) -> None:
        if message.get("body"):
            begun.set()
            if while_sending:
                await asyncio.sleep(60)

    async def receive() -> dict[str, str]:
        await begun.wait()
        await asyncio.sleep(0.05)
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "POST", "path": "/v1/ask", "headers": []}
    kept = events()  # or it would be closed because nothing refers to it
    async with asyncio.timeout(20):
        await event_stream(Request(scope), kept)(scope, receive, send)
    assert closed
