"""A command that waits says for what: real processes, and a server that accepts connections and never answers."""

from __future__ import annotations

import os
import pty
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

COMMANDS = (
    ["query", "Who is Ann?"],
    ["ask", "Who is Ann?"],
    ["corpora"],
    ["documents"],
    ["entities"],
    ["doctor"],
    ["index", __file__],
    ["delete", "x", "--corpus", "x", "--yes"],
)


@pytest.fixture
def silent() -> Iterator[dict[str, str]]:
    """The environment of commands whose server accepts connections, and nothing more."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as server:
        address = f"bolt://127.0.0.1:{server.getsockname()[1]}"
        yield {**os.environ, "NEO4J_URI": address, "NEO4J_PASSWORD": "x", "PYTHONUNBUFFERED": "1"}


def start(arguments: list[str], environment: dict[str, str], folder: Path, errors: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "e2g_neo4j.cli", *arguments]
    return subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=errors)


def test_every_command_says_that_it_waits_and_gives_up_with_the_next_step(
    silent: dict[str, str], tmp_path: Path
) -> None:
    def run(command: list[str]) -> tuple[bool, list[str], bytes, int]:
        process = start(command, silent, tmp_path, subprocess.PIPE)
        assert process.stderr is not None
        assert process.stdout is not None
        lines = [process.stderr.readline().decode()]
        early = process.poll() is None
        lines += process.stderr.read().decode().splitlines()
        return early, lines, process.stdout.read(), process.wait(timeout=100)

    with ThreadPoolExecutor(len(COMMANDS)) as pool:
        for command, (early, lines, printed, code) in zip(COMMANDS, pool.map(run, COMMANDS), strict=True):
            assert early, f"{command} said nothing before it ended: {lines}"
            assert any("Waiting for Neo4j" in line for line in lines[:-1]), (command, lines)
            assert lines[-1].startswith("Error: Cannot connect to Neo4j"), (command, lines)
            assert "NEO4J_URI" in lines[-1]
            assert (code, printed) == (7, b"")


def test_in_a_terminal_one_line_changes_and_is_gone_before_the_result(silent: dict[str, str], tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = start(["corpora"], silent, tmp_path, theirs)
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 1024):
            shown += block
    except OSError:  # the terminal ends with the process
        pass
    finally:
        os.close(ours)
        process.communicate(timeout=100)
    waits, _, result = shown.decode().rpartition("\r")
    assert result.startswith("Error: Cannot connect") or "Error: Cannot connect" in shown.decode()
    seconds = [part for part in waits.split("\r") if part.startswith("Waiting for Neo4j")]
    assert len(seconds) > 1, shown
    assert len(set(seconds)) > 1, "the line counts the seconds"
