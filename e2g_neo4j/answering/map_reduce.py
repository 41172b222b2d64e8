"""Answer a question by map-reduce, as GraphRAG's global search does ("From Local to Global", arXiv 2404.16130).

The passages are read in batches. From each, the chat model takes points with a score of their importance and the
passages that support them (map). The most important points become the answer (reduce). GraphRAG maps reports of
communities. Here passages of documents are mapped, in every mode, because a citation leads to text, and reports only
quote some of it. The condition TS of that paper reads all of the source text; this reads what the mode finds.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

from e2g_neo4j.answering.evidence import (
    FACTS,
    MIN_TOKENS,
    evidence_budget,
    facts_within_budget,
    in_reading_order,
    numbered,
    too_small,
    truncated,
    usage_of,
)
from e2g_neo4j.answering.points import (
    PROMPTS,
    Point,
    answer_of,
    important_of,
    kept_of,
    points_in,
    points_schema,
    request_for,
)
from e2g_neo4j.errors import UnusableReplyError
from e2g_neo4j.models.chat.json_replies import example_texts, object_schema
from e2g_neo4j.models.chat.prompts import load_prompt
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import ask_until_usable
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatReply, StreamingChatModel
from e2g_neo4j.types.results import Answer, Evidence, Passage

BATCHES = 8
"""Batches that the evidence has without `k` and `tokens`, about."""

MAX_BATCHES = 64
"""Maximum number of batches. Of more evidence, the best passages are read. So there are at most 195 calls: TRIES for
each batch and for the answer."""

LONGEST_TOKEN = 20
"""Characters of a text per token at most, so that not all of a long text is counted for each of its parts."""


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
    used, question = usage_of(evidence), evidence.stand_alone
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
        found = yield from ask_until_usable(
            model,
            request_for(question, listed, instructions, settings, object_schema(points=points_schema(batch))),
            partial(_points, batch, examples),
            used,
        )
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


def _points(batch: Sequence[int], examples: Collection[str], reply: ChatReply) -> list[Point] | None:
    return points_in(without_thought(reply.text), batch, examples)


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
