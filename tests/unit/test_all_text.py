"""Map-reduce over all text: every character is read once, in order, and no more than is allowed."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from operations import WordModel, dialogue, text_row

from e2g_neo4j.answering.map_reduce import without_overlaps
from e2g_neo4j.answering.methods import AnswerOptions, answer
from e2g_neo4j.errors import NotFoundError, QueryError
from e2g_neo4j.retrieval.options import RetrievalOptions
from e2g_neo4j.runtime.requests import Read
from e2g_neo4j.settings import Settings

TEXT = " ".join(f"w{number}." for number in range(300))
"""A document of 300 words, of which chunks of 100 share 20."""


def row(id: str, start: int, end: int) -> dict[str, Any]:
    """A window of the words from `start` to `end`."""
    words = TEXT.split()
    begins = len(" ".join([*words[:start], ""]))
    return text_row(id, "D", id, " ".join(words[start:end]), begins)


WINDOWS = [row("w0", 0, 50), row("w1", 50, 100), row("w2", 80, 150), row("w3", 150, 180), row("w4", 160, 300)]


def points(*scored: tuple[int, list[int]]) -> str:
    listed = [{"text": f"Point {score}.", "score": score, "passages": numbers} for score, numbers in scored]
    return json.dumps({"points": listed})


def ask(*replies: str, tokens: int = 130, most: int = 64, size: int = 300, of: int = 1, **where: Any):
    """The evidence that is emitted, the prompts, and the answer."""
    settings = Settings().model_copy(update={"evidence_tokens": tokens, "map_calls": most})
    models: Any = SimpleNamespace(settings=settings, chat_model=WordModel())
    retrieval = RetrievalOptions(where=where or None)

    def rows(request: Any) -> list[dict[str, Any]]:
        match request:
            case Read("query/matching_documents", parameters):
                assert bool(parameters["where"]) == bool(where)
                return [{"documents": ["d"][:of], "of": of, "windows": 5, "index_windows": 5}]
            case Read("query/reading_order", parameters):
                assert parameters == {"corpus": "c", "ids": ["d"]}
                return [{"id": "d", "tokens": size, "windows": [f"w{number}" for number in range(5)]}]
        assert request.statement == "query/windows"
        return [one for one in reversed(WINDOWS) if one["chunk"] in request.parameters["ids"]]

    operation = answer(models, "Who?", ["c"], AnswerOptions(retrieval, method="all_text"))
    found, asked, emitted = dialogue(operation, replies, rows)
    return emitted, [one.request.user for one in asked], found


def test_all_text_is_read_once_and_in_order() -> None:
    replies = points((40, [1]), (0, [2])), points((80, [4])), points((60, [5])), "Luke [3][1]."
    emitted, prompts, answer = ask(*replies)
    words = [word for prompt in prompts[:3] for word in prompt.split() if word.startswith("w") and word.endswith(".")]
    assert words == TEXT.split()
    assert "[2] D" in prompts[0]
    assert emitted.reason == ("All text: documents: 1. 3 batches with 310 tokens of text: 4 calls of the chat model.")
    assert emitted.passages == ()
    assert [TEXT[one.start : one.end] for one in answer.given] == [one.text for one in answer.given]
    assert [one.text.split()[0] for one in answer.given] == ["w0.", "w150.", "w180."], "those of the points, in order"
    assert prompts[-1].splitlines()[1:4] == ["(80) Point 80. [2]", "(60) Point 60. [3]", "(40) Point 40. [1]"]
    assert [one.passage for one in answer.citations] == [answer.given[0], answer.given[2]]
    assert [one.passages for one in answer.points] == [(2,), (3,), (1,)]
    assert (answer.text, answer.calls) == ("Luke [3][1].", 4)
    assert answer.evidence.passages == answer.given
    assert answer.evidence.reason == f"{emitted.reason} Points above 0: 3, points in the answer: 3."
    assert (emitted.round_trips, answer.evidence.round_trips) == (3, 3)


def test_without_points_the_evidence_does_not_say() -> None:
    _, prompts, answer = ask(*[points()] * 3)
    assert (answer.found, answer.text, len(prompts)) == (False, "The evidence does not say.", 3)


def test_more_text_than_allowed_is_refused_before_any_call() -> None:
    """Of far more, not even the text is read."""
    message = r"All text is about 3 batches of 130 tokens, .* E2G_MAP_CALLS allows 2. Increase it"
    with pytest.raises(QueryError, match=message):
        ask(most=2)
    with pytest.raises(QueryError, match=r"All text is about 770 batches of 130 tokens"):
        ask(most=2, size=100_000)


def test_conditions_on_documents_are_told() -> None:
    emitted, *_ = ask(points(), points(), points(), year=1878)
    assert emitted.reason.startswith("year = 1878 leaves 1 of 1 document. All text: documents: 1.")
    with pytest.raises(NotFoundError):
        ask(of=0)


def test_other_options_are_refused() -> None:
    models: Any = None
    options = RetrievalOptions(mode="lightrag", tokens=500, llm=True, where={"year": 1878})
    with pytest.raises(QueryError, match="does not search for passages: leave out tokens, mode, llm"):
        next(answer(models, "Who?", ["c"], AnswerOptions(options, method="all_text")))


def test_overlaps_are_left_out_in_each_document() -> None:
    rows = [
        {"document_id": document, "text": TEXT[start:end], "start": start, "end": end}
        for document in ("d", "e")
        for start, end in ((0, 50), (20, 40), (30, 80), (90, 99))
    ]
    found = list(without_overlaps(rows))
    assert [(one["document_id"], one["start"], one["end"]) for one in found][:3] == [
        ("d", 0, 50),
        ("d", 50, 80),
        ("d", 90, 99),
    ]
    assert len(found) == 6
    assert all(one["text"] == TEXT[one["start"] : one["end"]] for one in found)
