"""What every mode that ranks windows gets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from e2g_neo4j.retrieval.chat_calls import ChatCalls
from e2g_neo4j.retrieval.filters import FilteredDocuments
from e2g_neo4j.retrieval.synonyms import Match
from e2g_neo4j.retrieval.windows import Window
from e2g_neo4j.retrieval.word_statistics import WordStatistics
from e2g_neo4j.runtime.requests import Operation, Rows, read_each

RankedWindows: TypeAlias = list[tuple[Window, float]]
"""Windows with their scores, best first."""

Ranking: TypeAlias = Operation[RankedWindows]
"""An operation that ranks windows."""

ALL_DOCUMENTS = {"documents": None, "overfetch": 5}
"""The parameters of a question without a filter. On servers without the SEARCH clause no index can be searched for one
corpus, so five times as many nodes as are needed are read from it."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question to a mode.

    Attributes:
        question: The question.
        corpora: The corpora to search.
        limit: The number of windows to rank. A mode may return more, or less if there are no more.
        entities: Per corpus, the entities that the question names. Empty for modes that do not use them.
        hops: How far entities may be apart, in edges.
        statistics: How rare the words of the question are in these corpora. Default: as in the whole index.
        chat: The chat model that the mode asks, if the option `llm` is set.
        matches: Per corpus, the entities that keywords of the question mean. Only for mode `synonyms`.
        documents: Per corpus, the documents to search. None: all.
        statements: The corpora that have statements. Only for mode `lightrag`.
    """

    question: str
    corpora: Sequence[str]
    limit: int
    entities: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hops: int = 3
    statistics: WordStatistics | None = None
    chat: ChatCalls | None = None
    matches: Mapping[str, Sequence[Match]] = field(default_factory=dict)
    documents: Mapping[str, FilteredDocuments] | None = None
    statements: Collection[str] = ()

    def read_each(self, statement: str, parameters: Mapping[str, Mapping[str, Any]]) -> Operation[Rows]:
        """Run a read in each corpus, within the documents of the question, and add the corpus to every row.

        Args:
            statement: Name of the statement in `cypher/query/`.
            parameters: Parameters per corpus, without `corpus`.
        """
        given = {corpus: {**values, **self._documents(corpus)} for corpus, values in parameters.items()}
        return (yield from read_each(f"query/{statement}", given))

    def _documents(self, corpus: str) -> dict[str, Any]:
        """Return the parameters that tell a statement which documents to search."""
        if self.documents is None:
            return ALL_DOCUMENTS
        documents = self.documents[corpus]
        return {"documents": list(documents.ids), "overfetch": documents.overfetch}
