"""A chat model judges an answer against that of the base mode, and checks its citations.

There are two ways. `graphrag` is GraphRAG's evaluation ("From Local to Global", arXiv 2404.16130, section 3): which
answer is better by comprehensiveness, diversity, empowerment and directness. `race` is RACE of DeepResearch Bench
(arXiv 2506.11763): both answers are rated by comprehensiveness, insight, instruction following and readability, the
model weighs these for each question, and an answer scores its share of both ratings. There, a report written before is
the reference, and the model divides each of the four into criteria of its own.

No right answer is needed. A judge often prefers the answer that it reads first, so each pair is judged in both orders,
and what contradicts itself is a tie. Citations are removed before.

Citations are checked as by FACT of DeepResearch Bench (arXiv 2506.11763), where a citation is the address of a page:
*citation accuracy* is the share of pairs of a claim and a passage that it cites which the passage supports, *effective
citations* are the number of such pairs of an answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.evaluation.results import CheckedCitations, Judgement
from e2g_neo4j.evaluation.words import passages_of, split_claims, without_citations
from e2g_neo4j.models.chat.json_replies import (
    list_schema,
    number_schema,
    object_schema,
    objects_in,
    valid_numbers,
    whole_number,
)
from e2g_neo4j.models.chat.load import load_chat_model
from e2g_neo4j.models.chat.prompts import fence, load_prompt
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import ask_until_usable
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatRequest, ChatUsage, StreamingChatModel
from e2g_neo4j.types.results import Answer

T = TypeVar("T")

Judging: TypeAlias = Literal["graphrag", "race"]
"""How answers are judged."""

RACE = ("comprehensiveness", "insight", "instruction following", "readability")

CRITERIA: Mapping[Judging, Sequence[str]] = {
    "graphrag": ("comprehensiveness", "diversity", "empowerment", "directness"),
    "race": (*RACE, "weighted"),
}
"""What an answer is judged by; `weighted` are the four before, weighted by the model."""

BEST = 10

EQUAL = dict.fromkeys(RACE, 1.0)
"""The weights of a question for which the model names none."""

PROMPTS = Path(__file__).with_name("prompts")

MAX_TOKENS = 300
"""Maximum length of the first reply."""

VERDICT = object_schema(**dict.fromkeys(CRITERIA["graphrag"], number_schema(0, 2)))

RATINGS = object_schema(**dict.fromkeys(RACE, list_schema(number_schema(0, BEST), 2, least=2)))

WEIGHTS = object_schema(**dict.fromkeys(RACE, number_schema(0, 100)))


def judge_model_for(models: Models) -> StreamingChatModel:
    """Return the model that `settings.judge_model` names, or the chat model. Raises ConfigurationError without both."""
    settings = models.settings
    model = models.chat_model
    if settings.judge_model:
        model = load_chat_model(settings.model_copy(update={"chat_model": settings.judge_model}))
    if model is None:
        raise ConfigurationError("Judging needs a chat model, but none is configured: set E2G_JUDGE_MODEL.")
    return model


def judge(
    model: StreamingChatModel,
    settings: Settings,
    question: str,
    answer: str | None,
    base: str | None,
    weights: Mapping[str, float] | None = None,
) -> Operation[Judgement]:
    """Judge an answer against that of the base mode, in both orders: by RACE's criteria with weights, else by
    GraphRAG's. Without both answers, and if the judge's replies are unusable, the judgement has no wins."""
    if answer is None or base is None:
        return Judgement({}, calls=0, prompt_tokens=0)
    first, second = without_citations(answer), without_citations(base)
    if first == second:
        return Judgement(dict.fromkeys(CRITERIA["race" if weights else "graphrag"], 0.5), calls=0, prompt_tokens=0)
    instructions = load_prompt(PROMPTS / ("race.txt" if weights else "judge.txt"), settings.prompts)
    schema, parse = (RATINGS, partial(shares_of_ratings, weights=weights)) if weights else (VERDICT, shares_of_wins)
    wins = defaultdict[str, float](float)
    used = ChatUsage()
    for is_first, answers in ((True, (first, second)), (False, (second, first))):
        given = "Question: {}\n\nAnswer 1:\n{}\n\nAnswer 2:\n{}".format(question, *answers)
        shares = yield from _ask(model, request_for(given, instructions, schema), parse, used)
        if shares is None:
            return Judgement({}, used.calls, used.prompt_tokens)
        for criterion, share in shares.items():
            wins[criterion] += (share if is_first else 1 - share) / 2
    return Judgement(dict(wins), used.calls, used.prompt_tokens)


def weigh(model: StreamingChatModel, settings: Settings, question: str) -> Operation[dict[str, float]]:
    """Have the judge say how much each of RACE's criteria counts for a question. If it does not, all count the same."""
    instructions = load_prompt(PROMPTS / "weights.txt", settings.prompts)
    request = request_for(f"Question: {question}", instructions, WEIGHTS)
    return (yield from _ask(model, request, weights_in, ChatUsage())) or EQUAL


