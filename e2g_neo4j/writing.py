"""How documents come into the database, and leave it: staged in bounded transactions under labels that no index and
no query looks at, then published in one. What goes is taken out of sight in one transaction, in the same way, and
removed in bounded ones after it. What a new version has in common with the one before stays. Only this module and
`rows` know the columns of `cypher/index/*`.

A chunk whose edges are not counted carries the label UncountedChunk; whatever counts or withdraws them changes it in
the same transaction. There are too many edges in a long document for one transaction: they are withdrawn before what
goes is taken out of sight, and counted after what comes is published, by `clean`.

Every one of these transactions takes the lock of its corpus first, so that the writers of a corpus go one after the
other, wherever they run. What takes long, reading and summarising, is done outside of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from e2g_neo4j.cooccurrence import ChunkMentions
from e2g_neo4j.model import SourceDocument, Vectors
from e2g_neo4j.naming import Join
from e2g_neo4j.queries import Read, Story, Write, corpus_key
from e2g_neo4j.rows import (
    Before,
    IndexedDocument,
    ReadChunk,
    alias_rows,
    chunk_row,
    mention_rows,
    moved_chunk_rows,
    moved_summary_rows,
    order_rows,
    ready_row,
    staying_row,
    summary_rows,
    tree_rows,
    weight_rows,
    window_rows,
)

T = TypeVar("T")

NODE_ROWS = 500
"""Nodes of a transaction: each carries a text and a vector."""

CHUNK_ROWS = 80
"""Chunks of a transaction, with some five windows each."""

CHUNKS_READ = 100
"""Chunks that one statement reads."""

CHUNKS_AT_ONCE = 1_000
"""Chunks of which one transaction counts or withdraws all edges, some 300 each. 983, of a million tokens, were measured
to fit into the default heap of the managed server."""

NO_LIMIT = 2**62
"""More chunks than there are."""

ROWS = 10_000
"""Relationships of a transaction, or of a statement where one transaction must take all."""


def before(corpus: str, document: str) -> Story[Before]:
    """What queries see of a document."""
    chunks = yield Read("index/chunks_before", {"corpus": corpus, "document": document})
    summaries = yield Read("index/summaries_before", {"corpus": corpus, "document": document})
    return Before({row["id"]: row for row in chunks}, {row["id"]: row for row in summaries})


def window_vectors(corpus: str, chunks: Sequence[str]) -> Story[dict[str, Vectors]]:
    """The vectors of the windows of visible chunks, by chunk."""
    found: dict[str, Vectors] = {}
    for some in batches(chunks, CHUNKS_READ):
        for row in (yield Read("index/window_vectors", {"corpus": corpus, "chunks": some})):
            found[row["chunk"]] = np.array(row["vectors"], dtype=np.float32)
    return found


def claim(corpus: str, run: str, documents: Sequence[SourceDocument], *, adopted: bool = False) -> Iterator[Write]:
    """Take documents for a run, which alone may then write them. What another run holds stays with it, and nothing is
    taken while the corpus is being imported, or where it is not `adopted` as these are, or is though they are not."""
    rows = ({"id": one.id, "source": one.source, "title": one.title} for one in documents)
    for batch in batches(rows, ROWS):
        yield Write(
            (("index/claim_documents", {"corpus": corpus, "run": run, "rows": batch}),),
            condition=("index/open_corpus", {"corpus": corpus, "adopted": adopted}),
        )


@dataclass(frozen=True, slots=True)
class Staging:
    """Writes everything of some documents but what makes it visible, for a run that has claimed them.

    Transactions are bounded. Each is conditional on the run still holding the documents: it answers no row where
    another run, or a deletion, came between.
    """

    corpus: str
    run: str
    documents: Sequence[str]

    def begin(self) -> Write:
        """What an interrupted run staged before is removed first."""
        these = {"corpus": self.corpus, "documents": list(self.documents)}
        return self._write(("index/begin_documents", these), ("index/discard_staged", these))

    def chunks(self, read: Iterable[ReadChunk]) -> Iterator[Write]:
        """Chunks with their windows; what they mention comes later."""
        key = corpus_key(self.corpus)
        for some in batches(read, CHUNK_ROWS):
            chunks = [chunk_row(one) for one in some]
            windows = [row for one in some for row in window_rows(one)]
            yield self._write(
                ("index/stage_chunks", {"corpus": self.corpus, "corpus_key": key, "rows": chunks}),
                ("index/stage_windows", {"corpus": self.corpus, "corpus_key": key, "rows": windows}),
            )

    def summaries(self, documents: Sequence[IndexedDocument], vectors: Vectors) -> Iterator[Write]:
        """The new summaries of documents, one after the other, with their vectors."""
        for some in batches(summary_rows(documents, vectors), NODE_ROWS):
            yield self._write(("index/stage_summaries", {"corpus": self.corpus, "rows": some}))

    def mentions(self, found: Sequence[ChunkMentions]) -> Iterator[Write]:
        """What staged chunks mention."""
        for some in batches(mention_rows(found), ROWS):
            yield self._write(("index/mentions", {"corpus": self.corpus, "rows": some}))
        for some in batches(weight_rows(found), ROWS):
            yield self._write(("index/weigh_windows", {"corpus": self.corpus, "rows": some}))

    def _write(self, *statements: tuple[str, dict[str, Any]]) -> Write:
        return Write(statements, holding(self.corpus, self.run, self.documents))


def withdrawn(corpus: str, run: str, documents: Sequence[IndexedDocument]) -> Iterator[Write]:
    """Before a publication: the edges of what it takes out of sight, where they are too many for one transaction.

    A run that ends here leaves chunks that are visible and not counted; `clean` counts them again."""
    for indexed in documents:
        going = len(indexed.before.chunks) - len(indexed.staying)
        row = {"document": indexed.document.id, "chunks": sorted(indexed.staying), "all": True}
        some = {"corpus": corpus, "rows": [row], "most": CHUNKS_READ}
        for _ in range(0, going if going > CHUNKS_AT_ONCE else 0, CHUNKS_READ):
            yield Write((("index/withdraw_edges", some),), holding(corpus, run, [indexed.document.id]))


def publish(corpus: str, run: str, documents: Sequence[IndexedDocument], *, apart: Collection[str]) -> Write:
    """One transaction: nodes and edges of the versions before go that do not stay, with entities that nothing else
    mentions, and the staged ones become visible. What goes, and what comes, is read in the same transaction.

    Conditional on the run holding the documents, and on the names that are kept `apart` still being these."""
    ids = [indexed.document.id for indexed in documents]
    stays = [staying_row(indexed) for indexed in documents]
    coming = [one.id for indexed in documents for one in indexed.chunks if one.id not in indexed.staying]
    counted = coming if len(coming) <= CHUNKS_AT_ONCE else []  # those of more come after it, see `clean`
    aliases = (row for indexed in documents for row in alias_rows(indexed.document.id, indexed.joins))
    ready = [ready_row(indexed) for indexed in documents]
    return Write(
        (
            # Adding first spares what both versions have from being removed and made again.
            *_added(corpus, counted),
            ("index/withdraw_edges", {"corpus": corpus, "rows": stays, "most": NO_LIMIT}),
            ("index/count_mentions", {"corpus": corpus, "rows": stays}),
            ("index/withdraw_aliases", {"corpus": corpus, "documents": ids}),
            ("index/retire", {"corpus": corpus, "rows": stays}),
            ("index/publish_chunks", {"corpus": corpus, "documents": ids}),
            ("index/publish_windows", {"corpus": corpus, "documents": ids}),
            ("index/publish_summaries", {"corpus": corpus, "documents": ids}),
            *_in_batches("index/move_chunks", corpus, moved_chunk_rows(documents)),
            *_in_batches("index/move_summaries", corpus, moved_summary_rows(documents)),
            *_in_batches("index/order_chunks", corpus, order_rows(documents)),
            *_in_batches("index/hang_nodes", corpus, tree_rows(documents)),
            ("index/publish_documents", {"corpus": corpus, "rows": ready}),
            *_in_batches("index/aliases", corpus, aliases),
            ("index/count_corpus", {"corpus": corpus}),
        ),
        condition=holding(corpus, run, ids, apart=sorted(apart)),
    )


def rewrite_mentions(
    corpus: str,
    document: str,
    sha256: str,
    found: Sequence[ChunkMentions],
    joins: Sequence[Join],
    *,
    staying: Collection[str],
    before: Collection[str],
    apart: Collection[str],
) -> Write:
    """One transaction: chunks of a visible document get other mentions and edges, but for those that are `staying` as
    they are, and the document other aliases. `before`: the entities that the chunks mentioned.

    Conditional on the document still having this text, on no run being at work on it, and on the names that are kept
    `apart` still being these. What an interrupted run staged of it is removed.
    """
    these = {"corpus": corpus, "documents": [document]}
    stays = [{"document": document, "chunks": sorted(staying), "all": True}]
    return Write(
        (
            ("index/discard_staged", these),
            ("index/withdraw_edges", {"corpus": corpus, "rows": stays, "most": NO_LIMIT}),
            ("index/count_mentions", {"corpus": corpus, "rows": stays}),
            ("index/withdraw_aliases", these),
            ("index/withdraw_mentions", {"corpus": corpus, "chunks": [one.chunk for one in found]}),
            *_in_batches("index/mentions", corpus, mention_rows(found)),
            *_in_batches("index/weigh_windows", corpus, weight_rows(found)),
            ("index/count_mentions", {"corpus": corpus, "rows": stays}),
            *_added(corpus, [one.chunk for one in found]),
            ("index/publish_chunks", these),
            ("index/forget_entities", {"corpus": corpus, "keys": sorted(before)}),
            *_in_batches("index/aliases", corpus, alias_rows(document, joins)),
        ),
        condition=(
            "index/hold_version",
            {"corpus": corpus, "document": document, "sha256": sha256, "apart": sorted(apart)},
        ),
    )


def holding(
    corpus: str, run: str, documents: Sequence[str], *, apart: Sequence[str] | None = None
) -> tuple[str, dict[str, Any]]:
    """The condition that a run holds documents. It takes the lock of the corpus first, as all its writers do: so none
    waits for another while that one waits for it, and what is read stays true until the transaction ends."""
    return "index/hold_documents", {"corpus": corpus, "documents": list(documents), "run": run, "apart": apart}


def delete(corpus: str, documents: Sequence[str]) -> Story[None]:
    """Documents go with all that they alone contributed, whoever holds them: out of sight in one transaction, out of
    the database in bounded ones after it."""
    for one in documents:
        row = {"document": one, "chunks": [], "all": True}
        some = ("index/withdraw_edges", {"corpus": corpus, "rows": [row], "most": CHUNKS_READ})
        many = ("index/is_large", {"corpus": corpus, "document": one, "most": CHUNKS_AT_ONCE})
        while (yield Write((some,), many)):
            pass
    these = {"corpus": corpus, "documents": list(documents)}
    nothing_stays = {
        "corpus": corpus,
        "rows": [{"document": one, "chunks": [], "summaries": [], "all": False} for one in documents],
    }
    yield Write(
        (
            ("index/lock_corpus", {"corpus": corpus}),
            ("index/withdraw_edges", {**nothing_stays, "most": NO_LIMIT}),
            ("index/discard_staged", these),
            ("index/count_mentions", nothing_stays),
            ("index/withdraw_aliases", these),
            ("index/retire", nothing_stays),
            ("index/delete_documents", these),
            ("index/count_corpus", {"corpus": corpus}),
            ("index/forget_corpus", {"corpus": corpus}),
        )
    )
    yield from clean(corpus)


def clean(corpus: str) -> Story[None]:
    """Count the edges of visible chunks that are not counted, and remove what was taken out of sight, in bounded
    transactions. What one run leaves, the next does."""
    some = Write(
        (
            ("index/add_edges", {"corpus": corpus, "chunks": [], "visible": CHUNKS_READ}),
            ("index/clean_relationships", {"corpus": corpus, "limit": ROWS}),
            ("index/clean", {"corpus": corpus, "limit": NODE_ROWS}),
        ),
        condition=("index/is_unclean", {"corpus": corpus}),
    )
    while (yield some):
        pass


def _added(corpus: str, chunks: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Statements of one transaction that count the edges of staged chunks."""
    for some in batches(chunks, CHUNKS_READ):
        yield "index/add_edges", {"corpus": corpus, "chunks": some, "visible": 0}


def _in_batches(statement: str, corpus: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A statement for each so many rows, of one transaction."""
    for batch in batches(rows, ROWS):
        yield statement, {"corpus": corpus, "rows": batch}


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of so many, the last of what is left."""
    batch: list[T] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
