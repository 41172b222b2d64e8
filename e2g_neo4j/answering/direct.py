"""Answer a question from all evidence in one prompt, in words or with the letter of a choice."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from string import ascii_uppercase

from e2g_neo4j.answering.citations import ShownAnswer
from e2g_neo4j.answering.evidence import (
    NOT_SAID,
    Calls,
    evidence_budget,
    fit_evidence,
    make_answer,
    number_passage,
    too_small,
    with_usage,
)
from e2g_neo4j.errors import QueryError
from e2g_neo4j.models.chat.prompts import fence
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import ask_until_usable
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.chat import ChatReply, ChatRequest
from e2g_neo4j.types.results import Answer, Evidence, Passage


def answer_from(evidence: Evidence, calls: Calls, options: Sequence[str] = ()) -> Operation[Answer]:
    """Ask the chat model for an answer from the evidence, or for the letter of an option.

    Raises:
        ModelError: The model failed, or no passage fits its context.
        UnusableReplyError: The model sent no usable reply.
        QueryError: There is one option, or there are more than letters.
    """
    if options and not 2 <= len(options) <= len(ascii_uppercase):
        raise QueryError(f"Got {len(options)} options: pass 2 to {len(ascii_uppercase)}.")
    model, settings = calls.model, calls.settings
    instructions = calls.instructions("choice.txt" if options else "answer.txt")
    budget = evidence_budget(model, settings, instructions, evidence.stand_alone, *options)
    given = fit_evidence(evidence, budget, model)
    if evidence.passages and not given:
        raise too_small(budget)
    if not given and not options:
        return with_usage(Answer(NOT_SAID, evidence, found=False), calls.used)

    def parse(reply: ChatReply) -> Answer | None:
        return _choice_answer(reply, evidence, given, options) if options else make_answer(reply, evidence, given)

    last = "\n\nAnswer with one letter." if options else "\n\nAnswer in sentences, not with numbers alone."
    request = request_for(evidence.stand_alone, given, options, instructions, settings.answer_tokens)
    again = partial(replace, request, user=request.user + last)
    shown = partial(ShownAnswer, len(given))
    found = yield from ask_until_usable(model, request, parse, calls.used, again=again, shown=shown)
    if found is not None:
        return with_usage(found, calls.used)
    raise calls.unusable_reply_error("none of the options" if options else "no text")


def request_for(
    question: str, given: Sequence[Passage], options: Sequence[str], instructions: str, max_tokens: int
) -> ChatRequest:
    """Build the request: numbered evidence between two tags, then the question and its options."""
    listed = "\n\n".join(number_passage(passage, n) for n, passage in enumerate(given, 1))
    system, shown = fence(instructions, listed)
    lettered = "".join(f"\n{letter}) {option}" for letter, option in zip(ascii_uppercase, options, strict=False))
    return ChatRequest(
        system,
        f"{shown}\n\nQuestion: {question}{lettered}",
        max_tokens=max_tokens,
        logprobs=bool(options),
    )


def _choice_answer(
    reply: ChatReply, evidence: Evidence, given: tuple[Passage, ...], options: Sequence[str]
) -> Answer | None:
    """Return the chosen letter with the probability of each letter, or None if the reply chooses none."""
    text = without_thought(reply.text).strip()
    distribution = probabilities(reply.logprobs, len(options))
    letter = letter_in(text, options) or (max(distribution, key=distribution.__getitem__) if distribution else None)
    if letter is None:
        return None
    return Answer(
        text=text,
        evidence=evidence,
        given=given,
        finished=reply.finish != "length",
        choice=letter,
        distribution=distribution,
    )


def letter_in(text: str, options: Sequence[str]) -> str | None:
    """Return the letter of the option that a reply names, by letter, or by text if it quotes exactly one option."""
    last = ascii_uppercase[len(options) - 1]
    for pattern in (
        rf"\A\W*([A-{last}])\W*\Z",
        rf"\A\W*([A-{last}])\s*[).:*]",
        rf"(?i:\b(?:answer|option|choice|letter)\b(?:\s+is)?)\W*\b([A-{last}])\b",
        rf"\(([A-{last}])\)",
    ):
        if found := re.search(pattern, text):
            return found[1]
    quoted = [n for n, option in enumerate(options) if option.strip().casefold() in text.casefold()]
    if len(quoted) == 1:
        return ascii_uppercase[quoted[0]]
    alone = set(re.findall(rf"\b([B-{last}])\b", text))  # a lone A may be the article
    return alone.pop() if len(alone) == 1 else None


def probabilities(logprobs: Sequence[Mapping[str, float]], options: int) -> dict[str, float] | None:
    """Return the probability of each letter at the first token that is a letter, normalised over the letters; None
    without log-probabilities. Letters that the model does not list have probability 0."""
    letters = ascii_uppercase[:options]
    for alternatives in logprobs:
        most_probable = max(alternatives, key=alternatives.__getitem__, default="")
        if most_probable.strip(" ()*.:\n") not in set(letters):
            continue
        mass = dict.fromkeys(letters, 0.0)
        for token, logprob in alternatives.items():
            if (letter := token.strip(" ()*.:\n")) in mass:
                mass[letter] += math.exp(logprob)
        total = sum(mass.values())
        return {letter: value / total for letter, value in mass.items()}
    return None
