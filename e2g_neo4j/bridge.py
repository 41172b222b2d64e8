"""An async driver for code that was written for a sync one and runs in a thread beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from neo4j import AsyncDriver, AsyncManagedTransaction, AsyncSession, AsyncTransaction

T = TypeVar("T")


class Bridged:
    """What `e2g_neo4j.migrate` and exports call of a driver, done on the event loop that the async driver belongs to.

    To be called from another thread than the loop's, which would wait for itself.
    """

    def __init__(self, driver: AsyncDriver, loop: asyncio.AbstractEventLoop) -> None:
        self._driver = driver
        self._loop = loop

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
    def __init__(self, session: AsyncSession, bridge: Bridged) -> None:
        self._session, self._bridge = session, bridge

    def execute_write(self, work: Callable[[Any], T]) -> T:
        async def beside(transaction: AsyncManagedTransaction) -> T:
            return await asyncio.to_thread(work, _Transaction(transaction, self._bridge))

        return self._bridge.wait(self._session.execute_write(beside))

    @contextmanager
    def begin_transaction(self) -> Iterator[_Transaction]:
        transaction = self._bridge.wait(self._session.begin_transaction())
        try:
            yield _Transaction(transaction, self._bridge)
        finally:
            self._bridge.wait(transaction.close())


class _Transaction:
    def __init__(self, transaction: AsyncManagedTransaction | AsyncTransaction, bridge: Bridged) -> None:
        self._transaction, self._bridge = transaction, bridge

    def run(self, *arguments: Any) -> _Result:
        return _Result(self._bridge.wait(self._transaction.run(*arguments)), self._bridge)


class _Result:
    def __init__(self, result: Any, bridge: Bridged) -> None:
        self._result, self._bridge = result, bridge

    def consume(self) -> Any:
        return self._bridge.wait(self._result.consume())

    def fetch(self, rows: int) -> Any:
        return self._bridge.wait(self._result.fetch(rows))
