"""Corpora that were made with different models: which models each needs, and one ranking of several."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.passages import ScoredNode
from e2g_neo4j.runtime.requests import Embed, EmbedAll, Operation, Read, Request, Rows, change_vectors, map_requests
from e2g_neo4j.types.fingerprint import Fingerprint

T = TypeVar("T")

RANK_OFFSET = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): 1 / (60 + rank)."""


@dataclass(frozen=True, slots=True)
class Group:
    """Corpora that were made with the same models.

    Attributes:
        models: The models.
        vectors: The suffix of their vectors.
        corpora: The corpora.
    """

    models: Models
    vectors: str
    corpora: Sequence[str]

    def run(self, operation: Operation[T]) -> Operation[T]:
        """Run an operation with these models."""
        return map_requests(operation, self.change)

    def change(self, request: Request, embed: Embed | None = None) -> Request:
        """Return a request that these models execute. `embed`: an embedding of the question that has been started."""
        match request:
            case Embed():
                started = embed is not None and embed.text == request.text
                return embed if embed and started else replace(request, vector=self.models.vector(request))
            case EmbedAll():
                return replace(request, vectors=self.models.vectors(request))
            case _:
                return change_vectors(request, self.vectors)


def learn_models(models: Models, corpora: Iterable[str]) -> Operation[None]:
    """Read which models corpora were made with that are not known. It is done before models are loaded, which takes a
    second or more, so that none is loaded in vain."""
    for corpus in corpora:
        if corpus not in models.known:
            rows: Rows = yield Read("index/fingerprint", {"corpus": corpus})
            remember_models(models, [{"corpus": corpus, "made_with": row} for row in rows if row["indexed"]])


def remember_models(models: Models, rows: Rows) -> None:
    """Remember the models of corpora from rows with the columns `corpus` and `made_with`."""
    for row in rows:
        made_with = row["made_with"]
        models.known[row["corpus"]] = Fingerprint.of_row(made_with), made_with.get("vectors") or ""


def group_corpora(models: Models, corpora: Sequence[str]) -> list[Group]:
    """Return corpora by their models, as far as these are known. Others count as made with those of the settings."""
    groups: defaultdict[tuple[Models, str], list[str]] = defaultdict(list)
    for corpus in corpora:
        made_with, vectors = models.known.get(corpus, (None, ""))
        groups[models.of(made_with) if made_with else models, vectors].append(corpus)
    return [Group(needed, vectors, found) for (needed, vectors), found in groups.items()]


def merge_by_rank(rankings: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """Merge rankings of different corpora by reciprocal rank fusion. A single one is returned as it is.

    Scores of different embedding models cannot be compared, so what is first in one ranking counts as much as what is
    first in another.

    Args:
        rankings: Windows or ids of chunks with their scores, or nodes, best first.
    """
    if len(rankings) == 1:
        return rankings[0]
    places = [(place, item) for ranking in rankings for place, item in enumerate(ranking)]
    places.sort(key=lambda one: one[0])
    scored = [(item, 1 / (RANK_OFFSET + 1 + place)) for place, item in places]
    return [replace(one, score=score) if isinstance(one, ScoredNode) else (one[0], score) for one, score in scored]
