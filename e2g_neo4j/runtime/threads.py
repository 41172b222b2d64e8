"""Daemon threads, for which the end of the program does not wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from threading import Event, Thread
from typing import Any, TypeVar

T = TypeVar("T")


def beside(call: Callable[[], T]) -> Future[T]:
    """Run a call in a daemon thread and return its future."""
    outcome: Future[T] = Future()

    def work() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    Thread(target=copy_context().run, args=(work,), name="e2g-beside", daemon=True).start()
    return outcome


async def in_thread(call: Callable[..., T], *arguments: Any) -> T:
    """Like `asyncio.to_thread`, for calls that may wait for a slow server. If this is cancelled, neither the end of the
    event loop nor the end of the program waits for the thread.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def set_outcome(error: BaseException | None, result: Any = None) -> None:
        if outcome.done():  # cancelled meanwhile
            return
        if error is None:
            outcome.set_result(result)
        else:
            outcome.set_exception(error)

    def work() -> None:
        error_and_result: tuple[Any, ...]
        try:
            error_and_result = (None, call(*arguments))
        except BaseException as error:
            error_and_result = (error,)
        with suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(set_outcome, *error_and_result)

    Thread(target=copy_context().run, args=(work,), name="e2g-beside-the-loop", daemon=True).start()
    return await outcome


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
