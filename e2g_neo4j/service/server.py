"""Run the service: the app under uvicorn, and a worker in a process of its own."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import uvicorn
from fastapi import FastAPI
from uvicorn.loops.auto import auto_loop_factory

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.client import E2G
from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.graph import keys
from e2g_neo4j.runtime.loopback import is_loopback
from e2g_neo4j.service.app import create_app
from e2g_neo4j.service.observability import log_json
from e2g_neo4j.service.oidc import issuer_of
from e2g_neo4j.settings import Settings

logger = logging.getLogger(__name__)

SECONDS_TO_STOP = 15
"""How long requests may go on after SIGTERM. Streams end before."""

WORKER_SECONDS_TO_STOP = 12.0
"""How long the worker has to put its task back into the queue."""

MAX_HEAD = 65_536
"""Bytes of the headers of a request that are kept while the rest is awaited."""

KEPT_SECONDS = 75
"""How long a connection is kept without a request: longer than proxies, which would send one while it is closed."""

LONGEST_PAUSE = 30.0
"""Maximum seconds before a worker that ended is started again."""


def serve(settings: Settings, *, host: str, port: int, worker: bool, mcp_write: bool = False) -> None:
    """Serve until SIGTERM or SIGINT, at a port, or at any free one for 0. With `worker`, run a worker and bring the
    schema up to date; with `mcp_write`, MCP has the tools that change corpora.

    Raises:
        ConfigurationError: The port is used; or others can reach the service, and there are no keys; or an OpenID
            Connect issuer is configured without an audience.
    """
    issuer_of(settings)  # whether it can be used
    _check_port(host, port)
    with E2G(settings=settings) as e2g:
        if worker:
            e2g.migrate(["service"])
        with_others = not is_loopback(host) or settings.public_url
        if with_others and settings.oidc_issuer is None and not e2g.runner.run(keys.any_key()):
            raise ConfigurationError(
                f"Without API keys, the service is for this machine only, not for {settings.public_url or host}: "
                "create one with `e2g keys create --name NAME --scopes read,ask --corpora '*'`, or use --host "
                "127.0.0.1 without E2G_PUBLIC_URL."
            )
    log_json()
    with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
        runner.run(_serve(settings, host, port, worker=worker, mcp_write=mcp_write))


class _Server(uvicorn.Server):
    """A server that ends like any program when it is told to stop, where uvicorn would kill its process.

    `stopping` is set when it is told to stop.
    """

    stopping: asyncio.Event
    public_url: str | None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for one in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(one, self._stop, one)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        host = f"[{self.config.host}]" if ":" in self.config.host else self.config.host
        address = self.public_url or f"http://{host}:{port}"
        print(f"Page: {address.rstrip('/')}/ui", file=sys.stderr, flush=True)  # for a person; the log is for machines

    def _stop(self, number: int) -> None:
        self.stopping.set()
        self.handle_exit(number, None)


async def _serve(settings: Settings, host: str, port: int, *, worker: bool, mcp_write: bool) -> None:
    app = create_app(AsyncE2G(settings=settings), mcp_write=mcp_write)
    server = _Server(configuration(app, host, port))
    server.stopping = asyncio.Event()
    server.public_url = settings.public_url
    keeping = asyncio.create_task(_keep_worker(server.stopping)) if worker else None
    try:
        await server.serve()
    finally:
        server.stopping.set()
        if keeping is not None:
            await keeping


def configuration(app: FastAPI, host: str, port: int) -> uvicorn.Config:
    """Return how the application is served."""
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http="h11",
        h11_max_incomplete_event_size=MAX_HEAD,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEPT_SECONDS,
        timeout_graceful_shutdown=SECONDS_TO_STOP,
    )


def _check_port(host: str, port: int) -> None:
    """Raise a ConfigurationError unless a port is free, before anything is started."""
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with socket.socket(family, kind, protocol) as one:
                if sys.platform != "win32":
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                one.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ConfigurationError(f"Port {port} of {host} is used; choose another one with --port.") from error
        if error.errno == errno.EACCES:
            raise ConfigurationError(
                f"Port {port} is for administrators only; choose another one with --port."
            ) from error


async def _keep_worker(stopping: asyncio.Event) -> None:
    """Run a worker, start it again whenever it ends, and stop it when the event is set.

    It has a process of its own, because indexing would slow down every request. It ends with its standard input, so
    that none is left if this process is killed.
    """
    told = asyncio.create_task(stopping.wait())
    pause = 1.0
    while not stopping.is_set():
        began = asyncio.get_running_loop().time()
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "e2g_neo4j.cli", "worker", "--stop-with-stdin", "--log-json", stdin=PIPE
        )
        ended = asyncio.create_task(process.wait())
        await asyncio.wait([ended, told], return_when=asyncio.FIRST_COMPLETED)
        if stopping.is_set():
            await _stop(process)
            return
        pause = 1.0 if asyncio.get_running_loop().time() - began > 60 else min(2 * pause, LONGEST_PAUSE)
        logger.error("The worker ended with code %s. It is started again in %.0f s.", process.returncode, pause)
        await asyncio.wait([told], timeout=pause)


async def _stop(process: Process) -> None:
    """Stop a worker: gracefully, then at once."""
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), WORKER_SECONDS_TO_STOP)
    except TimeoutError:
        process.kill()
        await process.wait()
