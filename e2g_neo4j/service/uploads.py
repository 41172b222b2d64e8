"""From a request to a task in the queue, with the uploaded bytes in the database."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response
from starlette.datastructures import UploadFile

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.graph import catalog, tasks
from e2g_neo4j.service.problems import ProblemError
from e2g_neo4j.service.state import state_of
from e2g_neo4j.types.service import Caller, TaskInfo, TaskKind

PART_BYTES = 2**20
"""Maximum bytes of one part of an uploaded file in the database."""

MAX_NAME = 2000
"""Maximum characters of the name of an uploaded file."""

OF_ALL_DOCUMENTS: frozenset[TaskKind] = frozenset(["delete_corpus", "enrich", "link", "unadopt", "unlink"])
"""Tasks that need a corpus with documents."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file of a request. `parts` returns its content anew each time."""

    name: str
    content_type: str
    parts: Callable[[], Iterator[bytes]]


def file_parts(file: UploadFile) -> Upload:
    """Return an uploaded file. Raises a 422 if it has no name, or one that is too long."""
    name = file.filename or ""
    if not 0 < len(name) <= MAX_NAME:
        raise ProblemError(422, "invalid", f"A file needs a name of 1 to {MAX_NAME} characters.")

    def parts() -> Iterator[bytes]:
        file.file.seek(0)
        while part := file.file.read(PART_BYTES):
            yield part

    return Upload(name, file.content_type or "application/octet-stream", parts)


def text_parts(source: str, text: str) -> Upload:
    """Return a text as a file with its source as the name."""
    content = text.encode("utf-8", "surrogatepass")
    return Upload(
        source,
        "text/plain; charset=utf-8",
        lambda: (content[place : place + PART_BYTES] for place in range(0, len(content), PART_BYTES)),
    )


async def submit_task(
    client: AsyncE2G,
    caller: Caller,
    kind: TaskKind,
    corpus: str,
    parameters: Mapping[str, Any],
    *,
    files: Sequence[Upload] = (),
    idempotency_key: str | None = None,
) -> TaskInfo:
    """Put a task in the queue, or return the one that an earlier request with the same key put there. Raises
    IdempotencyError if that had another body."""
    body = await asyncio.to_thread(_hash, kind, corpus, parameters, files)
    run, task = client.runner.run, tasks.new_id()
    stored = [tasks.Upload(number, one.name, one.parts(), one.content_type) for number, one in enumerate(files)]
    parts = await run(tasks.add_blobs(task, stored))
    created = tasks.create(
        task,
        kind,
        corpus,
        caller.key,
        dict(parameters),
        parts=parts,
        idempotency_key=idempotency_key,
        body_sha256=body,
    )
    return await run(created)


class Submitting:
    """Puts tasks of a request into the queue. The reply says where to ask for them."""

    def __init__(
        self,
        request: Request,
        response: Response,
        idempotency_key: Annotated[
            str | None,
            Header(min_length=1, max_length=200, description="Repeating a request with this key has no effect."),
        ] = None,
    ) -> None:
        self._client, self._caller, self._response = state_of(request).client, request.state.caller, response
        self._key = idempotency_key

    async def __call__(
        self, kind: TaskKind, corpus: str, parameters: Mapping[str, Any], files: Sequence[Upload] = ()
    ) -> TaskInfo:
        if kind in OF_ALL_DOCUMENTS:
            await self._client.runner.run(catalog.check_corpus(corpus))
        task = await submit_task(
            self._client, self._caller, kind, corpus, parameters, files=files, idempotency_key=self._key
        )
        self._response.headers["Location"] = f"/v1/tasks/{task.id}"
        return task


Submit = Annotated[Submitting, Depends(Submitting)]


def _hash(kind: str, corpus: str, parameters: Mapping[str, Any], files: Iterable[Upload]) -> str:
    digest = sha256(json.dumps([kind, corpus, parameters], sort_keys=True).encode())
    for file in files:
        content = sha256()
        for part in file.parts():
            content.update(part)
        digest.update(json.dumps([file.name, content.hexdigest()]).encode())
    return digest.hexdigest()
