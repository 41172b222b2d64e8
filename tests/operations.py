"""Operations that are driven by what a test replies, and a chat model of which only the counting is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from e2g_neo4j.runtime.requests import AtOnce, Chat, Emit
from e2g_neo4j.types.chat import ChatReply
from e2g_neo4j.types.results import Evidence


class WordModel:
    """A model that counts a token a word."""

    name = "scripted"

    def __init__(self, context: int | None = None) -> None:
        self.context = context

    def count(self, text: str) -> int:
        return len(text.split())


MODEL: Any = WordModel()


def chunk_row(
    chunk: str,
    windows: Sequence[Any],
    *,
    document: str = "d",
    index: int = 0,
    shares: Sequence[float] = (1.0,),
    **more: Any,
) -> dict[str, Any]:
    """A row of the statements that find windows: a chunk, and those of its windows that are found."""
    row = {"chunk": chunk, "document": document, "index": index, "tokens": 100, "persistence": 0.3}
    return {**row, "shares": list(shares), "windows": windows, **more}


def text_row(chunk: str, document: str, window: str, text: str, start: int) -> dict[str, Any]:
    """A row of the statement that reads the texts of windows: a chunk with one."""
    place = {"chunk": chunk, "document": document, "document_id": "d", "source": f"{document.lower()}.txt", "path": []}
    read = {"id": window, "text": text, "start": start, "end": start + len(text), "page": "", "heading": ""}
    return {**place, "windows": [read]}


def outcome(operation: Any, reply: Callable[[Any], Any]) -> Any:
    """The result of an operation whose requests are replied to. What it runs at once is run one after the other."""
    given: Any = None
    while True:
        try:
            request = operation.send(given)
        except StopIteration as end:
            return end.value
        given = [outcome(one, reply) for one in request.operations] if isinstance(request, AtOnce) else reply(request)


def unexpected(request: Any) -> Any:
    raise AssertionError(request)


def conversation(
    operation: Any,
    replies: Sequence[str | ChatReply],
    other: Callable[[Any], Any] = unexpected,
    tokens: tuple[int, int] = (10, 3),
    asked: list[Chat] | None = None,
) -> tuple[Any, list[Chat]]:
    """The result of an operation, and how it asked the chat model, whose replies are used up one after the other.
    `other` replies to all other requests."""
    left, asked = [*replies], [] if asked is None else asked

    def reply(request: Any) -> Any:
        if not isinstance(request, Chat):
            return other(request)
        asked.append(request)
        text = left.pop(0)
        return text if isinstance(text, ChatReply) else ChatReply(text, "stop", *tokens)

    result = outcome(operation, reply)
    assert not left, "fewer calls than expected"
    return result, asked


def dialogue(
    operation: Any, replies: Sequence[str], other: Callable[[Any], Any] = unexpected, first: int = 0
) -> tuple[Any, list[Chat], Evidence]:
    """As `conversation`, of an operation that emits its evidence once, after the `first` calls; and this evidence."""
    asked, emitted = list[Chat](), list[Evidence]()

    def reply(request: Any) -> Any:
        if not isinstance(request, Emit):
            return other(request)
        assert len(asked) == first, "the evidence comes before the first call about it"
        emitted.append(request.evidence)
        return None

    result, _ = conversation(operation, replies, reply, asked=asked)
    [evidence] = emitted
    return result, asked, evidence
