"""The calls of the chat model that read passages or reports before an answer.

Map-reduce, DRIFT and global search share them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from e2g_neo4j.answering.evidence import evidence_budget
from e2g_neo4j.errors import UnusableReplyError
from e2g_neo4j.models.chat.json_replies import example_texts
from e2g_neo4j.models.chat.prompts import fenced, load_prompt
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import TRIES, ask_until_usable
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatRequest, ChatUsage, StreamingChatModel
from e2g_neo4j.types.reports import Progress

PROMPTS = Path(__file__).with_name("prompts")

T = TypeVar("T")


def no_progress(stage: str, done: int, total: int) -> None:
    """Show nothing."""


@dataclass(slots=True)
class Calls:
    """The chat model of one question.

    Attributes:
        model: The chat model.
        settings: The settings.
        used: What the calls so far used.
        left: How many calls may be made before the answer. None: there is no limit.
        progress: Is called with (stage, done, total).
    """

    model: StreamingChatModel
    settings: Settings
    used: ChatUsage = field(default_factory=ChatUsage)
    left: int | None = None
    progress: Progress = no_progress

    def instructions(self, prompt: str) -> str:
        """Return the text of a prompt file."""
        return load_prompt(PROMPTS / prompt, self.settings.prompts)

    def budget(self, prompt: str, question: str) -> int:
        """Return how many tokens of passages, points or reports fit into a prompt."""
        return evidence_budget(self.model, self.settings, self.instructions(prompt), question)

    def request(self, prompt: str, question: str, listed: str, schema: Mapping[str, Any] | None = None) -> ChatRequest:
        """Build a request: passages, points or reports between two tags, then the question."""
        system, shown = fenced(self.instructions(prompt), listed)
        return ChatRequest(
            system,
            f"{shown}\n\nQuestion: {question}",
            max_tokens=self.settings.answer_tokens,
            schema=schema,
        )

    def ask(
        self,
        prompt: str,
        question: str,
        listed: str,
        schema: Mapping[str, Any],
        parse: Callable[[str, Collection[str]], T | None],
    ) -> Operation[T | None]:
        """Ask up to TRIES times, as long as calls are left, and return what the reply means; None if none was usable.

        `parse` returns what a reply means, given the texts of the examples in the prompt; None if it is not usable.
        """
        examples = example_texts(self.instructions(prompt))
        before = self.used.calls
        found = yield from ask_until_usable(
            self.model,
            self.request(prompt, question, listed, schema),
            lambda reply: parse(without_thought(reply.text), examples),
            self.used,
            tries=TRIES if self.left is None else min(TRIES, self.left),
        )
        if self.left is not None:
            self.left -= self.used.calls - before
        return found

    def returned(self, nothing: str) -> UnusableReplyError:
        """Return the error for a model none of whose replies is usable, such as "no points"."""
        return UnusableReplyError(
            f"The chat model {self.model.name} returned {nothing}: try again, or set another E2G_CHAT_MODEL."
        )
