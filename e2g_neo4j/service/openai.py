"""Corpora as models of OpenAI's API: `GET /v1/models` and `POST /v1/chat/completions`.

A model is a corpus, `e2g/novels`, or several, `e2g/novels+letters`. In the name of a corpus, `+` is written `%2B` and
`%` is written `%25`, so that an id has one meaning whatever corpora there are.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urljoin
from uuid import uuid4

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from e2g_neo4j.answering.citations import citations_in
from e2g_neo4j.models.chat.thinking import ThoughtFilter, without_thought
from e2g_neo4j.retrieval.options import MAX_QUESTION, TURNS
from e2g_neo4j.runtime.requests import Chat, Operation
from e2g_neo4j.service.access import Asker, hide_in_answer
from e2g_neo4j.service.limits import MAX_BODY
from e2g_neo4j.service.problems import ProblemError, error_responses, stream_response
from e2g_neo4j.service.routes.questions import answer_pieces
from e2g_neo4j.service.schemas import MAX_CORPORA, AskedQuestion
from e2g_neo4j.service.state import State, state_of
from e2g_neo4j.service.streams import Event, event_stream, last_piece
from e2g_neo4j.types.chat import ChatReply, ChatRequest, EarlierMessage, Finish
from e2g_neo4j.types.results import Answer, Citation, Turn
from e2g_neo4j.types.service import Caller

router = APIRouter(prefix="/v1", tags=["openai"])

PLAIN = "e2g-plain"
"""The model that answers without retrieval, for what clients ask on their own account, such as titles."""

PREFIX = "e2g/"
MAX_MESSAGES = 10_000
MAX_PARTS = 1_000

Model = Annotated[str, Field(min_length=1, max_length=100_000)]

Text = Annotated[str, Field(max_length=MAX_BODY)]
"""A text. Because it is bounded, half of a surrogate pair in it is refused."""

_FINISH: dict[Finish, str] = {"stop": "stop", "length": "length", "refusal": "content_filter", "repetition": "length"}


class Part(BaseModel):
    """A part of a message. Only parts of type `text` are read."""

    type: Text
    text: Text = ""


class ChatMessage(BaseModel):
    """A message of a conversation."""

    role: Text
    content: Text | Annotated[list[Part], Field(max_length=MAX_PARTS, fail_fast=True)] | None = None


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
                raise refusal_error(f"This value of the parameter {name!r} is not supported.")


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


@dataclass(frozen=True, slots=True)
class Reply:
    """The whole reply of a model, after its pieces."""

    text: str
    finish: Finish
    citations: tuple[Citation, ...]
    prompt_tokens: int
    completion_tokens: int

    def annotations(self, base: str) -> list[dict[str, Any]]:
        """Return OpenAI's `url_citation` for each number in the text, below the address of the service. A fact has no
        text to link to."""
        cited = {one.number: (one.url, one.passage.document) for one in self.citations if one.url is not None}
        return [
            {
                "type": "url_citation",
                "url_citation": {
                    "start_index": start,
                    "end_index": end,
                    "url": urljoin(base, cited[number][0]),
                    "title": cited[number][1],
                },
            }
            for start, end, numbers in citations_in(self.text)
            for number in numbers
            if number in cited
        ]


@router.get("/models", responses=error_responses())
async def models(request: Request, caller: Asker) -> ModelList:
    """List the models: one for each corpus that the key may see, and one without retrieval."""
    corpora = caller.visible(await state_of(request).client.corpora())
    ids = [PREFIX + one.replace("%", "%25").replace("+", "%2B") for one in corpora]
    return ModelList(data=[ModelInfo(id=one) for one in (*ids, PLAIN)])


@router.get("/models/{model:path}", responses=error_responses(404))
async def model(request: Request, model: Model, caller: Asker) -> ModelInfo:
    """Return a model."""
    await corpora_of(state_of(request), caller, model)
    return ModelInfo(id=model)


@router.post(
    "/chat/completions",
    response_model=Completion,
    responses=error_responses(404, 409, 501, 502)
    | stream_response("The reply; with `stream`, its chunks and `[DONE]`."),
)
async def complete(request: Request, body: CompletionBody, caller: Asker) -> Response:
    """Answer the last message of the user from the corpora that the model names."""
    body.check()
    pieces = _reply_pieces(state_of(request), caller, body)
    head = {"id": f"chatcmpl-{uuid4().hex}", "created": int(time.time()), "model": body.model}
    if body.stream:
        await anext(pieces)  # what fails up to here has a status of its own
        with_usage = bool(body.stream_options and body.stream_options.include_usage)
        return event_stream(request, _chunks(head, pieces, str(request.base_url), with_usage))
    reply: Any = await last_piece(request, pieces)
    message = ReplyMessage(content=reply.text, annotations=reply.annotations(str(request.base_url)))
    choice = Choice(message=message, finish_reason=_FINISH[reply.finish])
    return JSONResponse(Completion(**head, choices=[choice], usage=_usage(reply)).model_dump())


async def corpora_of(state: State, caller: Caller, model: str) -> tuple[str, ...]:
    """Return the corpora that a model asks, or none for the plain one. Raises a 404 if there is no such model, or a
    corpus is outside the caller's, which is the same."""
    if model == PLAIN:
        return ()
    visible = caller.visible(await state.client.corpora())
    corpora = tuple(dict.fromkeys(unquote(one) for one in model.removeprefix(PREFIX).split("+")))
    if not model.startswith(PREFIX) or not set(corpora) <= set(visible):
        raise ProblemError(404, "model_not_found", f"The model {model!r} does not exist, or this key may not use it.")
    if len(corpora) > MAX_CORPORA:
        raise refusal_error(f"The model names {len(corpora)} corpora; the maximum is {MAX_CORPORA}.")
    return corpora


