"""The queue of the service: tasks and their files. `graph/task_leases` has what workers do with them.

Every change of a task takes one lock first, so changes run one after the other on all machines, and times are those of
the server's clock. Only `graph/task_leases`, `graph/keys` and this module know the columns of `cypher/service/*`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any
from uuid import uuid4

from e2g_neo4j.errors import DatabaseError, IdempotencyError, InputError, TaskStateError
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.requests import Operation, Read, Rows, Write
from e2g_neo4j.types.ids import check_corpus_name
from e2g_neo4j.types.service import BlobInfo, TaskInfo, TaskKind, TaskState

PART_BYTES = 2**20
"""The size of the parts of a file, apart from the last one."""

PARTS_AT_ONCE = 8
"""Parts per transaction."""

ORPHAN_SECONDS = 3600
"""How long the files of a task that was never created are kept."""

MAKES_CORPORA: frozenset[TaskKind] = frozenset(["index", "import", "adopt"])
"""Tasks that may make a corpus, whose name is checked. Other tasks are for corpora that are there, whatever another
program has called them."""

READS = 3
"""How often a task is read until its state and its result fit."""

LONGEST_IDEMPOTENCY_KEY = 200
MOST_LISTED = 200


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to store for a task.

    Attributes:
        file: its number in the task, from 0.
        name: what the client calls it.
        content: its bytes, in pieces of any size.
        content_type: its type as the client gave it.
        first_part: the number of its first part; more than 0 if earlier ones are stored already.
    """

    file: int
    name: str
    content: Iterable[bytes]
    content_type: str | None = None
    first_part: int = 0


# --- creating ----------------------------------------------------------------------------------------


def new_id() -> str:
    """Return the id of a new task."""
    return uuid4().hex


def add_blobs(task: str, uploads: Iterable[Upload]) -> Operation[int]:
    """Store files for a task that is not created yet, at most 8 MiB in memory and per transaction.

    What a killed caller has stored is removed after an hour.

    Args:
        task: the id that the task will have.
        uploads: the files. To store one file with several calls, give whole parts of `PART_BYTES` to all but the last.

    Returns:
        The number of parts that were stored, for `create`.
    """
    stored = 0
    for rows in split_batches(_parts(uploads), PARTS_AT_ONCE):
        yield Write((("service/add_blobs", {"task": task, "rows": rows}),))
        stored += len(rows)
    return stored


def create(
    task: str,
    kind: TaskKind,
    corpus: str,
    key: str,
    parameters: dict[str, Any],
    *,
    parts: int = 0,
    idempotency_key: str | None = None,
    body_sha256: str | None = None,
) -> Operation[TaskInfo]:
    """Put a task into the queue.

    Args:
        task: its id, of `new_id`.
        kind: what it does.
        corpus: the corpus that it changes.
        key: the id of the API key that creates it.
        parameters: what the kind needs; it must be possible to write it as JSON.
        parts: the number of parts that `add_blobs` stored for it.
        idempotency_key: the same key of the same API key gives the same task.
        body_sha256: the hash of the request, to recognise the same one.

    Returns:
        The new task, or the one that the same request created before; then the new files are removed.

    Raises:
        IdempotencyError: the key of idempotency was used for another request.
        InputError: the name of the corpus or the key of idempotency cannot be used.
        DatabaseError: parts of the files are missing.
    """
    if kind in MAKES_CORPORA:
        check_corpus_name(corpus)
    if idempotency_key is not None and not 0 < len(idempotency_key) <= LONGEST_IDEMPOTENCY_KEY:
        raise InputError(
            f"The key of idempotency is empty or has more than {LONGEST_IDEMPOTENCY_KEY} characters. Use a UUID."
        )
    [row] = yield write_one(
        "service/create_task",
        task=task,
        kind=kind,
        corpus=corpus,
        key=key,
        parameters=json.dumps(parameters),
        parts=parts,
        idempotency=None if idempotency_key is None else f"{key}:{idempotency_key}",
        body_sha256=body_sha256,
    )
    if row["mine"]:
        return task_info(row)
    yield from delete_blobs(task)
    if row["mine"] is None:
        raise DatabaseError(
            f"Files of a request were removed before its task was created, because more than {ORPHAN_SECONDS // 60} "
            "minutes passed. Send the request again."
        )
    known = row["task"]
    if (known["kind"], known["corpus_name"], known.get("body_sha256")) != (kind, corpus, body_sha256):
        raise IdempotencyError(
            "This key of idempotency was used for another request. Use a new key for each request, and the same key "
            "only to send the same request again. Nothing was changed."
        )
    return task_info(row)


def _parts(uploads: Iterable[Upload]) -> Iterator[dict[str, Any]]:
    """Yield the rows of files; an empty file has one empty part."""
    for upload in uploads:
        common = {"file": upload.file, "name": upload.name, "content_type": upload.content_type}
        waiting, part = bytearray(), upload.first_part
        for piece in upload.content:
            waiting += piece
            while len(waiting) > PART_BYTES:
                yield {**common, "part": part, "bytes": bytes(waiting[:PART_BYTES])}
                del waiting[:PART_BYTES]
                part += 1
        if waiting or part == 0:
            yield {**common, "part": part, "bytes": bytes(waiting)}


