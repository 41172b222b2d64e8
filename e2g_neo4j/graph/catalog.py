"""List what is in the database: corpora, documents, entities and their counts."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from e2g_neo4j.errors import (
    AdoptedCorpusError,
    CorpusNotFoundError,
    DocumentNotFoundError,
    InputError,
    NotFoundError,
    QueryError,
    did_you_mean,
)
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.runtime.cypher import load
from e2g_neo4j.runtime.requests import Operation, Read, Rows
from e2g_neo4j.types.documents import UPLOAD
from e2g_neo4j.types.graph import (
    Alias,
    CommunityCard,
    CommunityRef,
    DescriptionSource,
    DocumentMentions,
    EntityCard,
    EntityInfo,
    LinkedNode,
    Member,
    NearCommunity,
    Neighbour,
    Neighbourhood,
    NeighbourLink,
)
from e2g_neo4j.types.properties import from_stored, size_of
from e2g_neo4j.types.reports import DocumentInfo, DocumentText, ReferenceInfo, State
from e2g_neo4j.types.results import Evidence

if TYPE_CHECKING:
    from neo4j.graph import Path as GraphPath


MAX_TEXT = 1_000_000
"""Maximum characters of a text that is read at once."""

PAGE_BYTES = 2**20
"""Bytes of properties after which a page of documents ends."""

PAGE_ROWS = 16
"""Documents of a page that are read at once. Their properties have at most PAGE_BYTES."""

MOST_ALIASES = 1_000
"""Merges that are listed at once."""

CARD_NEIGHBOURS = 10
"""Neighbours of an entity that its card shows."""

CARD_ROWS = 20
"""Documents, and nodes of the user's graph, that the card of an entity shows."""

MEMBERS = 100
"""Members and parts of a community that its card shows."""

LONGEST_TEXT = 2**62
"""More characters than any document has, within the integers of Neo4j."""


def corpora() -> Operation[dict[str, int]]:
    """Return the corpora with the number of their documents that are visible to queries."""
    rows = yield Read("query/corpora", {})
    return {row["corpus"]: row["documents"] for row in rows}


def documents(corpus: str) -> Operation[list[DocumentInfo]]:
    """Return the documents of a corpus. Raises NotFoundError if there are none."""
    rows = yield Read("query/documents", {"corpus": corpus})
    if not rows:
        raise CorpusNotFoundError(corpus)
    return [document_info(row) for row in rows]


def document_ids(corpus: str) -> Operation[list[str]]:
    """Return the ids of the documents of a corpus, sorted."""
    return [row["id"] for row in (yield Read("query/document_ids", {"corpus": corpus}))]


def check_corpus(corpus: str) -> Operation[None]:
    """Raise NotFoundError if a corpus has no documents."""
    [row] = yield Read("query/has_documents", {"corpus": corpus})
    if not row["found"]:
        raise CorpusNotFoundError(corpus)


def document(corpus: str, id: str) -> Operation[DocumentInfo]:
    """Return a document by its id. Raises NotFoundError if the corpus has none with this id."""
    rows = yield Read("query/document", {"corpus": corpus, "document": id})
    if not rows:
        yield from check_corpus(corpus)
        raise DocumentNotFoundError(id, corpus)
    return document_info(rows[0])


def find_documents(name: str, corpus: str) -> Operation[list[DocumentInfo]]:
    """Return some of the documents that have a name as their id, source, file or title."""
    rows = yield Read("query/documents_called", {"corpus": corpus, "name": name, "path": _absolute_path(name)})
    return [document_info(row) for row in rows]


def find_document(name: str, corpus: str) -> Operation[DocumentInfo]:
    """Return the document that a name stands for, see `choose_document`."""
    found = yield from find_documents(name, corpus)
    if not found:
        yield from check_corpus(corpus)
    return choose_document(name, found, corpus)


