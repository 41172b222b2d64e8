"""DRIFT: what is asked in which order, and the answer that is made of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from operations import MODEL, conversation

from e2g_neo4j.answering import drift as module
from e2g_neo4j.answering import methods as answering
from e2g_neo4j.answering.drift import CALLS, drift, follow_ups_in, local_options
from e2g_neo4j.answering.evidence import PROMPTS, Calls, usage_of
from e2g_neo4j.answering.methods import METHODS, AnswerOptions, MethodName, answer
from e2g_neo4j.errors import ModelError, QueryError, UnusableReplyError
from e2g_neo4j.models.chat.json_replies import example_texts
from e2g_neo4j.models.chat.prompts import load_prompt
from e2g_neo4j.retrieval.options import RetrievalOptions
from e2g_neo4j.runtime.requests import Embed, Emit, Operation
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatRequest
from e2g_neo4j.types.results import Answer, Evidence, Fact, Passage, Turn


def passage(place: int) -> Passage:
    text = f"Text of p{place}."
    return Passage(text, "Log", "log.txt", 100 * place, 100 * place + len(text), 1.0)


def evidence(question: str, *places: int, **more: Any) -> Evidence:
    return Evidence(question, ("c",), "global", "Because.", (), (), 3, tuple(map(passage, places)), **more)


def follow_ups(**scored: int) -> list[dict[str, Any]]:
    return [{"question": f"{name}?", "score": score} for name, score in scored.items()]


def primed(**scored: int) -> str:
    return json.dumps({"answer": "Luke.", "follow_ups": follow_ups(**scored)})


def read(*points: tuple[int, Sequence[int]], **scored: int) -> str:
    listed = [{"text": f"Point {score}.", "score": score, "passages": numbers} for score, numbers in points]
    return json.dumps({"points": listed, "follow_ups": follow_ups(**scored)})


class OneModel:
    """Models that no corpus is known to be made with."""

    known: ClassVar[dict[str, Any]] = {}

    def vector(self, request: Embed) -> None:
        """Is not started: the request is replied to."""


class Search:
    """Drives DRIFT. Of each follow-up question, the passages are given by its letter."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, passages: dict[str, Sequence[int]]) -> None:
        self.passages, self.searched, self.requests = passages, list[str](), list[ChatRequest]()
        self.options: RetrievalOptions | None = None
        self.reports: list[dict[str, Any]] = [{"id": id, "title": id.upper(), "text": f"About {id}."} for id in "xy"]
        self.layers = {"communities": True, "statements": None}
        monkeypatch.setattr(module, "retrieve", self.retrieve)

    def retrieve(self, models: Any, question: str, corpora: Sequence[str], options: Any) -> Operation[Evidence]:
        self.searched.append(question)
        self.options = options
        return evidence(question, *self.passages.get(question, ()), round_trips=2)
        yield

    def rows(self, request: Any) -> list[Any]:
        if isinstance(request, Embed):
            return [1.0]
        match request.statement:
            case "query/corpus":
                return [self.layers]
            case "query/communities":
                assert request.parameters["vector"] == [1.0]
                return [{"communities": [{"id": "x", "score": 0.7, "windows": []}, {"id": "y", "score": 0.9}]}]
            case _:
                assert (request.statement, request.parameters["ids"]) == ("query/reports", ["y", "x"])
                return self.reports

    def answer(self, found: Evidence, *replies: str, **options: Any) -> Answer:
        settings = Settings().model_copy(update={"evidence_tokens": options.pop("tokens", 1000)})
        models: Any = OneModel()
        retrieval = RetrievalOptions(**options)
        operation = drift(found, models, Calls(MODEL, settings, usage_of(found)), retrieval)
        answer: Answer
        answer, asked = conversation(operation, replies, self.rows)
        for one in asked:
            assert bool(one.shown.add("Luke was there. ")) == one.request.system.startswith("Answer the")
        self.requests += [one.request for one in asked]
        return answer

    def asked(self) -> list[str]:
        """What each prompt asks, and with what."""
        return ["\n".join(one.user.splitlines()[1:]).split(">")[-1].strip() for one in self.requests]


