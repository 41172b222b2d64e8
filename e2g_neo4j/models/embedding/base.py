"""The interface of embedding models, and what its implementations share.

A model accepts a limited number of tokens (bge-small-en-v1.5: 510 and two special tokens). A longer text is split into
windows of about equal size, and its vector is the normalised mean of their vectors. Text is never truncated. The same
forward pass gives vectors for parts of a text, such as its sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.errors import ConfigurationError, ModelError
from e2g_neo4j.types.documents import Span, Vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer


DEFAULT = "BAAI/bge-small-en-v1.5"
"""The name of the default model."""

CHINESE = "BAAI/bge-small-zh-v1.5"
"""The name of the model that Chinese corpora get instead of the default."""

MULTILINGUAL = "intfloat/multilingual-e5-small"
"""The name of a small model that knows a hundred languages, for advice."""

LONGEST_TOKEN = 24
"""In characters. No vocabulary has longer words."""

_UNKNOWN = ("[UNK]", "<unk>")

POOLING = "mean-of-windows"
"""How the vector of a text longer than one window is computed. Part of the fingerprint."""

Precision: TypeAlias = Literal["auto", "float32"]
"""Number format of models in this process. "auto": bfloat16 if the processor supports it (AMX, AVX512-BF16),
otherwise 32 bits. On an EPYC, bfloat16 is 1.7 times as fast, with a cosine of .9999 to the 32-bit vectors."""


class Embedder(Protocol):
    """An embedding model.

    It embeds texts as they are. Prefixes of questions and passages, and the truncation of vectors, are added outside.
    """

    @property
    def name(self) -> str:
        """The name that `load_embedder` accepts for this model."""

    @property
    def dimensions(self) -> int: ...

    @property
    def window_tokens(self) -> int:
        """The maximum number of tokens of a text, without special tokens."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that fit into one window.

        Returns:
            Vectors of shape (len(texts), dimensions).

        Raises:
            ModelError: A text does not fit into one window.
        """

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, list[Vectors]]:
        """Embed texts and parts of them.

        Args:
            texts: Texts that fit into one window.
            parts: For each text, the spans of its parts.

        Returns:
            What `embed` returns, and for each text the vectors of its parts, of shape (len(parts), dimensions).

        Raises:
            ModelError: A text does not fit into one window.
        """

    def token_spans(self, text: str) -> Sequence[Span]:
        """Return the character span of each token, without special tokens. The text may have any length."""


def normalise(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale each row to length 1. Rows of zeros are unchanged."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: NDArray[np.float32] = (vectors / np.where(length > 0, length, 1)).astype(np.float32)
    return unit


def check(embedder: Embedder, vectors: Vectors) -> None:
    """Raise ModelError if the vectors have the wrong shape or non-finite values."""
    if vectors.ndim != 2 or vectors.shape[1] != embedder.dimensions:
        raise ModelError(
            f"The embedding model {embedder.name} returned vectors of shape {vectors.shape}, but "
            f"{embedder.dimensions} dimensions were expected. It may have been replaced during the run. Start again."
        )
    if not np.isfinite(vectors).all():
        raise ModelError(
            f"The embedding model {embedder.name} returned values that are not finite. Use another model, or set "
            "E2G_EMBEDDING_PRECISION=float32."
        )


def remove_limits(tokenizer: Tokenizer) -> Tokenizer:
    """Return a tokenizer that neither truncates nor pads."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def spans_of(tokenizer: Tokenizer, text: str) -> list[Span]:
    """Return the character span of each token. A run of characters that the tokenizer does not know, or a word that is
    too long for it, is one token to it, whatever its length. It counts here as several."""
    encoding = tokenizer.encode(text, add_special_tokens=False)
    spans: list[Span] = encoding.offsets
    unknown = {tokenizer.token_to_id(name) for name in _UNKNOWN} & set(encoding.ids)
    if not unknown and all(end - start <= LONGEST_TOKEN for start, end in spans):
        return spans
    found: list[Span] = []
    for token, (start, end) in zip(encoding.ids, spans, strict=True):
        found += _split(text, start, end) if token in unknown or end - start > LONGEST_TOKEN else [(start, end)]
    return found


def _split(text: str, start: int, end: int) -> list[Span]:
    """Split a run into spans of a character, or four of an alphabet that most tokenizers know."""
    found: list[Span] = []
    while start < end:
        width = 4 if text[start : start + 4].isascii() else 1
        found.append((start, min(start + width, end)))
        start += width
    return found


def refuse_long_text(name: str, lengths: Sequence[int], max_tokens: int) -> None:
    """Raise ModelError if a text has more than `max_tokens` tokens."""
    if lengths and max(lengths) > max_tokens:
        raise ModelError(
            f"A text has {max(lengths)} tokens, but {name} accepts at most {max_tokens}. Use embed_long, which embeds "
            "it in windows."
        )