def _ask(
    model: StreamingChatModel, request: ChatRequest, parse: Callable[[str], T | None], used: ChatUsage
) -> Operation[T | None]:
    return (yield from ask_until_usable(model, request, lambda reply: parse(without_thought(reply.text)), used))


def request_for(given: str, instructions: str, schema: Mapping[str, Any]) -> ChatRequest:
    """Build a request about what stands between two tags, such as a question and both answers."""
    return ChatRequest(*fence(instructions, given), max_tokens=MAX_TOKENS, schema=schema)


def shares_of_wins(text: str) -> dict[str, float] | None:
    """Return by criterion 1 if answer 1 is better, .5 for a tie, 0 if answer 2 is.

    This is read from the last usable JSON object of a reply, which has the number of the better answer, or 0. None if
    there is none.
    """
    names = CRITERIA["graphrag"]
    for found in reversed(objects_in(text)):
        numbers = [whole_number(found.get(name)) for name in names]
        if all(number in (0, 1, 2) for number in numbers):
            return {name: (0.5, 1.0, 0.0)[number or 0] for name, number in zip(names, numbers, strict=True)}
    return None


def shares_of_ratings(text: str, weights: Mapping[str, float]) -> dict[str, float] | None:
    """Return by criterion the share that answer 1 has of the ratings of both, from the last usable JSON object of a
    reply, which has both ratings. None if there is none."""
    for found in reversed(objects_in(text)):
        ratings = {name: _ratings(found.get(name)) for name in RACE}
        valid = {name: pair for name, pair in ratings.items() if pair}
        if len(valid) == len(RACE):
            first, second = (sum(weights[name] * valid[name][at] for name in RACE) for at in (0, 1))
            return {name: _share(*valid[name]) for name in RACE} | {"weighted": _share(first, second)}
    return None


def _ratings(value: object) -> tuple[int, int] | None:
    numbers = [whole_number(one) for one in value] if isinstance(value, list) else []
    valid = [number for number in numbers if number is not None and 0 <= number <= BEST]
    return (valid[0], valid[1]) if len(valid) == len(numbers) == 2 else None


def _share(one: float, other: float) -> float:
    return one / (one + other) if one + other else 0.5


def weights_in(text: str) -> dict[str, float] | None:
    """Return the weights of RACE's criteria from the last usable JSON object of a reply. None if there is none."""
    for found in reversed(objects_in(text)):
        numbers = {name: whole_number(found.get(name)) for name in RACE}
        weights = {name: float(number) for name, number in numbers.items() if number is not None and number >= 0}
        if len(weights) == len(RACE) and any(weights.values()):
            return weights
    return None


def check_citations(model: StreamingChatModel, settings: Settings, answer: Answer) -> Operation[CheckedCitations]:
    """Check the citations of an answer, those of a passage in one call.

    What a passage is cited for is not counted if no reply about it is usable.
    """
    passages = passages_of(answer)
    claims: defaultdict[int, dict[str, None]] = defaultdict(dict)
    for claim, numbers in split_claims(answer.text or ""):
        for number in numbers:
            if number in passages:
                claims[number][claim] = None
    instructions = load_prompt(PROMPTS / "check_citations.txt", settings.prompts)
    used, checked, supported = ChatUsage(), 0, 0
    for number, stated in sorted(claims.items()):
        listed = "\n".join(f"[{at}] {statement}" for at, statement in enumerate(stated, 1))
        given = f"Passage:\n{passages[number]}\n\nStatements:\n{listed}"
        request = request_for(given, instructions, support_schema(len(stated)))
        found = yield from _ask(model, request, partial(parse_supported, statements=len(stated)), used)
        if found is not None:
            checked += len(stated)
            supported += len(found)
    return CheckedCitations(checked, supported, used.calls, used.prompt_tokens)


def support_schema(statements: int) -> dict[str, Any]:
    """Return the JSON schema of the numbers of supported statements."""
    return object_schema(supported=list_schema(number_schema(1, statements), statements))


def parse_supported(reply: str, statements: int) -> list[int] | None:
    """Return the numbers of supported statements from a reply such as {"supported": [1, 3]}, or None if it has none."""
    lists = [found["supported"] for found in objects_in(reply) if "supported" in found]
    return valid_numbers(lists[-1], statements) if lists else None
