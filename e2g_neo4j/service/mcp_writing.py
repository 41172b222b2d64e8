"""How the MCP tools change corpora: at once through the client, or by a queue that the HTTP service passes in."""

from __future__ import annotations

import logging
import time
from typing import Protocol
from uuid import uuid4

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.graph import tasks
from e2g_neo4j.service.access import hide_from_caller
from e2g_neo4j.service.uploads import submit_task, text_parts
from e2g_neo4j.types.documents import UPLOAD
from e2g_neo4j.types.properties import Properties
from e2g_neo4j.types.service import Caller, TaskInfo, TaskKind

logger = logging.getLogger(__name__)


class Writer(Protocol):
    """Changes corpora for a caller. The caller's scopes and corpora have been checked."""

    async def index_text(
        self, caller: Caller, corpus: str, title: str, text: str, properties: Properties | None
    ) -> TaskInfo:
        """Index a text as the document with the source `upload:TITLE`, or replace it. Without properties, those
        that are stored stay."""

    async def delete_document(self, caller: Caller, corpus: str, document: str) -> TaskInfo:
        """Delete a document by its id, which exists."""

    async def task(self, caller: Caller, task: str) -> TaskInfo | None:
        """Return a task of the caller; None if it has no task with this id."""


class DirectWriter:
    """Does everything at once, and remembers what it did while the process lives."""

    def __init__(self, client: AsyncE2G) -> None:
        self._client = client
        self._tasks: dict[str, TaskInfo] = {}

    async def index_text(
        self, caller: Caller, corpus: str, title: str, text: str, properties: Properties | None
    ) -> TaskInfo:
        source, limit = UPLOAD + title, int(self._client.settings.max_document_mb * 2**20)
        document = from_text(text, corpus=corpus, source=source, title=title, max_bytes=limit, properties=properties)
        report = await self._client.index([document], corpus=corpus)
        result = {"document": document.id, "chunks": report.chunks, "unchanged": report.unchanged}
        return self._report_done(caller, "index", corpus, result)

    async def delete_document(self, caller: Caller, corpus: str, document: str) -> TaskInfo:
        deleted = await self._client.delete([document], corpus=corpus)
        return self._report_done(caller, "delete", corpus, {"documents": [one.id for one in deleted]})

    async def task(self, caller: Caller, task: str) -> TaskInfo | None:
        return self._tasks.get(task)

    def _report_done(self, caller: Caller, kind: TaskKind, corpus: str, result: dict[str, object]) -> TaskInfo:
        now = int(time.time() * 1000)
        done = TaskInfo(uuid4().hex, kind, corpus, caller.key, "succeeded", now, done=1, total=1, result=result)
        self._tasks[done.id] = done
        return done


class QueueWriter:
    """Puts everything into the queue of the service."""

    def __init__(self, client: AsyncE2G) -> None:
        self._client = client

    async def index_text(
        self, caller: Caller, corpus: str, title: str, text: str, properties: Properties | None
    ) -> TaskInfo:
        parameters = {"documents": [{"source": title, "title": title, "properties": properties}]}
        task = await submit_task(self._client, caller, "index", corpus, parameters, files=[text_parts(title, text)])
        _log("index_text", task)
        return task

    async def delete_document(self, caller: Caller, corpus: str, document: str) -> TaskInfo:
        task = await submit_task(self._client, caller, "delete", corpus, {"documents": [document]})
        _log("delete_document", task, document)
        return task

    async def task(self, caller: Caller, task: str) -> TaskInfo | None:
        found = await self._client.runner.ask(tasks.get(task))
        return hide_from_caller(caller, found) if found is not None and caller.sees(found.corpus) else None


def _log(tool: str, task: TaskInfo, document: str | None = None) -> None:
    logger.info(tool, extra={"key": task.key, "corpus": task.corpus, "task": task.id, "target": document})
