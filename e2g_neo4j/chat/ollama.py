"""Chat models of an Ollama server.

Ollama cuts a prompt that does not fit into `num_ctx`, and says nothing. So `num_ctx` is set from the prompt: its
tokens are estimated from the counts that the server reported for earlier prompts, the first of them a sample that
certainly fits, and the count that comes back is compared: a prompt that was cut is sent again with more room.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import httpx
from ollama import AsyncClient, ChatResponse, Client, ResponseError

from e2g_neo4j.chat.chatting import ChatReply, ChatRequest, Gauge, PassingError, TooLongError, seconds_in
from e2g_neo4j.errors import ModelError
from e2g_neo4j.threads import in_thread

_SAMPLE = 1000
"""Characters that the tokens of a text are first estimated from."""

_STEP = 2048
"""`num_ctx` grows in such steps and never shrinks, because a model is loaded anew whenever it changes."""

_TEMPLATE = 64
"""Tokens that a model's template may add to a prompt."""

_PASSING = {408, 425, 429, 500, 502, 503, 504}
"""HTTP statuses that may be others the next time."""

_ALTERNATIVES = 20
"""Log-probabilities for each token: as many as Ollama gives."""


@dataclass(frozen=True, slots=True)
class _About:
    digest: str
    context: int
    thinks: bool


