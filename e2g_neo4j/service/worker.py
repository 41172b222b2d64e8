"""The worker: takes the tasks of the service, one after the other, and runs them with `AsyncE2G`.

It renews its lease every few seconds and stops at once when another worker has taken the task over. While the database
cannot be reached, it tries again and again. Its log has neither secrets nor texts of documents.
"""

from __future__ import annotations

import asyncio
import logging
import math
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from traceback import extract_tb
from typing import Any, Literal, TypeAlias, TypeVar

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.errors import (
    AccessError,
    BudgetError,
    ConfigurationError,
    DatabaseError,
    E2GError,
    LocalServerError,
    UnreachableError,
)
from e2g_neo4j.graph import keys, task_leases
from e2g_neo4j.indexing.operations import TOKENS
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.service.task_handlers import TASK_HANDLERS, LeaseLost, Run
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.service import LOCAL, TaskLease

logger = logging.getLogger(__name__)

T = TypeVar("T")

POLL_SECONDS = 1.0
RENEW_SECONDS = 3.0
CLEAN_UP_SECONDS = 600.0

LONGEST_WAIT_SECONDS = 30.0
"""How long to wait at most before trying a database again that cannot be reached."""

STOP_SECONDS = 15.0
"""How long a task gets to stop when it is cancelled."""

AWAY = (UnreachableError, AccessError, LocalServerError)
"""Errors that say nothing about a task: its lease expires, and it is tried again."""

Reason: TypeAlias = Literal["cancel", "lost", "spent", "stop"]
"""Why a task is stopped: it was cancelled, another worker has it, its key may use no more tokens today, or this worker
is stopped."""


async def main(settings: Settings | None = None, *, stop_with_stdin: bool = False) -> None:
    """Run a worker until SIGTERM or SIGINT. The second signal ends the process at once.

    With `stop_with_stdin`, it also stops when standard input ends, so that it does not outlive the process that started
    it.
    """
    async with AsyncE2G(settings=settings) as client:
        worker = Worker(client)
        loop = asyncio.get_running_loop()

        def stop() -> None:
            for one in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(one)
            worker.stopping.set()

        for one in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(one, stop)
        if stop_with_stdin:
            Thread(target=lambda: (sys.stdin.read(), loop.call_soon_threadsafe(stop)), daemon=True).start()
        await worker.run()


@dataclass(slots=True)
class _Progress:
    """What a task does now, as told by its threads."""

    earlier_tokens: int
    stage: str | None = None
    done: int = 0
    total: int = 0
    tokens: int = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage == TOKENS:
            self.tokens = max(self.tokens, self.earlier_tokens + done)
        else:
            self.stage, self.done, self.total = stage, done, total


