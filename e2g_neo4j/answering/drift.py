"""Answer a question by follow-up questions, as DRIFT search of GraphRAG does (its published code).

Reports of communities lead to follow-up questions (primer). Each is searched for by itself, and its passages give
points and more follow-up questions. The most important points become the answer, as in map-reduce.

The published code makes up to 67 calls: one for a hypothetical report, 5 for reports, 20 for follow-up questions in
each of three rounds, which are drawn at random, and one for the answer. Here the question itself is searched for first,
then always the follow-up question with the highest score, until the calls are used up. The answer that the model gives
to the reports is not used, because a citation leads to text, and reports only quote some of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from e2g_neo4j.answering.evidence import Calls, fit_evidence, number_passage, too_small
from e2g_neo4j.answering.global_search import check_communities
from e2g_neo4j.answering.points import MOST, answer_of, choose_points, points_in, points_schema, score_in
from e2g_neo4j.models.chat.json_replies import TEXT, find_list, list_schema, number_schema, object_schema
from e2g_neo4j.models.chat.until_usable import TRIES
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.options import RetrievalOptions
from e2g_neo4j.retrieval.requirements import group_corpora
from e2g_neo4j.retrieval.retrieve import retrieve
from e2g_neo4j.retrieval.strategies import DEFAULT_MODE
from e2g_neo4j.retrieval.strategies.communities import nearest, read_reports
from e2g_neo4j.retrieval.windows import round_robin
from e2g_neo4j.runtime.requests import AtOnce, Embed, Operation, read_each
from e2g_neo4j.types.chat import StreamingChatModel
from e2g_neo4j.types.results import Answer, Evidence, Passage, Point

CALLS = 12
"""Maximum number of calls of the chat model. TRIES of them are kept for the answer."""

ROUNDS = 3
"""Follow-up questions of follow-up questions are searched for up to this round, as in the published code."""

REPORTS = 20
"""Nearest reports of which those are read that fit into one prompt. The published code reads as many, in five calls."""

FOLLOW_UPS = 5
"""Follow-up questions of a reply that are used, the first ones."""

LONGEST_QUESTION = 500
"""Characters of a follow-up question. Longer ones are left out."""

LOCAL = "graphrag_local"
"""How follow-up questions are searched for by default, if all corpora have statements."""

FOLLOW_UPS_SCHEMA = list_schema(object_schema(question=TEXT, score=number_schema(0, MOST)), FOLLOW_UPS)
"""The JSON schema of the follow-up questions of a reply."""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question to search for, with its score from 0 to 100 and its round, from 0 for the question itself."""

    question: str
    score: int
    round: int


class FollowUps:
    """The questions to search for, each once. The question itself is the first."""

    def __init__(self, question: str) -> None:
        self.open = [FollowUp(question, MOST, 0)]
        self._seen = {words_of(question)}

    def add(self, questions: Iterable[tuple[str, int]], round: int) -> None:
        """Add the questions with their scores, without those that there were before, if the round is not the last."""
        for question, score in questions if round <= ROUNDS else ():
            words = words_of(question)
            if words not in self._seen:
                self._seen.add(words)
                self.open.append(FollowUp(question, score, round))

    def next(self) -> FollowUp:
        """Take the question with the highest score, of several the first."""
        best = max(self.open, key=lambda one: (one.round == 0, one.score))
        self.open.remove(best)
        return best


def drift(evidence: Evidence, models: Models, calls: Calls, retrieval: RetrievalOptions) -> Operation[Answer]:
    """Search for follow-up questions with the options of the question, and ask the chat model for an answer from the
    points of all passages.

    Raises:
        QueryError: A corpus has no communities.
        ModelError: The model failed, or no passage fits its context.
        UnusableReplyError: The model sent no usable reply about any passages, or no answer.
    """
    question, model = evidence.stand_alone, calls.model
    calls.most = calls.used.calls + CALLS - TRIES
    rows = yield from read_each("query/corpus", {corpus: {"terms": []} for corpus in evidence.corpora})
    check_communities(rows, "DRIFT")
    options = local_options(retrieval, rows)
    follow_ups = FollowUps(question)
    reports, primer, primed = list[str](), list[Operation[Any]](), None
    reads = 1
    if not retrieval.where:  # a report may quote documents that the filter excludes
        reads += 2
        reports = within(calls.budget("primer.txt", question), (yield from nearest_reports(models, evidence)), model)
    if reports:
        schema = object_schema(answer=TEXT, follow_ups=FOLLOW_UPS_SCHEMA)
        primer = [calls.ask("primer.txt", question, "\n\n".join(reports), schema, follow_ups_in)]

    found, points, given = [evidence], list[Point](), list[Passage]()
    searched, usable, unusable = list[str](), 0, 0
    while follow_ups.open and calls.left:
        one = follow_ups.next()
        asked_for = question
        if one.round:
            asked_for = f"{question}\nFollow-up question: {one.question}"
            found.append((yield from retrieve(models, one.question, evidence.corpora, options)))
            searched.append(one.question)
        budget = calls.budget("follow_up.txt", asked_for)
        numbers = numbers_of(found[-1], given, budget, model)
        if not numbers and evidence.passages and not one.round:
            raise too_small(budget)
        asking = [*primer]  # for which the question itself does not wait
        if numbers:
            listed = "\n\n".join(number_passage(given[number - 1], number) for number in numbers)
            schema = object_schema(points=points_schema(numbers), follow_ups=FOLLOW_UPS_SCHEMA)
            asking.append(calls.ask("follow_up.txt", asked_for, listed, schema, partial(reply_in, batch=numbers)))
        replies = yield AtOnce(tuple(asking))
        if primer:
            primed, primer = replies[0], []
            follow_ups.add(primed or (), 1)
        read = replies[-1] if numbers else None
        if read is None:
            unusable += bool(numbers)
            continue
        usable += 1
        points += read[0]
        follow_ups.add(read[1], one.round + 1)
    if unusable and not usable:
        raise calls.unusable_reply_error("no points")

    kept, above = choose_points(points, question, calls)
    told = [f"DRIFT: reports: {len(reports)}, points above 0: {above}, points in the answer: {len(kept)}."]
    if searched:
        told.append(f"Follow-up questions in mode {options.mode}: {' '.join(searched)}")
    if reports and primed is None:
        told.append("The chat model sent no usable reply to the reports.")
    if unusable:
        told.append(f"Questions whose passages are left out, because the chat model sent no usable points: {unusable}.")
    if follow_ups.open:
        told.append(f"Follow-up questions that were left when {CALLS - TRIES} calls were made: {len(follow_ups.open)}.")
    return (yield from answer_of(kept, merge_evidence(found, told, reads), tuple(given), calls))


