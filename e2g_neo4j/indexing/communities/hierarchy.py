"""The hierarchy of communities of an entity graph.

It is cut from the dendrogram of Paris (Bonald, Charpentier, Galland and Hollocou, "Hierarchical Graph Clustering using
Node Pair Sampling", arXiv 1806.01664), as scikit-network computes it: the two clusters that are linked most, in
proportion to their weights, are merged first, which is modularity at every resolution.

GraphRAG uses Leiden. That visits nodes in a random order: after one edge was added to the graph of a novel, nine in ten
of its communities were others, so that nearly every report would have to be made again. Paris is deterministic, and
what is far from a change stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count, takewhile

import numpy as np
from numpy.typing import NDArray

LARGEST = 25
"""Maximum number of entities of a community of level 1."""

GROWTH = 6
"""Each level's communities may have this many times more entities than those of the level below."""

SMALLEST = 3
"""Entities of a community: two are an edge."""

TIE = 1e-6
"""Weights are increased by up to this fraction, by a hash of the names, because equal ones are frequent. Otherwise the
order of the names would decide, and a new entity could change what is merged elsewhere."""


@dataclass(frozen=True, slots=True)
class Community:
    """A community of a hierarchy.

    Attributes:
        level: its level, from 1, the finest.
        members: the keys of its entities, sorted, with those of the communities below it.
        parent: the number of the smallest community that contains it, in the hierarchy; None at the top.
    """

    level: int
    members: tuple[str, ...]
    parent: int | None


def communities(weights: Mapping[tuple[str, str], float], largest: int = LARGEST) -> list[Community]:
    """Return the communities of a graph, fine ones first.

    A community of a level is a largest cluster of the dendrogram that has at most as many entities as the level
    allows. One that is the same as on a finer level belongs to that.

    Args:
        weights: (a, b) → weight, more than 0, each pair once.
        largest: maximum number of entities of a community of level 1.
    """
    if not weights:
        return []
    names = sorted({name for pair in weights for name in pair})
    merges = _dendrogram(names, weights)
    leaves = len(names)
    sizes = np.concatenate([np.ones(leaves, int), merges[:, 3].astype(int)])
    parents = np.full(len(sizes), -1)
    for number, (a, b, distance, _) in enumerate(merges, leaves):
        if np.isfinite(distance):  # components of the graph are merged at last, at an infinite distance
            parents[[int(a), int(b)]] = number
    connected = np.concatenate([np.ones(leaves, bool), np.isfinite(merges[:, 2])])
    levels: dict[int, int] = {}  # cluster → level
    for level, most in enumerate(_limits(largest, leaves), 1):
        above = np.where(parents < 0, np.inf, sizes[parents])
        largest_clusters = np.flatnonzero(connected & (sizes >= SMALLEST) & (sizes <= most) & (above > most))
        for cluster in largest_clusters.tolist():
            levels.setdefault(cluster, level)
    members = {cluster: tuple(names[leaf] for leaf in sorted(_leaves(cluster, merges, leaves))) for cluster in levels}
    order = sorted(levels, key=lambda cluster: (levels[cluster], members[cluster]))
    numbers = {cluster: number for number, cluster in enumerate(order)}
    found = []
    for cluster in order:
        parent = parents.item(cluster)
        while parent >= 0 and parent not in numbers:
            parent = parents.item(parent)
        found.append(Community(levels[cluster], members[cluster], numbers.get(parent)))
    return found


def _limits(largest: int, entities: int) -> Iterator[int]:
    """Yield the maximum size of communities by level, while it is less than the graph; at least one."""
    yield largest
    yield from takewhile(lambda most: most < entities, (largest * GROWTH**level for level in count(1)))


def _dendrogram(names: list[str], weights: Mapping[tuple[str, str], float]) -> NDArray[np.float64]:
    """Return the merges, in order. Row: the two clusters, their distance, the size. Shape (names - 1, 4)."""
    number = {name: at for at, name in enumerate(names)}
    pairs = sorted(weights)
    values = [weights[pair] * (1 + TIE * _fraction(*pair)) for pair in pairs]
    a, b = [number[pair[0]] for pair in pairs], [number[pair[1]] for pair in pairs]
    from scipy.sparse import csr_matrix  # here, because a fifth of the start of each command is these imports
    from sknetwork.hierarchy import Paris

    adjacency = csr_matrix((values * 2, (a + b, b + a)), shape=(len(names), len(names)))
    merges: NDArray[np.float64] = Paris(reorder=False).fit_predict(adjacency)
    return merges


def _fraction(a: str, b: str) -> float:
    """Return a number from 0 to 1 that depends on two names."""
    return int.from_bytes(blake2b(f"{a}\0{b}".encode(), digest_size=6).digest()) / 2**48


def _leaves(cluster: int, merges: NDArray[np.float64], leaves: int) -> Iterator[int]:
    left = [cluster]
    while left:
        one = left.pop()
        if one < leaves:
            yield one
        else:
            left += [int(merges[one - leaves, 0]), int(merges[one - leaves, 1])]
