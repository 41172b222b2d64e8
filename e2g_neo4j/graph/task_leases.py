"""The leases of workers on tasks of the service.

A lease has an id of its own and expires unless it is renewed. Who has lost it can change nothing: each of its
statements compares the id.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice
from typing import Any, Literal
from uuid import uuid4

from e2g_neo4j.graph.tasks import ORPHAN_SECONDS, delete_blobs, task_info, write_one
from e2g_neo4j.runtime.requests import Operation, Read, Write
from e2g_neo4j.types.service import TaskLease, TaskState

LEASE_SECONDS = 30.0
"""How long a lease is valid without renewal."""

ATTEMPTS = 3
"""How often a task is started. A worker that is stopped in an orderly way gives its attempt back."""

KEPT_SECONDS = 7 * 24 * 3600
"""How long a task is kept after its end."""

RESULT_BYTES = 2**20
"""Maximum bytes of the result of a task, as JSON. Of a longer one, lists and texts are cut."""

LISTED, LISTED_BELOW, LONGEST_TEXT = 100, 30, 300
"""What is left of long results: entries of a list, and of lists in it, and characters of a text."""

LONGEST_DETAIL = 4_000
"""Maximum characters of the detail of an error."""

SPENT = (
    "budget",
    "The tokens that the API key of the task may use today are spent. What is finished is kept: retry the task "
    "tomorrow, or send the request with another key.",
)
"""Code and detail of the error of a task that its key's limit stopped."""

EXHAUSTED = {
    "code": "attempts_exhausted",
    "detail": f"The task was started {ATTEMPTS} times, and each time its worker was killed or lost the database. "
    "Look at the worker's log, then retry the task.",
}


def take_task() -> Operation[TaskLease | None]:
    """Take the next task: of the API key with the fewest running tasks, and among those of the key that was served
    longest ago, the oldest task. Returns None if nothing waits.

    Tasks that lost their worker are taken again, until they have had their attempts.
    """
    if not (yield Read("service/waiting", {})):
        return None
    yield Write((("service/end_abandoned", {"attempts": ATTEMPTS, "error": json.dumps(EXHAUSTED)}),))
    worker = uuid4().hex
    rows = yield write_one(
        "service/take_task", worker=worker, milliseconds=int(1000 * LEASE_SECONDS), attempts=ATTEMPTS
    )
    if not rows:
        return None
    [row] = rows
    left = None if row["left"] is None else max(row["left"], 0)
    return TaskLease(task_info(row), worker, json.loads(row["parameters"]), left)


def renew(
    lease: TaskLease, stage: str | None, done: int, total: int, tokens: int
) -> Operation[Literal["go on", "cancel", "spent"] | None]:
    """Renew a lease and record the progress of its task.

    Args:
        stage: what the task is doing.
        done: how much of the stage is done.
        total: how much there is to do.
        tokens: tokens of the chat model that all attempts cost so far.

    Returns:
        Whether the task may go on, was cancelled, or has spent the last tokens that its key may use today. None if the
        lease was lost: then the worker must stop at once.
    """
    progress = {"stage": stage, "done": done, "total": total, "tokens": tokens}
    rows = yield _write_if_held("service/renew", lease, milliseconds=int(1000 * LEASE_SECONDS), **progress)
    if not rows:
        return None
    if rows[0]["cancel"]:
        return "cancel"
    left = rows[0]["left"]
    return "spent" if left is not None and left < 0 and tokens > lease.task.tokens else "go on"


def remember(lease: TaskLease, found: Any) -> Operation[Any]:
    """Store what the first attempt of a task found before it began. Later attempts get what the first one stored.

    Returns:
        What is stored, or None if the lease was lost.
    """
    rows = yield _write_if_held("service/remember", lease, found=json.dumps(found))
    return json.loads(rows[0]["found"]) if rows else None


def finish(
    lease: TaskLease,
    result: dict[str, Any],
    *,
    tokens: int = 0,
    prompt_tokens: int = 0,
    completion_tokens: int = 0,
    cost: float = 0.0,
) -> Operation[bool]:
    """End a task that succeeded, and delete its files. Returns False if the lease was lost."""
    used = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens, "cost": cost}
    ended = yield from _end(lease, "succeeded", tokens, result=result_json(result), **used)
    if ended:
        yield from delete_blobs(lease.task.id)
    return ended


def result_json(result: dict[str, Any]) -> str:
    """Return a result as JSON. If lists had to be cut, `left_out` has how many entries they had besides, by field."""
    whole = json.dumps(result)
    if len(whole) <= RESULT_BYTES:
        return whole
    left_out = Counter[str]()

    def cut(value: Any, field: str, most: int = LISTED) -> Any:
        if isinstance(value, str):
            return value if len(value) <= LONGEST_TEXT else f"{value[:LONGEST_TEXT]}…"
        if not isinstance(value, dict | list | tuple):
            return value
        left_out[field] += max(0, len(value) - most)
        if isinstance(value, dict):
            return {cut(name, field): cut(one, field, LISTED_BELOW) for name, one in islice(value.items(), most)}
        return [cut(one, field, LISTED_BELOW) for one in value[:most]]

    found = {name: cut(value, name) for name, value in result.items()}
    return json.dumps({**found, "left_out": {name: number for name, number in left_out.items() if number}})


def fail(lease: TaskLease, code: str, detail: str, *, tokens: int = 0) -> Operation[bool]:
    """End a task that failed. Its files are kept for `retry`. Returns False if the lease was lost."""
    detail = detail if len(detail) <= LONGEST_DETAIL else f"{detail[:LONGEST_DETAIL]}…"
    return (yield from _end(lease, "failed", tokens, error=json.dumps({"code": code, "detail": detail})))


def end_cancelled(lease: TaskLease, *, tokens: int = 0) -> Operation[bool]:
    """End a task that was cancelled. Its files are kept for `retry`. Returns False if the lease was lost."""
    return (yield from _end(lease, "cancelled", tokens))


def put_back(lease: TaskLease, *, tokens: int = 0) -> Operation[bool]:
    """Give a task back to the queue; this attempt does not count, but its tokens do. Returns False if the lease was
    lost."""
    return bool((yield _write_if_held("service/put_back", lease, tokens=tokens)))


def step_done(task: str, step: str) -> Operation[bool]:
    """Return whether a step of a task was done."""
    return bool((yield Read("service/step_done", {"task": task, "step": step})))


def do_step(task: str, step: str) -> tuple[str, dict[str, Any]]:
    """Return a statement that records a step of a task in the transaction that does it.

    As the condition of a transaction, it lets the step be done once only, whichever worker does it.
    """
    return "service/do_step", {"task": task, "step": step}


def clean_up() -> Operation[None]:
    """Delete tasks that ended a week ago, and files that nobody needs any more. Each transaction is bounded."""
    while (yield write_one("service/delete_ended", age=1000 * KEPT_SECONDS, limit=1000))[0]["deleted"]:
        pass
    for row in (yield Read("service/left_over", {"age": 1000 * ORPHAN_SECONDS, "limit": 1000})):
        yield from delete_blobs(row["task"])


def _end(lease: TaskLease, state: TaskState, tokens: int, **more: Any) -> Operation[bool]:
    nothing = {"result": None, "error": None, "prompt_tokens": 0, "completion_tokens": 0, "cost": 0.0}
    return bool((yield _write_if_held("service/end_task", lease, state=state, tokens=tokens, **nothing | more)))


def _write_if_held(statement: str, lease: TaskLease, **parameters: Any) -> Write:
    return write_one(statement, task=lease.task.id, worker=lease.worker, **parameters)
