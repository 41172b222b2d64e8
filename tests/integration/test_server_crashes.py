"""The database server is killed while a corpus is being written; started again, it holds the old state or the new."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import crashes
import psutil
import pytest
from at_server import connected
from graphs import snapshot
from libraries import REAL_DIMENSIONS, visible, write
from neo4j import Driver

from e2g_neo4j.errors import UnreachableError
from e2g_neo4j.graph import lease, writer
from e2g_neo4j.graph.schema import migrate
from e2g_neo4j.managed_neo4j import Connection, LocalServer
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.cypher import Variant, load
from e2g_neo4j.settings import Settings

SHARES = (0.0, 0.2, 0.4, 0.6, 0.75, 0.9, 0.97, 1.0)
"""How much of a run's statements the server has answered when it is killed; the last are those of the publication, and
of letting go after it."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LocalServer]:
    """A server for this test alone."""
    server = LocalServer(Settings(home=tmp_path, db_heap_mb=512))
    yield server
    server.stop()


def impatient(connection: Connection) -> AbstractContextManager[Driver]:
    """A driver that gives up soon."""
    return connected(connection, max_transaction_retry_time=1, connection_timeout=5)


def kill(server: LocalServer) -> None:
    process = psutil.Process(server.status().pid)
    with suppress(psutil.NoSuchProcess):
        os.kill(process.pid, signal.SIGKILL)
        process.wait(60)


@contextmanager
def counted(at: int, act: Callable[[], None]) -> Iterator[list[str]]:
    """What is sent meanwhile; `act` comes when so many statements were answered."""
    sent: list[str] = []

    def counting(name: str, *variant: Variant) -> str:
        if len(sent) == at:
            act()
        sent.append(name)
        return load(name, *variant)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "load", counting)
        yield sent


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_a_server_killed_anywhere_holds_the_old_state_or_the_new_and_the_next_run_finishes(
    server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "NODE_ROWS", 1)  # more transactions to be killed in
    monkeypatch.setattr(writer, "CHUNK_ROWS", 1)
    monkeypatch.setattr(lease, "SECONDS", 600.0)  # no renewal comes between
    run = uuid4().hex
    with impatient(server.start()) as driver:
        migrate(driver, "neo4j", embedding_dimensions=REAL_DIMENSIONS)
        write(driver, f"{run}-old", crashes.BEFORE)
        write(driver, f"{run}-new", crashes.BEFORE)
        with counted(-1, lambda: None) as sent:
            write(driver, f"{run}-new", crashes.AFTER)
        old, new = visible(driver, f"{run}-old"), visible(driver, f"{run}-new")
        whole = snapshot(driver, f"{run}-new")
    assert old != new
    assert len(sent) > 30
    seen = []
    for number, share in enumerate(SHARES):
        corpus = f"{run}-{number}"
        at = round(share * (len(sent) - 1))
        with impatient(server.start()) as driver:
            write(driver, corpus, crashes.BEFORE)
            with counted(at, lambda: kill(server)) as until:
                try:
                    write(driver, corpus, crashes.AFTER)
                except UnreachableError as error:
                    said = str(error)
                else:
                    said = ""
        assert len(until) > at, "it was killed"
        with impatient(server.start()) as driver:
            seen.append(visible(driver, corpus))
            assert seen[-1] in (old, new)
            if said:
                assert "Cannot connect" in said
                assert "run the same command again" in said
            else:
                assert seen[-1] == new
            assert snapshot(driver, f"{run}-new") == whole, "finished work is kept"
            driver.execute_query("MATCH (r:E2GRun) SET r.expires = 0")  # the lease is over
            write(driver, corpus, crashes.AFTER)
            assert snapshot(driver, corpus) == whole
            assert visible(driver, corpus) == new
    assert seen[0] == old
    assert seen[-1] == new
    assert seen.index(new) == len(seen) - seen.count(new), "once it is new, it stays so"


@pytest.mark.full
def test_a_managed_server_that_died_is_started_again(server: LocalServer) -> None:
    before = server.start()
    kill(server)
    assert not server.status().running
    after = server.start()
    assert (after.uri, after.password) == (before.uri, before.password)
    with impatient(after) as driver:
        driver.verify_connectivity()
