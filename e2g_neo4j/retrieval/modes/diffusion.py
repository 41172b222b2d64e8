"""`diffusion`: rank windows by vectors and by activation through entities, without words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from e2g_neo4j.retrieval.modes.auto import auto
from e2g_neo4j.retrieval.windows import Window
from e2g_neo4j.retrieval.word_statistics import WordStatistics
from e2g_neo4j.runtime.requests import Operation


def diffusion(
    question: str, *, entities: Mapping[str, Sequence[str]], statistics: WordStatistics | None = None
) -> Operation[list[tuple[Window, float]]]:
    """Like `auto`, without BM25. Words only propose candidates."""
    return (yield from auto(question, entities=entities, statistics=statistics, words=False))
