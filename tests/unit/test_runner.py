"""How requests are executed: reads of several corpora, and operations that call a chat model, run at once, and an
observer is told of its own thread's only."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from signal import SIGINT, pthread_kill
from threading import Barrier, Event, Lock, main_thread
from typing import Any

import pytest
from operations import outcome

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.chat.until_usable import Unshown
from e2g_neo4j.runtime import runner as module
from e2g_neo4j.runtime.requests import AtOnce, Chat, Operation, Read, Request, Rows, map_requests, read_each
from e2g_neo4j.runtime.runner import AsyncRunner, Runner
from e2g_neo4j.runtime.threads import each_beside
from e2g_neo4j.types.chat import ChatRequest


class Noting:
    def __init__(self) -> None:
        self.noted: list[tuple[str, Request]] = []

    def on_request(self, request: Request) -> None:
        self.noted.append(("requested", request))

    def on_result(self, request: Request, result: Any) -> None:
        assert result == [{}]
        self.noted.append(("executed", request))


def reading(name: str) -> Operation[int]:
    rows = yield Read(name, {})
    return len(rows)


def test_an_observer_is_told_of_the_requests_of_its_own_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Any = None
    runner, observer = Runner(nothing, "neo4j", nothing), Noting()
    monkeypatch.setattr(runner, "execute", lambda request: [{}])
    with runner.observe(observer), ThreadPoolExecutor(1) as another:
        assert runner.run(reading("query/corpora")) == 1
        assert another.submit(runner.run, reading("query/stats")).result() == 1
    runner.run(reading("query/documents"))
    asked = Read("query/corpora", {})
    assert observer.noted == [("requested", asked), ("executed", asked)]


def several(corpora: list[str]) -> Operation[Rows]:
    return (yield from read_each("query/stats", {corpus: {} for corpus in corpora}))


def test_reads_of_several_corpora_run_at_once_and_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three at a time: each waits until two others are there."""
    nothing: Any = None
    monkeypatch.setattr(module, "READS_AT_ONCE", 3)
    corpora = [f"c{number}" for number in range(9)]
    expected = [{"of": corpus, "corpus": corpus} for corpus in corpora]
    together = Barrier(3, timeout=30)

    def execute(request: Read) -> Rows:
        together.wait()
        return [{"of": request.parameters["corpus"]}]

    runner = Runner(nothing, "neo4j", nothing)
    monkeypatch.setattr(runner, "execute", execute)
    assert runner.run(several(corpora)) == expected

    async def connect() -> Any:
        return None

    running = most = 0

    async def execute_async(driver: Any, request: Read) -> Rows:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return [{"of": request.parameters["corpus"]}]

    async_runner = AsyncRunner(connect, "neo4j", nothing)
    monkeypatch.setattr(async_runner, "execute", execute_async)
    assert asyncio.run(async_runner.run(several(corpora))) == expected
    assert most == 3


def test_one_corpus_is_one_read() -> None:
    assert several(["c"]).send(None) == Read("query/stats", {"corpus": "c"})
    with pytest.raises(StopIteration) as end:
        several([]).send(None)
    assert end.value.value == []


def test_an_error_ends_the_reads_that_have_not_begun() -> None:
    begun, lock = [], Lock()

    def call(number: int) -> int:
        with lock:
            begun.append(number)
        if number == 3:
            raise ValueError("The fourth.")
        return number

    with pytest.raises(ValueError, match="fourth"):
        each_beside([lambda number=number: call(number) for number in range(100)], 2)  # type: ignore[misc]
    assert 3 < len(begun) < 100 or begun[-1] == 3
    assert each_beside([], 4) == []


# --- operations at once ------------------------------------------------------------------------------


class Chats:
    """Models of which a chat model alone is asked, two calls at once. The reply to a number is the number."""

    chats_at_once = 2

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(2)
        self.begun = list[int]()

    def ask(self, request: Chat) -> int:
        self.begun.append(int(request.request.user))
        return self.begun[-1]

    async def ask_async(self, request: Chat) -> int:
        return await asyncio.to_thread(self.ask, request)


def asking(number: int, times: int = 1) -> Operation[int]:
    model: Any = None
    for _ in range(times):
        number = yield Chat(model, ChatRequest("", str(number), 9), Unshown())
    return number


def at_once(*operations: Operation[int]) -> Operation[list[int]]:
    return (yield AtOnce(operations))


def ran(models: Any, operation: Operation[Any], *, in_tasks: bool) -> Any:
    async def connect() -> Any:
        return None

    nothing: Any = None
    if in_tasks:
        return asyncio.run(AsyncRunner(connect, "neo4j", models).ask(operation))
    return Runner(nothing, "neo4j", models).run(operation)


@pytest.mark.parametrize("in_tasks", [False, True], ids=["threads", "tasks"])
def test_results_of_operations_at_once_keep_their_order_and_errors_too(in_tasks: bool) -> None:
    """Of the first two, both fail, the second one first. The others are never begun."""
    assert ran(Chats(), at_once(*map(asking, range(9))), in_tasks=in_tasks) == list(range(9))
    assert ran(Chats(), at_once(), in_tasks=in_tasks) == []
    failed = Event()

    class Fails(Chats):
        def ask(self, request: Chat) -> int:
            number = super().ask(request)
            if number == 0:
                assert failed.wait(30)
                time.sleep(0.1)  # in which a third would begin
            failed.set()
            raise ModelError(f"Number {number}.")

    models = Fails()
    with pytest.raises(ModelError, match=r"Number 0\."):
        ran(models, at_once(*map(asking, range(9))), in_tasks=in_tasks)
    assert sorted(models.begun) == [0, 1]


@pytest.mark.parametrize("in_tasks", [False, True], ids=["threads", "tasks"])
def test_steps_of_operations_at_once_take_turns(in_tasks: bool) -> None:
    total = 0

    def counting(number: int) -> Operation[int]:
        nonlocal total
        yield from asking(number)
        before = total
        time.sleep(0.002)
        total = before + 1
        return number

    ran(Chats(), at_once(*map(counting, range(20))), in_tasks=in_tasks)
    assert total == 20


def test_after_an_interrupt_operations_at_once_call_no_more() -> None:
    both, go_on, ended = Barrier(2, timeout=30), Event(), Barrier(3, timeout=30)

    class Hangs(Chats):
        def ask(self, request: Chat) -> int:
            number = super().ask(request)
            assert request.stopped is not None
            if both.wait() == 0:
                pthread_kill(main_thread().ident or 0, SIGINT)
            go_on.wait(30)
            assert request.stopped.is_set()
            ended.wait()
            return number

    models = Hangs()
    with pytest.raises(KeyboardInterrupt):
        ran(models, at_once(*(asking(number, times=3) for number in range(9))), in_tasks=False)
    go_on.set()
    ended.wait()
    time.sleep(0.2)  # in which a further call would begin
    assert sorted(models.begun) == [0, 1]


def test_requests_of_operations_at_once_are_changed_too() -> None:
    seen = list[str]()

    def change(request: Request) -> Request:
        if isinstance(request, Chat):
            seen.append(request.request.user)
        return request

    operation = map_requests(at_once(*map(asking, range(3))), change, lambda request, reply: reply)
    assert outcome(operation, lambda request: 7) == [7, 7, 7]
    assert seen == ["0", "1", "2"]
