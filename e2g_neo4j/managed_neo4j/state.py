"""The state file of the managed server, and checks whether the server still runs."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from e2g_neo4j.managed_neo4j.config import is_listening


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


def read_state(path: Path) -> State | None:
    """Read the state. Return None if there is no valid file."""
    try:
        return State(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_state(path: Path, state: State) -> None:
    """Write the state."""
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
