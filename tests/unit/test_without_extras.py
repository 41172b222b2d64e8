"""Without the extra `serve`, the command line works, and the commands that need it say so."""

from __future__ import annotations

import subprocess
import sys

WITHOUT = """
import sys
for name in ("mcp", "starlette", "fastapi", "uvicorn"):
    sys.modules[name] = None
from e2g_neo4j.cli import main
main()
"""


def e2g(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", WITHOUT, *arguments], capture_output=True, text=True, timeout=120)


def test_the_command_line_needs_no_extra() -> None:
    done = e2g("--help")
    assert done.returncode == 0, done.stderr
    assert "mcp" in done.stdout


def test_a_command_names_the_extra_that_it_needs() -> None:
    done = e2g("mcp")
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.startswith("Error: `e2g mcp` needs packages that are not installed (mcp")
    assert "pip install 'e2g-neo4j[serve]'" in done.stderr
    assert done.stderr.count("\n") == 1
