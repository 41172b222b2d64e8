"""Ask a chat model what parts of a text state."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from e2g_neo4j.indexing.asking import TextTask, key_of
from e2g_neo4j.indexing.statements.replies import STRONGEST, parse
from e2g_neo4j.models.chat.json_replies import TEXT, list_schema, number_schema, object_schema
from e2g_neo4j.models.chat.text_requests import fault_of_empty
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import JudgedReply
from e2g_neo4j.types.chat import ChatReply

MOST = 16
"""Statements that the prompt asks for at most."""

ENOUGH = 8
"""Statements that a reply must have if it is cut off. With less, it is asked for again."""

REPLY_TOKENS = 600
"""The expected length of a reply."""

LEVEL = 0
"""Where the usage of the chat model for statements is counted. Summaries have the levels from 1."""

_STATEMENT = object_schema(
    subject=TEXT,
    predicate=TEXT,
    object=TEXT,
    description=TEXT,
    keywords=list_schema(TEXT, 3),
    strength=number_schema(1, STRONGEST),
)


class StatementExtractor(TextTask):
    """Asks a chat model what texts state.

    The schema wants at least one statement: small models take the empty list for the shortest answer. What is said
    about no entity of the text is left out later.
    """

    stage, level = "statements", LEVEL
    prompt = Path(__file__).with_name("prompts") / "statements.txt"
    tokens, values = REPLY_TOKENS, {"most": MOST}
    schema = object_schema(statements=list_schema(_STATEMENT, MOST, least=1))

    def judge(self, reply: ChatReply) -> JudgedReply:
        """Return a reply without thinking, and how many statements it has."""
        said = without_thought(reply.text).strip()
        return JudgedReply(said, len(parse(said).claims), fault_of(said, reply))


def keys_of(names: Iterable[str], text: str) -> list[str]:
    """Return the keys of the cache for a text, by the names of several extractors."""
    return [key_of(name, text) for name in names]


def fault_of(said: str, reply: ChatReply) -> str:
    """Return why a reply is not a usable list of statements; "" if it is.

    Args:
        said: the reply without thinking.
        reply: the reply.
    """
    parsed = parse(said)
    if reply.finish == "length" and len(parsed.claims) < ENOUGH:
        return f"it was not finished after {reply.completion_tokens} tokens"
    if parsed.usable:
        return ""
    if reply.finish == "refusal":
        return "the model refused"
    if not said:
        return fault_of_empty(reply)
    return "it has no JSON object with statements that have a subject, a predicate and an object or a description"
