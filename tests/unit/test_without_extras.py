"""What needs a package that is not installed says so, and the rest works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from e2g_neo4j.errors import LocalServerError, ModelError
from e2g_neo4j.managed_neo4j import LocalServer, server
from e2g_neo4j.models.embedding.load import load_embedder
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime import lazy_imports
from e2g_neo4j.runtime.requests import Rerank
from e2g_neo4j.settings import Settings

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


def test_a_model_that_needs_sentence_transformers_says_so_where_they_are_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lazy_imports, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"embedding model some/model needs sentence-transformers.*ollama:NAME"):
        load_embedder("some/model")
    models = Models(Settings(reranker="some/reranker"))
    with pytest.raises(ModelError, match="some/reranker needs"):
        models.scores(Rerank("a question", ("a text",))).result()


def test_a_managed_server_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(server, "find_spec", lambda name: None)
    with pytest.raises(LocalServerError, match="Set NEO4J_URI"):
        LocalServer(Settings(home=tmp_path)).start()