# --- looking -----------------------------------------------------------------------------------------


def get(task: str) -> Operation[TaskInfo | None]:
    """Return a task, or None if there is none."""
    rows: Rows = []
    for _ in range(READS):
        rows = yield Read("service/task", {"task": task})
        if not rows or not _is_half_read(rows[0]):
            break
    return _first(rows)


def _is_half_read(row: Mapping[str, Any]) -> bool:
    """Tell whether a task ended while it was read: Neo4j may return its new state and its old result."""
    task = row["task"]
    return (task["state"] == "succeeded" and row["result"] is None) or (task["state"] == "failed" and not task["error"])


def list_tasks(
    corpora: Sequence[str],
    *,
    keys: Sequence[str] | None = None,
    states: Sequence[TaskState] | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Operation[tuple[list[TaskInfo], str | None]]:
    """List tasks, the newest first, without their results.

    Args:
        corpora: only those of these corpora: names, prefixes such as `team-*`, or `*`.
        keys: only those that these API keys created; None: all.
        states: only those in these states; None: all.
        limit: how many at most, 1 to 200.
        cursor: where the page before ended; None: the first page.

    Returns:
        The tasks, and the cursor of the next page if there may be more.

    Raises:
        InputError: limit or cursor cannot be used.
    """
    created, after = read_cursor(cursor)
    rows = yield Read(
        "service/tasks",
        {
            "corpora": list(corpora),
            "keys": None if keys is None else list(keys),
            "states": None if states is None else list(states),
            "created": created,
            "after": after,
            "limit": check_limit(limit),
        },
    )
    found = [task_info(row) for row in rows]
    return found, f"{found[-1].created}-{found[-1].id}" if len(found) == limit else None


def counts() -> Operation[dict[TaskState, tuple[int, float]]]:
    """Return the number of tasks in each state, and the age of the oldest of them in seconds."""
    rows = yield Read("service/count_tasks", {})
    return {row["state"]: (row["tasks"], row["age"] / 1000) for row in rows}


def read_cursor(cursor: str | None) -> tuple[int | None, str | None]:
    """Return the time and the id at which a page ended.

    Raises:
        InputError: it is not a cursor.
    """
    if cursor is None:
        return None, None
    time, _, after = cursor.partition("-")
    if not (time.isascii() and time.isdigit() and len(time) < 17 and after):
        raise InputError("The cursor is not one that was returned with a page. Begin without it.")
    return int(time), after


def check_limit(limit: int) -> int:
    """Return the length of a page. Raises InputError if it is out of range."""
    if not 1 <= limit <= MOST_LISTED:
        raise InputError(f"The limit is {limit}. It must be from 1 to {MOST_LISTED}.")
    return limit


def blobs(task: str) -> Operation[list[BlobInfo]]:
    """List the files of a task."""
    rows = yield Read("service/blobs", {"task": task})
    return [BlobInfo(**row) for row in rows]


def part(task: str, file: int, number: int) -> Operation[bytes]:
    """Read one part of a file.

    Raises:
        DatabaseError: the part is missing.
    """
    rows = yield Read("service/blob", {"task": task, "file": file, "part": number})
    if not rows:
        raise DatabaseError(f"Part {number} of file {file} of the task {task} is missing. Send the request again.")
    return bytes(rows[0]["bytes"])


# --- changing ----------------------------------------------------------------------------------------


def cancel(task: str) -> Operation[TaskInfo | None]:
    """Cancel a task: a queued one at once, a running one when its worker renews its claim.

    Returns:
        The task, unchanged if it has ended, or None if there is none.
    """
    rows = yield write_one("service/cancel", task=task)
    return _first(rows)


def retry(task: str) -> Operation[TaskInfo | None]:
    """Put a failed or cancelled task back into the queue. Returns None if there is no such task.

    Raises:
        TaskStateError: the task did not fail, or its files are not there any more.
    """
    rows = yield write_one("service/retry", task=task)
    if rows:
        return _first(rows)
    known: TaskInfo | None = yield from get(task)
    if known is None:
        return None
    why = "its files were removed" if known.state in ("failed", "cancelled") else f"it is {known.state}"
    raise TaskStateError(
        f"The task {task} cannot be retried: {why}. Only failed and cancelled tasks can. Send the request again."
    )


def delete_blobs(task: str) -> Operation[None]:
    """Delete the files of a task, if it has succeeded or there is no such task."""
    request = write_one("service/delete_blobs", task=task, limit=PARTS_AT_ONCE)
    while (rows := (yield request)) and rows[0]["deleted"]:
        pass


def write_one(statement: str, **parameters: Any) -> Write:
    """Return a request that runs one statement and returns its rows."""
    return Write((), condition=(statement, parameters))


def _first(rows: Rows) -> TaskInfo | None:
    return task_info(rows[0]) if rows else None


_NAMES = frozenset(field.name for field in fields(TaskInfo))


def task_info(row: Mapping[str, Any]) -> TaskInfo:
    """Return the task of a row, with its result if the row has it."""
    found = {**row["task"], "result": row.get("result")}
    values = {name: value for name, value in found.items() if name in _NAMES and value is not None}
    values |= {name: json.loads(values[name]) for name in ("result", "error") if name in values}
    return TaskInfo(corpus=found["corpus_name"], **values)
