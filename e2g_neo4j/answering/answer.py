"""Answer a question from its evidence with a chat model, and check the reply."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase

from e2g_neo4j.answering.agreement import most_agreed
from e2g_neo4j.answering.citations import CitationFilter
from e2g_neo4j.errors import ModelError, QueryError, UnusableReplyError
from e2g_neo4j.models.chat.prompts import delimited, delimiter_for, filled, load_prompt
from e2g_neo4j.models.chat.thinking import ThoughtFilter, without_thought
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.options import MAX_TOKENS, RetrievalOptions
from e2g_neo4j.retrieval.retrieve import retrieve
from e2g_neo4j.runtime.requests import Chat, Operation
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatReply, ChatRequest, StreamingChatModel
from e2g_neo4j.types.results import Answer, Citation, Evidence, Fact, Passage

PROMPTS = Path(__file__).with_name("prompts")

TRIES = 3
"""Maximum number of requests per answer, until a reply is usable."""

MAX_SAMPLES = 10
"""Maximum number of answers that are sampled."""

GRAPH = "A relationship of the knowledge base"
"""Heading of facts in the evidence. The heading of a passage is its document."""

NOT_SAID = "The evidence does not say."
"""The answer if there is no evidence. A chat model says it in the language of the question."""

FACTS = 0.25
"""Maximum fraction of the evidence tokens for facts."""

_MIN_TOKENS = 50
"""Passages are not truncated to fewer tokens than this, but left out."""

_SENTENCE_ENDS = re.compile(r"[.!?…。！？][\"'”’)\]]*(?=\s|$)")


def answer(
    models: Models,
    question: str,
    corpora: Sequence[str],
    retrieval: RetrievalOptions,
    options: Sequence[str] = (),
    samples: int = 1,
) -> Operation[Answer]:
    """Retrieve the evidence for a question and answer from it. `E2G.answer` executes this operation.

    Args:
        models: The models.
        question: The question.
        corpora: The corpora to search.
        retrieval: The retrieval options.
        options: Options to choose from, if any.
        samples: Number of answers to sample, of which the one is returned that agrees most with the others.

    Without `k` and `tokens`, the evidence has as many tokens as the answer may use, `settings.evidence_tokens`.
    """
    _check_samples(samples)
    evidence = yield from retrieve(models, question, corpora, answer_options(retrieval, models.settings))
    return (yield from answer_from(evidence, models.chat_model, models.settings, options, samples))


def answer_options(retrieval: RetrievalOptions, settings: Settings) -> RetrievalOptions:
    """Return the options to retrieve the evidence for an answer with: without `k` and `tokens`, as much as fits."""
    if retrieval.k is None and retrieval.tokens is None:
        return retrieval.model_copy(update={"tokens": min(settings.evidence_tokens, MAX_TOKENS)})
    return retrieval


def answer_from(
    evidence: Evidence,
    model: StreamingChatModel | None,
    settings: Settings,
    options: Sequence[str] = (),
    samples: int = 1,
) -> Operation[Answer]:
    """Ask the chat model for an answer from the evidence, or for the letter of an option.

    Args:
        evidence: The evidence.
        model: The chat model. None: the answer has no text, only the evidence.
        settings: The settings.
        options: Options to choose from, if any: 2 to 26.
        samples: Number of answers to sample, 1 to 10. The one that agrees most with the others is returned, with the
            tokens of all.

    Raises:
        ModelError: The model failed, or no passage fits its context.
        UnusableReplyError: The model sent no usable reply.
        QueryError: The number of options or samples is out of range.
    """
    _check_samples(samples)
    if options and not 2 <= len(options) <= len(ascii_uppercase):
        raise QueryError(f"Got {len(options)} options: pass 2 to {len(ascii_uppercase)}.")
    if model is None:
        return Answer(None, evidence)
    instructions = load_prompt(PROMPTS / ("choice.txt" if options else "answer.txt"), settings.prompts)
    budget = settings.evidence_tokens
    if model.context is not None:
        fixed = model.count(instructions) + model.count(evidence.question) + sum(map(model.count, options))
        budget = min(budget, model.context - settings.answer_tokens - fixed - 200)
    facts = facts_within_budget(evidence.facts, int(FACTS * budget), model)
    fact_tokens = sum(model.count(_numbered(fact, 999)) for fact in facts)
    given = (*within_budget(evidence.passages, budget - fact_tokens, model), *facts)
    if evidence.passages and not given:
        raise ModelError(
            f"No passage fits into {max(budget, 0)} tokens of evidence: increase E2G_EVIDENCE_TOKENS, and "
            "E2G_LLM_CONTEXT if the model allows it."
        )
    if not given and not options:
        return Answer(NOT_SAID, evidence, found=False)
    answers: list[Answer] = []
    prompt_tokens = completion_tokens = 0
    for sample in range(samples):
        for attempt in range(TRIES):
            request = request_for(
                evidence.question, given, options, instructions, settings.answer_tokens, attempt, sample
            )
            reply = yield Chat(model, request, ShownAnswer(len(given)))
            parsed = (_choice_answer if options else _text_answer)(reply, evidence, given, options)
            if parsed is not None:
                answers.append(parsed)
                prompt_tokens += parsed.prompt_tokens
                completion_tokens += parsed.completion_tokens
                break
    if answers:
        return replace(most_agreed(answers), prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)
    what = "none of the options" if options else "no text"
    raise UnusableReplyError(f"The chat model {model.name} returned {what}: try again, or set another E2G_CHAT_MODEL.")


def _check_samples(samples: int) -> None:
    if not 1 <= samples <= MAX_SAMPLES:
        raise QueryError(f"Got samples={samples}: pass 1 to {MAX_SAMPLES}.")


class ShownAnswer:
    """The text of an answer to show while it is streamed: without reasoning, with valid citations.

    Args:
        given: Number of passages.
    """

    def __init__(self, given: int) -> None:
        self._thought, self._citations = ThoughtFilter(), CitationFilter(given)

    def add(self, piece: str) -> str:
        """Add a piece and return the text to show."""
        return self._citations.add(self._thought.add(piece))

    def end(self) -> str:
        """Return the text that was held back."""
        return self._citations.add(self._thought.end()) + self._citations.end()


def facts_within_budget(facts: Sequence[Fact], budget: int, model: StreamingChatModel) -> tuple[Passage, ...]:
    """Return the first facts that fit into a token budget, as passages whose source is the element ids of both nodes.

    Args:
        facts: The facts.
        budget: Maximum number of tokens.
        model: The chat model, which counts tokens.
    """
    given: list[Passage] = []
    for fact in facts:
        source = f"{fact.subject_id} {fact.object_id}"
        stated = Passage(
            fact.stated(), GRAPH, source, 0, len(fact.stated()), 0.0, nodes=(fact.subject_id, fact.object_id)
        )
        budget -= model.count(_numbered(stated, 999))
        if budget < 0:
            break
        given.append(stated)
    return tuple(given)


def within_budget(passages: Sequence[Passage], budget: int, model: StreamingChatModel) -> tuple[Passage, ...]:
    """Return the best passages that fit into a token budget, in reading order.

    Documents are sorted by their best passage. A passage that does not fit is truncated at the end of a sentence, and
    left out if little would remain.

    Args:
        passages: The passages, best first.
        budget: Maximum number of tokens.
        model: The chat model, which counts tokens.
    """
    chosen: list[Passage] = []
    for passage in passages:
        heading = model.count(f"[{len(chosen) + 1}] {passage.document}\n\n")
        room = budget - heading
        tokens = model.count(passage.labelled())
        fitting = passage if tokens <= room else _truncated(passage, room, model) if room >= _MIN_TOKENS else None
        if fitting is not None:
            chosen.append(fitting)
            budget -= heading + min(tokens, room)
    documents = list(dict.fromkeys((passage.document, passage.source) for passage in chosen))
    return tuple(
        sorted(chosen, key=lambda one: (documents.index((one.document, one.source)), one.start, -one.level, one.end))
    )


def _truncated(passage: Passage, room: int, model: StreamingChatModel) -> Passage | None:
    """Return the beginning of a passage, up to the end of a sentence or otherwise of a word."""
    text = passage.text
    while (tokens := model.count(replace(passage, text=text).labelled())) > room:
        text = text[: min(int(len(text) * room / tokens), len(text) - 1)]
        ends = [found.end() for found in _SENTENCE_ENDS.finditer(text)]
        text = text[: ends[-1]] if ends and ends[-1] > len(text) // 2 else text[: max(text.rfind(" "), 0)]
    if not text.strip():
        return None
    # The offsets of a summary are those of the summarised text.
    node = passage.text_node and replace(passage.text_node, end=passage.text_node.start + len(text))
    end = passage.end if passage.level else passage.start + len(text)
    return replace(passage, text=text, end=end, text_node=node)


def request_for(
    question: str,
    given: Sequence[Passage],
    options: Sequence[str],
    instructions: str,
    max_tokens: int,
    attempt: int = 0,
    sample: int = 0,
) -> ChatRequest:
    """Build the request: numbered evidence between two tags, then the question and its options.

    Args:
        question: The question.
        given: The passages of the evidence.
        options: Options to choose from, if any.
        instructions: The system prompt.
        max_tokens: Maximum number of tokens of the reply. It doubles with each attempt.
        attempt: Number of the attempt, from 0. It determines the seed, together with the sample.
        sample: Number of the sample, from 0.
    """
    numbered = "\n\n".join(_numbered(passage, n) for n, passage in enumerate(given, 1))
    delimiter = delimiter_for(numbered)
    lettered = "".join(f"\n{letter}) {option}" for letter, option in zip(ascii_uppercase, options, strict=False))
    last = "\n\nAnswer with one letter." if options and attempt else ""
    return ChatRequest(
        filled(instructions, fence=delimiter),
        f"{delimited(numbered, delimiter)}\n\nQuestion: {question}{lettered}{last}",
        max_tokens=max_tokens * 2**attempt,
        temperature=0.7 if attempt or sample else 0.0,
        seed=attempt + TRIES * sample,
        logprobs=bool(options),
    )


def _numbered(passage: Passage, number: int) -> str:
    return f"[{number}] {passage.document}\n{passage.labelled()}"


def _text_answer(reply: ChatReply, evidence: Evidence, given: tuple[Passage, ...], _: Sequence[str]) -> Answer | None:
    """Return the answer with its valid citations, or None if there is no text."""
    citations = CitationFilter(len(given))
    text = citations.add(without_thought(reply.text)) + citations.end()
    if not text:
        return None
    says_nothing = citations.says_nothing or (not citations.cited and text.lower().startswith(NOT_SAID[:-1].lower()))
    return Answer(
        text=text,
        evidence=evidence,
        given=given,
        citations=tuple(_citation(number, given[number - 1], evidence) for number in sorted(citations.cited)),
        dropped=tuple(citations.dropped),
        found=not says_nothing,
        finished=reply.finish != "length",
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
    )


def _citation(number: int, passage: Passage, evidence: Evidence) -> Citation:
    ids = passage.nodes if passage.document == GRAPH else ()
    facts = (fact for fact in evidence.facts if (fact.subject_id, fact.object_id) == ids)
    return Citation(number, passage, next((fact for fact in facts if fact.stated() == passage.text), None))


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
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
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
