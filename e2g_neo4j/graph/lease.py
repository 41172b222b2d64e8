"""The lease of a run: its claim on the documents that it indexes, which expires soon after the run is killed."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from threading import Event, Thread
from typing import Any, Self
from uuid import uuid4

from e2g_neo4j.errors import DatabaseError
from e2g_neo4j.runtime.requests import Execute, Write

logger = logging.getLogger(__name__)

SECONDS = 30.0
"""How long a lease is valid without renewal. It is renewed after a third of this time."""


class Lease:
    """A context manager for one run of indexing. A thread renews the lease until the end of the block.

    `run` is the id of the run, which its documents store. If a run was suspended for longer than the lease and another
    run has claimed its documents, the condition of its next write fails.
    """

    def __init__(self, execute: Execute, corpus: str) -> None:
        self.run = uuid4().hex
        self._execute = execute
        self._corpus = corpus
        self._ended = Event()
        self._thread = Thread(target=self._renew_until_end, name="e2g-lease", daemon=True)

    def __enter__(self) -> Self:
        self._renew()
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()
        with suppress(DatabaseError):  # if the database cannot be reached, the lease expires
            self._execute(write_locked("index/end_run", self._corpus, run=self.run))

    def record_failure(self, documents: Sequence[str], error: Exception) -> None:
        """Record why documents could not be indexed."""
        try:
            self._execute(fail(self._corpus, documents, error))
        except DatabaseError as refused:
            logger.warning("Why documents of the corpus %r failed could not be recorded: %s", self._corpus, refused)

    def _renew(self) -> None:
        parameters = {"corpus": self._corpus, "run": self.run, "milliseconds": int(1000 * SECONDS)}
        self._execute(Write((("index/renew_run", parameters),)))  # needs no lock

    def _renew_until_end(self) -> None:
        while not self._ended.wait(SECONDS / 3):
            try:
                self._renew()
            except DatabaseError as error:
                logger.warning(
                    "The lease of a run on the corpus %r was not renewed, and expires after %.0f s: %s",
                    self._corpus,
                    SECONDS,
                    error,
                )


def fail(corpus: str, documents: Sequence[str], error: Exception) -> Write:
    """Return a request that records why documents could not be indexed."""
    return write_locked("index/fail_documents", corpus, documents=list(documents), error=str(error))


def write_locked(statement: str, corpus: str, **parameters: Any) -> Write:
    """Return a request that runs a statement under the lock of its corpus."""
    return Write((("index/lock_corpus", {"corpus": corpus}), (statement, {"corpus": corpus, **parameters})))
