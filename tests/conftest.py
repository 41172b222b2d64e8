"""What all tests share: hypothesis' profile, and one real Neo4j server a run.

The server is the managed one, in a home of its own, started when the first test asks for it and stopped when the run
ends. E2G_TEST_NEO4J=uri takes the server at NEO4J_URI instead, E2G_TEST_NEO4J=docker one in a container.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psutil
import pytest
from hypothesis import HealthCheck, settings
from neo4j import Driver, GraphDatabase
from ollama_build import BINARY
from pydantic import SecretStr
from real_ollama import RealOllama

from e2g_neo4j.local import Connection, LocalServer
from e2g_neo4j.migrate import migrate
from e2g_neo4j.settings import Settings

settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")

DIMENSIONS = 384
_HOMES = Path(tempfile.gettempdir()) / f"e2g-tests-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
_HOME = "E2G_TEST_HOME"  # set by the process that owns the run, inherited by its workers


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return
    for left_over in _HOMES.glob("*"):
        if not psutil.pid_exists(int(left_over.name)):
            _remove(left_over)
    os.environ[_HOME] = str(_HOMES / str(os.getpid()))


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        _remove(_HOMES / str(os.getpid()))


def _remove(home: Path) -> None:
    if home.is_dir():
        LocalServer(Settings(home=home)).stop()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def neo4j_connection() -> Iterator[Connection]:
    """A real server with our schema."""
    kind = os.environ.get("E2G_TEST_NEO4J", "managed")
    if kind == "docker":
        from testcontainers.neo4j import Neo4jContainer

        with Neo4jContainer("neo4j:2026.08.1") as container:
            yield _with_schema(
                Connection(container.get_connection_url(), container.username, SecretStr(container.password), "")
            )
    elif kind == "uri":
        configured = Settings()
        if configured.neo4j_uri is None or configured.neo4j_password is None:
            pytest.fail("E2G_TEST_NEO4J=uri wants NEO4J_URI and NEO4J_PASSWORD.")
        yield _with_schema(Connection(configured.neo4j_uri, configured.neo4j_username, configured.neo4j_password, ""))
    else:
        yield _with_schema(LocalServer(Settings(home=Path(os.environ[_HOME]), db_heap_mb=768)).start())


def _with_schema(connection: Connection) -> Connection:
    with _driver(connection) as driver:
        migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)
    return connection


def _driver(connection: Connection) -> Driver:
    auth = (connection.username, connection.password.get_secret_value())
    return GraphDatabase.driver(connection.uri, auth=auth, connection_timeout=10.0, notifications_min_severity="OFF")


@pytest.fixture(scope="session")
def driver(neo4j_connection: Connection) -> Iterator[Driver]:
    with _driver(neo4j_connection) as driver:
        yield driver


@pytest.fixture
def corpus() -> str:
    """A corpus that no other test knows."""
    return f"test-{uuid4().hex[:12]}"


@pytest.fixture(scope="session")
def ollama_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealOllama]:
    """A real Ollama server, as `make ollama` builds it."""
    if not BINARY.exists():
        message = f"There is no Ollama server at {BINARY}: run `make ollama` once."
        pytest.fail(message) if os.environ.get("E2G_TEST_OLLAMA") == "required" else pytest.skip(message)
    server = RealOllama(BINARY, tmp_path_factory.mktemp("ollama"))
    yield server
    server.stop()
