"""The corpora of a question: which models they were made with, what a mode needs of them, one ranking of several."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from e2g_neo4j.errors import CorpusNotFoundError, FingerprintError, QueryError
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.linking import link_parameters
from e2g_neo4j.retrieval.passages import ScoredNode
from e2g_neo4j.retrieval.strategy import NEEDS, Layer, Strategies, Strategy
from e2g_neo4j.runtime.requests import (
    Embed,
    EmbedAll,
    Operation,
    Read,
    Request,
    Rows,
    change_vectors,
    map_requests,
    read_each,
)
from e2g_neo4j.types.fingerprint import Fingerprint
from e2g_neo4j.types.results import ModeInfo

LAYER_NAMES: Mapping[Layer, str] = {
    "communities": "communities",
    "clusters": "clusters",
    "entity_vectors": "vectors of entities",
    "sentence_vectors": "vectors of sentences",
    "statements": "statements",
}
"""The names of layers in messages."""

_IN_LINKS = frozenset({"vector", "entities", "entity_vectors", "sentence_vectors", "statements"})
"""Needs that `link.cypher` tells enough about."""


class OtherModelsError(FingerprintError):
    """Corpora were made with other models than those that processed the question.

    Attributes:
        rows: The rows of `link.cypher` or `corpus.cypher`, which tell the models.
    """

    def __init__(self, message: str, rows: Rows) -> None:
        super().__init__(message)
        self.rows = rows


def read_corpora(
    strategy: Strategy,
    names: Sequence[str],
    other_names: Sequence[str],
    terms: Sequence[str],
    corpora: Sequence[str],
    *,
    proper: Mapping[str, Sequence[str]] | None = None,
) -> Operation[Rows]:
    """Read what the corpora have of what a mode needs, in one read per corpus, or two if it needs entities and more.

    Args:
        names: Keys of the question's entities.
        other_names: Keys of other words of the question.
        proper: Names that may be a part of the name of an entity, or have typing errors, see `link_parameters`.

    Returns:
        A row per corpus, of `link.cypher`, `corpus.cypher` or both.
    """
    links: Rows = []
    if "entities" in strategy.needs:
        parameters = link_parameters(names, other_names, terms, proper=proper)
        links = yield from read_each("query/link", dict.fromkeys(corpora, parameters))
        if strategy.needs <= _IN_LINKS and strategy.layer in (None, *_IN_LINKS):
            return links
    rows = yield from read_each("query/corpus", {corpus: {"terms": list(terms)} for corpus in corpora})
    return [{**row, **link} for row, link in zip(rows, links, strict=True)] if links else rows


def check_corpora(strategy: Strategy, rows: Rows, made_with: Fingerprint, vectors: str = "") -> None:
    """Check that the corpora exist, were indexed with these models and have what a mode needs.

    Args:
        rows: What `read_corpora` has read.
        made_with: The models that processed the question.
        vectors: The suffix of their vectors, as far as it is known.

    Raises:
        NotFoundError: A corpus has no documents.
        OtherModelsError: A corpus was made with other models, or has its vectors elsewhere.
        FingerprintError: There is no record of the models of a corpus.
        QueryError: A corpus lacks something.
    """
    check_found(rows)
    for row in rows:
        try:
            made_with.check(row["made_with"] and Fingerprint.of_row(row["made_with"]))
        except FingerprintError as error:
            if row["made_with"]:
                raise OtherModelsError(str(error), rows) from error
            raise
        if (row["made_with"].get("vectors") or "") != vectors:
            raise OtherModelsError("The vectors of this corpus are elsewhere.", rows)
    for row in rows:
        if message := describe_missing(strategy, row):
            raise QueryError(message)


def check_found(rows: Iterable[Mapping[str, Any]]) -> None:
    """Raise NotFoundError if a corpus has no documents."""
    for row in rows:
        if not row["found"]:
            raise CorpusNotFoundError(row["corpus"])


def describe_missing(strategy: Strategy, row: Mapping[str, Any]) -> str | None:
    """Tell what a corpus lacks of what a mode needs, and the next step, or return None."""
    if "full_text" in strategy.needs and row["adopts"]:
        return (
            f"The corpus {row['corpus']!r} is adopted, so its texts are not in the full-text index, which mode "
            f"{strategy.name} needs: choose another mode."
        )
    layer = strategy.layer
    return describe_missing_layer(layer, row, f"mode {strategy.name}") if layer and layer in strategy.needs else None


def describe_missing_layer(layer: Layer, row: Mapping[str, Any], what: str) -> str | None:
    """Tell that a corpus has not the layer that something needs, and the next step, or return None."""
    if row[layer] is not None:
        return None
    return (
        f"The corpus {row['corpus']!r} has no {LAYER_NAMES[layer]}, which {what} needs: make them with "
        f"`{_enrich(layer, row['corpus'])}`."
    )


def out_of_date(strategy: Strategy, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Tell which corpora have changed since the layer of a mode was made."""
    layer = strategy.layer
    behind = [row["corpus"] for row in rows if layer and row[layer] is False]
    if layer is None or not behind:
        return []
    commands = ", ".join(f"`{_enrich(layer, corpus)}`" for corpus in behind)
    return [f"The {LAYER_NAMES[layer]} of {', '.join(behind)} are out of date: run {commands}."]


def list_modes(strategies: Strategies, corpora: Sequence[str]) -> Operation[list[ModeInfo]]:
    """List modes, and which of them the corpora can be asked in.

    Raises:
        NotFoundError: A corpus has no documents.
    """
    rows = yield from read_each("query/corpus", {corpus: {"terms": []} for corpus in corpora})
    check_found(rows)
    return [mode_info(one, rows) for one in strategies.values()]


def mode_info(strategy: Strategy, rows: Sequence[Mapping[str, Any]] = ()) -> ModeInfo:
    """Return what a mode is, and whether the corpora of rows of `corpus.cypher` can be asked in it."""
    lacks = [message for row in rows if (message := describe_missing(strategy, row))]
    return ModeInfo(
        strategy.name,
        strategy.summary,
        strategy.source,
        strategy.ranks,
        tuple(need for need in NEEDS if need in strategy.needs),
        tuple(need for need in NEEDS if need in strategy.uses),
        strategy.calls_model,
        available=not lacks if rows else None,
        missing=" ".join(lacks) or None,
    )


def _enrich(layer: Layer, corpus: str) -> str:
    made = {"entity_vectors": "entities", "sentence_vectors": "sentences"}.get(layer, layer)
    return f"e2g enrich --with {made} --corpus {shlex.quote(corpus)}"


T = TypeVar("T")

RANK_OFFSET = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): 1 / (60 + rank)."""


@dataclass(frozen=True, slots=True)
class Group:
    """Corpora that were made with the same models.

    Attributes:
        vectors: The suffix of their vectors.
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
