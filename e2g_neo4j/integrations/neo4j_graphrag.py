"""neo4j-graphrag: our retrieval as one of its retrievers, for its `GraphRAG` and `ToolsRetriever`; and what its own
retrievers need to read our index.

with E2G() as e2g:
    retriever = E2GRetriever(client=e2g, corpus="novels")
    answer = GraphRAG(retriever, llm).search("How is Jonathan Harker related to Mina?", retriever_config={"top_k": 5})
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Optional

import neo4j

from e2g_neo4j.client import E2G
from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.integrations.passages import Vectoriser, metadata
from e2g_neo4j.retrieval import DEFAULT_MODE, Mode
from e2g_neo4j.settings import Settings
from e2g_neo4j.stories import asked

try:
    from neo4j_graphrag.embeddings.base import Embedder
    from neo4j_graphrag.retrievers.base import Retriever
    from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem
except ImportError as error:
    raise ConfigurationError(
        f"neo4j-graphrag is needed for this, and cannot be imported ({error}): install it with "
        "`pip install 'e2g-neo4j[neo4j-graphrag]'`."
    ) from error

__all__ = ["E2GEmbedder", "E2GRetriever", "format_record"]


def format_record(record: neo4j.Record) -> RetrieverResultItem:
    """An item of a record with text and metadata: the `result_formatter` that goes with `retrieval_query()`."""
    return RetrieverResultItem(content=record["text"], metadata=record["metadata"])


class E2GRetriever(Retriever):
    """Passages of a corpus as items, best first.

    An item's content is what a language model is to read: the passage, after the pairs of entities that led to it
    (`a - b: text`). Its metadata say where it is from and why (`e2g_neo4j.integrations.passages.metadata`); those of
    the whole result have route, reason, entities, pairs and hops.

    Args:
        driver: a neo4j driver to borrow.
        corpus: what is asked; no passage of another corpus is ever returned.
        corpora: several that are asked together, instead of `corpus`.
        client: an `E2G` to borrow in its place, so that several retrievers share one and its models. With neither,
            the retriever has a client of its own, to the server that the settings name; `close` ends that.
        k: how many items at most, where a search says no `top_k`, out of the evidence that k chunks make up. None: all
            that of `settings.top_k` chunks.
        hops: longest path between two entities of the question, in edges. None: `settings.hops`.
        mode: how text is ranked: see `e2g_neo4j.retrieval`.
        result_formatter: makes an item of a record with text, score and metadata; None: `format_record`.

    Raises QueryError where it is for no corpus, and ConfigurationError where both driver and client are given; a search
    raises what `E2G.retrieve` raises.
    """

    VERIFY_NEO4J_VERSION = False  # that is for statements of theirs; ours say themselves what they miss

    def __init__(
        self,
        driver: neo4j.Driver | None = None,
        *,
        corpus: str | None = None,
        corpora: Sequence[str] = (),
        client: E2G | None = None,
        k: int | None = None,
        hops: int | None = None,
        mode: Mode = DEFAULT_MODE,
        result_formatter: Callable[[neo4j.Record], RetrieverResultItem] | None = None,
    ) -> None:
        if driver is not None and client is not None:
            raise ConfigurationError("A retriever asks one server: give it driver or client, not both.")
        corpora = asked(corpus, corpora)
        self._lent = client is not None
        self.client = client or E2G(driver)
        super().__init__(self.client._driver, self.client.settings.neo4j_database)
        self.corpora, self.k, self.hops, self.mode = corpora, k, hops, mode
        self.result_formatter = result_formatter

    def close(self) -> None:
        """Close the client, unless it or its driver is borrowed."""
        if not self._lent:
            self.client.close()

    # Tools are made of this signature, by code that knows Optional[int] and would take int | None for text.
    def get_search_results(self, query_text: str, top_k: Optional[int] = None) -> RawSearchResult:  # noqa: UP045
        """The passages that answer a question.

        Args:
            query_text: the question, in whole sentences; the entities that it names decide the route.
            top_k: how many items at most.

        Returns:
            Records with text, score and metadata.
        """
        k = self.k if top_k is None else top_k
        evidence = self.client.retrieve(query_text, corpora=self.corpora, k=k, hops=self.hops, mode=self.mode)
        return RawSearchResult(
            records=[
                neo4j.Record(  # type: ignore[no-untyped-call]
                    {"text": passage.labelled(), "score": passage.score, "metadata": metadata(passage, evidence)}
                )
                for passage in evidence.passages[:k]
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
            },
        )

    def default_record_formatter(self, record: neo4j.Record) -> RetrieverResultItem:
        return format_record(record)


class E2GEmbedder(Embedder):
    """The embedding model of our index, for neo4j-graphrag's own retrievers: vectors of length 1, for texts of any
    length.

    Args:
        settings: None: those of the environment and `.env`; they must name the model that the index was made with.

    Raises ModelError where there is no such model.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        self._vectoriser = Vectoriser(settings)

    def embed_query(self, text: str) -> list[float]:
        """Shape (dimensions,)."""
        row: list[float] = self._vectoriser.vectors([text])[0].tolist()
        return row

    async def async_embed_query(self, text: str) -> list[float]:
        """As `embed_query`, in a thread."""
        return await asyncio.to_thread(self.embed_query, text)
