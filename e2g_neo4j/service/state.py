"""What the routes of an app share, among it the chat model, whose calls are counted."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractContextManager, aclosing
from dataclasses import dataclass
from functools import partial

from fastapi import Request

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.runtime.threads import in_thread
from e2g_neo4j.service.limits import Limits
from e2g_neo4j.service.observability import Metrics
from e2g_neo4j.service.problems import ProblemError
from e2g_neo4j.types.chat import ChatReply, ChatRequest, StreamingChatModel
from e2g_neo4j.types.service import Caller


@dataclass(frozen=True, slots=True)
class MeteredModel:
    """A chat model whose calls are counted: `used` is called with the prompt and completion tokens of each.

    An asynchronous call without a complete reply, the only kind that the service breaks off, counts with estimates:
    those of the prompt and of the text that came. A call that failed before any text came counts nothing.

    Before each call the most that it may use is reserved: its prompt, as the model counts it, and the longest reply.
    """

    model: StreamingChatModel
    used: Callable[[int, int], None]
    reserve: Callable[[int], AbstractContextManager[None]]

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def context(self) -> int | None:
        return self.model.context

    def count(self, text: str) -> int:
        return self.model.count(text)

    def ask(self, request: ChatRequest) -> ChatReply:
        with self.reserve(self.count(request.text) + request.max_tokens):
            return self._count(self.model.ask(request))

    async def ask_async(self, request: ChatRequest) -> ChatReply:
        async with aclosing(self.stream_async(request)) as pieces:
            [*_, reply] = [piece async for piece in pieces]
        assert isinstance(reply, ChatReply)  # noqa: S101 (the last piece of every stream)
        return reply

    def stream(self, request: ChatRequest) -> Iterator[str | ChatReply]:
        with self.reserve(self.count(request.text) + request.max_tokens):
            for piece in self.model.stream(request):
                yield self._count(piece) if isinstance(piece, ChatReply) else piece

    async def stream_async(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply, None]:
        prompt = await in_thread(self.count, request.text)
        said: list[str] = []
        complete = failed = False
        with self.reserve(prompt + request.max_tokens):
            try:
                async for piece in self.model.stream_async(request):
                    if isinstance(piece, ChatReply):
                        complete = True
                        self._count(piece)
                    else:
                        said.append(piece)
                    yield piece
            except Exception:
                failed = True
                raise
            finally:
                if not complete and (said or not failed):
                    self.used(prompt, self.count("".join(said)))

    def _count(self, reply: ChatReply) -> ChatReply:
        self.used(reply.prompt_tokens, reply.completion_tokens)
        return reply


@dataclass(frozen=True, slots=True)
class State:
    """What the routes of an app share. `public_url` is its address in links, without a slash at its end; empty: links
    are relative."""

    client: AsyncE2G
    limits: Limits
    metrics: Metrics
    public_url: str

    def chat_model(self, caller: Caller) -> StreamingChatModel:
        """Return the chat model, whose tokens are reserved and counted for a caller. Raises a 501 without one."""
        model = self.client.models.chat_model
        if model is None:
            raise ProblemError(501, "no_chat_model", "No chat model is configured on this service (E2G_CHAT_MODEL).")
        return MeteredModel(model, partial(self.used, caller), partial(self.limits.reserve, caller))

    def used(self, caller: Caller, prompt: int, completion: int) -> None:
        self.limits.add_tokens(caller, prompt, completion)
        self.metrics.used(prompt, completion)


def state_of(request: Request) -> State:
    state: State = request.app.state.service
    return state
