"""The evidence in a prompt: passages and facts that fit, their numbers, the calls of the chat model that read them, and
the citations of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from e2g_neo4j.answering.citations import CitationFilter
from e2g_neo4j.errors import ModelError, UnusableReplyError
from e2g_neo4j.models.chat.json_replies import example_texts
from e2g_neo4j.models.chat.prompts import fence, load_prompt
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import MARGIN, TRIES, ask_until_usable
from e2g_neo4j.runtime.requests import Emit, Operation, Request, map_requests, reads_of
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatReply, ChatRequest, ChatUsage, StreamingChatModel
from e2g_neo4j.types.reports import Progress
from e2g_neo4j.types.results import Answer, Citation, Evidence, Fact, Passage

GRAPH = "A relationship of the knowledge base"
"""Heading of facts in the evidence. The heading of a passage is its document."""

NOT_SAID = "The evidence does not say."
"""The answer if there is no evidence. A chat model says it in the language of the question."""

FACTS = 0.25
"""Maximum fraction of the evidence tokens for facts."""

MIN_TOKENS = 50
"""Passages are not truncated to fewer tokens than this, but left out."""

_SENTENCE_ENDS = re.compile(r"[.!?…。！？][\"'”’)\]]*(?=\s|$)")


def evidence_budget(model: StreamingChatModel, settings: Settings, *fixed: str) -> int:
    """Return how many tokens of evidence fit into a prompt: `settings.evidence_tokens`, or less for a small context.

    Args:
        *fixed: The other texts of the prompt.
    """
    if model.context is None:
        return settings.evidence_tokens
    room = model.context - settings.answer_tokens - sum(map(model.count, fixed)) - MARGIN
    return min(settings.evidence_tokens, room)


def too_small(budget: int) -> ModelError:
    """Return the error for a context in which no evidence fits."""
    return ModelError(
        f"No passage fits into {max(budget, 0)} tokens of evidence: increase E2G_EVIDENCE_TOKENS, and "
        "E2G_LLM_CONTEXT if the model allows it."
    )


def facts_within_budget(facts: Sequence[Fact], budget: int, model: StreamingChatModel) -> tuple[Passage, ...]:
    """Return the first facts that fit into a token budget, as passages with the ids of both nodes as source."""
    given: list[Passage] = []
    for fact in facts:
        source = f"{fact.subject_id} {fact.object_id}"
        stated = Passage(
            fact.to_sentence(), GRAPH, source, 0, len(fact.to_sentence()), 0.0, nodes=(fact.subject_id, fact.object_id)
        )
        budget -= model.count(number_passage(stated, 999))
        if budget < 0:
            break
        given.append(stated)
    return tuple(given)


def fit_evidence(evidence: Evidence, budget: int, model: StreamingChatModel) -> tuple[Passage, ...]:
    """Return the passages and facts of an evidence that fit into a token budget, FACTS of it for facts."""
    facts = facts_within_budget(evidence.facts, int(FACTS * budget), model)
    fact_tokens = sum(model.count(number_passage(fact, 999)) for fact in facts)
    return (*within_budget(evidence.passages, budget - fact_tokens, model), *facts)


def within_budget(passages: Sequence[Passage], budget: int, model: StreamingChatModel) -> tuple[Passage, ...]:
    """Return the best passages that fit into a token budget, in reading order.

    Documents are sorted by their best passage. A passage that does not fit is truncated at the end of a sentence, and
    left out if little would remain.
    """
    chosen: list[Passage] = []
    for passage in passages:
        heading = model.count(f"[{len(chosen) + 1}] {passage.document}\n\n")
        room = budget - heading
        tokens = model.count(passage.to_labelled_text())
        fitting = passage if tokens <= room else truncate_passage(passage, room, model) if room >= MIN_TOKENS else None
        if fitting is not None:
            chosen.append(fitting)
            budget -= heading + min(tokens, room)
    return in_reading_order(chosen)


def in_reading_order(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Sort passages by document, those with the first passages first, and by their place in it."""
    documents: dict[tuple[str, str, str], int] = {}
    for one in passages:
        documents.setdefault((one.corpus, one.document, one.source), len(documents))
    return tuple(
        sorted(
            passages,
            key=lambda one: (documents[one.corpus, one.document, one.source], one.start, -one.level, one.end),
        )
    )


def truncate_passage(passage: Passage, room: int, model: StreamingChatModel) -> Passage | None:
    """Return the beginning of a passage, up to the end of a sentence or otherwise of a word."""
    text = passage.text
    while (tokens := model.count(replace(passage, text=text).to_labelled_text())) > room:
        text = text[: min(int(len(text) * room / tokens), len(text) - 1)]
        ends = [found.end() for found in _SENTENCE_ENDS.finditer(text)]
        text = text[: ends[-1]] if ends and ends[-1] > len(text) // 2 else text[: max(text.rfind(" "), 0)]
    if not text.strip():
        return None
    # The offsets of a summary are those of the summarised text.
    node = passage.text_node and replace(passage.text_node, end=passage.text_node.start + len(text))
    end = passage.end if passage.level else passage.start + len(text)
    return replace(passage, text=text, end=end, text_node=node)


