"""What a document, a title or a name holds has no power over the terminal that it is shown in."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from rich.console import Console

from e2g_neo4j import cli
from e2g_neo4j.cli import show_evidence
from e2g_neo4j.cli.terminal import escape, neutral, table
from e2g_neo4j.errors import E2GError
from e2g_neo4j.types.results import Answer, Citation, Evidence, Excerpt, Fact, Pair, Passage, Reference

NASTY = "a\x1b[2Jb\x1b]0;t\x07c\x9b31md\u202ee\u2066f\x00g\x7f[bold]h"
POWER = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def evidence() -> Evidence:
    pair = Pair(NASTY, "b", 1)
    passage = Passage(
        NASTY, NASTY, NASTY, 0, 9, 1.0, nodes=(NASTY,), path=(NASTY,), pairs=(pair,), page=NASTY, heading=NASTY
    )
    return Evidence(NASTY, (NASTY,), "local", NASTY, (NASTY, "b"), (pair,), 1, (passage,), (NASTY,))


@pytest.mark.parametrize(
    "draw",
    [
        lambda out: show_evidence.evidence(out, evidence()),
        lambda out: show_evidence.evidence(out, evidence(), full=True),
        lambda out: show_evidence.evidence(out, evidence(), explained=True),
        lambda out: show_evidence.answer(out, Answer(NASTY, evidence())),
        lambda out: show_evidence.answer(out, Answer(None, evidence())),
        lambda out: table(out, [NASTY], [[NASTY]], ""),
    ],
)
def test_nothing_that_is_shown_holds_a_control_character(draw) -> None:
    file = io.StringIO()
    draw(Console(file=file, width=200, soft_wrap=True))
    assert POWER.search(file.getvalue().replace("\n", "")) is None
    assert "\\u001b" in file.getvalue()
    assert "[bold]h" in file.getvalue()


def test_the_characters_of_languages_stay() -> None:
    kept = "Zoë\tקפה\nनि 👩\u200d👩\u200d👧 Ⅳ \u00a0 \u200b"
    assert neutral(kept) == kept
    assert neutral("a\r\nb\x0cc\rd") == "a\nb\nc\nd"


def test_markup_is_no_markup() -> None:
    assert escape("[red]x") == "\\[red]x"


def test_cypher_that_is_shown_reads_the_same_name() -> None:
    file = io.StringIO()
    show_evidence.evidence(Console(file=file, width=10_000, soft_wrap=True), evidence(), explained=True)
    found = re.search(r":params \{corpora: \[(\"(?:[^\"\\]|\\.)*\")", file.getvalue())
    assert found
    assert json.loads(found[1]) == NASTY


def test_a_file_gets_each_row_whole_and_a_terminal_folds_it() -> None:
    def shown(terminal: bool) -> list[str]:
        file = io.StringIO()
        console = Console(file=file, width=40, force_terminal=terminal, soft_wrap=True)
        table(console, ["name", "why"], [["Harker", "the only full name with the surname harker"]], "")
        return file.getvalue().splitlines()

    assert shown(False)[1].split("  ") == ["Harker", "the only full name with the surname harker"]
    assert len(shown(True)) == 3
    assert "Harker" in shown(True)[1]


def test_a_terminal_that_is_too_narrow_gets_a_list_for_each_row() -> None:
    file = io.StringIO()
    console = Console(file=file, width=40, force_terminal=True, color_system=None, soft_wrap=True)
    columns = ["title", "state", "chunks", "tokens", "source"]
    table(console, columns, [["The philosophical society", "ready", 5, 1200, "/a/long/path/to/a/file.txt"]], "")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue()).splitlines()
    assert plain[:3] == ["title The philosophical society", "state ready", "chunks 5"]
    assert plain[4] == "source /a/long/path/to/a/file.txt"


def test_an_explanation_shows_what_the_passages_say() -> None:
    passage = Passage("Ann sailed to Lantry.", "d", "s", 0, 21, 1.0, nodes=("0f3a",), path=("77aa",))
    found = Evidence("q", ("c",), "local", "why", ("ann",), (), 1, (passage,), ())
    file = io.StringIO()
    show_evidence.evidence(Console(file=file, width=200, soft_wrap=True), found, explained=True)
    shown = file.getvalue().partition("In Neo4j Browser")[0]
    assert "Ann sailed to Lantry." in shown
    assert "77aa" not in shown


def test_evidence_is_short_where_python_shows_it() -> None:
    assert repr(evidence()).startswith("<Evidence for ")
    assert len(repr(evidence())) < 300
    passage = Passage("Long ago.\nIn 1861 " + "Luke " * 900, "Log of the Mary", "log.txt", 120, 4480, 1.0)
    assert repr(passage).startswith("Passage('Log of the Mary', 120-4480, 'Long ago. In 1861 Luke")
    assert len(repr(passage)) < 150
    shown = replace(passage, excerpt=Excerpt("In 1861 Luke", 130, 142))
    assert repr(shown) == "Passage('Log of the Mary', 120-4480, 'In 1861 Luke')"


def test_a_notebook_shows_evidence_and_answers_without_their_markup() -> None:
    script = "<script>alert('&')</script>"
    excerpt, referred = Excerpt(script, 130, 142), Reference(script, "n")
    passage = Passage(
        "Text.", script, "s", 120, 480, 1.0, page=script, heading=f"{script}!", excerpt=excerpt, referred=referred
    )
    fact = Fact(script, "4:1", "KNOWS", "Bob", "4:2")
    found = Evidence(script, ("c",), "local", script, (), (), 1, (passage,), (script,), facts=(fact,))
    answer = Answer(script, found, citations=(Citation(1, passage), Citation(2, Passage("", "", "", 0, 0, 0), fact)))
    for shown, texts in ((found, 9), (answer, 8)):
        html = shown._repr_html_()
        tree = ElementTree.fromstring(f"<div>{html}</div>")
        assert "<script" not in html
        assert "".join(tree.itertext()).count(script) == texts
        assert [one.tag for one in tree.findall("ol/li")] == ["li", "li"]
        assert tree.findtext("ol/li/p/cite") == f"{script}, page {script}, {script}!"
        assert tree.findtext("ol/li/blockquote") == script
        assert "characters 130–142" in html
    assert Answer(None, found)._repr_html_() == found._repr_html_()


@pytest.mark.parametrize("arguments", [["--help"], ["modes"], ["modes", "--json"], ["cypher"]])
def test_a_terminal_that_knows_ascii_only_gets_everything(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "e2g_neo4j.cli", *arguments],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "LANG": "C"},
        capture_output=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.decode("ascii")) > 1000
    if "--json" in arguments:
        assert json.loads(done.stdout)["modes"]


def test_json_is_left_as_it_is() -> None:
    assert evidence().to_dict()["passages"][0]["text"] == NASTY


def test_an_error_is_one_line_without_control_characters(monkeypatch, capsys) -> None:
    def fail(**_: object) -> None:
        raise E2GError(f"The corpus {NASTY} is gone: look.")

    monkeypatch.setattr("e2g_neo4j.cli.app.app", fail)
    monkeypatch.setattr("sys.argv", ["e2g"])
    with pytest.raises(SystemExit):
        cli.main()
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert POWER.search(shown.rstrip("\n")) is None


@pytest.mark.parametrize(("shown", "number"), [(show_evidence.SCREENFUL, 5), (None, 8)])
def test_a_screenful_is_shown_and_the_rest_is_counted(shown: int | None, number: int) -> None:
    passages = tuple(
        Passage(f"Number {n}.", "d", "s", n, n + 9, 1.0, corpus="my corpus", document_id="0" * 16) for n in range(8)
    )
    file = io.StringIO()
    found = Evidence("q", ("my corpus",), "global", "why", (), (), 1, passages, ())
    show_evidence.evidence(Console(file=file, width=200, soft_wrap=True), found, shown=shown)
    lines = file.getvalue().splitlines()
    assert sum(line.startswith("Number ") for line in lines) == number
    assert any("And 3 more passages" in line for line in lines) == (number == 5)
    assert re.fullmatch(r"Open \[1\]: e2g read [0-9a-f]{16} --at 0 -c 'my corpus'", lines[-1])
