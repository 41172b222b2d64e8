"""neo4j-graphrag: a retriever for its `GraphRAG` and `ToolsRetriever`, and what its own retrievers need to read the
index.

with E2G() as e2g:
    retriever = E2GRetriever(client=e2g, corpus="novels")
    answer = GraphRAG(retriever, llm).search("How is Jonathan Harker related to Mina?", retriever_config={"top_k": 5})
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Optional, Unpack

import neo4j

from e2g_neo4j.client import E2G
from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.integrations.passages import Vectoriser, facts_of, metadata
from e2g_neo4j.retrieval.options import RetrievalKeywords, RetrievalOptions
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.ids import corpora_to_ask

try:
    from neo4j_graphrag.embeddings.base import Embedder
    from neo4j_graphrag.retrievers.base import Retriever
    from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem
except ImportError as error:
    raise ConfigurationError(
        f"neo4j-graphrag is needed for this module and cannot be imported ({error}): run "
        "`pip install 'e2g-neo4j[neo4j-graphrag]'`."
    ) from error

__all__ = ["E2GEmbedder", "E2GRetriever", "format_record"]


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
        options = RetrievalOptions.of(retrieval)
        self._is_borrowed = client is not None
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
                    {"text": passage.labelled(), "score": passage.score, "metadata": metadata(passage, evidence)}
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
                "pairs": [{"a": pair.a, "b": pair.b, "hops": pair.hops} for pair in evidence.pairs],
                "hops": evidence.hops,
                **facts_of(evidence),
            },
        )

    def default_record_formatter(self, record: neo4j.Record) -> RetrieverResultItem:
        return format_record(record)


class E2GEmbedder(Embedder):
    """The embedding model of the index, for the retrievers of neo4j-graphrag. Accepts texts of any length.

    Args:
        settings: The settings. They must name the model that the index was made with. Default: from the environment and
            `.env`.

    Raises:
        ModelError: The model does not exist.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        self._vectoriser = Vectoriser(settings)

    def embed_query(self, text: str) -> list[float]:
        """Embed a question. The vector has length 1 and shape (dimensions,)."""
        return self._vectoriser.query(text)

    async def async_embed_query(self, text: str) -> list[float]:
        """Like `embed_query`, in a thread."""
        return await asyncio.to_thread(self.embed_query, text)
