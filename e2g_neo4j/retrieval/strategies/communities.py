"""`communities`: the windows of the communities of entities that are nearest to the question, by turns.

GraphRAG's global search ("From Local to Global", arXiv 2404.16130) has a chat model rate the report of every community,
and answers from the best reports. Here the vectors of the reports rate the communities, and no report is evidence: the
communities choose windows, so that citations lead to the text. With the option `llm`, the chat model rates the reports
that are nearest by vector, from 0 to 5 as in GraphRAG's dynamic selection of communities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from e2g_neo4j.models.chat.json_replies import number_schema, object_schema, objects_in, whole_number
from e2g_neo4j.models.chat.until_usable import TRIES
from e2g_neo4j.retrieval.chat_calls import ChatCalls
from e2g_neo4j.retrieval.passages import TIE
from e2g_neo4j.retrieval.query import Query, RankedWindows, Ranking
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.retrieval.windows import Window, round_robin, windows_in
from e2g_neo4j.runtime.requests import AtOnce, Embed, Operation, read_each
from e2g_neo4j.types.ties import best_first

TURNS = 10
"""Communities that take turns. 5, 20 and 40 found no more of the evidence for questions about a whole novel."""

RATED = 20
"""Nearest communities whose reports the chat model rates."""

BATCH = 10
"""Reports that the chat model rates in one call."""

CALLS = 6
"""Maximum calls of the chat model for a question: two for all reports, each with two more for replies that are not
usable."""

BEST = 5
"""The highest rating."""

THRESHOLD = 1
"""The lowest rating of a community that takes turns, as in GraphRAG."""

PROMPT = "rate_reports"

WINDOWS = 200
"""At least as many of the nearest windows are assigned to communities."""


def communities(query: Query) -> Ranking:
    """Rank windows, best first."""
    vector = yield Embed(query.question)
    reports = TURNS if query.chat is None else RATED
    parameters = {"vector": vector, "best": reports, "windows": max(query.limit, WINDOWS)}
    rows = yield from query.read_each("communities", dict.fromkeys(query.corpora, parameters))
    best = list[str]()
    if query.chat is not None and query.documents is not None:
        query.chat.told.append("No report was rated, because one may quote documents that the question excludes.")
    elif query.chat is not None:
        best = yield from best_rated(query, query.chat, nearest(rows, RATED))
    return by_turns(rows, best or None)[: query.limit]


def nearest(rows: Iterable[Mapping[str, Any]], most: int) -> list[str]:
    """Return the ids of the nearest communities of rows of `communities.cypher`.

    Those of several corpora have the same id if they have the same members. They count as one, the nearest of them.
    """
    scores: dict[str, float] = {}
    for one in (one for row in rows for one in row["communities"]):
        scores[one["id"]] = max(one["score"], scores.get(one["id"], 0.0))
    ids = sorted(scores)
    return [ids[at] for at in best_first([scores[id] for id in ids], TIE)][:most]


def best_rated(query: Query, chat: ChatCalls, ids: Sequence[str]) -> Operation[list[str]]:
    """Have the chat model rate the reports of communities.

    Args:
        chat: The chat model. It is told what came of it.
        ids: The communities, nearest first.

    Returns:
        The ids of the communities rated THRESHOLD or better, best first. None of them: the model could not decide.
    """
    reports = yield from read_reports(ids, query.corpora)
    shown = [id for id in ids if id in reports]
    rated = yield from rate_reports(chat, query.question, [reports[id] for id in shown], CALLS)
    if shown and not rated:
        chat.fall_back("the nearest communities take turns")
        return []
    ratings = dict(zip(shown, rated, strict=False))
    best = sorted((id for id, rating in ratings.items() if rating >= THRESHOLD), key=lambda id: -ratings[id])
    otherwise = "" if best else ": the nearest ones take turns"
    chat.told.append(f"The chat model chose {len(best)} of the {len(ratings)} nearest communities{otherwise}.")
    return best


def read_reports(ids: Sequence[str], corpora: Sequence[str]) -> Operation[dict[str, str]]:
    """Read the reports of communities, with their titles, by id."""
    rows = yield from read_each("query/reports", {corpus: {"ids": list(ids)} for corpus in corpora})
    return {row["id"]: f"{row['title']}\n{row['text']}" for row in rows}


def rate_reports(chat: ChatCalls, question: str, reports: Sequence[str], most: int) -> Operation[list[int]]:
    """Have the chat model rate reports, BATCH in a call, in several calls at once.

    Args:
        most: The maximum number of calls for the question.

    Returns:
        The ratings of the first reports, 0 to BEST: of all, unless `most` calls were made or a reply was not usable.
    """
    ratings = list[int]()
    while len(ratings) < len(reports) and chat.made < most:
        batches = _batches(chat, question, reports[len(ratings) :])
        each = islice(batches, max(1, (most - chat.made) // TRIES))  # there are calls enough for every try of these
        for rated in (yield AtOnce(tuple(_rate_batch(chat, question, batch, most) for batch in each))):
            if rated is None:
                return ratings
            ratings += rated
    return ratings


def _batches(chat: ChatCalls, question: str, reports: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the reports of each call, fewer with a small context, up to one that does not fit at all."""
    while reports:
        fitting = chat.count_fitting(PROMPT, question, reports[:BATCH])
        yield reports[: max(1, fitting)]
        reports = reports[fitting:] if fitting else ()


