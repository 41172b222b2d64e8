"""What is remembered of the running server, and whether it still runs."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from e2g_neo4j.local.config import answers


@dataclass(frozen=True, slots=True)
class State:
    """A process is ours only if pid and start time agree: pids are used again.

    `ready` is written once the server takes our password; the ports are asked for again at the next start.
    """

    pid: int
    started: float
    bolt_port: int
    http_port: int
    ready: bool = False


def read_state(path: Path) -> State | None:
    try:
        return State(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_state(path: Path, state: State) -> None:
    write_private(path, json.dumps(asdict(state)))


def process_of(state: State) -> psutil.Process | None:
    """The process, if it is still the one that was started then, and not a zombie that waits for its parent."""
    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        process = psutil.Process(state.pid)
        if abs(process.create_time() - state.started) < 1 and process.status() != psutil.STATUS_ZOMBIE:
            return process
    return None


def listens(process: psutil.Process, state: State) -> bool:
    """Whether this very process listens at both ports: what answers there may be another program."""
    try:
        found = {c.laddr.port for c in process.net_connections("tcp") if c.status == psutil.CONN_LISTEN}
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:  # where the system keeps it from us, an answer must do
        return answers(state.bolt_port) and answers(state.http_port)
    return {state.bolt_port, state.http_port} <= found


def write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read, all of it or nothing."""
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    beside.replace(path)
