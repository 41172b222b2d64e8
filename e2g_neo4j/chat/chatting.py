"""One small port for every chat model: what it is asked, what it replies, and patience where it fails.

`chat.ollama.OllamaChat` speaks to an Ollama server, `chat.langchain.LangChainChat` to any chat model of
langchain-core. Neither tries anything twice; `ask`, `ask_async`, `stream` and `stream_async` do, for both.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from e2g_neo4j.errors import ConfigurationError, ModelError
from e2g_neo4j.settings import Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

ATTEMPTS = 6
"""How often a request is made that fails for a reason that may pass."""

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds between attempts: drawn from a range that doubles each time."""

LONGEST_RETRY_AFTER = 300.0
"""Seconds that a server may ask to be left alone for; with more, it is given up."""

Finish: TypeAlias = Literal["stop", "length", "refusal"]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Instructions and a message; `max_tokens` of reply, thinking included.

    `temperature`, `seed`, `max_tokens` and `logprobs` reach models that take them for each request: Ollama's do; of
    langchain-core's, those that know `logprobs` take that one.
    """

    system: str
    user: str
    max_tokens: int
    temperature: float = 0.0
    seed: int = 0
    logprobs: bool = False

    @property
    def text(self) -> str:
        return f"{self.system}\n{self.user}"


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model said, and why it stopped. Tokens are those that it reported, or else estimated.

    `logprobs` has the alternatives of each token of the reply with their natural logarithms of probability, where
    they were asked for and the model gives them.
    """

    text: str
    finish: Finish
    prompt_tokens: int
    completion_tokens: int
    thinking: str = ""
    logprobs: tuple[Mapping[str, float], ...] = ()


class Askable(Protocol):
    """What writes summaries. Calls raise PassingError for what may pass, TooLongError and ModelError for what not."""

    @property
    def name(self) -> str:
        """Tells apart two models that would reply differently."""

    @property
    def context(self) -> int | None:
        """Tokens that prompt and reply may have together; None: not known."""

    def count(self, text: str) -> int:
        """How many tokens a text has for this model; rather too many than too few."""

    def ask(self, request: ChatRequest) -> ChatReply: ...


class ChatModel(Askable, Protocol):
    """A chat model, to be asked or listened to, also asynchronously."""

    async def ask_async(self, request: ChatRequest) -> ChatReply: ...

    def stream(self, request: ChatRequest) -> Iterator[str | ChatReply]:
        """The text in pieces, and in the end the whole reply."""

    def stream_async(self, request: ChatRequest) -> AsyncIterator[str | ChatReply]: ...


class PassingError(Exception):
    """A failure that may pass. `retry_after`: seconds to wait for, where the server said so."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooLongError(ModelError):
    """The prompt and the reply together do not fit into the model's context."""


class Gauge:
    """How many tokens a text has, learnt from the counts that a model reports.

    The densest text seen so far counts, and a margin on top of it. Before there is any, each byte is a token.
    """

    MARGIN = 1.25

    def __init__(self, tokens_per_byte: float | None = None) -> None:
        self._densest = tokens_per_byte
        self._lock = Lock()

    @property
    def known(self) -> bool:
        return self._densest is not None

    def count(self, text: str) -> int:
        return int(len(text.encode()) * (self._densest or 1.0) * self.MARGIN) + 1

    def learn(self, text: str, tokens: int) -> None:
        with self._lock:
            self._densest = max(self._densest or 0.0, tokens / max(len(text.encode()), 1))


# --- patience ----------------------------------------------------------------------------------------


def ask(model: Askable, request: ChatRequest) -> ChatReply:
    """The reply, after as many attempts as it takes. Raises ModelError when patience ends."""
    try:
        for attempt in Retrying(**_patience()):
            with attempt:
                return model.ask(request)
    except PassingError as fault:
        raise _given_up(model, fault) from fault
    raise AssertionError("unreachable")


async def ask_async(model: ChatModel, request: ChatRequest) -> ChatReply:
    """As `ask`."""
    try:
        async for attempt in AsyncRetrying(**_patience()):
            with attempt:
                return await model.ask_async(request)
    except PassingError as fault:
        raise _given_up(model, fault) from fault
    raise AssertionError("unreachable")


