"""The evaluation on the sample library and a real Neo4j: by the library and by the command."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from uuid import uuid4
from xml.etree import ElementTree

import pytest
import typer
from at_server import set_variables
from convert_questions import Converted, convert
from modes import GRAPH_MODES
from rich.console import Console
from tiers import few_of
from typer.testing import CliRunner

from e2g_neo4j.cli.evaluation import evaluate_command, print_tables
from e2g_neo4j.cli.setup import LIBRARY
from e2g_neo4j.errors import WORSE, InputError, QueryError
from e2g_neo4j.evaluation import Question, evaluate, read_questions
from e2g_neo4j.retrieval.strategies import STRATEGIES

pytestmark = [pytest.mark.xdist_group("eval"), pytest.mark.full, pytest.mark.by_turns(3)]
QUESTIONS = LIBRARY.parent / "questions.jsonl"
BOOK = "gannet-head-log.txt"


def test_the_sample_is_evaluated_as_by_asking_it(e2g, sample):
    questions = read_questions(QUESTIONS)
    stages = []
    found = evaluate(
        e2g, questions, corpus=sample, modes=["e2g"], k=10, progress=lambda stage, done, total: stages.append(stage)
    )
    assert (found.questions, found.k, list(found.modes)) == (50, 10, ["e2g"])
    assert stages == ["asking"] * 50
    result = found.modes["e2g"]
    assert {"R@2", "R@5", "R@10", "MRR", "evidence@5 chunks", "evidence@6k tokens"} <= set(result.overall.scores)
    assert "R@25" not in result.overall.scores
    assert {name: group.questions for name, group in result.by_type.items()} == {"multi": 26, "fact": 12, "global": 12}
    assert sum(group.questions for group in result.by_route.values()) == 50
    assert result.round_trips == 2
    assert 0 < result.median_ms <= result.p95_ms
    for outcome in result.outcomes:
        assert sum(outcome.parts.values()) == pytest.approx(outcome.seconds)
        assert outcome.parts["reading"] > 0
        assert outcome.parts["database"] > 0

    for question, outcome in list(zip(questions, result.outcomes, strict=True))[::6]:
        evidence = e2g.retrieve(question.question, corpus=sample, k=10, mode="e2g")
        names = list(dict.fromkeys(Path(passage.source).name for passage in evidence.passages))
        gold = set(question.documents)
        assert outcome.route == evidence.route
        assert outcome.scores["R@5"] == len(gold & set(names[:5])) / len(gold)
        ranks = [rank for rank, name in enumerate(names, 1) if name in gold]
        assert outcome.scores["MRR"] == (1 / ranks[0] if ranks else 0)


def test_statements_and_characters_in_a_corpus_for_each_book(e2g, sample):
    text = (LIBRARY / BOOK).read_text(encoding="utf-8")
    corpus = f"{sample}-{{book}}"
    e2g.index([LIBRARY / BOOK], corpus=corpus.replace("{book}", BOOK.removesuffix(".txt")))
    ringing = "Hester went down to the landing at half past nine"
    start = text.index(ringing)
    questions = [
        Question("c", "Who rang the bell by hand?", book=BOOK, spans=((BOOK, start, start + len(ringing)),)),
        Question("s", "What did Hester do?", book=BOOK, statements=("Hester went to the landing.",)),
        Question("n", "What flew?", book=BOOK, statements=("Purple zeppelins circumnavigated Saturn.",)),
    ]
    outcomes = evaluate(e2g, questions, corpus=corpus, modes=["e2g"], k=5).modes["e2g"].outcomes
    assert [outcome.scores["evidence@5 chunks"] for outcome in outcomes] == [1, 1, 0]


def test_passages_of_a_json_lines_file_are_known_by_their_ids(e2g, tmp_path):
    corpus = f"eval-{uuid4().hex[:8]}"
    texts = ["Ada Lovelace wrote to Charles Babbage.", "Grace Hopper met Howard Aiken.", "Rain fell on the town."]
    file = tmp_path / "passages.jsonl"
    file.write_text("\n".join(json.dumps({"id": n, "title": f"T{n}", "text": text}) for n, text in enumerate(texts)))
    e2g.index([file], corpus=corpus)
    question = Question("q", "Did Ada Lovelace know Charles Babbage?", documents=("0", "2"))
    [outcome] = evaluate(e2g, [question], corpus=corpus, modes=["e2g"], k=2).modes["e2g"].outcomes
    assert (outcome.route, outcome.scores) == ("local", {"R@2": 0.5, "MRR": 1})


def test_a_mode_without_what_it_needs_is_left_out_with_the_reason(e2g, sample, capsys):
    corpus = f"eval-{uuid4().hex[:8]}"
    e2g.index([LIBRARY / BOOK], corpus=corpus)
    questions = [Question("1", "Who rang the bell?", documents=(BOOK,))]
    found = evaluate(e2g, questions, corpus=corpus, modes=["communities", "dense"], against="dense")
    assert list(found.modes) == ["dense"]
    assert found.failed.keys() == {"communities"}
    assert f"e2g enrich --with communities --corpus {corpus}" in found.failed["communities"]
    print_tables(Console(width=200), found)
    printed = capsys.readouterr().out
    assert "Left out: communities." in printed
    assert f"{corpus}: 1 question, k=25" in printed
    with pytest.raises(QueryError, match="e2g enrich"):
        evaluate(e2g, questions, corpus=corpus, modes=["communities"])
    with pytest.raises(QueryError, match="e2g enrich"):
        evaluate(e2g, questions, corpus=corpus, modes=["dense"], against="communities")


def test_every_mode_is_compared_to_the_one_named(e2g, sample):
    questions = read_questions(QUESTIONS)[:4]
    modes = [mode for mode in STRATEGIES if mode in {"auto", "e2g", *few_of([*STRATEGIES], 6)}]
    found = evaluate(e2g, questions, corpus=sample, modes=modes, against="e2g")
    assert list(found.modes) == modes
    for mode, result in found.modes.items():
        assert bool(result.overall.differences) == (mode != "e2g")
        assert len(result.outcomes) == 4
        assert bool(result.entities) == (mode in GRAPH_MODES)
    asked = [e2g.retrieve(question.question, corpus=sample) for question in questions]
    counted = found.modes["auto"].entities
    assert counted
    assert counted.entities == sum(len(one.entities) for one in asked) / 4 > 1
    assert counted.pairs == sum(len(one.pairs) for one in asked) / 4 > 0
    assert counted.with_more == sum(len(one.entities) > 1 for one in asked)
    json.dumps(asdict(found))


@pytest.fixture
def run(settings, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    set_variables(monkeypatch, settings)
    app = typer.Typer()
    app.command("eval")(evaluate_command)
    app.callback()(lambda: None)
    return lambda *arguments: CliRunner().invoke(app, arguments)


def test_the_command_prints_tables_and_writes_files(run, sample):
    done = run(
        "eval", str(QUESTIONS), "-c", sample, "--modes", "e2g", "-k", "5", "--limit", "8", "--json", "all.json",
        "--html", "all.html",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    saved = json.loads(Path("all.json").read_text(encoding="utf-8"))
    assert (saved["questions"], saved["k"], list(saved["modes"])) == (8, 5, ["e2g"])
    assert len(saved["modes"]["e2g"]["outcomes"]) == 8
    page = ElementTree.parse("all.html").getroot()
    shown = "".join(page.itertext())
    assert f"Retrieval from {sample}" in shown
    mean = saved["modes"]["e2g"]["overall"]["scores"]["R@5"]["mean"]
    assert f"{mean:.3f}" in shown
    again = ("eval", str(QUESTIONS), "-c", sample, "--modes", "e2g", "-k", "5", "--limit", "8", "--before", "all.json")
    done = run(*again)
    assert done.exit_code == 0, done.output
    assert "Changes since the saved results" in done.output
    better = saved["modes"]["e2g"]["outcomes"][0]
    better["scores"]["R@5"] += 1
    Path("all.json").write_text(json.dumps(saved), encoding="utf-8")
    done = run(*again)
    assert done.exit_code == WORSE
    assert f"e2g R@5 lost: {better['question']} -1.000" in done.output


def test_a_question_of_a_conversation_is_asked_with_its_history(run, sample):
    talk = {"question": "When did she die?", "history": [{"question": "Who was Theodora Quill?", "answer": "Ann."}]}
    talk |= {"written_out": "When did Theodora Quill and Luke Farran die?", "gold_passages": ["theodora-quill.md"]}
    Path("talk.jsonl").write_text(json.dumps(talk), encoding="utf-8")
    entities = {}
    for kind in ("full", "questions", "none", "written-out"):
        done = run("eval", "talk.jsonl", "-c", sample, "--modes", "auto", "--history", kind, "--json", f"{kind}.json")
        assert done.exit_code == 0, done.output
        [outcome] = json.loads(Path(f"{kind}.json").read_text(encoding="utf-8"))["modes"]["auto"]["outcomes"]
        entities[kind] = outcome["entities"] + outcome["unknown_entities"]
    assert entities == {"full": 2, "questions": 1, "none": 0, "written-out": 2}


def test_a_folder_that_is_missing_is_said_before_anything_is_asked(run, sample):
    done = run("eval", str(QUESTIONS), "-c", sample, "--json", "no/such/folder.json")
    assert "does not exist" in str(done.exception)


def test_a_file_that_cannot_be_written_is_said(run, sample):
    Path("folder").mkdir()
    # no corpus is read: this one does not exist, which would be another error
    done = run("eval", str(QUESTIONS), "-c", "no-such-corpus", "--html", "folder")
    assert str(done.exception) == "folder is a folder: pass a file with --html."
    done = run("eval", str(QUESTIONS), "-c", "no-such-corpus", "--json", "x" * 300)
    assert "(File name too long): pass another file with --json." in str(done.exception)
    done = run("eval", str(QUESTIONS), "-c", sample, "--modes", "dense", "--limit", "1", "--json", "/dev/full")
    assert isinstance(done.exception, InputError)
    assert str(done.exception) == "Cannot write /dev/full (No space left on device): pass another file with --json."
    assert "Means with 95 %" in done.output


def test_converted_questions_are_asked_of_their_converted_books(run, e2g, sample):
    """In the layout of NovelQA, with a question of two quotes, one of which is not in the book."""
    ringing = "Hester went down to the landing at half past nine"
    for folder in ("Books", "Data"):
        Path("novelqa", folder).mkdir(parents=True)
    Path("novelqa", "Books", "B1.txt").write_text((LIBRARY / BOOK).read_text(encoding="utf-8"), encoding="utf-8")
    question = {"Question": "When did Hester go down?", "Complexity": "sh", "Evidences": [ringing, "... she rang"]}
    Path("novelqa", "Data", "B1.json").write_text(json.dumps({"Q1": question}), encoding="utf-8")
    assert convert([Path("novelqa")], Path("out")) == Converted(questions=1, books=1, unquoted=1)

    e2g.index(["out/books/B1.txt"], corpus=f"{sample}-B1")
    done = run(
        "eval",
        "out/questions.jsonl",
        "-c",
        f"{sample}-{{book}}",
        "--modes",
        "dense",
        "--json",
        "all.json",
        "--overwrite",
    )
    assert done.exit_code == 0, done.output
    [outcome] = json.loads(Path("all.json").read_text(encoding="utf-8"))["modes"]["dense"]["outcomes"]
    assert (outcome["question"], outcome["type"], outcome["answer"]) == ("B1-Q1", "sh", None)
    assert outcome["scores"]["evidence@12k tokens"] == 1
