"""A real `e2g serve` in a process of its own, and keys for it; or the app in a thread of the tests' process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from at_server import variables_of

from e2g_neo4j import AsyncE2G, Settings
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.service.app import create_app
from e2g_neo4j.service.server import configuration

STARTING_SECONDS = 120


def environment(connection: Connection, **more: str) -> dict[str, str]:
    """The environment of commands that use a server."""
    return {
        **os.environ,
        **variables_of(connection),
        "E2G_WORKERS": "1",
        **more,
    }


def e2g(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """What a command prints."""
    return subprocess.run(
        [sys.executable, "-m", "e2g_neo4j.cli", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def linked_text(link: str, url: str, headers: dict[str, str]) -> str:
    """The text from where the link of a citation points to, in the page of the service at `url`."""
    page, _, place = str(httpx.URL(url).join(link)).partition("#")
    assert page == f"{url}/ui/"
    path, _, at = place.partition("?at=")
    reply = httpx.get(f"{url}/v1{path}/text", params={"start": int(at)}, headers=headers)
    assert reply.status_code == 200
    text: str = reply.json()["text"]
    return text


def create_key(environment: dict[str, str], **options: str) -> str:
    """A new API key."""
    arguments = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
    made = e2g(environment, "keys", "create", "--name", "test", "--json", *arguments)
    assert made.returncode == 0, made.stderr
    key: str = json.loads(made.stdout)["key"]
    return key


class RunningService:
    """The process, its address and its log."""

    def __init__(self, environment: dict[str, str], log: Path, *options: str) -> None:
        self._log = log
        with log.open("wb") as target:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "e2g_neo4j.cli", "serve", "--port", "0", *options],
                env=environment,
                stdout=target,
                stderr=target,
            )
        self.url = self._address()

    def _address(self) -> str:
        until = time.monotonic() + STARTING_SECONDS
        while time.monotonic() < until and self.process.poll() is None:
            if found := re.search(r"running on (http://[\d.]+:\d+)", self.log()):
                return found[1]
            time.sleep(0.1)
        self.kill()
        raise AssertionError(f"The service did not start: {self.log()[-2000:]}")

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def lines(self) -> list[dict[str, Any]]:
        """The log, which is JSON from the first line of the server on."""
        return [json.loads(line) for line in self.log().splitlines() if line.startswith("{")]

    def client(self, key: str | None = None) -> httpx.Client:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=120)

    def stop(self) -> int:
        """Stop it gracefully; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def running(settings: Settings, wrapped: Callable[[Any], Any] = lambda app: app, **options: Any) -> Iterator[str]:
    """Its address."""
    app = create_app(AsyncE2G(settings=settings), **options)
    server = uvicorn.Server(configuration(wrapped(app), "127.0.0.1", 0))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.05)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()
