"""Where the service may listen: elsewhere than on this machine only with API keys or an issuer of tokens."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr

from e2g_neo4j import Settings
from e2g_neo4j.cli.service import mcp
from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.service import server
from e2g_neo4j.settings import _warn_of_refused, load_settings

ISSUER = {"oidc_issuer": "https://login.example.org", "oidc_audience": "e2g"}
PUBLIC = {"public_url": "https://e2g.example.org"}


class Database:
    """A client whose database has keys, or none."""

    def __init__(self, has_key: bool) -> None:
        self.runner = SimpleNamespace(run=lambda _: has_key)

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("host", "settings", "has_key", "listens"),
    [
        ("127.0.0.1", {}, False, True),
        ("::1", {}, False, True),
        ("localhost", {}, False, True),
        ("0.0.0.0", {}, False, False),
        ("::", {}, False, False),
        ("192.0.2.7", {}, False, False),
        ("e2g.example.org", {}, False, False),
        ("127.0.0.1", PUBLIC, False, False),
        ("0.0.0.0", {}, True, True),
        ("127.0.0.1", PUBLIC, True, True),
        ("0.0.0.0", ISSUER, False, True),
        ("127.0.0.1", PUBLIC | ISSUER, False, True),
    ],
)
def test_others_are_served_only_where_there_are_keys_or_an_issuer(
    monkeypatch: pytest.MonkeyPatch, host: str, settings: dict[str, Any], has_key: bool, listens: bool
) -> None:
    listening: list[str] = []

    async def serve(settings: Settings, host: str, port: int, **_: bool) -> None:
        listening.append(host)

    monkeypatch.setattr(server, "E2G", lambda settings: Database(has_key))
    monkeypatch.setattr(server, "_serve", serve)
    monkeypatch.setattr(server, "_check_port", lambda host, port: None)
    monkeypatch.setattr(server, "log_json", lambda: None)
    address = re.escape(settings.get("public_url", host))
    refused = pytest.raises(ConfigurationError, match=f"{address}.*e2g keys create")
    with nullcontext() if listens else refused:
        server.serve(Settings(**settings), host=host, port=0, worker=False)
    assert listening == ([host] if listens else [])


DECISIVE = {
    "E2G_HOME": "h",
    "E2G_CLUSTER": "tcp://127.0.0.1:9",
    "E2G_PROMPTS": "p",
    "E2G_TEMPLATES": "t",
    "E2G_TEXT_TO_CYPHER": "true",
    "E2G_FETCH_PAGES": "true",
    "E2G_SPACY_MODEL": "s",
    "E2G_EMBEDDING_URL": "http://127.0.0.1:1",
}


@pytest.mark.parametrize("write", [str, str.lower, lambda name: f"export {name}"])
def test_the_file_of_a_folder_does_not_decide_what_runs(
    write: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The folder may be somebody else's. Other settings count, and so does a file that the user names."""
    for name in (*DECISIVE, "E2G_TOP_K"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    usual = load_settings()
    assert usual == Settings()
    _warn_of_refused.cache_clear()
    (tmp_path / ".env").write_text("".join(f"{write(name)}={value}\n" for name, value in DECISIVE.items()))
    assert load_settings() == Settings() == usual
    assert {message.split()[0] for message in caplog.messages} == DECISIVE.keys()
    assert all("set it in the environment" in message for message in caplog.messages)
    with (tmp_path / ".env").open("a") as file:
        file.write("E2G_TOP_K=7\n")
    assert load_settings() == usual.model_copy(update={"top_k": 7})
    named = load_settings(Path(".env"))
    assert named.home == Path("h")
    for name, value in DECISIVE.items():
        monkeypatch.setenv(name, value)
    assert load_settings() == named


def test_a_server_that_a_folder_names_gets_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SECRET", "s3cret")
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("NEO4J_URI=bolt://evil\nNEO4J_USERNAME=${SECRET}\nNEO4J_PASSWORD=pa$$\n")
    settings = load_settings()
    assert (settings.neo4j_username, settings.neo4j_password) == ("${SECRET}", SecretStr("pa$$"))
    (tmp_path / ".env").write_text("NEO4J_URI=bolt://evil\n")
    assert load_settings().neo4j_uri == "bolt://evil"
    monkeypatch.setenv("NEO4J_PASSWORD", "s3cret")
    with pytest.raises(ConfigurationError, match="its server would get the password") as told:
        load_settings()
    assert "s3cret" not in str(told.value)
    assert Settings(neo4j_uri="bolt://127.0.0.1").neo4j_uri == "bolt://127.0.0.1"
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1")
    assert load_settings().neo4j_uri == "bolt://127.0.0.1"


@pytest.mark.parametrize("asked", [False, True])
def test_mcp_reads_a_file_of_settings_only_if_it_is_named(
    asked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The working directory may be somebody else's, and its `.env` would say where passages are sent."""
    (tmp_path / ".env").write_text("E2G_OLLAMA_HOST=http://elsewhere.example\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("E2G_OLLAMA_HOST", raising=False)
    served: list[str | None] = []

    async def serve(client: Any, *, write: bool) -> None:
        served.append(client.settings.ollama_host)

    monkeypatch.setattr("e2g_neo4j.service.mcp.serve_stdio", serve)
    mcp(write=False, env_file=tmp_path / ".env" if asked else None)
    assert served == ["http://elsewhere.example" if asked else None]
    assert ("was not read" in capsys.readouterr().err) == (not asked)
    with pytest.raises(ConfigurationError, match="There is no file"):
        mcp(write=False, env_file=tmp_path / "none")
