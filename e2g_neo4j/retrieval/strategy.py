"""What a retrieval mode is: one object that says what the mode needs, and ranks.

The modes of this package are in `e2g_neo4j.retrieval.strategies`. `E2G(strategies=[…])` adds others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from e2g_neo4j.errors import ConfigurationError, QueryError, did_you_mean
from e2g_neo4j.retrieval.passages import ScoredNode
from e2g_neo4j.retrieval.query import Query, RankedChunks, Ranking
from e2g_neo4j.retrieval.where import format_value
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.results import Ranks

Layer: TypeAlias = Literal["communities", "clusters", "entity_vectors", "sentence_vectors", "statements"]
"""What `enrich` makes: columns of `query/corpus`."""

Need: TypeAlias = Literal["vector", "full_text", "entities"] | Layer
"""What a mode may need: the vector of the question, the full-text index, the entities of the question, a layer."""

LAYERS: tuple[Layer, ...] = get_args(Layer)

NEEDS: tuple[Need, ...] = ("vector", "full_text", "entities", *LAYERS)

_NAME = re.compile(r"[a-z][a-z0-9_]{0,49}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A retrieval mode. It ranks windows, or nodes: chunks and what is above them, with their text.

    Its ranking is an operation (`e2g_neo4j.runtime.requests`): it gets a `Query`, yields requests, and returns windows
    or nodes with their scores, best first.

    Attributes:
        name: The name that the option `mode` takes: lower-case letters, digits and underscores.
        summary: What the mode does, in one sentence.
        source: The paper or system whose retrieval this is.
        ranked_by: By what it ranks, as the reason of the evidence says it.
        needs: What it cannot do without.
        uses: What it uses if a corpus has it.
        calls_model: Whether it calls the chat model if the option `llm` is set.
        rank_windows: Ranks windows.
        rank_chunks: Ranks whole chunks if these are the unit. Default: by the best of their windows.
        rank_nodes: Ranks nodes, instead of windows.
        nodes: What `rank_nodes` ranks, as the reason says it.
        skips: Whether nodes that do not fit the budget are skipped, instead of cutting the first of them.
        top_k: The number of chunks to return if the caller names none. Default: that of the settings.

    Raises:
        ConfigurationError: The name or a need is invalid, or the mode ranks neither windows nor nodes, or both.
    """

    name: str
    summary: str
    source: str
    ranked_by: str
    needs: Set[Need] = frozenset()
    uses: Set[Need] = frozenset()
    calls_model: bool = False
    rank_windows: Callable[[Query], Ranking] | None = None
    rank_chunks: Callable[[Query], Operation[RankedChunks]] | None = None
    rank_nodes: Callable[[Query], Operation[list[ScoredNode]]] | None = None
    nodes: str = "chunks"
    skips: bool = False
    top_k: int | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigurationError(
                f"A strategy has the name {self.name!r}: take at most 50 lower-case letters, digits and underscores."
            )
        if unknown := {*self.needs, *self.uses}.difference(NEEDS):
            raise ConfigurationError(
                f"The strategy {self.name!r} needs {min(unknown)!r}, which is unknown: choose among {', '.join(NEEDS)}."
            )
        if (self.rank_windows is None) == (self.rank_nodes is None):
            raise ConfigurationError(f"The strategy {self.name!r} must have one of rank_windows and rank_nodes.")

    @property
    def ranks(self) -> Ranks:
        """What it ranks, unless whole chunks are requested."""
        return "nodes" if self.rank_windows is None else "windows"

    @property
    def layer(self) -> Layer | None:
        """The layer that it needs or uses, if any."""
        return next((layer for layer in LAYERS if self.takes(layer)), None)

    def takes(self, need: Need) -> bool:
        """Return whether the mode needs or uses something."""
        return need in self.needs or need in self.uses


Strategies: TypeAlias = Mapping[str, Strategy]
"""Strategies by name."""


def unknown_mode(name: str, strategies: Strategies) -> str:
    """Return the message for a mode that does not exist."""
    return (
        f"There is no mode {format_value(name)}.{did_you_mean(name[:50], strategies)} Modes: {', '.join(strategies)}."
    )


def check_modes(names: Iterable[str], strategies: Strategies, *, llm: bool = False) -> None:
    """Check the modes of an evaluation or a comparison.

    Raises:
        QueryError: A mode is unknown, or the modes are to call a chat model, but none of them can.
    """
    chosen = list(names)
    for name in chosen:
        if name not in strategies:
            raise QueryError(unknown_mode(name, strategies))
    if llm and not any(strategies[name].calls_model for name in chosen):
        choices = ", ".join(one.name for one in strategies.values() if one.calls_model)
        raise QueryError(f"None of these modes calls a chat model: add one of {choices}, or leave out llm.")
