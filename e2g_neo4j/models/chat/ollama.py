"""Chat models of an Ollama server.

Ollama silently truncates a prompt that does not fit into `num_ctx`. So `num_ctx` is set from the prompt. Its tokens are
estimated from the counts that the server reported for earlier prompts; the first of these is a sample that certainly
fits. The reported count is checked: a prompt that was truncated is sent again with a larger `num_ctx`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import httpx
from ollama import AsyncClient, ChatResponse, Client, ListResponse, ResponseError, ShowResponse

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.chat.base import RetryableError, TokenEstimator, TooLongError, first_line, seconds_in
from e2g_neo4j.models.chat.retry import repeat
from e2g_neo4j.runtime.loopback import without_proxy
from e2g_neo4j.runtime.threads import in_thread
from e2g_neo4j.types.chat import ChatReply, ChatRequest, Finish

T = TypeVar("T")

_SAMPLE = 1000
"""Characters of the text from which the first estimate of tokens is made."""

_STEP = 2048
"""`num_ctx` grows in steps of this size and never shrinks, because the server reloads the model when it changes."""

_TEMPLATE = 64
"""Tokens that a model's template may add to a prompt."""

_RETRYABLE = {408, 425, 429, 500, 502, 503, 504}
"""HTTP statuses of transient errors."""

_REPEATED = re.compile(r"(.{50,300}?)\1{3}\Z", re.DOTALL)
"""The end of a reply that repeats itself: four times the same 50 to 300 characters, or a shorter text more often."""

_LOOK_EVERY = 32
"""Pieces, about tokens, after which a reply is searched for repetition."""

_ALTERNATIVES = 20
"""Log-probabilities per token: the maximum of Ollama."""


@dataclass(frozen=True, slots=True)
class _ModelInfo:
    digest: str
    context: int
    thinks: bool


