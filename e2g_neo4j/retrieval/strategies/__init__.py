"""The retrieval modes, one per file, each a `Strategy` at its end. All lists of modes are derived from `STRATEGIES`."""

from __future__ import annotations

from collections.abc import Iterable

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.retrieval.strategies.auto import AUTO
from e2g_neo4j.retrieval.strategies.communities import COMMUNITIES
from e2g_neo4j.retrieval.strategies.dense import DENSE
from e2g_neo4j.retrieval.strategies.diffusion import DIFFUSION
from e2g_neo4j.retrieval.strategies.e2g import E2G
from e2g_neo4j.retrieval.strategies.e2g_code import E2G_CODE
from e2g_neo4j.retrieval.strategies.e2g_normalised import E2G_NORMALISED
from e2g_neo4j.retrieval.strategies.fulltext import FULLTEXT
from e2g_neo4j.retrieval.strategies.graphrag_local import GRAPHRAG_LOCAL
from e2g_neo4j.retrieval.strategies.hipporag import HIPPORAG
from e2g_neo4j.retrieval.strategies.hybrid import HYBRID
from e2g_neo4j.retrieval.strategies.lazy import LAZY
from e2g_neo4j.retrieval.strategies.lightrag import (
    LIGHTRAG,
    LIGHTRAG_GLOBAL,
    LIGHTRAG_HYBRID,
    LIGHTRAG_LOCAL,
)
from e2g_neo4j.retrieval.strategies.linear import LINEAR
from e2g_neo4j.retrieval.strategies.pagerank import PAGERANK
from e2g_neo4j.retrieval.strategies.raptor import RAPTOR
from e2g_neo4j.retrieval.strategies.routes import ROUTES
from e2g_neo4j.retrieval.strategies.synonyms import SYNONYMS
from e2g_neo4j.retrieval.strategies.tree import TREE
from e2g_neo4j.retrieval.strategies.vector_context import VECTOR_CONTEXT
from e2g_neo4j.retrieval.strategy import Strategies, Strategy

STRATEGIES: Strategies = {
    one.name: one
    for one in (
        AUTO,
        E2G,
        E2G_CODE,
        E2G_NORMALISED,
        DIFFUSION,
        ROUTES,
        LIGHTRAG,
        LIGHTRAG_HYBRID,
        LIGHTRAG_LOCAL,
        LIGHTRAG_GLOBAL,
        PAGERANK,
        HIPPORAG,
        LINEAR,
        DENSE,
        FULLTEXT,
        HYBRID,
        TREE,
        COMMUNITIES,
        LAZY,
        VECTOR_CONTEXT,
        SYNONYMS,
        GRAPHRAG_LOCAL,
        RAPTOR,
    )
}
"""The modes of this package, in the order of lists. A new one is added here."""

MODES = tuple(STRATEGIES)

DEFAULT_MODE = AUTO.name

MODEL_MODES = tuple(one.name for one in STRATEGIES.values() if one.calls_model)
"""The modes that call the chat model if the option `llm` is set."""


def with_strategies(own: Iterable[Strategy]) -> Strategies:
    """Return the modes of this package and others.

    Raises:
        ConfigurationError: Two modes have the same name.
    """
    strategies = dict(STRATEGIES)
    for one in own:
        if one.name in strategies:
            raise ConfigurationError(f"There are two strategies with the name {one.name!r}: rename one of them.")
        strategies[one.name] = one
    return strategies
