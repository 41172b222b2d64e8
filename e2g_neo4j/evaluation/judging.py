"""A chat model judges which of two answers is better.

The criteria are those of GraphRAG's evaluation ("From Local to Global", arXiv 2404.16130, section 3):
comprehensiveness, diversity, empowerment and directness. No right answer is needed. A judge often prefers the answer
that it reads first, so each pair is judged in both orders, and what contradicts itself is a tie. Citations are removed
before.
"""

from __future__ import annotations

from pathlib import Path

from e2g_neo4j.answering.agreement import without_citations
from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.evaluation.results import Judgement
from e2g_neo4j.models.chat.json_replies import number_schema, object_schema, objects_in, whole_number
from e2g_neo4j.models.chat.load import load_chat_model
from e2g_neo4j.models.chat.prompts import fenced, load_prompt
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import ask_until_usable
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatRequest, ChatUsage, StreamingChatModel

CRITERIA = ("comprehensiveness", "diversity", "empowerment", "directness")

PROMPTS = Path(__file__).with_name("prompts")

MAX_TOKENS = 300
"""Maximum length of the first reply."""


def judge_model_for(models: Models) -> StreamingChatModel:
    """Return the model that `settings.judge_model` names, or the chat model.

    Raises:
        ConfigurationError: There is neither, or the model cannot be created.
    """
    settings = models.settings
    model = models.chat_model
    if settings.judge_model:
        model = load_chat_model(settings.model_copy(update={"chat_model": settings.judge_model}))
    if model is None:
        raise ConfigurationError("Judging needs a chat model, but none is configured: set E2G_JUDGE_MODEL.")
    return model


def judge(
    model: StreamingChatModel, settings: Settings, question: str, answer: str | None, base: str | None
) -> Operation[Judgement]:
    """Judge an answer against that of the base mode, in both orders.

    Args:
        model: The judge.
        settings: The settings, which may name a folder with a prompt `judge.txt`.
        question: The question.
        answer: The answer. None: there is none, so that nothing can be judged.
        base: The answer of the base mode.

    Raises:
        ModelError: The judge failed. Unusable replies are no failure: the judgement then has no wins.
    """
    if answer is None or base is None:
        return Judgement({}, calls=0, prompt_tokens=0)
    first, second = without_citations(answer), without_citations(base)
    if first == second:
        return Judgement(dict.fromkeys(CRITERIA, 0.5), calls=0, prompt_tokens=0)
    instructions = load_prompt(PROMPTS / "judge.txt", settings.prompts)
    wins = dict.fromkeys(CRITERIA, 0.0)
    used = ChatUsage()
    for mine, answers in ((1, (first, second)), (2, (second, first))):
        better = yield from ask_until_usable(
            model,
            request_for(question, *answers, instructions),
            lambda reply: better_answers(without_thought(reply.text)),
            used,
        )
        if better is None:
            return Judgement({}, used.calls, used.prompt_tokens)
        for criterion, number in better.items():
            wins[criterion] += 0.25 if number == 0 else 0.5 * (number == mine)
    return Judgement(wins, used.calls, used.prompt_tokens)


def request_for(question: str, first: str, second: str, instructions: str) -> ChatRequest:
    """Build the request: the question and both answers between two tags.

    Args:
        question: The question.
        first: Answer 1.
        second: Answer 2.
        instructions: The system prompt.
    """
    given = f"Question: {question}\n\nAnswer 1:\n{first}\n\nAnswer 2:\n{second}"
    return ChatRequest(
        *fenced(instructions, given),
        max_tokens=MAX_TOKENS,
        schema=object_schema(**dict.fromkeys(CRITERIA, number_schema(0, 2))),
    )


def better_answers(text: str) -> dict[str, int] | None:
    """Return the number of the better answer by criterion, 0 for a tie, from the last JSON object of a reply.

    Returns None if there is no object, or one without a valid number for each criterion.
    """
    for found in reversed(objects_in(text)):
        numbers = {name: whole_number(found.get(name)) for name in CRITERIA}
        valid = {name: number for name, number in numbers.items() if number in (0, 1, 2)}
        if len(valid) == len(CRITERIA):
            return valid
    return None
