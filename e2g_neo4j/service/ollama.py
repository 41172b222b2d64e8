"""Corpora as models of an Ollama server: `/api/version`, `/api/tags`, `/api/show`, `/api/chat` and `/api/generate`."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, Field
from pydantic_core import to_json

from e2g_neo4j.errors import E2GError
from e2g_neo4j.service.access import Asker
from e2g_neo4j.service.chat import (
    MAX_MESSAGES,
    MAX_PARTS,
    ChatMessage,
    Reply,
    corpora_of,
    list_models,
    refused,
    reply_pieces,
    whole_reply,
)
from e2g_neo4j.service.openai import Model
from e2g_neo4j.service.problems import ProblemError, documented, problem_of, request_id, streamed
from e2g_neo4j.service.state import state_of
from e2g_neo4j.types.service import Caller

logger = logging.getLogger(__name__)

router = APIRouter(prefix="/api", tags=["ollama"])

OLLAMA_VERSION = "0.17.4"
"""The version of Ollama whose API this is. Clients refuse old ones."""

LATEST = ":latest"
"""The tag that ids of models have here. Requests may leave it out."""

_NOT_RECORDED = "1970-01-01T00:00:00Z"
"""When a model was changed."""

Shaped: TypeAlias = dict[str, Any]


class Options(BaseModel):
    """Options of a request. Others, such as `temperature`, have no effect.

    Attributes:
        num_predict: Maximum tokens of the reply, if it is less than the service's; not positive: no maximum.
    """

    num_predict: int | None = None


class _Body(BaseModel):
    """What requests for a reply share. What is not named here has no effect.

    Attributes:
        model: `e2g/NAME`, `e2g/NAME+NAME`, or `e2g-plain`.
        stream: Whether to send the reply line by line.
        format: Nothing: replies have no other format than text.
        options: Options.
        logprobs: False or nothing.
    """

    model: Model
    stream: bool = True
    format: str | dict[str, Any] | None = None
    options: Options | None = None
    logprobs: bool | None = None

    def check(self) -> None:
        """Raise a 400 for a parameter whose effect the reply would lack."""
        for name, wrong in {"format": self.format, "logprobs": self.logprobs}.items():
            if wrong:
                raise refused(f"The parameter {name!r} is not supported.")

    @property
    def max_tokens(self) -> int | None:
        most = self.options.num_predict if self.options else None
        return most if most is not None and most > 0 else None


class ChatBody(_Body):
    """A request for the next message. The last message of the user is the question, what precedes it its history."""

    messages: Annotated[list[ChatMessage], Field(max_length=MAX_MESSAGES, fail_fast=True)] = []


class GenerateBody(_Body):
    """A request for an answer to a prompt. Only the plain model reads `system`."""

    prompt: str = ""
    system: str | None = None
    images: Annotated[list[Any], Field(max_length=MAX_PARTS)] | None = None


class ShowBody(BaseModel):
    """Which model to show."""

    model: Model


@router.get("/version", responses=documented())
async def version(_: Asker) -> dict[str, str]:
    """Return the version of Ollama whose API this is."""
    return {"version": OLLAMA_VERSION}


@router.get("/tags", responses=documented())
async def tags(request: Request, caller: Asker) -> Shaped:
    """List the models: one for each corpus that the key may see, and one without retrieval."""
    names = [one + LATEST for one in await list_models(state_of(request), caller)]
    return {
        "models": [
            {
                "name": name,
                "model": name,
                "modified_at": _NOT_RECORDED,
                "size": 0,
                "digest": sha256(name.encode()).hexdigest(),
                "details": _details(),
            }
            for name in names
        ]
    }


@router.post("/show", responses=documented(404))
async def show(request: Request, body: ShowBody, caller: Asker) -> Shaped:
    """Return a model."""
    await corpora_of(state_of(request), caller, body.model.removesuffix(LATEST))
    return {
        "license": "",
        "modelfile": "",
        "parameters": "",
        "template": "",
        "details": _details(),
        "model_info": {"general.architecture": "e2g"},
        "capabilities": ["completion"],
        "modified_at": _NOT_RECORDED,
    }


_STREAMED = documented(404, 409, 501, 502) | streamed(
    "The reply line by line; with `stream` false, as one object.", "application/x-ndjson"
)


@router.post("/chat", response_model=Shaped, responses=_STREAMED)
async def chat(request: Request, body: ChatBody, caller: Asker) -> Response:
    """Answer the last message of the user from the corpora that the model names."""
    return await _reply(request, caller, body, body.messages, in_message=True)


@router.post("/generate", response_model=Shaped, responses=_STREAMED)
async def generate(request: Request, body: GenerateBody, caller: Asker) -> Response:
    """Answer a prompt from the corpora that the model names."""
    messages = [ChatMessage(role="system", content=body.system)] if body.system else []
    if body.prompt or body.images:
        messages.append(ChatMessage(role="user", content=body.prompt, images=body.images))
    return await _reply(request, caller, body, messages, in_message=False)


async def _reply(
    request: Request, caller: Caller, body: _Body, messages: list[ChatMessage], *, in_message: bool
) -> Response:
    began = time.perf_counter_ns()
    body.check()

    def shaped(text: str, done: bool, **more: Any) -> Shaped:
        said = {"message": {"role": "assistant", "content": text}} if in_message else {"response": text}
        created = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        return {"model": body.model, "created_at": created, **said, "done": done, **more}

    def last(text: str, reply: Reply) -> Shaped:
        line = shaped(
            text,
            True,
            done_reason="length" if reply.finish == "length" else "stop",
            total_duration=time.perf_counter_ns() - began,
            load_duration=0,
            prompt_eval_count=reply.prompt_tokens,
            eval_count=reply.completion_tokens,
        )
        annotations = reply.annotations(str(request.base_url))
        (line["message"] if in_message else line)["annotations"] = annotations
        return line

    model = body.model.removesuffix(LATEST)
    if not messages:  # a client's way to load a model
        await corpora_of(state_of(request), caller, model)
        return JSONResponse(shaped("", True, done_reason="load"))
    pieces = reply_pieces(state_of(request), caller, model, messages, body.max_tokens)
    if not body.stream:
        reply = await whole_reply(pieces)
        return JSONResponse(last(reply.text, reply))
    await anext(pieces)  # what fails up to here has a status of its own

    async def objects() -> AsyncGenerator[Shaped, None]:
        async with aclosing(pieces):
            async for piece in pieces:
                yield last("", piece) if isinstance(piece, Reply) else shaped(piece, False)

    return StreamingResponse(_lines(request, objects()), media_type="application/x-ndjson")


async def _lines(request: Request, objects: AsyncGenerator[Shaped, None]) -> AsyncGenerator[bytes, None]:
    """Yield objects as lines of JSON. The last line has an `error` if something fails."""
    try:
        async with aclosing(objects):
            async for one in objects:
                yield to_json(one) + b"\n"
    except Exception as error:
        if not isinstance(error, E2GError | ProblemError):
            logger.exception("The stream of request %s failed.", request_id(request))
        yield to_json(problem_of(error, request_id(request)).content_for(request.url.path)) + b"\n"


def _details() -> Shaped:
    return {
        "parent_model": "",
        "format": "e2g",
        "family": "e2g",
        "families": ["e2g"],
        "parameter_size": "",
        "quantization_level": "",
    }
