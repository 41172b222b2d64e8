"""The retrieval modes, one per file, each a `Strategy` at its end, and those of other packages."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.retrieval.strategies.auto import AUTO, DIFFUSION
from e2g_neo4j.retrieval.strategies.communities import COMMUNITIES
from e2g_neo4j.retrieval.strategies.dense import DENSE
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
from e2g_neo4j.retrieval.strategies.routes import ROUTES
from e2g_neo4j.retrieval.strategies.synonyms import SYNONYMS
from e2g_neo4j.retrieval.strategies.tree import RAPTOR, TREE
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

DEFAULT_MODE = AUTO.name

ENTRY_POINTS = "e2g_neo4j.modes"
"""The group of entry points by which other packages add modes."""


@cache
def load_strategies() -> Strategies:
    """Return the modes of this package and of other installed packages. One that cannot be loaded is left out, and
    a warning tells why."""
    strategies = STRATEGIES
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            strategies = _add_strategy(strategies, entry.load())
        except Exception as error:  # it is somebody else's code
            package = entry.dist.name if entry.dist else entry.value
            message = f"The package {package} has the mode {entry.name!r}, which cannot be used: {error}"
            warnings.warn(f"{message.rstrip('.')}. Correct or uninstall the package.", stacklevel=1)
    return strategies


def with_strategies(own: Iterable[Strategy]) -> Strategies:
    """Return the installed modes and others.

    Raises:
        ConfigurationError: Two modes have the same name.
    """
    strategies = load_strategies()
    for strategy in own:
        strategies = _add_strategy(strategies, strategy)
    return strategies


def _add_strategy(strategies: Strategies, added: Any) -> Strategies:
    if not isinstance(added, Strategy):
        raise ConfigurationError(f"{added!r:.100} is no Strategy: see the page Your own mode.")
    if added.name in strategies:
        raise ConfigurationError(f"There are two strategies with the name {added.name!r}: rename one of them.")
    return {**strategies, added.name: added}
