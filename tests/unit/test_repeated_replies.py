"""A model that repeats itself to the end of its allowance is stopped, and what it had said by then counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from ollama import ChatResponse, Message

from e2g_neo4j.indexing.communities.chat import ReportWriter
from e2g_neo4j.indexing.statements.chat import StatementExtractor
from e2g_neo4j.models.chat.ollama import OllamaChat
from e2g_neo4j.types.chat import ChatModel, ChatReply, ChatRequest

LINE = (
    '{"subject": "Luke Farran", "predicate": "commands", "object": "the Averil", "description": "He is its master."},\n'
)
OTHER = '{"statements": [{"subject": "Hester Pendry", "predicate": "keeps", "object": "light", "description": "."},\n'


def reply_of(words: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> tuple[ChatReply, int]:
    """The reply to a stream of pieces, and how many of them were read."""
    read = 0

    def stream(**_: Any) -> Iterator[ChatResponse]:
        nonlocal read
        for number, word in enumerate(words):
            read += 1
            done = number + 1 == len(words)
            yield ChatResponse(message=Message(role="assistant", content=word), done=done, done_reason="stop")

    monkeypatch.setattr(OllamaChat, "_info", type("Info", (), {"thinks": False, "context": 4096}))
    chat = OllamaChat("m", "http://127.0.0.1:1")
    monkeypatch.setattr(chat, "_client", type("Client", (), {"chat": staticmethod(stream)}))
    [*_, reply] = chat._pieces(ChatRequest("", "Who?", 4000), {"num_ctx": 4096})
    assert isinstance(reply, ChatReply)
    return reply, read


def pieces(text: str) -> list[str]:
    return [text[at : at + 4] for at in range(0, len(text), 4)]


@pytest.mark.parametrize("again", [LINE, "ha ", "\n"])
def test_a_reply_that_repeats_itself_is_stopped(again: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reply, read = reply_of(pieces(OTHER + LINE + again * 2000), monkeypatch)
    assert reply.finish == "repetition"
    assert read < 200
    assert reply.text.startswith(OTHER)


def test_a_reply_with_lines_that_differ_is_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(
        f"Ship {number} | sails to | Port {number} | Ship {number} sails. | sea | 5\n" for number in range(60)
    )
    reply, read = reply_of(pieces(text), monkeypatch)
    assert (reply.finish, reply.text, read) == ("stop", text, len(pieces(text)))


class Named:
    name, context = "m", None


def test_statements_before_the_repetition_are_used_and_a_report_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model: ChatModel = Named()  # type: ignore[assignment]
    reply, _ = reply_of(pieces(OTHER + LINE * 2000), monkeypatch)
    judged = StatementExtractor(model).judge(reply)
    assert (judged.fault, judged.value) == ("", 2)
    reply, _ = reply_of(pieces('{"title": "The light", "summary": "' + "It shines. " * 2000), monkeypatch)
    assert ReportWriter(model).judge(reply).fault == "it repeated itself"
