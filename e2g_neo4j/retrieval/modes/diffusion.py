"""`diffusion`: rank windows by vectors and by activation through entities, without words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from e2g_neo4j.retrieval.modes.auto import auto
from e2g_neo4j.retrieval.passages import ScoredNode
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.results import Pair


def diffusion(
    question: str, *, entities: Mapping[str, Sequence[str]], k: int, pairs_by_chunk: Mapping[str, tuple[Pair, ...]]
) -> Operation[list[ScoredNode]]:
    """Like `auto`, without BM25."""
    return (yield from auto(question, entities=entities, k=k, pairs_by_chunk=pairs_by_chunk, words=False))
