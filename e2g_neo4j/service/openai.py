"""Corpora as models of OpenAI's API: `GET /v1/models` and `POST /v1/chat/completions`."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, Literal
from uuid import uuid4

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from e2g_neo4j.service.access import Asker
from e2g_neo4j.service.chat import (
    MAX_MESSAGES,
    ChatMessage,
    Reply,
    corpora_of,
    list_models,
    refused,
    reply_pieces,
    whole_reply,
)
from e2g_neo4j.service.problems import documented, streamed
from e2g_neo4j.service.state import state_of
from e2g_neo4j.service.streams import Event, event_stream
from e2g_neo4j.types.chat import Finish

router = APIRouter(prefix="/v1", tags=["openai"])

Model = Annotated[str, Field(min_length=1, max_length=100_000)]

_FINISH: dict[Finish, str] = {"stop": "stop", "length": "length", "refusal": "content_filter", "repetition": "length"}


class StreamOptions(BaseModel):
    """Options of a stream: whether its last chunk is the usage."""

    include_usage: bool | None = None


class CompletionBody(BaseModel):
    """A request for a reply. What is not named here, such as `temperature`, has no effect.

    Attributes:
        model: `e2g/NAME`, `e2g/NAME+NAME`, or `e2g-plain`.
        messages: The conversation. The last message of the user is the question, what precedes it its history.
        stream: Whether to send the reply in chunks.
        stream_options: Options of a stream.
        max_tokens: Maximum tokens of the reply, if it is less than the service's. Only models of Ollama keep to it.
        max_completion_tokens: The same. It takes precedence.
        n: 1 or nothing.
        response_format: `{"type": "text"}` or nothing.
        tool_choice: `auto`, `none` or nothing. No tool is ever called.
        logprobs: False or nothing.
        modalities: `["text"]` or nothing.
    """

    model: Model
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MAX_MESSAGES, fail_fast=True)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Annotated[int, Field(ge=1, le=2**31)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1, le=2**31)] | None = None
    n: int | None = None
    response_format: dict[str, Any] | None = None
    tool_choice: str | dict[str, Any] | None = None
    logprobs: bool | None = None
    modalities: Annotated[list[str], Field(max_length=10, fail_fast=True)] | None = None

    def check(self) -> None:
        """Raise a 400 for a parameter whose effect the reply would lack."""
        unsupported = {
            "n": self.n not in (None, 1),
            "response_format": (self.response_format or {}).get("type", "text") != "text",
            "tool_choice": self.tool_choice not in (None, "auto", "none"),
            "logprobs": bool(self.logprobs),
            "modalities": bool(self.modalities) and self.modalities != ["text"],
        }
        for name, wrong in unsupported.items():
            if wrong:
                raise refused(f"This value of the parameter {name!r} is not supported.")


class ModelInfo(BaseModel):
    """A model. `created` is always 0: it is not recorded when a corpus was made."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "e2g-neo4j"


class ModelList(BaseModel):
    """The models that a key may use."""

    object: Literal["list"] = "list"
    data: list[ModelInfo]


class Usage(BaseModel):
    """The tokens that a reply cost."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ReplyMessage(BaseModel):
    """A reply. `annotations` are the citations: `start_index` and `end_index` delimit `[n]` in the text."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None
    annotations: list[dict[str, Any]]


class Choice(BaseModel):
    """The only choice of a completion."""

    index: int = 0
    message: ReplyMessage
    logprobs: None = None
    finish_reason: str


class Completion(BaseModel):
    """A reply as OpenAI has it."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Usage


@router.get("/models", responses=documented())
async def models(request: Request, caller: Asker) -> ModelList:
    """List the models: one for each corpus that the key may see, and one without retrieval."""
    return ModelList(data=[ModelInfo(id=one) for one in await list_models(state_of(request), caller)])


@router.get("/models/{model:path}", responses=documented(404))
async def model(request: Request, model: Model, caller: Asker) -> ModelInfo:
    """Return a model."""
    await corpora_of(state_of(request), caller, model)
    return ModelInfo(id=model)


@router.post(
    "/chat/completions",
    response_model=Completion,
    responses=documented(404, 409, 501, 502) | streamed("The reply; with `stream`, its chunks and `[DONE]`."),
)
async def complete(request: Request, body: CompletionBody, caller: Asker) -> Response:
    """Answer the last message of the user from the corpora that the model names."""
    body.check()
    pieces = reply_pieces(
        state_of(request), caller, body.model, body.messages, body.max_completion_tokens or body.max_tokens
    )
    head = {"id": f"chatcmpl-{uuid4().hex}", "created": int(time.time()), "model": body.model}
    if body.stream:
        await anext(pieces)  # what fails up to here has a status of its own
        with_usage = bool(body.stream_options and body.stream_options.include_usage)
        return event_stream(request, _chunks(head, pieces, str(request.base_url), with_usage))
    reply = await whole_reply(pieces)
    message = ReplyMessage(content=reply.text, annotations=reply.annotations(str(request.base_url)))
    choice = Choice(message=message, finish_reason=_FINISH[reply.finish])
    return JSONResponse(Completion(**head, choices=[choice], usage=_usage(reply)).model_dump())


async def _chunks(
    head: dict[str, Any], pieces: AsyncGenerator[str | Reply, None], base: str, with_usage: bool
) -> AsyncGenerator[Event, None]:
    """Yield the chunks of a stream. The last one with text has none, but the citations and why the reply ended."""
    head = {**head, "object": "chat.completion.chunk"} | ({"usage": None} if with_usage else {})

    def chunk(delta: dict[str, Any], finish: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return Event(None, {**head, "choices": [choice]})

    async with aclosing(pieces):
        yield chunk({"role": "assistant", "content": "", "refusal": None})
        async for piece in pieces:
            if isinstance(piece, Reply):
                yield chunk({"annotations": piece.annotations(base)}, _FINISH[piece.finish])
                if with_usage:
                    yield Event(None, {**head, "choices": [], "usage": _usage(piece).model_dump()})
            else:
                yield chunk({"content": piece})
    yield Event(None, "[DONE]")


def _usage(reply: Reply) -> Usage:
    return Usage(
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        total_tokens=reply.prompt_tokens + reply.completion_tokens,
    )
