"""Requests and the runner that executes them, the loader of Cypher, drivers and the errors of Neo4j, threads."""
