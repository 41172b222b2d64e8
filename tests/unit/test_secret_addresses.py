"""What names no database is refused. A password that was put into its address is never repeated."""

from __future__ import annotations

import traceback

import pytest
from pydantic import ValidationError

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.settings import Settings, load_settings

SECRET = "hunter2"

WRONG = [
    f"bolt://neo4j:{SECRET}@127.0.0.1:7687",
    f"bolt://neo4j:{SECRET}@127.0.0.1",
    f"neo4j+s://neo4j:{SECRET}@example.org/db",
    f"http://neo4j:{SECRET}@127.0.0.1:7474",
    f"neo4j:{SECRET}@127.0.0.1:7687",
    f"bolt//neo4j:{SECRET}@127.0.0.1",
    f" bolt://neo4j:{SECRET}@127.0.0.1",
    f"bolt://neo4j:{SECRET}",
    f"bolt://neo4j:a/{SECRET}@127.0.0.1:7687",
    f"bolt://neo4j:{SECRET}#a@127.0.0.1:7687",
    f"bolt://neo4j:a@{SECRET}@127.0.0.1",
    f"bolt://{SECRET}@127.0.0.1",
    f"bolt://127.0.0.1:7687?password={SECRET}",
    f"bolt://[{SECRET}",
    SECRET,
]

RIGHT = [
    f"{scheme}://{host}"
    for scheme in ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
    for host in (
        "localhost:7687",
        "127.0.0.1:7687",
        "[::1]:7687",
        "example.org",
        "a-b.databases.neo4j.io/",
        "my_host:1",
    )
]


@pytest.mark.parametrize("uri", WRONG)
def test_what_is_no_address_is_not_repeated(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValidationError) as passed:
        Settings(neo4j_uri=uri)
    monkeypatch.setenv("NEO4J_URI", uri)
    with pytest.raises(ConfigurationError, match="NEO4J_URI is invalid") as read:
        load_settings()
    for error in (passed.value, read.value):
        assert SECRET not in "".join(traceback.format_exception(error))
    assert ("NEO4J_PASSWORD" in str(read.value)) == ("@" in uri)


@pytest.mark.parametrize("uri", [*RIGHT, "neo4j://localhost:7687?policy=near"])
def test_addresses_are_taken(uri: str) -> None:
    assert Settings(neo4j_uri=uri).neo4j_uri == uri


@pytest.mark.parametrize("name", ["system", "System"])
def test_the_database_of_the_server_itself_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_DATABASE", name)
    with pytest.raises(ConfigurationError, match="NEO4J_DATABASE is invalid: `system` is the server's own"):
        load_settings()


def test_the_address_of_a_page_is_recognised() -> None:
    with pytest.raises(ValidationError, match="Neo4j Browser"):
        Settings(neo4j_uri="http://localhost:7474")
