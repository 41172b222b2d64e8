"""The address of Neo4j."""

from __future__ import annotations

from e2g_neo4j.managed_neo4j import LocalServer
from e2g_neo4j.runtime.drivers import Address
from e2g_neo4j.settings import Settings


def address(settings: Settings) -> Address:
    """Return the address of the configured server, or of the managed server, which is started if necessary."""
    if settings.neo4j_uri:
        password = settings.neo4j_password.get_secret_value() if settings.neo4j_password else ""
        return Address(settings.neo4j_uri, settings.neo4j_username, password)
    server = LocalServer(settings)
    connection = server.start()
    return Address(connection.uri, connection.username, connection.password.get_secret_value(), server)
