"""Retrieval modes by what they need, from their objects."""

from __future__ import annotations

from e2g_neo4j.retrieval.strategies import STRATEGIES

WINDOW_MODES = frozenset(name for name, one in STRATEGIES.items() if one.ranks == "windows")
GRAPH_MODES = frozenset(name for name, one in STRATEGIES.items() if "entities" in one.needs)
LAYER_MODES = frozenset(
    name for name, one in STRATEGIES.items() if one.layer in one.needs and one.layer != "sentence_vectors"
)
"""The modes that need what `enrich` makes, but for the vectors of sentences of `libraries.write_with_sentences`."""

MAY_FIND_NOTHING = ("fulltext", "lightrag_hybrid", "lightrag_local", "lightrag_global", "e2g_code")
"""Without words in common, without relations, or if only summaries mention the terms most often."""
