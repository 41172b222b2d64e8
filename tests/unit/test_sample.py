"""The sample library holds what its question file says: names, quotes, sizes."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.resources import files
from typing import Any

import pytest

SAMPLE = files("e2g_neo4j") / "sample"
TEXTS = {
    entry.name: entry.read_text(encoding="utf-8")
    for entry in sorted((SAMPLE / "library").iterdir(), key=lambda entry: entry.name)
}
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in (SAMPLE / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
FIELDS = {"id", "question", "answer", "aliases", "type", "gold_passages", "evidence"}


def words(text: str) -> int:
    return len(re.sub(r"<[^>]*>", " ", text).split())


def by_id(question: dict[str, Any]) -> str:
    return str(question["id"])


def test_library_is_small_and_mixed() -> None:
    assert 10 <= len(TEXTS) <= 12
    assert Counter(name.rpartition(".")[2] for name in TEXTS) == {"md": 9, "txt": 2, "html": 1}
    assert sum(words(text) for text in TEXTS.values()) >= 9_000


@pytest.mark.parametrize("name", TEXTS)
def test_document_has_a_title_and_a_fit_length(name: str) -> None:
    text = TEXTS[name]
    assert 600 <= words(text) <= 1_200
    first = text.splitlines()[0]
    if name.endswith(".md"):
        assert first.startswith("# ")
    elif name.endswith(".html"):
        assert first == "<!DOCTYPE html>"
        assert "<h1>" in text
    else:
        assert first.isupper()


def test_questions_are_many_and_of_three_types() -> None:
    types = Counter(question["type"] for question in QUESTIONS)
    assert set(types) == {"multi", "fact", "global"}
    assert types["multi"] >= 20
    assert types["fact"] >= 10
    assert types["global"] >= 10
    assert sum(types.values()) >= 40


@pytest.mark.parametrize("field", ["id", "question"])
def test_no_two_questions_are_alike(field: str) -> None:
    assert [value for value, n in Counter(q[field] for q in QUESTIONS).items() if n > 1] == []


@pytest.mark.parametrize("question", QUESTIONS, ids=by_id)
def test_question_is_complete(question: dict[str, Any]) -> None:
    assert set(question) == FIELDS
    assert question["id"].startswith(question["type"])
    assert question["question"].endswith("?")
    assert question["answer"].strip()
    assert question["type"] == "global" or question["aliases"]


@pytest.mark.parametrize("question", QUESTIONS, ids=by_id)
def test_evidence_is_verbatim_and_found_once(question: dict[str, Any]) -> None:
    for piece in question["evidence"]:
        assert set(piece) == {"document", "quote"}
        assert TEXTS[piece["document"]].count(piece["quote"]) == 1, piece["quote"]
        # A quote within one run of plain text stays verbatim when HTML or Markdown is read.
        assert not set(piece["quote"]) & set("<>&*_#\n"), piece["quote"]


@pytest.mark.parametrize("question", QUESTIONS, ids=by_id)
def test_gold_passages_are_the_documents_of_the_evidence(question: dict[str, Any]) -> None:
    documents = {piece["document"] for piece in question["evidence"]}
    assert len(question["gold_passages"]) == len(set(question["gold_passages"]))
    assert set(question["gold_passages"]) == documents
    if question["type"] == "multi":
        assert len(documents) >= 2
    if question["type"] == "global":
        assert len(question["evidence"]) >= 2


def test_every_document_is_needed() -> None:
    used = {name for question in QUESTIONS for name in question["gold_passages"]}
    assert used == set(TEXTS)