class OllamaChat:
    """A chat model of an Ollama server.

    Args:
        model: Name of the model on the server.
        host: Address of the server. Default: `OLLAMA_HOST`, or the default port on this machine.
        context: Maximum number of tokens of prompt and reply. Default: the context length of the model.
        timeout: Seconds without a token after which a call fails.
        schemas: Whether replies are held to the schema of their request.
    """

    def __init__(
        self,
        model: str,
        host: str | None = None,
        *,
        context: int | None = None,
        timeout: float = 600.0,
        schemas: bool = True,
    ) -> None:
        self._model = model
        self._host = host
        self._wanted = context
        self._schemas = schemas
        self._http: dict[str, Any] = {
            "timeout": httpx.Timeout(timeout, connect=min(timeout, 10.0)),
            "verify": httpx.create_ssl_context(),  # takes .1 s, for which each async call would block the event loop
            **without_proxy(host),
        }
        self._client = Client(host, **self._http)
        self._estimator = TokenEstimator()
        self._window = 0

    @property
    def name(self) -> str:
        """The name with the digest of the weights, because other weights may get the same name."""
        return f"ollama:{self._model}@{self._info.digest[:12]}"

    @property
    def context(self) -> int:
        return min(self._wanted or self._info.context, self._info.context)

    def count(self, text: str) -> int:
        if not self._estimator.known:
            sample = text[: min(_SAMPLE, self.context // 8)]
            options = {"num_ctx": self._room(len(sample.encode()) + 1), "num_predict": 1, "temperature": 0.0}
            self._call_with_retries(lambda: list(self._pieces(ChatRequest("", sample, 1), options)))
        return self._estimator.count(text)

    def ask(self, request: ChatRequest) -> ChatReply:
        [*_, reply] = self.stream(request)
        assert isinstance(reply, ChatReply)  # noqa: S101 (the last piece of every stream)
        return reply

    async def ask_async(self, request: ChatRequest) -> ChatReply:
        async for piece in self.stream_async(request):
            if isinstance(piece, ChatReply):
                return piece
        raise AssertionError("unreachable")

    def stream(self, request: ChatRequest) -> Iterator[str | ChatReply]:
        yield from self._pieces(request, self._options(request))

    async def stream_async(self, request: ChatRequest) -> AsyncIterator[str | ChatReply]:
        options = await in_thread(self._options, request)
        received = _StreamedReply()
        try:
            async with AsyncClient(self._host, **self._http) as client:
                async for part in await client.chat(**self._arguments(request, options)):
                    if piece := received.add(part):
                        yield piece
                    if received.repeats():
                        break  # to close the connection ends the reply
        except Exception as error:
            raise self._translate_error(error) from error
        yield self._check_reply(request, received, options)

    def _pieces(self, request: ChatRequest, options: dict[str, Any]) -> Iterator[str | ChatReply]:
        received = _StreamedReply()
        try:
            parts = self._client.chat(**self._arguments(request, options))
            with closing(parts):
                for part in parts:
                    if piece := received.add(part):
                        yield piece
                    if received.repeats():
                        break  # to close the connection ends the reply
        except Exception as error:
            raise self._translate_error(error) from error
        yield self._check_reply(request, received, options)

    def _arguments(self, request: ChatRequest, options: dict[str, Any]) -> dict[str, Any]:
        messages = [{"role": "system", "content": request.system}] if request.system else []
        messages += [{"role": message.role, "content": message.text} for message in request.earlier]
        arguments: dict[str, Any] = {
            "model": self._model,
            "messages": [*messages, {"role": "user", "content": request.user}],
            "stream": True,
            "options": options,
        }
        if self._info.thinks:
            arguments["think"] = False
        if request.schema and self._schemas:
            arguments["format"] = request.schema
        if request.logprobs:
            arguments |= {"logprobs": True, "top_logprobs": _ALTERNATIVES}
        return arguments

    def _options(self, request: ChatRequest) -> dict[str, Any]:
        tokens = self.count(request.text)
        options = {
            "num_ctx": self._room(tokens + request.max_tokens),
            "num_predict": request.max_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
        }
        if request.logprobs:
            # Ollama penalises the last 64 tokens of a prompt by default, and these contain the letters of the options.
            options["repeat_penalty"] = 1.0
        return options

    def _room(self, tokens: int) -> int:
        """Return the `num_ctx` for a number of prompt and reply tokens."""
        tokens += _TEMPLATE
        if tokens > self.context:
            raise TooLongError(
                f"Prompt and reply need {tokens} tokens, but the context of {self._model} has {self.context}. Increase "
                "E2G_LLM_CONTEXT if the model allows it, or use a model with a longer context."
            )
        self._window = min(max(self._window, math.ceil(tokens / _STEP) * _STEP), self.context)
        return self._window

    def _check_reply(self, request: ChatRequest, received: _StreamedReply, options: dict[str, Any]) -> ChatReply:
        """Return the complete reply, after checking that the model read the complete prompt."""
        last = received.last
        if last is None and received.repeated:
            return received.reply("repetition", self._estimator.count(request.text), len(received.text))
        if last is None:
            raise RetryableError("the connection was lost during the reply")
        reported = last.prompt_eval_count or 0
        words = len(request.text.split())
        truncated = self._estimator.is_truncated(request.text, reported)
        if reported >= options["num_ctx"] or truncated:
            self._estimator.learn(request.text, max(len(request.text.encode()), 2 * reported))
            if reported < options["num_ctx"]:
                raise ModelError(
                    f"Ollama read {reported} tokens of a prompt of {words} words: the server truncates prompts to less "
                    f"than the requested {options['num_ctx']} tokens. Set E2G_LLM_CONTEXT to its limit."
                )
            raise RetryableError("the server truncated the prompt", retry_after=0.0)
        if reported:
            self._estimator.learn(request.text, reported)
        finish: Finish = "length" if last.done_reason == "length" else "stop"
        return received.reply(finish, reported or self._estimator.count(request.text), last.eval_count or 0)

    @cached_property
    def _info(self) -> _ModelInfo:
        shown, listed = self._call_with_retries(self._look_up)
        lengths = [v for key, v in (shown.modelinfo or {}).items() if key.endswith(".context_length")]
        names = {self._model, f"{self._model}:latest"}
        digests = [one.digest or "" for one in listed if one.model in names]
        return _ModelInfo(
            digests[0] if digests else "",
            int(lengths[0]) if lengths else 2048,
            "thinking" in (shown.capabilities or []),
        )

    def _look_up(self) -> tuple[ShowResponse, Sequence[ListResponse.Model]]:
        try:
            return self._client.show(self._model), self._client.list().models
        except Exception as error:
            translated = self._translate_error(error)
            busy = isinstance(error, ResponseError)  # another server, or none, will not become this one soon
            if isinstance(translated, RetryableError) and not busy:
                raise ModelError(f"{translated}.") from error
            raise translated from error

    def _call_with_retries(self, call: Callable[[], T]) -> T:
        """Ask the server for something besides a reply, with retries."""
        name = f"ollama:{self._model}"
        advice = "Check E2G_CHAT_MODEL and its server."
        return repeat(call, lambda fault: ModelError(f"the chat model {name} failed ({fault}). {advice}"))

    def _translate_error(self, error: Exception) -> Exception:
        """Translate an error: transient ones to RetryableError, others to ModelError."""
        reason = first_line(error)
        if isinstance(error, ResponseError):
            if error.status_code == 404:
                return ModelError(f"Ollama has no model {self._model}. Run `ollama pull {self._model}`.")
            if "context length" in error.error:
                return TooLongError(f"Ollama rejected a prompt for {self._model}: {error.error}.")
            # An error during a stream has no status.
            if error.status_code in _RETRYABLE or error.status_code < 0:
                return RetryableError(f"Ollama reported {reason!r}", retry_after(error))
            return ModelError(f"Ollama rejected the request: {reason}. See the log of its server.")
        if isinstance(error, ConnectionError):
            return RetryableError("Ollama does not respond: run `ollama serve`, or set E2G_OLLAMA_HOST")
        if isinstance(error, httpx.TimeoutException):
            return RetryableError("Ollama timed out: increase E2G_LLM_TIMEOUT")
        if isinstance(error, httpx.HTTPError):
            return RetryableError(f"the connection to Ollama failed ({reason})")
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | ValueError):
            return RetryableError(f"Ollama sent a reply that cannot be parsed ({reason})")
        return error


@dataclass(slots=True)
class _StreamedReply:
    """The parts of a streamed reply that were received so far. `last` is the final part."""

    repeated: bool = False
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    logprobs: list[dict[str, float]] = field(default_factory=list)
    last: ChatResponse | None = None

    def add(self, part: ChatResponse) -> str:
        piece = part.message.content or ""
        self.text.append(piece)
        self.thinking.append(part.message.thinking or "")
        for token in part.logprobs or ():
            alternatives = token.top_logprobs or [token]
            self.logprobs.append({one.token: one.logprob for one in alternatives})
        if part.done:
            self.last = part
        return piece

    def reply(self, finish: Finish, prompt_tokens: int, completion_tokens: int) -> ChatReply:
        text, thinking = "".join(self.text), "".join(self.thinking)
        return ChatReply(text, finish, prompt_tokens, completion_tokens, thinking, tuple(self.logprobs))

    def repeats(self) -> bool:
        """Return whether the reply goes on repeating itself. This is looked for now and then."""
        if self.last is None and len(self.text) % _LOOK_EVERY == 0:
            said = self.text if self.text[-1] else self.thinking
            self.repeated = bool(_REPEATED.search("".join(said)[-1200:]))
        return self.repeated


def retry_after(error: ResponseError) -> float | None:
    """Return the seconds of the header Retry-After, if the server sent one."""
    # The package keeps only status and text of a response. The headers are in the original exception.
    replaced = error.__context__
    return seconds_in(replaced.response.headers) if isinstance(replaced, httpx.HTTPStatusError) else None
