"""Server-sent events: what ends a stream."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.datastructures import State
from starlette.requests import Request

from e2g_neo4j.service import streams
from e2g_neo4j.service.streams import Event, event_stream
from e2g_neo4j.types.service import LOCAL

SCOPE = {"type": "http", "method": "POST", "path": "/v1/ask", "headers": [], "state": {"caller": LOCAL}}


def app_with(look_up: Any) -> Any:
    """An application whose keys are looked up so."""
    client = SimpleNamespace(runner=SimpleNamespace(look_up=look_up))
    return SimpleNamespace(state=State({"service": SimpleNamespace(client=client)}))


async def never_refused(operation: Any) -> bool:
    operation.close()
    return False


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

    scope = {**SCOPE, "app": app_with(never_refused)}
    kept = events()  # or it would be closed because nothing refers to it
    async with asyncio.timeout(20):
        await event_stream(Request(scope), kept)(scope, receive, send)
    assert closed


async def test_a_stream_ends_when_its_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it waits for a piece, and while pieces come all the time."""
    monkeypatch.setattr(streams, "REVOKED_SECONDS", 0.2)
    revoked = asyncio.Event()

    async def look_up(operation: Any) -> bool:
        operation.close()
        return revoked.is_set()

    async def events(pause: float) -> AsyncGenerator[Event, None]:
        while True:
            yield Event("delta", {"text": "Luke"})
            await asyncio.sleep(pause)

    async def receive() -> dict[str, str]:
        await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    for pause in (60, 0):
        revoked.clear()
        sent: list[bytes] = []

        async def send(message: Any, sent: list[bytes] = sent) -> None:
            sent.append(message.get("body", b""))

        asyncio.get_running_loop().call_later(0.5, revoked.set)
        began = time.monotonic()
        async with asyncio.timeout(20):
            await event_stream(Request({**SCOPE, "app": app_with(look_up)}), events(pause))({**SCOPE}, receive, send)
        assert 0.5 <= time.monotonic() - began < 5
        assert b"The key was revoked" in b"".join(sent[-3:])