async def _reply_pieces(state: State, caller: Caller, body: CompletionBody) -> AsyncGenerator[str | Reply, None]:
    """Answer the last message of the user. Yield an empty text, the text in pieces, and the whole reply.

    The empty text comes once the evidence is there, so that what fails before can still be the status of the reply.
    """
    corpora, messages = await corpora_of(state, caller, body.model), body.messages
    last = max((n for n, message in enumerate(messages) if message.role == "user"), default=None)
    if last is None:
        raise refusal_error("There is no message with the role `user`.")
    question, max_tokens = text_of(messages[last]), body.max_completion_tokens or body.max_tokens
    if not question.strip():
        raise refusal_error("The last message of the user is empty.")
    if not corpora:
        most = state.client.settings.answer_tokens
        request = ChatRequest(
            "\n\n".join(text_of(one) for one in messages[:last] if one.role in ("system", "developer")),
            question,
            min(max_tokens or most, most),
            earlier=tuple(filter(None, map(_earlier, messages[:last]))),
        )
        pieces = _plain_pieces(state, caller, request)
    elif len(question) > MAX_QUESTION:
        raise refusal_error(f"The question has {len(question)} characters; the maximum is {MAX_QUESTION}.")
    else:
        turns = turns_of(messages[:last])
        asked = AskedQuestion(question=question, corpora=corpora, max_tokens=max_tokens, history=turns)
        pieces = _answer_pieces(state, caller, asked)
    async with aclosing(pieces):
        async for piece in pieces:
            yield piece


def turns_of(messages: Sequence[ChatMessage]) -> tuple[Turn, ...]:
    """Return the latest turns of a conversation: each message of the user with what the assistant said to it.

    Parts of messages that are no text are left out.
    """
    turns: list[Turn] = []
    answer = ""
    for message in reversed(messages):
        text = _text_of(message) if message.role in ("user", "assistant") else ""
        if message.role == "assistant":
            answer = text or answer
        elif text.strip():
            turns.append(Turn(text, answer))
            answer = ""
            if len(turns) == TURNS:
                break
    return tuple(reversed(turns))


def text_of(message: ChatMessage) -> str:
    """Return the text of a message. Raises a 400 if it has anything else, such as an image."""
    parts = message.content if isinstance(message.content, list) else []
    other = next((part.type for part in parts if part.type != "text"), None)
    if other is not None:
        raise refusal_error(f"A message has a part of type {other!r}. Only text can be read.")
    return _text_of(message)


def _text_of(message: ChatMessage) -> str:
    """Return the text of a message, without its other parts."""
    if isinstance(message.content, str):
        return message.content
    return "\n".join(part.text for part in message.content or [] if part.type == "text")


def refusal_error(detail: str) -> ProblemError:
    return ProblemError(400, "unsupported", detail)


async def _answer_pieces(state: State, caller: Caller, question: AskedQuestion) -> AsyncGenerator[str | Reply, None]:
    async with aclosing(answer_pieces(state, question, caller)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Answer):
                finish: Finish = "stop" if piece.finished else "length"
                cited = hide_in_answer(piece, caller, state.public_url).citations
                yield Reply(piece.text or "", finish, cited, piece.prompt_tokens, piece.completion_tokens)
            else:
                yield piece if isinstance(piece, str) else ""


async def _plain_pieces(state: State, caller: Caller, request: ChatRequest) -> AsyncGenerator[str | Reply, None]:
    model = state.chat_model(caller)

    def chat() -> Operation[ChatReply]:
        reply: ChatReply = yield Chat(model, request, ThoughtFilter())
        return reply

    yield ""
    async with aclosing(state.client.runner.stream(chat())) as pieces:
        async for piece in pieces:
            if isinstance(piece, ChatReply):
                text = without_thought(piece.text)
                yield Reply(text, piece.finish, (), piece.prompt_tokens, piece.completion_tokens)
            elif isinstance(piece, str):
                yield piece


def _earlier(message: ChatMessage) -> EarlierMessage | None:
    """Return a message of the conversation. What tools said is left out."""
    if message.role == "user":
        return EarlierMessage("user", text_of(message))
    if message.role == "assistant" and message.content:
        return EarlierMessage("assistant", text_of(message))
    return None


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
