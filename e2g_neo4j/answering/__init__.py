"""Answers and their citations from evidence, map-reduce, global search, DRIFT, and text to Cypher."""
