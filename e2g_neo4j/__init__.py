"""E²GraphRAG (arXiv 2505.24226) with all its state in Neo4j.

`E2G` and `AsyncE2G` index documents and find evidence. The rest are the types of what they take and return.
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from e2g_neo4j.public import *  # noqa: F403

logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    """Import the names that are exported when the first of them is used, so that the command line starts quickly."""
    if name.startswith("__") and name != "__all__":
        raise AttributeError(name)
    return getattr(import_module("e2g_neo4j.public"), name)
