"""Ask until a reply is usable: how often, with how many tokens, and what is counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from operations import WordModel, conversation

from e2g_neo4j.models.chat.until_usable import MARGIN, TRIES, ask_until_usable
from e2g_neo4j.types.chat import ChatReply, ChatRequest, ChatUsage

FIRST = ChatRequest("System.", "User.", max_tokens=100, seed=30)


def run(
    *replies: str, context: int | None = None, again: Callable[[], ChatRequest] | None = None, tries: int = TRIES
) -> tuple[str | None, list[ChatRequest], ChatUsage]:
    """Answer the requests with these replies, of which only those without "no" are usable, and "no…" are cut off."""
    used = ChatUsage()
    operation: Any = ask_until_usable(
        WordModel(context),  # type: ignore[arg-type]
        FIRST,
        lambda reply: None if "no" in reply.text else reply.text,
        used,
        again=again,
        tries=tries,
    )
    given = [ChatReply(text, "length" if text == "no…" else "stop", 10, 1) for text in replies]
    found, asked = conversation(operation, given)
    return found, [one.request for one in asked], used


def test_the_first_usable_reply_counts() -> None:
    found, requests, used = run("no", "yes")
    assert (found, len(requests)) == ("yes", 2)
    assert used == ChatUsage(2, 20, 2)


@pytest.mark.parametrize("tries", [0, 1, TRIES])
def test_tries_are_spent(tries: int) -> None:
    found, requests, used = run(*["no"] * tries, tries=tries)
    assert (found, len(requests), used.calls) == (None, tries, tries)


def test_attempts_have_other_samples_and_twice_as_many_tokens_after_one_that_was_cut_off() -> None:
    _, requests, _ = run("no…", "no", "no")
    assert requests[0] == FIRST
    assert [(one.seed, one.max_tokens, one.temperature > 0) for one in requests] == [
        (30, 100, False),
        (31, 200, True),
        (32, 200, True),
    ]


def test_more_tokens_are_those_for_which_the_context_has_room() -> None:
    _, requests, _ = run("no…", "no…", "no", context=MARGIN + 2 + 250)
    assert [one.max_tokens for one in requests] == [100, 200, 250]
    _, requests, _ = run("no…", "no…", "no", context=50)
    assert [one.max_tokens for one in requests] == [100, 100, 100]


def test_the_request_may_change_after_an_unusable_reply() -> None:
    said: list[str] = []

    def again() -> ChatRequest:
        said.append("Again.")
        return ChatRequest("System.", " ".join(said), max_tokens=7)

    _, requests, _ = run("no…", "no…", "yes", again=again)
    assert [one.user for one in requests] == ["User.", "Again.", "Again. Again."]
    assert [one.max_tokens for one in requests[1:]] == [14, 28]
