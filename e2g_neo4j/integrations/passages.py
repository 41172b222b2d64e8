"""What the integrations have in common: passages as other frameworks take them, and our index read by theirs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from e2g_neo4j.model import Evidence, Passage, Vectors
from e2g_neo4j.modes.fulltext import lucene
from e2g_neo4j.queries import load
from e2g_neo4j.settings import Settings, load_settings

VECTOR_INDEX = "e2g_embedding"
"""Of chunks and summaries."""
FULLTEXT_INDEX = "e2g_chunk_words"
"""Of chunks."""


def retrieval_query() -> str:
    """What retrievers of others append to their own search: it gives columns text, score and metadata, best first.

    Of what they find in all corpora it leaves the best `$limit` of `$corpus`. Neo4j's retrievers take these two from
    `query_params`, LangChain's Neo4jVector from `params`.
    """
    return load("interop/retrieval_query")


def fulltext_query(question: str, corpus: str) -> str:
    """A question as the full-text index takes it: any of its words, in one corpus; data stays data."""
    return lucene(question, corpus)


def passage_id(passage: Passage) -> str:
    """Which passage it is: the node where it begins, and its characters. Never two of one answer."""
    return f"{passage.nodes[0]}:{passage.start}-{passage.end}"


def metadata(passage: Passage, evidence: Evidence) -> dict[str, Any]:
    """All about a passage but its text, in types that JSON has; what is not known is None.

    `start` and `end` count characters of the document's text, `level` is 0 for text and 1 or more for a summary,
    `nodes` are the ids of its nodes in the graph and `path` those above them, `pairs` the pairs of entities behind it,
    `text_node` the node of somebody else's that holds it, if the corpus was adopted; `route`, `reason` and `mode` are
    those of the whole answer.
    """
    return {
        "id": passage_id(passage),
        "corpus": passage.corpus,
        "document": passage.document,
        "source": passage.source,
        "start": passage.start,
        "end": passage.end,
        "level": passage.level,
        "page": passage.page,
        "heading": passage.heading,
        "score": passage.score,
        "nodes": list(passage.nodes),
        "path": list(passage.path),
        "text_node": asdict(passage.text_node) if passage.text_node else None,
        "pairs": [asdict(pair) for pair in passage.pairs],
        "route": evidence.route,
        "reason": evidence.reason,
        "mode": evidence.mode,
    }


class Vectoriser:
    """Texts of any length to vectors of length 1, by the embedding model of the index.

    Raises ModelError where there is no such model.
    """

    def __init__(self, settings: Settings | None) -> None:
        from e2g_neo4j.embedding.embedder import load_embedder

        settings = settings or load_settings()
        self._embedder = load_embedder(settings.embedding_model, ollama_host=settings.ollama_host)

    def vectors(self, texts: list[str]) -> Vectors:
        """Shape (len(texts), dimensions)."""
        from e2g_neo4j.embedding.embedder import embed_long

        return embed_long(self._embedder, texts)
