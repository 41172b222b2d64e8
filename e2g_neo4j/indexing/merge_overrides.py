"""Merge and split names by hand, and bring mentions of the names of linked nodes up to date.

Name merges are found from the stored extractions of chunks, so nothing is extracted again. The mentions and edges of
affected chunks are replaced, in one transaction per document. Vectors and summaries do not change. The result is the
same as that of indexing again.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from shlex import quote
from typing import Any

from e2g_neo4j.errors import AliasNotFoundError, EntityNotFoundError, InputError, NameNotInDocumentError
from e2g_neo4j.graph.catalog import aliases, find_document, find_documents
from e2g_neo4j.graph.fingerprint import read_name_words
from e2g_neo4j.graph.lease import write_locked
from e2g_neo4j.graph.rows import mentions_hash
from e2g_neo4j.graph.writer import CHUNKS_READ, purge, rewrite_mentions, set_override
from e2g_neo4j.indexing.cooccurrence import mentions
from e2g_neo4j.indexing.linked_names import collect_linked_names, read_linked_names
from e2g_neo4j.indexing.missed_names import add_missed_names, collect_known_names
from e2g_neo4j.indexing.name_merging import apply_merges, find_merges, name_counts
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.models.entities.extraction_codec import decode
from e2g_neo4j.runtime.requests import Operation, Read, Write
from e2g_neo4j.types.documents import Chunk
from e2g_neo4j.types.graph import Alias, Extraction
from e2g_neo4j.types.mentions import ChunkMentions, Overrides, Sense, find_circle

WAIT_SECONDS = 0.5
"""How long to wait before checking again whether a run has released a document."""

MAX_TITLE = 100
"""Maximum characters of the title in the name of an entity of one document."""


def merge(name: str, into: str, *, corpus: str) -> Operation[list[Alias]]:
    """Make a name resolve to another one in all documents of a corpus, also in those that are indexed later.

    Args:
        into: the other name, or one that resolves to it.

    Returns:
        The merges of the name.

    Raises:
        NotFoundError: one of the names does not occur in the corpus.
        InputError: the names are the same, or the other one resolves to this one by hand.
    """
    key, target = entity_key(name), entity_key(into)
    rows = yield Read("query/resolve", {"corpus": corpus, "names": [key, target]})
    found = {row["name"]: row["entity"] for row in rows}
    for one, its_key in ((name, key), (into, target)):
        if not found.get(its_key):
            raise EntityNotFoundError(one, corpus)
    target = found[target]
    while True:
        overrides = yield from read_overrides(corpus)
        if key in find_circle({key: target, **overrides.names} | {key: target}):
            raise InputError(
                f"{into!r} resolves to {name!r} already, or is the same name. Nothing was changed. To choose the other "
                f"as the name of the entity, run `e2g entities --split {quote(into)} --corpus {quote(corpus)}` first."
            )
        if (yield set_override(corpus, key, target, overrides)):
            break  # else a name was merged or split in the meantime
    yield from _update_documents(key, corpus)
    return (yield from aliases(corpus, key=key))


def split(name: str, document: str | None = None, *, corpus: str) -> Operation[list[Alias]]:
    """Stop a name from resolving to other entities in a corpus, also in documents that are indexed later.

    Args:
        document: a document, by id, source, file or title, in which the name means another entity than elsewhere.

    Returns:
        The merges that were undone; with a document, what the name resolves to there now.

    Raises:
        NotFoundError: the name resolves to no other entity, or does not occur in the document.
        QueryError: several documents have this title.
    """
    key = entity_key(name)
    if document is not None:
        return (yield from _split_in(key, name, document, corpus))
    undone = yield from aliases(corpus, key=key)
    if not undone:
        raise AliasNotFoundError(name, corpus)
    yield write_locked("index/set_override", corpus, key=key, into=None)
    yield from _update_documents(key, corpus)
    return [one for one in undone if one.entity]


def _split_in(key: str, name: str, target: str, corpus: str) -> Operation[list[Alias]]:
    """Let what a name means in a document be an entity of its own, called by the name and the title."""
    document = yield from find_document(target, corpus)
    means = yield from aliases(corpus, key=key, document=document.id)
    entity = (means[0].entity if means else None) or key
    if entity not in (yield from read_overrides(corpus)).spellings_in(document.id):
        rows = yield Read("query/documents_with", {"corpus": corpus, "key": entity})
        if document.id not in [row["document"] for row in rows]:
            raise NameNotInDocumentError(name, document.title, corpus)
        same_title = sum(one.title == document.title for one in (yield from find_documents(document.title, corpus)))
        title = document.title if entity_key(document.title) and same_title == 1 else document.source
        yield write_locked("index/split_in_document", corpus, key=entity, document=document.id, title=title[:MAX_TITLE])
    while not (yield from _update_document(document.id, corpus)):
        time.sleep(WAIT_SECONDS)
    yield from purge(corpus)
    return (yield from aliases(corpus, key=key, document=document.id))


def join(name: str, *, corpus: str) -> Operation[list[Alias]]:
    """Undo `split` or `merge`: the rules decide about the name again.

    Returns:
        The merges of the name.

    Raises:
        NotFoundError: the name was neither split nor merged by hand.
    """
    key = entity_key(name)
    overrides = yield from read_overrides(corpus)
    split_in = [document for document, senses in overrides.senses.items() if key in senses]
    if key not in overrides.names and not split_in:
        raise AliasNotFoundError(name, corpus)
    yield write_locked("index/clear_override", corpus, key=key)
    yield from _update_documents(key, corpus, *split_in)
    return (yield from aliases(corpus, key=key))


def _update_documents(key: str, corpus: str, *others: str) -> Operation[None]:
    """Update the mentions of all documents with a name, and of others."""
    rows = yield Read("query/documents_with", {"corpus": corpus, "key": key})
    for document in dict.fromkeys([*(row["document"] for row in rows), *others]):
        while not (yield from _update_document(document, corpus)):
            time.sleep(WAIT_SECONDS)  # a run is indexing it, or has published another version
    yield from purge(corpus)


def read_overrides(corpus: str) -> Operation[Overrides]:
    """Return what was decided about names by hand."""
    rows = yield Read("index/overrides", {"corpus": corpus})
    senses: defaultdict[str, dict[str, Sense]] = defaultdict(dict)
    for row in rows:
        for document, name in zip(row["documents"], row["senses"], strict=True):
            senses[document][row["key"]] = Sense(entity_key(name), name)
    return Overrides({row["key"]: row["into"] for row in rows if row["decided"]}, senses)


def update_linked_names(corpus: str) -> Operation[int]:
    """Rewrite the mentions of documents with names of linked nodes that have changed. Return their number.

    If it is killed, the next change of documents does it.
    """
    rows = [row for row in (yield Read("link/known_names", {"corpus": corpus})) if row["changed"]]
    if not rows:
        return 0
    changed = collect_linked_names(dict.fromkeys((name for row in rows for name in row["changed"]), ""))
    documents: set[str] = set()
    after = ""
    while chunks := (yield Read("link/texts", {"corpus": corpus, "after": after, "limit": CHUNKS_READ})):
        for one in chunks:
            if one["document"] not in documents and changed.find_in([one["text"]]):
                documents.add(one["document"])
        after = chunks[-1]["chunk"]
    updated = 0
    for document in sorted(documents):
        while request := (yield from _update(document, corpus, only_changed=True)):
            if (yield request):
                updated += 1
                break
            time.sleep(WAIT_SECONDS)
    for row in rows:
        yield write_locked(
            "link/end_update", corpus, label=row["label"], version=row["version"], changed=row["changed"]
        )
    if updated:
        yield from purge(corpus)
    return updated


def _update_document(document: str, corpus: str) -> Operation[bool]:
    """Update the mentions of a document. Return False if it has changed since it was read."""
    request = yield from _update(document, corpus)
    return request is None or bool((yield request))


def _update(document: str, corpus: str, *, only_changed: bool = False) -> Operation[Write | None]:
    """Return the transaction that updates the mentions of a document, or None if there is nothing to do.

    Args:
        document: the id of the document.
        only_changed: whether there is nothing to do if all mentions are the same.
    """
    rows = yield Read("query/chunks_of", {"corpus": corpus, "document": document})
    if not rows:
        return None  # it was deleted, or a run is replacing it
    overrides = yield from read_overrides(corpus)
    linked = yield from read_linked_names(corpus)
    extractions = [decode(row["notes"]) for row in rows]
    of = yield from read_name_words(corpus)
    names = collect_known_names(name_counts(extractions), of, linked.find_in(row["text"] for row in rows))
    extractions = [add_missed_names(row["text"], one, names) for row, one in zip(rows, extractions, strict=True)]
    counts = name_counts(extractions)
    merges = find_merges(counts, of, overrides.in_document(document), overrides.spellings_in(document))
    changed = _find_changes(rows, apply_merges(extractions, merges))
    if only_changed and not changed:
        return None
    return rewrite_mentions(
        corpus,
        document,
        rows[0]["sha256"],
        [mentioned for _, mentioned in changed],
        merges,
        unchanged={row["id"] for row in rows} - {row["id"] for row, _ in changed},
        before={key for row, _ in changed for key in row["keys"]},
        overrides=overrides,
        linked=linked.versions,
    )


def _find_changes(
    rows: Sequence[dict[str, Any]], extractions: Iterable[Extraction]
) -> list[tuple[dict[str, Any], ChunkMentions]]:
    """Return the chunks whose mentions are others now, rows of `query/chunks_of`, with these mentions."""
    chunks = [
        Chunk(
            row["id"],
            row["index"],
            row["text"],
            row["start"],
            row["end"],
            row["tokens"],
            own=(row["start"] + row["own"][0], row["start"] + row["own"][1]),
        )
        for row in rows
    ]
    windows = [[(start - row["start"], end - row["start"]) for start, end in row["windows"]] for row in rows]
    pairs = zip(rows, mentions(chunks, extractions, windows), strict=True)
    return [(row, mentioned) for row, mentioned in pairs if row["told"] != mentions_hash(mentioned)]
