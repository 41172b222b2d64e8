"""Integrations with other frameworks: `langchain`, `neo4j_graphrag`."""
