"""A client that kills itself in the middle of its work, for tests that look at what is left."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import Counter
from contextvars import ContextVar
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any

from at_server import connected
from libraries import small_document, write
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from e2g_neo4j import E2G
from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.graph import lease, tasks, writer
from e2g_neo4j.indexing import pipeline
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.cypher import Variant, load
from e2g_neo4j.service import server, uploads
from e2g_neo4j.service.app import create_app
from e2g_neo4j.service.worker import Worker
from e2g_neo4j.settings import Settings

BEFORE = [small_document("d0", ["ann", "bob"], ["cid"]), small_document("d1", ["ann", "cid"])]
AFTER = [
    small_document("d0", ["ann", "dan"], ["bob", "eve"]),
    *(small_document(f"d{n}", ["cid", "dan"]) for n in range(2, 6)),
]
LEASE_SECONDS = 0.5


def index_and_die(
    connection: Connection, corpus: str, statements: int, chunks_at_once: int, sent: SimpleQueue[str] | None = None
) -> None:
    """Write AFTER over BEFORE; SIGKILL when the server has answered so many statements, in the middle of a transaction
    or between two. Exits by itself where there are fewer, or for -1. The edges of more chunks than so many are counted
    later. `sent` gets the names of the statements."""
    lease.SECONDS = LEASE_SECONDS
    writer.NODE_ROWS = writer.CHUNK_ROWS = 1  # more transactions to be killed in
    writer.CHUNKS_AT_ONCE = chunks_at_once
    writer.CHUNKS_READ = writer.CHUNKS_READ if chunks_at_once else 1
    left = statements

    def counting(name: str, *variant: Variant) -> Any:
        nonlocal left
        if name == "index/renew_run":  # how often it comes depends on the clock
            return load(name, *variant)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        if sent is not None:
            sent.put(name)
        return load(name, *variant)

    vars(database)["load"] = counting
    with connected(connection) as driver:
        write(driver, corpus, AFTER)


def import_and_die(settings: Settings, file: Path, corpus: str, statements: int) -> None:
    """Import; SIGKILL when the server has answered so many statements. Exits by itself after fewer."""
    lease.SECONDS = LEASE_SECONDS
    pipeline.BATCH_CHUNKS = 1
    left = statements
    with E2G(settings=settings) as client:
        client.migrate()

        def counting(name: str, *variant: Any) -> Any:
            nonlocal left
            if name == "index/renew_run":  # how often it comes depends on the clock
                return load(name, *variant)
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return load(name, *variant)

        vars(database)["load"] = counting
        client.import_corpus(file, corpus=corpus)


class UntilIdle(Worker):
    """A worker that stops when nothing waits."""

    async def _sleep(self, seconds: float) -> None:
        self.stopping.set()


async def work(settings: Settings) -> None:
    """Run the tasks that wait."""
    async with AsyncE2G(settings=settings) as client:
        await UntilIdle(client).run()


def work_and_die(settings: Settings, statements: int, sent: SimpleQueue[str] | None = None) -> None:
    """Work; SIGKILL when the server has answered so many statements of a task. Exits by itself after fewer, or for -1.
    `sent` gets the names of the statements."""
    writer.NODE_ROWS = 20
    left, begun = statements, False

    def counting(name: str, *variant: Variant) -> Any:
        nonlocal left, begun
        begun = begun or name == "service/take_task"
        if not begun or name in ("index/renew_run", "service/renew"):  # how often they come depends on the clock
            return load(name, *variant)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        if sent is not None:
            sent.put(name)
        return load(name, *variant)

    vars(database)["load"] = counting
    asyncio.run(work(settings))


class Mortal:
    """Middleware: SIGKILL at a step of a request that its header `X-Kill-At` names, such as `service/add_blobs#2`, the
    second time that this statement is sent. Steps are statements and the messages that the app receives and sends.
    They are printed."""

    request: ContextVar[Mortal | None] = ContextVar("request", default=None)

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.at = ""
        self.seen: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] == "/livez":
            await self.app(scope, receive, send)
            return
        one = Mortal(self.app)
        one.at = dict(scope["headers"]).get(b"x-kill-at", b"").decode()
        Mortal.request.set(one)

        async def receiving() -> Message:
            message = await receive()
            one.step(message["type"])
            return message

        async def sending(message: Message) -> None:
            one.step(message["type"])
            await send(message)

        await self.app(scope, receiving, sending)

    def step(self, name: str) -> None:
        self.seen[name] += 1
        step = f"{name}#{self.seen[name]}"
        print("step", step, file=sys.stderr, flush=True)
        if step == self.at:
            os.kill(os.getpid(), signal.SIGKILL)


def serve_and_die(port: int, worker: bool) -> None:
    """`e2g serve`, with small parts of files, short retries, and requests that kill it."""
    tasks.PART_BYTES = uploads.PART_BYTES = 512  # more transactions to be killed in
    tasks.PARTS_AT_ONCE = 1
    vars(database)["RETRY_SECONDS"] = 1.0

    def counting(name: str, *variant: Variant) -> Any:
        if request := Mortal.request.get():
            request.step(name)
        return load(name, *variant)

    def mortal(*arguments: Any, **options: Any) -> Any:
        app = create_app(*arguments, **options)
        app.add_middleware(Mortal)
        return app

    vars(database)["load"] = counting
    vars(server)["create_app"] = mortal
    server.serve(Settings(), host="127.0.0.1", port=port, worker=worker)