def test_follow_up_questions_are_searched_for_by_score_and_their_points_are_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The primer gives a and b, the question itself c, c gives d. By score: the question, c, d, b, a."""
    search = Search(monkeypatch, {"a?": [0], "b?": [1, 2], "c?": [0, 3], "d?": [4]})
    replies = [
        primed(a=10, b=50),
        read((40, [1]), c=90),
        read((0, [2]), d=70, C=99),
        read(),
        read((80, [4, 5])),
        read((60, [1])),
        "Luke [4][1]. Josiah [3, 9].",
    ]
    answer = search.answer(evidence("Who?", 0, round_trips=3), *replies)
    assert search.searched == ["c?", "d?", "b?", "a?"]
    assert search.asked() == [
        "Question: Who?",
        "Question: Who?",
        *(f"Question: Who?\nFollow-up question: {name}?" for name in "cdba"),
        "Question: Who?",
    ]
    primer, first, second, *_, fourth, fifth, last = (request.user for request in search.requests)
    assert "[1] Y\nAbout y.\n\n[2] X\nAbout x." in primer, "the nearest report first"
    assert "[1] Log\nText of p0." in first
    assert "[1] Log\nText of p0.\n\n[2] Log\nText of p3." in second, "a passage keeps its number"
    assert "[4] Log\nText of p1.\n\n[5] Log\nText of p2." in fourth
    assert "[1] Log\nText of p0." in fifth
    assert "(80) Point 80. [4][5]\n(60) Point 60. [1]\n(40) Point 40. [1]" in last
    assert answer.text == "Luke [4][1]. Josiah."
    assert [(one.number, one.passage.start) for one in answer.citations] == [(1, 0), (4, 100)]
    assert answer.dropped == (3, 9), "no point that was kept is from passage 3"
    assert [one.start for one in answer.given] == [0, 300, 400, 100, 200]
    assert answer.evidence.passages == tuple(map(passage, (0, 3, 4, 1, 2)))
    assert (answer.calls, answer.prompt_tokens, answer.completion_tokens) == (7, 70, 21)
    assert answer.evidence.round_trips == 3 + 4 * 2 + 3
    assert answer.evidence.reason == (
        "Because. DRIFT: reports: 2, points above 0: 3, points in the answer: 3. "
        "Follow-up questions in mode auto: c? d? b? a?"
    )
    assert search.options == RetrievalOptions()


def test_with_a_filter_no_report_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may quote documents that the filter excludes."""
    search = Search(monkeypatch, {"c?": [3]})
    answer = search.answer(evidence("Who?", 0), read((40, [1]), c=90), read(), "Luke [1].", where={"year": 1897})
    assert search.searched == ["c?"]
    assert search.options is not None
    assert search.options.where == RetrievalOptions(where={"year": 1897}).where
    assert answer.evidence.round_trips == 0 + 2 + 1
    assert not any("About y." in request.user for request in search.requests)
    assert answer.evidence.reason.startswith("Because. DRIFT: reports: 0, points above 0: 1")


