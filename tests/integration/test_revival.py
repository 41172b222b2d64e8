"""A managed server that died while a client is open is started again by this client, and not if it was stopped."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Iterator
from itertools import pairwise
from types import SimpleNamespace

import httpx
import psutil
import pytest
from running_service import running

from e2g_neo4j import E2G, AsyncE2G, Settings
from e2g_neo4j.errors import LocalServerError
from e2g_neo4j.managed_neo4j import LocalServer, server


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """The settings of a server for these tests."""
    settings = Settings(home=tmp_path_factory.mktemp("home"), db_heap_mb=512, neo4j_uri=None)
    yield settings
    LocalServer(settings).stop()


def kill(settings: Settings) -> int:
    """Kill the server and return its pid."""
    process = psutil.Process(LocalServer(settings).status().pid)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(60)
    return process.pid


def test_a_client_starts_the_server_again_that_it_has_lost(settings: Settings) -> None:
    with E2G(settings=settings) as client:
        client.migrate()
        before = kill(settings)
        assert client.corpora() == {}
        assert LocalServer(settings).status().pid not in (before, None)


async def test_so_does_an_async_client_once_however_many_ask(settings: Settings) -> None:
    async with AsyncE2G(settings=settings) as client:
        await client.migrate()
        before = await asyncio.to_thread(kill, settings)
        assert await asyncio.gather(*(client.corpora() for _ in range(20))) == [{}] * 20
        assert LocalServer(settings).status().pid not in (before, None)


def test_a_service_is_ready_again_by_itself(settings: Settings) -> None:
    with E2G(settings=settings) as client:
        client.migrate(["service"])
    with running(settings) as url:
        wait_until_ready(url)
        before = kill(settings)
        said = wait_until_ready(url)
        assert LocalServer(settings).status().pid not in (before, None)
    assert not any("NEO4J_URI" in problem for problem in said), said


def wait_until_ready(url: str) -> set[str]:
    """Ask until it is ready, and return what it has said meanwhile."""
    said: set[str] = set()
    until = time.monotonic() + 120
    while (reply := httpx.get(f"{url}/readyz", timeout=30)).status_code != 200:
        said |= set(reply.json()["problems"])
        assert time.monotonic() < until, said
        time.sleep(0.2)
    return said


def test_one_that_was_stopped_stays_so(settings: Settings) -> None:
    with E2G(settings=settings) as client:
        client.migrate()
        LocalServer(settings).stop()
        with pytest.raises(LocalServerError, match="was stopped: run `e2g db start`"):
            client.corpora()
        assert not LocalServer(settings).status().running
        LocalServer(settings).start()
        assert client.corpora() == {}


def test_one_that_keeps_dying_is_started_more_and_more_rarely(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = LocalServer(settings)
    local.start()
    kill(settings)
    started: list[float] = []

    def start() -> None:
        started.append(time.monotonic())
        raise LocalServerError("There is no room.")

    monkeypatch.setattr(local, "start", start)
    said = set()
    until = time.monotonic() + 8
    while time.monotonic() < until:
        with pytest.raises(LocalServerError) as raised:
            local.revive()
        said.add(str(raised.value).partition(" in ")[0])
        time.sleep(0.02)
    pauses = [after - before for before, after in pairwise(started)]
    assert [round(pause) for pause in pauses] == [1, 2, 4]
    assert said == {"There is no room.", "The managed Neo4j has died and is started again"}


def test_one_whose_disk_was_full_is_started_again_when_there_is_room(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neo4j stays up after that, and its database refuses everything."""
    with E2G(settings=settings) as client:
        client.migrate()
        running = LocalServer(settings)
        pid = running.status().pid
        monkeypatch.setattr(server, "NEW_SECONDS", 3600)
        running.end_broken()
        assert running.status().pid == pid, "it has just been started: an error of the one before is no reason"
        monkeypatch.setattr(server, "NEW_SECONDS", 0)
        with monkeypatch.context() as full:
            full.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
            running.end_broken()
            for _ in range(3):
                with pytest.raises(LocalServerError, match=r"MiB of disk and 0 are free.*free up space"):
                    client.corpora()
        monkeypatch.undo()
        assert client.corpora() == {}
