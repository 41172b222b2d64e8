"""Open drivers, whose connections notice soon that a firewall has dropped them or that the server was started again."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from ssl import SSLCertVerificationError
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from neo4j import AsyncDriver, AsyncGraphDatabase, Driver, GraphDatabase
from neo4j.exceptions import ConfigurationError as DriverConfigurationError
from neo4j.exceptions import ConnectionAcquisitionTimeoutError, DriverError

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.settings import Settings

RETRY_SECONDS = 30.0
"""How long reads and writes are retried that fail transiently."""

TEST_SECONDS = 2.0
"""Within so long, an idle connection must answer the test before it is used."""

SILENT_SECONDS = 10
"""After so long, a connection whose other end does not confirm what was sent is given up, if the system can do it."""


class ManagedServer(Protocol):
    """A server that this program has started."""

    def revive(self) -> tuple[str, int]:
        """Start it again if it has died, and return its host and port. Called for every new connection."""

    def end_broken(self) -> None:
        """End it, because its database wants to be restarted."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is, and who logs in."""

    uri: str
    username: str
    password: str = field(repr=False)
    managed: ManagedServer | None = None


MANAGED: WeakKeyDictionary[Any, ManagedServer] = WeakKeyDictionary()
"""The managed servers of drivers."""


def open_driver(where: Address, settings: Settings) -> Driver:
    revive = where.managed.revive if where.managed else None
    resolver = None if revive is None else lambda _: [revive()]
    driver: Driver = _open_driver(GraphDatabase.driver, where, settings, resolver)
    with suppress(AttributeError):  # another release of the driver: only its own time-outs apply
        pool: Any = driver._pool
        opener, acquire = pool.opener, pool._acquire_from_pool_checked

        def open_connection(address: Any, auth: Any, deadline: Any) -> Any:
            if revive:
                revive()
                deadline = type(deadline)(settings.neo4j_connect_seconds)
            connection = opener(address, auth, deadline)
            with suppress(AttributeError):
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
    resolve = _resolve_async(where.managed.revive) if where.managed else None
    driver: AsyncDriver = _open_driver(AsyncGraphDatabase.driver, where, settings, resolve)
    with suppress(AttributeError):
        pool: Any = driver._pool
        opener, acquire = pool.opener, pool._acquire_from_pool_checked

        async def open_connection(address: Any, auth: Any, deadline: Any) -> Any:
            if resolve:
                await resolve(address)
                deadline = type(deadline)(settings.neo4j_connect_seconds)
            connection = await opener(address, auth, deadline)
            with suppress(AttributeError):
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


def _open_driver(driver: Callable[..., Any], where: Address, settings: Settings, resolver: Any) -> Any:
    try:
        opened = driver(
            where.uri,
            auth=(where.username, where.password),
            connection_timeout=settings.neo4j_connect_seconds,
            connection_acquisition_timeout=settings.neo4j_connect_seconds,
            max_transaction_retry_time=RETRY_SECONDS,
            liveness_check_timeout=settings.neo4j_idle_seconds,
            max_connection_lifetime=settings.neo4j_lifetime_seconds,
            notifications_min_severity="OFF",
            user_agent="e2g-neo4j",
            resolver=resolver,
        )
    except (DriverConfigurationError, ValueError) as error:
        reason = type(error).__name__  # its text repeats the address
        raise ConfigurationError(f"NEO4J_URI is invalid ({reason}): set it to bolt://HOST:PORT.") from None
    if where.managed:
        MANAGED[opened] = where.managed
    return opened


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


def explain_failure(error: DriverError, *, managed: bool) -> str:
    """Return why there is no connection, and what to do about it, in one line."""
    causes = list(_causes(error))
    of_a_member = (one for one in causes[1:] if isinstance(one, DriverError) and "routing" not in str(one))
    shown = next(of_a_member, error) if "routing" in str(error) else error
    reason = " ".join(str(shown).split())
    advice = "check NEO4J_URI and that the server runs, or unset NEO4J_URI to use the managed server"
    untrusted = next((one for one in causes if isinstance(one, SSLCertVerificationError)), None)
    if managed:
        advice = "`e2g db logs` shows why the managed server does not answer"
    elif untrusted:
        reason = f"its certificate is not trusted: {untrusted.verify_message}"
        advice = (
            "let this machine trust its issuer, and use the host that it names; or, if it signs itself on purpose, use "
            "the scheme bolt+ssc:// or neo4j+ssc:// in NEO4J_URI"
        )
    elif any("encrypted connection" in str(one) for one in causes):
        reason = "it does not answer in TLS"
        advice = "if it has no certificate, use the scheme bolt:// or neo4j:// in NEO4J_URI"
    elif any("Bolt handshake" in str(one) for one in causes):
        reason = "it does not answer in Bolt without TLS"
        advice = "if it has a certificate, use the scheme bolt+s:// or neo4j+s:// in NEO4J_URI, else check the port"
    return f"Cannot connect to Neo4j ({reason}): {advice}. Then run the same command again; finished work is kept."


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what has caused it. The driver groups what each server of a cluster has failed with."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                yield from _causes(one)
        error = error.__cause__ or error.__context__
