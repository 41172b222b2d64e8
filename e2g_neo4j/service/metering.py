"""A chat model that counts the tokens of its calls, also of those that failed or were broken off."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from e2g_neo4j.runtime.threads import in_thread
from e2g_neo4j.types.chat import ChatReply, ChatRequest, StreamingChatModel
from e2g_neo4j.types.service import Caller

Reserve: TypeAlias = Callable[[Caller, int], Callable[[], None]]
"""Reserves tokens for a call of a caller, or raises an error if its limits leave less. Returns what gives them back, to
be called once, after the tokens that were used have been counted."""


@dataclass(frozen=True, slots=True)
class MeteredModel:
    """A chat model whose calls are counted.

    An asynchronous stream without a complete reply, the only kind that the service breaks off, counts with estimates:
    those of the prompt and of the text that came. A call that failed before any text came counts nothing.

    Before each call the most that it may use is reserved: its prompt, as the model counts it, and the longest reply.

    Attributes:
        model: The model.
        used: Is called with the prompt and completion tokens of each call.
        reserve: Reserves tokens, or raises an error; None: there is no limit.
    """

    model: StreamingChatModel
    used: Callable[[int, int], None]
    reserve: Callable[[int], Callable[[], None]] | None = None

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def context(self) -> int | None:
        return self.model.context

    def count(self, text: str) -> int:
        return self.model.count(text)

    def ask(self, request: ChatRequest) -> ChatReply:
        with self._reserved(request, self.count(request.text)):
            return self._counted(self.model.ask(request))

    async def ask_async(self, request: ChatRequest) -> ChatReply:
        with self._reserved(request, await in_thread(self.count, request.text)):
            return self._counted(await self.model.ask_async(request))

    def stream(self, request: ChatRequest) -> Iterator[str | ChatReply]:
        with self._reserved(request, self.count(request.text)):
            for piece in self.model.stream(request):
                yield self._counted(piece) if isinstance(piece, ChatReply) else piece

    async def stream_async(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply, None]:
        prompt = await in_thread(self.count, request.text)
        said: list[str] = []
        complete = failed = False
        with self._reserved(request, prompt):
            try:
                async for piece in self.model.stream_async(request):
                    if isinstance(piece, ChatReply):
                        complete = True
                        self._counted(piece)
                    else:
                        said.append(piece)
                    yield piece
            except Exception:
                failed = True
                raise
            finally:
                if not complete and (said or not failed):
                    self.used(prompt, self.count("".join(said)))

    @contextmanager
    def _reserved(self, request: ChatRequest, prompt: int) -> Iterator[None]:
        give_back = self.reserve(prompt + request.max_tokens) if self.reserve else None
        try:
            yield
        finally:
            if give_back:
                give_back()

    def _counted(self, reply: ChatReply) -> ChatReply:
        self.used(reply.prompt_tokens, reply.completion_tokens)
        return reply


def metered(
    model: StreamingChatModel | None,
    caller: Caller,
    used: Callable[[Caller, int, int], None] | None,
    reserve: Reserve | None = None,
) -> StreamingChatModel | None:
    """Return a model, if there is one, whose tokens are counted for a caller. Without `used`, they are not counted."""
    if model is None or used is None:
        return model
    return MeteredModel(model, partial(used, caller), partial(reserve, caller) if reserve else None)
