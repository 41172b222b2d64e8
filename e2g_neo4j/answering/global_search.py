"""Answer a question about everything from the reports of communities: GraphRAG's global search.

As in the paper ("From Local to Global", arXiv 2404.16130, section 3.1.6) and the published code: the reports of one
level of the hierarchy are shuffled and read in batches. From each, the chat model takes points with a score from 0 to
100 (map). Points of 0 are dropped, and the most important ones become the answer (reduce). Instead of one level, the
chat model can choose the reports: it rates them from the highest level down, and goes on below those that are relevant
(dynamic community selection).

A report cannot be cited, for it is no text of a document. So of what each report was made from, the window that is most
like a point supports it, and the answer cites that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from e2g_neo4j.answering.evidence import Calls, in_reading_order, too_small
from e2g_neo4j.answering.map_reduce import BATCHES, describe_failures
from e2g_neo4j.answering.points import answer_of, batches_of, choose_points, map_batches
from e2g_neo4j.errors import QueryError
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.models.words import terms
from e2g_neo4j.retrieval.chat_calls import ChatCalls
from e2g_neo4j.retrieval.options import check_question
from e2g_neo4j.retrieval.passages import ScoredNode, passage_of, read_windows
from e2g_neo4j.retrieval.requirements import (
    check_found,
    describe_missing_layer,
    group_corpora,
    out_of_date,
    remember_models,
)
from e2g_neo4j.retrieval.strategies.communities import COMMUNITIES, THRESHOLD, rate_reports
from e2g_neo4j.runtime.requests import EmbedAll, Emit, Operation, Read, read_each
from e2g_neo4j.types.results import Answer, CitedReport, Evidence, Passage, Point

ALL_LEVELS = 1_000
"""More than any hierarchy has levels. The reports of this level are those of the communities without a parent."""


@dataclass(frozen=True, slots=True)
class Report:
    """The report of a community.

    Attributes:
        cited: What an answer says about it.
        parent: The id of the community above, if it was asked for.
    """

    cited: CitedReport
    text: str
    parent: str | None = None

    @property
    def place(self) -> tuple[str, str]:
        """Its corpus and id."""
        return self.cited.corpus, self.cited.id

    @property
    def whole(self) -> str:
        """Its title and text."""
        return f"{self.cited.title}\n{self.text}"

    def as_passage(self) -> Passage:
        """Return it as a prompt shows it, with its title as heading."""
        corpus, id = self.place
        return Passage(self.text, self.cited.title, id, 0, len(self.text), 0.0, corpus=corpus)


def check_communities(rows: Iterable[Mapping[str, Any]], what: str) -> None:
    """Raise QueryError if a corpus has no communities.

    Args:
        rows: Rows of `corpus.cypher`.
        what: What needs them.
    """
    for row in rows:
        if message := describe_missing_layer("communities", row, what):
            raise QueryError(message)


def finest_level(corpora: Sequence[str], characters: int) -> Operation[int]:
    """Return the finest level whose reports have at most so many characters together, or else the coarsest.

    The reports of a level are those of its communities, and of finer ones that no community of the level contains.
    """
    rows = yield from read_each("query/report_levels", {corpus: {} for corpus in corpora})
    top = max((row["level"] for row in rows), default=1)
    for level in range(1, top):
        those = (row for row in rows if row["level"] <= level and (row["above"] is None or row["above"] > level))
        if sum(row["characters"] for row in those) <= characters:
            return level
    return top


def reports_of_level(corpora: Sequence[str], level: int, most: int) -> Operation[list[Report]]:
    """Return the reports of a level, at most so many in each corpus, the most important first."""
    parameters = {"level": level, "limit": most}
    rows = yield from read_each("query/reports_of_level", dict.fromkeys(corpora, parameters))
    return list(map(_report, sorted(rows, key=lambda row: (-(row["rating"] or 0), -row["entities"]))))


def reports_below(reports: Sequence[Report]) -> Operation[list[Report]]:
    """Return the reports of the communities directly within others, in the order of these."""
    places = {report.place: number for number, report in enumerate(reports)}
    parameters = {corpus: {"ids": [id for one, id in places if one == corpus]} for corpus, _ in places}
    rows = yield from read_each("query/reports_below", parameters)
    return list(map(_report, sorted(rows, key=lambda row: places[row["corpus"], row["parent"]])))


def _report(row: Mapping[str, Any]) -> Report:
    cited = CitedReport(row["corpus"], row["id"], row["level"], row["title"])
    return Report(cited, row["text"], row.get("parent"))


Level: TypeAlias = int | Literal["dynamic"]
"""Which reports are read: those of a level, from 1, the finest, or those that the chat model chooses."""

MAP = "map_reports.txt"
"""The prompt for points."""

CHARACTERS = 4
"""Characters of a token, about."""

CANDIDATES = 20
"""Nearest windows of a report that are compared with a point by their words."""

SHORTEST = 20
"""Tokens that a report has at least, about."""

NOT_SAID = "The reports do not say."
"""The answer if no report helps."""


def global_search(evidence: Evidence, models: Models, calls: Calls, level: Level | None) -> Operation[Answer]:
    """Emit what will be read, ask the chat model for points of the reports, then for an answer from the points.

    The evidence that is given has the question and the corpora, and no passages. Without a level, the reports of the
    finest one are read that fit into BATCHES batches, about.

    Raises:
        NotFoundError: A corpus has no documents.
        FingerprintError: The index was made with other models.
        QueryError: A corpus has no communities.
        ModelError: The model failed, or no report fits its context.
        UnusableReplyError: The model sent no usable reply to any batch, or no answer.
    """
    question, corpora = evidence.question, evidence.corpora
    check_question(question)
    rows = yield from read_each("query/corpus", {corpus: {"terms": []} for corpus in corpora})
    check_found(rows)
    remember_models(models, rows)
    check_communities(rows, "global search")
    told = out_of_date(COMMUNITIES, rows)
    budget = calls.budget(MAP, question)
    if budget <= 0:
        raise too_small(budget)
    most = calls.settings.map_calls
    limit = most * budget // SHORTEST + 1
    chosen = ALL_LEVELS if level == "dynamic" else level
    if chosen is None:
        chosen = yield from finest_level(corpora, BATCHES * budget * CHARACTERS)
    reports = yield from reports_of_level(corpora, chosen, limit)
    if level == "dynamic":
        told.append(
            f"Global search: the chat model rates the {len(reports)} reports of the highest level, and those within "
            f"relevant ones, in at most {most} calls. Then it takes at most {most + 1} calls for the answer."
        )
        yield Emit(replace(evidence, reason=" ".join(told)))
        reports, outcome = yield from descend(reports, question, calls)
        told[-1] = f"Global search: {outcome}"
    else:
        told.append(f"Global search: reports of level {chosen}: {len(reports)}.")
    batches = batches_of([one.as_passage() for one in reports], (), budget, calls.model, most, shuffle_reports)
    if reports and not batches.given:
        raise too_small(budget)
    told.append(batches.describe_batches("reports"))
    if level != "dynamic":
        yield Emit(replace(evidence, reason=" ".join(told)))

    points, failed = yield from map_batches(calls, MAP, question, batches, "reports")
    kept, above = choose_points(points, question, calls)
    by_place = {report.place: report.cited for report in reports}
    supported, passages = yield from with_passages(models, kept, batches.given, by_place)
    told.append(f"Points above 0: {above}, points in the answer: {len(supported)}.")
    if batches.left_out:
        told.append(f"Reports that did not fit: {batches.left_out}. E2G_MAP_CALLS allows more batches.")
    if failed:
        told.append(describe_failures(failed))
    if len(supported) < len(kept):
        told.append(f"Points whose text is not in the corpus any more: {len(kept) - len(supported)}.")
    evidence = replace(evidence, reason=" ".join(told), passages=passages)
    return (yield from answer_of(supported, evidence, passages, calls, NOT_SAID))


def shuffle_reports(reports: Sequence[Passage]) -> tuple[Passage, ...]:
    """Return reports in the order of their ids, which are hashes. So no batch has all of one part of the corpus, and
    after a change those that stay the same keep their order."""
    return tuple(sorted(reports, key=lambda report: (report.source, report.corpus)))


def descend(reports: Sequence[Report], question: str, calls: Calls) -> Operation[tuple[list[Report], str]]:
    """Have the chat model choose reports, from those of the highest level down.

    The reports within a relevant one are rated, too, and replace it if one of them is relevant. If no report of the
    first levels is, all those within them are rated.

    Returns:
        The reports, the most relevant first, and a sentence about them. The given reports if none could be rated.
    """
    most = calls.settings.map_calls
    chat = ChatCalls(calls.model, calls.settings.prompts, calls.used)
    chosen: dict[tuple[str, str], tuple[Report, int]] = {}
    rated, open = 0, list(reports)
    while open:
        ratings = yield from rate_reports(chat, question, [report.whole for report in open], most)
        rated += len(ratings)
        relevant = [one for one in zip(open, ratings, strict=False) if one[1] >= THRESHOLD]
        for report, rating in relevant:
            chosen.pop((report.cited.corpus, report.parent or ""), None)
            chosen[report.place] = report, rating
        if len(ratings) < len(open):
            break
        relevant.sort(key=lambda one: -one[1])
        open = yield from reports_below([report for report, _ in relevant] if chosen else open)
    if reports and not rated:
        return list(reports), f"{chat.fault}: reports of the highest level: {len(reports)}."
    best = sorted(chosen.values(), key=lambda one: -one[1])
    return [report for report, _ in best], f"The chat model chose {len(best)} of {rated} reports that it rated."


def with_passages(
    models: Models,
    points: Sequence[Point],
    given: Sequence[Passage],
    reports: Mapping[tuple[str, str], CitedReport],
) -> Operation[tuple[list[Point], tuple[Passage, ...]]]:
    """Find the text that supports points of reports: of what each report was made from, the window most like the point.

    Args:
        points: The points, with the numbers of their reports.
        given: The reports by number, as passages.
        reports: The reports by corpus and id.

    Returns:
        The points with the numbers of passages, without those of which no text is left, and the passages.
    """
    if not points:
        return [], ()
    places = [dict.fromkeys((given[n - 1].corpus, given[n - 1].source) for n in point.passages) for point in points]
    support: list[list[Passage]] = [[] for _ in points]
    corpora = list(dict.fromkeys(corpus for each in places for corpus, _ in each))
    for group in group_corpora(models, corpora):
        for number, passage in (yield from group.run(_find_support(points, places, group.corpora))):
            support[number].append(passage)
    passages = in_reading_order(list(dict.fromkeys(passage for some in support for passage in some)))
    numbers = {passage: number for number, passage in enumerate(passages, 1)}
    supported = [
        replace(
            point,
            passages=tuple(sorted({numbers[passage] for passage in some})),
            reports=tuple(reports[place] for place in each),
        )
        for point, some, each in zip(points, support, places, strict=True)
        if some
    ]
    return supported, passages


def _find_support(
    points: Sequence[Point], places: Sequence[Iterable[tuple[str, str]]], corpora: Sequence[str]
) -> Operation[list[tuple[int, Passage]]]:
    """Find the text that supports points in corpora that were made with the same models.

    Args:
        places: The reports of each point, by corpus and id.

    Returns:
        The numbers of points with a passage, one for each of their reports.
    """
    vectors = yield EmbedAll(tuple(point.text for point in points))
    found = []
    for corpus in corpora:
        asked = [
            {"number": number, "reports": [id for one, id in each if one == corpus], "vector": vector}
            for number, (each, vector) in enumerate(zip(places, vectors, strict=True))
        ]
        rows = yield Read("query/report_windows", {"corpus": corpus, "points": asked, "limit": CANDIDATES})
        texts = yield from read_windows(list(dict.fromkeys(row["window"] for row in rows)), [corpus])
        best = most_alike(points, rows, texts)
        found += [(number, passage_of(ScoredNode(texts[id], 0.0))) for (number, _), id in best.items()]
    return found


def most_alike(
    points: Sequence[Point], rows: Iterable[Mapping[str, Any]], texts: Mapping[str, Mapping[str, Any]]
) -> dict[tuple[int, str], str]:
    """Return the window most like each point, by the number of the point and the report.

    A window that is near by its vector may be about the same, and yet say something else. So the share of the words of
    the point that it has counts as much.

    Args:
        rows: Rows of `report_windows.cypher`, the nearest windows first.
        texts: The windows by id.
    """
    words = [set(terms(point.text)) for point in points]
    in_window = {id: set(terms(row["text"])) for id, row in texts.items()}
    best: dict[tuple[int, str], tuple[float, str]] = {}
    for row in rows:
        number, window = row["number"], row["window"]
        if window in texts:  # missing if its document was replaced between the two reads
            share = len(words[number] & in_window[window]) / max(len(words[number]), 1)
            found = round(row["score"] + share, 5), window
            held = best.setdefault((number, row["report"]), found)
            if found[0] > held[0]:
                best[number, row["report"]] = found
    return {place: window for place, (_, window) in best.items()}