def _rate_batch(chat: ChatCalls, question: str, batch: Sequence[str], most: int) -> Operation[list[int] | None]:
    numbers = range(1, len(batch) + 1)
    schema = object_schema(**{str(number): number_schema(0, BEST) for number in numbers})
    rated = yield from chat.ask(PROMPT, question, batch, schema, partial(ratings_in, reports=len(batch)), most=most)
    return None if rated is None else [rated.get(number, 0) for number in numbers]


def ratings_in(reply: str, reports: int) -> dict[int, int] | None:
    """Return the rating by number of a report from a reply such as {"1": 4, "2": 0}; None if it has no valid one."""
    for found in reversed(objects_in(reply)):
        pairs = [(whole_number(name), whole_number(value)) for name, value in found.items()]
        valid = {
            number: rating
            for number, rating in pairs
            if number is not None and rating is not None and 1 <= number <= reports and 0 <= rating <= BEST
        }
        if valid:
            return valid
    return None


def by_turns(rows: Sequence[Mapping[str, Any]], best: Sequence[str] | None = None) -> RankedWindows:
    """Return the windows of rows of `communities.cypher`.

    The first turn is the nearest window of each of the best communities, then come the second ones, and so on. A window
    that mentions entities of several communities has the first turn of them. Windows of no such community follow. The
    score of a window is its own, (1 + cosine) / 2.

    Args:
        best: The ids of the communities, best first. Default: the TURNS nearest ones.
    """
    best = nearest(rows, TURNS) if best is None else best
    found: list[tuple[Window, float, list[str]]] = []
    for row in rows:
        of = {one["id"]: set(one["windows"]) for one in row["communities"]}
        for window, one in windows_in(row["candidates"]):
            found.append((window, one["score"], [id for id, at in of.items() if one["at"] in at]))
    by_id = {found[at][0].id: found[at] for at in best_first([score for _, score, _ in found], TIE)}
    members = [[window for window, (_, _, of) in by_id.items() if id in of] for id in best]
    return [by_id[window][:2] for window in dict.fromkeys([*round_robin(members), *by_id])]


COMMUNITIES = Strategy(
    name="communities",
    summary="Windows of the nearest communities of entities, in turn.",
    source="GraphRAG (arXiv 2404.16130), global search",
    ranked_by="turns of the communities that are nearest by vector",
    needs={"vector", "communities"},
    calls_model=True,
    rank_windows=communities,
)
