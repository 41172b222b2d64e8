"""Requests about a text that is sent between two tags, and again after a reply that is not usable."""

from __future__ import annotations

from e2g_neo4j.models.chat.prompts import fenced
from e2g_neo4j.types.chat import ChatReply, ChatRequest


def text_request(
    text: str, instructions: str, *, retry: str, tokens: int, attempt: int = 0, **values: object
) -> ChatRequest:
    """Build the request about a text. Each further one has another seed.

    Args:
        text: The text.
        instructions: The system prompt. $fence is the tag of the text.
        retry: What is added after an unusable reply, such as the reason.
        tokens: The expected length of the reply. It may be twice as long.
        attempt: Number of the attempt, from 0.
        values: What other $names in the instructions are replaced with.
    """
    system, user = fenced(instructions, text, **values)
    return ChatRequest(
        system,
        f"{user}\n\n{retry}" if attempt else user,
        max_tokens=2 * tokens,
        temperature=0.7 if attempt else 0.0,
        seed=attempt,
    )


def fault_of_empty(reply: ChatReply) -> str:
    """Return why a reply without text is not usable."""
    thought = reply.thinking or reply.text.strip()
    return "it returned no text but only its thinking" if thought else "it returned no text"
