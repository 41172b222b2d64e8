"""Meter the calls and tokens of a chat model, and the tokens that a server embeds, with an optional budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition

from e2g_neo4j.errors import BudgetError
from e2g_neo4j.types.chat import ChatReply
from e2g_neo4j.types.reports import TokenUsage


@dataclass(slots=True)
class _Call:
    reply: ChatReply | None = None


class UsageMeter:
    """Counts calls and tokens per level of the tree. Thread-safe.

    Args:
        budget: Maximum number of tokens of the run: of prompts and replies, and of texts that a server embeds. None: no
            limit.
        changed: Called with the tokens used so far.
    """

    def __init__(self, budget: int | None = None, changed: Callable[[int], None] | None = None) -> None:
        self.levels: dict[int, TokenUsage] = {}
        self.embedded = 0
        self._budget = budget
        self._changed = changed
        self._spent = 0
        self._reserved = 0
        self._lock = Condition()

    @contextmanager
    def call(self, level: int, most: int) -> Iterator[_Call]:
        """Reserve budget for a call, and record what it used.

        If the budget is short, this waits for running calls first, because they may use less than they reserved.

        Args:
            most: Maximum number of tokens of the call.

        Raises:
            BudgetError: The call might exceed the budget. Raised before the call.
        """
        with self._lock:
            budget = self._budget
            if budget is not None:
                self._lock.wait_for(lambda: not self._reserved or self._spent + self._reserved + most <= budget)
                if self._spent + most > budget:
                    raise BudgetError(
                        f"The next call may use {most} tokens, and {self._spent} of the budget of {budget} are used. "
                        "Finished replies are cached: run the same command again with a budget for the rest."
                    )
            self._reserved += most
        call = _Call()
        try:
            yield call
        finally:
            with self._lock:
                self._reserved -= most
                self._lock.notify_all()
                if call.reply is not None:
                    spending = self.levels.setdefault(level, TokenUsage())
                    spending.calls += 1
                    spending.prompt_tokens += call.reply.prompt_tokens
                    spending.completion_tokens += call.reply.completion_tokens
                    self._spent += call.reply.prompt_tokens + call.reply.completion_tokens
                spent = self._spent
        if self._changed:
            self._changed(spent)

    def embed(self, tokens: int) -> None:
        """Spend tokens on texts that a server embeds.

        Raises:
            BudgetError: They are more than the budget has left. Raised before they are sent.
        """
        with self._lock:
            if self._budget is not None and self._spent + self._reserved + tokens > self._budget:
                raise BudgetError(
                    f"The server of the embedding model would be sent about {tokens} tokens, and {self._spent} of the "
                    f"budget of {self._budget} are used. Run the same command again with a larger budget."
                )
            self._spent += tokens
            self.embedded += tokens

    def count_cached(self, level: int) -> None:
        """Record a summary that was taken from the cache."""
        with self._lock:
            self.levels.setdefault(level, TokenUsage()).remembered += 1


def cost(levels: dict[int, TokenUsage], price_prompt: float, price_completion: float) -> float:
    """Return the cost of a run."""
    prompt = sum(spending.prompt_tokens for spending in levels.values())
    completion = sum(spending.completion_tokens for spending in levels.values())
    return (prompt * price_prompt + completion * price_completion) / 1e6
