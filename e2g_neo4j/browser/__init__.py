"""Visualise the graph: a guide and a style for Neo4j Browser, and standalone HTML pages."""
