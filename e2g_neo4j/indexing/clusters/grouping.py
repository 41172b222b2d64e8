"""Which nodes form a cluster: groups of near vectors, of a limited length (RAPTOR, arXiv 2401.18059).

Published RAPTOR recurses for ever on some groups and builds stairs of up to 34 levels. Here a group is only divided
into smaller ones, and there are at most LEVELS levels, each with fewer nodes than the one below.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from e2g_neo4j.indexing.clusters.mixture import memberships
from e2g_neo4j.types.documents import Vectors

LEVELS = 5
"""Maximum number of levels."""

WHOLE = 8
"""So many nodes are one group."""

TOKENS = 3_500
"""A longer group is divided again."""

LIKELY = 0.1
"""A node belongs to each Gaussian whose probability is greater."""

OVERLAP = 2.0
"""A group is not divided if its parts have so many times its nodes. Such parts are nearly the same."""


def groups(vectors: Vectors, tokens: Sequence[int]) -> list[tuple[int, ...]]:
    """Return groups of near nodes, as sorted numbers. A node may be in several groups, and some have no other node.

    Like RAPTOR, this divides all nodes, then each part, then each part that is too long.

    Args:
        vectors: a row for each node.
        tokens: the length of the text of each node.
    """
    found: set[tuple[int, ...]] = set()
    left = [(tuple(range(len(vectors))), 0)] if len(vectors) else []
    while left:
        group, depth = left.pop()
        whole = depth > 1 and sum(tokens[node] for node in group) <= TOKENS
        parts = [] if whole or depth == LEVELS else _parts(group, vectors)
        if parts:
            left += [(part, depth + 1) for part in parts]
        else:
            found.add(group)
    return sorted(found)


def _parts(group: tuple[int, ...], vectors: Vectors) -> list[tuple[int, ...]]:
    """Divide a group into smaller ones. Returns none if it stays whole."""
    if len(group) <= WHOLE:
        return []
    likely = memberships(vectors[list(group)])
    chosen = (likely > LIKELY) | (likely == likely.max(axis=1, keepdims=True))
    members = np.array(group)
    parts = {tuple(members[column].tolist()) for column in chosen.T if column.any()}
    shrinks = all(len(part) < len(group) for part in parts)
    overlaps = sum(map(len, parts)) > OVERLAP * len(group)
    return sorted(parts) if shrinks and not overlaps else []
