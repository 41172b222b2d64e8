"""Read more than fits into one prompt: pack passages or reports into batches, and have points taken from each (map).

Map-reduce and global search share this.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from e2g_neo4j.answering.calls import Calls
from e2g_neo4j.answering.evidence import MIN_TOKENS, in_reading_order, numbered, truncated
from e2g_neo4j.answering.points import points_in, points_schema
from e2g_neo4j.models.chat.json_replies import object_schema
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.chat import StreamingChatModel
from e2g_neo4j.types.results import Passage, Point

LONGEST_TOKEN = 20
"""Characters of a text per token at most, so that not all of a long text is counted for each of its parts."""


@dataclass(frozen=True, slots=True)
class Batches:
    """Passages in batches.

    Attributes:
        given: The passages, in the order of the batches.
        numbers: The numbers, from 1, of the passages in each batch.
        left_out: How many passages, or parts of them, are left out.
        tokens: The length of all passages, as a prompt has them.
    """

    given: tuple[Passage, ...]
    numbers: list[list[int]]
    left_out: int
    tokens: int

    def __len__(self) -> int:
        return len(self.numbers)

    def told(self, of: str) -> str:
        """Tell what it takes to read them."""
        if not self.numbers:
            return "Nothing is read."
        batches = "1 batch" if len(self) == 1 else f"{len(self)} batches"
        return f"{batches} with {self.tokens} tokens of {of}: {len(self) + 1} calls of the chat model."


def map_batches(
    calls: Calls, prompt: str, question: str, batches: Batches, of: str = "passages"
) -> Operation[tuple[list[Point], int]]:
    """Have the chat model take points from each batch.

    Args:
        calls: The calls so far.
        prompt: The name of the prompt file.
        of: What they are of, as replies name it.

    Returns:
        The points, and of how many batches no reply was usable.

    Raises:
        UnusableReplyError: The model sent no usable reply to any batch.
    """
    points: list[Point] = []
    failed = 0
    for done, batch in enumerate(batches.numbers):
        calls.progress("batches", done, len(batches))
        listed = "\n\n".join(numbered(batches.given[number - 1], number) for number in batch)
        schema = object_schema(points=points_schema(batch, of))
        found = yield from calls.ask(prompt, question, listed, schema, partial(_points, batch=batch, of=of))
        failed += found is None
        points += found or []
    calls.progress("batches", len(batches), len(batches))
    if failed and failed == len(batches):
        raise calls.returned("no points")
    return points, failed


def _points(reply: str, examples: Collection[str], batch: Sequence[int], of: str) -> list[Point] | None:
    return points_in(reply, batch, examples, of)


def batches_of(
    passages: Sequence[Passage],
    facts: Sequence[Passage],
    budget: int,
    model: StreamingChatModel,
    most: int | None,
    order: Callable[[Sequence[Passage]], Sequence[Passage]] = in_reading_order,
) -> Batches:
    """Pack passages into batches, then facts.

    A passage that does not fit into a batch becomes several. If there were more batches than allowed, the worst
    passages are left out, and the ends of long ones.

    Args:
        passages: The passages, best first.
        facts: Facts as passages.
        budget: Maximum number of tokens of a batch.
        model: The chat model, which counts tokens.
        most: Maximum number of batches. None: there is no limit.
        order: Returns the passages in the order of the batches.
    """
    parts = [parts_of(passage, budget, model) for passage in passages]
    best = [part for some in parts for part in some]
    number_of_parts = len(best) + parts.count([])
    while True:
        given = (*order(best), *facts)
        batches: list[list[int]] = []
        room = tokens = 0
        for number, passage in enumerate(given, 1):
            cost = _cost(passage, model)
            if cost > room:
                batches.append([])
                room = budget
            batches[-1].append(number)
            room -= cost
            tokens += cost
        if most is None or len(batches) <= most:
            return Batches(given, batches, number_of_parts - len(best), tokens)
        best = best[: len(best) * most // len(batches)]


def parts_of(passage: Passage, budget: int, model: StreamingChatModel) -> list[Passage]:
    """Split a passage at the ends of sentences into parts that fit into a number of tokens, or into none."""
    room = budget - (_cost(passage, model) - model.count(passage.labelled()))
    parts: list[Passage] = []
    if room < MIN_TOKENS and _cost(passage, model) > budget:
        return parts
    rest = passage
    while model.count(rest.labelled()) > room:
        part = truncated(replace(rest, text=rest.text[: room * LONGEST_TOKEN]), room, model)
        if part is None:
            return parts
        parts.append(part)
        left = rest.text[len(part.text) :]
        begins = len(rest.text) - len(left.lstrip())
        node = rest.text_node and replace(rest.text_node, start=rest.text_node.start + begins)
        start = rest.start if rest.level else rest.start + begins
        rest = replace(rest, text=rest.text[begins:], start=start, text_node=node)
    return [*parts, rest] if rest.text.strip() else parts


def _cost(passage: Passage, model: StreamingChatModel) -> int:
    """Return the tokens of a passage in a prompt, with any number."""
    return model.count(f"{numbered(passage, 9999)}\n\n")
