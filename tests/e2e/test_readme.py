"""The README's commands run as they stand there, on a paper of the sample library; its links lead somewhere."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from at_server import set_variables, settings_of
from libraries import remove

from e2g_neo4j import E2G
from e2g_neo4j.cli.setup import CHUNKS, CORPUS, LIBRARY

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


COMMANDS = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("e2g ")]


@pytest.fixture(scope="module")
def place(neo4j_connection, tmp_path_factory) -> Iterator[None]:
    """A folder with a book, a corpus of it, and questions."""
    folder = tmp_path_factory.mktemp("readme")
    shutil.copy(LIBRARY / "theodora-quill.md", folder / "BOOK.txt")
    gold = {"id": "1", "question": "Who was Theodora Quill?", "gold_passages": ["BOOK.txt"]}
    (folder / "QUESTIONS.jsonl").write_text(json.dumps(gold) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        set_variables(patch, neo4j_connection)
        yield


@pytest.mark.full
def test_the_first_command_runs_in_a_process_of_its_own(place):
    done = subprocess.run(shlex.split(COMMANDS[0]), capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_e2g_commands(place, output):
    assert len(COMMANDS) >= 2
    for command in COMMANDS:
        assert output(*shlex.split(command)[1:])


@pytest.mark.parametrize("example", blocks("python"), ids=range(len(blocks("python"))))
def test_python_examples(place, capsys, example):
    exec(compile(example, "README.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.strip()


@pytest.mark.full
def test_the_output_shown_is_what_is_printed(place, neo4j_connection, driver, output):
    """`…` leaves something out; scores depend on the other corpora of the database."""
    remove(driver, [CORPUS])
    settings = settings_of(neo4j_connection)
    with E2G(settings=settings.model_copy(update=CHUNKS)) as e2g:
        e2g.index([LIBRARY], corpus=CORPUS)
    [shown] = blocks("console")
    command, *lines = shown.splitlines()
    printed = output(*shlex.split(command.removeprefix("$ "))[1:])
    remove(driver, [CORPUS])
    expected = re.escape("\n".join(lines)).replace("…", ".*")
    assert re.fullmatch(re.sub(r"score\\ [\d\\.]+", r"score\\ [0-9.]+", expected), printed.strip())


def test_its_figures_are_those_that_were_measured():
    """Those in sentences; `make figures` writes the others."""
    figures = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))["figures"]
    measured = {f"{one['value']:.3f}".removeprefix("0") for one in figures if one["set"] == "musique"}
    shown = re.findall(r"(?<![\d.])\.\d{3}\b", re.sub(r"<!-- systems.*?/systems -->", "", README, flags=re.DOTALL))
    assert len(shown) == 1
    assert set(shown) <= measured


def test_every_make_target_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make ([\w-]+)$|`make ([\w-]+)`", README + CONTRIBUTING, re.MULTILINE)
    assert targets
    for target in map("".join, targets):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"])
def test_every_link_into_the_repository_leads_somewhere(page):
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", (ROOT / page).read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / link).exists()] == []
