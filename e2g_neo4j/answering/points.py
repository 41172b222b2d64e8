"""Points that a chat model takes from passages or reports, and the answer from the most important of them.

Map-reduce, DRIFT and global search share them. What is more than fits into one prompt is read in batches (map).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

from e2g_neo4j.answering.citations import CitationFilter, ShownAnswer, citations_in
from e2g_neo4j.answering.evidence import (
    MIN_TOKENS,
    NOT_SAID,
    Calls,
    in_reading_order,
    make_answer,
    number_passage,
    too_small,
    truncate_passage,
    with_usage,
)
from e2g_neo4j.models.chat.json_replies import (
    TEXT,
    find_list,
    list_schema,
    number_schema,
    object_schema,
    valid_numbers,
    whole_number,
)
from e2g_neo4j.models.chat.until_usable import ask_until_usable
from e2g_neo4j.runtime.requests import AtOnce, Operation
from e2g_neo4j.types.chat import StreamingChatModel
from e2g_neo4j.types.results import Answer, Evidence, Passage, Point

MOST = 100
"""The highest score of a point."""

POINTS = 10
"""Points of a reply, if the chat model can be held to a schema."""

REDUCE = "reduce.txt"
"""The prompt for the answer."""


def format_point(point: Point) -> str:
    """Return a point as the prompt has it."""
    return f"({point.score}) {point.text} {''.join(f'[{number}]' for number in point.passages)}"


def choose_points(points: Iterable[Point], question: str, calls: Calls) -> tuple[list[Point], int]:
    """Return the points that fit into the prompt for the answer, the most important first, and how many have a score
    above 0.

    Raises:
        ModelError: There are such points, but none fits.
    """
    important = sorted((point for point in points if point.score > 0), key=lambda point: -point.score)
    budget = left = calls.budget(REDUCE, question)
    kept: list[Point] = []
    for point in important:
        cost = calls.model.count(f"{format_point(point)}\n")
        if cost <= left:  # one that is too long is left out
            kept.append(point)
            left -= cost
    if important and not kept:
        raise too_small(budget)
    return kept, len(important)


def answer_of(
    kept: Sequence[Point],
    evidence: Evidence,
    given: tuple[Passage, ...],
    calls: Calls,
    not_said: str = NOT_SAID,
) -> Operation[Answer]:
    """Ask the chat model for an answer from points, with at most TRIES calls. Without points, it is not asked.

    Args:
        kept: The points, the most important first.
        given: The passages whose numbers the points have.
        not_said: The answer without points.

    Raises:
        UnusableReplyError: The model sent no answer.
    """
    if not kept:
        return with_usage(Answer(not_said, evidence, given=given, found=False), calls.used)
    valid = {number for point in kept for number in point.passages}
    answer = yield from ask_until_usable(
        calls.model,
        calls.request(REDUCE, evidence.stand_alone, "\n".join(map(format_point, kept))),
        lambda reply: make_answer(reply, evidence, given, valid),
        calls.used,
        shown=partial(ShownAnswer, len(given), valid),
    )
    if answer is None:
        raise calls.unusable_reply_error("no text")
    return replace(with_usage(answer, calls.used), points=tuple(kept))


def points_schema(batch: Collection[int], of: str = "passages") -> dict[str, Any]:
    """Return the JSON schema of a list of points, by the numbers of what the model is shown."""
    numbers = list_schema({"type": "integer", "enum": sorted(batch)}, len(batch))
    return list_schema(object_schema(**{"text": TEXT, "score": number_schema(0, MOST), of: numbers}), POINTS)


def points_in(
    reply: str, batch: Collection[int], examples: Collection[str] = frozenset(), of: str = "passages"
) -> list[Point] | None:
    """Return the points of a reply. None if it has none and does not say so with an empty list.

    Points without text, score or a number of the batch are left out. Scores are limited to 0 to MOST.

    Args:
        reply: The reply, without reasoning.
        batch: The numbers of the passages, or reports, that the model has read.
        examples: The texts of the examples in the prompt. They are no points.
        of: What the numbers are of, as the reply names it.
    """
    items, said = find_list(reply, "points", "text")
    found = (_point(item, batch, of) for item in items)
    points = [point for point in found if point is not None and point.text not in examples]
    return points if points or (said and not items) else None


def _point(item: object, batch: Collection[int], of: str) -> Point | None:
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        return None
    number = score_in(item)
    text = item["text"]
    cited = [one for _, _, numbers in citations_in(text) for one in numbers]
    numbers = valid_numbers(item.get(of), max(batch)) or []
    passages = tuple(dict.fromkeys(one for one in (*numbers, *cited) if one in batch))
    without_numbers = CitationFilter(0)
    text = " ".join((without_numbers.add(text) + without_numbers.end()).split())
    if number is None or not text or not passages:
        return None
    return Point(text, number, passages)


def score_in(item: Mapping[str, object]) -> int | None:
    """Return the score of an item of a reply, limited to 0 to MOST, or None."""
    score = item.get("score")
    number = round(score) if isinstance(score, float) and math.isfinite(score) else whole_number(score)
    return None if number is None else min(max(number, 0), MOST)


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

    def describe_batches(self, of: str) -> str:
        """Tell what it takes to read them."""
        if not self.numbers:
            return "Nothing is read."
        batches = "1 batch" if len(self) == 1 else f"{len(self)} batches"
        return f"{batches} with {self.tokens} tokens of {of}: {len(self) + 1} calls of the chat model."


def map_batches(
    calls: Calls, prompt: str, question: str, batches: Batches, of: str = "passages"
) -> Operation[tuple[list[Point], int]]:
    """Have the chat model take points from each batch, of several at once.

    Args:
        of: What they are of, as replies name it.

    Returns:
        The points in the order of the batches, and of how many batches no reply was usable.

    Raises:
        UnusableReplyError: The model sent no usable reply to any batch.
    """
    done, tell = count(), calls.progress or (lambda *_: None)

    def take_points(batch: Sequence[int]) -> Operation[list[Point] | None]:
        listed = "\n\n".join(number_passage(batches.given[number - 1], number) for number in batch)
        schema = object_schema(points=points_schema(batch, of))
        asking = calls.ask(prompt, question, listed, schema, lambda reply, shown: points_in(reply, batch, shown, of))
        found = yield from asking
        tell("batches", next(done), len(batches))
        return found

    tell("batches", next(done), len(batches))
    found: list[list[Point] | None] = yield AtOnce(tuple(map(take_points, batches.numbers)))
    failed = found.count(None)
    if failed and failed == len(batches):
        raise calls.unusable_reply_error("no points")
    return [point for points in found for point in points or ()], failed


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
        facts: Facts as passages.
        budget: Maximum number of tokens of a batch.
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
    room = budget - (_cost(passage, model) - model.count(passage.to_labelled_text()))
    parts: list[Passage] = []
    if room < MIN_TOKENS and _cost(passage, model) > budget:
        return parts
    rest = passage
    while model.count(rest.to_labelled_text()) > room:
        part = truncate_passage(replace(rest, text=rest.text[: room * LONGEST_TOKEN]), room, model)
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
    return model.count(f"{number_passage(passage, 9999)}\n\n")
