"""`diffusion`: windows by vectors and by what reaches them over entities, without words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from e2g_neo4j.evidence import Ranked
from e2g_neo4j.model import Pair
from e2g_neo4j.modes.auto import auto
from e2g_neo4j.queries import Story


def diffusion(
    question: str, *, entities: Mapping[str, Sequence[str]], k: int, behind: Mapping[str, tuple[Pair, ...]]
) -> Story[list[Ranked]]:
    return (yield from auto(question, entities=entities, k=k, behind=behind, words=False))
