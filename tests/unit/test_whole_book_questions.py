"""The questions about whole books: well-formed, split in halves, and with evidence spread over the book."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from e2g_neo4j.documents.files import read
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.evaluation import Question, read_questions

QUESTIONS = Path(__file__).parents[2] / "benchmarks" / "questions"
FILES = [QUESTIONS / "whole-book-dev.jsonl", QUESTIONS / "whole-book-held-out.jsonl"]
BOOKS = Path(__file__).parents[3] / "shared" / "books"

questions = [question for file in FILES for question in read_questions(file)]


def test_ids_are_unique_over_both_files() -> None:
    assert len({question.id for question in questions}) == len(questions) == 60


def test_each_half_has_five_questions_about_each_book() -> None:
    dev, held_out = (Counter(question.book for question in read_questions(file)) for file in FILES)
    assert dev == held_out
    assert len(dev) == 6
    assert set(dev.values()) == {5}


@pytest.mark.parametrize("question", questions, ids=lambda question: question.id)
def test_the_evidence_is_four_to_eight_spans_in_order(question: Question) -> None:
    spans = [(start, end) for _, start, end in question.spans]
    assert 4 <= len(spans) <= 8
    assert all(80 <= end - start <= 500 for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert question.type == "global"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_question_has_an_answer(file: Path) -> None:
    for line in file.read_text(encoding="utf-8").splitlines():
        assert json.loads(line)["answer"].endswith(".")


@pytest.mark.needs_data
@pytest.mark.skipif(not BOOKS.is_dir(), reason="the novels are not beside this checkout")
@pytest.mark.parametrize("book", sorted({question.book for question in questions if question.book}))
def test_the_evidence_is_whole_words_spread_over_half_of_the_book(book: str) -> None:
    text = read(BOOKS / book, "c", Limits(10**8)).text
    for question in questions:
        if question.book == book:
            assert question.spans[-1][2] - question.spans[0][1] >= len(text) / 2, question.id
            for _, start, end in question.spans:
                assert not text[start - 1 : start + 1].isalnum(), (question.id, start)
                assert not text[end - 1 : end + 1].isalnum(), (question.id, end)
                assert text[start:end].strip() == text[start:end]
