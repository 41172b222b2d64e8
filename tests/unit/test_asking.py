"""Asking a chat model about texts: which of several replies is kept."""

from __future__ import annotations

from typing import Any

import pytest

from e2g_neo4j.indexing.asking import TextTask, ask_about
from e2g_neo4j.models.chat.until_usable import TRIES, JudgedReply
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.types.chat import ChatReply, ChatRequest, ChatUsage


class Model:
    name, context = "model", None

    def __init__(self, replies: list[str]) -> None:
        self.replies = replies

    def count(self, text: str) -> int:
        return len(text)

    def ask(self, request: ChatRequest) -> ChatReply:
        return ChatReply(self.replies[request.seed], "stop", 10, 1)


class Reader(TextTask):
    """A reply is worth the number at its end; it is unusable if it begins with "no"."""

    level, stage = 0, "reading"

    def __init__(self, replies: list[str]) -> None:
        self.model, self.concurrency = Model(replies), 1

    def request(self, text: str, attempt: int = 0, wrong: str = "") -> ChatRequest:
        return ChatRequest("Read.", text + wrong, max_tokens=5, temperature=0.0, seed=attempt)

    def judge(self, reply: ChatReply) -> JudgedReply:
        return JudgedReply(reply.text, int(reply.text[-1]), "wrong" if reply.text.startswith("no") else "")


class Cache:
    def __init__(self) -> None:
        self.kept: list[tuple[str, str, int]] = []

    def keep(self, key: str, text: str, *, model: str, used: ChatUsage) -> None:
        self.kept.append((key, text, used.prompt_tokens))


@pytest.mark.parametrize(
    ("replies", "kept", "calls"),
    [
        (["yes 1"], "yes 1", 1),
        (["no 2", "yes 1"], "yes 1", 2),
        (["no 0", "yes 0"], "yes 0", 2),
        (["no 1", "no 3", "no 2"], "no 3", TRIES),
        (["no 1", "no 1", "no 0"], "no 1", TRIES),
    ],
)
def test_the_usable_reply_is_kept_or_else_the_best(replies: list[str], kept: str, calls: int) -> None:
    cache: Any = Cache()
    meter = UsageMeter()
    ask_about(Reader(replies), [("key", "text")], cache, meter, lambda *_: None)
    assert cache.kept == [("key", kept, 10 * calls)]
