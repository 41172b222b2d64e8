"""Ask a chat model until a reply is usable, or all tries are spent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from e2g_neo4j.models.chat.base import TooLongError
from e2g_neo4j.models.chat.retry import ask
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.runtime.requests import Chat, Operation, TextFilter
from e2g_neo4j.types.chat import ChatModel, ChatReply, ChatRequest, ChatUsage, StreamingChatModel

TRIES = 3
"""Maximum number of requests, until a reply is usable."""

MARGIN = 200
"""Tokens of the context that are kept free, because tokens are estimated."""

T = TypeVar("T")


class Unshown:
    """Shows nothing of a reply to the caller that an answer is streamed to."""

    def add(self, piece: str) -> str:
        return ""

    def end(self) -> str:
        return ""


def ask_until_usable(
    model: StreamingChatModel,
    request: ChatRequest,
    parse: Callable[[ChatReply], T | None],
    used: ChatUsage,
    *,
    again: Callable[[], ChatRequest] | None = None,
    tries: int = TRIES,
    shown: Callable[[], TextFilter] = Unshown,
) -> Operation[T | None]:
    """Ask until a reply is usable, and return what it means.

    Args:
        request: The request. Each further one has other samples, and after a reply that was cut off, as those of models
            that think may be, twice as many tokens, as far as the context has room.
        parse: Returns what a reply means, or None if it is not usable.
        used: The usage so far. The calls are added.
        again: Returns the request after an unusable reply. None: the same.
        tries: Maximum number of requests.
        shown: Makes the filter of what is streamed to the caller, for each attempt.

    Returns:
        None if no reply was usable.
    """
    longer = 1
    for attempt in range(tries):
        asked = _resample(again() if again else request, attempt, longer, model) if attempt else request
        reply: ChatReply = yield Chat(model, asked, shown())
        used.add(reply)
        longer *= 2 if reply.finish == "length" else 1
        found = parse(reply)
        if found is not None:
            return found
    return None


def _resample(request: ChatRequest, attempt: int, longer: int, model: StreamingChatModel) -> ChatRequest:
    """Return the request of another attempt, from 1, with so many times as many tokens."""
    most = request.max_tokens * longer
    if model.context is not None:
        most = max(request.max_tokens, min(most, model.context - model.count(request.text) - MARGIN))
    return replace(request, max_tokens=most, temperature=0.7, seed=request.seed + attempt)


@dataclass(frozen=True, slots=True)
class JudgedReply:
    """What a reply is worth.

    Attributes:
        text: What to keep of it.
        value: How much can be read of it. Of several replies that are not usable, the one with the highest is kept.
        fault: Why it is not usable; "" if it is.
    """

    text: str
    value: int
    fault: str


def ask_metered(
    model: ChatModel,
    request: Callable[[int, str], ChatRequest],
    judge: Callable[[ChatReply], JudgedReply],
    meter: UsageMeter,
    level: int,
) -> tuple[JudgedReply, ChatUsage]:
    """Ask until a reply is usable, within a budget, in the calling thread.

    Args:
        request: Returns the request of an attempt, from 0, with the fault of the reply before, or "". After each reply
            that was cut off, it may have twice as many tokens.
        judge: Returns what a reply is worth.

    Returns:
        The usable reply, or the best of the others, and what all calls used.

    Raises:
        TooLongError: The request does not fit into the context of the model.
        BudgetError: The budget of the meter is used up.
    """
    best, used, fault, longer = JudgedReply("", -1, ""), ChatUsage(), "", 1
    for attempt in range(TRIES):
        asked = request(attempt, fault)
        asked = replace(asked, max_tokens=longer * asked.max_tokens)
        most = model.count(asked.text) + asked.max_tokens
        if model.context is not None and most > model.context:
            if attempt == 0:
                raise TooLongError(
                    f"{most} tokens exceed the context of {model.name}, {model.context}. Increase E2G_LLM_CONTEXT if "
                    "the model allows it, or choose another model."
                )
            break  # there is no room for a longer reply
        with meter.call(level, most) as call:
            reply = call.reply = ask(model, asked)
        used.add(reply)
        longer *= 2 if reply.finish == "length" else 1
        judged = judge(reply)
        if not judged.fault or judged.value >= best.value:
            best = judged
        fault = judged.fault
        if not fault:
            break
    return best, used
