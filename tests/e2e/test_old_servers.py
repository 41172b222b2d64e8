"""A server that is too old is refused by its version, before it is asked anything, by every command and client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bolt_server import Server

from e2g_neo4j import E2G, AsyncE2G, Settings
from e2g_neo4j.errors import DatabaseError

REFUSED = "The server is Neo4j 5.20.0, which is too old: use Neo4j 5.26 LTS, or 2026.01 or later."

COMMANDS = (
    ["doctor"],
    ["doctor", "--migrate"],
    ["corpora"],
    ["documents", "--corpus", "a"],
    ["corpora", "a"],
    ["query", "Who met Bob?", "--corpus", "a"],
    ["index", "{text}", "--corpus", "a"],
    ["enrich", "--corpus", "a"],
    ["delete", "--corpus", "a", "--yes"],
    ["adopt", "--label", "Note", "--corpus", "a"],
    ["link", "--label", "Person", "--corpus", "a"],
    ["export", "--corpus", "a", "-o", "{archive}"],
    ["keys", "create"],
    ["keys"],
    ["keys", "revoke", "0123456789ab"],
)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server("Neo4j/5.20.0")
    yield server
    server.close()


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_name_the_version(
    command: list[str],
    server: Server,
    run: Callable[..., tuple[int, str, str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("NEO4J_URI", server.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", "any")
    (tmp_path / "text.txt").write_text("Ann met Bob.")
    code, _, err = run(*(one.format(text=tmp_path / "text.txt", archive=tmp_path / "a.zip") for one in command))
    assert code == DatabaseError.exit_code
    assert err.endswith(f"Error: {REFUSED}\n"), "a slow machine says first what it waits for"
    assert server.asked == []


def test_clients_name_the_version(server: Server) -> None:
    settings = Settings(neo4j_uri=server.uri, neo4j_password="any")
    with E2G(settings=settings) as client, pytest.raises(DatabaseError, match=REFUSED):
        client.corpora()

    async def ask() -> Any:
        async with AsyncE2G(settings=settings) as client:
            return [await _error(call) for call in (client.corpora, client.migrate, client.doctor)]

    assert asyncio.run(ask()) == [REFUSED] * 3
    assert server.asked == []


async def _error(call: Callable[[], Any]) -> str:
    with pytest.raises(DatabaseError) as raised:
        await call()
    return str(raised.value)
