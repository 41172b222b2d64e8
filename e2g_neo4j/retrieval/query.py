"""What a mode gets, and what it tells besides its ranking."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.models.entities.keywords import Terms
from e2g_neo4j.retrieval.chat_calls import ChatCalls
from e2g_neo4j.retrieval.filters import FilteredDocuments
from e2g_neo4j.retrieval.linking import Linked
from e2g_neo4j.retrieval.lucene import WordStatistics
from e2g_neo4j.retrieval.windows import Window
from e2g_neo4j.runtime.cypher import Variant, load
from e2g_neo4j.runtime.requests import Operation, Rows, read_each
from e2g_neo4j.types.results import Pair, Round, Route

RankedWindows: TypeAlias = list[tuple[Window, float]]
"""Windows with their scores, best first."""

Ranking: TypeAlias = Operation[RankedWindows]
"""An operation that ranks windows."""

RankedChunks: TypeAlias = list[tuple[str, float]]
"""Ids of chunks with their scores, best first."""

ALL_DOCUMENTS = {"documents": None, "overfetch": 5}
"""The parameters of a question without a filter. On servers without the SEARCH clause no index can be searched for one
corpus, so five times as many nodes as are needed are read from it."""


@dataclass(slots=True)
class Explanation:
    """What the evidence says besides its passages. It is filled in before a mode ranks, which may change it.

    Attributes:
        reason: Why this route, and by what the text is ranked.
        notes: Sentences that follow the reason.
        unknown_entities: Names of the question that the corpora do not have.
        ignored_entities: Entities of the question that are not considered.
        pairs: Pairs of entities.
        hops: The longest path that keeps a pair.
        trace: The rounds of the local route.
    """

    route: Route = "global"
    reason: str = ""
    notes: list[str] = field(default_factory=list)
    entities: tuple[str, ...] = ()
    unknown_entities: tuple[str, ...] = ()
    ignored_entities: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()
    hops: int = 0
    trace: tuple[Round, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A question to a mode.

    Attributes:
        corpora: The corpora to search.
        limit: The number of windows, chunks or nodes to rank. A mode may return more windows, or less if there are no
            more.
        entities: Per corpus, the entities that the question names. Empty for modes that do not need them.
        hops: How far entities may be apart, in edges.
        statistics: How rare the words of the question are in these corpora. Default: as in the whole index.
        chat: The chat model that the mode asks, if the option `llm` is set.
        documents: Per corpus, the documents to search. None: all.
        layered: The corpora that have the layer that the mode needs or uses.
        without: Entities that pass on no activation.
        fulltext: The suffix of the full-text indexes of the corpora.
        keywords: Returns the nouns, names and noun phrases of the question: by key, how it spells them.
        terms: Returns the terms of the question as the published code of E²GraphRAG takes them.
        names: The names and nouns that the pipeline finds in the question, by key, with their types.
        foreign: Whether the embedding model does not know the language of the corpora.
        linked: What the graph has about the entities. Empty for modes that do not need them.
        explanation: What to tell in the evidence.
    """

    question: str
    corpora: Sequence[str]
    limit: int
    entities: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hops: int = 3
    statistics: WordStatistics | None = None
    chat: ChatCalls | None = None
    documents: Mapping[str, FilteredDocuments] | None = None
    layered: Collection[str] = ()
    without: Sequence[str] = ()
    fulltext: str = ""
    keywords: Callable[[], Mapping[str, str]] = dict
    terms: Callable[[], Terms] = Terms
    names: Mapping[str, str] = field(default_factory=dict)
    foreign: bool = False
    linked: Linked = field(default_factory=Linked)
    explanation: Explanation = field(default_factory=Explanation)

    def read_each(self, statement: str, parameters: Mapping[str, Mapping[str, Any]]) -> Operation[Rows]:
        """Run a read in each corpus, within the documents of the question, and add the corpus to every row.

        Args:
            statement: Name of the statement in `cypher/query/`.
            parameters: Parameters per corpus, without `corpus`.
        """
        return read_each(f"query/{statement}", self._add_filters(parameters))

    def read_file(self, file: Path, parameters: Mapping[str, Mapping[str, Any]]) -> Operation[Rows]:
        """Like `read_each`, with a statement of a mode outside this package.

        The statement reads $documents, the ids of the documents to search, null: all; or it includes fragments of this
        package that do.

        Args:
            file: The file with the statement and its header.
            parameters: Parameters per corpus, without `corpus` and `documents`.

        Raises:
            ConfigurationError: There is no such file, or the statement does not use $corpus and $documents.
        """
        name = str(file.resolve().with_suffix(""))
        text = load(name, Variant.FILTERED)
        for parameter in ("$corpus", "$documents"):
            if not re.search(rf"{re.escape(parameter)}\b", text):
                raise ConfigurationError(
                    f"The statement in {file} does not use {parameter}: restrict what it matches by {parameter}."
                )
        return read_each(name, self._add_filters(parameters))

    def _add_filters(self, parameters: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        """Add the parameters that tell a statement which documents to search."""
        given = {corpus: {**values, **ALL_DOCUMENTS} for corpus, values in parameters.items()}
        if self.documents is not None:
            for corpus, values in given.items():
                left = self.documents[corpus]
                values |= {"documents": list(left.ids), "overfetch": left.overfetch}
        return given