def number_passage(passage: Passage, number: int) -> str:
    """Return a passage as a prompt has it."""
    return f"[{number}] {passage.document}\n{passage.to_labelled_text()}"


def citation_of(number: int, passage: Passage, evidence: Evidence) -> Citation:
    """Return the citation of a passage by its number."""
    ids = passage.nodes if passage.document == GRAPH else ()
    facts = (fact for fact in evidence.facts if (fact.subject_id, fact.object_id) == ids)
    return Citation(number, passage, next((fact for fact in facts if fact.to_sentence() == passage.text), None))


def with_round_trips(operation: Operation[Answer]) -> Operation[Answer]:
    """Count the round trips of an operation, for the evidence that it emits and that of the answer."""
    round_trips = 0

    def change(request: Request) -> Request:
        nonlocal round_trips
        round_trips += len(reads_of(request))
        return Emit(replace(request.evidence, round_trips=round_trips)) if isinstance(request, Emit) else request

    answer = yield from map_requests(operation, change)
    return replace(answer, evidence=replace(answer.evidence, round_trips=round_trips))


def usage_of(evidence: Evidence) -> ChatUsage:
    """Return what the calls of the chat model used that found the evidence."""
    return ChatUsage(evidence.calls, evidence.prompt_tokens, evidence.completion_tokens)


def with_usage(answer: Answer, used: ChatUsage) -> Answer:
    """Return an answer with what all calls for it used."""
    return replace(answer, calls=used.calls, prompt_tokens=used.prompt_tokens, completion_tokens=used.completion_tokens)


def make_answer(
    reply: ChatReply, evidence: Evidence, given: tuple[Passage, ...], valid: Collection[int] | None = None
) -> Answer | None:
    """Return the answer of a reply with its valid citations, or None if it has no text.

    Args:
        given: The passages and facts that may be cited, by number from 1.
        valid: The numbers that may be cited. Default: those of all.
    """
    citations = CitationFilter(len(given), valid)
    text = citations.add(without_thought(reply.text)) + citations.end()
    if not text:
        return None
    return Answer(
        text=text,
        evidence=evidence,
        given=given,
        citations=tuple(citation_of(number, given[number - 1], evidence) for number in sorted(citations.cited)),
        dropped=tuple(citations.dropped),
        found=reply.finish != "refusal" and not says_nothing(text, citations),
        finished=reply.finish != "length",
    )


def says_nothing(text: str, citations: CitationFilter) -> bool:
    """Return whether an answer says that the evidence does not contain it.

    Args:
        text: The answer without invalid citations.
        citations: The filter that its text has passed.
    """
    return citations.says_nothing or (not citations.cited and text.lower().startswith(NOT_SAID[:-1].lower()))


PROMPTS = Path(__file__).with_name("prompts")

T = TypeVar("T")


@dataclass(slots=True)
class Calls:
    """The chat model of one question.

    Attributes:
        model: The chat model.
        used: What the calls so far used.
        most: How many calls may be made before the answer. None: there is no limit.
        progress: Is called with (stage, done, total).
    """

    model: StreamingChatModel
    settings: Settings
    used: ChatUsage = field(default_factory=ChatUsage)
    most: int | None = None
    progress: Progress | None = None

    @property
    def left(self) -> int:
        """How many of TRIES calls may be made before the answer."""
        return TRIES if self.most is None else min(TRIES, self.most - self.used.calls)

    def instructions(self, prompt: str) -> str:
        """Return the text of a prompt file."""
        return load_prompt(PROMPTS / prompt, self.settings.prompts)

    def budget(self, prompt: str, question: str) -> int:
        """Return how many tokens of passages, points or reports fit into a prompt."""
        return evidence_budget(self.model, self.settings, self.instructions(prompt), question)

    def request(self, prompt: str, question: str, listed: str, schema: Mapping[str, Any] | None = None) -> ChatRequest:
        """Build a request: passages, points or reports between two tags, then the question."""
        system, shown = fence(self.instructions(prompt), listed)
        return ChatRequest(
            system,
            f"{shown}\n\nQuestion: {question}",
            max_tokens=self.settings.answer_tokens,
            schema=schema,
        )

    def ask(
        self,
        prompt: str,
        question: str,
        listed: str,
        schema: Mapping[str, Any],
        parse: Callable[[str, Collection[str]], T | None],
    ) -> Operation[T | None]:
        """Ask up to TRIES times, as long as calls are left, and return what the reply means; None if none was usable.

        `parse` returns what a reply means, given the texts of the examples in the prompt; None if it is not usable.
        """
        examples = example_texts(self.instructions(prompt))
        return ask_until_usable(
            self.model,
            self.request(prompt, question, listed, schema),
            lambda reply: parse(without_thought(reply.text), examples),
            self.used,
            tries=self.left,
        )

    def unusable_reply_error(self, nothing: str) -> UnusableReplyError:
        """Return the error for a model none of whose replies is usable, such as "no points"."""
        return UnusableReplyError(
            f"The chat model {self.model.name} returned {nothing}: try again, or set another E2G_CHAT_MODEL."
        )
