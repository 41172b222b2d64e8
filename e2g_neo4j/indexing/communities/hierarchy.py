"""Communities of a graph, as GraphRAG finds them ("From Local to Global", arXiv 2404.16130, section 3.1.3).

Leiden (Traag, Waltman and van Eck, arXiv 1810.08473) divides the graph into the communities with the highest modularity
that it finds, and each community that is too large again, by its own edges. Its random numbers have a fixed seed, so
the same graph has the same communities. A small change may move many entities at the borders of communities, in
Leiden as in whatever has a modularity as high.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

LARGEST = 25
"""Entities of a community that is not divided."""

SMALLEST = 3
"""The entities of a smaller community join another one, if they share a text with it."""

ITERATIONS, TRIALS = 10, 3
"""How often Leiden goes on from what it has found, and how often it starts. GraphRAG does both once, with a modularity
that was lower by .009 to .020 in six texts."""

SEED = 1

Weights: TypeAlias = Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class Community:
    """A community of a hierarchy.

    Attributes:
        level: its level: 1 if it is not divided, else one more than the highest of its parts.
        members: the keys of its entities, sorted, with those of the communities below it.
        parent: the number of the community that it is a part of, in the hierarchy; None at the top.
    """

    level: int
    members: tuple[str, ...]
    parent: int | None


def communities(
    weights: Weights, groups: Sequence[Iterable[Collection[str]]] = (), largest: int = LARGEST
) -> list[Community]:
    """Return the communities of a graph, fine ones first. Each entity is in one that is not divided, and those above.

    Args:
        weights: (a, b) → weight, more than 0, each pair once.
        groups: the entities of each sentence, then those of each chunk. An entity that edges tie to fewer than two
            others joins the community with which it shares most sentences, or else most chunks.
        largest: maximum number of entities of a community that is not divided, unless no division is better.
    """
    parents: dict[int, int] = {}
    parts: list[frozenset[str]] = []
    open: list[tuple[Weights, int]] = [(weights, -1)]
    while open:
        edges, parent = open.pop()
        found = _divide(edges)
        if parent >= 0 and sum(len(part) >= SMALLEST for part in found) < 2:
            continue  # the entities of smaller ones may all join others
        home = {entity: number for number, part in enumerate(found, len(parts)) for entity in part}
        parents |= dict.fromkeys(range(len(parts), len(parts) + len(found)), parent)
        parts += found
        inner: defaultdict[int, dict[tuple[str, str], float]] = defaultdict(dict)
        for pair, weight in edges.items():
            if (number := home[pair[0]]) == home[pair[1]] and len(parts[number]) > largest:
                inner[number][pair] = weight
        open += ((some, number) for number, some in inner.items())
    divided = set(parents.values())
    home = {entity: number for number, part in enumerate(parts) if number not in divided for entity in part}
    members = _join_small(home, [*groups, weights])
    levels = dict.fromkeys(members, 1)
    for number in sorted(parents, reverse=True):  # parts come after what they are parts of
        if (above := parents[number]) >= 0 and number in members:
            levels[above] = max(levels.get(above, 1), levels[number] + 1)
            members[above] = members.get(above, frozenset()) | members[number]
    order = sorted(members, key=lambda number: (levels[number], sorted(members[number])))
    places = {number: place for place, number in enumerate(order)}
    return [Community(levels[number], tuple(sorted(members[number])), places.get(parents[number])) for number in order]


def _divide(weights: Weights) -> list[frozenset[str]]:
    """Return the parts of a graph with the highest modularity that Leiden finds, none of them small if it has edges to
    others."""
    if not weights:
        return []
    from graspologic_native import leiden  # here, because few commands need it

    edges = sorted((a, b, weight) for (a, b), weight in weights.items())
    _, found = leiden(
        edges=edges,
        starting_communities=None,
        resolution=1.0,
        randomness=0.001,
        iterations=ITERATIONS,
        use_modularity=True,
        seed=SEED,
        trials=TRIALS,
    )
    parts: defaultdict[int, set[str]] = defaultdict(set)
    for entity, part in found.items():
        parts[part].add(entity)
    return _merge_small(sorted(map(frozenset, parts.values()), key=sorted), weights)


def _merge_small(parts: Sequence[frozenset[str]], weights: Weights) -> list[frozenset[str]]:
    """Let parts with few entities be parts of others, those that most weight ties them to."""
    home = {entity: number for number, part in enumerate(parts) for entity in part}
    ties: defaultdict[int, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    for (a, b), weight in sorted(weights.items()):
        for one, other in ((home[a], home[b]), (home[b], home[a])):
            if len(parts[one]) < SMALLEST <= len(parts[other]):
                ties[one][other] += weight
    merged = list(parts)
    for small, tied in ties.items():
        into = min(tied, key=lambda number: (-tied[number], number))
        merged[into] |= parts[small]
        merged[small] = frozenset()
    return [part for part in merged if part]


def _join_small(home: Mapping[str, int], groups: Iterable[Iterable[Collection[str]]]) -> dict[int, frozenset[str]]:
    """Return the members of each community that is not divided, with the entities that join it.

    Args:
        home: the number of the community of each entity with an edge.
        groups: several kinds of groups of entities that stand together, the closest first.
    """
    sizes = Counter(home.values())
    settled = {entity: number for entity, number in home.items() if sizes[number] >= SMALLEST}
    for kind in groups:
        shared: defaultdict[str, Counter[int]] = defaultdict(Counter)
        for together in kind:
            for entity in together:
                if entity not in settled:
                    shared[entity].update(settled[other] for other in together if other in settled)
        settled |= {
            entity: min(counts, key=lambda number: (-counts[number], number))
            for entity, counts in shared.items()
            if counts
        }
    members: defaultdict[int, set[str]] = defaultdict(set)
    for entity, number in chain(home.items(), settled.items()):
        if entity not in settled or settled[entity] == number:
            members[number].add(entity)
    return {number: frozenset(some) for number, some in members.items()}
