"""The types that calls of the clients take and return, and those that the modules share."""

from e2g_neo4j.types.documents import Chunk, Cut, Section, SourceDocument, Span, StandsFor, TokenSpans, Vectors
from e2g_neo4j.types.fingerprint import Fingerprint
from e2g_neo4j.types.graph import Alias, Ambiguity, EntityInfo, Extraction, Link, Method, Sentence, Summary
from e2g_neo4j.types.reports import (
    Adoption,
    AdoptReport,
    ArchiveInfo,
    DocumentInfo,
    DocumentText,
    EnrichReport,
    Finding,
    GraphDocumentReport,
    IndexPlan,
    IndexReport,
    LinkReport,
    Progress,
    ReportUsage,
    State,
    StatementReport,
    TokenUsage,
)
from e2g_neo4j.types.results import Answer, Citation, Evidence, Fact, Pair, Passage, Round, Route, TextNode
from e2g_neo4j.types.statements import StatementResult, Template, TemplateParameter

Spending = TokenUsage
"""The former name of `TokenUsage`."""

__all__ = [
    "AdoptReport",
    "Adoption",
    "Alias",
    "Ambiguity",
    "Answer",
    "ArchiveInfo",
    "Chunk",
    "Citation",
    "Cut",
    "DocumentInfo",
    "DocumentText",
    "EnrichReport",
    "EntityInfo",
    "Evidence",
    "Extraction",
    "Fact",
    "Finding",
    "Fingerprint",
    "GraphDocumentReport",
    "IndexPlan",
    "IndexReport",
    "Link",
    "LinkReport",
    "Method",
    "Pair",
    "Passage",
    "Progress",
    "ReportUsage",
    "Round",
    "Route",
    "Section",
    "Sentence",
    "SourceDocument",
    "Span",
    "Spending",
    "StandsFor",
    "State",
    "StatementReport",
    "StatementResult",
    "Summary",
    "Template",
    "TemplateParameter",
    "TextNode",
    "TokenSpans",
    "TokenUsage",
    "Vectors",
]
