"""Ask for evidence and answers, and score the answers.

Scores of one answer, from 0 to 1:
`accuracy`     1 if the letter is that of the right option, for questions with options
`exact match`  1 if the answer is one of the right answers, for questions without options
`F1`           harmonic mean of precision and recall of the answer's words
`ROUGE-L`      the same for their longest common subsequence (Lin 2004)
Texts are normalised as for SQuAD (Rajpurkar et al. 2016): lower case, without punctuation, English articles and extra
white space; citations are removed before. If a right answer has only articles, they count. Of several right answers,
the best score counts. `support`, of any answer with citations, is the mean share of the content words of a cited claim
that the passages have which it cites. A claim is the sentence that ends with a citation, or what follows the last one.
It compares words: what negates a passage in its own words counts as supported.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from contextlib import suppress
from string import ascii_uppercase
from typing import Any, Unpack

from e2g_neo4j.answering.methods import MethodName
from e2g_neo4j.client import E2G
from e2g_neo4j.errors import ConfigurationError, UnusableReplyError
from e2g_neo4j.evaluation.gold import Question
from e2g_neo4j.evaluation.results import PARTS, ScoredAnswer
from e2g_neo4j.evaluation.words import (
    f1,
    f_measure,
    normalise_answer,
    passages_of,
    support,
    without_citations,
    words_of,
)
from e2g_neo4j.retrieval.options import RetrievalKeywords
from e2g_neo4j.runtime.requests import AtOnce, Chat, Embed, EmbedAll, Emit, Request, Rerank
from e2g_neo4j.types.chat import StreamingChatModel
from e2g_neo4j.types.results import Answer, Evidence

_LETTER = re.compile(r"[\W_]*([A-Z])(?:[\W_]*|[).:*].*)", re.DOTALL)


# --- asking ------------------------------------------------------------------------------------------


def chat_model_for(e2g: E2G) -> StreamingChatModel:
    """Return the configured chat model. Raises ConfigurationError if there is none."""
    model = e2g.models.chat_model
    if model is None:
        raise ConfigurationError("Answers need a chat model, but none is configured: set E2G_CHAT_MODEL.")
    return model


class _Calls:
    """Keeps the evidence, and counts the calls of the chat model and the tokens of their prompts."""

    def __init__(self) -> None:
        self.number = self.prompt_tokens = 0
        self.evidence: Evidence | None = None

    def on_request(self, request: Request) -> None:
        pass

    def on_result(self, request: Request, result: Any) -> None:
        if isinstance(request, Emit):
            self.evidence = request.evidence
        if isinstance(request, Chat):
            self.number += 1
            self.prompt_tokens += result.prompt_tokens


def ask_for_answer(
    e2g: E2G, question: Question, *, corpus: str, method: MethodName = "direct", **retrieval: Unpack[RetrievalKeywords]
) -> tuple[ScoredAnswer, Answer | None]:
    """Answer a question with `E2G.answer`, and score the answer if the question has one. The answer is None if no reply
    was usable, which is no failure: it scores 0."""
    calls, answer = _Calls(), None
    with e2g.runner.observe(calls), suppress(UnusableReplyError):
        choices = question.options
        answer = e2g.answer(question.question, corpus=corpus, choices=choices, method=method, **retrieval)
    text = answer.text if answer else None
    scores = score_answer(question, text or "") if question.answer else {}
    if answer and answer.text:
        supported = support(answer.text, passages_of(answer))
        scores |= {} if supported is None else {"support": supported}
    scored = ScoredAnswer(
        text=text,
        unreadable=text is None or bool(question.options and letter_of(text, question.options) is None),
        scores=scores,
        evidence_tokens=tokens_of(e2g, calls.evidence) if calls.evidence else 0,
        calls=calls.number,
        prompt_tokens=calls.prompt_tokens,
    )
    return scored, answer


# --- scores ------------------------------------------------------------------------------------------


def score_answer(question: Question, text: str) -> dict[str, float]:
    """Return the scores by name of an answer to a question that has one; it is empty if no reply was usable."""
    if question.options:
        letter = letter_of(text, question.options)
        chosen = question.options[ascii_uppercase.index(letter)] if letter else None
        return {"accuracy": float(chosen == question.answer)}
    pairs = [_comparable_words(without_citations(text), one) for one in (question.answer or "", *question.aliases)]
    return {
        "exact match": max(float(said == right) for said, right in pairs),
        "F1": max(f1(said, right) for said, right in pairs),
        "ROUGE-L": max(rouge_l(said, right) for said, right in pairs),
    }


def _comparable_words(said: str, right: str) -> tuple[list[str], list[str]]:
    """Return the words of an answer and of a right one. Articles count if the right one has no other words."""
    words = normalise_answer if normalise_answer(right) else words_of
    return words(said), words(right) or [right]  # "&" has no words: nothing equals it, no empty text either


def letter_of(text: str, options: Sequence[str]) -> str | None:
    """Return the letter of an option if a reply is that letter, or begins with it and one of `).:*`, otherwise None.

    This is stricter than `e2g ask`, which also searches sentences for a letter: a benchmark should not guess.
    """
    found = _LETTER.fullmatch(text)
    return found[1] if found and found[1] in ascii_uppercase[: len(options)] else None


def rouge_l(said: Sequence[str], right: Sequence[str]) -> float:
    """Return the harmonic mean of precision and recall of the longest common subsequence of words."""
    row = [0] * (len(right) + 1)
    for word in said:
        above = row[:]
        for at, other in enumerate(right, 1):
            row[at] = above[at - 1] + 1 if word == other else max(above[at], row[at - 1])
    return f_measure(row[-1], said, right)


# --- evidence ----------------------------------------------------------------------------------------


class _Parts:
    """Measures the seconds of each of PARTS of one question. Their sum is the time of `E2G.retrieve`."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._part = "reading"  # spaCy processes the question before the first request
        self._began = time.perf_counter()

    def on_request(self, request: Request) -> None:
        self.end_part(self._part)

    def on_result(self, request: Request, result: Any) -> None:
        kinds = {Embed: "embedding", EmbedAll: "embedding", Rerank: "ranking", Chat: "ranking", AtOnce: "ranking"}
        self.end_part(kinds.get(type(request), "database"))
        self._part = "ranking"

    def end_part(self, part: str | None = None) -> None:
        now = time.perf_counter()
        self.seconds[part or self._part] += now - self._began
        self._began = now


def ask(
    e2g: E2G, question: str, *, corpus: str, **retrieval: Unpack[RetrievalKeywords]
) -> tuple[Evidence, dict[str, float]]:
    """Retrieve the evidence and measure the seconds of each of PARTS."""
    parts = _Parts()
    with e2g.runner.observe(parts):
        evidence = e2g.retrieve(question, corpus=corpus, **retrieval)
    parts.end_part()
    return evidence, parts.seconds


def tokens_of(e2g: E2G, evidence: Evidence) -> int:
    """Return the length of all passages together, in tokens of the embedding model."""
    return sum(len(e2g.models.embedder.token_spans(passage.text)) for passage in evidence.passages)
