"""Tell what a call waits for, as records of the logger `e2g_neo4j.waiting`, which the command line shows."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

logger = logging.getLogger("e2g_neo4j.waiting")


@contextmanager
def report_waiting(what: str) -> Iterator[Callable[[int, int], None]]:
    """Log what happens within this, such as "Starting Neo4j", and how long it took. Yields a function for progress, to
    be called with (done, total).

    The attribute `waits` of a record identifies the wait, `over` tells whether it has ended.
    """
    began = time.monotonic()
    extra = {"waits": began, "over": False}

    def report(done: int, total: int) -> None:
        logger.info("%s (%d of %d)", what, done, total, extra=extra)

    logger.info("%s", what, extra=extra)
    try:
        yield report
    finally:
        logger.info("%s took %.1f s", what, time.monotonic() - began, extra={**extra, "over": True})
