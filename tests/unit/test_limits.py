"""What a key and its requests may cost the service: how many, how slow, how long."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.exceptions import HTTPException

from e2g_neo4j.service import limits
from e2g_neo4j.service.limits import CloseUnread, Limits, Shares
from e2g_neo4j.service.problems import ProblemError, Problems
from e2g_neo4j.types.service import Caller

CALLER = Caller("test", frozenset(["read"]), ("*",))


def test_a_key_has_so_many_requests_a_minute_and_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: now))
    counted = Limits(cast(Any, None))
    one, other = (replace(CALLER, key=key, requests_per_minute=2) for key in ("one", "other"))
    for _ in range(2):
        counted.admit(one)
    with pytest.raises(ProblemError, match="2 requests per minute") as refused:
        counted.admit(one)
    assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "61"})
    counted.admit(other)
    now += limits.MINUTE
    counted.admit(one)
    daily = replace(one, key="daily", requests_per_minute=None, requests_per_day=2)
    for _ in range(2):
        counted.admit(daily)
        now += limits.MINUTE
    with pytest.raises(ProblemError, match="2 requests per day"):
        counted.admit(daily)


def test_what_made_keys_do_counts_for_their_maker() -> None:
    """Requests and tokens of a minute and a day, and tokens that calls at work may use."""
    limited = {"requests_per_minute": 4, "requests_per_day": 5, "tokens_per_minute": 50, "tokens_per_day": 60}
    for name, limit in limited.items():
        maker = replace(CALLER, key="maker", **cast(Any, {name: limit}))
        one, other = (replace(maker, key=key, maker=maker) for key in ("one", "other"))
        further = replace(one, key="further", maker=other)
        assert (further.account, [caller.key for caller in further.line]) == ("maker", ["further", "other", "maker"])
        counted = Limits(cast(Any, None))
        callers = [one, other, further, maker, one]
        if name.startswith("requests"):
            for caller in callers[:limit]:
                counted.admit(caller)
        else:
            with counted.reserve(one, limit - 15), pytest.raises(ProblemError), counted.reserve(further, 16):
                pass
            for caller in callers:
                counted.add_tokens(caller, limit // 10, limit // 10)
            with pytest.raises(ProblemError), counted.reserve(other, 1):
                pass
        for caller in (further, one, maker):
            with pytest.raises(ProblemError, match=f"{limit} {name.replace('_', ' ')}"):
                counted.admit(caller)
        counted.admit(replace(maker, key="somebody else"))


async def nothing() -> dict[str, Any]:
    """A request without a body."""
    return {"type": "http.request", "body": b""}


class Slow:
    """An application that answers when it may, and how many requests it works on."""

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()
        self.working = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.working += 1
        await self.may_answer.wait()
        self.working -= 1


def scope_of(key: str, maker: str | None = None) -> dict[str, Any]:
    caller = replace(CALLER, key=key, maker=replace(CALLER, key=maker) if maker else None)
    state = {"caller": caller, "request_id": "r"}
    return {"type": "http", "method": "GET", "path": "/v1/corpora", "headers": [], "state": state}


@pytest.mark.parametrize("bound", ["of all", "of a key"])
async def test_requests_beyond_a_number_are_refused_at_once(monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    monkeypatch.setattr(limits, "MAX_REQUESTS" if bound == "of all" else "MAX_REQUESTS_OF_KEY", 2)
    app = Slow()
    bounded = Problems(Shares(app))
    refused: list[int] = []

    async def send(message: Any) -> None:
        refused.append(message.get("status", 0))

    async def ask(key: str, maker: str | None = None) -> None:
        await bounded(scope_of(key, maker), nothing, send)

    async with asyncio.TaskGroup() as group:
        for number in range(2):
            group.create_task(ask(f"made {number}", "one"))
        await asyncio.sleep(0.01)
        await asyncio.wait_for(ask("one"), 5)
        assert (app.working, refused[0]) == (2, 429)
        if bound == "of a key":
            group.create_task(ask("other"))
            await asyncio.sleep(0.01)
            assert app.working == 3
        app.may_answer.set()
    await ask("one")
    assert refused.count(429) == 1, "those that have ended leave room"


async def test_a_body_may_not_keep_the_service_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that never comes, and one that comes a byte at a time, but not one that takes its time and arrives."""
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.5)
    monkeypatch.setattr(limits, "BODY_RATE", 1000)

    async def body(pieces: int, size: int, pause: float) -> None:
        left = pieces

        async def receive() -> Any:
            nonlocal left
            await asyncio.sleep(pause)
            left -= 1
            return {"type": "http.request", "body": b"x" * size, "more_body": left > 0}

        async def app(scope: Any, receive: Any, send: Any) -> None:
            while (await receive())["more_body"]:
                pass

        await Shares(app)(scope_of("one"), receive, cast(Any, None))

    await body(8, 100, 0.05)
    for pieces, pause in ((1, 60.0), (100, 0.05)):
        with pytest.raises(HTTPException) as refused:
            await body(pieces, 1, pause)
        assert refused.value.status_code == 408


