"""Global search: which reports are read, the points of them, and the text that the answer cites."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from libraries import StubModels
from operations import WordModel, dialogue, text_row

from e2g_neo4j.answering.evidence import PROMPTS
from e2g_neo4j.answering.global_search import finest_level, most_alike, shuffle_reports
from e2g_neo4j.answering.methods import AnswerOptions, answer
from e2g_neo4j.answering.points import batches_of
from e2g_neo4j.errors import ModelError, QueryError, UnusableReplyError
from e2g_neo4j.models.chat.json_replies import objects_in
from e2g_neo4j.models.chat.prompts import load_prompt
from e2g_neo4j.models.entities.pipeline import load_pipeline
from e2g_neo4j.retrieval.options import RetrievalOptions
from e2g_neo4j.runtime.requests import EmbedAll, Read
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatRequest
from e2g_neo4j.types.results import Answer, CitedReport, Evidence, Passage, Point, Turn

MADE_WITH = {"embedding_model": "m", "dimensions": 1, "pooling": "p", "spacy_model": "s"}


def points(*scored: tuple[int, Sequence[int]]) -> str:
    listed = [{"text": f"Point {score}.", "score": score, "reports": numbers} for score, numbers in scored]
    return json.dumps({"points": listed})


def ratings(*given: int) -> str:
    return json.dumps({str(number): rating for number, rating in enumerate(given, 1)})


@dataclass
class Corpus:
    """Communities a to f: of level 1 are a, b, c and d; e of level 2 contains a and b, f of level 3 contains e and c.
    Each quotes a chunk with a window of its name. The ids are in the order of the alphabet."""

    parents: dict[str, str | None] = field(
        default_factory=lambda: {"a": "e", "b": "e", "c": "f", "d": None, "e": "f", "f": None}
    )
    levels: dict[str, int] = field(default_factory=lambda: {"a": 1, "b": 1, "c": 1, "d": 1, "e": 2, "f": 3})
    words: int = 40
    communities: bool | None = True
    texts: bool = True
    reads: list[str] = field(default_factory=list)

    def row(self, id: str) -> dict[str, Any]:
        text = " ".join([id] * self.words)
        return {"id": id, "level": self.levels[id], "title": id.upper(), "text": text, "rating": None, "entities": 3}

    def rows(self, request: Read) -> list[dict[str, Any]]:
        self.reads.append(request.statement)
        match request.statement:
            case "query/corpus":
                return [{**request.parameters, "found": True, "communities": self.communities, "made_with": MADE_WITH}]
            case "query/report_levels":
                return [
                    {
                        "level": level,
                        "above": self.levels[self.parents[id] or ""] if self.parents[id] else None,
                        "characters": len(self.row(id)["text"]),
                    }
                    for id, level in self.levels.items()
                ]
            case "query/reports_of_level":
                top = request.parameters["level"]
                return [
                    self.row(id)
                    for id, parent in self.parents.items()
                    if self.levels[id] <= top and (parent is None or self.levels[parent] > top)
                ][: request.parameters["limit"]]
            case "query/reports_below":
                asked = request.parameters["ids"]
                return [{**self.row(id), "parent": p} for id, p in self.parents.items() if p in asked]
            case "query/report_windows":
                return [
                    {"number": one["number"], "report": id, "window": f"w{id}", "score": 0.9}
                    for one in request.parameters["points"]
                    for id in one["reports"]
                ]
            case "query/windows":
                ids = request.parameters["ids"] if self.texts else []
                return [text_row(f"c{id}", "Log", id, f"Text of {id}.", 100 * ord(id[1])) for id in ids]
        raise AssertionError(request.statement)


@dataclass
class Run:
    """What a question leads to."""

    answer: Answer
    emitted: Evidence
    requests: list[ChatRequest]
    progress: list[tuple[str, int, int]]


def ask(corpus: Corpus, *replies: str, tokens: int = 100, map_calls: int = 64, **more: Any) -> Run:
    """The answer that replies in turn lead to. Only the last one may be shown to the caller."""
    settings = Settings().model_copy(update={"evidence_tokens": tokens, "map_calls": map_calls})
    models: Any = StubModels(
        settings=settings,
        chat_model=WordModel(),
        nlp=load_pipeline(None),
    )
    progress: list[tuple[str, int, int]] = []
    retrieval = more.pop("retrieval", RetrievalOptions())
    show = lambda *step: progress.append(step)  # noqa: E731

    def reply(request: Any) -> Any:
        return [[1.0] for _ in request.texts] if isinstance(request, EmbedAll) else corpus.rows(request)

    operation = answer(models, "Who?", ["c"], AnswerOptions(retrieval, method="global", **more), progress=show)
    found, asked, emitted = dialogue(operation, replies, reply, len(retrieval.history))
    for one in asked:
        final = one.request.system.startswith("Answer the question from the points")
        assert bool(one.shown.add("Luke was there. ")) == final
    return Run(found, emitted, [one.request for one in asked], progress)


def shown_reports(request: ChatRequest) -> list[str]:
    """The titles of the reports of a prompt, with their numbers."""
    return [line for line in request.user.splitlines() if line.startswith("[")]


def test_points_of_reports_become_an_answer_that_cites_the_text_they_were_made_from() -> None:
    """Four reports of level 1, two in a batch. The points 80, 0 and 40 reach the answer as 80, 40."""
    corpus = Corpus()
    replies = points((40, [1, 2]), (0, [2])), points((80, [4])), "Luke [3][1]. Josiah [2, 9]."
    run = ask(corpus, *replies, level=1)
    first, second, last = run.requests
    assert (shown_reports(first), shown_reports(second)) == (["[1] A", "[2] B"], ["[3] C", "[4] D"])
    assert first.user.endswith("Question: Who?")
    assert last.user.splitlines()[1:-3] == ["(80) Point 80. [3]", "(40) Point 40. [1][2]"]
    answer = run.answer
    assert answer.text == "Luke [3][1]. Josiah [2]."
    assert answer.dropped == (9,)
    assert [one.passage.text for one in answer.citations] == ["Text of wa.", "Text of wb.", "Text of wd."]
    assert [one.passage.start for one in answer.citations] == [100 * ord(id) for id in "abd"]
    a, b, d = (CitedReport("c", id, 1, id.upper()) for id in "abd")
    assert answer.points == (Point("Point 80.", 80, (3,), (d,)), Point("Point 40.", 40, (1, 2), (a, b)))
    assert answer.given == answer.evidence.passages
    assert (answer.calls, answer.prompt_tokens, answer.completion_tokens) == (3, 30, 9)
    assert run.emitted.reason == (
        "Global search: reports of level 1: 4. 2 batches with 168 tokens of reports: 3 calls of the chat model."
    )
    assert answer.evidence.reason == f"{run.emitted.reason} Points above 0: 2, points in the answer: 2."
    assert (run.emitted.round_trips, answer.evidence.round_trips) == (2, 4)
    assert run.progress == [("batches", done, 2) for done in (0, 1, 2)]


def test_a_question_about_an_earlier_turn_is_rewritten_first() -> None:
    retrieval = RetrievalOptions(history=(Turn("Who was Luke Farran?"),))
    reply = '{"question": "Who was Luke Farran to Josiah?"}'
    run = ask(Corpus(), reply, points((40, [1])), points(), "Luke [1].", level=1, retrieval=retrieval)
    assert [one.user.splitlines()[-1] for one in run.requests[1:]] == ["Question: Who was Luke Farran to Josiah?"] * 3
    evidence = run.answer.evidence
    assert (evidence.question, evidence.searched_as) == ("Who?", "Who was Luke Farran to Josiah?")
    assert run.answer.calls == 4


def test_three_reports_of_five_thousand_tokens_are_two_batches() -> None:
    reports = [Passage("word " * 4_990, id, id, 0, 1, 0.0) for id in "cab"]
    model: Any = WordModel()
    batches = batches_of(reports, (), 12_000, model, 64, shuffle_reports)
    assert ([one.source for one in batches.given], batches.numbers) == (["a", "b", "c"], [[1, 2], [3]])


def test_without_points_the_reports_do_not_say_and_nothing_more_is_asked() -> None:
    for reply in ('{"points": []}', points((0, [1]))):
        run = ask(Corpus(), reply, level=1, tokens=1000)
        assert (run.answer.found, run.answer.text, run.answer.calls) == (False, "The reports do not say.", 1)
        assert run.answer.points == ()
    nothing = ask(Corpus({}, {}), level=1).answer
    assert (nothing.found, nothing.text, nothing.calls) == (False, "The reports do not say.", 0)
    assert "reports of level 1: 0. Nothing is read." in nothing.evidence.reason


@pytest.mark.parametrize(
    ("level", "read"),
    [(1, ["A", "B", "C", "D"]), (2, ["C", "D", "E"]), (3, ["D", "F"]), (9, ["D", "F"])],
)
def test_the_reports_of_a_level_are_those_of_its_communities_and_finer_ones_outside(
    level: int, read: list[str]
) -> None:
    run = ask(Corpus(), points((9, [1])), "Luke [1].", level=level, tokens=1000)
    assert [line[4:] for line in shown_reports(run.requests[0])] == read


@pytest.mark.parametrize(("characters", "level"), [(400, 1), (399, 2), (300, 2), (299, 3), (1, 3)])
def test_the_finest_level_that_fits_is_read_by_default(characters: int, level: int) -> None:
    """The reports of the levels have 400, 300 and 200 characters."""
    corpus = Corpus(words=50)
    operation: Any = finest_level(["c"], characters)
    rows = corpus.rows(next(operation))
    with pytest.raises(StopIteration) as end:
        operation.send([{**row, "characters": 100} for row in rows])
    assert end.value.value == level


def test_by_default_the_reports_of_eight_batches_are_read() -> None:
    """Of 4,000 characters, about 1,000 tokens, the 2,000 of level 3 fit into eight batches of 65 tokens, at four
    characters a token."""
    corpus = Corpus(words=500)
    run = ask(corpus, *[points((9, [number])) for number in range(1, 17)], *[points()] * 2, "Luke [1].", tokens=65)
    assert "reports of level 3: 2." in run.emitted.reason


def test_the_chat_model_chooses_from_the_top_what_to_read() -> None:
    """Of d and f, f is relevant, of c and e, e, of a and b, b. It replaces e, and that has replaced f."""
    replies = ratings(0, 4), ratings(0, 3), ratings(0, 5), points((70, [1])), "Luke [1]."
    run = ask(Corpus(), *replies, level="dynamic", tokens=1000)
    *rated, read, _ = run.requests
    assert [shown_reports(one) for one in rated] == [["[1] D", "[2] F"], ["[1] C", "[2] E"], ["[1] A", "[2] B"]]
    assert shown_reports(read) == ["[1] B"]
    assert "rates the 2 reports of the highest level" in run.emitted.reason
    assert "The chat model chose 1 of 6 reports that it rated. 1 batch" in run.answer.evidence.reason
    assert run.answer.calls == 5
    assert run.answer.points[0].reports == (CitedReport("c", "b", 1, "B"),)


def test_a_relevant_report_stays_if_none_within_it_is_relevant() -> None:
    run = ask(Corpus(), ratings(2, 4), ratings(0, 0), points((7, [2])), "Luke [1].", level="dynamic", tokens=1000)
    assert shown_reports(run.requests[2]) == ["[1] D", "[2] F"]


def test_if_no_report_of_the_top_is_relevant_those_within_are_rated() -> None:
    run = ask(Corpus(), ratings(0, 0), ratings(3, 0), points((7, [1])), "Luke [1].", level="dynamic", tokens=1000)
    assert [shown_reports(one) for one in run.requests[1:3]] == [["[1] C", "[2] E"], ["[1] C"]]
    nothing = ask(Corpus(), *[ratings(0, 0)] * 3, level="dynamic", tokens=1000).answer
    assert (nothing.text, nothing.calls) == ("The reports do not say.", 3)


def test_ratings_end_with_the_calls_and_what_is_chosen_by_then_is_read() -> None:
    run = ask(Corpus(), ratings(0, 4), points((7, [1])), "Luke [1].", level="dynamic", tokens=1000, map_calls=1)
    assert shown_reports(run.requests[1]) == ["[1] F"]


def test_without_usable_ratings_the_top_is_read() -> None:
    run = ask(Corpus(), "no", "", "{}", points((7, [1])), "Luke [1].", level="dynamic", tokens=1000)
    assert shown_reports(run.requests[3]) == ["[1] D", "[2] F"]
    assert "no usable reply in 3 calls: reports of the highest level: 2." in run.answer.evidence.reason


def test_a_batch_without_usable_points_is_left_out_and_told() -> None:
    run = ask(Corpus(), "no", "", "{}", points((50, [3])), "Luke [1].", level=1)
    assert [request.seed for request in run.requests] == [0, 1, 2, 0, 0]
    assert "left out, because the chat model sent no usable points: 1." in run.answer.evidence.reason
    with pytest.raises(UnusableReplyError, match="no points"):
        ask(Corpus(), *["no"] * 6, level=1)


def test_no_more_batches_are_read_than_allowed_and_it_is_told() -> None:
    run = ask(Corpus(), points((50, [1])), "Luke [1].", level=1, map_calls=1)
    assert shown_reports(run.requests[0]) == ["[1] A", "[2] B"]
    assert "Reports that did not fit: 2. E2G_MAP_CALLS" in run.answer.evidence.reason


def test_a_repeated_example_is_no_point() -> None:
    [example] = objects_in(load_prompt(PROMPTS / "map_reports.txt"))
    example["points"][0]["reports"] = [1]
    with pytest.raises(UnusableReplyError, match="no points"):
        ask(Corpus(), *[json.dumps(example)] * 3, level=3)


def test_points_whose_text_is_gone_are_left_out() -> None:
    """A document was deleted after its reports were made."""
    run = ask(Corpus(texts=False), points((50, [1])), points(), level=1)
    assert (run.answer.text, run.answer.calls) == ("The reports do not say.", 2)
    assert run.answer.evidence.reason.endswith("Points whose text is not in the corpus any more: 1.")


def test_reports_that_are_out_of_date_are_told_and_without_any_the_command_is_named() -> None:
    run = ask(Corpus(communities=False), points((50, [1])), points(), "Luke [1].", level=1)
    assert "communities of c are out of date: run `e2g enrich --with communities --corpus c`" in run.emitted.reason
    with pytest.raises(QueryError, match=r"'c' has no communities, .* `e2g enrich --with communities --corpus c`"):
        ask(Corpus(communities=None))


def test_of_near_windows_the_one_with_the_words_of_a_point_supports_it() -> None:
    """The nearest may be about the same, and yet say something else. One that is gone supports nothing."""
    point = Point("The siren is heard seven miles off.", 50, (1,))
    texts = {
        "near": "The siren stands on the quay.",
        "far": "It is heard seven miles off.",
        "same": "Heard seven miles off.",
    }
    rows = [
        {"number": 0, "report": report, "window": window, "score": score}
        for report, window, score in [("a", "gone", 0.9), ("a", "near", 0.8), ("a", "far", 0.7), ("b", "near", 0.8)]
    ]
    rows.append({"number": 0, "report": "a", "window": "same", "score": 0.7})
    found = most_alike([point], rows, {id: {"text": text} for id, text in texts.items()})
    assert found == {(0, "a"): "far", (0, "b"): "near"}


def test_a_context_without_room_for_reports_is_an_error() -> None:
    with pytest.raises(ModelError, match="E2G_EVIDENCE_TOKENS"):
        ask(Corpus(words=9000), tokens=2)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"level": 0}, "choose a number from 1"),
        ({"level": "fine"}, "choose a number from 1"),
        ({"retrieval": RetrievalOptions(where={"year": 1})}, "choose the method all_text"),
        ({"retrieval": RetrievalOptions(k=3, mode="dense")}, "leave out k, mode"),
        ({"choices": ["a", "b"]}, "Global search writes an answer"),
    ],
)
def test_options_that_do_not_apply_are_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        ask(Corpus(), **more)
    models: Any = None
    with pytest.raises(QueryError, match="Only the method global"):
        next(answer(models, "Who?", ["c"], AnswerOptions(level=2)))
