"""The summary tree: one summary for every g consecutive nodes, level by level (E²GraphRAG, arXiv 2505.24226).

This module decides which text a node covers and which node is its parent. A summariser writes the text:
`extractive.ExtractiveSummariser` without a language model, `chat.ChatSummariser` with one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from heapq import heappop, heappush
from threading import Condition, Thread
from typing import Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.errors import ModelError
from e2g_neo4j.indexing.chunking import identity
from e2g_neo4j.indexing.summaries.base import Summariser, SummaryInput, TreeInput
from e2g_neo4j.types.documents import Chunk, SourceDocument, TokenSpans, Vectors
from e2g_neo4j.types.graph import Extraction, Sentence, Summary

HEARTBEAT = 0.5
"""Seconds after which progress is reported even if there is none."""

MOST_READY = 64
"""Maximum number of nodes that are ready to be written when more chunks are added."""


class SummaryTreeBuilder:
    """Builds the summary trees of several documents concurrently, in threads.

    Level 1 has one node for every `group_size` chunks, each further level one for every `group_size` nodes of the level
    below. The last node of a level may cover fewer, but never a single one, whose copy would displace other evidence:
    the node before covers it. The top level is the first with at most `group_size` nodes: 2 to g + 1 chunks get one
    summary, 151 chunks and g=5 levels of 30, 6 and 1, a single chunk none.

    A node is started when its children are complete, and `add_chunk` has brought their sentences if the summariser
    needs them. Nodes of earlier documents and higher levels have priority. If a node fails, no other node is started,
    and running ones are finished.

    Args:
        inputs: the documents with their chunks. Overlaps of chunks are summarised once.
        summariser: writes the texts, at most `concurrency` at a time.
        group_size: the paper's g, at least 2.
        token_spans: the tokenizer that counts `Summary.tokens`.
        progress: called with the number of summaries written since the last call.
    """

    def __init__(
        self,
        inputs: Sequence[TreeInput],
        summariser: Summariser,
        *,
        group_size: int,
        token_spans: TokenSpans,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        if group_size < 2:
            raise ValueError(f"The group size is {group_size}, but must be at least 2.")
        self._trees = [_Tree(tree_input, group_size, token_spans, summariser) for tree_input in inputs]
        self._summariser = summariser
        self._progress = progress
        self._ready = [(number, -1, index) for number, tree in enumerate(self._trees) for index in tree.complete()]
        self._left = sum(tree.left for tree in self._trees)
        self._changed = Condition()
        self._error: BaseException | None = None
        self._closed = False
        self._at_work = min(summariser.concurrency, self._left)
        for _ in range(self._at_work):
            # Daemons, so that the program can end without waiting for a slow model.
            Thread(target=self._work, name="e2g-summarising", daemon=True).start()

    def needs(self, number: int, chunk: int) -> bool:
        """Return whether the sentences of a chunk, by its number in the document, are still needed."""
        return self._trees[number].needs(chunk)

    def add_chunk(self, number: int, chunk: int, extraction: Extraction, vectors: Vectors) -> None:
        """Add the sentences of a chunk. Waits while many nodes are ready to be written, so that memory is bounded.

        Args:
            number: the number of the document.
            chunk: the number of the chunk in the document.
            extraction: the extraction of the chunk.
            vectors: a vector of each sentence, of shape (sentences, dimensions).
        """
        with self._changed:
            self._changed.wait_for(lambda: len(self._ready) < MOST_READY or self._error is not None)
            group = self._trees[number].add(chunk, extraction, vectors)
            if group is not None:
                heappush(self._ready, (number, -1, group))
                self._changed.notify_all()

    def tree(self, number: int) -> list[Summary]:
        """Wait for the summaries of a document. Return them level by level, in reading order.

        Raises ModelError with the name of the node if the summariser failed, and other exceptions of the summariser.
        Also raises exceptions of `progress`, which is called while this waits, so that a run can be cancelled.
        """
        tree = self._trees[number]
        with self._changed:
            while not self._changed.wait_for(
                lambda: not tree.left or self._closed or (self._error is not None and not self._at_work), HEARTBEAT
            ):
                if self._progress:
                    self._progress(0)
            if tree.left and self._error is not None:
                raise self._error
            if tree.left:
                raise RuntimeError("The trees were closed before all summaries were written.")
        return tree.summaries()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Start no further nodes."""
        with self._changed:
            self._ready.clear()
            self._left = 0
            self._closed = True
            self._changed.notify_all()

    def _work(self) -> None:
        while node := self._next():
            number, height, index = node
            tree = self._trees[number]
            try:
                summary_input = tree.write(-height, index)
                with self._changed:
                    parent = tree.complete_node(-height, index, summary_input)
                    if parent is not None:
                        heappush(self._ready, (number, *parent))
                    self._left -= 1
                    if self._progress:
                        self._progress(1)
                    self._changed.notify_all()
            except BaseException as error:
                with self._changed:
                    self._error = self._error or error
                    self._changed.notify_all()
        with self._changed:
            self._at_work -= 1
            self._changed.notify_all()

    def _next(self) -> tuple[int, int, int] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._left <= 0 or self._error is not None)
            if self._error is not None or not self._ready:
                return None
            return heappop(self._ready)


