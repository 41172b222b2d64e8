"""Reads see the writes before them on any server of a cluster, are repeated, and outlive their connections.

One server has seen everything at once. So the tests look at what is sent: which bookmarks, as the driver logs them.
"""

from __future__ import annotations

import ast
import asyncio
import base64
import logging
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import neo4j
import pytest
from at_server import settings_of
from neo4j import AsyncGraphDatabase, Driver, GraphDatabase
from neo4j.exceptions import Neo4jError, ServiceUnavailable

from e2g_neo4j import E2G, AsyncE2G, Settings
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import DatabaseError, InputError
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.runtime import bookmarks, database

_BEGUN = re.compile(r" C: (?:RUN|BEGIN) .*?'bookmarks': ([(\[].*?[)\]])")


@pytest.fixture
def settings(neo4j_connection: Connection) -> Settings:
    return settings_of(neo4j_connection, workers=1)


@pytest.fixture
def client(settings: Settings) -> Iterator[E2G]:
    with E2G(settings=settings) as client:
        yield client


class Sent:
    """The bookmarks of each transaction that is begun, as the driver logs them."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self._log = caplog
        caplog.set_level(logging.DEBUG, "neo4j.io")
        caplog.set_level(logging.DEBUG, "neo4j")

    def forget(self) -> None:
        self._log.clear()

    def bookmarks(self) -> list[set[str]]:
        lines = [one.getMessage() for one in self._log.records]
        return [set(ast.literal_eval(found[1])) for line in lines if (found := _BEGUN.search(line))]


@pytest.fixture
def sent(caplog: pytest.LogCaptureFixture) -> Sent:
    return Sent(caplog)


def all_after(sent: Sent, bookmark: str) -> bool:
    """Whether the first transaction had this bookmark, and each had one."""
    begun = sent.bookmarks()
    return bool(begun) and begun[0] == set(bookmark.split(",")) and all(begun)


def calls_of(client: Any, corpus: str, archive: Path) -> dict[str, Callable[[], Any]]:
    """Calls of a client, sync or async, in an order in which all of them are possible."""
    return {
        "retrieve": lambda: client.retrieve("Who met Bob?", corpus=corpus),
        "migrate": client.migrate,
        "export": lambda: client.export_corpus(archive, corpus=corpus),
        "delete": lambda: client.delete(corpus=corpus),
        "import": lambda: client.import_corpus(archive),
        "corpora": client.corpora,
    }


def test_every_session_has_the_bookmark_of_the_write_before_it(client, corpus, sent, tmp_path):
    client.index([from_text("Ann met Bob.", corpus=corpus, source="x")], corpus=corpus)
    for name, call in calls_of(client, corpus, tmp_path / "x.zip").items():
        before = client.bookmark()
        sent.forget()
        call()
        assert all_after(sent, before), name
    client.delete(corpus=corpus)


async def test_so_has_every_session_of_the_async_client(settings, corpus, sent, tmp_path):
    async with AsyncE2G(settings=settings) as client:
        assert await client.bookmark() == ""
        await client.index([from_text("Ann met Bob.", corpus=corpus, source="x")], corpus=corpus)
        for name, call in calls_of(client, corpus, tmp_path / "x.zip").items():
            before = await client.bookmark()
            sent.forget()
            await call()
            assert all_after(sent, before), name
        await client.delete(corpus=corpus)


async def test_another_client_waits_for_a_bookmark(client, settings, driver, neo4j_connection, sent):
    """Sync and async, with a driver of its own and a borrowed one."""
    auth = (neo4j_connection.username, neo4j_connection.password.get_secret_value())
    client.corpora()
    async with (
        AsyncE2G(settings=settings) as other,
        AsyncGraphDatabase.driver(neo4j_connection.uri, auth=auth) as lent,
        AsyncE2G(lent, settings=settings) as third,
    ):
        for waiting in (other, third):
            bookmark = mark(client, driver)
            sent.forget()
            await waiting.wait_for(bookmark)
            assert sent.bookmarks()[0] >= set(bookmark.split(","))
            known = await waiting.bookmark()
            sent.forget()
            await waiting.corpora()
            assert all_after(sent, known)
        sent.forget()
        await third.wait_for(await third.bookmark())
        assert sent.bookmarks() == [], "it has seen this already"
        with E2G(settings=settings) as fourth:
            bookmark = await third.bookmark()
            sent.forget()
            fourth.wait_for(bookmark)
            assert set(bookmark.split(",")) in sent.bookmarks()
            sent.forget()
            fourth.corpora()
            assert all(sent.bookmarks())


def mark(client: E2G, driver: Driver) -> str:
    """The bookmark of a client after a write that is not its own."""
    driver.execute_query("CREATE (n:Marker) DELETE n")
    client.corpora()
    return client.bookmark()


WRONG = ["foo", "FB:", " ", ",", "FB:xx y", "FB:kcwQ\n", "FB:kcwQ,", "FB:é", "FB:" + "A" * 9000, "FB:xx", "FB:kcwQ"]


async def test_what_is_no_bookmark_is_refused_and_forgotten(client, settings):
    client.corpora()
    before = client.bookmark()
    async with AsyncE2G(settings=settings) as other:
        for wrong in WRONG:
            with pytest.raises(InputError, match="bookmark"):
                client.wait_for(wrong)
            with pytest.raises(InputError, match="bookmark"):
                await other.wait_for(wrong)
        client.wait_for("")
        assert client.bookmark() == before
        client.corpora()
        await other.corpora()


@pytest.mark.full
def test_a_write_that_no_server_has_seen_is_waited_for_once(settings, driver, neo4j_connection):
    """The server waits for a while. What it waited for in vain does not stop later calls."""
    auth = (neo4j_connection.username, neo4j_connection.password.get_secret_value())
    with GraphDatabase.driver(neo4j_connection.uri, auth=auth) as own:
        with own.session(database="neo4j") as session:
            session.run("CREATE (n:Marker) DELETE n").consume()
            [one] = session.last_bookmarks().raw_values
        later = base64.b64decode(one.removeprefix("FB:"))[:19] + b"\xc9\x7f\xff\x90"  # transaction 32767
        with E2G(own, settings=settings) as client:
            with pytest.raises(DatabaseError, match="not seen an earlier write"):
                client.wait_for("FB:" + base64.b64encode(later).decode())
            client.corpora()


@pytest.mark.parametrize("limit", [100, 300])
async def test_bookmarks_of_other_databases_do_not_add_up(settings, neo4j_connection, monkeypatch, limit):
    """Neo4j carries on what it does not know."""
    auth = (neo4j_connection.username, neo4j_connection.password.get_secret_value())
    with GraphDatabase.driver(neo4j_connection.uri, auth=auth) as own, own.session(database="neo4j") as session:
        session.run("CREATE (n:Marker) DELETE n").consume()
        [one] = session.last_bookmarks().raw_values
    monkeypatch.setattr(database, "LONGEST_BOOKMARK", limit)
    known = base64.b64decode(one.removeprefix("FB:"))
    with E2G(settings=settings) as client:
        async with AsyncE2G(settings=settings) as other:
            lengths = []
            for _ in range(25):
                foreign = known[:3] + uuid4().bytes + known[19:]
                await other.wait_for("FB:" + base64.b64encode(foreign).decode())
                client.wait_for("FB:" + base64.b64encode(foreign).decode())
                lengths += [len(client.bookmark()), len(await other.bookmark())]
            assert len(set(lengths)) > 1, "they are carried on"
            assert max(lengths) <= limit


# --- repeated ----------------------------------------------------------------------------------------


def failing(monkeypatch: pytest.MonkeyPatch, code: str, times: int) -> list[str]:
    """Let the next statements that sessions run fail. Returns the list that the attempts are added to."""
    attempts: list[str] = []

    def before(original: Any) -> Any:
        def run(self: Any, *arguments: Any, **more: Any) -> Any:
            attempts.append(code)
            if len(attempts) <= times:
                if code == "lost":
                    raise ServiceUnavailable("The connection was lost.")
                raise Neo4jError._hydrate_neo4j(code=code, message="It may pass.")
            return original(self, *arguments, **more)

        return run

    for session in (neo4j.Session, neo4j.AsyncSession):
        monkeypatch.setattr(session, "run", before(session.run))
    return attempts


@pytest.mark.parametrize(
    "code",
    ["Neo.TransientError.General.DatabaseUnavailable", "Neo.TransientError.General.MemoryPoolOutOfMemoryError", "lost"],
)
async def test_a_read_is_repeated_after_what_may_pass(client, settings, monkeypatch, code):
    client.corpora()
    monkeypatch.setattr(database, "FIRST_WAIT", 0.01)
    attempts = failing(monkeypatch, code, 2)
    client.corpora()
    assert len(attempts) == 3
    attempts.clear()
    async with AsyncE2G(settings=settings) as other:
        await other.corpora()
    assert len(attempts) == 3


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration", "stopped the query after 30 s"),
        ("Neo.ClientError.Statement.SyntaxError", "rejected the request"),
        ("Neo.DatabaseError.General.UnknownError", "Try again"),
    ],
)
async def test_what_will_not_pass_is_reported_at_once(client, settings, monkeypatch, code, says):
    client.corpora()
    attempts = failing(monkeypatch, code, 9)
    with pytest.raises(DatabaseError, match=says):
        client.corpora()
    async with AsyncE2G(settings=settings) as other:
        with pytest.raises(DatabaseError, match=says):
            await other.corpora()
    assert len(attempts) == 2


async def test_repeating_ends(client, settings, monkeypatch):
    client.corpora()
    monkeypatch.setattr(database, "FIRST_WAIT", 0.1)
    monkeypatch.setattr(database, "RETRY_SECONDS", 0.5)
    attempts = failing(monkeypatch, "Neo.TransientError.General.DatabaseUnavailable", 10**6)
    with pytest.raises(DatabaseError, match="may pass"):
        client.corpora()
    assert 2 <= len(attempts) <= 3
    attempts.clear()
    async with AsyncE2G(settings=settings) as other:
        with pytest.raises(DatabaseError, match="may pass"):
            await other.corpora()
    assert 2 <= len(attempts) <= 3


def test_waits_double_and_differ():
    error = Neo4jError._hydrate_neo4j(code="Neo.TransientError.General.DatabaseUnavailable", message="It may pass.")
    waits = [database._seconds_to_wait(error, attempt, deadline=float("inf")) for attempt in range(1, 9)]
    for wait, expected in zip(waits, [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 8.0, 8.0], strict=True):
        assert expected <= wait <= 1.2 * expected
    assert len(set(waits)) == 8


# --- connections -------------------------------------------------------------------------------------


def kill_connections(driver: Driver, agent: str) -> int:
    """Kill the connections of a driver and return how many there were, once the server has closed them."""
    listed = "CALL dbms.listConnections() YIELD connectionId, userAgent WHERE userAgent = $agent "
    killed = driver.execute_query(
        f"{listed} CALL dbms.killConnection(connectionId) YIELD message RETURN message", agent=agent
    ).records
    while driver.execute_query(f"{listed} RETURN connectionId", agent=agent).records:
        time.sleep(0.05)
    return len(killed)


async def test_a_connection_that_the_server_closed_is_replaced(settings, driver, neo4j_connection):
    auth = (neo4j_connection.username, neo4j_connection.password.get_secret_value())
    agent = f"killed-{uuid4().hex}"
    with (
        GraphDatabase.driver(neo4j_connection.uri, auth=auth, user_agent=agent) as own,
        E2G(own, settings=settings) as client,
    ):
        client.corpora()
        assert kill_connections(driver, agent) == 1
        client.corpora()
    async with (
        AsyncGraphDatabase.driver(neo4j_connection.uri, auth=auth, user_agent=agent) as lent,
        AsyncE2G(lent, settings=settings) as other,
    ):
        await other.corpora()
        assert await asyncio.to_thread(kill_connections, driver, agent) == 1
        await other.corpora()


async def test_idle_connections_are_tested_before_they_are_used(settings, caplog):
    """The driver notices a connection that was closed. One that a firewall has dropped looks open, until it is used."""
    caplog.set_level(logging.DEBUG, "neo4j.io")

    def resets() -> int:
        found = sum(" C: RESET" in one.getMessage() for one in caplog.records)
        caplog.clear()
        return found

    for idle, tests in ((settings.neo4j_idle_seconds, 0), (0.0, 1)):
        settings = settings.model_copy(update={"neo4j_idle_seconds": idle})
        with E2G(settings=settings) as client:
            client.corpora()
            resets()
            client.corpora()
            assert resets() == tests
        async with AsyncE2G(settings=settings) as other:
            await other.corpora()
            resets()
            await other.corpora()
            assert resets() == tests


def test_bookmarks_as_text():
    assert bookmarks.as_text({"FB:b", "FB:a=="}) == "FB:a==,FB:b"
    assert bookmarks.parse("FB:a==,FB:b").raw_values == {"FB:a==", "FB:b"}
    assert bookmarks.parse("").raw_values == set()