def test_calls_are_capped_with_some_left_for_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unusable replies count too: of nine calls before the answer, one is for reports and three for the question, so
    that five follow-up questions are left. That of q12, the third round, has no follow-up question. Left are q2, q3, q4
    and q15."""
    search = Search(monkeypatch, {f"q{number}?": [number] for number in range(99)})
    reads = [read((50, [number]), **{f"q{number + 10}": 100}) for number in range(1, 6)]
    answer = search.answer(
        evidence("Who?", 0), primed(q0=90, q1=80, q2=70, q3=60, q4=50), "", "no", "{}", *reads, "", "", "Luke [2]."
    )
    assert answer.calls == CALLS == 12
    assert search.searched == ["q0?", "q11?", "q12?", "q1?", "q14?"]
    assert "no usable points: 1." in answer.evidence.reason
    assert answer.evidence.reason.endswith("left when 9 calls were made: 4.")
    assert [request.seed for request in search.requests] == [0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 1, 2]


def test_follow_up_questions_end_after_three_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    search = Search(monkeypatch, {name: [0] for name in ("a?", "b?", "c?", "d?")})
    search.answer(evidence("Who?", 0), primed(a=9), read(), read(b=9), read(c=9), read((5, [1]), d=9), "Luke [1].")
    assert search.searched == ["a?", "b?", "c?"]


def test_the_same_question_is_searched_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    search = Search(monkeypatch, {"a?": [1]})
    replies = primed(a=9, A=8, **{"  who": 90, "a ": 7}), read(a=100), read((5, [2])), "Luke [2]."
    search.answer(evidence("Who?", 0), *replies)
    assert search.searched == ["a?"]


def test_without_usable_follow_ups_the_question_is_answered_and_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    search = Search(monkeypatch, {})
    answer = search.answer(evidence("Who?", 0), "", "no", "{}", read((5, [1])), "Luke [1].")
    assert (answer.text, answer.calls, search.searched) == ("Luke [1].", 5, [])
    assert answer.evidence.reason.endswith("The chat model sent no usable reply to the reports.")
    search.reports = []
    answer = search.answer(evidence("Who?", 0), read((5, [1])), "Luke [1].")
    assert "reports: 0" in answer.evidence.reason
    assert "reply to the reports" not in answer.evidence.reason


def test_a_question_without_passages_is_not_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    search = Search(monkeypatch, {"a?": []})
    answer = search.answer(evidence("Who?"), primed(a=9))
    assert (answer.found, answer.text, answer.calls) == (False, "The evidence does not say.", 1)
    assert search.searched == ["a?"]


def test_no_usable_reply_about_any_passage_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    search = Search(monkeypatch, {"a?": [1]})
    with pytest.raises(UnusableReplyError, match="returned no points"):
        search.answer(evidence("Who?", 0), primed(a=9), *["no"] * 6)
    with pytest.raises(UnusableReplyError, match="returned no points"):
        search.answer(evidence("Who?"), primed(a=9), *["no"] * 3)
    with pytest.raises(UnusableReplyError, match="returned no text"):
        search.answer(evidence("Who?", 0), primed(), read((5, [1])), "", "", "")


def test_reports_and_passages_fit_into_the_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two reports of 100 and 4 words, the first is too long."""
    search = Search(monkeypatch, {})
    search.reports[1]["text"] = "word " * 100
    answer = search.answer(evidence("Who?", 0), primed(), read((5, [1])), "Luke [1].", tokens=60)
    assert "word" not in search.requests[0].user
    assert "[2] X" in search.requests[0].user
    assert "reports: 1," in answer.evidence.reason
    with pytest.raises(ModelError, match="E2G_EVIDENCE_TOKENS"):
        search.answer(evidence("Who?", 0), tokens=3)


def test_facts_are_shown_with_the_passages_of_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    search = Search(monkeypatch, {"a?": [1]})
    facts = (Fact("Ann", "4:1", "KNOWS", "Bob", "4:2"),)
    replies = primed(a=9), read((5, [2])), read(), "Ann [2]."
    answer = search.answer(evidence("Who?", 0, facts=facts), *replies, relationship_types=["KNOWS"])
    assert "Ann KNOWS Bob" in search.requests[1].user
    assert "Ann KNOWS Bob" not in search.requests[2].user
    assert answer.citations[0].fact == facts[0]
    assert search.options is not None
    assert not search.options.relationship_types


def test_a_corpus_without_communities_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    search = Search(monkeypatch, {})
    search.layers["communities"] = None
    search.rows = lambda request: [{**search.layers, "corpus": "c"}]  # type: ignore[method-assign]
    with pytest.raises(QueryError, match=r"'c' has no communities, .* `e2g enrich --with communities --corpus c`"):
        search.answer(evidence("Who?", 0))


