"""Scores of answers against values computed by hand, and the fields of question files that they need."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2g_neo4j.errors import ConfigurationError, InputError, QueryError
from e2g_neo4j.evaluation import Question, evaluate, read_questions
from e2g_neo4j.evaluation.answers import letter_of, rouge_l, score_answer
from e2g_neo4j.evaluation.results import PARTS, EntityStatistics, Evaluation, Outcome, ScoredAnswer, mode_result
from e2g_neo4j.evaluation.tables import evaluation_page
from e2g_neo4j.evaluation.words import f1, normalise_answer, support
from e2g_neo4j.retrieval.strategies import STRATEGIES

OPTIONS = ("Luke Farran", "Josiah Quill", "Hester")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The  mate's\n“log”", ["mates", "“log”"]),  # as SQuAD: ASCII punctuation is removed, not replaced
        ("A man, a plan: an Ant!", ["man", "plan", "ant"]),
        ("Athena and theatre", ["athena", "and", "theatre"]),
        ("U.S. 1,200-ton", ["us", "1200ton"]),
        ("The", []),
    ],
)
def test_texts_are_normalised_as_for_squad(text, words):
    assert normalise_answer(text) == words


@pytest.mark.parametrize(
    ("said", "right", "value"),
    [
        ("josiah quill", "josiah quill", 1),
        ("mate josiah quill", "josiah quill", 4 / 5),  # precision 2/3, recall 1
        ("quill quill", "quill", 2 / 3),  # a word counts as often as both have it
        ("luke", "josiah quill", 0),
        ("", "quill", 0),
        ("", "", 1),
    ],
)
def test_f1_by_hand(said, right, value):
    assert f1(said.split(), right.split()) == pytest.approx(value)


def test_rouge_l_by_hand():
    assert rouge_l(["police", "kill", "gunman"], ["police", "killed", "gunman"]) == pytest.approx(2 / 3)
    assert rouge_l(["gunman", "police"], ["police", "killed", "gunman"]) == pytest.approx(2 / 5)
    assert rouge_l([], ["police"]) == 0


@given(*[st.lists(st.sampled_from("abc"), max_size=6)] * 2)
def test_words_in_order_are_no_more_than_words(said, right):
    assert 0 <= rouge_l(said, right) <= f1(said, right) <= 1
    assert f1(said, right) == f1(right, said)
    assert (f1(said, right) == 1) == (sorted(said) == sorted(right))


def test_the_best_of_answer_and_aliases_counts_and_citations_do_not():
    question = Question("q", "Who?", answer="Hester", aliases=("Josiah Quill", "the mate"))
    assert score_answer(question, "The Mate [1].") == {"exact match": 1, "F1": 1, "ROUGE-L": 1}
    assert score_answer(question, "Josiah Quill, the mate [1, 12] [3]") == {
        "exact match": 0, "F1": pytest.approx(4 / 5), "ROUGE-L": pytest.approx(4 / 5)
    }  # fmt: skip
    assert score_answer(question, "") == {"exact match": 0, "F1": 0, "ROUGE-L": 0}
    year = Question("q", "When?", answer="1877")
    assert score_answer(year, "1877")["exact match"] == 1
    assert score_answer(year, "[1877]")["exact match"] == 0  # a citation


def test_an_answer_of_articles_alone_is_compared_with_them():
    question = Question("q", "Which grade?", answer="The A")
    assert set(score_answer(question, "").values()) == {0}
    assert set(score_answer(question, "[1]").values()) == {0}
    assert set(score_answer(question, "an").values()) == {0}
    assert set(score_answer(question, "the a.").values()) == {1}
    assert score_answer(question, "A")["F1"] == pytest.approx(2 / 3)
    beside = Question("q", "Which grade?", answer="Hester", aliases=("The",))
    assert set(score_answer(beside, "the Hester").values()) == {1}
    assert set(score_answer(beside, "").values()) == {0}
    signs = Question("q", "Which sign?", answer="&")
    assert set(score_answer(signs, "").values()) == {0}


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        (" B. ", "B"),
        ("(B)", "B"),
        ("**B**", "B"),
        ("B) Josiah Quill", "B"),
        ("C: because\nhe said so", "C"),
        ("", None),
        ("b", None),
        ("D", None),
        ("AB", None),
        ("A man was there", None),
        ("The answer is B", None),
        ("Josiah Quill", None),
        ("A, B", None),
    ],
)
def test_only_a_letter_at_the_beginning_is_a_choice(text, letter):
    assert letter_of(text, OPTIONS) == letter


def test_a_choice_is_right_if_its_option_is_the_answer():
    question = Question("q", "Who?", answer="Josiah Quill", options=OPTIONS)
    assert [score_answer(question, text)["accuracy"] for text in ("B", "A", "the mate", "")] == [1, 0, 0, 0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Luke Farran saved the chronometer [1].", 1),
        ("Luke Farran stole the chronometer [1].", 3 / 4),
        ("It was raining. Luke Farran saved the chronometer [1]. He sold it [2].", (1 + 0) / 2),
        ("Luke Farran saved the chronometer, [1] which Theodora Quill made [2].", (1 + 1) / 2),
        ("Theodora Quill made what Luke Farran saved [1, 2].", 1),
        ("Theodora Quill made what Luke Farran saved. [1][2]", 1),
        ("Luke Farran saved the chronometer [3].", 0),
        ("Luke Farran saved the chronometer.", None),
        ("[1]", None),
    ],
)
def test_support_is_the_share_of_a_claims_words_in_what_it_cites(text, expected):
    passages = {1: "The chronometer was saved by Luke Farran.", 2: "Theodora Quill made the chronometer."}
    assert support(text, passages) == (expected if expected is None else pytest.approx(expected))


# --- question files ----------------------------------------------------------------------------------


def write(tmp_path: Path, *lines: object) -> Path:
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return file


def test_answers_are_read(tmp_path):
    file = write(
        tmp_path,
        {"id": "a", "question": "Who?", "answer": "Hester", "aliases": ["her"]},
        {"id": "o", "question": "Who?", "answer": "Hester", "options": list(OPTIONS), "gold_passages": ["a.txt"]},
        {"id": "e", "question": "Who?", "gold_passages": ["a.txt"], "aliases": [], "options": []},
    )
    questions = read_questions(file)
    assert questions == [
        Question("a", "Who?", answer="Hester", aliases=("her",)),
        Question("o", "Who?", documents=("a.txt",), answer="Hester", options=OPTIONS),
        Question("e", "Who?", documents=("a.txt",)),
    ]
    assert [question.has_evidence for question in questions] == [False, True, True]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"answer": 35}, "answer must be text"),
        ({"answer": " "}, "answer must be text"),
        ({"answer": "x", "aliases": "y"}, "aliases must be a list of texts"),
        ({"answer": "x", "options": ["x", 3]}, "options must be a list of texts"),
        ({"answer": "x", "options": {"A": "x"}}, "options must be a list of texts"),
        ({"answer": "B", "options": ["x", "y"]}, "answer 'B' is none of the options"),
        ({"answer": "x", "options": ["x"]}, "options must be 2 to 26 texts"),
        ({"gold_passages": [1], "options": ["x", "y"]}, "options requires the field answer"),
        ({"gold_passages": [1], "aliases": ["x"]}, "aliases requires the field answer"),
    ],
)
def test_an_answer_that_cannot_be_scored_is_named(tmp_path, fields, says):
    file = write(tmp_path, {"question": "Who?", "answer": "x"}, {"question": "Who?"} | fields)
    with pytest.raises(InputError, match=r"questions\.jsonl, line 2: ") as raised:
        read_questions(file)
    assert says in str(raised.value)


def test_what_cannot_be_scored_is_refused_before_anything_is_asked():
    e2g: Any = SimpleNamespace(models=SimpleNamespace(chat_model=None), strategies=STRATEGIES)
    answered, located = Question("a", "Who?", answer="x"), Question("d", "Who?", documents=("a.txt",))
    with pytest.raises(QueryError, match="--answers"):
        evaluate(e2g, [answered], corpus="c", modes=["dense"])
    with pytest.raises(QueryError, match="No question has an answer"):
        evaluate(e2g, [located], corpus="c", modes=["dense"], answers=True)
    with pytest.raises(ConfigurationError, match="E2G_CHAT_MODEL"):
        evaluate(e2g, [answered], corpus="c", modes=["dense"], answers=True)


# --- costs -------------------------------------------------------------------------------------------


def test_entities_are_counted_per_question():
    """Names that are known: 0, 1, 3 and 2."""
    parts = dict.fromkeys(PARTS, 0.0)
    counts = [(0, 2, 0), (1, 0, 0), (3, 0, 3), (2, 1, 0)]
    outcomes = [Outcome(str(n), None, "global", {}, 0.1, parts, 2, 640, None, None, *of) for n, of in enumerate(counts)]
    result = mode_result(outcomes, {}, with_entities=True)
    assert result.entities == EntityStatistics(1.5, 0.75, 0.75, without=1, with_one=1, with_more=2)
    found = evaluation_page(Evaluation("c", 4, 25, None, modes={"auto": result, "dense": mode_result(outcomes, {})}))
    cells = "".join(f"<td>{cell}</td>" for cell in ("1.50", "0.75", "0.75", "1", "1", "2"))
    assert f'<th scope="row">auto</th>{cells}' in found
    assert found.count("<h2>Entities of the questions</h2>") == 1
    assert "Entities of the questions" not in evaluation_page(Evaluation("c", 4, 25, None))
    assert "<p>4 questions, k=25" in evaluation_page(Evaluation("c", 4, 25, None))
    assert "<p>1 question, k=25" in evaluation_page(Evaluation("c", 1, 25, None))


def test_costs_are_means_over_the_answers():
    answers = [ScoredAnswer("B", False, {}, 900, 1, 1000), ScoredAnswer(None, True, {}, 1000, 3, 3500), None]
    parts = dict.fromkeys(PARTS, 0.0)
    outcomes = [
        Outcome(str(n), None, "global", {"accuracy": 0.0}, 0.1, parts, 2, 640, answer)
        for n, answer in enumerate(answers)
    ]
    result = mode_result(outcomes, {})
    assert result.answers is not None
    found = evaluation_page(Evaluation("c", 3, 25, None, modes={"dense": result}, chat_model="ollama:<m>"))
    assert "<h2>Answers of ollama:&lt;m&gt;</h2>" in found
    cells = "".join(f"<td>{cell}</td>" for cell in ("2", "1", "950", "2.00", "2250"))
    assert f'<th scope="row">dense</th>{cells}' in found
    assert mode_result(outcomes[2:], {}).answers is None
