"""Corpora as chat models: models, messages, and a reply in pieces.

A model is a corpus, `e2g/novels`, or several, `e2g/novels+letters`. In the name of a corpus, `+` is written `%2B` and
`%` is written `%25`, so that an id has one meaning whatever corpora there are.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import unquote, urljoin

from pydantic import BaseModel, Field

from e2g_neo4j.answering.citations import citations_in
from e2g_neo4j.models.chat.thinking import ThoughtFilter, without_thought
from e2g_neo4j.retrieval.options import MAX_QUESTION, TURNS
from e2g_neo4j.runtime.requests import Chat, Operation
from e2g_neo4j.service.limits import MAX_BODY
from e2g_neo4j.service.problems import ProblemError
from e2g_neo4j.service.routes.questions import answer_pieces
from e2g_neo4j.service.schemas import MAX_CORPORA, AskedQuestion
from e2g_neo4j.service.sources import shown_answer
from e2g_neo4j.service.state import State
from e2g_neo4j.types.chat import ChatReply, ChatRequest, EarlierMessage, Finish, StreamingChatModel
from e2g_neo4j.types.results import Answer, Citation, Turn
from e2g_neo4j.types.service import Caller

PLAIN = "e2g-plain"
"""The model that answers without retrieval, for what clients ask on their own account, such as titles."""

PREFIX = "e2g/"

MAX_MESSAGES = 10_000
"""Maximum number of messages of a conversation."""

MAX_PARTS = 1_000
"""Maximum number of parts of a message."""


Text = Annotated[str, Field(max_length=MAX_BODY)]
"""A text. Because it is bounded, half of a surrogate pair in it is refused."""


class Part(BaseModel):
    """A part of a message. Only parts of type `text` are read."""

    type: Text
    text: Text = ""


class ChatMessage(BaseModel):
    """A message of a conversation."""

    role: Text
    content: Text | Annotated[list[Part], Field(max_length=MAX_PARTS, fail_fast=True)] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """The whole reply of a model, after its pieces."""

    text: str
    finish: Finish
    citations: tuple[Citation, ...]
    prompt_tokens: int
    completion_tokens: int

    def annotations(self, base: str) -> list[dict[str, Any]]:
        """Return OpenAI's `url_citation` for each number in the text. A fact has no text to link to.

        Args:
            base: The address of the service.
        """
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


def model_id(corpus: str) -> str:
    """Return the id of the model that asks a corpus."""
    return PREFIX + corpus.replace("%", "%25").replace("+", "%2B")


async def list_models(state: State, caller: Caller) -> list[str]:
    """Return the ids of the models that a caller may use: one for each corpus, then the plain one."""
    return [*map(model_id, caller.visible(await state.client.corpora())), PLAIN]


async def corpora_of(state: State, caller: Caller, model: str) -> tuple[str, ...]:
    """Return the corpora that a model asks, or none for the plain one.

    Raises:
        ProblemError: There is no such model, or a corpus is outside the caller's, which is the same.
    """
    if model == PLAIN:
        return ()
    visible = caller.visible(await state.client.corpora())
    corpora = tuple(dict.fromkeys(unquote(one) for one in model.removeprefix(PREFIX).split("+")))
    if not model.startswith(PREFIX) or not set(corpora) <= set(visible):
        raise ProblemError(404, "model_not_found", f"The model {model!r} does not exist, or this key may not use it.")
    if len(corpora) > MAX_CORPORA:
        raise refused(f"The model names {len(corpora)} corpora; the maximum is {MAX_CORPORA}.")
    return corpora


async def reply_pieces(
    state: State, caller: Caller, model: str, messages: Sequence[ChatMessage], max_tokens: int | None
) -> AsyncGenerator[str | Reply, None]:
    """Answer the last message of a user. Yield an empty text, the text in pieces, and the whole reply.

    The empty text comes once the evidence is there, so that what fails before can still be the status of the reply.

    Args:
        state: What the routes share.
        caller: Who asks.
        model: The id of a model.
        messages: The conversation. What precedes the last message of the user is its history.
        max_tokens: Maximum tokens of the reply, if it is less than the configured one.
    """
    corpora = await corpora_of(state, caller, model)
    last = max((n for n, message in enumerate(messages) if message.role == "user"), default=None)
    if last is None:
        raise refused("There is no message with the role `user`.")
    question = text_of(messages[last])
    if not question.strip():
        raise refused("The last message of the user is empty.")
    if not corpora:
        most = state.client.settings.answer_tokens
        request = ChatRequest(
            "\n\n".join(text_of(one) for one in messages[:last] if one.role in ("system", "developer")),
            question,
            min(max_tokens or most, most),
            earlier=tuple(filter(None, map(_earlier, messages[:last]))),
        )
        pieces = _plain_pieces(state, state.chat_model(caller), request)
    elif len(question) > MAX_QUESTION:
        raise refused(f"The question has {len(question)} characters; the maximum is {MAX_QUESTION}.")
    else:
        turns = turns_of(messages[:last])
        asked = AskedQuestion(question=question, corpora=corpora, max_tokens=max_tokens, history=turns)
        pieces = _answer_pieces(state, caller, asked)
    async with aclosing(pieces):
        async for piece in pieces:
            yield piece


async def whole_reply(pieces: AsyncGenerator[str | Reply, None]) -> Reply:
    """Return the last of the pieces, which is the whole reply."""
    async with aclosing(pieces):
        async for piece in pieces:
            if isinstance(piece, Reply):
                return piece
    raise ProblemError(502, "model", "The chat model returned no answer.")


def turns_of(messages: Sequence[ChatMessage]) -> tuple[Turn, ...]:
    """Return the latest turns of a conversation: each message of the user with what the assistant said to it.

    Parts of messages that are no text are left out.
    """
    turns: list[Turn] = []
    answer = ""
    for message in reversed(messages):
        text = _written(message) if message.role in ("user", "assistant") else ""
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
        raise refused(f"A message has a part of type {other!r}. Only text can be read.")
    return _written(message)


def _written(message: ChatMessage) -> str:
    """Return the text of a message, without its other parts."""
    if isinstance(message.content, str):
        return message.content
    return "\n".join(part.text for part in message.content or [] if part.type == "text")


def refused(detail: str) -> ProblemError:
    """Return the error of a request that cannot be answered."""
    return ProblemError(400, "unsupported", detail)


async def _answer_pieces(state: State, caller: Caller, question: AskedQuestion) -> AsyncGenerator[str | Reply, None]:
    async with aclosing(answer_pieces(state, question, caller)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Answer):
                finish: Finish = "stop" if piece.finished else "length"
                cited = shown_answer(piece, caller, state.public_url).citations
                yield Reply(piece.text or "", finish, cited, piece.prompt_tokens, piece.completion_tokens)
            else:
                yield piece if isinstance(piece, str) else ""


async def _plain_pieces(
    state: State, model: StreamingChatModel, request: ChatRequest
) -> AsyncGenerator[str | Reply, None]:
    yield ""
    async with aclosing(state.client.runner.stream(_chat(model, request))) as pieces:
        async for piece in pieces:
            if isinstance(piece, ChatReply):
                text = without_thought(piece.text)
                yield Reply(text, piece.finish, (), piece.prompt_tokens, piece.completion_tokens)
            elif isinstance(piece, str):
                yield piece


def _chat(model: StreamingChatModel, request: ChatRequest) -> Operation[ChatReply]:
    reply: ChatReply = yield Chat(model, request, ThoughtFilter())
    return reply


def _earlier(message: ChatMessage) -> EarlierMessage | None:
    """Return a message of the conversation. What tools said is left out."""
    if message.role == "user":
        return EarlierMessage("user", text_of(message))
    if message.role == "assistant" and message.content:
        return EarlierMessage("assistant", text_of(message))
    return None
