"""Split names that were merged, and undo splits.

Name merges are found for each document, from the stored extractions of its chunks, so nothing is extracted again. The
mentions and edges of affected chunks are replaced, in one transaction per document. Vectors and summaries do not
change. The result is the same as that of indexing again with the split names.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import Any

from e2g_neo4j.errors import AliasNotFoundError, OutdatedDocumentError
from e2g_neo4j.graph.catalog import aliases
from e2g_neo4j.graph.rows import mentions_hash
from e2g_neo4j.graph.writer import purge, rewrite_mentions
from e2g_neo4j.indexing.cooccurrence import mentions
from e2g_neo4j.indexing.name_merging import apply_merges, find_merges, name_counts
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.models.entities.extraction_codec import decode
from e2g_neo4j.runtime.requests import Operation, Read, Write
from e2g_neo4j.types.documents import Chunk
from e2g_neo4j.types.graph import Alias

WAIT_SECONDS = 0.5
"""How long to wait before checking again whether a run has released a document."""


def split(name: str, *, corpus: str) -> Operation[list[Alias]]:
    """Stop a name from resolving to other entities in a corpus, also in documents that are indexed later.

    Args:
        name: the name.
        corpus: the corpus.

    Returns:
        The merges that were undone.

    Raises:
        NotFoundError: the name resolves to no other entity.
        FingerprintError: a document with this name was indexed by an earlier version, which stored no extractions.
    """
    key = entity_key(name)
    undone = [one for one in (yield from aliases(corpus, key)) if one.key == key]
    if not undone:
        raise AliasNotFoundError(name, corpus)
    yield from _documents_with(key, corpus)
    lock = ("index/lock_corpus", {"corpus": corpus})
    yield Write((lock, ("index/set_do_not_merge", {"corpus": corpus, "key": key})))
    yield from _update_documents(key, corpus)
    return [one for one in undone if one.entity]


def join(name: str, *, corpus: str) -> Operation[list[Alias]]:
    """Undo `split`.

    Args:
        name: the name.
        corpus: the corpus.

    Returns:
        The merges of the name.

    Raises:
        NotFoundError: the name was not split.
        FingerprintError: a document with this name was indexed by an earlier version, which stored no extractions.
    """
    key = entity_key(name)
    if not any(one.key == key and one.apart for one in (yield from aliases(corpus, key))):
        raise AliasNotFoundError(name, corpus)
    yield from _documents_with(key, corpus)
    lock = ("index/lock_corpus", {"corpus": corpus})
    yield Write((lock, ("index/clear_do_not_merge", {"corpus": corpus, "key": key})))
    yield from _update_documents(key, corpus)
    return [one for one in (yield from aliases(corpus, key)) if one.key == key]


def _documents_with(key: str, corpus: str) -> Operation[list[str]]:
    """Return the documents with a name. Raises FingerprintError if one has no stored extractions."""
    rows = yield Read("query/documents_with", {"corpus": corpus, "key": key})
    for row in rows:
        if not row["kept"]:
            raise OutdatedDocumentError(row["document"], corpus)
    return [row["document"] for row in rows]


def _update_documents(key: str, corpus: str) -> Operation[None]:
    """Update the mentions of all documents with a name."""
    for document in (yield from _documents_with(key, corpus)):
        while not (yield from _update_document(document, corpus)):
            time.sleep(WAIT_SECONDS)  # a run is indexing it, or has published another version
    yield from purge(corpus)


def _update_document(document: str, corpus: str) -> Operation[bool]:
    """Update the mentions of a document. Return False if it has changed since it was read."""
    rows = yield Read("query/chunks_of", {"corpus": corpus, "document": document})
    if not rows:
        return True  # it was deleted
    split_names = yield Read("index/do_not_merge", {"corpus": corpus})
    return bool((yield updated_mentions(document, rows, {row["key"] for row in split_names}, corpus=corpus)))


def updated_mentions(
    document: str, rows: Sequence[dict[str, Any]], do_not_merge: Collection[str], *, corpus: str
) -> Write:
    """Return the transaction that updates the mentions of a document.

    Args:
        document: the id of the document.
        rows: its chunks, rows of `query/chunks_of`.
        do_not_merge: the keys of the split names.
        corpus: the corpus.
    """
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
    extractions = [decode(row["notes"]) for row in rows]
    merges = find_merges(name_counts(extractions), do_not_merge)
    pairs = zip(rows, mentions(chunks, apply_merges(extractions, merges), windows), strict=True)
    changed = [(row, mentioned) for row, mentioned in pairs if row["told"] != mentions_hash(mentioned)]
    return rewrite_mentions(
        corpus,
        document,
        rows[0]["sha256"],
        [mentioned for _, mentioned in changed],
        merges,
        unchanged={row["id"] for row in rows} - {row["id"] for row, _ in changed},
        before={key for row, _ in changed for key in row["keys"]},
        do_not_merge=do_not_merge,
    )