class OllamaChat:
    """A chat model of an Ollama server.

    Args:
        model: its name there.
        host: None: `OLLAMA_HOST`, or the usual port on this machine.
        context: tokens that prompt and reply may have together; None: as many as the model was trained for.
        timeout: seconds without any token after which a call has failed.
    """

    def __init__(
        self, model: str, host: str | None = None, *, context: int | None = None, timeout: float = 600.0
    ) -> None:
        self._model = model
        self._host = host
        self._wanted = context
        self._timeout = httpx.Timeout(timeout, connect=min(timeout, 10.0))
        self._client = Client(host, timeout=self._timeout)
        self._gauge = Gauge()
        self._window = 0

    @property
    def name(self) -> str:
        """With the digest of its weights, as a name may be given to others."""
        return f"ollama:{self._model}@{self._about.digest[:12]}"

    @property
    def context(self) -> int:
        return min(self._wanted or self._about.context, self._about.context)

    def count(self, text: str) -> int:
        if not self._gauge.known:
            sample = text[: min(_SAMPLE, self.context // 8)]
            options = {"num_ctx": self._room(len(sample.encode()) + 1), "num_predict": 1, "temperature": 0.0}
            for _ in self._pieces(ChatRequest("", sample, 1), options):
                pass
        return self._gauge.count(text)

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
        heard = _Heard()
        try:
            async with AsyncClient(self._host, timeout=self._timeout) as client:
                async for part in await client.chat(**self._arguments(request, options)):
                    if piece := heard.add(part):
                        yield piece
        except Exception as error:
            raise self._explained(error) from error
        yield self._checked(request, heard, options)

    def _pieces(self, request: ChatRequest, options: dict[str, Any]) -> Iterator[str | ChatReply]:
        heard = _Heard()
        try:
            for part in self._client.chat(**self._arguments(request, options)):
                if piece := heard.add(part):
                    yield piece
        except Exception as error:
            raise self._explained(error) from error
        yield self._checked(request, heard, options)

    def _arguments(self, request: ChatRequest, options: dict[str, Any]) -> dict[str, Any]:
        messages = [{"role": "system", "content": request.system}] if request.system else []
        arguments: dict[str, Any] = {
            "model": self._model,
            "messages": [*messages, {"role": "user", "content": request.user}],
            "stream": True,
            "options": options,
        }
        if self._about.thinks:
            arguments["think"] = False
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
            # Ollama makes the last 64 tokens of a prompt less probable, and letters to choose from stand among them.
            options["repeat_penalty"] = 1.0
        return options

    def _room(self, tokens: int) -> int:
        """The `num_ctx` for so many tokens of prompt and reply."""
        tokens += _TEMPLATE
        if tokens > self.context:
            raise TooLongError(
                f"{tokens} tokens of prompt and reply do not fit into the {self.context} that {self._model} reads. "
                "Set E2G_LLM_CONTEXT higher where the model allows, or use one with a longer context."
            )
        self._window = min(max(self._window, math.ceil(tokens / _STEP) * _STEP), self.context)
        return self._window

    def _checked(self, request: ChatRequest, heard: _Heard, options: dict[str, Any]) -> ChatReply:
        """The whole reply, once it is certain that the model read the whole prompt."""
        last = heard.last
        if last is None:
            raise PassingError("the connection was cut in mid-stream")
        reported = last.prompt_eval_count or 0
        words = len(request.text.split())
        if reported >= options["num_ctx"] or (reported and reported < words):
            self._gauge.learn(request.text, max(len(request.text.encode()), 2 * reported))
            if reported < options["num_ctx"]:
                raise ModelError(
                    f"Ollama read {reported} tokens of a prompt of {words} words: the server cuts prompts below the "
                    f"{options['num_ctx']} tokens that were asked for. Set E2G_LLM_CONTEXT to what it allows."
                )
            raise PassingError("the server cut the prompt", retry_after=0.0)
        if reported:
            self._gauge.learn(request.text, reported)
        return ChatReply(
            text="".join(heard.text),
            finish="length" if last.done_reason == "length" else "stop",
            prompt_tokens=reported or self._gauge.count(request.text),
            completion_tokens=last.eval_count or 0,
            thinking="".join(heard.thinking),
            logprobs=tuple(heard.logprobs),
        )

    @cached_property
    def _about(self) -> _About:
        try:
            shown = self._client.show(self._model)
            listed = self._client.list().models
        except Exception as error:
            explained = self._explained(error)
            raise (ModelError(f"{explained}.") if isinstance(explained, PassingError) else explained) from error
        lengths = [v for key, v in (shown.modelinfo or {}).items() if key.endswith(".context_length")]
        names = {self._model, f"{self._model}:latest"}
        digests = [one.digest or "" for one in listed if one.model in names]
        return _About(
            digests[0] if digests else "",
            int(lengths[0]) if lengths else 2048,
            "thinking" in (shown.capabilities or []),
        )

    def _explained(self, error: Exception) -> Exception:
        """What went wrong, and whether it may pass."""
        reason = (str(error) or type(error).__name__).strip().splitlines()[0][:200]
        if isinstance(error, ResponseError):
            if error.status_code == 404:
                return ModelError(f"Ollama has no model {self._model}. Fetch it with `ollama pull {self._model}`.")
            if "context length" in error.error:
                return TooLongError(f"Ollama refused a prompt for {self._model}: {error.error}.")
            # An error in mid-stream has no status.
            if error.status_code in _PASSING or error.status_code < 0:
                return PassingError(f"Ollama said {reason!r}", _retry_after(error))
            return ModelError(f"Ollama refused the request: {reason}. Look into the log of its server.")
        if isinstance(error, ConnectionError):
            return PassingError("Ollama does not answer: start it with `ollama serve`, or set E2G_OLLAMA_HOST")
        if isinstance(error, httpx.TimeoutException):
            return PassingError("Ollama took too long: E2G_LLM_TIMEOUT allows for more")
        if isinstance(error, httpx.HTTPError):
            return PassingError(f"the connection to Ollama broke ({reason})")
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | ValueError):
            return PassingError(f"Ollama's answer cannot be read ({reason})")
        return error


@dataclass(slots=True)
class _Heard:
    """A streamed reply as far as it was heard; `last` is the part that ends it."""

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


def _retry_after(error: ResponseError) -> float | None:
    # The package keeps status and text of a response; its headers are in the exception that it replaced.
    replaced = error.__context__
    return seconds_in(replaced.response.headers) if isinstance(replaced, httpx.HTTPStatusError) else None
