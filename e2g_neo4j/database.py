"""How requests reach Neo4j: the driver, reads and writes, and what Neo4j's errors mean to a user."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from neo4j import (
    READ_ACCESS,
    AsyncDriver,
    AsyncGraphDatabase,
    AsyncManagedTransaction,
    Driver,
    GraphDatabase,
    ManagedTransaction,
    Query,
    Record,
)
from neo4j.exceptions import (
    AuthError,
    ClientError,
    DriverError,
    Forbidden,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)
from neo4j.exceptions import (
    ConfigurationError as DriverConfigurationError,
)

from e2g_neo4j.errors import (
    AccessError,
    ConfigurationError,
    DatabaseError,
    E2GError,
    InputError,
    UnreachableError,
)
from e2g_neo4j.local import LocalServer
from e2g_neo4j.queries import Read, Rows, Write, for_server, load
from e2g_neo4j.settings import Settings

READ_SECONDS = 30.0
"""A read that takes longer is ended by the server."""

SEARCH_SINCE = (2026, 1)
"""The first version with the SEARCH clause, and filters in vector indexes. Those before are spoken to in the statements
of `cypher/lts/`."""

ROWS_AT_ONCE = 1000
"""Rows of a long result that are held at once."""

D = TypeVar("D", Driver, AsyncDriver)


Address: TypeAlias = tuple[str, tuple[str, str]]
"""URI, and user name with password."""


def address(settings: Settings) -> Address:
    """Where Neo4j is: as configured, or else the managed server, started when it is not running."""
    if settings.neo4j_uri:
        password = settings.neo4j_password.get_secret_value() if settings.neo4j_password else ""
        return settings.neo4j_uri, (settings.neo4j_username, password)
    connection = LocalServer(settings).start()
    return connection.uri, (connection.username, connection.password.get_secret_value())


def open_driver(where: Address) -> Driver:
    return _opened(GraphDatabase.driver, where)


def open_async_driver(where: Address) -> AsyncDriver:
    return _opened(AsyncGraphDatabase.driver, where)


def _opened(driver: Callable[..., D], where: Address) -> D:
    uri, auth = where
    try:
        return driver(
            uri,
            auth=auth,
            connection_timeout=10.0,
            connection_acquisition_timeout=30.0,
            max_transaction_retry_time=30.0,
            notifications_min_severity="OFF",
            user_agent="e2g-neo4j",
        )
    except (DriverConfigurationError, ValueError) as error:
        raise ConfigurationError(f"NEO4J_URI {uri!r} cannot be used ({error}): write bolt://HOST:PORT.") from error


_old: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
"""Of each driver in use, whether its server is older than SEARCH."""


def version(agent: str) -> tuple[int, int]:
    """Year and month, or major and minor number, of a server's version, such as `Neo4j/2026.08.1` or `5.26.30`."""
    found = re.search(r"(\d+)\.(\d+)", agent)
    return (int(found[1]), int(found[2])) if found else SEARCH_SINCE


def is_old(driver: Driver) -> bool:
    """Whether the server is older than SEARCH: asked once for each driver, without a statement."""
    if driver not in _old:
        _old[driver] = version(driver.get_server_info().agent) < SEARCH_SINCE
    return _old[driver]


async def is_old_async(driver: AsyncDriver) -> bool:
    """As `is_old`."""
    if driver not in _old:
        _old[driver] = version((await driver.get_server_info()).agent) < SEARCH_SINCE
    return _old[driver]


def read(driver: Driver, database: str, request: Read) -> Rows:
    """The rows of one read, in one round trip. The server refuses writes on it."""
    with translated(), driver.session(database=database, default_access_mode=READ_ACCESS) as session:
        statement = load(for_server(request.statement, is_old(driver)))
        return _rows(session.run(Query(statement, timeout=READ_SECONDS), request.parameters))


def write(driver: Driver, database: str, request: Write) -> Rows:
    """Run the statements in one transaction, which the driver retries when it may. The rows are the condition's."""

    def work(transaction: ManagedTransaction) -> Rows:
        rows: Rows = []
        if request.condition:
            statement, parameters = request.condition
            rows = _rows(transaction.run(load(for_server(statement, old)), parameters))
            if not rows:
                return rows
        for statement, parameters in request.statements:
            transaction.run(load(for_server(statement, old)), parameters).consume()
        return rows

    with translated(), driver.session(database=database) as session:
        old = is_old(driver)
        return session.execute_write(work)


