"""The runner tells an observer of the requests of its own thread only."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from e2g_neo4j.runtime.requests import Operation, Read, Request
from e2g_neo4j.runtime.runner import Runner


class Noting:
    def __init__(self) -> None:
        self.noted: list[tuple[str, Request]] = []

    def requested(self, request: Request) -> None:
        self.noted.append(("requested", request))

    def executed(self, request: Request, result: Any) -> None:
        assert result == [{}]
        self.noted.append(("executed", request))


def reading(name: str) -> Operation[int]:
    rows = yield Read(name, {})
    return len(rows)


def test_an_observer_is_told_of_the_requests_of_its_own_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Any = None
    runner, observer = Runner(nothing, "neo4j", nothing), Noting()
    monkeypatch.setattr(runner, "execute", lambda request: [{}])
    with runner.observed(observer), ThreadPoolExecutor(1) as another:
        assert runner.run(reading("query/corpora")) == 1
        assert another.submit(runner.run, reading("query/stats")).result() == 1
    runner.run(reading("query/documents"))
    asked = Read("query/corpora", {})
    assert observer.noted == [("requested", asked), ("executed", asked)]
