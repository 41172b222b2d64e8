"""E²GraphRAG (arXiv 2505.24226) with all its state in Neo4j."""
