"""The retrieval modes and the operations that rank for them. Mode `e2g` selects chunks instead, in `retrieve`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from e2g_neo4j.retrieval.modes.auto import auto
from e2g_neo4j.retrieval.modes.communities import communities
from e2g_neo4j.retrieval.modes.dense import dense
from e2g_neo4j.retrieval.modes.diffusion import diffusion
from e2g_neo4j.retrieval.modes.fulltext import fulltext, fulltext_chunks
from e2g_neo4j.retrieval.modes.graphrag_local import graphrag_local
from e2g_neo4j.retrieval.modes.hipporag import hipporag
from e2g_neo4j.retrieval.modes.hybrid import hybrid, hybrid_chunks
from e2g_neo4j.retrieval.modes.lazy import lazy
from e2g_neo4j.retrieval.modes.lightrag import lightrag
from e2g_neo4j.retrieval.modes.linear import linear
from e2g_neo4j.retrieval.modes.pagerank import pagerank
from e2g_neo4j.retrieval.modes.raptor import raptor
from e2g_neo4j.retrieval.modes.routes import routes
from e2g_neo4j.retrieval.modes.synonyms import synonyms
from e2g_neo4j.retrieval.modes.tree import tree
from e2g_neo4j.retrieval.modes.vector_context import vector_context
from e2g_neo4j.retrieval.options import Mode
from e2g_neo4j.retrieval.passages import ScoredNode
from e2g_neo4j.retrieval.query import Query, Ranking
from e2g_neo4j.runtime.requests import Operation

WINDOW_RANKINGS: Mapping[Mode, Callable[[Query], Ranking]] = {
    "auto": auto,
    "diffusion": diffusion,
    "routes": routes,
    "lightrag": lightrag,
    "pagerank": pagerank,
    "hipporag": hipporag,
    "linear": linear,
    "dense": dense,
    "fulltext": fulltext,
    "hybrid": hybrid,
    "communities": communities,
    "lazy": lazy,
    "vector_context": vector_context,
    "synonyms": synonyms,
    "graphrag_local": graphrag_local,
}
"""The modes that rank windows. A new mode is also named in `Mode`, and where they apply in the sets below it, in
`retrieval/options.py`, and in `RANKED_BY` in `retrieval/explain.py`."""

NODE_RANKINGS: Mapping[Mode, Callable[[Query], Operation[list[ScoredNode]]]] = {"tree": tree, "raptor": raptor}
"""The modes that rank chunks and what is above them, with their text."""

CHUNK_RANKINGS: Mapping[Mode, Callable[[Query], Operation[list[tuple[str, float]]]]] = {
    "fulltext": fulltext_chunks,
    "hybrid": hybrid_chunks,
}
"""The modes that rank chunks by themselves if these are the unit. The others rank them by their best window."""
