"""Which nodes form a cluster: groups of near vectors, of a limited length (RAPTOR, arXiv 2401.18059).

Published RAPTOR recurses for ever on some groups and builds stairs of up to 34 levels. Here a group is only divided
into smaller ones, and there are at most LEVELS levels, each with fewer nodes than the one below. A group that is too
long is divided even if the BIC prefers a single Gaussian: principal components separate texts less than UMAP does, and
the BIC alone finds 5 clusters in a novel of 198 chunks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from e2g_neo4j.types.documents import Vectors

LEVELS = 5
"""Maximum number of levels."""

WHOLE = 8
"""So many nodes are one group."""

TOKENS = 3_500
"""A longer group is divided again."""

LIKELY = 0.1
"""A node belongs to each Gaussian whose probability is greater."""

ROUNDS = 20
"""How often a group is divided at most."""

OVERLAP = 2.0
"""If the parts of a group have more than so many times its nodes, each node belongs only to the likeliest Gaussian:
such parts are nearly the same."""

SOFT_ROUNDS = 2
"""In later rounds, each node belongs only to the likeliest Gaussian too: clusters of 1,890 passages had them 5 times on
average otherwise."""


def groups(vectors: Vectors, tokens: Sequence[int]) -> list[tuple[int, ...]]:
    """Return groups of near nodes, as sorted numbers. A node may be in several groups, and some have no other node.

    Like RAPTOR, this divides all nodes, then each part, then those that are too long.

    Args:
        vectors: a row for each node.
        tokens: the length of the text of each node.
    """
    found: set[tuple[int, ...]] = set()
    left = [(tuple(range(len(vectors))), 0)] if len(vectors) else []
    while left:
        group, depth = left.pop()
        long = sum(tokens[node] for node in group) > TOKENS
        soft = depth < SOFT_ROUNDS
        parts = _parts(group, vectors, 2 if long else 1, soft=soft) if soft or (long and depth < ROUNDS) else []
        if parts:
            left += [(part, depth + 1) for part in parts]
        elif long and len(group) > WHOLE:
            found.update(_slices(group, tokens))
        else:
            found.add(group)
    return sorted(found)


def _slices(group: tuple[int, ...], tokens: Sequence[int]) -> list[tuple[int, ...]]:
    """Cut a group that cannot be divided by its vectors, such as one of equal texts: in order, of at most TOKENS."""
    slices: list[list[int]] = [[]]
    length = 0
    for node in group:
        length += tokens[node]
        if slices[-1] and length > TOKENS:
            slices.append([])
            length = tokens[node]
        slices[-1].append(node)
    return list(map(tuple, slices))


def _parts(group: tuple[int, ...], vectors: Vectors, least: int, *, soft: bool) -> list[tuple[int, ...]]:
    """Divide a group into at least so many smaller ones. Returns none if it stays whole."""
    if len(group) <= WHOLE:
        return []
    from e2g_neo4j.indexing.clusters.mixture import memberships  # here, because scipy slows the start of each command

    likely = memberships(vectors[list(group)], least)
    best = likely == likely.max(axis=1, keepdims=True)
    members = np.array(group)
    for chosen in (best | (likely > LIKELY), best) if soft else (best,):
        parts = {tuple(members[column].tolist()) for column in chosen.T if column.any()}
        if max(map(len, parts)) < len(group) and sum(map(len, parts)) <= OVERLAP * len(group):
            return sorted(parts)
    return []