def document_page(
    corpus: str, *, state: State | None = None, newest: bool = False, limit: int, after: str | None = None
) -> Operation[tuple[list[DocumentInfo], bool]]:
    """Return some documents of a corpus, by title, and whether there are more.

    Args:
        state: that of the documents; None: any.
        newest: put those first that changed last.
        limit: how many at most. A page whose properties have PAGE_BYTES is shorter.
        after: the id of the last document of the page before.

    Raises:
        NotFoundError: the corpus has no documents, or none with the id `after`.
    """
    found: list[DocumentInfo] = []
    last, bytes = after, 0
    while len(found) <= limit and bytes < PAGE_BYTES:
        some = min(PAGE_ROWS, limit + 1 - len(found))
        options = {"corpus": corpus, "state": state, "newest": newest, "after": last, "limit": some}
        rows = yield Read("query/document_page", options)
        found += map(document_info, rows)
        if len(rows) < some:
            break
        bytes += sum(size_of(one.properties) for one in found[-some:])
        last = found[-1].id
    if not found:
        yield from check_corpus(corpus) if after is None else document(corpus, after)
    return found[:limit], len(found) > limit or bytes >= PAGE_BYTES


def document_info(row: Mapping[str, Any]) -> DocumentInfo:
    """Return the document of a row of `query/documents`."""
    return DocumentInfo(**{**row, "properties": from_stored(dict(row["properties"])), "losses": tuple(row["losses"])})


def text(corpus: str, document: str, start: int = 0, end: int | None = None) -> Operation[DocumentText]:
    """Return a span of a document's text, exactly as it was indexed.

    White space is not stored before the first chunk, after the last one, and between two that share no text. It is
    returned as line breaks, which is what stands between the text nodes of an adopted document.

    Args:
        document: the id of the document.
        start: the first character.
        end: the character after the last one; None, or more than there are: the end of the text.

    Raises:
        NotFoundError: the corpus has no documents, or none with this id that queries can see.
        InputError: the span is empty or outside the text, or text nodes of it have changed since they were adopted.
    """
    first = _in_range(start)
    until = LONGEST_TEXT if end is None else max(first, _in_range(end))
    rows = yield Read("query/text", {"corpus": corpus, "document": document, "start": first, "end": until})
    if not rows:
        yield from check_corpus(corpus)
        raise DocumentNotFoundError(document, corpus)
    [row] = rows
    until = min(until, row["characters"])
    if not 0 <= start < until:
        raise InputError(
            f"The document {document!r} has {row['characters']} characters, so {start} to "
            f"{'the end' if end is None else end} is no part of it: choose a start below its end, within these."
        )
    if any(part["changed"] for part in row["parts"]):
        raise InputError(
            f"Text nodes of the document {document!r} have changed since they were adopted, so offsets do not apply: "
            f"adopt the corpus {corpus!r} again with the same `e2g adopt`."
        )
    return DocumentText(
        document,
        corpus,
        row["title"],
        row["source"],
        start,
        until,
        row["characters"],
        _span(row["parts"], start, until),
        **{name: value or None for name, value in (row["place"] or {}).items()},
    )


def text_of(target: str, corpus: str, start: int = 0, end: int | None = None) -> Operation[DocumentText]:
    """Return a span of the text of a document that is named by its id, source, file or title; see `text`. At most
    MAX_TEXT characters."""
    last = start + MAX_TEXT if end is None else min(end, start + MAX_TEXT)
    try:
        return (yield from text(corpus, target, start, last))
    except DocumentNotFoundError:
        document = yield from find_document(target, corpus)
        return (yield from text(corpus, document.id, start, last))


def _in_range(place: int) -> int:
    return max(0, min(place, LONGEST_TEXT))


def _span(parts: Sequence[dict[str, Any]], start: int, end: int) -> str:
    """Join parts that may overlap into the text of a span. What no part contains is white space."""
    pieces: list[str] = []
    at = start
    for part in parts:
        pieces.append("\n" * (part["start"] - at))
        at = max(at, part["start"])
        pieces.append(part["text"][at - part["start"] :])
        at = max(at, part["end"])
    pieces.append("\n" * (end - at))
    return "".join(pieces)


def entities(corpus: str, query: str, type: str | None, limit: int) -> Operation[list[EntityInfo]]:
    """Return the entities of a corpus whose name contains `query`, or else whose description has its words, of one type
    or of all, at most `limit`.

    Raises:
        NotFoundError: the corpus has no documents.
        QueryError: the corpus has no entities of this type at all.
    """
    yield from check_corpus(corpus)
    key, told = entity_key(query), query.lower().split()
    rows = yield Read("query/entities", {"corpus": corpus, "words": key, "told": told, "type": type, "limit": limit})
    if type and not rows:
        types = [row["type"] for row in (yield Read("query/entity_types", {"corpus": corpus}))]
        if type not in types:
            raise QueryError(
                f"No entity of the corpus {corpus!r} has the type {type!r}.{did_you_mean(type, types)} Its types are "
                f"{', '.join(types)}."
            )
    return [_entity(row) for row in rows]


