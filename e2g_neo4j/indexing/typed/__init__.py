"""The typed graph: labels of entities and relationships between them, made from statements, by a schema or without."""