def merge_evidence(found: Sequence[Evidence], told: Sequence[str], reads: int) -> Evidence:
    """Return the evidence for the question itself with the passages for all questions, each once.

    Args:
        found: The evidence for the question itself, then that for follow-up questions.
        told: Sentences to add to the reason.
        reads: Other reads in each corpus.
    """
    passages: dict[tuple[object, ...], Passage] = {}
    for passage in (passage for one in found for passage in one.passages):
        passages.setdefault(place_of(passage), passage)
    return replace(
        found[0],
        reason=" ".join([found[0].reason, *told]),
        passages=tuple(passages.values()),
        round_trips=sum(one.round_trips for one in found) + reads * len(found[0].corpora),
    )


def local_options(retrieval: RetrievalOptions, rows: Iterable[Mapping[str, Any]]) -> RetrievalOptions:
    """Return the options to search for follow-up questions with. No mode calls the chat model."""
    mode = retrieval.mode
    stated = all(row["statements"] is not None for row in rows)
    if mode == DEFAULT_MODE and stated:
        mode = LOCAL
    return retrieval.model_copy(update={"mode": mode, "llm": False, "relationship_types": (), "history": ()})


def nearest_reports(models: Models, evidence: Evidence) -> Operation[list[str]]:
    """Return the reports of the communities nearest to the question, nearest first."""
    found = []
    for group in group_corpora(models, evidence.corpora):
        found.append((yield from group.run(_nearest_in(evidence.stand_alone, group.corpora))))
    ids = round_robin(found)[:REPORTS]
    reports = yield from read_reports(ids, evidence.corpora)
    return [f"[{number}] {reports[id]}" for number, id in enumerate(ids, 1) if id in reports]


def _nearest_in(question: str, corpora: Sequence[str]) -> Operation[list[str]]:
    """Return the ids of the nearest communities in corpora that were made with the same models."""
    vector = yield Embed(question)
    parameters = {"vector": vector, "best": REPORTS, "windows": 1}
    return nearest((yield from read_each("query/communities", dict.fromkeys(corpora, parameters))), REPORTS)


def within(budget: int, texts: Iterable[str], model: StreamingChatModel) -> list[str]:
    """Return the first texts that fit into a number of tokens. One that is too long is left out."""
    kept = []
    for text in texts:
        cost = model.count(f"{text}\n\n")
        if cost <= budget:
            kept.append(text)
            budget -= cost
    return kept


def numbers_of(evidence: Evidence, given: list[Passage], budget: int, model: StreamingChatModel) -> list[int]:
    """Choose the passages and facts that fit into a prompt, and return their numbers. New ones are added to `given`."""
    chosen = fit_evidence(evidence, budget, model)
    places = [place_of(passage) for passage in given]
    for passage in chosen:
        if place_of(passage) not in places:
            given.append(passage)
            places.append(place_of(passage))
    return [places.index(place_of(passage)) + 1 for passage in chosen]


def place_of(passage: Passage) -> tuple[object, ...]:
    """Return what equal passages have in common, whichever question has found them."""
    return passage.corpus, passage.source, passage.level, passage.start, passage.end, passage.text


def reply_in(
    reply: str, examples: Collection[str], batch: Sequence[int]
) -> tuple[list[Point], list[tuple[str, int]]] | None:
    """Return the points and follow-up questions of a reply about passages, or None if it has neither."""
    points, questions = points_in(reply, batch, examples), follow_ups_in(reply, examples)
    return None if points is None and not questions else (points or [], questions or [])


def follow_ups_in(reply: str, examples: Collection[str] = frozenset()) -> list[tuple[str, int]] | None:
    """Return the follow-up questions of a reply with their scores, at most FOLLOW_UPS.

    None if it has none and does not say so with an empty list. Questions without text or score are left out, and those
    of the examples in the prompt.
    """
    items, said = find_list(reply, "follow_ups", "question")
    found = (_follow_up(item) for item in items)
    questions = [one for one in found if one is not None and one[0] not in examples]
    return questions[:FOLLOW_UPS] if questions or (said and not items) else None


def _follow_up(item: object) -> tuple[str, int] | None:
    if not isinstance(item, dict) or not isinstance(item.get("question"), str):
        return None
    question = " ".join(item["question"].encode("utf-8", "ignore").decode().split())
    score = score_in(item)
    return (question, score) if words_of(question) and len(question) <= LONGEST_QUESTION and score else None


def words_of(question: str) -> str:
    """Return the words of a question in lower case. Questions with the same words are the same."""
    return " ".join(re.findall(r"\w+", question.casefold()))
