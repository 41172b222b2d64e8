"""A client that kills itself in the middle of its work, for tests that look at what is left."""

from __future__ import annotations

import os
import signal
from typing import Any

from libraries import small_document, write
from neo4j import GraphDatabase

from e2g_neo4j import database, leases, writing
from e2g_neo4j.local import Connection

BEFORE = [small_document("d0", ["ann", "bob"], ["cid"]), small_document("d1", ["ann", "cid"])]
AFTER = [
    small_document("d0", ["ann", "dan"], ["bob", "eve"]),
    *(small_document(f"d{n}", ["cid", "dan"]) for n in range(2, 6)),
]
LEASE_SECONDS = 0.5


def index_and_die(connection: Connection, corpus: str, statements: int, chunks_at_once: int) -> None:
    """Write AFTER over BEFORE; SIGKILL when the server has answered so many statements, in the middle of a transaction
    or between two. Exits by itself where there are fewer. The edges of more chunks than so many are counted later."""
    leases.SECONDS = LEASE_SECONDS
    writing.NODE_ROWS = writing.CHUNK_ROWS = 1  # more transactions to be killed in
    writing.CHUNKS_AT_ONCE = chunks_at_once
    writing.CHUNKS_READ = writing.CHUNKS_READ if chunks_at_once else 1
    load, left = database.load, statements

    def counting(name: str) -> Any:
        nonlocal left
        if name == "index/renew_run":  # how often it comes depends on the clock
            return load(name)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return load(name)

    database.load = counting
    auth = (connection.username, connection.password.get_secret_value())
    with GraphDatabase.driver(connection.uri, auth=auth, notifications_min_severity="OFF") as driver:
        write(driver, corpus, AFTER)