def _rows(records: Iterable[Record]) -> Rows:
    """As `Record.data` gives them, without its walk through every value of every list: no statement returns nodes."""
    return [dict(zip(record.keys(), record.values(), strict=True)) for record in records]


@contextmanager
def locked(driver: Driver, database: str, corpus: str) -> Iterator[Callable[[str], Iterator[dict[str, Any]]]]:
    """One transaction in which a corpus stays as it is: its writers wait. What is given reads: it takes the name of a
    statement that asks for nothing but $corpus, and gives its rows as they come, one statement after the other."""
    parameters = {"corpus": corpus}
    with (
        translated(),
        driver.session(database=database, fetch_size=ROWS_AT_ONCE) as session,
        session.begin_transaction() as transaction,
    ):
        transaction.run(load("index/lock_corpus"), parameters).consume()

        def rows(statement: str) -> Iterator[dict[str, Any]]:
            result = transaction.run(load(statement), parameters)
            while batch := result.fetch(ROWS_AT_ONCE):
                yield from _rows(batch)

        yield rows


async def read_async(driver: AsyncDriver, database: str, request: Read) -> Rows:
    """As `read`."""
    with translated():
        async with driver.session(database=database, default_access_mode=READ_ACCESS) as session:
            statement = load(for_server(request.statement, await is_old_async(driver)))
            result = await session.run(Query(statement, timeout=READ_SECONDS), request.parameters)
            return _rows([record async for record in result])


async def write_async(driver: AsyncDriver, database: str, request: Write) -> Rows:
    """As `write`."""

    async def work(transaction: AsyncManagedTransaction) -> Rows:
        rows: Rows = []
        if request.condition:
            statement, parameters = request.condition
            result = await transaction.run(load(for_server(statement, old)), parameters)
            rows = _rows([record async for record in result])
            if not rows:
                return rows
        for statement, parameters in request.statements:
            result = await transaction.run(load(for_server(statement, old)), parameters)
            await result.consume()
        return rows

    with translated():
        async with driver.session(database=database) as session:
            old = await is_old_async(driver)
            return await session.execute_write(work)


@contextmanager
def translated() -> Iterator[None]:
    """Turn the driver's errors into ours: what happened, and the next step."""
    try:
        yield
    except E2GError:
        raise
    except UnicodeEncodeError as error:
        raise InputError(
            f"Neo4j keeps Unicode only: character {error.start} of {error.object[:60]!a} is half of a surrogate "
            "pair. Correct it first."
        ) from error
    except AuthError as error:
        raise AccessError("Neo4j refused the user name or password: set NEO4J_USERNAME and NEO4J_PASSWORD.") from error
    except Forbidden as error:
        raise AccessError(
            f"Neo4j does not allow this user to do that ({error.message}): use a user with the rights for it."
        ) from error
    except (ServiceUnavailable, SessionExpired) as error:
        raise UnreachableError(
            f"Neo4j cannot be reached ({error}): check NEO4J_URI and that the server runs, or unset NEO4J_URI to use "
            "the managed one. Then run the same command again: what was complete stays."
        ) from error
    except ClientError as error:
        if (error.code or "").endswith("AuthenticationRateLimit"):
            raise AccessError(
                "Neo4j has locked this user out for some seconds, after wrong passwords: wait, and set NEO4J_USERNAME "
                "and NEO4J_PASSWORD."
            ) from error
        raise DatabaseError(_explained(error)) from error
    except (Neo4jError, DriverError) as error:
        if isinstance(error, Neo4jError) and "OutOfMemory" in (error.code or ""):
            raise DatabaseError(
                f"Neo4j's memory does not hold one transaction ({error.message}): raise E2G_DB_HEAP_MB and start the "
                "managed server again, or the heap of your own (server.memory.heap.max_size). Then run the same "
                "command again: what was complete stays."
            ) from error
        raise DatabaseError(f"Neo4j failed: {error}. Try again; `e2g db logs` shows more.") from error


def _explained(error: ClientError) -> str:
    code = error.code or ""
    if code.endswith("DatabaseNotFound"):
        return f"{error.message} Set NEO4J_DATABASE to a database that exists."
    if "AccessMode" in code or "ReadOnly" in code or "ForbiddenOnReadOnlyDatabase" in code:
        return f"This database is read-only ({error.message}): index into one that can be written."
    if "TransactionTimedOut" in code:
        return f"Neo4j ended the query after {READ_SECONDS:.0f} s: ask a narrower question or lower h."
    return f"Neo4j refused the request: {error.message} [{code}]"
