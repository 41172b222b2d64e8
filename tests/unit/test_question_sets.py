"""The question sets of benchmarks/questions: every line is read, and every span lies where its text says something."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from e2g_neo4j.documents.files import read
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.evaluation.gold import Question, read_questions

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
FOLDER = BENCHMARKS / "questions"
TEXTS = {path.name: path for path in (FOLDER / "texts").glob("*.md")}
BOOKS = Path(__file__).parents[3] / "shared" / "books"
SETS = ("texts-dev", "texts-held-out")
FINAL = ("novels-held-out", "manual-held-out", "guide-held-out")
SINGLE_TOPIC = {
    "guide-dev": (27, 24, 9),
    "guide-held-out-2": (27, 24, 9),
    "crusoe-dev": (14, 12, 4),
    "crusoe-held-out": (14, 12, 4),
}
PLACES = {"fact": (1, 1), "multi": (2, 4), "global": (3, 6)}
GUIDE = BOOKS.parent / "eval" / "medical" / "corpus.txt"
LIMITS = Limits(2**25)

spec = importlib.util.spec_from_file_location("bind_texts", BENCHMARKS / "bind_texts.py")
assert spec is not None
assert spec.loader is not None
bind_texts = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bind_texts)


@cache
def questions() -> tuple[Question, ...]:
    return tuple(question for name in SETS for question in read_questions(FOLDER / f"{name}.jsonl"))


@cache
def final_questions() -> tuple[Question, ...]:
    return tuple(question for name in FINAL for question in read_questions(FOLDER / f"{name}.jsonl"))


@cache
def single_topic() -> dict[str, list[Question]]:
    return {name: read_questions(FOLDER / f"{name}.jsonl") for name in SINGLE_TOPIC}


def all_questions() -> list[Question]:
    return [*questions(), *final_questions(), *(one for asked in single_topic().values() for one in asked)]


def check(asked: list[Question], text: str) -> None:
    """Spans lie in the text, have the length of a sentence or a few, and cut no word."""
    assert asked
    for question in asked:
        assert question.spans
        for _, start, end in question.spans:
            assert end <= len(text), question.id
            assert 60 <= end - start <= 400, question.id
            span = text[start:end]
            assert span == span.strip(), question.id
            assert not text[max(0, start - 1) : start + 1].isalnum(), question.id
            assert not text[end - 1 : end + 1].isalnum(), question.id


def test_ids_are_unique_and_both_halves_have_every_text_and_type():
    ids = [question.id for question in questions()]
    assert len(ids) == len(set(ids)) >= 60
    halves = [read_questions(FOLDER / f"{name}.jsonl") for name in SETS]
    kinds = [{(question.book, question.type) for question in half} for half in halves]
    assert kinds[0] == kinds[1]
    assert {kind for _, kind in kinds[0]} == {"fact", "multi", "global"}
    assert len({question.question for question in questions()}) == len(ids)


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_spans_of_texts_in_the_project(name):
    asked = [one for one in (*questions(), *final_questions()) if one.book == name]
    check(asked, read(TEXTS[name], "c", LIMITS).text)


@pytest.mark.needs_data
@pytest.mark.skipif(not BOOKS.is_dir(), reason="the novels are not beside the checkout")
def test_spans_of_texts_beside_the_checkout():
    asked = all_questions()
    elsewhere = {question.book for question in asked} - TEXTS.keys()
    assert elsewhere
    for name in elsewhere:
        assert name is not None
        text = read(GUIDE if name == GUIDE.name else BOOKS / name, "c", LIMITS).text
        check([one for one in asked if one.book == name], text)


def test_final_sets_have_sixty_questions_each_and_no_id_twice():
    passages = read_questions(FOLDER / "passages-held-out.jsonl")
    for asked in (passages, *(read_questions(FOLDER / f"{name}.jsonl") for name in FINAL)):
        assert len(asked) == 60
        assert {question.type for question in asked} in ({"fact", "multi", "global"}, {"bridge", "comparison", "three"})
        assert all(question.answer for question in asked)
    gold = [id for question in passages for id in question.documents]
    assert len(gold) == len(set(gold)) == 132
    ids = [question.id for question in (*passages, *all_questions())]
    assert len(ids) == len(set(ids))


def test_questions_on_single_topic_documents_are_split_evenly_and_share_no_span():
    for name, asked in single_topic().items():
        assert tuple(Counter(one.type for one in asked)[kind] for kind in PLACES) == SINGLE_TOPIC[name]
        for one in asked:
            fewest, most = PLACES[str(one.type)]
            assert one.answer, one.id
            assert fewest <= len(one.spans) <= most, one.id
    texts = [one.question for one in all_questions()]
    assert len(texts) == len(set(texts))
    for book in {one.book for asked in single_topic().values() for one in asked}:
        spans = sorted((start, end) for one in all_questions() if one.book == book for _, start, end in one.spans)
        new = {(start, end) for asked in single_topic().values() for one in asked for _, start, end in one.spans}
        for (start, end), (after, until) in pairwise(spans):
            assert end <= after or not new & {(start, end), (after, until)}, (book, start, after)


def test_a_bound_volume_has_the_same_evidence(tmp_path):
    names = sorted(TEXTS)
    out = tmp_path / "volume.md"
    bind_texts.main([str(FOLDER / "texts-dev.jsonl"), *(str(TEXTS[name]) for name in names), "--out", str(out)])
    volume = read(out, "c", LIMITS).text
    before = {one.id: one for one in read_questions(FOLDER / "texts-dev.jsonl") if one.book in TEXTS}
    after = read_questions(out.with_suffix(".jsonl"))
    assert {one.id for one in after} == before.keys()
    for one in after:
        old = before[one.id]
        assert old.book is not None
        text = read(TEXTS[old.book], "c", LIMITS).text
        assert [volume[a:b] for _, a, b in one.spans] == [text[a:b] for _, a, b in old.spans]
        assert {book for book, _, _ in one.spans} == {"volume.md"}


def test_answers_are_given():
    for name in SETS:
        for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            assert json.loads(line)["answer"].strip()


# --- conversations -----------------------------------------------------------------------------------

TALKS = ("conversations-dev", "conversations-held-out")
LIBRARY = Path(__file__).parents[2] / "e2g_neo4j" / "sample" / "library"


def talks(name: str) -> list[Question]:
    return read_questions(FOLDER / f"{name}.jsonl")


def test_each_half_has_twenty_conversations_half_of_them_about_the_novel():
    halves = [talks(name) for name in TALKS]
    assert len({one.id for half in halves for one in half}) == 40
    for half in halves:
        assert [sum(one.book is None for one in half), len(half)] == [10, 20]
        assert {one.type for one in half} == {"pronoun", "ellipsis", "noun", "new"}
        for one in half:
            assert [bool(turn.question and turn.answer) for turn in one.history] == [True]
            assert (one.written_out == one.question) == (one.type == "new"), one.id


def test_quotes_of_the_library_occur_once():
    texts = {path.name: read(path, "c", LIMITS).text for path in LIBRARY.iterdir()}
    for one in (*talks(TALKS[0]), *talks(TALKS[1])):
        assert one.quotes or one.book
        for document, quote in one.quotes:
            assert " ".join(texts[document].split()).count(quote) == 1, one.id


@pytest.mark.needs_data
@pytest.mark.skipif(not BOOKS.is_dir(), reason="the novels are not beside the checkout")
def test_spans_of_the_novel_are_whole_words():
    found = [one for name in TALKS for one in talks(name) if one.book]
    text = read(BOOKS / str(found[0].book), "c", LIMITS).text
    for one in found:
        assert one.spans
        for _, start, end in one.spans:
            assert 40 <= end - start <= 400, one.id
            assert text[start:end] == text[start:end].strip()
            assert not text[start - 1 : start + 1].isalnum(), one.id
            assert not text[end - 1 : end + 1].isalnum(), one.id
