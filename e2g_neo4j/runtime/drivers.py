"""Open drivers, whose connections notice soon that a firewall has dropped them or that the server was started again."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from neo4j import AsyncDriver, AsyncGraphDatabase, Driver, GraphDatabase
from neo4j.exceptions import ConfigurationError as DriverConfigurationError
from neo4j.exceptions import ConnectionAcquisitionTimeoutError

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.settings import Settings

RETRY_SECONDS = 30.0
"""How long reads and writes are retried that fail transiently."""

TEST_SECONDS = 2.0
"""Within so long, an idle connection must answer the test before it is used."""

SILENT_SECONDS = 10
"""After so long, a connection whose other end does not confirm what was sent is given up, if the system can do it."""

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server is, and who logs in. `revive` starts a managed server again if it has died, and returns its host
    and port. It is called for every new connection."""

    uri: str
    username: str
    password: str
    revive: Callable[[], tuple[str, int]] | None = None


def open_driver(where: Address, settings: Settings) -> Driver:
    revive = where.revive
    resolver = {"resolver": lambda _: [revive()]} if revive else {}
    driver: Driver = _opened(GraphDatabase.driver, where, settings, resolver)
    with suppress(AttributeError):  # another release of the driver: only its own time-outs apply
        pool: Any = driver._pool
        opener, acquire = pool.opener, pool._acquire_from_pool_checked

        def open_connection(*arguments: Any) -> Any:
            connection = opener(*arguments)
            _keep_alive(connection.socket._socket, settings)
            return connection

        def acquire_tested(address: Any, test: Any, deadline: Any) -> Any:
            try:
                return acquire(address, test, min(deadline, type(deadline)(TEST_SECONDS)))
            except ConnectionAcquisitionTimeoutError:  # others, that are as old, are not tested one by one
                pool.mark_all_stale()
                return acquire(address, test, deadline)

        pool.opener, pool._acquire_from_pool_checked = open_connection, acquire_tested
    return driver


def open_async_driver(where: Address, settings: Settings) -> AsyncDriver:
    resolver = {"resolver": _resolve_async(where.revive)} if where.revive else {}
    driver: AsyncDriver = _opened(AsyncGraphDatabase.driver, where, settings, resolver)
    with suppress(AttributeError):
        pool: Any = driver._pool
        opener, acquire = pool.opener, pool._acquire_from_pool_checked

        async def open_connection(*arguments: Any) -> Any:
            connection = await opener(*arguments)
            _keep_alive(connection.socket._writer.get_extra_info("socket"), settings)
            return connection

        async def acquire_tested(address: Any, test: Any, deadline: Any) -> Any:
            try:
                return await acquire(address, test, min(deadline, type(deadline)(TEST_SECONDS)))
            except ConnectionAcquisitionTimeoutError:
                await pool.mark_all_stale()
                return await acquire(address, test, deadline)

        pool.opener, pool._acquire_from_pool_checked = open_connection, acquire_tested
    return driver


def _opened(driver: Callable[..., Any], where: Address, settings: Settings, resolver: dict[str, Any]) -> Any:
    scheme = where.uri.partition("://")[0]
    if scheme not in SCHEMES:
        web = " It is the address of a web page, such as Neo4j Browser." if scheme in ("http", "https") else ""
        raise ConfigurationError(
            f"NEO4J_URI is no address of Neo4j's Bolt protocol.{web} Set it to bolt://HOST:7687 or neo4j://HOST:7687."
        )
    try:
        return driver(
            where.uri,
            auth=(where.username, where.password),
            connection_timeout=settings.neo4j_connect_seconds,
            connection_acquisition_timeout=settings.neo4j_connect_seconds,
            max_transaction_retry_time=RETRY_SECONDS,
            liveness_check_timeout=settings.neo4j_idle_seconds,
            max_connection_lifetime=settings.neo4j_lifetime_seconds,
            notifications_min_severity="OFF",
            user_agent="e2g-neo4j",
            **resolver,
        )
    except (DriverConfigurationError, ValueError) as error:
        raise ConfigurationError(f"NEO4J_URI is invalid ({error}): set it to bolt://HOST:PORT.") from error


def _keep_alive(connection: Any, settings: Settings) -> None:
    """Let the system probe an idle connection, so that firewalls do not forget it, and notice one that is dropped."""
    idle = settings.neo4j_keep_alive_seconds
    for name, value in (
        ("TCP_KEEPIDLE", idle),
        ("TCP_KEEPALIVE", idle),  # the same on macOS
        ("TCP_KEEPINTVL", SILENT_SECONDS // 2),
        ("TCP_USER_TIMEOUT", 1000 * SILENT_SECONDS),
    ):
        if hasattr(socket, name):
            with suppress(OSError):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _resolve_async(revive: Callable[[], tuple[str, int]]) -> Callable[[Any], Any]:
    """Return a resolver that calls `revive` in one thread at a time, whoever waits for it and gives up."""
    running: asyncio.Task[tuple[str, int]] | None = None

    async def resolve(_: Any) -> list[tuple[str, int]]:
        nonlocal running
        if running is None or running.done():
            running = asyncio.create_task(asyncio.to_thread(revive))
        return [await asyncio.shield(running)]

    return resolve
