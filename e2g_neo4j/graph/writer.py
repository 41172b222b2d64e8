"""Write documents to the database and delete them.

New nodes are staged in bounded transactions, under labels that no index and no query uses, then published in one
transaction. Deleted nodes are hidden in one transaction too (soft delete) and removed in bounded transactions after it
(purge). Nodes that a new version has in common with the previous one are kept. Only this module and `rows` know the
columns of `cypher/index/*`.

A chunk whose edges are not counted has the label UncountedChunk. Each transaction that counts or subtracts its edges
also changes the label. A long document has too many edges for one transaction: they are subtracted before the soft
delete, and counted after the publication, by `purge`.

Each of these transactions first takes the lock of its corpus, so the writers of a corpus run one after the other, on
all machines. Slow work such as extraction and summarising happens outside of the transactions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from e2g_neo4j.graph.rows import (
    EmbeddedChunk,
    IndexedDocument,
    StoredDocument,
    alias_rows,
    chunk_move_rows,
    chunk_row,
    kept_row,
    mention_rows,
    order_rows,
    ready_row,
    summary_move_rows,
    summary_rows,
    tree_rows,
    weight_rows,
    window_rows,
)
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.requests import Operation, Read, Write
from e2g_neo4j.types.documents import SourceDocument, Vectors
from e2g_neo4j.types.ids import corpus_key
from e2g_neo4j.types.mentions import ChunkMentions, NameMerge, Overrides
from e2g_neo4j.types.properties import as_json

NODE_ROWS = 500
"""Nodes per transaction. Each has a text and a vector."""

CHUNK_ROWS = 80
"""Chunks per transaction, with about five windows each."""

CHUNKS_READ = 100
"""Chunks that one statement reads or counts."""

CHUNKS_AT_ONCE = 1_000
"""Chunks whose edges one transaction counts or subtracts, about 300 each. 983 chunks (a million tokens) were measured
to fit into the default heap of the managed server."""

NO_LIMIT = 2**62
"""More chunks than any corpus has."""

PROPERTY_ROWS = 200
"""Documents whose properties, of up to 64 KiB each, are read or written at once."""

ROWS = 10_000
"""Relationships per transaction, or per statement if one transaction must contain all of them."""


def load_stored(corpus: str, document: str) -> Operation[StoredDocument]:
    """Read the visible version of a document."""
    chunks = yield Read("index/stored_chunks", {"corpus": corpus, "document": document})
    summaries = yield Read("index/stored_summaries", {"corpus": corpus, "document": document})
    return StoredDocument({row["id"]: row for row in chunks}, {row["id"]: row for row in summaries})


def window_vectors(corpus: str, chunks: Sequence[str]) -> Operation[dict[str, Vectors]]:
    """Read the vectors of the windows of visible chunks, by chunk."""
    by_chunk: dict[str, Vectors] = {}
    for batch in split_batches(chunks, CHUNKS_READ):
        for row in (yield Read("index/window_vectors", {"corpus": corpus, "chunks": batch})):
            if row["vectors"]:  # else the corpus has vectors of another model meanwhile
                by_chunk[row["chunk"]] = np.array(row["vectors"], dtype=np.float32)
    return by_chunk


def claim(corpus: str, run: str, documents: Sequence[SourceDocument], *, adopted: bool = False) -> Iterator[Write]:
    """Claim documents for a run, so that no other run writes them.

    Documents that another run holds are skipped. Nothing is claimed while the corpus is being imported, or if `adopted`
    does not match the corpus.

    Args:
        adopted: whether the documents are adopted text nodes.
    """
    rows = (
        {"id": one.id, "source": one.source, "title": one.title, "properties": as_json(one.properties)}
        for one in documents
    )
    for batch in split_batches(rows, PROPERTY_ROWS):
        yield Write(
            (("index/claim_documents", {"corpus": corpus, "run": run, "rows": batch}),),
            condition=("index/open_corpus", {"corpus": corpus, "adopted": adopted}),
        )


@dataclass(frozen=True, slots=True)
class Staging:
    """Writes the staged nodes of documents, for a run that has claimed them.

    Transactions are bounded. Their condition is that the run still holds the documents. They return no row if another
    run or a deletion has taken them.
    """

    corpus: str
    run: str
    documents: Sequence[str]
    fulltext: bool = False
    """Whether their language has full-text indexes of its own."""

    def begin(self) -> Write:
        """Mark the documents as being indexed, and discard what an interrupted run has staged."""
        parameters = {"corpus": self.corpus, "documents": list(self.documents)}
        return self._write(("index/begin_documents", parameters), ("index/discard_staged", parameters))

    def chunks(self, read: Iterable[EmbeddedChunk]) -> Iterator[Write]:
        """Stage chunks with their windows, without mentions."""
        ours = {"corpus": self.corpus, "corpus_key": corpus_key(self.corpus), "fulltext": self.fulltext}
        for batch in split_batches(read, CHUNK_ROWS, lambda one: 2 * len(one.chunk.text)):  # with its windows
            chunks = [chunk_row(one) for one in batch]
            windows = [row for one in batch for row in window_rows(one)]
            yield self._write(
                ("index/stage_chunks", {**ours, "rows": chunks}),
                ("index/stage_windows", {**ours, "rows": windows}),
            )

    def summaries(self, documents: Sequence[IndexedDocument], vectors: Vectors) -> Iterator[Write]:
        """Stage the new summaries of documents. `vectors` has one row for each of them, in order."""
        for batch in split_batches(summary_rows(documents, vectors), NODE_ROWS, lambda row: len(row["text"])):
            yield self._write(("index/stage_summaries", {"corpus": self.corpus, "rows": batch}))

    def mentions(self, found: Sequence[ChunkMentions]) -> Iterator[Write]:
        """Write the mentions of staged chunks."""
        for batch in split_batches(mention_rows(found), ROWS):
            yield self._write(("index/mentions", {"corpus": self.corpus, "rows": batch}))
        for batch in split_batches(weight_rows(found), ROWS):
            yield self._write(("index/set_window_weights", {"corpus": self.corpus, "rows": batch}))

    def _write(self, *statements: tuple[str, dict[str, Any]]) -> Write:
        return Write(statements, hold_condition(self.corpus, self.run, self.documents))


def decrement_ahead(corpus: str, run: str, documents: Sequence[IndexedDocument]) -> Iterator[Write]:
    """Before a publication, subtract the edges of chunks that it deletes, if they are too many for one transaction.

    If the run is killed here, visible chunks remain whose edges are not counted. `purge` counts them again.

    Args:
        documents: the documents that will be published.
    """
    for indexed in documents:
        to_delete = len(indexed.before.chunks) - len(indexed.unchanged)
        row = {"document": indexed.document.id, "chunks": sorted(indexed.unchanged), "all": True}
        parameters = {"corpus": corpus, "rows": [row], "most": CHUNKS_READ}
        for _ in range(0, to_delete if to_delete > CHUNKS_AT_ONCE else 0, CHUNKS_READ):
            yield Write((("index/decrement_edges", parameters),), hold_condition(corpus, run, [indexed.document.id]))


def publish(
    corpus: str, run: str, documents: Sequence[IndexedDocument], *, overrides: Overrides, linked: Sequence[str]
) -> Write:
    """Return the transaction that publishes documents.

    It makes the staged nodes visible and hides nodes and edges of previous versions that are not kept, with entities
    that no other chunk mentions. Both sets are determined in the same transaction.

    Its condition is that the run holds the documents, and that the overrides and the names of linked nodes are still
    the same.

    Args:
        documents: the documents, which are staged.
        linked: the versions of the names of linked nodes.
    """
    ids = [indexed.document.id for indexed in documents]
    unchanged = [kept_row(indexed) for indexed in documents]
    new = [one.id for indexed in documents for one in indexed.chunks if one.id not in indexed.unchanged]
    counted = new if len(new) <= CHUNKS_AT_ONCE else []  # the edges of more chunks are counted later, by `purge`
    aliases = (row for indexed in documents for row in alias_rows(indexed.document.id, indexed.merges))
    ready = [ready_row(indexed) for indexed in documents]
    return Write(
        (
            # Adding comes first, so edges that both versions have are not removed and created again.
            *_add_edges(corpus, counted),
            ("index/decrement_edges", {"corpus": corpus, "rows": unchanged, "most": NO_LIMIT}),
            ("index/count_mentions", {"corpus": corpus, "rows": unchanged}),
            ("index/count_terms", {"corpus": corpus, "rows": unchanged}),
            ("index/delete_aliases", {"corpus": corpus, "documents": ids}),
            ("index/soft_delete", {"corpus": corpus, "rows": unchanged}),
            ("index/publish_nodes", {"corpus": corpus, "documents": ids}),
            *_in_batches("index/move_chunks", corpus, chunk_move_rows(documents)),
            *_in_batches("index/move_summaries", corpus, summary_move_rows(documents)),
            *_in_batches("index/order_chunks", corpus, order_rows(documents)),
            *_in_batches("index/set_parents", corpus, tree_rows(documents)),
            ("index/publish_documents", {"corpus": corpus, "rows": ready}),
            *_in_batches("index/aliases", corpus, aliases),
            ("index/count_corpus", {"corpus": corpus}),
        ),
        condition=hold_condition(corpus, run, ids, overrides=overrides, linked=linked),
    )


def rewrite_mentions(
    corpus: str,
    document: str,
    sha256: str,
    found: Sequence[ChunkMentions],
    merges: Sequence[NameMerge],
    *,
    unchanged: Collection[str],
    before: Collection[str],
    overrides: Overrides,
    linked: Sequence[str],
) -> Write:
    """Return the transaction that replaces mentions and edges of chunks of a visible document, and its aliases.

    Its condition is that the document still has this text, that no run is indexing it, and that the overrides and the
    names of linked nodes are still the same. What an interrupted run has staged is removed.

    Args:
        document: the id of the document.
        found: the new mentions of the chunks that change.
        unchanged: the ids of the other chunks.
        before: the entities that the chunks mentioned so far.
        linked: the versions of the names of linked nodes.
    """
    parameters = {"corpus": corpus, "documents": [document]}
    rows = [{"document": document, "chunks": sorted(unchanged), "all": True}]
    return Write(
        (
            ("index/discard_staged", parameters),
            ("index/decrement_edges", {"corpus": corpus, "rows": rows, "most": NO_LIMIT}),
            ("index/count_mentions", {"corpus": corpus, "rows": rows}),
            ("index/delete_aliases", parameters),
            ("index/delete_mentions", {"corpus": corpus, "chunks": [one.chunk for one in found]}),
            *_in_batches("index/mentions", corpus, mention_rows(found)),
            *_in_batches("index/set_window_weights", corpus, weight_rows(found)),
            ("index/count_mentions", {"corpus": corpus, "rows": rows}),
            *_add_edges(corpus, [one.chunk for one in found]),
            ("index/publish_nodes", parameters),
            ("index/delete_orphan_entities", {"corpus": corpus, "keys": sorted(before)}),
            *_in_batches("index/aliases", corpus, alias_rows(document, merges)),
            ("index/count_corpus", {"corpus": corpus}),
        ),
        condition=(
            "index/hold_version",
            {
                "corpus": corpus,
                "document": document,
                "sha256": sha256,
                "overrides": _override_rows(overrides),
                "linked": list(linked),
            },
        ),
    )


def hold_condition(
    corpus: str,
    run: str,
    documents: Sequence[str],
    *,
    overrides: Overrides | None = None,
    linked: Sequence[str] = (),
) -> tuple[str, dict[str, Any]]:
    """Return the condition that a run holds documents.

    It takes the lock of the corpus first, like all writers, which avoids deadlocks. What is read stays true until the
    end of the transaction.

    Args:
        documents: the ids of the documents.
        overrides: what was decided about names by hand, which must be the same; None to ignore it and `linked`.
        linked: the versions of the names of linked nodes, which must be the same.
    """
    decided = None if overrides is None else _override_rows(overrides)
    held = {"corpus": corpus, "documents": list(documents), "run": run, "overrides": decided, "linked": list(linked)}
    return "index/hold_documents", held


def set_override(corpus: str, key: str, into: str, overrides: Overrides) -> Write:
    """Return the transaction that records a merge by hand. Its condition is that the overrides are still the same."""
    unchanged = ("index/hold_overrides", {"corpus": corpus, "overrides": _override_rows(overrides)})
    return Write((("index/set_override", {"corpus": corpus, "key": key, "into": into}),), unchanged)


def _override_rows(overrides: Overrides) -> list[list[str]]:
    senses: defaultdict[str, list[str]] = defaultdict(list)
    for document, by_name in overrides.senses.items():
        for name, sense in by_name.items():
            senses[name].append(f"{document}: {sense.name}")
    names = sorted({*overrides.names, *senses})
    return [[name, overrides.names.get(name) or "", *sorted(senses[name])] for name in names]


def delete(
    corpus: str, documents: Sequence[str], condition: tuple[str, dict[str, Any]] | None = None
) -> Operation[None]:
    """Delete documents and everything that only they contributed, even if a run holds them.

    They are hidden in one transaction, and removed in bounded transactions after it.

    Args:
        documents: the ids of the documents.
        condition: a statement of that transaction. If it returns no row, nothing is deleted.
    """
    for one in documents:
        row = {"document": one, "chunks": [], "all": True}
        decrement = ("index/decrement_edges", {"corpus": corpus, "rows": [row], "most": CHUNKS_READ})
        is_large = ("index/is_large", {"corpus": corpus, "document": one, "most": CHUNKS_AT_ONCE})
        while (yield Write((decrement,), is_large)):
            pass
    parameters = {"corpus": corpus, "documents": list(documents)}
    nothing_kept = {
        "corpus": corpus,
        "rows": [{"document": one, "chunks": [], "summaries": [], "all": False} for one in documents],
    }
    yield Write(
        (
            ("index/lock_corpus", {"corpus": corpus}),
            ("index/decrement_edges", {**nothing_kept, "most": NO_LIMIT}),
            ("index/discard_staged", parameters),
            ("index/count_mentions", nothing_kept),
            ("index/count_terms", nothing_kept),
            ("index/delete_aliases", parameters),
            ("index/soft_delete", nothing_kept),
            ("index/delete_documents", parameters),
            ("index/count_corpus", {"corpus": corpus}),
            ("index/delete_empty_corpus", {"corpus": corpus}),
        ),
        condition,
    )
    yield from purge(corpus)


def purge(corpus: str) -> Operation[None]:
    """Count the edges of visible uncounted chunks, and remove soft-deleted nodes, in bounded transactions.

    If a run is killed here, the next run continues.
    """
    step = Write(
        (
            ("index/add_edges", {"corpus": corpus, "chunks": [], "visible": CHUNKS_READ}),
            ("index/purge_relationships", {"corpus": corpus, "limit": ROWS}),
            ("index/purge", {"corpus": corpus, "limit": NODE_ROWS}),
        ),
        condition=("index/needs_purge", {"corpus": corpus}),
    )
    while (yield step):
        pass


def _add_edges(corpus: str, chunks: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield statements, for one transaction, that count the edges of staged chunks."""
    for batch in split_batches(chunks, CHUNKS_READ):
        yield "index/add_edges", {"corpus": corpus, "chunks": batch, "visible": 0}


def _in_batches(statement: str, corpus: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a statement for each batch of rows, for one transaction."""
    for batch in split_batches(rows, ROWS):
        yield statement, {"corpus": corpus, "rows": batch}
