"""Restrict a question to documents by their properties.

The documents are found first, in one read per corpus. Then every mode searches their text only: its statements are
composed with the fragments in `cypher/fragments/filtered/` (`Query.read_each`). Entities, co-occurrences, communities
and the rarity of words stay those of the whole corpus.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from e2g_neo4j.errors import CorpusNotFoundError, QueryError
from e2g_neo4j.retrieval.where import Condition
from e2g_neo4j.runtime.requests import Operation, read_each
from e2g_neo4j.types.properties import PREFIX

COMPARED = 20_000
"""Windows that are compared one by one if a filter leaves no more. For more, the vector index is asked."""

OVERFETCH = 2
"""How many times as many windows are read from the vector index as should contain enough of the filtered documents, if
these were spread evenly."""


@dataclass(frozen=True, slots=True)
class FilteredDocuments:
    """The documents of a corpus that a filter leaves.

    Attributes:
        overfetch: How many times as many windows to read from the vector index as are needed; 0: compare all windows.
    """

    ids: Sequence[str]
    overfetch: int = 0


@dataclass(frozen=True, slots=True)
class Filter:
    """The documents that the conditions of a question leave.

    Attributes:
        of: The number of documents of all corpora.
        by_corpus: The documents that are left, per corpus.
    """

    conditions: Sequence[Condition]
    of: int
    by_corpus: dict[str, FilteredDocuments] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """The number of documents that are left."""
        return sum(len(documents.ids) for documents in self.by_corpus.values())

    @property
    def reason(self) -> str:
        """A sentence that counts the documents."""
        verb = "leaves" if len(self.conditions) == 1 else "leave"
        conditions = " and ".join(map(str, self.conditions))
        return f"{conditions} {verb} {self.left} of {self.of} document{'s' * (self.of != 1)}."


def find_documents(conditions: Sequence[Condition], corpora: Sequence[str]) -> Operation[Filter]:
    """Find the documents that meet all conditions.

    Raises:
        NotFoundError: A corpus has no documents.
        QueryError: No document has a property that a condition names.
    """
    parameters = {"where": [condition.parameter() for condition in conditions]}
    rows = yield from read_each("query/matching_documents", dict.fromkeys(corpora, parameters))
    for row in rows:
        if not row["of"]:
            raise CorpusNotFoundError(row["corpus"])
    by_corpus = {row["corpus"]: FilteredDocuments(row["documents"], _overfetch(row)) for row in rows}
    found = Filter(conditions, sum(row["of"] for row in rows), by_corpus)
    if not found.left:
        yield from _check_names(conditions, corpora)
    return found


def _overfetch(row: dict[str, int]) -> int:
    windows = row["windows"]
    return math.ceil(OVERFETCH * row["index_windows"] / windows) if windows > COMPARED else 0


def _check_names(conditions: Sequence[Condition], corpora: Sequence[str]) -> Operation[None]:
    names = [PREFIX + condition.name for condition in conditions]
    rows = yield from read_each("query/properties", {corpus: {"names": names} for corpus in corpora})
    known = sorted({row["property"].removeprefix(PREFIX) for row in rows})
    unknown = [condition.name for condition in conditions if condition.name not in known]
    if unknown:
        named = f"They have: {', '.join(known)}." if known else "They have none: index them with properties."
        raise QueryError(f"No document of {', '.join(corpora)} has a property {unknown[0]!r}. {named}")
