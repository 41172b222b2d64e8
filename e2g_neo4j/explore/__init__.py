"""The graph before somebody's eyes: in Neo4j Browser, with a guide and a style of our own, and as a page without it."""
