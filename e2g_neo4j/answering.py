"""From evidence to an answer: what a chat model is told, and what of its answer stands."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from string import ascii_uppercase

from e2g_neo4j.chat.chatting import ChatModel, ChatReply, ChatRequest
from e2g_neo4j.chat.prompting import fence_for, fenced, filled, load_prompt
from e2g_neo4j.citing import CitationFilter
from e2g_neo4j.errors import ModelError, QueryError
from e2g_neo4j.model import Answer, Citation, Evidence, Fact, Passage
from e2g_neo4j.queries import Chat, Story
from e2g_neo4j.settings import Settings

TRIES = 3
"""Requests for one answer, until a reply can be used."""

GRAPH = "A relationship of the knowledge base"
"""What a fact stands under in the evidence, where a passage has its document."""

NOT_SAID = "The evidence does not say."
"""The answer where there is no evidence at all; a chat model says it in the language of the question."""

FACTS = 0.25
"""Part of the evidence's tokens that facts of somebody else's graph may take."""

_WORTH_CUTTING = 50
"""Tokens: rather than less of a passage, none of it is given."""

_SENTENCE_ENDS = re.compile(r"[.!?…。！？][\"'”’)\]]*(?=\s|$)")
_THOUGHT = re.compile(r"\A\s*<think(ing)?>.*?(</think(ing)?>|\Z)", re.DOTALL)


def answer(
    evidence: Evidence, model: ChatModel | None, settings: Settings, options: Sequence[str] = ()
) -> Story[Answer]:
    """Ask the chat model, if there is one, for an answer from the evidence or for one of some options.

    Raises ModelError when it fails or says nothing that can be used, QueryError for a number of options out of range.
    """
    if options and not 2 <= len(options) <= len(ascii_uppercase):
        raise QueryError(f"There are {len(options)} options: give 2 to {len(ascii_uppercase)}.")
    if model is None:
        return Answer(None, evidence)
    instructions = load_prompt("choice" if options else "answer", settings.prompts)
    budget = settings.evidence_tokens
    if model.context is not None:
        asked = model.count(instructions) + model.count(evidence.question) + sum(map(model.count, options))
        budget = min(budget, model.context - settings.answer_tokens - asked - 200)
    facts = facts_within_budget(evidence.facts, int(FACTS * budget), model)
    told = sum(model.count(_numbered(fact, 999)) for fact in facts)
    given = (*within_budget(evidence.passages, budget - told, model), *facts)
    if evidence.passages and not given:
        raise ModelError(
            f"No passage fits into {max(budget, 0)} tokens of evidence: raise E2G_EVIDENCE_TOKENS, and E2G_LLM_CONTEXT "
            "where the model allows."
        )
    if not given and not options:
        return Answer(NOT_SAID, evidence, found=False)
    for attempt in range(TRIES):
        request = request_for(evidence.question, given, options, instructions, settings.answer_tokens, attempt)
        reply = yield Chat(model, request, len(given))
        found = (_chosen if options else _answered)(reply, evidence, given, options)
        if found is not None:
            return found
    what = "none of the options" if options else "no text"
    raise ModelError(f"The chat model {model.name} returned {what}: try again, or set another E2G_CHAT_MODEL.")


def facts_within_budget(facts: Sequence[Fact], budget: int, model: ChatModel) -> tuple[Passage, ...]:
    """The first facts that have at most `budget` tokens together, as passages that state them. The source of each is
    the element ids of the two nodes."""
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


def within_budget(passages: Sequence[Passage], budget: int, model: ChatModel) -> tuple[Passage, ...]:
    """As many passages, best first, as have at most `budget` tokens together, in reading order.

    Documents stand in the order of their best passages. A passage that does not fit is cut at the end of a sentence,
    and left out where that leaves little.
    """
    chosen: list[Passage] = []
    for passage in passages:
        heading = model.count(f"[{len(chosen) + 1}] {passage.document}\n\n")
        room = budget - heading
        tokens = model.count(passage.labelled())
        fitting = passage if tokens <= room else _cut(passage, room, model) if room >= _WORTH_CUTTING else None
        if fitting is not None:
            chosen.append(fitting)
            budget -= heading + min(tokens, room)
    documents = list(dict.fromkeys((passage.document, passage.source) for passage in chosen))
    return tuple(
        sorted(chosen, key=lambda one: (documents.index((one.document, one.source)), one.start, -one.level, one.end))
    )


def _cut(passage: Passage, room: int, model: ChatModel) -> Passage | None:
    """The beginning of a passage, up to the end of a sentence, or else of a word."""
    text = passage.text
    while (tokens := model.count(replace(passage, text=text).labelled())) > room:
        text = text[: min(int(len(text) * room / tokens), len(text) - 1)]
        ends = [found.end() for found in _SENTENCE_ENDS.finditer(text)]
        text = text[: ends[-1]] if ends and ends[-1] > len(text) // 2 else text[: max(text.rfind(" "), 0)]
    if not text.strip():
        return None
    # Of a summary, the offsets are those of the text that it stands for.
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
) -> ChatRequest:
    """Numbered evidence between two marks, then the question and its options; further attempts get another seed."""
    numbered = "\n\n".join(_numbered(passage, n) for n, passage in enumerate(given, 1))
    fence = fence_for(numbered)
    lettered = "".join(f"\n{letter}) {option}" for letter, option in zip(ascii_uppercase, options, strict=False))
    last = "\n\nAnswer with one letter." if options and attempt else ""
    return ChatRequest(
        filled(instructions, fence=fence),
        f"{fenced(numbered, fence)}\n\nQuestion: {question}{lettered}{last}",
        max_tokens=max_tokens * 2**attempt,
        temperature=0.7 if attempt else 0.0,
        seed=attempt,
        logprobs=bool(options),
    )


def _numbered(passage: Passage, number: int) -> str:
    return f"[{number}] {passage.document}\n{passage.labelled()}"


def _answered(reply: ChatReply, evidence: Evidence, given: tuple[Passage, ...], _: Sequence[str]) -> Answer | None:
    """The answer with the citations that stand; None where there is no text."""
    citations = CitationFilter(len(given))
    text = citations.add(_THOUGHT.sub("", reply.text).strip()) + citations.end()
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


def _chosen(reply: ChatReply, evidence: Evidence, given: tuple[Passage, ...], options: Sequence[str]) -> Answer | None:
    """The letter, and how probable each was; None where the reply chooses none."""
    text = _THOUGHT.sub("", reply.text).strip()
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
    """The option that a reply names: by its letter, or by its text where it quotes just one."""
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
    """How probable each letter was where the reply first had a letter, normalised over the letters; None without
    log-probabilities. A letter that the model does not list counts as impossible."""
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
