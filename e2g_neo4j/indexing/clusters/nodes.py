"""The nodes of the tree of clusters, and what their summaries are made of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.indexing.layer import hash_of
from e2g_neo4j.indexing.summaries.base import SummaryInput
from e2g_neo4j.models.embedding.base import dequantise, normalise
from e2g_neo4j.models.entities.extraction_codec import decode, own_sentences_before_list
from e2g_neo4j.types.documents import Span
from e2g_neo4j.types.graph import Sentence


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A chunk.

    Attributes:
        document: the id of the document.
        index: its number in the document.
        span: where its text is in the document.
        vector: its vector, or the mean of those of its windows.
    """

    id: str
    document: str
    index: int
    span: Span
    tokens: int
    vector: NDArray[np.float32]

    @property
    def place(self) -> tuple[str, int, str]:
        """What nodes are sorted by."""
        return self.document, self.index, self.id

    @property
    def leaves(self) -> frozenset[Leaf]:
        """The chunks below and including it."""
        return frozenset([self])

    @property
    def sha256(self) -> str:
        """A hash of what it is made of."""
        return self.id


@dataclass(frozen=True, eq=False)
class Cluster:
    """A cluster with its summary.

    Attributes:
        level: its level, 1 if all its members are chunks.
        members: chunks, and clusters of lower levels, sorted by place.
        vector: the vector of its summary.
        leaves: the chunks below it.
    """

    level: int
    members: tuple[Node, ...]
    summary: SummaryInput
    tokens: int
    vector: NDArray[np.float32]
    leaves: frozenset[Leaf]

    @cached_property
    def place(self) -> tuple[str, int, str]:
        """What nodes are sorted by: the place of its first chunk."""
        document, index, _ = min(leaf.place for leaf in self.leaves)
        return document, index, self.id

    @cached_property
    def id(self) -> str:
        """A hash of its level and members."""
        return hash_of(str(self.level), *sorted(member.id for member in self.members))

    @cached_property
    def sha256(self) -> str:
        """A hash of everything that is stored."""
        document, (start, end) = self.source
        members = (member.sha256 for member in self.members)
        return hash_of(self.summary.text, document, str(start), str(end), *members)

    @cached_property
    def text_sha256(self) -> str:
        """A hash of the summary."""
        return hash_of(self.summary.text)

    @cached_property
    def source(self) -> tuple[str, Span]:
        """The document that has most of its chunks, and where these are in it. Of several such, the first."""
        spans: defaultdict[str, list[Span]] = defaultdict(list)
        for leaf in self.leaves:
            spans[leaf.document].append(leaf.span)
        document = min(spans, key=lambda one: (-len(spans[one]), one))
        return document, (min(start for start, _ in spans[document]), max(end for _, end in spans[document]))


Node: TypeAlias = Leaf | Cluster
"""A node that a cluster may have as a member."""


def leaf_of(row: Mapping[str, Any]) -> Leaf:
    """Return the leaf of a row of `clusters/chunks`."""
    vector = normalise(np.array(row["vectors"], np.float32).mean(axis=0))
    return Leaf(row["chunk"], row["document"], row["index"], (row["start"], row["end"]), row["tokens"], vector)


def chunk_input(row: Mapping[str, Any], vector: NDArray[np.float32]) -> SummaryInput:
    """Return what a summary uses of a chunk: its own text, with the sentences whose vectors are stored.

    Args:
        row: a row of `clusters/texts`.
        vector: the vector of the chunk. If no sentence has a vector, the whole text counts as one sentence.
    """
    text: str = row["text"]
    found = decode(row["notes"]).sentences
    own = [found[at] for at in own_sentences_before_list(found, tuple(row["own"]))]
    packed: bytes = row["vectors"] or b""
    if not packed or not any(text[one.start : one.end].strip() for one in own):
        return SummaryInput(text, (Sentence(0, len(text), ()),), vector[None])
    begin, end = max(row["own"][0], 0), max(row["own"][1], own[-1].end)
    sentences = tuple(Sentence(one.start - begin, one.end - begin, one.entities) for one in own)
    counts = Counter(entity for one in sentences for entity in one.entities)
    return SummaryInput(text[begin:end], sentences, dequantise(packed, len(vector)), counts)


def in_order(nodes: Iterable[Node]) -> list[Node]:
    """Sort nodes by document and by their first chunk in it."""
    return sorted(nodes, key=lambda node: node.place)


def vectors_of(nodes: Sequence[Node]) -> NDArray[np.float32]:
    """Return the vectors of nodes, a row for each."""
    return np.stack([node.vector for node in nodes])
