"""What benchmarks/answers.py counts."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from e2g_neo4j.errors import InputError
from e2g_neo4j.types.results import Answer, Evidence

PATH = Path(__file__).parents[2] / "benchmarks" / "answers.py"
spec = importlib.util.spec_from_file_location("answers", PATH)
assert spec is not None
assert spec.loader is not None
answers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(answers)


def said(text: str, **more) -> Answer:
    return Answer(text, Evidence("Who?", ("corpus",), "global", "", (), (), 3, ()), **more)


def test_exact_match_forgives_articles_case_and_citations():
    line = {"question": "Who?", "answer": "The mate", "aliases": ["Josiah Quill"]}
    assert answers.scores(line, said("A mate [1]."))["exact match"] == 1
    assert answers.scores(line, said("josiah quill [1, 2]"))["exact match"] == 1
    assert answers.scores(line, said("Josiah"))["exact match"] == 0


def test_rouge_l_is_the_f1_of_the_longest_common_subsequence():
    # police killed gunman / police kill gunman: two words in order of three and three.
    assert answers.rouge_l(["police", "kill", "gunman"], ["police", "killed", "gunman"]) == pytest.approx(2 / 3)
    assert answers.rouge_l(["gunman", "police"], ["police", "killed", "gunman"]) == pytest.approx(2 / 5)
    assert answers.rouge_l([], ["police"]) == 0


def test_options_by_letter_and_probability():
    line = {"question": "Who?", "answer": "b", "options": {"A": "Luke", "B": "Josiah"}}
    assert answers.options_of(line) == ["Luke", "Josiah"]
    assert answers.scores(line, said("B", choice="B", distribution={"A": 0.2, "B": 0.8})) == {
        "accuracy": 1.0,
        "probability": 0.8,
    }
    assert answers.scores(line, said("A", choice="A")) == {"accuracy": 0.0}


def test_no_usable_reply_counts_nothing():
    assert answers.scores({"question": "Who?", "answer": "Luke"}, None) == {"exact match": 0, "ROUGE-L": 0, "found": 0}
    assert answers.scores({"question": "Who?", "answer": "A", "options": ["Luke", "Josiah"]}, None) == {"accuracy": 0}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("no JSON", "line 2"),
        ('["a list"]', "line 2: question or answer is missing"),
        ('{"question": "Who?"}', "line 2: question or answer is missing"),
        ('{"question": "Who?", "answer": "C", "options": ["Luke", "Josiah"]}', "line 2: the answer 'C'"),
        ('{"question": "Who?", "answer": "A", "options": {"A": "Luke", "C": "Josiah"}}', "line 2: the letters"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path, line, says):
    path = tmp_path / "questions.jsonl"
    path.write_text('{"question": "Who?", "answer": "Luke"}\n' + line + "\n")
    with pytest.raises(InputError, match=says):
        answers.read(path)


def test_a_file_without_questions_is_an_error(tmp_path):
    (tmp_path / "empty.jsonl").write_text("\n")
    for name in ("empty.jsonl", "no-such.jsonl"):
        with pytest.raises(InputError, match=name):
            answers.read(tmp_path / name)
