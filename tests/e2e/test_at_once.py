"""The batches of a question are asked about at once: faster, with the same answer, and stopped with the question.

The chat model is a server over a real socket that takes its time, and sees which calls overlap.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing, suppress
from dataclasses import replace
from signal import SIGINT, default_int_handler, pthread_kill, signal
from threading import main_thread
from typing import Any

import httpx
import pytest
from at_server import settings_of
from failing_ollama import NAME
from running_service import create_key, environment, running
from waiting_ollama import Waiting, read_items

from e2g_neo4j import E2G, Answer, AsyncE2G, Evidence, Settings
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.retrieval.strategies import communities

pytestmark = pytest.mark.full

QUESTION = "What are the main subjects of the library?"
BATCHES = 8
METHODS: dict[str, dict[str, Any]] = {
    "map_reduce": {"method": "map_reduce", "k": 200},
    "all_text": {"method": "all_text"},
    "global": {"method": "global", "level": 1},
    "dynamic": {"method": "global", "level": "dynamic"},
}


@pytest.fixture
def server() -> Iterator[Waiting]:
    waiting = Waiting()
    yield waiting
    waiting.go_on.set()
    waiting.stop()


@pytest.fixture
def settings(neo4j_connection: Connection, server: Waiting) -> Settings:
    return settings_of(
        neo4j_connection, ollama_host=server.host, chat_model=f"ollama:{NAME}", evidence_tokens=4000, llm_concurrency=4
    )


@pytest.fixture
def interruptible() -> Iterator[None]:
    """What a shell runs in the background ignores interrupts."""
    before = signal(SIGINT, default_int_handler)
    yield
    signal(SIGINT, before)


def at_once(settings: Settings, calls: int, **more: Any) -> Settings:
    return settings.model_copy(update={"llm_concurrency": calls, **more})


def count_once(client: E2G | AsyncE2G) -> None:
    """The first count is an estimate, on which the batches would depend."""
    assert client.models.chat_model is not None
    client.models.chat_model.count("x" * 2000)


def alike(answer: Answer) -> Answer:
    """An answer without scores: word statistics are those of the whole index, which others change meanwhile."""
    unscored = [tuple(replace(one, score=0.0) for one in some) for some in (answer.given, answer.evidence.passages)]
    return replace(
        answer, given=unscored[0], evidence=replace(answer.evidence, passages=unscored[1], entities=()), citations=()
    )


def test_eight_batches_are_four_times_as_fast_at_once_as_one_after_the_other(
    settings: Settings, server: Waiting, sample: str
) -> None:
    server.seconds = 0.5
    spans, totals = list[float](), list[float]()
    for calls in (1, BATCHES):
        with E2G(settings=at_once(settings, calls, map_calls=BATCHES)) as e2g:
            e2g.retrieve(QUESTION, corpus=sample)  # loads the models
            server.reset()
            began = time.monotonic()
            answer = e2g.answer(QUESTION, corpus=sample, **METHODS["map_reduce"])
            totals.append(time.monotonic() - began)
        assert answer.calls == BATCHES + 1
        assert (len(server.begun), server.most) == (BATCHES, calls)
        spans.append(server.span)
    print(f"ratio of map calls {spans[0] / spans[1]:.2f}, of answers {totals[0] / totals[1]:.2f}")
    assert spans[0] / spans[1] >= 4


@pytest.mark.parametrize("method", METHODS)
def test_the_answer_is_the_same_and_its_progress_complete(
    settings: Settings, server: Waiting, sample: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(communities, "BATCH", 1)  # so that reports are rated at once, too
    server.seconds = 0.02

    def ask(calls: int) -> tuple[Answer, list[tuple[str, int, int]]]:
        told = list[tuple[str, int, int]]()
        with E2G(settings=at_once(settings, calls)) as e2g:
            count_once(e2g)
            answer = e2g.answer(QUESTION, corpus=sample, progress=lambda *one: told.append(one), **METHODS[method])
        return answer, told

    async def ask_async(calls: int) -> tuple[Answer, list[tuple[str, int, int]]]:
        told = list[tuple[str, int, int]]()
        async with AsyncE2G(settings=at_once(settings, calls)) as client:
            count_once(client)
            stream = client.stream(QUESTION, corpus=sample, progress=lambda *one: told.append(one), **METHODS[method])
            pieces = [piece async for piece in stream]
        [answer] = [piece for piece in pieces if isinstance(piece, Answer)]
        return answer, told

    answer, told = ask(1)
    assert server.most == 1
    assert answer.points
    for found, heard in (ask(8), asyncio.run(ask_async(1)), asyncio.run(ask_async(8))):
        assert alike(found) == alike(answer)
        assert heard == told
    batches = told[0][2]
    assert told == [("batches", done, batches) for done in range(batches + 1)]
    assert batches > 1 or method == "dynamic"
    assert server.most > 1


# --- stopping ----------------------------------------------------------------------------------------


def useless_at_first(system: str, user: str) -> str:
    """A reply after which the model is asked again."""
    return "no" if system.startswith("List") else read_items(system, user)


def stopped(settings: Settings, server: Waiting, ask: Callable[[Callable[[Callable[[], object]], None]], None]) -> None:
    """See that no call begins after a stop while four are under way, of which none ever has a usable reply."""
    server.reply = useless_at_first
    server.go_on.clear()

    def stop_by(stop: Callable[[], object]) -> None:
        server.on_call = lambda number: stop() if number == settings.llm_concurrency else None

    ask(stop_by)
    assert server.running == len(server.begun) == settings.llm_concurrency
    server.go_on.set()
    until = time.monotonic() + 30
    while server.running and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)  # in which another call would begin
    assert (server.running, len(server.begun)) == (0, settings.llm_concurrency)


@pytest.mark.parametrize("streamed", [False, True], ids=["answer", "stream"])
def test_an_interrupt_stops(
    settings: Settings, server: Waiting, sample: str, streamed: bool, interruptible: None
) -> None:
    with E2G(settings=settings) as e2g:

        def ask(stop_by: Callable[[Callable[[], object]], None]) -> None:
            stop_by(lambda: pthread_kill(main_thread().ident or 0, SIGINT))
            call: Callable[..., Any] = (lambda *what, **how: list(e2g.stream(*what, **how))) if streamed else e2g.answer
            with pytest.raises(KeyboardInterrupt):
                call(QUESTION, corpus=sample, method="all_text")

        stopped(settings, server, ask)


@pytest.mark.parametrize("streamed", [False, True], ids=["answer", "stream"])
def test_an_async_question_that_is_cancelled_stops(
    settings: Settings, server: Waiting, sample: str, streamed: bool
) -> None:
    async def run(stop_by: Callable[[Callable[[], object]], None]) -> None:
        async with AsyncE2G(settings=settings) as client:

            async def question() -> None:
                if not streamed:
                    await client.answer(QUESTION, corpus=sample, method="all_text")
                async with aclosing(client.stream(QUESTION, corpus=sample, method="all_text")) as pieces:
                    async for _ in pieces:
                        pass

            task, loop = asyncio.ensure_future(question()), asyncio.get_running_loop()
            stop_by(lambda: loop.call_soon_threadsafe(task.cancel))
            with pytest.raises(asyncio.CancelledError):
                await task

    stopped(settings, server, lambda stop_by: asyncio.run(run(stop_by)))


@pytest.mark.parametrize("streamed", [False, True], ids=["answer", "stream"])
def test_a_client_that_leaves_stops(
    settings: Settings, server: Waiting, sample: str, neo4j_connection: Connection, streamed: bool
) -> None:
    key = create_key(environment(neo4j_connection), scopes="ask", corpora="*")
    body = {"question": QUESTION, "corpora": [sample], "method": "all_text", "stream": streamed}

    async def run(url: str, stop_by: Callable[[Callable[[], object]], None]) -> None:
        async with httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as http:
            task, loop = asyncio.ensure_future(http.post("/v1/ask", json=body)), asyncio.get_running_loop()
            stop_by(lambda: loop.call_soon_threadsafe(task.cancel))
            with suppress(asyncio.CancelledError):
                await task
            until = time.monotonic() + 30
            while time.monotonic() < until:
                metrics = (await http.get("/metrics")).text
                if "e2g_requests_in_flight 1.0" in metrics:  # this one
                    return
                await asyncio.sleep(0.05)
        raise AssertionError(metrics)

    with running(settings) as url:
        stopped(settings, server, lambda stop_by: asyncio.run(run(url, stop_by)))


def test_a_caller_who_stops_listening_stops(settings: Settings, server: Waiting, sample: str) -> None:
    with E2G(settings=settings) as e2g:
        pieces = e2g.stream(QUESTION, corpus=sample, method="all_text")
        assert isinstance(next(pieces), Evidence)
        pieces.close()
    assert server.begun == []
