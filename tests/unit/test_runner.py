"""How requests are executed: reads of several corpora run at once, and an observer is told of its own thread's only."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Lock
from typing import Any

import pytest

from e2g_neo4j.runtime import runner as module
from e2g_neo4j.runtime.requests import Operation, Read, Request, Rows, read_each
from e2g_neo4j.runtime.runner import AsyncRunner, Runner
from e2g_neo4j.runtime.threads import each_beside


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
