"""A chat model checks whether the passages that an answer cites support what it says.

This is FACT of DeepResearch Bench (arXiv 2506.11763), where a citation is the address of a page: *citation accuracy* is
the share of pairs of a claim and a passage that it cites which the passage supports, *effective citations* are the
number of such pairs of an answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Any

from e2g_neo4j.evaluation.judging import MAX_TOKENS, PROMPTS
from e2g_neo4j.evaluation.results import CheckedCitations
from e2g_neo4j.evaluation.words import cited_claims, passages_of
from e2g_neo4j.models.chat.json_replies import list_schema, number_schema, object_schema, objects_in, valid_numbers
from e2g_neo4j.models.chat.prompts import fenced, load_prompt
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import ask_until_usable
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatReply, ChatRequest, ChatUsage, StreamingChatModel
from e2g_neo4j.types.results import Answer


def check_citations(model: StreamingChatModel, settings: Settings, answer: Answer) -> Operation[CheckedCitations]:
    """Check the citations of an answer, those of a passage in one call.

    What a passage is cited for is not counted if no reply about it is usable.

    Args:
        model: The judge.
        settings: The settings, which may name a folder with a prompt `check_citations.txt`.
        answer: The answer.

    Raises:
        ModelError: The judge failed.
    """
    passages = passages_of(answer)
    claims: defaultdict[int, dict[str, None]] = defaultdict(dict)
    for claim, numbers in cited_claims(answer.text or ""):
        for number in numbers:
            if number in passages:
                claims[number][claim] = None
    instructions = load_prompt(PROMPTS / "check_citations.txt", settings.prompts)
    used, checked, supported = ChatUsage(), 0, 0
    for number, stated in sorted(claims.items()):
        request = request_for(passages[number], list(stated), instructions)
        found = yield from ask_until_usable(model, request, partial(_supported, statements=len(stated)), used)
        if found is not None:
            checked += len(stated)
            supported += len(found)
    return CheckedCitations(checked, supported, used.calls, used.prompt_tokens)


def request_for(passage: str, statements: Sequence[str], instructions: str) -> ChatRequest:
    """Build the request: a passage and numbered statements between two tags."""
    listed = "\n".join(f"[{number}] {statement}" for number, statement in enumerate(statements, 1))
    return ChatRequest(
        *fenced(instructions, f"Passage:\n{passage}\n\nStatements:\n{listed}"),
        max_tokens=MAX_TOKENS,
        schema=supported_schema(len(statements)),
    )


def _supported(reply: ChatReply, statements: int) -> list[int] | None:
    return supported_in(without_thought(reply.text), statements)


def supported_schema(statements: int) -> dict[str, Any]:
    """Return the JSON schema of the numbers of supported statements."""
    return object_schema(supported=list_schema(number_schema(1, statements), statements))


def supported_in(reply: str, statements: int) -> list[int] | None:
    """Return the numbers of supported statements from a reply such as {"supported": [1, 3]}, or None if it has none."""
    lists = [found["supported"] for found in objects_in(reply) if "supported" in found]
    return valid_numbers(lists[-1], statements) if lists else None
