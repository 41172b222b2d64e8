"""The clusters of a corpus. One whose members and summary are the same is kept, with its vector."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from e2g_neo4j.graph.writer import ROWS
from e2g_neo4j.indexing.clusters.grouping import LEVELS, groups
from e2g_neo4j.indexing.clusters.nodes import (
    Cluster,
    Leaf,
    Node,
    chunk_input,
    in_order,
    leaf_of,
    vectors_of,
)
from e2g_neo4j.indexing.layer import ChangedError, Layer, Making
from e2g_neo4j.indexing.summaries.base import Summariser, SummaryInput
from e2g_neo4j.indexing.summaries.extractive import ExtractiveSummariser
from e2g_neo4j.indexing.summaries.tree import join_summaries
from e2g_neo4j.indexing.vector_layers import SENTENCES
from e2g_neo4j.models.embedding.windows import embed_long
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.requests import Operation, Read
from e2g_neo4j.types.reports import LayerReport

CHUNKS_READ = 500
"""Chunks whose vectors, or texts, one statement reads."""

SUMMARIES = 50
"""Clusters that are summarised together, and written in one transaction."""


def _make(making: Making) -> Operation[LayerReport]:
    """Make clusters.

    The summaries are extractive, also if a chat model is configured: a change may regroup many clusters, which would
    all be paid for again.
    """
    models, corpus = making.models, making.corpus
    summariser = ExtractiveSummariser(models.embedder.token_spans, budget=models.settings.summary_tokens)
    [rows] = yield Read("clusters/stored", {"corpus": corpus})
    written = set(rows["texts"])
    nodes = in_order((yield from _leaves(corpus)))
    clusters: list[Cluster] = []
    for level in range(1, LEVELS + 1):
        members = _members(nodes)
        if not members:
            break
        made: list[Cluster] = []
        for batch in split_batches(members, SUMMARIES):
            made += yield from _summarise_groups(models, corpus, summariser, level, batch)
            making.show("clusters", len(clusters) + len(made), len(clusters) + len(members))
        clusters += made
        inside = {node.id for group in members for node in group}
        nodes = in_order([*made, *(node for node in nodes if node.id not in inside)])
    stored = {row["id"]: row["sha256"] for row in rows["clusters"]}
    new = [cluster for cluster in clusters if stored.get(cluster.id) != cluster.sha256]
    kept = {cluster.id for cluster in clusters} - {cluster.id for cluster in new}
    yield from making.begin()
    for some in split_batches(new, SUMMARIES):
        yield from making.stage([_row(cluster) for cluster in some])
    links = (
        {"id": cluster.id, "member": member.id, "kind": _kind(member, kept)}
        for cluster in new
        for member in cluster.members
    )
    for links_of_batch in split_batches(links, ROWS):
        yield from making.add("stage_members", links_of_batch)
    yield from making.publish(kept=sorted(kept))
    return LayerReport(
        total=len(clusters),
        made=sum(cluster.text_sha256 not in written for cluster in new),
        levels=max((cluster.level for cluster in clusters), default=0),
    )


CLUSTERS = Layer("clusters", "clusters", "its clusters were made", _make, needs=(SENTENCES,), staged="StagedCluster")


def _leaves(corpus: str) -> Operation[list[Leaf]]:
    leaves: list[Leaf] = []
    after = ""
    while rows := (yield Read("clusters/chunks", {"corpus": corpus, "after": after, "limit": CHUNKS_READ})):
        if any(None in row["vectors"] for row in rows):
            raise ChangedError  # the corpus has vectors of another model meanwhile
        leaves += map(leaf_of, rows)
        after = rows[-1]["chunk"]
    return leaves


def _members(nodes: Sequence[Node]) -> list[tuple[Node, ...]]:
    """Return the members of each cluster of the next level; none if there is no other level.

    A node without another in its group stays alone, and may be a member on a higher level: a summary of it alone would
    only repeat it.
    """
    if len(nodes) < 2:
        return []
    found = [group for group in groups(vectors_of(nodes), [node.tokens for node in nodes]) if len(group) > 1]
    alone = len(nodes) - len({number for group in found for number in group})
    shrinks = len(found) + alone < len(nodes)
    return [tuple(nodes[number] for number in group) for group in found] if shrinks else []


def _summarise_groups(
    models: Models,
    corpus: str,
    summariser: Summariser,
    level: int,
    groups: Sequence[tuple[Node, ...]],
) -> Operation[list[Cluster]]:
    """Summarise groups of nodes."""
    inputs = yield from _inputs(corpus, {node for group in groups for node in group if isinstance(node, Leaf)})
    texts = [
        join_summaries([node.summary if isinstance(node, Cluster) else inputs[node.id] for node in group], level)
        for group in groups
    ]
    summaries = [summariser.summarise(text) for text in texts]
    vectors = embed_long(models.embedder, [summary.text for summary in summaries])
    return [
        Cluster(
            level,
            group,
            summary,
            len(models.embedder.token_spans(summary.text)),
            vector,
            frozenset().union(*(node.leaves for node in group)),
        )
        for group, summary, vector in zip(groups, summaries, vectors, strict=True)
    ]


def _inputs(corpus: str, leaves: Collection[Leaf]) -> Operation[dict[str, SummaryInput]]:
    """Read the texts of chunks, by id."""
    by_id = {leaf.id: leaf for leaf in leaves}
    inputs: dict[str, SummaryInput] = {}
    for batch in split_batches(sorted(by_id), CHUNKS_READ):
        rows = yield Read("clusters/texts", {"corpus": corpus, "chunks": batch})
        inputs |= {row["chunk"]: chunk_input(row, by_id[row["chunk"]].vector) for row in rows}
    if len(inputs) < len(by_id):
        raise ChangedError
    return inputs


def _kind(member: Node, kept: Collection[str]) -> str:
    if isinstance(member, Leaf):
        return "chunk"
    return "kept" if member.id in kept else "staged"


def _row(cluster: Cluster) -> dict[str, Any]:
    document, (start, end) = cluster.source
    return {
        "id": cluster.id,
        "level": cluster.level,
        "text": cluster.summary.text,
        "tokens": cluster.tokens,
        "chunks": len(cluster.leaves),
        "document": document,
        "start": start,
        "end": end,
        "sha256": cluster.sha256,
        "text_sha256": cluster.text_sha256,
        "embedding": cluster.vector.tolist(),
    }
