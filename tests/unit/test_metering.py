"""Tokens of calls count, also of those that failed or were broken off; and spans say how long calls took."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, nullcontext
from functools import partial
from typing import Any, cast

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from e2g_neo4j.answering.citations import CitationFilter
from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Chat, Embed
from e2g_neo4j.runtime.tracing import span
from e2g_neo4j.service.limits import Limits
from e2g_neo4j.service.problems import ProblemError
from e2g_neo4j.service.state import MeteredModel
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatReply, ChatRequest
from e2g_neo4j.types.service import Caller

REQUEST = ChatRequest("be brief", "who was at the helm", 100)


class Model:
    """Says two words, then fails, or does not."""

    name, context = "two-words", None

    def __init__(self, fails_after: int | None = None) -> None:
        self._fails_after = fails_after

    def count(self, text: str) -> int:
        return len(text.split())

    async def ask_async(self, request: ChatRequest) -> ChatReply:
        await asyncio.sleep(0.01)  # meanwhile others may ask
        return ChatReply("Luke Farran", "stop", 70, 20)

    async def stream_async(self, request: ChatRequest) -> AsyncIterator[str | ChatReply]:
        await asyncio.sleep(0.01)
        for number, word in enumerate(("Luke ", "Farran")):
            if self._fails_after == number:
                raise ModelError("The ship has sunk.")
            yield word
        yield ChatReply("Luke Farran", "stop", 70, 20)


def metered(**more: Any) -> tuple[Any, list[tuple[int, int]]]:
    used: list[tuple[int, int]] = []
    model: Any = Model(**more)
    return MeteredModel(model, lambda *tokens: used.append(tokens), lambda _: nullcontext()), used


async def test_a_complete_reply_counts_what_the_model_reports() -> None:
    model, used = metered()
    assert [piece async for piece in model.stream_async(REQUEST)][:2] == ["Luke ", "Farran"]
    await model.ask_async(REQUEST)
    assert used == [(70, 20)] * 2


async def test_calls_at_the_same_time_never_use_more_than_a_limit() -> None:
    """The prompt has 7 words, and the longest reply 100 tokens; each call uses 90 of these 107."""
    limited: tuple[Any, ...] = ({"tokens_per_day": 300}, {"tokens_per_minute": 300})
    for limit in limited:
        limits = Limits(cast(Any, None))  # nothing is written
        caller = Caller("small", frozenset(["ask"]), ("*",), **limit)
        used: list[int] = []

        def count(prompt: int, completion: int, to: Any = (limits, caller, used)) -> None:
            to[0].add_tokens(to[1], prompt, completion)
            to[2].append(prompt + completion)

        chat: Any = MeteredModel(cast(Any, Model()), count, partial(limits.reserve, caller))

        async def stream(chat: Any = chat) -> list[Any]:
            return [piece async for piece in chat.stream_async(REQUEST)]

        calls = [chat.ask_async(REQUEST) if n % 2 else stream() for n in range(8)]
        ended = await asyncio.gather(*calls, return_exceptions=True)
        refused = [one for one in ended if isinstance(one, ProblemError)]
        assert {one.status for one in refused} == {429}
        assert "may use 107" in str(refused[0])
        if len(used) == 2:  # what the two did not use was given back: 180 + 107 are less than 300
            await chat.ask_async(REQUEST)
        assert used == [90] * 3
        with pytest.raises(ProblemError, match="30 are left"):
            await chat.ask_async(REQUEST)
        with pytest.raises(ProblemError):
            await stream()


async def test_a_broken_off_reply_counts_what_came() -> None:
    model, used = metered()
    async with aclosing(model.stream_async(REQUEST)) as pieces:
        await anext(pieces)
    assert used == [(7, 1)]


async def test_a_reply_that_failed_counts_what_came() -> None:
    for fails_after, expected in ((1, [(7, 1)]), (0, [])):
        model, used = metered(fails_after=fails_after)
        with pytest.raises(ModelError):
            _ = [piece async for piece in model.stream_async(REQUEST)]
        assert used == expected


async def test_a_call_that_was_cancelled_before_its_reply_counts_the_prompt() -> None:
    model, used = metered()

    async def slow(request: ChatRequest) -> AsyncIterator[str]:
        await asyncio.sleep(60)
        yield ""

    model.model.stream_async = slow
    job = asyncio.ensure_future(anext(model.stream_async(REQUEST)))
    await asyncio.sleep(0.05)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert used == [(7, 0)]


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return exporter


def attributes(found: ReadableSpan) -> dict[str, Any]:
    return dict(found.attributes or {})


async def test_calls_of_models_have_spans_without_their_texts(spans: InMemorySpanExporter) -> None:
    models, model = Models(Settings()), metered()[0]
    request = Chat(model, REQUEST, CitationFilter(1))
    with trace.get_tracer("test").start_as_current_span("request"):
        await models.ask_async(request)
        _ = [piece async for piece in models.stream_async(request)]
        await asyncio.wrap_future(models.vector(Embed("Who was at the helm?")))
    asked, streamed, embedded, outer = spans.get_finished_spans()
    tokens = {"e2g.prompt_tokens": 70, "e2g.completion_tokens": 20}
    for found in (asked, streamed):
        assert (found.name, attributes(found)) == ("e2g.chat", {"e2g.model": "two-words", **tokens})
    assert (embedded.name, attributes(embedded)) == ("e2g.embed", {"e2g.model": models.query_embedder.name})
    for found in (asked, streamed, embedded):
        assert found.parent is not None
        assert found.parent.span_id == outer.context.span_id


async def test_a_failed_call_names_its_error_only(spans: InMemorySpanExporter) -> None:
    model = metered(fails_after=0)[0]
    with pytest.raises(ModelError):
        _ = [piece async for piece in Models(Settings()).stream_async(Chat(model, REQUEST, CitationFilter(1)))]
    [found] = spans.get_finished_spans()
    assert attributes(found) == {"e2g.model": "two-words", "error.type": "ModelError"}
    assert found.status.status_code == trace.StatusCode.ERROR
    assert found.status.description is None
    assert not found.events


def test_without_opentelemetry_there_are_no_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(__import__("sys").modules, "opentelemetry.trace")
    with span("e2g.chat", {}) as opened:
        opened.set_attribute("e2g.k", 1)
