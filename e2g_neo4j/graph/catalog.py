"""List what is in the database: corpora, documents, entities and their counts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from e2g_neo4j.errors import AdoptedCorpusError, CorpusNotFoundError, DocumentNotFoundError, InputError, QueryError
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.runtime.requests import Operation, Read
from e2g_neo4j.types.graph import Alias, EntityInfo
from e2g_neo4j.types.reports import DocumentInfo
from e2g_neo4j.types.results import Evidence

if TYPE_CHECKING:
    from neo4j.graph import Path as GraphPath


def corpora() -> Operation[dict[str, int]]:
    """Return the corpora with the number of their documents that are visible to queries."""
    rows = yield Read("query/corpora", {})
    return {row["corpus"]: row["documents"] for row in rows}


def documents(corpus: str) -> Operation[list[DocumentInfo]]:
    """Return the documents of a corpus. Raises NotFoundError if there are none."""
    rows = yield Read("query/documents", {"corpus": corpus})
    if not rows:
        raise CorpusNotFoundError(corpus)
    return [DocumentInfo(**row) for row in rows]


def status(corpus: str | None) -> Operation[dict[str, list[DocumentInfo]]]:
    """Return the documents of one corpus, or of all if `corpus` is None. Raises NotFoundError if `corpus` has none."""
    if corpus is not None:
        return {corpus: (yield from documents(corpus))}
    rows = yield Read("query/corpora", {})
    by_corpus = {}
    for row in rows:
        listed = yield Read("query/documents", {"corpus": row["corpus"]})
        if listed:  # none if the corpus was deleted between the two reads
            by_corpus[row["corpus"]] = [DocumentInfo(**document) for document in listed]
    return by_corpus


def entities(corpus: str, query: str, type: str | None, limit: int) -> Operation[list[EntityInfo]]:
    """Return the entities of a corpus whose name contains `query`, of one type or of all, at most `limit`.

    Raises:
        NotFoundError: the corpus has no documents.
    """
    yield from documents(corpus)
    rows = yield Read("query/entities", {"corpus": corpus, "words": entity_key(query), "type": type, "limit": limit})
    return [
        EntityInfo(
            **{
                **row,
                "forms": {one["form"]: one["count"] for one in row["forms"]},
                "types": {one["type"]: one["count"] for one in row["types"]},
                "aliases": tuple(row["aliases"]),
            }
        )
        for row in rows
    ]


def aliases(corpus: str, words: str = "") -> Operation[list[Alias]]:
    """Return the names that resolve to another entity, the most frequent first.

    Only those whose key, or whose entity's key, contains `words`.
    """
    rows = yield Read("query/aliases", {"corpus": corpus, "words": words})
    return [Alias(**row) for row in rows]


def merges(corpus: str, query: str) -> Operation[list[Alias]]:
    """The same as `aliases`, but raises NotFoundError if the corpus has no documents."""
    yield from documents(corpus)
    return (yield from aliases(corpus, entity_key(query)))


def stats(corpus: str) -> Operation[dict[str, int]]:
    """Return the counts of a corpus. Raises NotFoundError if it has no documents."""
    [row] = yield Read("query/stats", {"corpus": corpus})
    if not row["documents"]:
        raise CorpusNotFoundError(corpus)
    return dict(row)


def evidence_parameters(evidence: Evidence) -> dict[str, object]:
    """Return the parameters of `explore/evidence`."""
    nodes = dict.fromkeys(node for passage in evidence.passages for node in passage.nodes)
    return {
        "corpora": list(evidence.corpora),
        "pairs": [{"a": pair.a, "b": pair.b} for pair in evidence.pairs],
        "nodes": list(nodes),
        "names": list(evidence.entities),
    }


def paths(evidence: Evidence) -> Operation[list[GraphPath]]:
    """Return the paths of the graph that explain a result of retrieval."""
    rows = yield Read("explore/evidence", evidence_parameters(evidence))
    return [row["path"] for row in rows]


def check_kind(corpus: str, adopted: bool) -> Operation[None]:
    """Check that a corpus can take documents.

    Args:
        corpus: the corpus.
        adopted: whether the documents are adopted text nodes.

    Raises:
        InputError: the documents are adopted and the corpus is not, or the other way round.
    """
    [row] = yield Read("adopt/adopted", {"corpus": corpus})
    if row["adopts"] and not adopted:
        raise AdoptedCorpusError(corpus, "index into another corpus, and ask both with `--corpus` twice")
    if adopted and not row["adopts"]:
        raise InputError(f"The corpus {corpus!r} was unadopted in the meantime. Adopt it again.")


def choose_documents(targets: Sequence[str | Path], listed: Sequence[DocumentInfo], corpus: str) -> list[DocumentInfo]:
    """Resolve targets to documents.

    A target matches a document by id or source. If there is none, it matches documents in a folder or JSON Lines file,
    and else a document by title.

    Args:
        targets: what to resolve.
        listed: the documents of the corpus.
        corpus: the corpus, for error messages.

    Raises:
        NotFoundError: a target matches no document.
        QueryError: several documents have the title.
    """
    chosen: dict[str, DocumentInfo] = {}
    for target in map(str, targets):
        path = _absolute_path(target)
        prefixes = (path + os.sep, path + "#")
        matches = [one for one in listed if one.id == target or one.source in (target, path)]
        matches = matches or [one for one in listed if one.source.startswith(prefixes)]
        if not matches:
            matches = [one for one in listed if one.title == target]
            if len(matches) > 1:
                raise QueryError(
                    f"{len(matches)} documents of the corpus {corpus!r} have the title {target!r}. Name one by its "
                    f"file ({', '.join(one.source for one in matches)}). Nothing was deleted."
                )
        if not matches:
            raise DocumentNotFoundError(target, corpus)
        chosen |= {one.id: one for one in matches}
    return list(chosen.values())


def _absolute_path(target: str) -> str:
    """Return the absolute path of a target, or the target itself if it cannot be a path."""
    with suppress(OSError, ValueError, RuntimeError):  # too long, a NUL, no such user, circular links
        if target:  # an empty target does not mean the working directory
            return str(Path(target).expanduser().resolve())
    return target
