"""Embedding models whose vectors differ in their last bits from call to call.

So do real ones: sums round otherwise in other batches and on other processors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from e2g_neo4j.models.embedding.base import Embedder, normalise
from e2g_neo4j.types.documents import Span, Vectors

NOISE = 1e-6
"""Size of the disturbance of a vector of length 1."""


def disturbed(vectors: Vectors, random: np.random.Generator, noise: float = NOISE) -> Vectors:
    """Vectors of length 1 near those given."""
    change = random.standard_normal(vectors.shape) * noise / np.sqrt(vectors.shape[-1])
    return normalise((vectors + change).astype(np.float32))


class PerturbedEmbedder:
    """A model with fresh noise in each vector that it returns."""

    def __init__(self, model: Embedder, random: np.random.Generator) -> None:
        self._model = model
        self._random = random

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return disturbed(self._model.embed(texts), self._random)

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, list[Vectors]]:
        vectors, of_parts = self._model.embed_parts(texts, parts)
        return disturbed(vectors, self._random), [disturbed(rows, self._random) for rows in of_parts]


def perturbed_models(load: Callable[..., Embedder], random: np.random.Generator) -> Callable[..., Any]:
    """What loads models that are perturbed."""
    return lambda *arguments, **options: PerturbedEmbedder(load(*arguments, **options), random)
