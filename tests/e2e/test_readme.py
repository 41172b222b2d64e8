"""The README's commands run as they stand there, on a paper of the sample library."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from e2g_neo4j.cli.demo import LIBRARY

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.fixture(scope="module")
def place(neo4j_connection, tmp_path_factory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("readme")
    shutil.copy(LIBRARY / "theodora-quill.md", folder / "BOOK.txt")
    gold = {"id": "1", "question": "Who was Theodora Quill?", "gold_passages": ["BOOK.txt"]}
    (folder / "QUESTIONS.jsonl").write_text(json.dumps(gold) + "\n")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "NEO4J_URI": neo4j_connection.uri,
        "NEO4J_USERNAME": neo4j_connection.username,
        "NEO4J_PASSWORD": neo4j_connection.password.get_secret_value(),
    }
    return {"cwd": folder, "env": environment, "capture_output": True, "text": True, "timeout": 280}


def test_e2g_commands(place):
    commands = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("e2g ")]
    assert len(commands) >= 2
    for command in commands:
        done = subprocess.run(shlex.split(command), **place)
        assert done.returncode == 0, done.stderr
        assert done.stdout


@pytest.mark.parametrize("example", blocks("python"), ids=range(len(blocks("python"))))
def test_python_examples(place, example):
    done = subprocess.run([sys.executable, "-c", example], **place)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_every_make_target_and_command_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make ([\w-]+)$", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    listed = {command.split()[0] for command in re.findall(r"`e2g ([\w ]+)", README)}
    done = subprocess.run(
        [sys.executable, "-c", "from e2g_neo4j.cli import main; main()", "--help"], capture_output=True, text=True
    )
    offered = set(re.findall(r"│ ([a-z]+) ", done.stdout)) | set(re.findall(r"^  ([a-z]+) ", done.stdout, re.MULTILINE))
    assert listed - {"index"} <= offered | {"db", "migrate"}
    assert offered <= listed


def test_every_setting_is_documented():
    from e2g_neo4j import Settings

    for name in Settings.model_fields:
        variable = name.upper() if name.startswith("neo4j_") else f"E2G_{name.upper()}"
        assert f"`{variable}`" in README, variable
