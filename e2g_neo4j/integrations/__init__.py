"""The same retrieval for those who work with another framework: `langchain`, `neo4j_graphrag`."""
