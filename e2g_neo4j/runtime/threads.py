"""Daemon threads, for which the end of the program does not wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from threading import Event, Lock, Thread
from typing import Any, TypeVar

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
    """Run calls in this thread and in daemon threads, and return their results. After an error, no more calls begin."""
    results: dict[int, T] = {}
    left, lock = iter(enumerate(calls)), Lock()
    failed = False

    def work() -> None:
        nonlocal failed
        while True:
            with lock:
                number, call = next(left, (-1, None)) if not failed else (-1, None)
            if call is None:
                return
            try:
                results[number] = call()
            except BaseException:
                failed = True
                raise

    others = [beside(work) for _ in range(min(at_once, len(calls)) - 1)]
    work()
    for one in others:
        one.result()
    return [results[number] for number in range(len(calls))]


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
