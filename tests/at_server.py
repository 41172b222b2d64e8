"""What tests give to clients, drivers and commands so that they find the server of a connection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from neo4j import Driver, GraphDatabase

from e2g_neo4j.graph.schema import ALL_PARTS, migrate
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.settings import Settings


def settings_of(connection: Connection, **more: Any) -> Settings:
    return Settings(
        neo4j_uri=connection.uri,
        neo4j_username=connection.username,
        neo4j_password=connection.password,
        **more,
    )


def variables_of(server: Connection | Settings) -> dict[str, str]:
    settings = server if isinstance(server, Settings) else settings_of(server)
    assert settings.neo4j_uri
    assert settings.neo4j_password
    return {
        "NEO4J_URI": settings.neo4j_uri,
        "NEO4J_USERNAME": settings.neo4j_username,
        "NEO4J_PASSWORD": settings.neo4j_password.get_secret_value(),
    }


def set_variables(patch: pytest.MonkeyPatch, server: Connection | Settings, **more: str) -> None:
    """Set the environment of commands, and of clients that nobody gave settings."""
    for name, value in (variables_of(server) | more).items():
        patch.setenv(name, value)


@contextmanager
def connected(connection: Connection, **options: Any) -> Iterator[Driver]:
    auth = (connection.username, connection.password.get_secret_value())
    given = {"notifications_min_severity": "OFF"} | options
    with GraphDatabase.driver(connection.uri, auth=auth, **given) as driver:
        yield driver


@contextmanager
def migrated(connection: Connection, **options: Any) -> Iterator[Driver]:
    """A driver of a server that has all of our schema."""
    with connected(connection, **options) as driver:
        migrate(driver, "neo4j", embedding_dimensions=384, parts=ALL_PARTS)
        yield driver
