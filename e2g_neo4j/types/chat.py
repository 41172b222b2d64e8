"""Requests to and replies from chat models, and the protocols that chat models implement."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

Finish: TypeAlias = Literal["stop", "length", "refusal", "repetition"]
"""Why a reply ended. "repetition": the model went on repeating itself, and was stopped."""


@dataclass(frozen=True, slots=True)
class EarlierMessage:
    """A message of a conversation before the one to answer."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request to a chat model.

    Models that accept them per request receive `temperature`, `seed`, `max_tokens`, `logprobs` and `schema`. Ollama
    models accept all five. langchain-core models receive only `logprobs` and `schema`, and only if they support them.

    Attributes:
        system: the instructions.
        user: the message.
        max_tokens: the maximum length of the reply, thinking included.
        temperature: the sampling temperature.
        seed: the seed of the sampling.
        logprobs: whether to return log-probabilities of the tokens.
        schema: a JSON schema of the reply, for models that can be held to one. Others see the prompt alone.
        earlier: the conversation so far, the oldest message first.
    """

    system: str
    user: str
    max_tokens: int
    temperature: float = 0.0
    seed: int = 0
    logprobs: bool = False
    schema: Mapping[str, Any] | None = None
    earlier: tuple[EarlierMessage, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join([self.system, *(message.text for message in self.earlier), self.user])


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The reply of a chat model.

    Token counts are those that the model reported, or estimates if it reported none.

    Attributes:
        text: the text of the reply.
        finish: why the model stopped.
        prompt_tokens: the length of the prompt.
        completion_tokens: the length of the reply.
        thinking: the text of the model's reasoning, if it returned any.
        logprobs: for each token of the reply, its alternatives with the natural logarithms of their probabilities.
            Empty if they were not requested or the model does not return them.
    """

    text: str
    finish: Finish
    prompt_tokens: int
    completion_tokens: int
    thinking: str = ""
    logprobs: tuple[Mapping[str, float], ...] = ()


@dataclass(slots=True)
class ChatUsage:
    """What calls of a chat model used.

    Attributes:
        calls: the number of calls.
        prompt_tokens: the length of all prompts.
        completion_tokens: the length of all replies.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, reply: ChatReply) -> None:
        """Count a call."""
        self.calls += 1
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens

    def add_all(self, other: ChatUsage) -> None:
        """Count what other calls used."""
        self.calls += other.calls
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens


class ChatModel(Protocol):
    """A chat model that writes summaries.

    Calls raise RetryableError for temporary failures, TooLongError and ModelError for permanent ones.
    """

    @property
    def name(self) -> str:
        """A name that differs between models that would reply differently."""

    @property
    def context(self) -> int | None:
        """The maximum number of tokens of prompt and reply together; None if it is not known."""

    def count(self, text: str) -> int:
        """Return the number of tokens of a text for this model, rather too high than too low."""

    def ask(self, request: ChatRequest) -> ChatReply: ...


class StreamingChatModel(ChatModel, Protocol):
    """A chat model that also supports streaming and asynchronous calls."""

    async def ask_async(self, request: ChatRequest) -> ChatReply: ...

    def stream(self, request: ChatRequest) -> Iterator[str | ChatReply]:
        """Yield the text in pieces, then the complete reply."""

    def stream_async(self, request: ChatRequest) -> AsyncIterator[str | ChatReply]: ...
