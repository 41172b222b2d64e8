"""Run reads and writes, and translate the errors of Neo4j."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from neo4j import (
    READ_ACCESS,
    AsyncDriver,
    AsyncManagedTransaction,
    Bookmarks,
    Driver,
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

from e2g_neo4j.errors import (
    AccessError,
    DatabaseError,
    E2GError,
    InputError,
    UnreachableError,
)
from e2g_neo4j.runtime.bookmarks import LONGEST_BOOKMARK, as_text
from e2g_neo4j.runtime.cypher import Variant, load, variant_for
from e2g_neo4j.runtime.drivers import MANAGED, RETRY_SECONDS, explain_failure
from e2g_neo4j.runtime.requests import Read, Rows, Write

READ_SECONDS = 30.0
"""Timeout of reads, enforced by the server."""

FIRST_WAIT, LONGEST_WAIT = 0.2, 8.0
"""Seconds between two attempts of a read. They double each time, and up to a fifth is added at random."""

SEARCH_SINCE = (2026, 1)
"""The first version with the SEARCH clause and filters in vector indexes. Older servers get the fragments
of statements in `cypher/fragments/lts/` and `filtered/`, and the schema in `migrations/5.26/`."""

LTS = (5, 26)
"""The oldest version that is supported, and the only one before 2026.01 that is tested."""

ROWS_AT_ONCE = 1000
"""Rows of a long result that are fetched at once."""

_old: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
"""For each driver, whether its server is older than SEARCH_SINCE."""


def version(agent: str) -> tuple[int, int]:
    """Return year and month, or major and minor number, of a version such as `Neo4j/2026.09.0` or `5.26.31`."""
    found = re.search(r"(\d+)\.(\d+)", agent)
    return (int(found[1]), int(found[2])) if found else SEARCH_SINCE


def is_old(driver: Driver) -> bool:
    """Return whether the server is older than SEARCH_SINCE. It is asked once per driver, without a statement:
    every request comes here first.

    Raises:
        DatabaseError: It is older than `LTS`, and could not run the statements.
    """
    if driver not in _old:
        with translate_errors(driver):
            _old[driver] = _check_version(driver.get_server_info().agent) < SEARCH_SINCE
    return _old[driver]


async def is_old_async(driver: AsyncDriver) -> bool:
    """Like `is_old`, as a coroutine."""
    if driver not in _old:
        with translate_errors(driver):
            _old[driver] = _check_version((await driver.get_server_info()).agent) < SEARCH_SINCE
    return _old[driver]


def _check_version(agent: str) -> tuple[int, int]:
    if version(agent) < LTS:
        raise DatabaseError(
            f"The server is {agent.replace('/', ' ')}, which is too old: use Neo4j 5.26 LTS, or 2026.01 or later."
        )
    return version(agent)


def session_options(driver: Driver | AsyncDriver, database: str) -> dict[str, Any]:
    """Return the options of every session. All sessions of a driver share its bookmark manager, as `execute_query`
    does. So each sees what the others have written, on any server of a cluster."""
    return {"database": database, "bookmark_manager": driver.execute_query_bookmark_manager}


def read(driver: Driver, database: str, request: Read, bookmarks: Bookmarks | None = None) -> Rows:
    """Run a read in one round trip and return its rows. Retries transient failures. The server rejects writes in it.

    Args:
        bookmarks: What the server must have seen, besides the writes of this driver.
    """
    with translate_errors(driver):
        text = load(request.statement, variant_for(request.parameters, is_old(driver)), request.vectors)
        query = Query(text, timeout=READ_SECONDS)
        options = {**session_options(driver, database), "default_access_mode": READ_ACCESS, "bookmarks": bookmarks}
        attempts, deadline = 0, time.monotonic() + RETRY_SECONDS
        while True:
            try:
                with driver.session(**options) as session:
                    return _rows(session.run(query, request.parameters))
            except (Neo4jError, DriverError) as error:
                attempts += 1
                seconds = _seconds_to_wait(error, attempts, deadline)
            time.sleep(seconds)


def _seconds_to_wait(error: Neo4jError | DriverError, attempts: int, deadline: float) -> float:
    """Return how long to wait before the next attempt of a read. Raise the error if it is permanent, or it is too late.

    Managed transactions of the driver are retried in the same way, but take three round trips instead of one.
    """
    wait = min(FIRST_WAIT * 2.0 ** (attempts - 1), LONGEST_WAIT)
    if not error.is_retryable() or time.monotonic() + wait > deadline:
        raise error
    return wait * random.uniform(1, 1.2)  # noqa: S311 (so that clients that failed together do not come back together)


def wait_for(driver: Driver, database: str, bookmarks: Bookmarks) -> None:
    """Wait until the server has seen bookmarks, and let all later sessions of the driver wait for them."""
    manager = driver.execute_query_bookmark_manager
    if bookmarks.raw_values.issubset(manager.get_bookmarks()):
        return
    read(driver, database, Read("query/ping", {}), bookmarks)  # if this fails, the manager does not get them
    known = manager.get_bookmarks()
    if len(as_text(known)) > LONGEST_BOOKMARK:
        # A bookmark may name other databases. Neo4j keeps those it does not know, so that they add up. Sessions that
        # write go to the leader, which has seen every write: its bookmark replaces all others.
        with translate_errors(driver), driver.session(database=database) as session:
            session.run(load("query/ping")).consume()
            manager.update_bookmarks(known, session.last_bookmarks().raw_values)


def write(driver: Driver, database: str, request: Write) -> Rows:
    """Run the statements in one transaction, which the driver retries, and return the rows of the condition."""

    def work(transaction: ManagedTransaction) -> Rows:
        rows: Rows = []
        if request.condition:
            statement, parameters = request.condition
            rows = _rows(transaction.run(load(statement, Variant.SEARCH, request.vectors), parameters))
            if not rows:
                return rows
        for statement, parameters in request.statements:
            transaction.run(load(statement, Variant.SEARCH, request.vectors), parameters).consume()
        return rows

    is_old(driver)
    with translate_errors(driver), driver.session(**session_options(driver, database)) as session:
        return session.execute_write(work)


def _rows(records: Iterable[Record]) -> Rows:
    """Convert records to dicts. Unlike `Record.data`, this does not traverse the values: no statement returns nodes."""
    return [dict(zip(record.keys(), record.values(), strict=True)) for record in records]


@contextmanager
def lock_corpus(driver: Driver, database: str, corpus: str) -> Iterator[Callable[..., Iterator[dict[str, Any]]]]:
    """Lock a corpus against writers for the length of one transaction.

    Yields:
        A function that runs a statement by name, with $corpus as its only parameter, and iterates over its rows; a
        second argument is the suffix of the vectors that it uses. Run one statement at a time.
    """
    parameters = {"corpus": corpus}
    with (
        translate_errors(driver),
        driver.session(**session_options(driver, database), fetch_size=ROWS_AT_ONCE) as session,
        session.begin_transaction() as transaction,
    ):
        transaction.run(load("index/lock_corpus"), parameters).consume()

        def rows(statement: str, vectors: str = "") -> Iterator[dict[str, Any]]:
            result = transaction.run(load(statement, vectors=vectors), parameters)
            while batch := result.fetch(ROWS_AT_ONCE):
                yield from _rows(batch)

        yield rows


async def read_async(driver: AsyncDriver, database: str, request: Read, bookmarks: Bookmarks | None = None) -> Rows:
    """Like `read`, as a coroutine."""
    with translate_errors(driver):
        text = load(request.statement, variant_for(request.parameters, await is_old_async(driver)), request.vectors)
        query = Query(text, timeout=READ_SECONDS)
        options = {**session_options(driver, database), "default_access_mode": READ_ACCESS, "bookmarks": bookmarks}
        attempts, deadline = 0, time.monotonic() + RETRY_SECONDS
        while True:
            try:
                async with driver.session(**options) as session:
                    result = await session.run(query, request.parameters)
                    return _rows([record async for record in result])
            except (Neo4jError, DriverError) as error:
                attempts += 1
                seconds = _seconds_to_wait(error, attempts, deadline)
            await asyncio.sleep(seconds)


async def wait_for_async(driver: AsyncDriver, database: str, bookmarks: Bookmarks) -> None:
    """Like `wait_for`, as a coroutine."""
    manager = driver.execute_query_bookmark_manager
    if bookmarks.raw_values.issubset(await manager.get_bookmarks()):
        return
    await read_async(driver, database, Read("query/ping", {}), bookmarks)
    known = await manager.get_bookmarks()
    if len(as_text(known)) > LONGEST_BOOKMARK:
        with translate_errors(driver):
            async with driver.session(database=database) as session:
                result = await session.run(load("query/ping"))
                await result.consume()
                await manager.update_bookmarks(known, (await session.last_bookmarks()).raw_values)


async def write_async(driver: AsyncDriver, database: str, request: Write) -> Rows:
    """Like `write`, as a coroutine."""

    async def work(transaction: AsyncManagedTransaction) -> Rows:
        rows: Rows = []
        if request.condition:
            statement, parameters = request.condition
            result = await transaction.run(load(statement, Variant.SEARCH, request.vectors), parameters)
            rows = _rows([record async for record in result])
            if not rows:
                return rows
        for statement, parameters in request.statements:
            result = await transaction.run(load(statement, Variant.SEARCH, request.vectors), parameters)
            await result.consume()
        return rows

    await is_old_async(driver)
    with translate_errors(driver):
        async with driver.session(**session_options(driver, database)) as session:
            return await session.execute_write(work)


@contextmanager
def translate_errors(driver: object = None) -> Iterator[None]:
    """Translate errors of a driver to `E2GError`s, whose advice depends on whose server it is."""
    try:
        yield
    except E2GError:
        raise
    except UnicodeEncodeError as error:
        raise InputError(
            f"Neo4j stores only valid Unicode: character {error.start} of {error.object[:60]!a} is an unpaired "
            "surrogate. Correct it."
        ) from error
    except AuthError as error:
        raise AccessError("Neo4j rejected the user name or password: set NEO4J_USERNAME and NEO4J_PASSWORD.") from error
    except Forbidden as error:
        raise AccessError(f"This Neo4j user lacks a privilege ({error.message}): use a user that has it.") from error
    except (ServiceUnavailable, SessionExpired) as error:
        raise UnreachableError(explain_failure(error, managed=driver in MANAGED)) from error
    except ClientError as error:
        if (error.code or "").endswith("AuthenticationRateLimit"):
            raise AccessError(
                "Neo4j has locked this user for some seconds after wrong passwords: wait, and set NEO4J_USERNAME and "
                "NEO4J_PASSWORD."
            ) from error
        if "InvalidBookmark" in (error.code or ""):
            raise InputError(
                f"Neo4j rejected the bookmark ({error.message}): pass one that a client of this database returned."
            ) from error
        raise DatabaseError(_client_error_message(error)) from error
    except (Neo4jError, DriverError) as error:
        if isinstance(error, Neo4jError) and "OutOfMemory" in (error.code or ""):
            raise DatabaseError(_memory_message(error.message or "", managed=driver in MANAGED)) from error
        if isinstance(error, Neo4jError) and "BookmarkTimeout" in (error.code or ""):
            raise DatabaseError(
                f"The server has not seen an earlier write in time ({error.message}): try again. If the database was "
                "restored from a backup, restart this program and discard its bookmarks."
            ) from error
        managed = MANAGED.get(driver) if driver else None
        if any(sign in str(error) for sign in ("TransactionLogError", "needs to be restarted", "No space left")):
            if managed:
                managed.end_broken()
            raise DatabaseError(
                "Neo4j cannot write, most likely because its disk is full: free up space"
                f"{'; it is started again by itself' if managed else ', then restart the database'} ({error})."
            ) from error
        raise DatabaseError(f"Neo4j failed: {error}. Try again; `e2g db logs` shows more.") from error


def _memory_message(message: str, *, managed: bool) -> str:
    limit = re.search(r"\b(?:db|dbms|server)\.memory\.[\w.]*\w", message)
    advice = f"increase {limit[0] if limit else 'server.memory.heap.max_size'} of your server"
    if managed:
        advice = "increase E2G_DB_HEAP_MB and restart the managed server"
    advice += ". Then run the same command again; finished work is kept."
    return f"Neo4j ran out of memory in a transaction ({message}): {advice}"


def _client_error_message(error: ClientError) -> str:
    code = error.code or ""
    if code.endswith("DatabaseNotFound"):
        return f"{error.message} Set NEO4J_DATABASE to a database that exists."
    if missing := re.search(r"no such [\w-]+ schema index: (\w+)", error.message or ""):
        return f"The database has no index {missing[1]}: run `e2g doctor --migrate`."
    if "AccessMode" in code or "ReadOnly" in code or "ForbiddenOnReadOnlyDatabase" in code:
        return f"This database is read-only ({error.message}): use a writable database."
    if "TransactionTimedOut" in code:
        return f"Neo4j stopped the query after {READ_SECONDS:.0f} s: ask a narrower question, or use fewer hops."
    return f"Neo4j rejected the request: {error.message} [{code}]"
