"""Conversion of NovelQA and InfiniteBench, from tiny files in their formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from convert_questions import Converted, convert

from e2g_neo4j.errors import InputError
from e2g_neo4j.evaluation import Question, read_questions

BOOK = "Hester went down to the landing.\nShe rang the bell by hand, and nobody came."
OTHER = "Luke Farran took the brig out of Port Hesk."


def novelqa(folder: Path, questions: object, name: str = "B07", text: str = BOOK) -> Path:
    for kind in ("Books", "Data"):
        (folder / kind / "PublicDomain").mkdir(parents=True, exist_ok=True)
    (folder / "Books" / "PublicDomain" / f"{name}.txt").write_text(text, encoding="utf-8")
    (folder / "Data" / "PublicDomain" / f"{name}.json").write_text(json.dumps(questions), encoding="utf-8")
    return folder


def infinite(folder: Path, name: str, *lines: object) -> Path:
    file = folder / f"{name}.jsonl"
    file.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines), encoding="utf-8")
    return file


def line(**fields: object) -> dict[str, object]:
    return {"id": 0, "context": BOOK, "input": "Who rang?", "answer": ["Hester"], "options": []} | fields


def question(**fields: object) -> dict[str, object]:
    return {"Question": "Who rang?", "Answer": "Hester"} | fields


def test_novelqa_is_converted(tmp_path):
    options = {"B": "Hester", "A": "Luke", "C": "", "D": "Nobody"}
    source = novelqa(
        tmp_path / "novelqa",
        {
            "Q1": {
                "Aspect": "character", "Complexity": "mh", "Question": "Who rang?", "Options": options, "Gold": "B",
                "Answer": "The woman.", "Evidences": ["landing.  She rang", "She rang... the bell", "", None],
            },
            "Q2": {"Question": "Who came?", "Answer": "Nobody", "Gold": "D"},
            "Q3": {"Question": "Where?", "Evidences": ["the landing"]},
            "Q4": {"Question": "Why?", "Options": options},
        },
    )  # fmt: skip
    (source / "bookmeta.json").write_text("{}", encoding="utf-8")
    found = convert([source], tmp_path / "out")
    assert found == Converted(questions=3, books=1, unusable=1, unquoted=1, without_text=1)
    assert (tmp_path / "out" / "books" / "B07.txt").read_text(encoding="utf-8") == BOOK
    assert read_questions(tmp_path / "out" / "questions.jsonl") == [
        Question(
            "B07-Q1", "Who rang?", "mh", "B07.txt", quotes=(("B07.txt", "landing.  She rang"),),
            answer="Hester", options=("Luke", "Hester", "Nobody"),
        ),
        Question("B07-Q2", "Who came?", None, "B07.txt", answer="Nobody"),
        Question("B07-Q3", "Where?", None, "B07.txt", quotes=(("B07.txt", "the landing"),)),
    ]  # fmt: skip


def test_the_earlier_version_of_novelqa_is_a_list(tmp_path):
    options = {"A": "Hester", "B": "Luke"}
    fields = {"QID": "Q5", "Complex": "sh", "Question": "Who rang?", "Options": options}
    source = novelqa(tmp_path / "novelqa", [fields | {"Answer": "A"}, fields | {"QID": "Q6", "Answer": "Luke"}])
    convert([source], tmp_path / "out")
    read = read_questions(tmp_path / "out" / "questions.jsonl")
    assert [(one.id, one.type, one.answer) for one in read] == [
        ("B07-Q5", "sh", "Hester"),
        ("B07-Q6", "sh", "Luke"),
    ]


def test_books_of_infinitebench_are_written_once(tmp_path):
    options = ["Luke", "Hester", "Nobody", "Josiah"]
    choice = infinite(
        tmp_path,
        "longbook_choice_eng",
        line(options=options, answer=["Hester"]),
        "",
        line(id=1, options=options, answer="Nobody", context=OTHER),
        line(id=2, options=options, answer=["D", "Josiah"]),
    )
    asked = infinite(tmp_path, "longbook_qa_eng", line(answer=["Hester", "the woman"]), line(id=1, answer="Hester"))
    found = convert([choice, asked], tmp_path / "out")
    assert found == Converted(questions=5, books=2)
    read = read_questions(tmp_path / "out" / "questions.jsonl")
    books = {book.name: book.read_text(encoding="utf-8") for book in (tmp_path / "out" / "books").iterdir()}
    assert [(one.id, one.type, one.answer, books[one.book or ""]) for one in read] == [
        ("longbook_choice_eng-0", "longbook_choice_eng", "Hester", BOOK),
        ("longbook_choice_eng-1", "longbook_choice_eng", "Nobody", OTHER),
        ("longbook_choice_eng-2", "longbook_choice_eng", "Josiah", BOOK),
        ("longbook_qa_eng-0", "longbook_qa_eng", "Hester", BOOK),
        ("longbook_qa_eng-1", "longbook_qa_eng", "Hester", BOOK),
    ]
    assert [one.options for one in read] == [tuple(options)] * 3 + [()] * 2
    assert read[3].aliases == ("the woman",)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("{", "Expecting"),
        ("[]", "not a JSON object"),
        (line(context=None), "context"),
        (line(input=" "), "input"),
        (line(answer=[]), "answer"),
        (line(answer=None), "answer"),
        (line(options="ab"), "options is not a list"),
        (line(options=["Hester"]), "at least two"),
        (line(options=["Luke", "Josiah"]), "none of the options"),
        ('{"context": "\\ud800", "input": "Who?", "answer": "x"}', "surrogates"),
    ],
)
def test_a_bad_line_of_infinitebench_is_named_and_nothing_is_left(tmp_path, bad, says):
    source = infinite(tmp_path, "longbook_qa_eng", line(), bad)
    with pytest.raises(InputError, match=r"longbook_qa_eng\.jsonl, line 2: ") as raised:
        convert([source], tmp_path / "out")
    assert says in str(raised.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("Who?", "question Q2: the field Question"),
        (question(Question=3), "question Q2: the field Question"),
        (question(Options=["Hester"]), "question Q2: Options is not an object"),
        (question(Options={"A": "Luke", "B": "Josiah"}, Gold="C"), "question Q2: the answer"),
        (question(Evidences="She rang"), "question Q2: Evidences is not a list"),
    ],
)
def test_a_bad_question_of_novelqa_is_named_and_nothing_is_left(tmp_path, bad, says):
    source = novelqa(tmp_path / "novelqa", {"Q1": question(), "Q2": bad})
    with pytest.raises(InputError, match=r"B07\.json, ") as raised:
        convert([source], tmp_path / "out")
    assert says in str(raised.value)
    assert not (tmp_path / "out").exists()


def test_files_that_are_no_question_set_are_errors(tmp_path):
    source = novelqa(tmp_path / "novelqa", [question()])
    with pytest.raises(InputError, match=r"B07\.json is neither an object"):
        convert([source], tmp_path / "out")
    (source / "Data" / "PublicDomain" / "B07.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"Cannot read .*B07\.json"):
        convert([source], tmp_path / "out")
    with pytest.raises(InputError, match="no JSON file and text of the same name"):
        convert([source / "Data"], tmp_path / "out")
    with pytest.raises(InputError, match=r"absent\.jsonl"):
        convert([tmp_path / "absent.jsonl"], tmp_path / "out")
    same = infinite(tmp_path, "longbook_qa_eng", line(), line())
    with pytest.raises(InputError, match=rf"question id 'longbook_qa_eng-0' occurs twice, in {same}\. Pass"):
        convert([same], tmp_path / "out")
    open_version = novelqa(tmp_path / "open", {"Q1": {"Question": "Who rang?"}})
    with pytest.raises(InputError, match="public files of NovelQA"):
        convert([open_version], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_id_of_two_questions_is_said_with_their_files(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    files = [infinite(folder, "longbook_qa_eng", line()) for folder in (one, other)]
    book = novelqa(tmp_path / "novelqa", {"Q1": question()})
    for sources, says in (
        (files, f"id 'longbook_qa_eng-0' occurs twice, in {files[0]} and {files[1]}. Pass each file once"),
        ([files[0]] * 2, f"id 'longbook_qa_eng-0' occurs twice, in {files[0]}. Pass each file once"),
        (
            [book] * 2,
            f"id 'B07-Q1' occurs twice, in {book / 'Data' / 'PublicDomain' / 'B07.json'}. Pass each file once",
        ),
    ):
        with pytest.raises(InputError) as raised:
            convert(sources, tmp_path / "out")
        assert says in str(raised.value)
        assert "questions.jsonl" not in str(raised.value)
        assert not (tmp_path / "out").exists()


def test_a_folder_that_exists_is_left_alone(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="Cannot make the folder"):
        convert([infinite(tmp_path, "longbook_qa_eng", "{")], tmp_path / "out")
    assert (tmp_path / "out" / "mine.txt").read_text() == "mine"


def test_eval_points_to_the_conversion(tmp_path):
    with pytest.raises(InputError, match=r"line 1: the field question .* benchmarks/convert_questions.py"):
        read_questions(infinite(tmp_path, "longbook_qa_eng", line()))
