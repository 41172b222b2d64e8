"""The managed Neo4j server: downloaded once, started in the background, and shared by all commands."""

from e2g_neo4j.managed_neo4j.server import Connection, LocalServer, Status

__all__ = ["Connection", "LocalServer", "Status"]
