"""Embed texts of any length, in windows that fit the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.models.embedding.base import Embedder, check, normalise
from e2g_neo4j.types.documents import Span, Vectors
from e2g_neo4j.types.sections import ROW, begins_table, row_start

_BLOCK = 64_000
"""Characters that are embedded together and held in memory: about 64 windows, or some thousand names. Short texts are
embedded in batches, which are larger the more of them are there."""


class Tokenizes(Protocol):
    """What is needed of a model to split texts for it. See `Embedder`."""

    @property
    def window_tokens(self) -> int: ...

    def token_spans(self, text: str) -> Sequence[Span]: ...


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of one text: shapes (dimensions,), (windows, dimensions) and (parts, dimensions)."""

    vector: NDArray[np.float32]
    windows: tuple[Span, ...]
    window_vectors: Vectors
    part_vectors: Vectors


class KnownVectors:
    """An embedding model, loaded on first use, and vectors of texts for which it is not asked.

    Attributes:
        known: the vectors, by the SHA-256 of the texts.
    """

    def __init__(self, load: Callable[[], Embedder], known: dict[str, NDArray[np.float32]]) -> None:
        self._load, self.known = load, known

    def __getattr__(self, name: str) -> Any:
        return getattr(self._load(), name)

    def embed_long(self, texts: Iterable[str]) -> Vectors:
        keyed = [(text, sha256(text.encode()).hexdigest()) for text in texts]
        if missing := {key: text for text, key in keyed if key not in self.known}:
            self.known |= zip(missing, embed_long(self._load(), missing.values()), strict=True)
        return np.stack([self.known[key] for _, key in keyed])


def embed_long(embedder: Embedder, texts: Iterable[str]) -> Vectors:
    """Embed texts of any length, one vector per text. The shape is (number of texts, dimensions)."""
    if isinstance(embedder, KnownVectors):
        return embedder.embed_long(texts)
    rows = [one.vector for one in embed_with_parts(embedder, ((text, ()) for text in texts))]
    return np.stack(rows) if rows else np.empty((0, embedder.dimensions), np.float32)


def embed_with_parts(embedder: Embedder, texts: Iterable[tuple[str, Sequence[Span]]]) -> Iterator[Embedded]:
    """Embed texts and parts of them in one pass, in order. Some 64,000 characters are held in memory.

    A part that crosses a window boundary is embedded from the window that contains its middle, without the rest.

    Args:
        texts: Texts with the spans of their parts.
    """
    block: list[tuple[str, Sequence[Span], list[Span]]] = []
    held = 0
    for text, parts in texts:
        cut = windows(embedder, text)
        block.append((text, parts, cut))
        held += len(text)
        if held >= _BLOCK:
            yield from _embed_block(embedder, block)
            block, held = [], 0
    yield from _embed_block(embedder, block)


def _embed_block(embedder: Embedder, block: Sequence[tuple[str, Sequence[Span], list[Span]]]) -> Iterator[Embedded]:
    pieces = [text[start:end] for text, _, cut in block for start, end in cut]
    placed = [_place(parts, cut) for _, parts, cut in block]
    vectors, part_vectors = embedder.embed_parts(pieces, [inside for found in placed for inside, _ in found])
    check(embedder, vectors)
    at = 0
    for (_, parts, cut), found in zip(block, placed, strict=True):
        rows = vectors[at : at + len(cut)]
        pooled = np.empty((len(parts), embedder.dimensions), np.float32)
        for (_, numbers), inside in zip(found, part_vectors[at : at + len(cut)], strict=True):
            pooled[numbers] = inside
        check(embedder, pooled)
        yield Embedded(normalise(rows.mean(axis=0)), tuple(cut), rows, pooled)
        at += len(cut)


def _place(parts: Sequence[Span], cut: Sequence[Span]) -> list[tuple[list[Span], list[int]]]:
    """For each window, return the parts whose middle it contains, as offsets in the window, and their indexes."""
    found: list[tuple[list[Span], list[int]]] = [([], []) for _ in cut]
    starts = [start for start, _ in cut]
    for number, (start, end) in enumerate(parts):
        window = max(int(np.searchsorted(starts, (start + end) / 2, side="right")) - 1, 0)
        low, high = cut[window]
        found[window][0].append((max(start, low) - low, min(end, high) - low))
        found[window][1].append(number)
    return found


def windows(model: Tokenizes, text: str) -> list[Span]:
    """Split a text into windows of about equal size that fit the model: 1200 tokens become 5 windows of 240.

    If the limit permits, a window ends at the end of a sentence, otherwise between two words.
    """
    spans = model.token_spans(text)
    limit = model.window_tokens
    if len(spans) <= limit:
        return [(0, len(text))]
    for count in range(-(-len(spans) // limit), len(spans) + 1):
        cut = _cut(text, spans, count, limit)
        if not all(_begins_whole(text, start) for start, _ in cut):
            cut = _fill(text, spans, limit)
        # A window that begins inside a word may have more tokens on its own than within the text.
        if all(len(model.token_spans(text[start:end])) <= limit for start, end in cut):
            break
    return cut


def _fill(text: str, spans: Sequence[Span], limit: int) -> list[Span]:
    """Return spans that are as full as rows of tables permit, which are divided only where they are longer."""
    starts, at = [0], 0
    while at + limit < len(spans):
        ends = (
            i for i in range(at + limit, at, -1) if _begins_whole(text, spans[i][0]) and spans[i - 1][1] < spans[i][0]
        )
        at = next(ends, at + limit)
        starts.append(spans[at][0])
    return list(pairwise([*starts, len(text)]))


def _cut(text: str, spans: Sequence[Span], count: int, limit: int) -> list[Span]:
    """Return `count` spans of about equal size and at most `limit` tokens."""
    borders = [0]
    for left in range(count - 1, 0, -1):
        start = borders[-1]
        ideal = start + round((len(spans) - start) / (left + 1))
        lowest, highest = max(len(spans) - left * limit, start + 1), start + limit
        borders.append(_good_border(text, spans, ideal, lowest, highest))
    starts = [0, *(spans[border][0] for border in borders[1:])]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _good_border(text: str, spans: Sequence[Span], ideal: int, lowest: int, highest: int) -> int:
    """Return the token nearest to `ideal` that begins a table, otherwise a sentence or row, otherwise a word, otherwise
    `ideal`. One inside of a row is the last choice."""
    reach = max((highest - lowest) // 2, 16)
    words = [i for i in range(lowest, highest + 1) if spans[i - 1][1] < spans[i][0]]
    words.sort(key=lambda i: abs(i - ideal))
    near = [i for i in words if abs(i - ideal) <= reach]
    whole = [i for i in near if _begins_whole(text, spans[i][0])] or [
        i for i in words if _begins_whole(text, spans[i][0])
    ]
    if tables := [i for i in whole if begins_table(text, spans[i][0])]:
        return tables[0]
    for i in whole:
        before = text[max(spans[i - 1][1] - 2, 0) : spans[i - 1][1]].rstrip("\"'”’)")
        if before[-1:] in (".", "!", "?", "。") or text.startswith(f"\n{ROW}", spans[i][0] - 1):
            return i
    return (whole or near or [min(max(ideal, lowest), highest)])[0]


def _begins_whole(text: str, place: int) -> bool:
    return row_start(text, place) == place
