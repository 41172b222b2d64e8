"""Conversations that the service keeps for each key: questions, answers, and the places that these cite.

The text of passages is not kept, so that it ends with its document. Turns are JSON, whose fields the service knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from e2g_neo4j.graph.tasks import write_one
from e2g_neo4j.runtime.requests import Operation, Read
from e2g_neo4j.types.service import ConversationInfo

MOST = 200
"""Conversations of a key."""

MOST_TURNS = 100
"""Of a conversation."""

MOST_CHARACTERS = 2**18
"""Of all turns of a conversation, as JSON in ASCII."""

TITLE = 100
"""Characters of the first question that are the title of a new conversation."""


def put_turn(key: str, conversation: str, number: int, turn: Mapping[str, Any]) -> Operation[str | None]:
    """Keep a turn of a conversation: the first one begins it, the next one is appended, and one that is known with the
    same question is replaced, so that repeating this has no effect.

    Args:
        key: who asks.
        conversation: the id of the conversation, which is the key's own.
        number: the number of the turn, from 0.
        turn: the turn, with `question` and `corpora`.

    Returns:
        Why nothing was written: `many` conversations, the conversation is `gone`, `full`, or has `changed`; None: the
        turn is kept.
    """
    question = {"question": turn["question"]}
    [row] = yield write_one(
        "service/put_turn",
        key=key,
        conversation=conversation,
        number=number,
        turn=json.dumps(question | dict(turn)),
        same=json.dumps(question)[:-1],
        title=" ".join(turn["question"].split())[:TITLE],
        corpora=list(turn["corpora"]),
        most=MOST,
        most_turns=MOST_TURNS,
        most_characters=MOST_CHARACTERS,
    )
    refused: str | None = row["refused"]
    return refused


def list_conversations(key: str, limit: int = MOST) -> Operation[list[ConversationInfo]]:
    """List the conversations of a key, the last changed first."""
    return [_info(row) for row in (yield Read("service/conversations", {"key": key, "limit": limit}))]


def read_conversation(key: str, conversation: str) -> Operation[tuple[ConversationInfo, list[dict[str, Any]]] | None]:
    """Return a conversation and its turns, or None if the key has no such conversation."""
    rows = yield Read("service/conversation", {"key": key, "conversation": conversation})
    if not rows:
        return None
    turns = [json.loads(one) for one in rows[0]["turns"]]
    return _info({**rows[0], "turns": len(turns)}), turns


def rename_conversation(key: str, conversation: str, title: str) -> Operation[ConversationInfo | None]:
    """Rename a conversation. Returns None if the key has no such conversation."""
    rows = yield write_one("service/rename_conversation", key=key, conversation=conversation, title=title)
    return _info(rows[0]) if rows else None


def delete_conversation(key: str, conversation: str) -> Operation[bool]:
    """Delete a conversation. Returns False if the key has no such conversation."""
    return bool((yield write_one("service/delete_conversation", key=key, conversation=conversation)))


def read_cited(documents: Iterable[tuple[str, str]]) -> Operation[dict[tuple[str, str], tuple[str, str | None]]]:
    """Return the source of documents and the hash of their contents, by corpus and id. Those that are gone are left
    out."""
    rows = yield Read("service/cited", {"cited": [list(one) for one in documents]})
    return {(row["corpus"], row["document"]): (row["source"], row["sha256"]) for row in rows}


def _info(row: Mapping[str, Any]) -> ConversationInfo:
    return ConversationInfo(**{**row["found"], "corpora": tuple(row["found"]["corpora"])}, turns=row["turns"])
