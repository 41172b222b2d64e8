"""What a run costs: a meter for the calls of a chat model, with a limit if one is set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition

from e2g_neo4j.chat.chatting import ChatReply
from e2g_neo4j.errors import BudgetError
from e2g_neo4j.model import Spending


@dataclass(slots=True)
class _Call:
    reply: ChatReply | None = None


class Meter:
    """Counts calls and tokens by level of the tree. Thread-safe.

    Args:
        budget: tokens, read and written, that the run may cost; None: no limit.
        changed: called with the tokens spent so far.
    """

    def __init__(self, budget: int | None = None, changed: Callable[[int], None] | None = None) -> None:
        self.levels: dict[int, Spending] = {}
        self._budget = budget
        self._changed = changed
        self._spent = 0
        self._reserved = 0
        self._lock = Condition()

    @contextmanager
    def call(self, level: int, most: int) -> Iterator[_Call]:
        """A call that costs at most so many tokens. Raises BudgetError, before it is made, where it might go over.

        Calls under way may cost less than they might, so that their end is waited for before the budget is.
        """
        with self._lock:
            budget = self._budget
            if budget is not None:
                self._lock.wait_for(lambda: not self._reserved or self._spent + self._reserved + most <= budget)
                if self._spent + most > budget:
                    raise BudgetError(
                        f"The next call may cost {most} tokens, and {self._spent} of the budget of {budget} are spent. "
                        "What was summarised is kept and costs nothing again: run the same command with a budget for "
                        "the rest."
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
                    spending = self.levels.setdefault(level, Spending())
                    spending.calls += 1
                    spending.prompt_tokens += call.reply.prompt_tokens
                    spending.completion_tokens += call.reply.completion_tokens
                    self._spent += call.reply.prompt_tokens + call.reply.completion_tokens
                spent = self._spent
        if self._changed:
            self._changed(spent)

    def remembered(self, level: int) -> None:
        """A summary cost nothing, because it was made before."""
        with self._lock:
            self.levels.setdefault(level, Spending()).remembered += 1


def cost(levels: dict[int, Spending], price_prompt: float, price_completion: float) -> float:
    """In the currency of the prices, which are for a million tokens."""
    prompt = sum(spending.prompt_tokens for spending in levels.values())
    completion = sum(spending.completion_tokens for spending in levels.values())
    return (prompt * price_prompt + completion * price_completion) / 1e6
