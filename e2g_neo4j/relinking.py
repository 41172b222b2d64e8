"""Keeping two names apart that were joined, and joining them again.

What a name stands for is decided for a whole document, from what the pipeline found in its chunks, which they keep:
nothing is read again. Mentions and edges of the chunks concerned are replaced, in one transaction for each document;
vectors and summaries stay. The graph is then that of a fresh index which knows what to keep apart.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import Any

from e2g_neo4j.cooccurrence import mentions
from e2g_neo4j.errors import no_alias, no_notes
from e2g_neo4j.extraction import entity_key
from e2g_neo4j.model import Alias, Chunk
from e2g_neo4j.naming import joined, joins, name_counts
from e2g_neo4j.packing import unpacked
from e2g_neo4j.queries import Read, Story, Write
from e2g_neo4j.rows import told
from e2g_neo4j.writing import clean, rewrite_mentions

WAIT_SECONDS = 0.5
"""How long to wait before looking again whether a run has let go of a document."""


def aliases(corpus: str, words: str = "") -> Story[list[Alias]]:
    """Which names stand for another entity, those with most mentions first; `words`: in one of the two keys."""
    rows = yield Read("query/aliases", {"corpus": corpus, "words": words})
    return [Alias(**row) for row in rows]


def split(name: str, *, corpus: str) -> Story[list[Alias]]:
    """Keep a name apart from all others in a corpus, and return what it stood for.

    It is remembered for documents to come. Raises NotFoundError where the name stands for no other, FingerprintError
    where a document that has it was indexed by an earlier version.
    """
    key = entity_key(name)
    found = [one for one in (yield from aliases(corpus, key)) if one.key == key]
    if not found:
        raise no_alias(name, corpus)
    yield from _concerned(key, corpus)
    lock = ("index/lock_corpus", {"corpus": corpus})
    yield Write((lock, ("index/keep_apart", {"corpus": corpus, "key": key})))
    yield from _relink(key, corpus)
    return [one for one in found if one.entity]


def join(name: str, *, corpus: str) -> Story[list[Alias]]:
    """Undo `split`, and return what the name stands for then. Raises NotFoundError where it was not kept apart,
    FingerprintError as `split` does."""
    key = entity_key(name)
    if not any(one.key == key and one.apart for one in (yield from aliases(corpus, key))):
        raise no_alias(name, corpus)
    yield from _concerned(key, corpus)
    lock = ("index/lock_corpus", {"corpus": corpus})
    yield Write((lock, ("index/join_again", {"corpus": corpus, "key": key})))
    yield from _relink(key, corpus)
    return [one for one in (yield from aliases(corpus, key)) if one.key == key]


def _concerned(key: str, corpus: str) -> Story[list[str]]:
    """The documents that have a name. Raises FingerprintError where one was indexed without what it takes."""
    rows = yield Read("query/documents_with", {"corpus": corpus, "key": key})
    for row in rows:
        if not row["kept"]:
            raise no_notes(row["document"], corpus)
    return [row["document"] for row in rows]


def _relink(key: str, corpus: str) -> Story[None]:
    """Make the mentions of all documents again that have a name."""
    for document in (yield from _concerned(key, corpus)):
        while not (yield from _relinked(document, corpus)):
            time.sleep(WAIT_SECONDS)  # a run is at work on it, or has published another version
    yield from clean(corpus)


def _relinked(document: str, corpus: str) -> Story[bool]:
    """Whether a document still is what was read when its new mentions are written, or is gone."""
    rows = yield Read("query/chunks_of", {"corpus": corpus, "document": document})
    if not rows:
        return True
    kept = yield Read("index/apart", {"corpus": corpus})
    return bool((yield rewritten(document, rows, {row["key"] for row in kept}, corpus=corpus)))


def rewritten(document: str, rows: Sequence[dict[str, Any]], apart: Collection[str], *, corpus: str) -> Write:
    """The mentions of a document anew, from the rows of `query/chunks_of`."""
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
    extractions = [unpacked(row["notes"]) for row in rows]
    same = joins(name_counts(extractions), apart)
    found = zip(rows, mentions(chunks, joined(extractions, same), windows), strict=True)
    changed = [(row, mentioned) for row, mentioned in found if row["told"] != told(mentioned)]
    return rewrite_mentions(
        corpus,
        document,
        rows[0]["sha256"],
        [mentioned for _, mentioned in changed],
        same,
        staying={row["id"] for row in rows} - {row["id"] for row, _ in changed},
        before={key for row, _ in changed for key in row["keys"]},
        apart=apart,
    )
