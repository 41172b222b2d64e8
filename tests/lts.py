"""Servers of the tests: the managed one, and one of 5.26, the release with long-term support, which is started as the
managed one is; its jars have their own lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2g_neo4j.managed_neo4j import Connection, LocalServer, config, jars, server
from e2g_neo4j.settings import Settings

LOCK = Path(__file__).parent / "data" / "neo4j-5.26.lock"
COORDINATES = "org.neo4j:neo4j:5.26.31"


@contextmanager
def lts_server(home: Path) -> Iterator[Connection]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jars, "LOCK", LOCK)
        patch.setattr(config, "MAIN_CLASS", "org.neo4j.server.CommunityEntryPoint")
        # it lacks some settings of later versions
        with started(home, 512, "server.config.strict_validation.enabled=false") as connection:
            patch.undo()
            yield connection


@contextmanager
def started(home: Path, heap_mb: int, *settings: str) -> Iterator[Connection]:
    """A managed server, quicker than that of users. What tests write and delete changes the statistics of the database
    all the time, so that a server plans statements again each ten seconds, which is most of its work; this one does so
    once an hour. With a small heap, the threads of another collector would cost a sixth of its processor time. It waits
    two seconds for a bookmark that it has not seen."""
    local = LocalServer(Settings(home=home, db_heap_mb=heap_mb))
    own = ("dbms.cypher.min_replan_interval=1h", "db.transaction.bookmark_ready_timeout=2s")
    lines = "".join(f"{setting}\n" for setting in (*own, *settings))
    java = tuple("-XX:+UseSerialGC" if option == "-XX:+UseG1GC" else option for option in config._JAVA_OPTIONS)

    def write_settings(conf: Path, bolt_port: int, http_port: int) -> None:
        config.write_settings(conf, bolt_port, http_port)
        with (conf / "neo4j.conf").open("a", encoding="utf-8") as file:
            file.write(lines)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "write_settings", write_settings)
        patch.setattr(config, "_JAVA_OPTIONS", java)
        connection = local.start()
    try:
        yield connection
    finally:
        local.stop()
