"""Points that a chat model takes from passages, and the answer from the most important of them.

Map-reduce and DRIFT search share them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from e2g_neo4j.answering.citations import CitationFilter, ShownAnswer, citations_in
from e2g_neo4j.answering.evidence import NOT_SAID, cited_answer, evidence_budget, too_small, with_usage
from e2g_neo4j.errors import UnusableReplyError
from e2g_neo4j.models.chat.json_replies import (
    TEXT,
    list_schema,
    number_schema,
    object_schema,
    objects_in,
    valid_numbers,
    whole_number,
)
from e2g_neo4j.models.chat.prompts import delimited, delimiter_for, filled, load_prompt
from e2g_neo4j.models.chat.until_usable import ask_until_usable
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatRequest, ChatUsage, StreamingChatModel
from e2g_neo4j.types.results import Answer, Evidence, Passage

PROMPTS = Path(__file__).with_name("prompts")

MOST = 100
"""The highest score of a point."""

POINTS = 10
"""Points of a reply, if the chat model can be held to a schema."""


@dataclass(frozen=True, slots=True)
class Point:
    """A statement of the passages, with its score from 0 to 100 and the numbers of the passages that support it."""

    text: str
    score: int
    passages: tuple[int, ...]

    def shown(self) -> str:
        """Return the point as the prompt has it."""
        return f"({self.score}) {self.text} {''.join(f'[{number}]' for number in self.passages)}"


def important_of(points: Iterable[Point]) -> list[Point]:
    """Return the points with a score above 0, the most important first."""
    return sorted((point for point in points if point.score > 0), key=lambda point: -point.score)


def kept_of(important: Sequence[Point], question: str, model: StreamingChatModel, settings: Settings) -> list[Point]:
    """Return the points that fit into the prompt for the answer.

    Raises:
        ModelError: There are points, but none fits.
    """
    budget = evidence_budget(model, settings, load_prompt(PROMPTS / "reduce.txt", settings.prompts), question)
    kept = fitting(important, budget, model)
    if important and not kept:
        raise too_small(budget)
    return kept


def answer_of(
    kept: Sequence[Point],
    evidence: Evidence,
    given: tuple[Passage, ...],
    model: StreamingChatModel,
    settings: Settings,
    used: ChatUsage,
) -> Operation[Answer]:
    """Ask the chat model for an answer from points, with at most TRIES calls. Without points, it is not asked.

    Args:
        kept: The points, the most important first.
        evidence: The evidence.
        given: The passages whose numbers the points have.
        model: The chat model.
        settings: The settings.
        used: The usage so far. The calls are added.

    Raises:
        UnusableReplyError: The model sent no answer.
    """
    if not kept:
        return with_usage(Answer(NOT_SAID, evidence, given=given, found=False), used)
    instructions = load_prompt(PROMPTS / "reduce.txt", settings.prompts)
    listed = "\n".join(point.shown() for point in kept)
    valid = {number for point in kept for number in point.passages}
    answer = yield from ask_until_usable(
        model,
        request_for(evidence.stand_alone, listed, instructions, settings),
        lambda reply: cited_answer(reply, evidence, given, valid),
        used,
        shown=partial(ShownAnswer, len(given), valid),
    )
    if answer is not None:
        return with_usage(answer, used)
    raise UnusableReplyError(f"The chat model {model.name} returned no text: try again, or set another E2G_CHAT_MODEL.")


def fitting(points: Sequence[Point], budget: int, model: StreamingChatModel) -> list[Point]:
    """Return the first points that fit into a number of tokens. One that is too long is left out."""
    kept: list[Point] = []
    for point in points:
        cost = model.count(f"{point.shown()}\n")
        if cost <= budget:
            kept.append(point)
            budget -= cost
    return kept


def points_schema(batch: Collection[int]) -> dict[str, Any]:
    """Return the JSON schema of a list of points, by the numbers of the passages that the model is shown."""
    passages = list_schema({"type": "integer", "enum": sorted(batch)}, len(batch))
    return list_schema(object_schema(text=TEXT, score=number_schema(0, MOST), passages=passages), POINTS)


def points_in(reply: str, batch: Collection[int], examples: Collection[str] = frozenset()) -> list[Point] | None:
    """Return the points of a reply. None if it has none and does not say so with an empty list.

    Points without text, score or a passage of the batch are left out. Scores are limited to 0 to MOST.

    Args:
        reply: The reply, without reasoning.
        batch: The numbers of the passages that the model has read.
        examples: The texts of the examples in the prompt. They are no points.
    """
    items: list[object] = []
    said = False
    for one in objects_in(reply):
        listed = one.get("points")
        if isinstance(listed, list):
            items, said = listed, True
        elif "text" in one and not said:  # of a reply that was truncated
            items.append(one)
    found = (_point(item, batch) for item in items)
    points = [point for point in found if point is not None and point.text not in examples]
    return points if points or (said and not items) else None


def _point(item: object, batch: Collection[int]) -> Point | None:
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        return None
    number = score_in(item)
    text = item["text"]
    cited = [one for _, _, numbers in citations_in(text) for one in numbers]
    numbers = valid_numbers(item.get("passages"), max(batch)) or []
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


def request_for(
    question: str, listed: str, instructions: str, settings: Settings, schema: Mapping[str, Any] | None = None
) -> ChatRequest:
    """Build a request: passages or points between two tags, then the question.

    Args:
        question: The question.
        listed: The passages or points.
        instructions: The system prompt.
        settings: The settings.
        schema: The JSON schema of the reply, if it has one.
    """
    delimiter = delimiter_for(listed)
    return ChatRequest(
        filled(instructions, fence=delimiter),
        f"{delimited(listed, delimiter)}\n\nQuestion: {question}",
        max_tokens=settings.answer_tokens,
        schema=schema,
    )
