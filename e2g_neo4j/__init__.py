"""E²GraphRAG (arXiv 2505.24226) with all its state in Neo4j.

`E2G` and `AsyncE2G` index documents and find evidence; the rest are the types of what they take and give.
"""

from e2g_neo4j.client import E2G, AsyncE2G
from e2g_neo4j.errors import E2GError
from e2g_neo4j.model import (
    AdoptReport,
    Answer,
    ArchiveInfo,
    Citation,
    DocumentInfo,
    Evidence,
    Fact,
    Finding,
    IndexPlan,
    IndexReport,
    LinkReport,
    Pair,
    Passage,
    SourceDocument,
    TextNode,
)
from e2g_neo4j.settings import Settings

__all__ = [
    "E2G",
    "AdoptReport",
    "Answer",
    "ArchiveInfo",
    "AsyncE2G",
    "Citation",
    "DocumentInfo",
    "E2GError",
    "Evidence",
    "Fact",
    "Finding",
    "IndexPlan",
    "IndexReport",
    "LinkReport",
    "Pair",
    "Passage",
    "Settings",
    "SourceDocument",
    "TextNode",
]
