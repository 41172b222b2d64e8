"""The tables and plots of README.md and docs/ are those of the program and of the recorded figures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import docs_pages
import pytest


def test_the_pages_are_up_to_date_whatever_the_environment_is(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("E2G_CHAT_MODEL=ollama:other\n", encoding="utf-8")
    given = {"COLUMNS": "30", "E2G_TOP_K": "0", "E2G_OIDC_ISSUER": "https://localhost"}
    command = [sys.executable, str(docs_pages.__file__), "--check"]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | given, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr


def test_a_table_that_differs_is_found_and_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    before = "Before.\n\n<!-- errors -->\n\n| old |\n\n<!-- /errors -->\n\nAfter.\n"
    page.write_text(before, encoding="utf-8")
    with pytest.raises(SystemExit, match=r"page\.md.* make figures$"):
        docs_pages.main(["--check", str(page)])
    assert page.read_text(encoding="utf-8") == before
    docs_pages.main([str(page)])
    written = page.read_text(encoding="utf-8")
    assert written.startswith("Before.\n\n<!-- errors -->\n\n| exit code |")
    assert "| `NotFoundError` |" in written
    assert written.endswith("|\n\n<!-- /errors -->\n\nAfter.\n")
    docs_pages.main(["--check", str(page)])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("<!-- errors -->\n\ntext\n", "ends <!-- errors -->"),
        ("<!-- errors -->\n\ntext\n\n<!-- settings -->\n<!-- /settings -->\n", "ends <!-- errors -->"),
        ("<!-- faults -->\n<!-- /faults -->\n", "no table is called faults"),
        ("<!-- figures: musique:R@5 | nobody -->\n<!-- /figures -->\n", "does not have: 'musique:R@5'"),
    ],
)
def test_a_recipe_that_cannot_be_followed_is_named(tmp_path: Path, text: str, fault: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match=fault):
        docs_pages.main([str(page)])
    assert page.read_text(encoding="utf-8") == text
