"""A Neo4j of the project's own: fetched once, started in the background, found again by every later command."""

from e2g_neo4j.local.server import Connection, LocalServer, Status

__all__ = ["Connection", "LocalServer", "Status"]
