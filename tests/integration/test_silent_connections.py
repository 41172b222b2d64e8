"""Connections that were dropped without a word cost a moment, and not the question."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest
from at_server import settings_of
from freezing_proxy import FreezingProxy

from e2g_neo4j import E2G, AsyncE2G, Settings
from e2g_neo4j.managed_neo4j import Connection

SECONDS = 4.0
"""Within so long, a question whose connection was dropped is answered."""


@pytest.fixture
def proxy(neo4j_connection: Connection) -> Iterator[FreezingProxy]:
    server = urlsplit(neo4j_connection.uri)
    proxy = FreezingProxy(server.hostname or "", server.port or 0)
    yield proxy
    proxy.close()


@pytest.fixture
def through(neo4j_connection: Connection, proxy: FreezingProxy) -> Settings:
    """Settings of clients that go through the proxy, and take a connection for idle at once."""
    uri = f"bolt://127.0.0.1:{proxy.port}"
    return settings_of(neo4j_connection).model_copy(update={"neo4j_uri": uri, "neo4j_idle_seconds": 0.05})


def seconds_of(call: Callable[[], Any]) -> float:
    began = time.monotonic()
    call()
    return time.monotonic() - began


def open_six(client: E2G) -> None:
    """Leave six idle connections in the pool."""
    with ExitStack() as stack:
        for _ in range(6):
            session = stack.enter_context(client.driver.session(database="neo4j"))
            stack.enter_context(session.begin_transaction())


def test_idle_connections_that_were_dropped_cost_one_retry(proxy, through):
    with E2G(settings=through) as client:
        client.corpora()
        open_six(client)
        before = proxy.opened
        proxy.freeze()
        time.sleep(0.2)
        took = [seconds_of(client.corpora) for _ in range(6)]
        assert took[0] < SECONDS
        assert max(took[1:]) < 1
        assert proxy.opened == before + 1


async def test_async_clients_notice_as_fast(proxy, through):
    async with AsyncE2G(settings=through) as client:
        await asyncio.gather(*(client.corpora() for _ in range(6)))
        proxy.freeze()
        await asyncio.sleep(0.2)
        began = time.monotonic()
        await asyncio.gather(*(client.corpora() for _ in range(6)))
        first = time.monotonic() - began
        began = time.monotonic()
        await asyncio.gather(*(client.corpora() for _ in range(6)))
        assert first < SECONDS
        assert time.monotonic() - began < 1
