"""Async calls that are cancelled while a chat model keeps silent: they end at once, and leave nothing half done.

The model's own limit is ten minutes, so that a call which waited for it would outlast the test.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator

import pytest
from at_server import settings_of
from failing_ollama import END, HANGS, NAME, Failing, part
from graphs import forget_replies

from e2g_neo4j import AsyncE2G, Settings
from e2g_neo4j.documents.files import from_text

pytestmark = pytest.mark.full

TEXT = "\n\n".join(
    f"On day {day} Luke Farran wrote in the log of the Averil, and Josiah Quill counted {day + 3} sails."
    for day in range(40)
)
QUESTION = "What did Luke Farran and Josiah Quill do on the Averil?"
SUMMARY = part("Luke Farran kept the log of the Averil.") + END.replace(b": 5", b': "all"')


@pytest.fixture
def server() -> Iterator[Failing]:
    failing = Failing()
    yield failing
    failing.stop()


@pytest.fixture
def settings(neo4j_connection, server) -> Settings:
    return settings_of(
        neo4j_connection,
        chunk_tokens=120,
        chunk_overlap=20,
        summary_tokens=40,
        ollama_host=server.host,
        chat_model=f"ollama:{NAME}",
        llm_concurrency=1,
    )


def cancelled(call: Callable[[], Awaitable[object]], server: Failing) -> None:
    """Cancel a call once the server keeps a request waiting, and see the event loop end too."""

    async def run() -> None:
        task = asyncio.ensure_future(call())
        while not server.hanging.is_set():
            assert not task.done(), task
            await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


def test_an_index_run_stops_and_another_goes_on(settings, server, corpus, driver):
    forget_replies(driver, f"ollama:{NAME}@")
    document = from_text(TEXT, corpus=corpus, source="memory:log", title="The log")

    async def index():
        async with AsyncE2G(settings=settings) as client:
            return await client.index([document], corpus=corpus)

    async def look():
        async with AsyncE2G(settings=settings) as client:
            [listed] = await client.documents(corpus)
            return listed, (await client.corpora())[corpus]

    server.replies = [SUMMARY, HANGS]
    cancelled(index, server)
    listed, visible = asyncio.run(look())
    assert (listed.state, listed.why, visible) == ("pending", None, 0)
    left = driver.execute_query("MATCH (r:E2GRun {corpus: $corpus}) RETURN count(r) AS n", corpus=corpus).records
    assert left[0]["n"] == 0  # no lease that the next run would have to wait for
    assert not [one for one in threading.enumerate() if one.name == "e2g-lease"]
    server.replies = [SUMMARY] * 20
    report = asyncio.run(index())
    assert report.documents == 1
    assert report.spending[1].remembered == 1


@pytest.mark.parametrize("streamed", [False, True], ids=["answer", "stream"])
@pytest.mark.parametrize("counting", [False, True], ids=["answering", "counting"])
def test_a_question_is_given_up(settings, server, corpus, streamed, counting):
    document = from_text(TEXT, corpus=corpus, source="memory:log", title="The log")
    asyncio.run(index_without_model(settings, document, corpus))

    async def ask() -> None:
        async with AsyncE2G(settings=settings) as client:
            if streamed:
                async for _ in client.stream(QUESTION, corpus=corpus):
                    pass
            else:
                await client.answer(QUESTION, corpus=corpus)

    server.replies = [HANGS]
    server.hang_on_samples = counting
    cancelled(ask, server)


async def index_without_model(settings: Settings, document, corpus: str) -> None:
    async with AsyncE2G(settings=settings.model_copy(update={"chat_model": None})) as client:
        await client.index([document], corpus=corpus)
