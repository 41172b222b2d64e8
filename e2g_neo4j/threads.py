"""Threads beside an event loop that nobody has to wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


async def in_thread(call: Callable[..., T], *arguments: Any) -> T:
    """As `asyncio.to_thread`, for calls that may wait for a slow server: where this is cancelled, neither the end of
    the event loop nor that of the program waits for the thread.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(error: BaseException | None, result: Any = None) -> None:
        if outcome.done():  # cancelled meanwhile
            return
        if error is None:
            outcome.set_result(result)
        else:
            outcome.set_exception(error)

    def work() -> None:
        told: tuple[Any, ...]
        try:
            told = (None, call(*arguments))
        except BaseException as error:
            told = (error,)
        with suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(settle, *told)

    Thread(target=copy_context().run, args=(work,), name="e2g-beside-the-loop", daemon=True).start()
    return await outcome
