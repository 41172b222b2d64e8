"""What the integrations share: passages for other frameworks, and queries for their retrievers on this index."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_jsonable_python

from e2g_neo4j.models.embedding.base import Embedder
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.lucene import lucene
from e2g_neo4j.runtime.cypher import load
from e2g_neo4j.settings import Settings, load_settings
from e2g_neo4j.types.results import Evidence, Passage

VECTOR_INDEX = "e2g_embedding"
"""The vector index of chunks and summaries."""
FULLTEXT_INDEX = "e2g_chunk_words"
"""The full-text index of chunks."""

OF_PASSAGE = (
    *("corpus", "document", "source", "start", "end", "level", "page", "heading", "excerpt", "referred", "score"),
    *("nodes", "path", "text_node", "pairs"),
)
"""The fields of a passage that other frameworks get as its metadata."""


def retrieval_query() -> str:
    """Return the Cypher that retrievers of other libraries append to their search, with columns text, score, metadata.

    It keeps the best `$limit` results of `$corpus`. Neo4j's retrievers take these two parameters from `query_params`,
    LangChain's Neo4jVector from `params`.
    """
    return load("interop/retrieval_query")


def fulltext_query(question: str, corpus: str) -> str:
    """Return a query of the full-text index for any word of the question in one corpus. Query syntax has no effect."""
    return lucene(question, corpus)


def passage_id(passage: Passage) -> str:
    """Return the id of a passage: its first node and its characters. Ids are unique within a result."""
    return f"{passage.nodes[0]}:{passage.start}-{passage.end}"


def metadata(passage: Passage, evidence: Evidence) -> dict[str, Any]:
    """Return everything about a passage except its text, in JSON types. Unknown values are None.

    `start` and `end` count characters of the document's text. `excerpt` is what to show of it, with its own `start`,
    the place to link to; `referred` is what refers to its document. `level` is 0 for text, 1 or more for a summary.
    `nodes` are the ids of its nodes in the graph, `path` those of the summaries above. `pairs` are pairs of entities
    that it mentions. `text_node` is the text node in an adopted corpus. `route`, `reason`, `mode` and, with
    `relationship_types`, `facts` are those of the evidence.
    """
    return {
        "id": passage_id(passage),
        **{name: to_jsonable_python(getattr(passage, name)) for name in OF_PASSAGE},
        "route": evidence.route,
        "reason": evidence.reason,
        "mode": evidence.mode,
        **facts_of(evidence),
    }


def facts_of(evidence: Evidence) -> dict[str, list[str]]:
    """Return the facts of the evidence as statements, under `facts`; empty if there are none."""
    return {"facts": [fact.to_sentence() for fact in evidence.facts]} if evidence.facts else {}


class IndexEmbedder:
    """What the embedding models of the integrations share. They accept texts of any length. Vectors have length 1."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        models = Models(settings or load_settings())
        self._passages, self._queries = models.embedder, models.query_embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts. The shape is (len(texts), dimensions)."""
        return _vectors(self._passages, texts)

    def embed_query(self, text: str) -> list[float]:
        """Embed a question. The shape is (dimensions,)."""
        return _vectors(self._queries, [text])[0]


def _vectors(embedder: Embedder, texts: list[str]) -> list[list[float]]:
    from e2g_neo4j.models.embedding.windows import embed_long

    rows: list[list[float]] = embed_long(embedder, texts).tolist()
    return rows
