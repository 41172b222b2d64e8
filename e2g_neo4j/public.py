"""What `e2g_neo4j` exports."""

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.client import E2G
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import E2GError
from e2g_neo4j.graph.schema import Applied
from e2g_neo4j.remote_client import RemoteE2G
from e2g_neo4j.retrieval.options import RetrievalOptions
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.documents import SourceDocument
from e2g_neo4j.types.graph import (
    Alias,
    Ambiguity,
    DescriptionSource,
    DocumentMentions,
    EntityCard,
    EntityInfo,
    Link,
    LinkedNode,
    Neighbour,
)
from e2g_neo4j.types.reports import (
    Adoption,
    AdoptReport,
    ArchiveInfo,
    DocumentInfo,
    DocumentText,
    EnrichReport,
    Finding,
    GraphDocumentReport,
    IndexReport,
    LayerReport,
    LinkReport,
    Progress,
    ReferenceInfo,
    ReindexReport,
    TokenUsage,
)
from e2g_neo4j.types.results import (
    Absence,
    Answer,
    Citation,
    CitedReport,
    Evidence,
    Excerpt,
    Fact,
    ModeInfo,
    Pair,
    Passage,
    Point,
    Reference,
    Round,
    TextNode,
    Turn,
)
from e2g_neo4j.types.statements import StatementResult, Template, TemplateParameter

__all__ = [
    "E2G",
    "Absence",
    "AdoptReport",
    "Adoption",
    "Alias",
    "Ambiguity",
    "Answer",
    "Applied",
    "ArchiveInfo",
    "AsyncE2G",
    "Citation",
    "CitedReport",
    "DescriptionSource",
    "DocumentInfo",
    "DocumentMentions",
    "DocumentText",
    "E2GError",
    "EnrichReport",
    "EntityCard",
    "EntityInfo",
    "Evidence",
    "Excerpt",
    "Fact",
    "Finding",
    "GraphDocumentReport",
    "IndexReport",
    "LayerReport",
    "Link",
    "LinkReport",
    "LinkedNode",
    "ModeInfo",
    "Neighbour",
    "Pair",
    "Passage",
    "Point",
    "Progress",
    "Reference",
    "ReferenceInfo",
    "ReindexReport",
    "RemoteE2G",
    "RetrievalOptions",
    "Round",
    "Settings",
    "SourceDocument",
    "StatementResult",
    "Strategy",
    "Template",
    "TemplateParameter",
    "TextNode",
    "TokenUsage",
    "Turn",
    "from_text",
]
