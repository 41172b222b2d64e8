"""The managed server as it really starts, runs, dies and goes, in homes of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
from at_server import connected
from neo4j import GraphDatabase
from typer.testing import CliRunner

from e2g_neo4j.cli.setup import db_app as app
from e2g_neo4j.errors import LocalServerError
from e2g_neo4j.managed_neo4j import Connection, LocalServer, jars, server
from e2g_neo4j.managed_neo4j.config import free_port
from e2g_neo4j.runtime.maven import load_context
from e2g_neo4j.settings import Settings

pytestmark = [pytest.mark.timeout(600), pytest.mark.full, pytest.mark.by_turns(2)]

HEAP_MB = 384
START = """
import json, sys
from pathlib import Path
from e2g_neo4j.managed_neo4j import LocalServer
from e2g_neo4j.settings import Settings

local = LocalServer(Settings(home=Path(sys.argv[1]), db_heap_mb=int(sys.argv[2])))
print("ready to start", flush=True)
input()
connection = local.start()
signed_in = [connection.uri, connection.browser_url, connection.password.get_secret_value()]
print(json.dumps([*signed_in, local.status().pid]))
"""


def in_home(home: Path) -> LocalServer:
    return LocalServer(Settings(home=home, db_heap_mb=HEAP_MB))


def query(connection: Connection, text: str) -> list[Any]:
    with connected(connection) as driver:
        return [record[0] for record in driver.execute_query(text, database_="neo4j").records]


def servers_of(local: LocalServer) -> list[psutil.Process]:
    wanted = f"--home-dir={local.home}"
    return [process for process in psutil.process_iter(["cmdline"]) if wanted in (process.info["cmdline"] or ())]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("home")
    yield home
    in_home(home).reset()


@pytest.fixture(scope="module")
def first_start(home: Path) -> list[list[Any]]:
    """What two processes report that start the same fresh server at the same time. Both have ended by now."""
    both = [
        subprocess.Popen(
            [sys.executable, "-c", START, str(home), str(HEAP_MB)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in both:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "ready to start\n"
    for process in both:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    return [json.loads(process.communicate(timeout=300)[0]) for process in both]


@pytest.fixture
def local(home: Path, first_start: list[list[Any]]) -> LocalServer:
    """The server, running."""
    local = in_home(home)
    local.start()
    return local


def test_two_processes_at_once_start_one_server_that_outlives_them(first_start, home) -> None:
    one, two = first_start
    assert one == two
    (running,) = servers_of(in_home(home))
    assert running.pid == one[-1]
    assert query(in_home(home).start(), "RETURN 6 * 7") == [42]


def test_a_second_start_changes_nothing_and_takes_no_time(local) -> None:
    before = local.status()
    began = time.perf_counter()
    connection = local.start()
    assert time.perf_counter() - began < 0.1
    assert connection == before.connection
    assert local.status().pid == before.pid


def test_it_listens_on_loopback_at_two_ports_only(local) -> None:
    (process,) = servers_of(local)
    listening = {c.laddr for c in process.net_connections("inet") if c.status in (psutil.CONN_LISTEN, psutil.CONN_NONE)}
    assert {address.ip.removeprefix("::ffff:") for address in listening} == {"127.0.0.1"}
    connection = local.start()
    ports = {int(connection.uri.rsplit(":", 1)[1]), int(connection.browser_url.split(":")[2].split("/")[0])}
    assert {address.port for address in listening} == ports


def test_browser_is_there_and_is_told_the_right_bolt_port(local) -> None:
    connection = local.start()
    with urllib.request.urlopen(connection.browser_url, timeout=30) as page:
        assert b"<title>Neo4j Browser</title>" in page.read()
    with urllib.request.urlopen(connection.browser_url.removesuffix("browser/"), timeout=30) as discovery:
        told = json.load(discovery)
    assert told["bolt_direct"] == connection.uri
    assert told["neo4j_version"] == jars.VERSION


def test_the_password_is_in_one_private_file_and_nowhere_else(local) -> None:
    password = local.start().password.get_secret_value()
    assert len(password) >= 24
    assert stat.S_IMODE(local.password_file.stat().st_mode) == 0o600
    assert [path for path in local.home.rglob("*") if path.is_file() and password.encode() in path.read_bytes()] == [
        local.password_file
    ]
    for process in servers_of(local):
        assert password not in " ".join(process.cmdline())
        assert password not in process.environ().values()
    assert password not in repr(local.status())


def test_the_home_of_a_server_that_runs_is_made_private_too(local) -> None:
    local.home.chmod(0o755)
    local.start()
    assert stat.S_IMODE(local.home.stat().st_mode) == 0o700


def test_neo4js_initial_password_no_longer_works(local) -> None:
    from neo4j.exceptions import AuthError

    with GraphDatabase.driver(local.start().uri, auth=("neo4j", "neo4j")) as driver, pytest.raises(AuthError):
        driver.verify_connectivity()


def test_the_commands_tell_everything_but_the_password(local, home, monkeypatch) -> None:
    monkeypatch.setenv("E2G_HOME", str(home))
    connection = local.start()
    password = connection.password.get_secret_value()
    runner = CliRunner()
    status = runner.invoke(app, ["status"])
    assert status.exit_code == 0
    for fact in (connection.uri, connection.browser_url, jars.VERSION, str(local.password_file), "running", "MiB"):
        assert fact in status.output
    assert password not in status.output
    assert password in runner.invoke(app, ["status", "--show-password"]).output
    log = runner.invoke(app, ["logs", "-n", "5"]).output
    assert "Started." in log
    assert len(log.splitlines()) == 5
    kept = runner.invoke(app, ["reset"], input="n\n")
    assert kept.exit_code == 1
    assert local.status().running


def test_a_killed_server_comes_back_with_its_data_and_avoids_ports_that_were_taken_since(local) -> None:
    before = local.start()
    query(before, "CREATE (:Kept {n: 1})")
    (process,) = servers_of(local)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(30)
    assert not local.status().running
    taken = [int(before.uri.rsplit(":", 1)[1]), int(before.browser_url.split(":")[2].split("/")[0])]
    with ExitStack() as others:
        for port in taken:
            other = others.enter_context(socket.socket())
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("127.0.0.1", port))
            other.listen()
        after = local.start()
        assert after.uri != before.uri
        assert after.browser_url != before.browser_url
        assert query(after, "MATCH (n:Kept) RETURN n.n") == [1]
        assert after.password == before.password


def test_another_password_than_the_datas_is_said_and_stop_ends_the_server(local) -> None:
    right = local.start().password.get_secret_value()
    assert local.stop() is True
    assert servers_of(local) == []
    assert not local.status().running
    assert local.stop() is False
    local.password_file.write_text("not the right one")
    with pytest.raises(LocalServerError, match=r"does not accept the password .*e2g db reset"):
        local.start()
    local.password_file.write_text(right)
    assert query(local.start(), "RETURN 1") == [1]


def test_a_port_lost_while_the_server_starts_is_chosen_again(tmp_path, monkeypatch) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        looks: list[int] = []

        def too_late(wanted: int, *, not_this: int | None = None) -> int:
            """The first look at each port finds it free; it is not any more when the server binds."""
            looks.append(wanted)
            return taken if len(looks) == 1 else free_port(wanted, not_this=not_this)

        monkeypatch.setattr(server, "free_port", too_late)
        local = in_home(tmp_path)
        try:
            connection = local.start()
            assert connection.uri != f"bolt://127.0.0.1:{taken}"
            assert len(looks) == 4
            assert query(connection, "RETURN 1") == [1]
            assert len(servers_of(local)) == 1
        finally:
            local.reset()


def test_a_server_that_dies_at_the_start_says_why(tmp_path) -> None:
    local = in_home(tmp_path)
    local.home.mkdir()
    (local.home / "data").write_text("a file where Neo4j wants a folder")
    with pytest.raises(LocalServerError, match=r"stopped during its start: .*(data|Error|Exception).*e2g db logs"):
        local.start()
    assert servers_of(local) == []


PLANTED = """<?xml version="1.0"?>
<Configuration status="ERROR">
  <Appenders>
    <File name="planted" fileName="{file}"><PatternLayout pattern="echo planted%n"/></File>
  </Appenders>
  <Loggers><Root level="INFO"><AppenderRef ref="planted"/></Root></Loggers>
</Configuration>
"""


def test_what_was_planted_in_a_home_decides_nothing(tmp_path) -> None:
    local, written = in_home(tmp_path), tmp_path / "written"
    conf = local.home / "conf"
    conf.mkdir(parents=True)
    for name in ("server-logs.xml", "user-logs.xml"):
        (conf / name).write_text(PLANTED.format(file=written))
    plugins = local.home / "plugins"
    plugins.mkdir()
    (plugins / "planted.jar").write_bytes(b"PK")
    try:
        [used] = query(local.start(), "SHOW SETTINGS 'server.directories.plugins' YIELD value")
        assert not written.exists()
        assert {path.name for path in conf.iterdir()} == {"neo4j.conf", "java.args"}
        assert not Path(used).exists()
    finally:
        local.reset()


def test_reset_removes_the_data_and_keeps_the_jars(local) -> None:
    first = local.start().password
    local.reset()
    assert servers_of(local) == []
    assert [path.name for path in local.home.iterdir() if path.name != "lock"] == []
    assert all((load_context().repo_cache / jar.path).is_file() for jar in jars.read_lock())
    again = local.start()
    assert again.password != first
    assert query(again, "MATCH (n) RETURN count(n)") == [0]