def describe_entity(corpus: str, name: str) -> Operation[EntityCard]:
    """Return what a corpus tells about the entity that a name means.

    Raises:
        NotFoundError: the corpus has no documents, or no such entity.
    """
    key = yield from find_entity(corpus, name)
    rows = yield Read(
        "query/entity_card", {"corpus": corpus, "key": key, "neighbours": CARD_NEIGHBOURS, "limit": CARD_ROWS}
    )
    if not rows:  # it has been deleted meanwhile
        raise entity_not_found(corpus, name)
    row = dict(rows[0])
    source, by_document, linked = row.pop("source"), row.pop("by_document"), row.pop("linked")
    return EntityCard(
        source=DescriptionSource(**source) if source else None,
        documents=tuple(DocumentMentions(**one) for one in by_document),
        neighbours=tuple(Neighbour(**one) for one in row.pop("neighbours")),
        community=row.pop("community"),
        linked=tuple(LinkedNode(**{**one, "labels": tuple(one["labels"])}) for one in linked),
        entity=_entity(row),
    )


def find_entity(corpus: str, name: str) -> Operation[str]:
    """Return the key of the entity that a name means. Raises NotFoundError as `describe_entity` does."""
    [found] = yield Read("query/resolve", {"corpus": corpus, "names": [entity_key(name)]})
    if not found["entity"]:
        yield from check_corpus(corpus)
        raise entity_not_found(corpus, name)
    key: str = found["entity"]
    return key


def entity_not_found(corpus: str, name: str) -> NotFoundError:
    """Return the error that says how to find the names that a corpus has."""
    return NotFoundError(
        f"The corpus {corpus!r} has no entity {name!r}: list its entities with `e2g entities PART --corpus "
        f"{shlex.quote(corpus)}`."
    )


def describe_neighbourhood(corpus: str, name: str, limit: int) -> Operation[Neighbourhood]:
    """Return the entities that share most sentences with one, and how they are linked with each other.

    Raises:
        NotFoundError: the corpus has no documents, or no such entity.
    """
    key = yield from find_entity(corpus, name)
    rows = yield Read("query/neighbourhood", {"corpus": corpus, "key": key, "limit": limit})
    if not rows:
        raise entity_not_found(corpus, name)
    row = dict(rows[0])
    communities = row.pop("communities")
    return Neighbourhood(
        neighbours=tuple(Neighbour(**one) for one in row.pop("neighbours")),
        links=tuple(NeighbourLink(**one) for one in row.pop("links")),
        communities=None
        if communities is None
        else tuple(NearCommunity(**{**one, "keys": tuple(one["keys"])}) for one in communities),
        cypher=load("explore/neighbours"),
        parameters={"corpus": corpus, "name": key, "limit": limit},
        **row,
    )


def describe_community(corpus: str, id: str) -> Operation[CommunityCard]:
    """Return what a corpus tells about a community. Raises NotFoundError if it has none with this id."""
    rows = yield Read("query/community", {"corpus": corpus, "community": id, "limit": MEMBERS})
    if not rows:
        yield from check_corpus(corpus)
        raise NotFoundError(
            f"The corpus {corpus!r} has no community {id!r}: it may have been made again of other entities since; "
            "open a name to see the present ones."
        )
    row = dict(rows[0])
    within = row.pop("within")
    return CommunityCard(
        members=tuple(Member(**one) for one in row.pop("members")),
        within=CommunityRef(**within) if within else None,
        parts=tuple(CommunityRef(**one) for one in row.pop("parts")),
        **row,
    )


def shared_entities(corpus: str, documents: Sequence[str], only: bool, limit: int) -> Operation[list[EntityInfo]]:
    """Return the entities that all of some documents mention, and with `only` no other document: names before nouns,
    those in fewest documents first. Raises NotFoundError if one of the documents is not there."""
    for one in documents:
        yield from document(corpus, one)
    rows = yield Read(
        "query/shared_entities", {"corpus": corpus, "documents": list(documents), "only": only, "limit": limit}
    )
    return [_entity(row) for row in rows]