def stream(model: ChatModel, request: ChatRequest) -> Iterator[str | ChatReply]:
    """As `ChatModel.stream`, begun anew as long as nothing was given out yet. Raises ModelError."""
    begun = False
    try:
        for attempt in Retrying(**_patience()):
            with attempt:
                try:
                    for piece in model.stream(request):
                        begun = True
                        yield piece
                except PassingError as fault:
                    raise (_broken_off(model, fault) if begun else fault) from fault
    except PassingError as fault:
        raise _given_up(model, fault) from fault


async def stream_async(model: ChatModel, request: ChatRequest) -> AsyncIterator[str | ChatReply]:
    """As `stream`."""
    begun = False
    try:
        async for attempt in AsyncRetrying(**_patience()):
            with attempt:
                try:
                    async for piece in model.stream_async(request):
                        begun = True
                        yield piece
                except PassingError as fault:
                    raise (_broken_off(model, fault) if begun else fault) from fault
    except PassingError as fault:
        raise _given_up(model, fault) from fault


def _patience() -> dict[str, Any]:
    backing_off = wait_random_exponential(multiplier=FIRST_WAIT, max=LONGEST_WAIT)

    def wait(state: RetryCallState) -> float:
        fault = state.outcome.exception() if state.outcome else None
        asked = fault.retry_after if isinstance(fault, PassingError) else None
        return asked + backing_off(state) / 10 if asked is not None else backing_off(state)

    def over(state: RetryCallState) -> bool:
        fault = state.outcome.exception() if state.outcome else None
        asked = fault.retry_after if isinstance(fault, PassingError) else None
        return stop_after_attempt(ATTEMPTS)(state) or (asked or 0.0) > LONGEST_RETRY_AFTER

    return {"retry": retry_if_exception_type(PassingError), "wait": wait, "stop": over, "reraise": True}


def seconds_in(headers: Any) -> float | None:
    """The seconds of a Retry-After header; None without one, or where it holds a date."""
    value = headers.get("retry-after") if headers is not None else None
    try:
        return max(float(value), 0.0) if value is not None else None
    except ValueError:
        return None


def _broken_off(model: ChatModel, fault: PassingError) -> ModelError:
    return ModelError(f"the chat model {model.name} broke off in the middle of its answer ({fault}). Ask again.")


def _given_up(model: Askable, fault: PassingError) -> ModelError:
    return ModelError(f"the chat model {model.name} failed ({fault}). Check E2G_CHAT_MODEL and its server.")


# --- which model -------------------------------------------------------------------------------------

_HOW_TO_NAME = (
    "write provider:NAME, such as ollama:qwen3:8b, and set what the provider wants beside it, such as its key"
)


def load_chat_model(settings: Settings, given: BaseChatModel | None = None) -> ChatModel | None:
    """The chat model that was handed in, or else the one that the settings name; None without one.

    `ollama:NAME` is a model of an Ollama server, any other `provider:NAME` one of langchain's `init_chat_model`.
    Raises ConfigurationError where langchain or the provider's package is not installed, or the provider wants more
    than the name, such as a key.
    """
    from e2g_neo4j.chat.langchain import LangChainChat
    from e2g_neo4j.chat.ollama import OllamaChat

    if given is not None:
        return LangChainChat(given, context=settings.llm_context)
    if settings.chat_model is None:
        return None
    provider, _, name = settings.chat_model.partition(":")
    if not name:
        raise ConfigurationError(f"E2G_CHAT_MODEL {settings.chat_model!r} names no model: {_HOW_TO_NAME}.")
    if provider.lower() == "ollama":
        return OllamaChat(name, settings.ollama_host, context=settings.llm_context, timeout=settings.llm_timeout)
    return LangChainChat(_initialised(settings.chat_model), context=settings.llm_context)


def _initialised(name: str) -> BaseChatModel:
    try:
        model: BaseChatModel = importlib.import_module("langchain.chat_models").init_chat_model(name)
    except ImportError as error:
        raise ConfigurationError(
            f"The chat model {name!r} needs a package that is missing ({error}): run "
            "`pip install langchain langchain-PROVIDER`, or hand E2G(chat_model=…) a model of your own."
        ) from error
    except Exception as error:  # a provider's package raises what it likes: no such provider, no key, no such option
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise ConfigurationError(f"E2G_CHAT_MODEL {name!r} cannot be used ({reason}): {_HOW_TO_NAME}.") from error
    return model
