"""Tasks: watch, wait for, cancel and repeat what changes a corpus."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from e2g_neo4j.graph import tasks
from e2g_neo4j.service.access import Reader, Writer, check_may_change, hide_from_caller
from e2g_neo4j.service.problems import ProblemError, error_responses, stream_response
from e2g_neo4j.service.schemas import TaskPage
from e2g_neo4j.service.state import State, state_of
from e2g_neo4j.service.streams import Event, event_stream
from e2g_neo4j.types.service import ENDED, Caller, TaskInfo, TaskState

router = APIRouter(prefix="/v1/tasks", tags=["tasks"])

LONGEST_WAIT = 60
"""Maximum seconds that a request waits for a task."""

POLL_SECONDS = 0.5


@router.get("", responses=error_responses())
async def list_tasks(
    request: Request,
    caller: Reader,
    state: TaskState | None = None,
    limit: Annotated[int, Query(ge=1, le=tasks.MOST_LISTED)] = 50,
    cursor: Annotated[str | None, Query(max_length=200, description="From the reply before.")] = None,
) -> TaskPage:
    """List the tasks on corpora that the key may see, the newest first."""
    listed, following = await state_of(request).client.runner.ask(
        tasks.list_tasks(caller.corpora, states=[state] if state else None, limit=limit, cursor=cursor)
    )
    return TaskPage(tasks=[hide_from_caller(caller, one) for one in listed], cursor=following)


@router.get("/{task}", responses=error_responses(404))
async def get_task(
    request: Request,
    task: str,
    caller: Reader,
    wait: Annotated[int, Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait for the end of the task.")] = 0,
) -> TaskInfo:
    """Return a task, at once or when it has ended."""
    state, until = state_of(request), time.monotonic() + wait
    found = await visible_task(state, task, caller)
    while found.state not in ENDED and time.monotonic() < until and not await request.is_disconnected():
        await asyncio.sleep(min(POLL_SECONDS, max(until - time.monotonic(), 0)))
        found = await visible_task(state, task, caller)
    return found


@router.get(
    "/{task}/events",
    responses=error_responses(404) | stream_response("An event `task` whenever the task has changed, then `done`."),
    response_class=Response,
)
async def task_events(request: Request, task: str, caller: Reader) -> Response:
    """Stream the progress of a task until it has ended."""
    state = state_of(request)
    return event_stream(request, _changes(state, await visible_task(state, task, caller), caller))


async def _changes(state: State, task: TaskInfo, caller: Caller) -> AsyncGenerator[Event, None]:
    yield Event("task", task)
    while task.state not in ENDED:
        await asyncio.sleep(POLL_SECONDS)
        now = await visible_task(state, task.id, caller)
        if now != task:
            task = now
            yield Event("task", task)
    yield Event("done", task)


@router.post("/{task}/cancel", responses=error_responses(404))
async def cancel_task(request: Request, task: str, caller: Writer) -> TaskInfo:
    """Cancel a task. One that runs stops within seconds; what it finished is kept."""
    state = state_of(request)
    check_may_change(caller, await visible_task(state, task, caller))
    await state.client.runner.ask(tasks.cancel(task))
    return await visible_task(state, task, caller)


@router.post("/{task}/retry", responses=error_responses(404, 409))
async def retry_task(request: Request, task: str, caller: Writer) -> TaskInfo:
    """Put a task that failed or was cancelled back into the queue."""
    state = state_of(request)
    check_may_change(caller, await visible_task(state, task, caller))
    await state.client.runner.ask(tasks.retry(task))
    return await visible_task(state, task, caller)


async def visible_task(state: State, task: str, caller: Caller) -> TaskInfo:
    """Return a task. Raises a 404 if there is none, or if the caller may not see its corpus."""
    found = await state.client.runner.ask(tasks.get(task))
    if found is None or not caller.sees(found.corpus):
        raise ProblemError(404, "task_not_found", f"There is no task {task!r}.")
    return hide_from_caller(caller, found)
