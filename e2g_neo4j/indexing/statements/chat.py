"""Ask a chat model what parts of a text state."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from e2g_neo4j.indexing.asking import TextTask, key_of
from e2g_neo4j.indexing.statements.replies import parse
from e2g_neo4j.models.chat.text_requests import fault_of_empty
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import JudgedReply
from e2g_neo4j.types.chat import ChatReply

MOST = 16
"""Statements that the prompt asks for at most."""

REPLY_TOKENS = 600
"""The expected length of a reply."""

LEVEL = 0
"""Where the usage of the chat model for statements is counted. Summaries have the levels from 1."""


class StatementExtractor(TextTask):
    """Asks a chat model what texts state."""

    stage, level = "statements", LEVEL
    prompt = Path(__file__).with_name("prompts") / "statements.txt"
    tokens, values = REPLY_TOKENS, {"most": MOST}

    def judge(self, reply: ChatReply) -> JudgedReply:
        """Return the lines of a reply that are finished, and how many statements they are."""
        said = _finished_lines(reply)
        return JudgedReply(said, len(parse(said).claims), fault_of(said, reply))


def keys_of(names: Iterable[str], text: str) -> list[str]:
    """Return the keys of the cache for a text, by the names of several extractors."""
    return [key_of(name, text) for name in names]


def fault_of(said: str, reply: ChatReply) -> str:
    """Return why a reply is not a usable list of statements; "" if it is.

    Args:
        said: the lines of the reply that are finished, without thinking.
        reply: the reply.
    """
    parsed = parse(said)
    if reply.finish == "length" and len(parsed.claims) < MOST:
        return f"it was not finished after {reply.completion_tokens} tokens"
    if parsed.usable:
        return ""
    if reply.finish == "refusal":
        return "the model refused"
    if not said:
        return fault_of_empty(reply)
    return "no line has a subject, a predicate and an object with bars between them"


def _finished_lines(reply: ChatReply) -> str:
    """Return the text of a reply without thinking, and without a last line that was cut off."""
    said = without_thought(reply.text).strip()
    return said.rpartition("\n")[0] if reply.finish in ("length", "repetition") else said
