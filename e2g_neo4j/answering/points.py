"""Points that a chat model takes from passages or reports, and the answer from the most important of them.

Map-reduce, DRIFT and global search share them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from e2g_neo4j.answering.calls import Calls
from e2g_neo4j.answering.citations import CitationFilter, ShownAnswer, citations_in
from e2g_neo4j.answering.evidence import NOT_SAID, cited_answer, too_small, with_usage
from e2g_neo4j.models.chat.json_replies import (
    TEXT,
    list_schema,
    listed_in,
    number_schema,
    object_schema,
    valid_numbers,
    whole_number,
)
from e2g_neo4j.models.chat.until_usable import ask_until_usable
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.results import Answer, Evidence, Passage, Point

MOST = 100
"""The highest score of a point."""

POINTS = 10
"""Points of a reply, if the chat model can be held to a schema."""

REDUCE = "reduce.txt"
"""The prompt for the answer."""


def shown(point: Point) -> str:
    """Return a point as the prompt has it."""
    return f"({point.score}) {point.text} {''.join(f'[{number}]' for number in point.passages)}"


def kept_of(points: Iterable[Point], question: str, calls: Calls) -> tuple[list[Point], int]:
    """Return the points that fit into the prompt for the answer, the most important first, and how many have a score
    above 0.

    Raises:
        ModelError: There are such points, but none fits.
    """
    important = sorted((point for point in points if point.score > 0), key=lambda point: -point.score)
    budget = left = calls.budget(REDUCE, question)
    kept: list[Point] = []
    for point in important:
        cost = calls.model.count(f"{shown(point)}\n")
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
        calls: The calls so far.
        not_said: The answer without points.

    Raises:
        UnusableReplyError: The model sent no answer.
    """
    if not kept:
        return with_usage(Answer(not_said, evidence, given=given, found=False), calls.used)
    valid = {number for point in kept for number in point.passages}
    answer = yield from ask_until_usable(
        calls.model,
        calls.request(REDUCE, evidence.stand_alone, "\n".join(map(shown, kept))),
        lambda reply: cited_answer(reply, evidence, given, valid),
        calls.used,
        shown=partial(ShownAnswer, len(given), valid),
    )
    if answer is None:
        raise calls.returned("no text")
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
    items, said = listed_in(reply, "points", "text")
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
