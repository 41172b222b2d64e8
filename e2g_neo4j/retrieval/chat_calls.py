"""The calls of the chat model with which a mode looks for evidence, if the option `llm` is set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from e2g_neo4j.models.chat.json_replies import list_schema, number_schema, object_schema, objects_in, valid_numbers
from e2g_neo4j.models.chat.prompts import fence, load_prompt
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import MARGIN, TRIES, ask_until_usable
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.chat import ChatRequest, ChatUsage, StreamingChatModel

PROMPTS = Path(__file__).with_name("prompts")

REPLY_TOKENS = 300
"""Maximum length of the reply to the first try."""

LONGEST_REPLY: int = REPLY_TOKENS * 2 ** (TRIES - 1)
"""Maximum length of the reply to the last try."""

T = TypeVar("T")


@dataclass(slots=True)
class ChatCalls:
    """The chat model of one question, for its mode.

    Attributes:
        prompts: A folder with prompts that replace the bundled ones.
        used: What the calls so far used.
        told: What the model contributed, or why it did not, in sentences for the evidence's reason.
        fault: Why the last `ask` returned None.
    """

    model: StreamingChatModel
    prompts: Path | None = None
    used: ChatUsage = field(default_factory=ChatUsage)
    told: list[str] = field(default_factory=list)
    fault: str = ""

    @property
    def made(self) -> int:
        """The number of calls so far."""
        return self.used.calls

    def count_fitting(self, prompt: str, question: str, items: Sequence[str]) -> int:
        """Return how many of the first items fit into one call together."""
        room = self._room(prompt, question)
        for number, item in enumerate(items, 1):
            room -= self.model.count(_number_item(number, item))
            if room < 0:
                return number - 1
        return len(items)

    def ask(
        self,
        prompt: str,
        question: str,
        items: Sequence[str],
        schema: Mapping[str, Any],
        parse: Callable[[str], T | None],
        *,
        most: int,
    ) -> Operation[T | None]:
        """Ask about items, up to TRIES times, and return what the reply means.

        Args:
            items: Texts that the model is shown with their numbers, from 1. Empty: it is shown the question only.
            parse: Returns what a reply means, or None if it is not usable.
            most: The maximum number of calls for the question.

        Returns:
            None if no reply was usable, the prompt does not fit, or there were `most` calls; `fault` then says why.
        """
        instructions = load_prompt(PROMPTS / f"{prompt}.txt", self.prompts)
        if self.count_fitting(prompt, question, items) < len(items) or self._room(prompt, question) < 0:
            self.fault = f"The prompt does not fit into the {self.model.context} tokens of the chat model"
            return None
        tries = min(TRIES, most - self.made)
        found = yield from ask_until_usable(
            self.model,
            replace(request_for(question, items, instructions), schema=schema),
            lambda reply: parse(without_thought(reply.text)),
            self.used,
            tries=tries,
        )
        if found is None:
            self.fault = f"The chat model was called {most} times, the maximum"
            if tries == TRIES:
                self.fault = f"The chat model sent no usable reply in {TRIES} calls"
        return found

    def fall_back(self, instead: str) -> None:
        """Tell why the model was not used, and what the mode does instead."""
        self.told.append(f"{self.fault}: {instead}.")

    def _room(self, prompt: str, question: str) -> int:
        """Return how many tokens of items fit into a call, even into its last try."""
        if self.model.context is None:
            return 2**63
        instructions = load_prompt(PROMPTS / f"{prompt}.txt", self.prompts)
        fixed = self.model.count(instructions) + self.model.count(question) + MARGIN
        return self.model.context - fixed - LONGEST_REPLY


def request_for(question: str, items: Sequence[str], instructions: str) -> ChatRequest:
    """Build a request: numbered items between two tags, then the question; or the question between the tags."""
    listed = "\n\n".join(_number_item(number, item) for number, item in enumerate(items, 1)) or question
    system, shown = fence(instructions, listed)
    asked = f"\n\nQuestion: {question}" if items else ""
    return ChatRequest(system, f"{shown}{asked}", max_tokens=REPLY_TOKENS)


def _number_item(number: int, item: str) -> str:
    return f"[{number}] {item}"


def relevant_schema(items: int) -> dict[str, Any]:
    """Return the JSON schema of the numbers of relevant items."""
    return object_schema(relevant=list_schema(number_schema(1, items), items))


def relevant_numbers(reply: str, items: int) -> list[int] | None:
    """Return the numbers of relevant items from a reply such as {"relevant": [1, 3]}, or None if there are none such.

    Numbers of items that do not exist are left out. A list of nothing else is not usable.
    """
    lists = [found["relevant"] for found in objects_in(reply) if "relevant" in found]
    return valid_numbers(lists[-1], items) if lists else None
