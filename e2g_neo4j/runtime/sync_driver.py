"""Use an async driver from synchronous code that runs in another thread than the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from neo4j import AsyncDriver, AsyncManagedTransaction, AsyncSession, AsyncTransaction
from neo4j.api import AsyncBookmarkManager

from e2g_neo4j.runtime.drivers import MANAGED

T = TypeVar("T")


class SyncDriver:
    """A sync driver for migrations, exports and statements of users. Its calls run on the async driver's event loop.

    Do not call it from the thread of the event loop, which would deadlock.
    """

    def __init__(self, driver: AsyncDriver, loop: asyncio.AbstractEventLoop) -> None:
        self._driver = driver
        self._loop = loop
        if driver in MANAGED:
            MANAGED[self] = MANAGED[driver]

    @property
    def execute_query_bookmark_manager(self) -> AsyncBookmarkManager:
        return self._driver.execute_query_bookmark_manager

    def wait(self, call: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    def verify_connectivity(self) -> None:
        self.wait(self._driver.verify_connectivity())

    def get_server_info(self) -> Any:
        return self.wait(self._driver.get_server_info())

    def execute_query(self, *arguments: Any, **options: Any) -> Any:
        return self.wait(self._driver.execute_query(*arguments, **options))

    @contextmanager
    def session(self, **options: Any) -> Iterator[_Session]:
        session = self._driver.session(**options)
        try:
            yield _Session(session, self)
        finally:
            self.wait(session.close())


class _Session:
    def __init__(self, session: AsyncSession, driver: SyncDriver) -> None:
        self._session, self._driver = session, driver

    def execute_write(self, work: Callable[[Any], T]) -> T:
        async def work_in_thread(transaction: AsyncManagedTransaction) -> T:
            return await asyncio.to_thread(work, _Transaction(transaction, self._driver))

        return self._driver.wait(self._session.execute_write(work_in_thread))

    @contextmanager
    def begin_transaction(self, **options: Any) -> Iterator[_Transaction]:
        transaction = self._driver.wait(self._session.begin_transaction(**options))
        try:
            yield _Transaction(transaction, self._driver)
        finally:
            self._driver.wait(transaction.close())


class _Transaction:
    def __init__(self, transaction: AsyncManagedTransaction | AsyncTransaction, driver: SyncDriver) -> None:
        self._transaction, self._driver = transaction, driver

    def run(self, *arguments: Any) -> _Result:
        return _Result(self._driver.wait(self._transaction.run(*arguments)), self._driver)


class _Result:
    def __init__(self, result: Any, driver: SyncDriver) -> None:
        self._result, self._driver = result, driver

    def consume(self) -> Any:
        return self._driver.wait(self._result.consume())

    def keys(self) -> Any:
        return self._result.keys()

    def fetch(self, rows: int) -> Any:
        return self._driver.wait(self._result.fetch(rows))
