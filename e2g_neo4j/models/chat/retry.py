"""Call chat models with retries.

`chat.ollama.OllamaChat` talks to an Ollama server, `chat.langchain.LangChainChat` to any chat model of langchain-core.
Neither retries its replies; `ask`, `ask_async`, `stream` and `stream_async` do this for both. `repeat` is for what else
is asked of a server.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import CancelledError
from threading import Event
from typing import Any, TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.chat.base import RetryableError
from e2g_neo4j.types.chat import ChatModel, ChatReply, ChatRequest, StreamingChatModel

ATTEMPTS = 6
"""Maximum number of attempts of a request that fails transiently."""

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds between attempts: random, from a range that doubles each time."""

LONGEST_RETRY_AFTER = 300.0
"""Longest accepted Retry-After, in seconds. If a server asks for more, the request fails."""

T = TypeVar("T")


def repeat(call: Callable[[], T], failed: Callable[[RetryableError], Exception], stopped: Event | None = None) -> T:
    """Call until it succeeds, as often and as long as a request of a chat model.

    Args:
        failed: Returns the error to raise in the end.
        stopped: Once it is set, nothing is called any more.
    """
    try:
        for attempt in Retrying(**_retry_policy()):
            with attempt:
                if stopped and stopped.is_set():
                    raise CancelledError
                return call()
    except RetryableError as fault:
        raise failed(fault) from fault
    raise AssertionError("unreachable")


def ask(model: ChatModel, request: ChatRequest, stopped: Event | None = None) -> ChatReply:
    """Return the reply of a chat model, with retries until `stopped` is set.

    Raises:
        ModelError: The model failed permanently, or in every attempt.
    """
    return repeat(lambda: model.ask(request), lambda fault: _final_error(model, fault), stopped)


async def ask_async(model: StreamingChatModel, request: ChatRequest) -> ChatReply:
    """Like `ask`, as a coroutine."""
    try:
        async for attempt in AsyncRetrying(**_retry_policy()):
            with attempt:
                return await model.ask_async(request)
    except RetryableError as fault:
        raise _final_error(model, fault) from fault
    raise AssertionError("unreachable")


def stream(model: StreamingChatModel, request: ChatRequest) -> Iterator[str | ChatReply]:
    """Like `StreamingChatModel.stream`, with retries as long as no text was yielded.

    Raises:
        ModelError: The model failed permanently, in every attempt, or after the first piece of text.
    """
    begun = False
    try:
        for attempt in Retrying(**_retry_policy()):
            with attempt:
                try:
                    for piece in model.stream(request):
                        begun = True
                        yield piece
                except RetryableError as fault:
                    raise (_stream_error(model, fault) if begun else fault) from fault
    except RetryableError as fault:
        raise _final_error(model, fault) from fault


async def stream_async(model: StreamingChatModel, request: ChatRequest) -> AsyncGenerator[str | ChatReply, None]:
    """Like `stream`, as an async iterator."""
    begun = False
    try:
        async for attempt in AsyncRetrying(**_retry_policy()):
            with attempt:
                try:
                    async for piece in model.stream_async(request):
                        begun = True
                        yield piece
                except RetryableError as fault:
                    raise (_stream_error(model, fault) if begun else fault) from fault
    except RetryableError as fault:
        raise _final_error(model, fault) from fault


def _retry_policy() -> dict[str, Any]:
    backoff = wait_random_exponential(multiplier=FIRST_WAIT, max=LONGEST_WAIT)

    def find_retry_after(state: RetryCallState) -> float | None:
        fault = state.outcome.exception() if state.outcome else None
        return fault.retry_after if isinstance(fault, RetryableError) else None

    def wait(state: RetryCallState) -> float:
        retry_after = find_retry_after(state)
        return retry_after + backoff(state) / 10 if retry_after is not None else backoff(state)

    def stop(state: RetryCallState) -> bool:
        return stop_after_attempt(ATTEMPTS)(state) or (find_retry_after(state) or 0.0) > LONGEST_RETRY_AFTER

    return {"retry": retry_if_exception_type(RetryableError), "wait": wait, "stop": stop, "reraise": True}


def _stream_error(model: StreamingChatModel, fault: RetryableError) -> ModelError:
    return ModelError(f"the chat model {model.name} failed in the middle of its answer ({fault}). Ask again.")


def _final_error(model: ChatModel, fault: RetryableError) -> ModelError:
    return ModelError(f"the chat model {model.name} failed ({fault}). Check E2G_CHAT_MODEL and its server.")
