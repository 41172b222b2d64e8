"""An embedding model with a prefix, a limit of window size, and shorter vectors."""

from __future__ import annotations

from collections.abc import Sequence

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.models.embedding.base import Embedder, normalised
from e2g_neo4j.types.documents import Span, Vectors

_SEAM = 8
"""Tokens that are reserved between prefix and text, whose first word may be tokenized differently after a prefix."""


def adapted(
    embedder: Embedder, *, prefix: str = "", window_tokens: int | None = None, dimensions: int | None = None
) -> Embedder:
    """Return an embedder that differs from another one in these points, or the same if it need not differ.

    Args:
        embedder: The embedding model.
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
    """See `adapted`."""

    def __init__(self, embedder: Embedder, prefix: str, window_tokens: int, dimensions: int) -> None:
        self._embedder, self._prefix = embedder, prefix
        self.name, self.window_tokens, self.dimensions = embedder.name, window_tokens, dimensions

    def token_spans(self, text: str) -> Sequence[Span]:
        return self._embedder.token_spans(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._shortened(self._embedder.embed(self._prefixed(texts)))

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, list[Vectors]]:
        moved = [[(start + len(self._prefix), end + len(self._prefix)) for start, end in spans] for spans in parts]
        vectors, part_vectors = self._embedder.embed_parts(self._prefixed(texts), moved)
        return self._shortened(vectors), [self._shortened(rows) for rows in part_vectors]

    def _prefixed(self, texts: Sequence[str]) -> list[str]:
        return [self._prefix + text for text in texts]

    def _shortened(self, vectors: Vectors) -> Vectors:
        full = vectors.shape[-1] == self.dimensions
        return vectors if full else normalised(vectors[:, : self.dimensions])