class Worker:
    """Runs tasks until `stopping` is set. The client is not closed here."""

    def __init__(self, client: AsyncE2G) -> None:
        self.stopping = asyncio.Event()
        self._client = client

    async def run(self) -> None:
        """Take tasks and run them. Stopped, the running task is put back into the queue. Raises ConfigurationError if
        a setting cannot be used."""
        await self._until_it_works(lambda: self._client.migrate(["service"]))
        logger.info("The worker waits for tasks.")
        cleaned_up = -CLEAN_UP_SECONDS
        while not self.stopping.is_set():
            if time.monotonic() - cleaned_up >= CLEAN_UP_SECONDS:
                await self._until_it_works(lambda: self._execute(task_leases.clean_up()))
                cleaned_up = time.monotonic()
            lease = await self._until_it_works(lambda: self._execute(task_leases.take_task()))
            if lease is None:
                await self._sleep(POLL_SECONDS)
            else:
                await self._run(lease)
        logger.info("The worker has stopped.")

    async def _run(self, lease: TaskLease) -> None:
        name = f"Task {lease.task.id} ({lease.task.kind}, corpus {lease.task.corpus!r})"
        logger.info("%s: attempt %d.", name, lease.task.attempt)
        progress = _Progress(lease.task.tokens, tokens=lease.task.tokens)
        with tempfile.TemporaryDirectory(prefix="e2g-task-", ignore_cleanup_errors=True) as folder:
            run = Run(self._client, lease, Path(folder).resolve(), progress)
            job = asyncio.create_task(TASK_HANDLERS[lease.task.kind](run))
            reason = await self._watch(job, lease, progress)
        ending = self._choose_ending(job, reason, run, progress, name)
        if ending is not None:
            held = await self._until_it_works(lambda: self._execute(ending()), task_leases.LEASE_SECONDS)
            if held is False:
                logger.warning("%s: another worker has taken it over.", name)
            elif held and reason != "stop" and progress.tokens > 0:
                await self._count_tokens(run, progress)

    async def _watch(self, job: asyncio.Task[Any], lease: TaskLease, progress: _Progress) -> Reason | None:
        """Wait for a task, while its lease is renewed. If it is to stop, stop it, and return why."""
        keeping = asyncio.create_task(self._keep(lease, progress))
        stopping = asyncio.create_task(self.stopping.wait())
        await asyncio.wait([job, keeping, stopping], return_when=asyncio.FIRST_COMPLETED)
        reason: Reason | None = None
        if not job.done():
            reason = keeping.result() if keeping.done() else "stop"
            job.cancel()
            await asyncio.wait([job], timeout=STOP_SECONDS)
        for one in (keeping, stopping):
            one.cancel()
        await asyncio.gather(keeping, stopping, return_exceptions=True)
        return reason

    async def _keep(self, lease: TaskLease, progress: _Progress) -> Reason:
        """Renew a lease until the task is to stop, and return why."""
        renewed = time.monotonic()
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            began = time.monotonic()
            now = (progress.stage, progress.done, progress.total, progress.tokens)
            with suppress(E2GError, TimeoutError):
                held = await asyncio.wait_for(self._execute(task_leases.renew(lease, *now)), task_leases.LEASE_SECONDS)
                if held is None:
                    return "lost"
                if held != "go on":
                    return held
                renewed = began
            if time.monotonic() - renewed > task_leases.LEASE_SECONDS:
                return "lost"

    def _choose_ending(
        self, job: asyncio.Task[dict[str, Any]], reason: Reason | None, run: Run, progress: _Progress, name: str
    ) -> Callable[[], Operation[bool]] | None:
        """Return the operation that records how a task ended, or None if its lease is left to expire."""
        lease, tokens = run.lease, progress.tokens
        if reason == "lost":
            logger.warning("%s: the lease was lost.", name)
            return None
        if reason == "spent" and (not job.done() or job.cancelled()):
            logger.warning("%s: failed, its key may use no more tokens today.", name)
            return lambda: task_leases.fail(lease, *task_leases.SPENT, tokens=tokens)
        if not job.done() or job.cancelled():
            logger.info("%s: %s.", name, "cancelled" if reason == "cancel" else "put back into the queue")
            return lambda: (
                task_leases.end_cancelled(lease, tokens=tokens)
                if reason == "cancel"
                else task_leases.put_back(lease, tokens=tokens)
            )
        error = job.exception()
        if error is None:
            logger.info("%s: succeeded.", name)
            return lambda: task_leases.finish(
                lease,
                job.result(),
                tokens=tokens,
                prompt_tokens=run.prompt_tokens,
                completion_tokens=run.completion_tokens,
                cost=run.cost,
            )
        if isinstance(error, (*AWAY, LeaseLost)):
            logger.warning("%s: %s; it is tried again.", name, type(error).__name__)
            return None
        code, detail = describe_error(error)
        if isinstance(error, BudgetError) and run.limited_by_key:
            code, detail = task_leases.SPENT
        logger.warning("%s: failed (%s).", name, code)
        return lambda: task_leases.fail(lease, code, detail, tokens=tokens)

    async def _count_tokens(self, run: Run, progress: _Progress) -> None:
        """Add what the task cost to the usage of its key."""
        if run.lease.task.key != LOCAL.key:
            used = {
                "completion_tokens": run.completion_tokens,
                "prompt_tokens": progress.tokens - run.completion_tokens,
            }
            with suppress(DatabaseError):
                await self._execute(keys.add_usage([{"key": run.lease.task.key, **used}]))

    async def _until_it_works(self, call: Callable[[], Any], most: float = math.inf) -> Any:
        """Call until the database answers, and return the result. Returns None if the worker is stopped, or after so
        many seconds."""
        began, seconds = time.monotonic(), POLL_SECONDS
        while True:
            try:
                return await call()
            except ConfigurationError:
                raise
            except Exception as error:
                logger.warning("The database failed (%s). Next try in %.0f s.", describe_error(error)[1], seconds)
            await self._sleep(seconds)
            if self.stopping.is_set() or time.monotonic() - began > most:
                return None
            seconds = min(2 * seconds, LONGEST_WAIT_SECONDS)

    async def _sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), seconds)

    async def _execute(self, operation: Operation[T]) -> T:
        return await self._client.runner.ask(operation)


def describe_error(error: BaseException) -> tuple[str, str]:
    """Return code and detail of an error, for the client. What is not ours may contain anything, and is only named."""
    if isinstance(error, E2GError):
        return error.code(), str(error)
    frames = ", ".join(f"{Path(one.filename).name}:{one.lineno}" for one in extract_tb(error.__traceback__)[-5:])
    logger.error("Unexpected %s at %s.", type(error).__name__, frames)
    return "internal", f"The worker failed unexpectedly ({type(error).__name__}). Its log says where."
