"""The managed server's parts that need no server."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from jgo.maven import MavenContext

from e2g_neo4j.errors import LocalServerError
from e2g_neo4j.managed_neo4j import LocalServer, jars
from e2g_neo4j.managed_neo4j.config import command, write_settings
from e2g_neo4j.managed_neo4j.server import State, process_of, read_state, write_private, write_state
from e2g_neo4j.runtime.maven import Artifact, load_context
from e2g_neo4j.settings import Settings

CONTENT = b"not really a jar"
JAR = Artifact("org.example:thing:1.0:linux", hashlib.sha256(CONTENT).hexdigest())


# --- jars ----------------------------------------------------------------------------------------------


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "jars.lock"
    path.write_text(f"{JAR.coordinates} {JAR.sha256}\n")
    monkeypatch.setattr(jars, "LOCK", path)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes | Exception]:
    """What each address sends; a missing one is refused. Downloads go no further than this."""
    sends: dict[str, bytes | Exception] = {}

    class Response:
        def __init__(self, content: bytes) -> None:
            self.content = content

        def __enter__(self) -> Response:
            return self

        def __exit__(self, *_: object) -> None: ...

        def raise_for_status(self) -> None: ...

        def iter_content(self, size: int) -> Iterator[bytes]:
            yield self.content[:5]
            yield self.content[5:]

    def get(address: str, **_: object) -> Response:
        found = sends.get(address, ConnectionError("refused"))
        if isinstance(found, Exception):
            raise found
        return Response(found)

    monkeypatch.setattr("jgo.util.http.get", get)
    return sends


def context(tmp_path: Path, *remotes: str) -> MavenContext:
    return MavenContext(repo_cache=tmp_path / "m2", remote_repos=dict(zip("abc", remotes, strict=False)))


def files(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]


PLACE = "org/example/thing/1.0/thing-1.0-linux.jar"


def test_every_line_of_the_lock_names_a_jar_and_a_sum() -> None:
    locked = jars.read_lock()
    assert all(len(bytes.fromhex(jar.sha256)) == 32 for jar in locked)
    assert len({jar.coordinates for jar in locked}) == len(locked) > 200
    ours = {jar.coordinates for jar in locked}
    assert set(jars.COORDINATES.split("+")) <= ours


def test_a_jar_is_downloaded_once(lock, asked, tmp_path) -> None:
    asked[f"m:/repo/{PLACE}"] = CONTENT
    steps: list[tuple[int, int]] = []
    found = jars.fetch(lambda done, total: steps.append((done, total)), context=context(tmp_path, "m:/repo/"))
    assert found == [tmp_path / "m2" / PLACE]
    assert found[0].read_bytes() == CONTENT
    assert steps == [(1, 1)]
    asked.clear()
    assert jars.fetch(context=context(tmp_path, "m:/repo")) == found


def test_the_next_repository_is_asked_when_one_fails(lock, asked, tmp_path) -> None:
    asked[f"m:/second/{PLACE}"] = CONTENT
    assert jars.fetch(context=context(tmp_path, "m:/first", "m:/second"))[0].read_bytes() == CONTENT


def test_a_jar_with_another_sum_is_refused_and_leaves_nothing(lock, asked, tmp_path) -> None:
    asked[f"m:/repo/{PLACE}"] = CONTENT + b"!"
    wrong = hashlib.sha256(CONTENT + b"!").hexdigest()
    with pytest.raises(LocalServerError, match=rf"org\.example:thing:1\.0:linux: .*{wrong} instead of {JAR.sha256}"):
        jars.fetch(context=context(tmp_path, "m:/repo"))
    assert files(tmp_path / "m2") == []


def test_a_download_that_breaks_off_leaves_nothing_and_names_the_cause(lock, asked, tmp_path) -> None:
    with pytest.raises(LocalServerError, match=r"ConnectionError: refused.*e2g db start"):
        jars.fetch(context=context(tmp_path, "m:/repo"))
    assert files(tmp_path / "m2") == []


def test_a_damaged_jar_is_replaced(lock, asked, tmp_path) -> None:
    asked[f"m:/repo/{PLACE}"] = CONTENT
    damaged = tmp_path / "m2" / PLACE
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(CONTENT[:3])
    assert jars.fetch(context=context(tmp_path, "m:/repo")) == [damaged]
    assert damaged.read_bytes() == CONTENT


def test_repositories_of_jgos_configuration_come_first(tmp_path, monkeypatch) -> None:
    file = tmp_path / "jgo.conf"
    monkeypatch.setenv("JGO_CONFIG_FILE", str(file))
    monkeypatch.setenv("M2_REPO", str(tmp_path / "elsewhere"))
    central = MavenContext().remote_repos["central"]
    file.write_text("[repositories]\nmirror = m:/mirror\n")
    assert list(load_context().remote_repos.values()) == ["m:/mirror", central]
    file.write_text("[repositories]\ncentral = m:/mirror\n")
    assert list(load_context().remote_repos.values()) == ["m:/mirror"]
    assert load_context().repo_cache == tmp_path / "elsewhere"


# --- settings and command line ---------------------------------------------------------------------------


def test_the_settings_listen_on_loopback_only_and_report_to_nobody(tmp_path) -> None:
    write_settings(tmp_path / "conf", 1111, 2222)
    lines = dict(line.split("=") for line in (tmp_path / "conf" / "neo4j.conf").read_text().splitlines())
    addresses = {
        name: value for name, value in lines.items() if name.endswith(("listen_address", "advertised_address"))
    }
    assert {value.split(":")[0] for value in addresses.values()} == {"127.0.0.1"}
    assert addresses["server.bolt.advertised_address"] == "127.0.0.1:1111"
    assert addresses["server.http.listen_address"] == "127.0.0.1:2222"
    assert lines["dbms.security.auth_enabled"] == "true"
    for name in ("dbms.usage_report.enabled", "client.allow_telemetry", "server.fleet_discovery.enabled"):
        assert lines[name] == "false"


@pytest.mark.parametrize("linked", [False, True])
def test_the_configuration_is_all_our_own(tmp_path, linked: bool) -> None:
    """Whatever was there, and without touching what a link leads to."""
    conf, theirs = tmp_path / "conf", tmp_path / "theirs"
    planted = theirs if linked else conf
    (planted / "deep").mkdir(parents=True)
    for name in ("server-logs.xml", "user-logs.xml", "deep/more.conf"):
        (planted / name).write_text("planted")
    if linked:
        conf.symlink_to(theirs)
    write_settings(conf, 1111, 2222)
    assert files(conf) == ["neo4j.conf"]
    assert len(files(theirs)) == (3 if linked else 0)


def test_java_reads_the_class_path_as_it_was_meant(tmp_path) -> None:
    """Java itself shows the class path that it took from the arguments file, blanks in folder names included."""
    home = tmp_path / "a home"
    (home / "conf").mkdir(parents=True)
    places = [home / "one.jar", home / "two.jar"]
    java, *options = command(home, places, heap_mb=256)
    (arguments,) = (option for option in options if option.startswith("@"))
    run = subprocess.run([java, arguments, "-XshowSettings:properties", "-version"], capture_output=True, text=True)
    assert f"java.class.path = {places[0]}\n" in run.stderr
    assert str(places[1]) in run.stderr
    assert "-Xmx256m" in options


# --- state -----------------------------------------------------------------------------------------------


def test_a_private_file_is_private_from_its_first_byte(tmp_path) -> None:
    path = tmp_path / "password"
    before = os.umask(0)
    try:
        write_private(path, "one")
        write_private(path, "two")
    finally:
        os.umask(before)
    assert path.read_text() == "two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert files(tmp_path) == ["password"]


@pytest.mark.parametrize("content", ["", "{", "[]", "7", '{"pid": 1}', '{"pid": 1, "unknown": 2}'])
def test_an_unreadable_state_is_no_state(tmp_path, content: str) -> None:
    path = tmp_path / "state.json"
    path.write_text(content)
    assert read_state(path) is None


def test_a_state_comes_back_as_it_was(tmp_path) -> None:
    state = State(1, 2.5, 3, 4, ready=True)
    write_state(tmp_path / "state.json", state)
    assert read_state(tmp_path / "state.json") == state


def test_a_pid_used_again_by_another_program_is_not_ours() -> None:
    ours = psutil.Process()
    assert process_of(State(ours.pid, ours.create_time(), 1, 2)) == ours
    assert process_of(State(ours.pid, ours.create_time() - 60, 1, 2)) is None


def test_a_process_that_ended_is_not_running_although_nobody_waited_for_it() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    state = State(child.pid, psutil.Process(child.pid).create_time(), 1, 2)
    assert process_of(state) is not None
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it is a zombie now
    assert process_of(state) is None
    child.wait()
    assert process_of(state) is None


# --- the server, before there is one -----------------------------------------------------------------------


@pytest.fixture
def local(tmp_path: Path) -> LocalServer:
    return LocalServer(Settings(home=tmp_path / "home", db_heap_mb=512))


def test_short_memory_is_said_before_anything_is_fetched(local, monkeypatch) -> None:
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=600 * 2**20))
    with pytest.raises(LocalServerError, match=r"600 are free.*E2G_DB_HEAP_MB below 512"):
        local.start()


def test_short_disk_is_said_before_anything_is_fetched(local, monkeypatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=100 * 2**20))
    with pytest.raises(LocalServerError, match=r"100 are free in .*E2G_HOME"):
        local.start()


def test_a_home_that_cannot_be_written_is_said(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LocalServerError, match=r"Cannot write.*E2G_HOME"):
        LocalServer(Settings(home=tmp_path / "file")).start()


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such rights.")
@pytest.mark.parametrize("there", [False, True])
def test_the_home_is_for_its_user_alone_and_the_folder_around_it_as_it_was(local, monkeypatch, there: bool) -> None:
    """Also one that the user made."""
    local.home.parent.mkdir(mode=0o755)
    if there:
        local.home.mkdir(mode=0o755)
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=0))
    with pytest.raises(LocalServerError, match="0 are free"):  # the folder is there by then
        local.start()
    assert stat.S_IMODE(local.home.stat().st_mode) == 0o700
    assert stat.S_IMODE(local.home.parent.stat().st_mode) == 0o755


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such rights.")
@pytest.mark.parametrize(("around", "mode"), [(False, 0o777), (False, 0o770), (True, 0o777)])
def test_a_home_that_others_can_write_to_is_refused(local, around: bool, mode: int) -> None:
    local.home.mkdir(parents=True)
    folder = local.home.parent if around else local.home
    folder.chmod(mode)
    for call in (local.start, local.stop, local.reset):
        with pytest.raises(LocalServerError, match="Other users can write") as refused:
            call()
    assert stat.S_IMODE(folder.stat().st_mode) == mode
    subprocess.run(str(refused.value).split("`")[1], shell=True, check=True)
    assert local.stop() is False


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="Only root can give folders away.")
@pytest.mark.parametrize("around", [False, True])
def test_a_home_of_another_user_is_refused(local, around: bool) -> None:
    local.home.mkdir(parents=True)
    os.chown(local.home.parent if around else local.home, 12345, 12345)
    for call in (local.start, local.stop, local.reset):
        with pytest.raises(LocalServerError, match="belongs to another user: set E2G_HOME"):
            call()


def test_looking_stopping_and_resetting_leave_no_trace_where_nothing_was(local, tmp_path) -> None:
    status = local.status()
    assert (status.running, status.pid, status.megabytes) == (False, None, 0)
    assert status.connection.password.get_secret_value() == ""
    assert local.logs() == []
    assert local.stop() is False
    local.reset()
    assert files(tmp_path) == []


def test_a_foreign_process_in_the_state_file_is_never_stopped(local) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    local.home.mkdir(parents=True)
    started = psutil.Process(child.pid).create_time() - 3600
    (local.home / "state.json").write_text(
        json.dumps({"pid": child.pid, "started": started, "bolt_port": 1, "http_port": 2, "ready": True})
    )
    assert local.stop() is False
    assert child.poll() is None
    child.kill()
    child.wait()
