"""The summary tree: every g consecutive nodes become one, level by level (E²GraphRAG, arXiv 2505.24226).

Which text a node stands for, and who is its parent, is decided here. What the summary says is up to a summariser:
`extractive.ExtractiveSummariser` needs no language model, `chat.ChatSummariser` asks one.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from heapq import heappop, heappush
from threading import Condition, Thread
from types import TracebackType
from typing import Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.errors import ModelError
from e2g_neo4j.model import Chunk, Extraction, Sentence, SourceDocument, Summary, TokenSpans, Vectors

HEARTBEAT = 0.5
"""Seconds after which progress is reported even where there is none."""

MOST_READY = 64
"""Nodes that may be ready to be written when more sentences are brought."""


@dataclass(frozen=True, slots=True)
class Prose:
    """A text, and what is known of it.

    `sentences` have offsets into `text`, `vectors` a row for each of them. `counts` tells how many sentences of the
    document hold each entity, in all of the text that this one stands for. `level` is that of the node that is to
    be written from the text.
    """

    text: str
    sentences: tuple[Sentence, ...] = ()
    vectors: Vectors | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    level: int = 1

    def packed(self) -> bytes:
        """What is known of the text, to be kept beside it; the vectors in half precision. Empty where nothing is."""
        if self.vectors is None:
            return b""
        sentences = [(sentence.start, sentence.end, sentence.entities) for sentence in self.sentences]
        notes = zlib.compress(json.dumps([sentences, sorted(self.counts.items())]).encode())
        return len(notes).to_bytes(4, "big") + notes + self.vectors.astype(np.float16).tobytes()

    @classmethod
    def unpacked(cls, text: str, packed: bytes) -> Prose:
        """The text with what was packed of it."""
        if not packed:
            return cls(text)
        end = 4 + int.from_bytes(packed[:4], "big")
        sentences, counts = json.loads(zlib.decompress(packed[4:end]))
        vectors = np.frombuffer(packed[end:], np.float16).astype(np.float32).reshape(len(sentences), -1)
        return cls(
            text, tuple(Sentence(start, last, tuple(names)) for start, last, names in sentences), vectors, dict(counts)
        )


class Summariser(Protocol):
    """What writes one node of the tree.

    It gets one text at a time, from several threads, so that whoever grows the trees decides which are summarised at
    once.
    """

    @property
    def name(self) -> str:
        """Tells apart two summarisers that would write different summaries."""

    @property
    def concurrency(self) -> int:
        """How many texts may be summarised at once."""

    @property
    def needs_sentences(self) -> bool:
        """Whether it wants a text's sentences and their vectors, which other models find first."""

    def summarise(self, prose: Prose) -> Prose:
        """A shorter text, and its sentences where the summariser knows them. Raises ModelError."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What a tree grows on: a document and its chunks in reading order.

    Nodes that are `known` are not written again: `Summary.made_of` → text and notes.
    """

    document: SourceDocument
    chunks: Sequence[Chunk]
    known: Mapping[str, tuple[str, bytes]] = field(default_factory=dict)


