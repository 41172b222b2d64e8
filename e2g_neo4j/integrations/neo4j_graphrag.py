"""neo4j-graphrag: a retriever for its `GraphRAG` and `ToolsRetriever`, and what its own retrievers need to read the
index.

with E2G() as e2g:
    retriever = E2GRetriever(client=e2g, corpus="novels")
    answer = GraphRAG(retriever, llm).search("How is Jonathan Harker related to Mina?", retriever_config={"top_k": 5})
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional, Unpack

import neo4j
from langchain_core.documents import Document

from e2g_neo4j.client import E2G
from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.integrations.passages import IndexEmbedder, facts_of, metadata
from e2g_neo4j.retrieval.options import RetrievalKeywords, RetrievalOptions
from e2g_neo4j.retrieval.strategies import load_strategies
from e2g_neo4j.runtime.lazy_imports import needs
from e2g_neo4j.types.graph import GraphDocument
from e2g_neo4j.types.ids import corpora_to_ask

with needs("The retriever for neo4j-graphrag", "neo4j-graphrag"):
    from neo4j_graphrag.embeddings.base import Embedder
    from neo4j_graphrag.retrievers.base import Retriever
    from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem

if TYPE_CHECKING:  # earlier versions have it elsewhere
    from neo4j_graphrag.components.types import LexicalGraphConfig, Neo4jGraph, Neo4jNode

__all__ = ["E2GEmbedder", "E2GRetriever", "format_record", "graph_documents"]

NAMES = ("name", "title")
"""Properties that hold the name of a node. Without them it is its id."""


@dataclass(frozen=True, slots=True)
class _LexicalNames:
    """The names of the lexical graph, as `LexicalGraphConfig` has them."""

    document_node_label: str = "Document"
    chunk_node_label: str = "Chunk"
    chunk_text_property: str = "text"
    node_to_chunk_relationship_type: str = "FROM_CHUNK"


@dataclass(frozen=True, slots=True)
class _Node:
    id: str
    type: str
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Relationship:
    source: _Node
    target: _Node
    type: str
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _GraphDocument:
    source: Document
    nodes: list[_Node] = field(default_factory=list)
    relationships: list[_Relationship] = field(default_factory=list)


def graph_documents(graph: Neo4jGraph, config: LexicalGraphConfig | None = None) -> Sequence[GraphDocument]:
    """Return the graph of an extractor as graph documents for `E2G.add_graph_documents`, one for each chunk.

    Args:
        graph: The graph, as `LLMEntityRelationExtractor` returns it. The texts of its chunks are those of its lexical
            graph. Without it, the extractor must have read chunks whose ids are those of chunks of the corpus.
        config: The names of the lexical graph. Default: those of neo4j-graphrag.
    """
    lexical = config or _LexicalNames()
    by_id = {node.id: node for node in graph.nodes}
    chunk_of = {
        one.start_node_id: one.end_node_id
        for one in graph.relationships
        if one.type == lexical.node_to_chunk_relationship_type
    }

    def chunk(node: Neo4jNode) -> str:
        return chunk_of.get(node.id) or node.id.rpartition(":")[0]  # the extractor puts the id of the chunk first

    nodes = {
        node.id: _Node(_name(node, chunk(node)), node.label, node.properties)
        for node in graph.nodes
        if node.label not in (lexical.chunk_node_label, lexical.document_node_label)
    }
    texts = {
        node.id: str(node.properties.get(lexical.chunk_text_property, ""))
        for node in graph.nodes
        if node.label == lexical.chunk_node_label
    }
    chunks = {id: chunk(by_id[id]) for id in nodes}
    found = {
        id: _GraphDocument(Document(page_content=texts.get(id, ""), metadata={"id": id}))
        for id in dict.fromkeys([*texts, *chunks.values()])
    }
    for id, node in nodes.items():
        found[chunks[id]].nodes.append(node)
    for one in graph.relationships:
        if one.start_node_id in nodes and one.end_node_id in nodes:
            ends = nodes[one.start_node_id], nodes[one.end_node_id]
            between = _Relationship(*ends, one.type, one.properties)
            found[chunks[one.start_node_id]].relationships.append(between)
    return list(found.values())


def _name(node: Neo4jNode, chunk: str) -> str:
    named = (node.properties.get(name) for name in NAMES)
    return next((name for name in named if isinstance(name, str) and name), node.id.removeprefix(f"{chunk}:"))


def format_record(record: neo4j.Record) -> RetrieverResultItem:
    """Convert a record with text and metadata. Use it as `result_formatter` together with `retrieval_query()`."""
    return RetrieverResultItem(content=record["text"], metadata=record["metadata"])


class E2GRetriever(Retriever):
    """Retrieves passages of one or more corpora as items, best first.

    The content of an item is for a language model: the passage, preceded by the pairs of entities that led to it
    (`a - b: text`). Its metadata contain the citation and the reason (`e2g_neo4j.integrations.passages.metadata`). The
    metadata of the result contain route, reason, entities, pairs and hops. Searches raise the errors of `E2G.retrieve`.

    Args:
        driver: A neo4j driver. It is not closed.
        corpus: The corpus to search. Passages of other corpora are never returned.
        corpora: Several corpora to search together, instead of `corpus`.
        client: An `E2G`, instead of `driver`, so that several retrievers share its models. It is not closed. Without
            driver and client, the retriever opens its own client for the configured server; `close` closes it.
        result_formatter: Converts a record with text, score and metadata to an item. Default: `format_record`.
        **retrieval: The fields of `RetrievalOptions`. `k` is also the maximum number of items of a search without
            `top_k`; without both, all evidence of `settings.top_k` chunks is returned.

    Raises:
        QueryError: No corpus is named, or an option is invalid.
        ConfigurationError: Both driver and client are passed.
    """

    VERIFY_NEO4J_VERSION = False  # concerns only the statements of neo4j-graphrag

    def __init__(
        self,
        driver: neo4j.Driver | None = None,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        client: E2G | None = None,
        result_formatter: Callable[[neo4j.Record], RetrieverResultItem] | None = None,
        **retrieval: Unpack[RetrievalKeywords],
    ) -> None:
        if driver is not None and client is not None:
            raise ConfigurationError("A retriever uses one server: pass driver or client, not both.")
        named = corpora_to_ask(corpus, corpora)
        self._is_borrowed = client is not None
        options = RetrievalOptions.of(retrieval, strategies=client.strategies if client else load_strategies())
        self.client = client or E2G(driver)
        super().__init__(self.client.driver, self.client.settings.neo4j_database)
        self.corpora, self.options = named, options
        self.result_formatter = result_formatter

    def close(self) -> None:
        """Close the client, unless it or its driver was passed in."""
        if not self._is_borrowed:
            self.client.close()

    # Tools are generated from this signature, by code that knows Optional[int] and would treat int | None as text.
    def get_search_results(self, query_text: str, top_k: Optional[int] = None) -> RawSearchResult:  # noqa: UP045
        """Retrieve the passages for a question.

        Args:
            query_text: The question, in complete sentences. The entities that it names decide the route.
            top_k: Maximum number of items.

        Returns:
            Records with text, score and metadata.
        """
        options = self.options if top_k is None else self.options.model_copy(update={"k": top_k})
        evidence = self.client.retrieve(query_text, corpora=self.corpora, **options.keywords())
        return RawSearchResult(
            records=[
                neo4j.Record(  # type: ignore[no-untyped-call]
                    {
                        "text": passage.to_labelled_text(),
                        "score": passage.score,
                        "metadata": metadata(passage, evidence),
                    }
                )
                for passage in evidence.passages[: options.k]
            ],
            metadata={
                "corpora": list(evidence.corpora),
                "route": evidence.route,
                "reason": evidence.reason,
                "mode": evidence.mode,
                "entities": list(evidence.entities),
                "unknown_entities": list(evidence.unknown_entities),
                "ignored_entities": list(evidence.ignored_entities),
                "pairs": [{"a": pair.a, "b": pair.b, "hops": pair.hops} for pair in evidence.pairs],
                "hops": evidence.hops,
                **facts_of(evidence),
            },
        )

    def default_record_formatter(self, record: neo4j.Record) -> RetrieverResultItem:
        return format_record(record)


class E2GEmbedder(IndexEmbedder, Embedder):
    """The embedding model of the index, for the retrievers of neo4j-graphrag. Accepts texts of any length.

    Args:
        settings: The settings. They must name the model that the index was made with. Default: from the environment and
            `.env`.

    Raises:
        ModelError: The model does not exist.
    """

    async def async_embed_query(self, text: str) -> list[float]:
        """Like `embed_query`, in a thread."""
        return await asyncio.to_thread(self.embed_query, text)
