"""Answer a question by map-reduce, as GraphRAG's global search does ("From Local to Global", arXiv 2404.16130).

The passages are read in batches. From each, the chat model takes points with a score of their importance and the
passages that support them (map). The most important points become the answer (reduce). GraphRAG maps reports of
communities. Here passages of documents are mapped, in every mode, because a citation leads to text, and reports only
quote some of it. The condition TS of that paper reads all of the source text; this reads what the mode finds.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from e2g_neo4j.answering.citations import CitationFilter, ShownAnswer, citations_in
from e2g_neo4j.answering.evidence import (
    FACTS,
    MARGIN,
    MIN_TOKENS,
    NOT_SAID,
    cited_answer,
    evidence_budget,
    facts_within_budget,
    in_reading_order,
    numbered,
    too_small,
    truncated,
    usage_of,
    with_usage,
)
from e2g_neo4j.errors import UnusableReplyError
from e2g_neo4j.models.chat.json_replies import example_texts, objects_in, valid_numbers, whole_number
from e2g_neo4j.models.chat.prompts import delimited, delimiter_for, filled, load_prompt
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.retrieval.chat_calls import Unshown
from e2g_neo4j.runtime.requests import Chat, Operation, TextFilter
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatReply, ChatRequest, ChatUsage, StreamingChatModel
from e2g_neo4j.types.results import Answer, Evidence, Passage

PROMPTS = Path(__file__).with_name("prompts")

TRIES = 3
"""Maximum number of requests per batch, and for the answer, until a reply is usable."""

BATCHES = 8
"""Batches that the evidence has without `k` and `tokens`, about."""

MAX_BATCHES = 64
"""Maximum number of batches. Of more evidence, the best passages are read. So there are at most 195 calls: TRIES for
each batch and for the answer."""

LONGEST_TOKEN = 20
"""Characters of a text per token at most, so that not all of a long text is counted for each of its parts."""

MOST = 100
"""The highest score of a point."""


@dataclass(frozen=True, slots=True)
class Point:
    """A statement of the passages, with its score from 0 to 100 and the numbers of the passages that support it."""

    text: str
    score: int
    passages: tuple[int, ...]

    def shown(self) -> str:
        """Return the point as the prompt has it."""
        return f"({self.score}) {self.text} {''.join(f'[{number}]' for number in self.passages)}"


def map_reduce(evidence: Evidence, model: StreamingChatModel, settings: Settings) -> Operation[Answer]:
    """Ask the chat model for points of the evidence, batch by batch, then for an answer from the points.

    Args:
        evidence: The evidence.
        model: The chat model.
        settings: The settings.

    Raises:
        ModelError: The model failed, or no passage fits its context.
        UnusableReplyError: The model sent no usable reply to any batch, or no answer.
    """
    used, question = usage_of(evidence), evidence.question
    instructions = load_prompt(PROMPTS / "map.txt", settings.prompts)
    examples = example_texts(instructions)
    budget = evidence_budget(model, settings, instructions, question)
    facts = facts_within_budget(evidence.facts, int(FACTS * budget), model)
    given, batches, left_out = batches_of(evidence.passages, facts, budget, model)
    if evidence.passages and not given:
        raise too_small(budget)
    points: list[Point] = []
    failed = 0
    for batch in batches:
        listed = "\n\n".join(numbered(given[number - 1], number) for number in batch)
        found: list[Point] | None = None
        for attempt in range(TRIES):
            request = request_for(question, listed, instructions, model, settings, attempt)
            reply = yield from asked(model, request, Unshown(), used)
            found = points_in(without_thought(reply.text), batch, examples)
            if found is not None:
                break
        failed += found is None
        points += found or []
    if failed and failed == len(batches):
        raise UnusableReplyError(
            f"The chat model {model.name} returned no points: try again, or set another E2G_CHAT_MODEL."
        )
    important = important_of(points)
    kept = kept_of(important, question, model, settings)
    told = [
        f"Map-reduce: points above 0: {len(important)}, batches: {len(batches)}, points in the answer: {len(kept)}."
    ]
    if left_out:
        told.append(f"Parts of passages that did not fit: {left_out}.")
    if failed:
        told.append(f"Batches that are left out, because the chat model sent no usable points: {failed}.")
    evidence = replace(evidence, reason=" ".join([evidence.reason, *told]))
    return (yield from answer_of(kept, evidence, given, model, settings, used))


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
    for attempt in range(TRIES):
        request = request_for(evidence.question, listed, instructions, model, settings, attempt)
        reply = yield from asked(model, request, ShownAnswer(len(given), valid), used)
        answer = cited_answer(reply, evidence, given, valid)
        if answer is not None:
            return with_usage(answer, used)
    raise UnusableReplyError(f"The chat model {model.name} returned no text: try again, or set another E2G_CHAT_MODEL.")


def batches_of(
    passages: Sequence[Passage], facts: Sequence[Passage], budget: int, model: StreamingChatModel
) -> tuple[tuple[Passage, ...], list[list[int]], int]:
    """Pack passages into batches, in reading order, then facts.

    A passage that does not fit into a batch becomes several. If there were more than MAX_BATCHES, the worst passages
    are left out, and the ends of long ones.

    Args:
        passages: The passages, best first.
        facts: Facts as passages.
        budget: Maximum number of tokens of a batch.
        model: The chat model, which counts tokens.

    Returns:
        The passages in this order, the numbers, from 1, of those in each batch, and how many were left out.
    """
    parts = [parts_of(passage, budget, model) for passage in passages]
    best = [part for some in parts for part in some]
    number_of_parts = len(best) + parts.count([])
    while True:
        given = (*in_reading_order(best), *facts)
        batches: list[list[int]] = []
        room = 0
        for number, passage in enumerate(given, 1):
            cost = _cost(passage, model)
            if cost > room:
                batches.append([])
                room = budget
            batches[-1].append(number)
            room -= cost
        if len(batches) <= MAX_BATCHES:
            return given, batches, number_of_parts - len(best)
        best = best[: len(best) * MAX_BATCHES // len(batches)]


def parts_of(passage: Passage, budget: int, model: StreamingChatModel) -> list[Passage]:
    """Split a passage into parts that fit into a number of tokens, at the ends of sentences. None if that is too small.

    Args:
        passage: The passage.
        budget: Maximum number of tokens, with the heading of the passage.
        model: The chat model, which counts tokens.
    """
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


def fitting(points: Sequence[Point], budget: int, model: StreamingChatModel) -> list[Point]:
    """Return the first points that fit into a number of tokens. One that is too long is left out."""
    kept: list[Point] = []
    for point in points:
        cost = model.count(f"{point.shown()}\n")
        if cost <= budget:
            kept.append(point)
            budget -= cost
    return kept


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
    question: str, listed: str, instructions: str, model: StreamingChatModel, settings: Settings, attempt: int = 0
) -> ChatRequest:
    """Build a request: passages or points between two tags, then the question.

    Args:
        question: The question.
        listed: The passages or points.
        instructions: The system prompt.
        model: The chat model, whose context limits the length of the reply.
        settings: The settings.
        attempt: Number of the attempt, from 0. It determines the seed.
    """
    delimiter = delimiter_for(listed)
    system, user = filled(instructions, fence=delimiter), f"{delimited(listed, delimiter)}\n\nQuestion: {question}"
    max_tokens = settings.answer_tokens * 2**attempt
    if attempt and model.context is not None:
        room = model.context - model.count(f"{system}\n{user}") - MARGIN
        max_tokens = max(settings.answer_tokens, min(max_tokens, room))
    return ChatRequest(system, user, max_tokens, temperature=0.7 if attempt else 0.0, seed=attempt)


def asked(model: StreamingChatModel, request: ChatRequest, shown: TextFilter, used: ChatUsage) -> Operation[ChatReply]:
    """Call the chat model and add the call to the usage."""
    reply: ChatReply = yield Chat(model, request, shown)
    used.add(reply)
    return reply