@pytest.mark.parametrize(
    ("mode", "statements", "where", "used"),
    [
        ("auto", [True, False], None, "graphrag_local"),
        ("auto", [True, None], None, "auto"),
        ("hybrid", [True], None, "hybrid"),
        ("lightrag", [True], None, "lightrag"),
    ],
)
def test_follow_ups_are_searched_for_by_statements_if_there_are_any(
    mode: str, statements: list[bool | None], where: Any, used: str
) -> None:
    options = RetrievalOptions(mode=mode, k=3, llm=mode == "lightrag", history=(Turn("Who?"),))
    found = local_options(options, [{"statements": one} for one in statements])
    assert (found.mode, found.k, found.llm, found.history) == (used, 3, False, ())


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (primed(a=90, b=20), [("a?", 90), ("b?", 20)]),
        (json.dumps({"follow_ups": [{"question": " A\n b? ", "score": "70"}]}), [("A b?", 70)]),
        ('{"follow_ups": [{"question": "C", "score": 900}]}', [("C", 100)]),
        ('{"follow_ups": [{"question": "a?", "score": 5}, {"question": "b', [("a?", 5)]),
        ('{"follow_ups": [{"question": "\\ud800a?", "score": 5.4}]}', [("a?", 5)]),
        ('{"answer": "Luke.", "follow_ups": []}', []),
        ('{"follow_ups": [{"question": "?", "score": 5}, {"question": "a?"}, {"question": 3, "score": 5}]}', None),
        ('{"follow_ups": ["b?", null]}', None),
        (json.dumps({"follow_ups": [{"question": "a" * 501, "score": 5}]}), None),
        ('{"follow_ups": "a?"}', None),
        ("Who was at the helm?", None),
        ("", None),
    ],
)
def test_follow_up_questions_need_text_and_a_score(reply: str, found: list[tuple[str, int]] | None) -> None:
    assert follow_ups_in(reply) == found


def test_no_more_than_five_follow_up_questions_are_used() -> None:
    found = follow_ups_in(primed(**{f"q{number}": 50 for number in range(9)}))
    assert found is not None
    assert [question for question, _ in found] == [f"q{number}?" for number in range(5)]


def test_examples_in_prompts_are_usable_replies() -> None:
    for name in ("primer", "follow_up"):
        prompt = load_prompt(PROMPTS / f"{name}.txt")
        assert follow_ups_in(prompt)
    assert module.reply_in(load_prompt(PROMPTS / "follow_up.txt"), (), [2, 5]) is not None


def test_a_repeated_example_has_no_follow_up_question() -> None:
    for name in ("primer", "follow_up"):
        prompt = load_prompt(PROMPTS / f"{name}.txt")
        assert follow_ups_in(prompt, example_texts(prompt)) is None


def test_an_answer_in_words() -> None:
    models: Any = None
    with pytest.raises(QueryError, match="DRIFT writes an answer in words"):
        next(answer(models, "Who?", ["c"], AnswerOptions(method="drift", choices=["a", "b"])))


@pytest.mark.parametrize("method", METHODS)
def test_without_a_chat_model_there_is_the_evidence_alone(monkeypatch: pytest.MonkeyPatch, method: MethodName) -> None:
    def retrieve(*asked: Any, **more: Any) -> Operation[Evidence]:
        return evidence("Who?", 0)
        yield

    monkeypatch.setattr(answering, "retrieve", retrieve)
    models: Any = SimpleNamespace(settings=Settings(), chat_model=None)
    operation = answer(models, "Who?", ["c"], AnswerOptions(method=method))
    assert next(operation) == Emit(evidence("Who?", 0))
    with pytest.raises(StopIteration) as end:
        next(operation)
    assert end.value.value == Answer(None, evidence("Who?", 0))


def test_a_question_is_not_asked_about_again_beyond_the_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the reports, three calls for the question, three for a and one for b, one is left for c."""
    search = Search(monkeypatch, {f"{name}?": [place] for place, name in enumerate("abc", 1)})
    replies = ["", "no", "{}", "", "no", "{}", read((5, [3])), "no", "Luke [3]."]
    answer = search.answer(evidence("Who?", 0), primed(a=9, b=8, c=7), *replies)
    assert (answer.calls, search.searched) == (CALLS - 2, ["a?", "b?", "c?"])
    assert answer.evidence.reason.endswith("no usable points: 3.")
