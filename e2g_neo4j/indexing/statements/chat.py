"""Ask a chat model what parts of a text state."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from e2g_neo4j.indexing.asking import key_of
from e2g_neo4j.indexing.statements.replies import parse
from e2g_neo4j.models.chat.prompts import filled, load_prompt
from e2g_neo4j.models.chat.text_requests import fault_of_empty, text_request
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import JudgedReply
from e2g_neo4j.types.chat import ChatModel, ChatReply, ChatRequest

PROMPTS = Path(__file__).with_name("prompts")

MOST = 16
"""Statements that the prompt asks for at most."""

REPLY_TOKENS = 600
"""The expected length of a reply, for plans. The first reply may be twice as long, each further one twice as that."""

LEVEL = 0
"""Where the usage of the chat model for statements is counted. Summaries have the levels from 1."""


class StatementExtractor:
    """Asks a chat model what texts state.

    Args:
        model: the chat model.
        prompts: a folder with prompts that replace the bundled ones.
        concurrency: the maximum number of concurrent calls.
    """

    level = LEVEL
    stage = "statements"

    def __init__(self, model: ChatModel, *, prompts: Path | None = None, concurrency: int = 1) -> None:
        self.model = model
        self._instructions = load_prompt(PROMPTS / "statements.txt", prompts)
        self._again = load_prompt(PROMPTS / "statements_retry.txt", prompts)
        self.concurrency = concurrency
        identity = json.dumps([model.name, self._instructions, self._again])
        self.name = f"statements-{sha256(identity.encode()).hexdigest()[:12]}"

    def request(self, text: str, attempt: int = 0, wrong: str = "") -> ChatRequest:
        """Return the request; after an unusable reply, with more tokens, another seed and the reason."""
        retry = filled(self._again, fault=wrong, most=MOST)
        return text_request(text, self._instructions, retry=retry, tokens=REPLY_TOKENS, attempt=attempt, most=MOST)

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
    return said.rpartition("\n")[0] if reply.finish == "length" else said
