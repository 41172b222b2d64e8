"""The lease of a run: documents are its own while it is at work, and anybody's soon after it was killed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from e2g_neo4j.errors import DatabaseError
from e2g_neo4j.queries import Perform, Write

SECONDS = 30.0
"""How long a lease is kept for a run that nothing is heard of. It is renewed three times as often."""


class Lease:
    """What `with` surrounds is one run of indexing into a corpus; a thread renews its lease meanwhile.

    `run` is the id that the run's documents name. A run that was stopped for longer than the lease, and lost documents
    to another one, is told so by the condition of its next write.
    """

    def __init__(self, perform: Perform, corpus: str) -> None:
        self.run = uuid4().hex
        self._perform = perform
        self._corpus = corpus
        self._ended = Event()
        self._keeper = Thread(target=self._keep, name="e2g-lease", daemon=True)

    def __enter__(self) -> Self:
        self._renew()
        self._keeper.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._keeper.join()
        with suppress(DatabaseError):  # where the database is gone, the lease expires
            self._perform(_alone("index/end_run", self._corpus, run=self.run))

    def failed(self, documents: Sequence[str], error: Exception) -> None:
        """Record why documents could not be indexed."""
        with suppress(DatabaseError):
            self._perform(fail(self._corpus, documents, error))

    def _renew(self) -> None:
        parameters = {"corpus": self._corpus, "run": self.run, "milliseconds": int(1000 * SECONDS)}
        self._perform(Write((("index/renew_run", parameters),)))  # waits for no lock

    def _keep(self) -> None:
        while not self._ended.wait(SECONDS / 3):
            with suppress(DatabaseError):  # who does the work will meet the same error, and say so
                self._renew()


def fail(corpus: str, documents: Sequence[str], error: Exception) -> Write:
    """Record why documents could not be indexed."""
    return _alone("index/fail_documents", corpus, documents=list(documents), error=str(error))


def _alone(statement: str, corpus: str, **parameters: Any) -> Write:
    """A statement under the lock of its corpus."""
    return Write((("index/lock_corpus", {"corpus": corpus}), (statement, {"corpus": corpus, **parameters})))
