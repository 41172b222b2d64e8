"""Daemon threads, for which the end of the program does not wait, what several threads compute once, and how many cores
there are."""

from __future__ import annotations

import asyncio
import math
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from functools import cache, cached_property, partial
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")


def beside(call: Callable[[], T]) -> Future[T]:
    """Run a call in a daemon thread and return its future."""
    outcome: Future[T] = Future()
    outcome.set_running_or_notify_cancel()  # so that nobody can cancel it

    def work() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    Thread(target=copy_context().run, args=(work,), name="e2g-beside", daemon=True).start()
    return outcome


def each_beside(calls: Sequence[Callable[[], T]], at_once: int) -> list[T]:
    """Run calls in daemon threads, and return their results. After an error no more calls begin, and the first in the
    order of the calls is raised; nor do they if this is interrupted."""
    outcomes = [(call, Future[T]()) for call in calls]
    left, lock, over = iter(outcomes), Lock(), Event()

    def work() -> None:
        while True:
            with lock:  # so that those before one that fails have begun, and will end
                following = None if over.is_set() else next(left, None)
            if following is None:
                return
            call, outcome = following
            try:
                outcome.set_result(call())
            except BaseException as error:
                over.set()
                outcome.set_exception(error)

    try:
        for _ in range(min(at_once, len(calls))):
            beside(work)
        return [outcome.result() for _, outcome in outcomes]
    finally:
        over.set()


async def each_task(calls: Sequence[Callable[[], Awaitable[T]]], at_once: int) -> list[T]:
    """Like `each_beside`, in tasks, which are cancelled with this, and by an error."""
    turns, over = asyncio.Semaphore(at_once), Event()

    async def run(call: Callable[[], Awaitable[T]]) -> T:
        async with turns:
            if over.is_set():
                raise asyncio.CancelledError
            try:
                return await call()
            except BaseException:
                over.set()
                raise

    tasks = [asyncio.ensure_future(run(call)) for call in calls]
    try:
        return [await task for task in tasks]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def in_thread(call: Callable[..., T], *arguments: Any) -> T:
    """Like `asyncio.to_thread`, for calls that may wait for a slow server. If this is cancelled, neither the end of the
    event loop nor the end of the program waits for the thread.
    """
    return await asyncio.wrap_future(beside(partial(call, *arguments)))


async def in_stoppable_thread(call: Callable[[Callable[[], None]], T]) -> T:
    """Like `in_thread`, for a call that takes a function `check` and calls it again and again. It raises CancelledError
    in the thread as soon as this is cancelled.
    """
    cancelled = Event()

    def check() -> None:
        if cancelled.is_set():
            raise asyncio.CancelledError

    try:
        return await in_thread(call, check)
    finally:
        cancelled.set()


class once(cached_property[T]):  # noqa: N801 (used like `cached_property`)
    """A `cached_property` that is computed under the lock `_loading` of its object, an RLock.

    In Python 3.11, `cached_property` has a lock for all objects too, with which two objects could wait for each other.
    """

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            if instance is None:
                return self
            with instance._loading:
                if self.attrname not in instance.__dict__:
                    instance.__dict__[self.attrname] = self.func(instance)
                return instance.__dict__[self.attrname]


CGROUP = Path("/sys/fs/cgroup")
"""The limits of a container."""


@cache
def cores() -> int:
    """Return the number of cores: those that this process may run on, and at most the CPU limit of its container."""
    there = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, math.ceil(min(there, _limit(CGROUP))))


def _limit(folder: Path) -> float:
    """Return the CPU limit in a cgroup folder, version 2 or 1, in cores; infinity if there is none."""
    try:
        quota, period = (folder / "cpu.max").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        try:
            v1 = [(folder / "cpu" / f"cpu.cfs_{name}_us").read_text(encoding="ascii") for name in ("quota", "period")]
            quota, period = v1
        except OSError:
            return math.inf
    return int(quota) / int(period) if quota.strip().isdigit() else math.inf
