"""End-to-end tests load every model once a process, not once a command, and extract in that process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from libraries import remove
from neo4j import Driver
from stated import state

from e2g_neo4j import E2G, Settings
from e2g_neo4j.cli.demo import LIBRARY
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.models.embedding import load
from e2g_neo4j.models.entities import pipeline


@pytest.fixture(scope="session", autouse=True)
def _models_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "load_embedder", cache(load.load_embedder))
        patch.setattr(pipeline, "load_pipeline", cache(pipeline.load_pipeline))
        patch.setenv("E2G_WORKERS", "1")  # starting other processes takes longer than a small library
        yield


@pytest.fixture(scope="session")
def sample(neo4j_connection: Connection, driver: Driver, _models_once: None) -> Iterator[str]:
    """A corpus of the sample library with all layers, for tests that only ask it."""
    corpus = "sample-of-all"
    settings = Settings(
        neo4j_uri=neo4j_connection.uri,
        neo4j_username=neo4j_connection.username,
        neo4j_password=neo4j_connection.password,
    )
    with E2G(settings=settings) as e2g:
        e2g.index([LIBRARY], corpus=corpus)
        e2g.enrich(corpus=corpus)
        state(e2g, corpus)
    yield corpus
    remove(driver, [corpus])
