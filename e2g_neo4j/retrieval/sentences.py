"""The sentences of chunks, and the entities that they mention, for modes that use sentences as relations."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from e2g_neo4j.errors import QueryError
from e2g_neo4j.models.embedding.base import dequantise

HUB = 1000
"""Entities in more chunks than this pass on no activation. They say little; this also limits the work."""

Sentence: TypeAlias = tuple[str, int]
"""The id of a chunk and the number of a sentence in it."""


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity that a question has reached.

    Attributes:
        chunks: The number of chunks that mention it.
        degree: The sum of 1 + ln(sentences that mention it) over windows.
        told: Which of the given sentences mention it, by position.
        sentences: Sentences that mention it, in the chunks that were read.
    """

    key: str
    chunks: int
    degree: float
    told: tuple[int, ...]
    sentences: tuple[Sentence, ...]


def entities_of(row: dict[str, Any]) -> list[Entity]:
    """Return the entities of a row of `activate.cypher`, by key."""
    return [
        Entity(
            key,
            chunks,
            degree,
            tuple(told),
            tuple((chunk, number) for chunk, numbers in sorted(mentions) for number in numbers),
        )
        for key, chunks, degree, told, mentions in row["entities"]
    ]


def cosines(vector: Sequence[float], corpus: str, packed: Iterable[tuple[str, bytes | None]]) -> dict[Sentence, float]:
    """Return the cosine of each sentence with the question.

    Args:
        packed: Ids of chunks with the packed vectors of their sentences.

    Raises:
        QueryError: A chunk has no vectors of its sentences.
    """
    question = np.array(vector, dtype=np.float32)
    held: list[tuple[str, bytes]] = []
    for chunk, vectors in packed:
        if vectors is None:
            raise QueryError(
                f"Sentences of the corpus {corpus!r} have no vectors: run `e2g enrich --with sentences --corpus "
                f"{shlex.quote(corpus)}`."
            )
        held.append((chunk, bytes(vectors)))
    values = dequantise(b"".join(vectors for _, vectors in held), len(question)) @ question
    sentences = [(chunk, number) for chunk, vectors in held for number in range(len(vectors) // len(question))]
    return dict(zip(sentences, values.tolist(), strict=True))