@dataclass(frozen=True, slots=True)
class _Node:
    """A complete node: its text, the packed notes, and `Summary.made_of`."""

    text: str
    notes: bytes
    made_of: str


class _Tree:
    """The complete and pending nodes of one tree."""

    def __init__(self, tree_input: TreeInput, group_size: int, token_spans: TokenSpans, summariser: Summariser) -> None:
        self._input = tree_input
        self._summariser = summariser
        self._group_size = group_size
        self._token_spans = token_spans
        self._leaves: list[_Leaf] = [(one, None, None) for one in tree_input.chunks]
        self._ids = [
            one.id.removeprefix(tree_input.document.id) for one in tree_input.chunks
        ]  # independent of the corpus
        widths = list(tree_widths(len(tree_input.chunks), group_size))
        self._written: list[list[_Node | None]] = [[None] * width for width in widths]
        self._missing = [
            [len(group) for group in _groups(range(below), group_size)] for below in widths[: len(widths) - 1]
        ]
        self.left = sum(widths)
        groups = _groups(range(len(tree_input.chunks)), group_size) if widths else ()
        self._pending = [set(group) if self._needs_sentences(group) else set[int]() for group in groups]

    def _needs_sentences(self, group: Sequence[int]) -> bool:
        made_of = self._hash_children(1, [self._ids[number] for number in group])
        return self._summariser.needs_sentences and made_of not in self._input.known

    def _hash_children(self, level: int, children: Sequence[str]) -> str:
        return sha256(json.dumps([self._summariser.name, level, children]).encode()).hexdigest()[:24]

    def complete(self) -> list[int]:
        """Return the nodes of level 1 that do not wait for sentences."""
        return [index for index, pending in enumerate(self._pending) if not pending]

    def needs(self, chunk: int) -> bool:
        return bool(self._pending) and chunk in self._pending[self._parent(1, chunk)]

    def _parent(self, level: int, child: int) -> int:
        """Return the index of the node of a level that covers a node of the level below."""
        return min(child // self._group_size, len(self._written[level - 1]) - 1)

    def add(self, chunk: int, extraction: Extraction, vectors: Vectors) -> int | None:
        """Add the sentences of a chunk. Return its parent if the parent can be written now."""
        group = self._parent(1, chunk)
        self._leaves[chunk] = (self._input.chunks[chunk], extraction, vectors)
        self._pending[group].remove(chunk)
        return None if self._pending[group] else group

    def write(self, level: int, index: int) -> _Node:
        """Write the summary of a node's children, and release their data. Summaries are never empty."""
        last = index == len(self._written[level - 1]) - 1
        children = slice(index * self._group_size, None if last else (index + 1) * self._group_size)
        below = [node for node in self._written[level - 2][children] if node] if level > 1 else []
        made_of = self._hash_children(level, [node.made_of for node in below] or self._ids[children])
        if made_of in self._input.known:
            return _Node(*self._input.known[made_of], made_of)
        summary_input = self._summary(level, index, children, below)
        if level == 1:
            self._leaves[children] = [(leaf, None, None) for leaf, _, _ in self._leaves[children]]
        return _Node(summary_input.text, summary_input.pack(), made_of)

    def _summary(self, level: int, index: int, children: slice, below: Sequence[_Node]) -> SummaryInput:
        where = f"Summary {index} of level {level} of {self._input.document.title!r}"
        if level == 1:
            summary_input = _merge_chunks(self._input.document, self._leaves[children])
        else:
            summary_input = join_summaries([SummaryInput.unpack(node.text, node.notes) for node in below], level)
        try:
            summary = self._summariser.summarise(summary_input)
        except ModelError as error:
            raise type(error)(f"{where}: {error}") from error
        if not summary.text.strip():
            raise ModelError(
                f"{where}: {self._summariser.name} returned no text. Index again, or choose another model."
            )
        return summary

    def complete_node(self, level: int, index: int, node: _Node) -> tuple[int, int] | None:
        """Record a complete node. If its parent can be written now, return minus its level, and its index."""
        self._written[level - 1][index] = node
        self.left -= 1
        if level > len(self._missing):
            return None
        parent = self._parent(level + 1, index)
        self._missing[level - 1][parent] -= 1
        return None if self._missing[level - 1][parent] else (-(level + 1), parent)

    def summaries(self) -> list[Summary]:
        levels = [
            [(node.text, len(self._token_spans(node.text)), node.made_of, node.notes) for node in written if node]
            for written in self._written
        ]
        chunks = [chunk.id for chunk in self._input.chunks]
        return place_summaries(self._input.document.id, chunks, levels, self._group_size)


def place_summaries(
    document: str, chunks: Sequence[str], levels: Iterable[Sequence[tuple[str, int, str, bytes]]], group_size: int
) -> list[Summary]:
    """Return the summaries of a document, level by level, in reading order.

    Args:
        document: its id.
        chunks: the ids of its chunks.
        levels: text, tokens, `Summary.made_of` and notes of each node, by level.
    """
    found: list[Summary] = []
    below = chunks
    for level, nodes in enumerate(levels, 1):
        seen: Counter[str] = Counter()
        groups = _groups(below, group_size)
        for index, ((text, tokens, made_of, notes), group) in enumerate(zip(nodes, groups, strict=True)):
            id = identity(f"{document}-s{level}", text, seen)
            found.append(Summary(id, level, index, text, tokens, tuple(group), made_of, notes))
        below = [summary.id for summary in found[-len(nodes) :]]
    return found


def tree_size(chunks: int, group_size: int) -> int:
    """Return the number of summaries of a tree."""
    return sum(tree_widths(chunks, group_size))


def tree_widths(chunks: int, group_size: int) -> Iterator[int]:
    """Yield the number of nodes of each level, level 1 first."""
    if chunks < 2:
        return
    while True:
        chunks = _count_groups(chunks, group_size)
        yield chunks
        if chunks <= group_size:
            return


_N = TypeVar("_N")

_Leaf: TypeAlias = tuple[Chunk, Extraction | None, Vectors | None]


def _count_groups(nodes: int, size: int) -> int:
    """Return the number of groups of at least two nodes: one that is left over belongs to the last group."""
    return nodes // size + (nodes % size > 1)


def _groups(nodes: Sequence[_N], size: int) -> Iterator[Sequence[_N]]:
    last = _count_groups(len(nodes), size) - 1
    yield from (nodes[i * size : (i + 1) * size] for i in range(last))
    yield nodes[last * size :]


def _merge_chunks(document: SourceDocument, group: Sequence[_Leaf]) -> SummaryInput:
    """Merge consecutive chunks to one text with its sentences.

    A sentence in an overlap is taken from the first chunk that contains all of it.
    """
    begin, end = group[0][0].start, group[-1][0].end
    sentences: list[Sentence] = []
    rows: list[NDArray[np.float32]] = []
    covered = begin
    for position, (chunk, extraction, vectors) in enumerate(group):
        following = group[position + 1][0].start if position + 1 < len(group) else end
        for number, sentence in enumerate(extraction.sentences if extraction else ()):
            first, last = chunk.start + sentence.start, chunk.start + sentence.end
            cut_off = last >= chunk.end and first >= following
            if first < covered or cut_off:
                continue
            covered = last
            sentences.append(Sentence(first - begin, last - begin, sentence.entities))
            if vectors is not None:
                rows.append(vectors[number])
    counts = Counter(entity for sentence in sentences for entity in sentence.entities)
    return SummaryInput(document.text[begin:end], tuple(sentences), np.stack(rows) if rows else None, counts)


def join_summaries(group: Sequence[SummaryInput], level: int) -> SummaryInput:
    """Join several summaries to one text, a paragraph each."""
    sentences: list[Sentence] = []
    offset = 0
    for summary_input in group:
        sentences += (Sentence(s.start + offset, s.end + offset, s.entities) for s in summary_input.sentences)
        offset += len(summary_input.text) + 2
    vectors = [summary_input.vectors for summary_input in group if summary_input.vectors is not None]
    known = len(vectors) == len(group)
    text = "\n\n".join(summary_input.text for summary_input in group)
    counts = sum((Counter(summary_input.counts) for summary_input in group), Counter[str]())
    return SummaryInput(text, tuple(sentences), np.vstack(vectors) if known else None, counts, level)
