"""Embedding models, reranker, chat models, spaCy pipelines, and words as Neo4j's full-text indexes have them."""
