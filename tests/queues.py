"""The queue of the service and the graph that its tasks leave, seen from outside."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

import crashes
from graphs import snapshot
from libraries import driven, performing
from neo4j import Driver

from e2g_neo4j import Settings
from e2g_neo4j.graph import tasks
from e2g_neo4j.graph.tasks import Upload
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.service import TaskInfo, TaskKind

T = TypeVar("T")


class Queue:
    """The queue, seen from outside."""

    def __init__(self, driver: Driver, settings: Settings) -> None:
        self.driver, self.settings = driver, settings

    def run(self, operation: Operation[T]) -> T:
        return driven(performing(self.driver), operation)

    def create(
        self,
        kind: TaskKind,
        corpus: str,
        *files: tuple[str, bytes] | tuple[str, bytes, str],
        key: str = "local",
        **parameters: Any,
    ) -> str:
        task = tasks.new_id()
        uploads = [
            Upload(number, file[0], [file[1]], file[2] if len(file) == 3 else None) for number, file in enumerate(files)
        ]
        parts = self.run(tasks.add_blobs(task, uploads))
        return self.run(tasks.create(task, kind, corpus, key, parameters, parts=parts)).id

    def get(self, task: str) -> TaskInfo:
        found = self.run(tasks.get(task))
        assert found is not None
        return found

    def work(self) -> None:
        asyncio.run(crashes.work(self.settings))

    def done(self, kind: TaskKind, corpus: str, *files: Any, **parameters: Any) -> TaskInfo:
        """A task that a worker has run."""
        task = self.create(kind, corpus, *files, **parameters)
        self.work()
        return self.get(task)

    def result(self, kind: TaskKind, corpus: str, *files: Any, **parameters: Any) -> dict[str, Any]:
        """What a task that succeeded has returned."""
        task = self.done(kind, corpus, *files, **parameters)
        assert (task.state, task.error) == ("succeeded", None)
        assert task.result is not None
        return task.result

    def failure(self, kind: TaskKind, corpus: str, *files: Any, **parameters: Any) -> tuple[str, str]:
        """The code and the message with which a task failed."""
        task = self.done(kind, corpus, *files, **parameters)
        assert (task.state, task.result) == ("failed", None)
        assert task.error is not None
        return task.error["code"], task.error["detail"]

    def expire(self) -> None:
        """The time of a killed worker is over."""
        self.driver.execute_query("MATCH (r:E2GRun) SET r.expires = 0")
        self.driver.execute_query("MATCH (t:E2GTask {state: 'running'}) SET t.expires = 0")

    def blobs(self) -> int:
        return int(self.driver.execute_query("MATCH (b:E2GBlob|E2GTaskStep) RETURN count(b) AS n").records[0]["n"])


def graph(driver: Driver, corpus: str) -> Any:
    """The corpus, without the leases of runs that were killed."""
    nodes, relationships = snapshot(driver, corpus)
    return {key: held for key, held in nodes.items() if key[0] != "E2GRun"}, relationships