async def test_a_body_that_nobody_reads_costs_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "READ_ON_SECONDS", 0.2)
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def answered(pieces: int, pause: float, *, read: bool) -> None:
        left = pieces

        async def receive() -> Any:
            nonlocal left
            await asyncio.sleep(pause)
            left -= 1
            return {"type": "http.request", "body": b"x", "more_body": left > 0}

        async def app(scope: Any, receive: Any, send: Any) -> None:
            while read and (await receive())["more_body"]:
                pass
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b"No."})

        sent.clear()
        scope = {**scope_of("one"), "headers": [(b"content-length", b"9")]}
        await asyncio.wait_for(CloseUnread(app)(scope, receive, send), 20)
        assert b"".join(message.get("body", b"") for message in sent) == b"No."

    await answered(3, 0, read=True)
    assert sent[0]["headers"] == []
    for pieces, pause in ((3, 0.0), (1000, 0.05)):
        await answered(pieces, pause, read=False)
        assert sent[0]["headers"] == [(b"connection", b"close")]


async def test_a_search_that_takes_too_long_is_ended_and_leaves_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "QUESTION_SECONDS", 0.05)
    monkeypatch.setattr(limits, "QUESTIONS_AT_ONCE", 1)
    counted = Limits(cast(Any, None))
    for _ in range(2):
        with pytest.raises(ProblemError) as ended:
            async with counted.turn(CALLER):
                await asyncio.sleep(60)
        assert (ended.value.status, ended.value.code) == (503, "slow_question")


async def test_questions_of_a_key_wait_shortly_and_leave_room_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "QUESTIONS_AT_ONCE", 4)
    counted = Limits(cast(Any, None))
    one, other = (replace(CALLER, key=key) for key in ("one", "other"))
    made = [replace(one, key=f"made {number}", maker=one) for number in range(24)]
    ended = 0

    async def ask(caller: Caller, seconds: float) -> None:
        nonlocal ended
        async with counted.turn(caller):
            await asyncio.sleep(seconds)
            ended += 1

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        for caller in made:
            group.create_task(ask(caller, 0.02))
        await asyncio.sleep(0)
        await ask(other, 0)
        assert ended < 4, "another key need not wait"
    assert ended == 25, "24 at once are answered"
    monkeypatch.setattr(limits, "MAX_WAITING", 3)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask(one, 0.5)) for _ in range(4)]
        await asyncio.sleep(0.01)
        with (
            counted.questions.wait("one"),
            pytest.raises(ProblemError, match="wait for their turn") as refused,
            counted.questions.wait("other"),
            counted.questions.wait("one"),
        ):
            pass
        assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "1"})
        for task in tasks:
            task.cancel()


async def test_a_question_that_would_hardly_get_its_turn_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "QUESTIONS_AT_ONCE", 2)
    monkeypatch.setattr(limits, "QUESTION_WAIT_SECONDS", 0.5)
    counted = Limits(cast(Any, None))

    async def ask() -> int:
        try:
            async with counted.turn(CALLER):
                await asyncio.sleep(0.1)
                return 200
        except ProblemError as error:
            return error.status

    for _ in range(24):
        assert await ask() == 200
    asked = [asyncio.create_task(ask()) for _ in range(6)]
    await asyncio.sleep(0.02)
    assert [one.result() for one in asked if one.done()] == [429, 429]
    assert [await one for one in asked] == [200] * 4 + [429] * 2


async def test_a_key_that_makes_dry_runs_leaves_room_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DRY_RUN_WAIT_SECONDS", 0.01)
    counted = Limits(cast(Any, None))
    one, other, third = (replace(CALLER, key=key) for key in ("one", "other", "third"))
    assert limits.DRY_RUNS_AT_ONCE == 2
    async with counted.dry_run(one, 60):
        with pytest.raises(ProblemError, match="no turn for dry runs") as refused:
            await counted.dry_run(one, 60).__aenter__()
        assert (refused.value.status, "Retry-After" in refused.value.headers) == (429, True)
        async with counted.dry_run(other, 60):
            with pytest.raises(ProblemError, match="no turn for dry runs") as refused:
                await counted.dry_run(third, 60).__aenter__()
            assert refused.value.status == 429
    with pytest.raises(ProblemError, match=r"ended after 0\.05 s") as ended:
        async with counted.dry_run(one, 0.05):
            await asyncio.sleep(60)
    assert (ended.value.status, ended.value.code) == (422, "slow_files")
    async with counted.dry_run(one, 60), counted.dry_run(third, 60):
        pass