def _entity(row: Mapping[str, Any]) -> EntityInfo:
    lists = {
        "forms": {one["form"]: one["count"] for one in row["forms"]},
        "types": {one["type"]: one["count"] for one in row["types"]},
        "aliases": tuple(row["aliases"]),
    }
    return EntityInfo(**{**row, **lists})


def references(corpus: str, document: str | None, limit: int) -> Operation[list[ReferenceInfo]]:
    """Return which documents refer to which, at most `limit`; those from and to one document if it is named.

    Raises:
        NotFoundError: the corpus has no documents, or no such document.
        QueryError: several documents have this title.
    """
    if document is None:
        yield from check_corpus(corpus)
    else:
        document = (yield from find_document(document, corpus)).id
    rows = yield Read("query/references", {"corpus": corpus, "document": document, "limit": limit})
    return [ReferenceInfo(**row) for row in rows]


def aliases(
    corpus: str, words: str = "", *, key: str | None = None, document: str | None = None, limit: int = MOST_ALIASES
) -> Operation[list[Alias]]:
    """Return names that resolve to another entity, the most frequent first.

    Args:
        words: a part of their key, or of that of the entity.
        key: their key; None: any.
        document: the id of the document; None: any.
    """
    rows = yield Read(
        "query/aliases", {"corpus": corpus, "words": words, "key": key, "document": document, "limit": limit}
    )
    return [Alias(**row) for row in rows]


def merges(corpus: str, query: str, limit: int) -> Operation[list[Alias]]:
    """The same as `aliases`, but raises NotFoundError if the corpus has no documents."""
    yield from check_corpus(corpus)
    return (yield from aliases(corpus, entity_key(query), limit=limit))


def stats(corpus: str) -> Operation[dict[str, int]]:
    """Return the counts of a corpus. Raises NotFoundError if it has no documents."""
    made_with: Rows = yield Read("index/fingerprint", {"corpus": corpus})
    vectors = made_with[0]["vectors"] or "" if made_with else ""
    [row] = yield Read("query/stats", {"corpus": corpus}, vectors)
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

    A target matches a document by id or source. If there is none, it matches a file, or the documents in a folder or
    JSON Lines file, and else a document by title. Ids, sources and names of uploads are not looked up on the disk.

    Raises:
        NotFoundError: a target matches no document.
        QueryError: several documents have the title.
    """
    chosen: dict[str, DocumentInfo] = {}
    for target in map(str, targets):
        matches = [one for one in listed if target in (one.id, one.source)]
        if not matches:
            path = _absolute_path(target)
            prefixes = (path + os.sep, path + "#")
            matches = [one for one in listed if one.source == path]
            matches = matches or [one for one in listed if one.source.startswith(prefixes)]
        if not matches:
            matches = [one for one in listed if one.title == target]
            if len(matches) > 1:
                raise QueryError(
                    f"{len(matches)} documents of the corpus {corpus!r} have the title {target!r}. Name one by its "
                    f"file ({', '.join(one.source for one in matches)}). Nothing was deleted."
                )
        if not matches:
            raise DocumentNotFoundError(target, corpus, deleting=True)
        chosen |= {one.id: one for one in matches}
    return list(chosen.values())


def choose_document(target: str, listed: Sequence[DocumentInfo], corpus: str) -> DocumentInfo:
    """Resolve a target to one document: by id or source, or else by file, or else by title or name of its file.

    Raises:
        NotFoundError: the target matches no document.
        QueryError: it matches several.
    """
    path = _absolute_path(target)
    for matches in (
        [one for one in listed if target in (one.id, one.source)],
        [one for one in listed if one.source == path],
        [one for one in listed if target in (one.title, one.source.removeprefix(UPLOAD), Path(one.source).name)],
    ):
        if len(matches) > 1:
            raise QueryError(
                f"Several documents of the corpus {corpus!r} are called {target!r}. Name one by its id: "
                f"{', '.join(f'{one.id} ({one.source})' for one in matches[:5])}."
            )
        if matches:
            return matches[0]
    raise DocumentNotFoundError(target, corpus, named=True)


def _absolute_path(target: str) -> str:
    """Return the absolute path of a target, or the target itself if it cannot be a path, as those of uploads."""
    if target.startswith(UPLOAD):
        return target
    with suppress(OSError, ValueError, RuntimeError):  # too long, a NUL, no such user, circular links
        if target:  # an empty target does not mean the working directory
            return str(Path(target).expanduser().resolve())
    return target