class Forest:
    """The trees of several documents, growing at once in threads of their own.

    Level 1 of a tree has one node for every `group_size` chunks, each further level one for every `group_size` nodes
    below it, the last of a level for what is left. Levels end with the first that has at most `group_size` nodes: 2
    to g chunks make one summary, 151 chunks and g=5 make levels of 31, 7 and 2. A single chunk makes none: there is
    nothing to bring together, and a second copy of it would only crowd out other evidence. For the same reason a
    node that would stand on one summary alone repeats its text, without a call.

    A node is begun as soon as its children are there, and `feed` has brought the sentences of those that are chunks,
    if the summariser needs them; nodes of earlier documents and of higher levels go first. When one fails, no other is
    begun, and those that are under way are finished.

    Args:
        grounds: what neighbouring chunks share is summarised once.
        summariser: writes the texts, as many at once as its `concurrency` says.
        group_size: the paper's g, at least 2.
        token_spans: the tokenizer that counts `Summary.tokens`.
        progress: called with the number of summaries written since the last call.
    """

    def __init__(
        self,
        grounds: Sequence[Ground],
        summariser: Summariser,
        *,
        group_size: int,
        token_spans: TokenSpans,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        if group_size < 2:
            raise ValueError(f"A group of {group_size} nodes would never end: the group size is at least 2.")
        self._trees = [_Tree(ground, group_size, token_spans, summariser) for ground in grounds]
        self._summariser = summariser
        self._progress = progress
        self._ready = [(number, -1, index) for number, tree in enumerate(self._trees) for index in tree.complete()]
        self._left = sum(tree.left for tree in self._trees)
        self._changed = Condition()
        self._error: BaseException | None = None
        self._at_work = min(summariser.concurrency, self._left)
        for _ in range(self._at_work):
            # Daemons, so that nobody who stops the program waits for a slow model.
            Thread(target=self._work, name="e2g-summarising", daemon=True).start()

    def wants(self, number: int, chunk: int) -> bool:
        """Whether the sentences of a chunk are still needed, by its number in its document."""
        return self._trees[number].wants(chunk)

    def feed(self, number: int, chunk: int, extraction: Extraction, vectors: Vectors) -> None:
        """Bring what the summariser needs of a chunk: its extraction and a vector of each sentence of that, shape
        (sentences, dimensions). Waits while many nodes are ready to be written, so that memory is bounded."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._ready) < MOST_READY or self._error is not None)
            group = self._trees[number].fed(chunk, extraction, vectors)
            if group is not None:
                heappush(self._ready, (number, -1, group))
                self._changed.notify_all()

    def tree(self, number: int) -> list[Summary]:
        """The summaries over a document's chunks, level by level, in reading order, once all are written.

        Raises ModelError that names the node where the summariser failed, and whatever else it raised; also what
        `progress` raises, which is called while this waits, so that a slow summariser does not keep anybody who wants
        to stop.
        """
        tree = self._trees[number]
        with self._changed:
            while not self._changed.wait_for(
                lambda: not tree.left or (self._error is not None and not self._at_work), HEARTBEAT
            ):
                if self._progress:
                    self._progress(0)
            if tree.left and self._error is not None:
                raise self._error
        return tree.summaries()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Begin no further node: nobody wants it any more."""
        with self._changed:
            self._ready.clear()
            self._left = 0
            self._changed.notify_all()

    def _work(self) -> None:
        while node := self._next():
            number, height, index = node
            tree = self._trees[number]
            try:
                prose = tree.write(-height, index)
                with self._changed:
                    parent = tree.grown(-height, index, prose)
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
    """A written node: its text, what is known of that in packed form, and `Summary.made_of`."""

    text: str
    notes: bytes
    made_of: str


class _Tree:
    """The nodes of one tree that are written, and those that are still to be."""

    def __init__(self, ground: Ground, group_size: int, token_spans: TokenSpans, summariser: Summariser) -> None:
        self._ground = ground
        self._summariser = summariser
        self._group_size = group_size
        self._token_spans = token_spans
        self._leaves: list[_Leaf] = [(one, None, None) for one in ground.chunks]
        self._ids = [one.id.removeprefix(ground.document.id) for one in ground.chunks]  # the same in every corpus
        widths = list(_widths(len(ground.chunks), group_size))
        self._written: list[list[_Node | None]] = [[None] * width for width in widths]
        self._missing = [
            [len(group) for group in _groups(range(below), group_size)] for below in widths[: len(widths) - 1]
        ]
        self.left = sum(widths)
        groups = _groups(range(len(ground.chunks)), group_size) if widths else ()
        self._hungry = [set(group) if self._is_hungry(group) else set[int]() for group in groups]

    def _is_hungry(self, group: Sequence[int]) -> bool:
        made_of = self._made_of(1, [self._ids[number] for number in group])
        return self._summariser.needs_sentences and made_of not in self._ground.known

    def _made_of(self, level: int, standing_on: Sequence[str]) -> str:
        return sha256(json.dumps([self._summariser.name, level, standing_on]).encode()).hexdigest()[:24]

    def complete(self) -> list[int]:
        """The nodes of level 1 that wait for no sentences."""
        return [index for index, hungry in enumerate(self._hungry) if not hungry]

    def wants(self, chunk: int) -> bool:
        return bool(self._hungry) and chunk in self._hungry[chunk // self._group_size]

    def fed(self, chunk: int, extraction: Extraction, vectors: Vectors) -> int | None:
        """The node over a chunk, if this is the last that it waited for."""
        group = chunk // self._group_size
        self._leaves[chunk] = (self._ground.chunks[chunk], extraction, vectors)
        self._hungry[group].remove(chunk)
        return None if self._hungry[group] else group

    def write(self, level: int, index: int) -> _Node:
        """A summary of a node's children; never an empty one. What it needed of these is let go of."""
        children = slice(index * self._group_size, (index + 1) * self._group_size)
        below = [node for node in self._written[level - 2][children] if node] if level > 1 else []
        made_of = self._made_of(level, [node.made_of for node in below] or self._ids[children])
        if made_of in self._ground.known:
            return _Node(*self._ground.known[made_of], made_of)
        if len(below) == 1:
            return _Node(below[0].text, below[0].notes, made_of)
        prose = self._summary(level, index, children, below)
        if level == 1:
            self._leaves[children] = [(leaf, None, None) for leaf, _, _ in self._leaves[children]]
        return _Node(prose.text, prose.packed(), made_of)

    def _summary(self, level: int, index: int, children: slice, below: Sequence[_Node]) -> Prose:
        where = f"Summary {index} of level {level} of {self._ground.document.title!r}"
        if level == 1:
            prose = _merged(self._ground.document, self._leaves[children])
        else:
            prose = _joined([Prose.unpacked(node.text, node.notes) for node in below], level)
        try:
            summary = self._summariser.summarise(prose)
        except ModelError as error:
            raise type(error)(f"{where}: {error}") from error
        if not summary.text.strip():
            raise ModelError(
                f"{where}: {self._summariser.name} returned no text. Index again, or choose another model."
            )
        return summary

    def grown(self, level: int, index: int, node: _Node) -> tuple[int, int] | None:
        """Take a written node in. Minus the level and the index of its parent, where that can be written now."""
        self._written[level - 1][index] = node
        self.left -= 1
        if level > len(self._missing):
            return None
        parent = index // self._group_size
        self._missing[level - 1][parent] -= 1
        return None if self._missing[level - 1][parent] else (-(level + 1), parent)

    def summaries(self) -> list[Summary]:
        found: list[Summary] = []
        below = [chunk.id for chunk in self._ground.chunks]
        for level, written in enumerate(self._written, 1):
            ids: Counter[str] = Counter()
            nodes = [node for node in written if node]
            for index, (node, children) in enumerate(zip(nodes, _groups(below, self._group_size), strict=True)):
                identity = _identity(self._ground.document, level, node.text, ids)
                tokens = len(self._token_spans(node.text))
                found.append(
                    Summary(identity, level, index, node.text, tokens, tuple(children), node.made_of, node.notes)
                )
            below = [summary.id for summary in found[-len(written) :]]
        return found


def grow_tree(
    document: SourceDocument,
    chunks: Sequence[Chunk],
    summariser: Summariser,
    *,
    group_size: int,
    token_spans: TokenSpans,
    extractions: Sequence[Extraction] | None = None,
    sentence_vectors: Sequence[Vectors] | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[Summary]:
    """The tree of one document by itself; see `Ground` and `Forest`."""
    ground = Ground(document, chunks)
    with Forest([ground], summariser, group_size=group_size, token_spans=token_spans, progress=progress) as forest:
        for number, (extraction, vectors) in enumerate(zip(extractions or (), sentence_vectors or (), strict=True)):
            if forest.wants(0, number):
                forest.feed(0, number, extraction, vectors)
        return forest.tree(0)


def tree_size(chunks: int, group_size: int) -> int:
    """How many summaries a tree over so many chunks has."""
    return sum(_widths(chunks, group_size))


def _widths(chunks: int, group_size: int) -> Iterator[int]:
    """How many nodes each level has, level 1 first."""
    if chunks < 2:
        return
    while True:
        chunks = -(-chunks // group_size)
        yield chunks
        if chunks <= group_size:
            return


# --- the texts of a level ----------------------------------------------------------------------------

_N = TypeVar("_N")
_Leaf: TypeAlias = tuple[Chunk, Extraction | None, Vectors | None]


def _groups(nodes: Sequence[_N], size: int) -> Iterator[Sequence[_N]]:
    return (nodes[i : i + size] for i in range(0, len(nodes), size))


def _identity(document: SourceDocument, level: int, text: str, seen: Counter[str]) -> str:
    """The same for the same text at the same level, so that a summary that did not change keeps its id."""
    digest = sha256(text.encode()).hexdigest()[:12]
    seen[digest] += 1
    repeat = f"-{seen[digest]}" if seen[digest] > 1 else ""
    return f"{document.id}-s{level}-{digest}{repeat}"


def _merged(document: SourceDocument, group: Sequence[_Leaf]) -> Prose:
    """The text that consecutive chunks cover, once, and its sentences.

    A sentence in an overlap is taken from the first chunk that holds it whole.
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
    return Prose(document.text[begin:end], tuple(sentences), np.stack(rows) if rows else None, counts)


def _joined(group: Sequence[Prose], level: int) -> Prose:
    """Several summaries in one text, a paragraph each."""
    sentences: list[Sentence] = []
    offset = 0
    for prose in group:
        sentences += (Sentence(s.start + offset, s.end + offset, s.entities) for s in prose.sentences)
        offset += len(prose.text) + 2
    vectors = [prose.vectors for prose in group if prose.vectors is not None]
    known = len(vectors) == len(group)
    text = "\n\n".join(prose.text for prose in group)
    counts = sum((Counter(prose.counts) for prose in group), Counter[str]())
    return Prose(text, tuple(sentences), np.vstack(vectors) if known else None, counts, level)
