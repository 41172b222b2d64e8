"""Answer a question from its evidence with a chat model, and check the reply."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from string import ascii_uppercase
from typing import Literal, TypeAlias, get_args

from e2g_neo4j.answering.agreement import most_agreed
from e2g_neo4j.answering.all_text import all_text
from e2g_neo4j.answering.calls import PROMPTS, Calls, no_progress
from e2g_neo4j.answering.citations import ShownAnswer
from e2g_neo4j.answering.drift import drift
from e2g_neo4j.answering.evidence import (
    NOT_SAID,
    cited_answer,
    evidence_budget,
    given_within,
    numbered,
    too_small,
    usage_of,
    with_round_trips,
    with_usage,
)
from e2g_neo4j.answering.global_search import Level, global_search
from e2g_neo4j.answering.map_reduce import BATCHES, map_reduce
from e2g_neo4j.errors import QueryError, UnusableReplyError
from e2g_neo4j.models.chat.prompts import fenced, load_prompt
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import TRIES, ask_until_usable
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.chat_calls import ChatCalls
from e2g_neo4j.retrieval.history import make_stand_alone
from e2g_neo4j.retrieval.options import MAX_TOKENS, RetrievalOptions
from e2g_neo4j.retrieval.retrieve import retrieve
from e2g_neo4j.runtime.requests import Emit, Operation
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatReply, ChatRequest, StreamingChatModel
from e2g_neo4j.types.reports import Progress
from e2g_neo4j.types.results import Answer, Evidence, Passage

Method: TypeAlias = Literal["direct", "map_reduce", "all_text", "global", "drift"]
"""How to answer: from all evidence in one prompt; from points that the model takes in batches from more evidence, from
all text, or from the reports of communities; or from points of the evidence for follow-up questions too."""

NAMES: Mapping[Method, str] = {
    "map_reduce": "Map-reduce",
    "all_text": "Map-reduce over all text",
    "global": "Global search",
    "drift": "DRIFT",
}
"""The names of methods in messages."""

MAX_SAMPLES = 10
"""Maximum number of answers that are sampled."""


def answer(
    models: Models,
    question: str,
    corpora: Sequence[str],
    retrieval: RetrievalOptions,
    choices: Sequence[str] = (),
    samples: int = 1,
    method: Method = "direct",
    level: Level | None = None,
    max_tokens: int | None = None,
    model: StreamingChatModel | None = None,
    progress: Progress | None = None,
) -> Operation[Answer]:
    """Retrieve the evidence for a question, emit it and answer from it. `E2G.answer` and `E2G.stream` execute this
    operation.

    Args:
        models: The models.
        question: The question.
        corpora: The corpora to search.
        retrieval: The retrieval options.
        choices: Answers to choose from, if any.
        samples: Number of answers to sample, of which the one is returned that agrees most with the others.
        method: How to answer, see `Method`.
        level: Which reports the method "global" reads.
        max_tokens: Maximum tokens of the answer, if it is less than `settings.answer_tokens`.
        model: The chat model. Default: that of the models, if any.
        progress: Is called with (stage, done, total).

    Without `k` and `tokens`, the evidence has as many tokens as the answer may use, `settings.evidence_tokens`, or
    BATCHES times as many for map-reduce.
    """
    check_method(method, choices, samples)
    check_reading(method, retrieval, level)
    settings = models.settings
    if max_tokens is not None and max_tokens < settings.answer_tokens:
        settings = settings.model_copy(update={"answer_tokens": max_tokens})
    model = model or models.chat_model
    if method in ("all_text", "global") and model is not None:
        calls = Calls(model, settings, progress=progress or no_progress)
        asked = question
        if retrieval.history:
            rewriter = ChatCalls(model, settings.prompts, calls.used)
            asked = (yield from make_stand_alone(question, retrieval.history, models.nlp, rewriter)).question
        if method == "global":
            found = yield from with_round_trips(global_search(models, asked, corpora, level, calls))
        else:
            found = yield from with_round_trips(all_text(asked, corpora, retrieval.where, calls))
        if asked == question:
            return found
        return replace(found, evidence=replace(found.evidence, question=question, searched_as=asked))
    retrieval = answer_options(retrieval, settings, method)
    evidence = yield from retrieve(models, question, corpora, retrieval, model, rewriter=model)
    yield Emit(evidence)
    if model is None:
        return Answer(None, evidence)
    if method == "direct":
        return (yield from answer_from(evidence, model, settings, choices, samples))
    calls = Calls(model, settings, usage_of(evidence), progress=progress or no_progress)
    if method == "drift":
        return (yield from drift(evidence, models, calls, retrieval))
    return (yield from map_reduce(evidence, calls))


def answer_options(retrieval: RetrievalOptions, settings: Settings, method: Method = "direct") -> RetrievalOptions:
    """Return the options to retrieve the evidence for an answer with: without `k` and `tokens`, as much as fits."""
    if retrieval.k is None and retrieval.tokens is None:
        tokens = settings.evidence_tokens * (BATCHES if method == "map_reduce" else 1)
        return retrieval.model_copy(update={"tokens": min(tokens, MAX_TOKENS)})
    return retrieval


def check_method(method: Method, options: Sequence[str], samples: int) -> None:
    """Raise QueryError if the method is unknown, or the number of samples is out of range or not for the method."""
    if method not in get_args(Method):
        raise QueryError(f"There is no method {method!r}: choose among {', '.join(get_args(Method))}.")
    if not 1 <= samples <= MAX_SAMPLES:
        raise QueryError(f"Got samples={samples}: pass 1 to {MAX_SAMPLES}.")
    if method != "direct" and (options or samples > 1):
        raise QueryError(f"{NAMES[method]} writes one answer in words: leave out options and samples, or the method.")


def check_reading(method: Method, retrieval: RetrievalOptions, level: Level | None) -> None:
    """Raise QueryError if options are given that the method does not use, or the level is not valid."""
    if level is not None and method != "global":
        raise QueryError("Only the method global reads reports of a level: leave out the level, or choose this method.")
    if level not in (None, "dynamic") and not (isinstance(level, int) and level >= 1):
        raise QueryError(f"The level of reports is {level!r}: choose a number from 1, the finest, or dynamic.")
    if method not in ("all_text", "global"):
        return
    if method == "global" and retrieval.where:
        raise QueryError(
            "Global search reads reports, which may quote documents that the conditions exclude: leave out the "
            "conditions, or choose the method all_text."
        )
    fields = RetrievalOptions.model_fields.items()
    used = ("where", "history")
    given = [name for name, field in fields if name not in used and getattr(retrieval, name) != field.default]
    if given:
        raise QueryError(f"{NAMES[method]} does not search for passages: leave out {', '.join(given)}.")


def answer_from(
    evidence: Evidence,
    model: StreamingChatModel,
    settings: Settings,
    options: Sequence[str] = (),
    samples: int = 1,
) -> Operation[Answer]:
    """Ask the chat model for an answer from the evidence, or for the letter of an option.

    Args:
        evidence: The evidence.
        model: The chat model.
        settings: The settings.
        options: Options to choose from, if any: 2 to 26.
        samples: Number of answers to sample, 1 to 10. The one that agrees most with the others is returned, with the
            tokens of all.

    Raises:
        ModelError: The model failed, or no passage fits its context.
        UnusableReplyError: The model sent no usable reply.
        QueryError: The number of options or samples is out of range.
    """
    check_method("direct", options, samples)
    if options and not 2 <= len(options) <= len(ascii_uppercase):
        raise QueryError(f"Got {len(options)} options: pass 2 to {len(ascii_uppercase)}.")
    used = usage_of(evidence)
    instructions = load_prompt(PROMPTS / ("choice.txt" if options else "answer.txt"), settings.prompts)
    budget = evidence_budget(model, settings, instructions, evidence.stand_alone, *options)
    given = given_within(evidence, budget, model)
    if evidence.passages and not given:
        raise too_small(budget)
    if not given and not options:
        return with_usage(Answer(NOT_SAID, evidence, found=False), used)

    def parse(reply: ChatReply) -> Answer | None:
        return _choice_answer(reply, evidence, given, options) if options else cited_answer(reply, evidence, given)

    last = "\n\nAnswer with one letter." if options else "\n\nAnswer in sentences, not with numbers alone."
    answers: list[Answer] = []
    for sample in range(samples):
        request = request_for(evidence.stand_alone, given, options, instructions, settings.answer_tokens, sample)
        again = partial(replace, request, user=request.user + last)
        shown = partial(ShownAnswer, len(given))
        found = yield from ask_until_usable(model, request, parse, used, again=again, shown=shown)
        answers += [found] if found is not None else []
    if answers:
        return with_usage(most_agreed(answers), used)
    what = "none of the options" if options else "no text"
    raise UnusableReplyError(f"The chat model {model.name} returned {what}: try again, or set another E2G_CHAT_MODEL.")


def request_for(
    question: str,
    given: Sequence[Passage],
    options: Sequence[str],
    instructions: str,
    max_tokens: int,
    sample: int = 0,
) -> ChatRequest:
    """Build the request: numbered evidence between two tags, then the question and its options.

    Args:
        question: The question.
        given: The passages of the evidence.
        options: Options to choose from, if any.
        instructions: The system prompt.
        max_tokens: Maximum number of tokens of the first reply.
        sample: Number of the sample, from 0. It determines the seed.
    """
    listed = "\n\n".join(numbered(passage, n) for n, passage in enumerate(given, 1))
    system, shown = fenced(instructions, listed)
    lettered = "".join(f"\n{letter}) {option}" for letter, option in zip(ascii_uppercase, options, strict=False))
    return ChatRequest(
        system,
        f"{shown}\n\nQuestion: {question}{lettered}",
        max_tokens=max_tokens,
        temperature=0.7 if sample else 0.0,
        seed=TRIES * sample,
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
    """Return the probability of each letter at the first token that is a letter, normalised over the letters.

    Letters that the model does not list have probability 0.

    Args:
        logprobs: For each token of the reply, the log-probabilities of its alternatives.
        options: Number of options.

    Returns:
        The probabilities, or None without log-probabilities.
    """
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