def pool_parts(
    tokens: Vectors, offsets: Sequence[Span], parts: Sequence[Span], text_vector: NDArray[np.float32]
) -> Vectors:
    """Return the mean token vector of each part.

    Args:
        offsets: Character spans of the tokens.
        parts: Character spans of the parts.
        text_vector: Vector of the text, used for parts without a token, such as white space.
    """
    pooled = np.empty((len(parts), tokens.shape[1]), np.float32)
    starts = np.array([start for start, _ in offsets])
    ends = np.array([end for _, end in offsets])  # special tokens are empty spans
    for number, (start, end) in enumerate(parts):
        inside = np.flatnonzero((starts >= start) & (ends <= end) & (starts < ends))
        pooled[number] = tokens[inside].mean(axis=0) if len(inside) else text_vector
    return normalise(pooled)


def embed_parts_separately(
    embedder: Embedder, texts: Sequence[str], parts: Sequence[Sequence[Span]]
) -> tuple[Vectors, list[Vectors]]:
    """Do what `Embedder.embed_parts` does for a model without vectors of tokens: embed each part as a text."""
    slices = [text[start:end] for text, spans in zip(texts, parts, strict=True) for start, end in spans]
    borders = np.cumsum([len(spans) for spans in parts])[:-1]
    return embedder.embed(texts), np.split(embedder.embed(slices), borders)


_SEAM = 8
"""Tokens that are reserved between prefix and text, whose first word may be tokenized differently after a prefix."""


def adapt(
    embedder: Embedder, *, prefix: str = "", window_tokens: int | None = None, dimensions: int | None = None
) -> Embedder:
    """Return an embedder that differs from another one in these points, or the same if it need not differ.

    Args:
        prefix: A text that is put before every text. Spans and windows are those of the texts without it.
        window_tokens: Upper limit of the tokens of a text, without prefix. Default: what the model accepts.
        dimensions: Length of the vectors: their first values, normalised. Models trained for this (Matryoshka
            representation learning) lose little. Default: that of the model.

    Raises:
        ConfigurationError: The model has fewer dimensions, or the prefix leaves no room for a text.
    """
    if dimensions is not None and dimensions > embedder.dimensions:
        raise too_many_dimensions(embedder.name, embedder.dimensions, dimensions)
    room = embedder.window_tokens
    if prefix:
        room -= len(embedder.token_spans(prefix)) + _SEAM
    if room < 1:
        raise ConfigurationError(
            f"The prefix {prefix!r} leaves no room for a text: {embedder.name} accepts {embedder.window_tokens} "
            "tokens. Shorten E2G_QUERY_PREFIX or E2G_PASSAGE_PREFIX."
        )
    window_tokens = min(room, window_tokens or room)
    dimensions = dimensions or embedder.dimensions
    if not prefix and window_tokens == embedder.window_tokens and dimensions == embedder.dimensions:
        return embedder
    return AdaptedEmbedder(embedder, prefix, window_tokens, dimensions)


def too_many_dimensions(name: str, most: int, wanted: int) -> ConfigurationError:
    """Return the error for more dimensions than a model has."""
    return ConfigurationError(
        f"E2G_EMBEDDING_DIMENSIONS is {wanted}, but the embedding model {name} returns {most} values. Choose at most "
        f"{most}."
    )


class AdaptedEmbedder:
    """See `adapt`."""

    def __init__(self, embedder: Embedder, prefix: str, window_tokens: int, dimensions: int) -> None:
        self._embedder, self._prefix = embedder, prefix
        self.name, self.window_tokens, self.dimensions = embedder.name, window_tokens, dimensions

    def token_spans(self, text: str) -> Sequence[Span]:
        return self._embedder.token_spans(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._shorten(self._embedder.embed(self._add_prefix(texts)))

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, list[Vectors]]:
        moved = [[(start + len(self._prefix), end + len(self._prefix)) for start, end in spans] for spans in parts]
        vectors, part_vectors = self._embedder.embed_parts(self._add_prefix(texts), moved)
        return self._shorten(vectors), [self._shorten(rows) for rows in part_vectors]

    def _add_prefix(self, texts: Sequence[str]) -> list[str]:
        return [self._prefix + text for text in texts]

    def _shorten(self, vectors: Vectors) -> Vectors:
        full = vectors.shape[-1] == self.dimensions
        return vectors if full else normalise(vectors[:, : self.dimensions])


_SCALE = 127


def quantise(vectors: Vectors) -> bytes:
    """Pack vectors, of shape (rows, dimensions), each scaled to length 1."""
    return np.rint(_SCALE * normalise(vectors)).astype(np.int8).tobytes()


def dequantise(packed: bytes, dimensions: int) -> Vectors:
    """Undo `quantise`. The shape is (rows, dimensions), the lengths are 1."""
    rows = np.frombuffer(packed, np.int8).reshape(-1, dimensions)
    return normalise(rows.astype(np.float32))
