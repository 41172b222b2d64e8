"""`lazy`: test the windows nearest to the question community by community, from large communities down to small ones.

LazyGraphRAG (Microsoft Research, 2024) has a chat model test text for relevance, until a budget of tests is spent: the
best text of each community first; after several communities in a row without relevant text, the communities below those
that have some. This follows its description; the code is not published. Here, text is relevant if its vector is nearer
to that of the question than the corpus is on average, by two standard deviations. There are no sub-questions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from e2g_neo4j.retrieval.passages import TIE
from e2g_neo4j.retrieval.query import Query, RankedWindows, Ranking
from e2g_neo4j.retrieval.windows import Window, windows_of
from e2g_neo4j.runtime.requests import Embed
from e2g_neo4j.types.ties import best_first

WINDOWS = 100
"""The nearest windows, which may be tested. 200 and 400 found no more of the evidence in novels."""

SAMPLE = 250
"""Windows whose mean and standard deviation stand for those of the corpus."""

DEVIATIONS = 2.0
"""Standard deviations above the mean that make a window relevant: 3 % of the windows of a novel, 23 of the nearest 100.
With 1, these are 16 % and 92, so that nearly every test passes, and the nearest windows have to wait for the others."""

BUDGET = 50
"""Maximum number of tests. 100 found no more."""

TESTS = 1
"""Windows of a community that are tested in a turn."""

BARREN = 5
"""Communities in a row without a relevant window that end a turn of the communities."""

Key: TypeAlias = tuple[str, str]
"""Corpus and id of a community. Communities of several corpora may have the same id."""


def lazy(query: Query) -> Ranking:
    """Rank windows: relevant ones in the order of the tests, then all others of the nearest, best first.

    The score of a window is its own, (1 + cosine) / 2.
    """
    vector = yield Embed(query.question)
    parameters = {"vector": vector, "windows": max(query.limit, WINDOWS), "tested": WINDOWS, "sample": SAMPLE}
    rows = yield from query.read_each("lazy", dict.fromkeys(query.corpora, parameters))
    return ranked(rows)[: query.limit]


def ranked(rows: Iterable[Mapping[str, Any]]) -> RankedWindows:
    """Rank the windows of rows of `lazy.cypher`."""
    found: list[tuple[Window, float]] = []
    above: list[float] = []
    places: dict[tuple[str, int], int] = {}
    parents: dict[Key, Key | None] = {}
    members: dict[Key, list[tuple[str, int]]] = {}
    for row in rows:
        corpus = row["corpus"]
        for one in row["communities"]:
            key = corpus, one["id"]
            parents[key] = None if one["parent"] is None else (corpus, one["parent"])
            members[key] = [(corpus, at) for at in one["windows"]]
        for candidate in sorted(row["candidates"], key=lambda one: (one["document"], one["index"])):
            windows = windows_of(candidate)
            for one in sorted(candidate["windows"], key=lambda one: one["number"]):
                places[corpus, one["at"]] = len(found)
                found.append((windows[one["number"]], one["score"]))
                above.append(one["score"] - row["mean"] - DEVIATIONS * row["deviation"])
    order = best_first([score for _, score in found], TIE)
    rank = {place: at for at, place in enumerate(order)}
    ranks = {key: sorted(rank[places[one]] for one in windows) for key, windows in members.items()}
    relevant = [above[place] > 0 for place in order]
    chosen = visit(ranks, parents, relevant)
    return [found[order[at]] for at in dict.fromkeys([*(at for at in chosen if relevant[at]), *range(len(order))])]


def visit(ranks: Mapping[Key, Sequence[int]], parents: Mapping[Key, Key | None], relevant: Sequence[bool]) -> list[int]:
    """Return the ranks of the tested windows, in the order of the tests.

    In a turn, each community has its best TESTS untested windows tested, those with the nearest windows first. After
    BARREN communities in a row without a relevant window, or after all, the next turn begins, with the communities
    below those that had a relevant window. One that has none below it stays. The tests end when no community is left,
    or after BUDGET tests.

    Args:
        ranks: The ranks of the windows of each community, ascending. 0 is the nearest window.
        parents: The community above each, None at the top.
        relevant: Whether the window of a rank is relevant.
    """
    below: defaultdict[Key | None, list[Key]] = defaultdict(list)
    for key in sorted(ranks, key=lambda key: (ranks[key], key)):
        below[parents[key]].append(key)
    tested: dict[int, None] = {}
    turn = below[None]
    while turn:
        fruitful = []
        barren = 0
        for key in turn:
            tests = [rank for rank in ranks[key] if rank not in tested][: min(TESTS, BUDGET - len(tested))]
            if not tests:
                continue
            tested |= dict.fromkeys(tests)
            if any(relevant[rank] for rank in tests):
                fruitful.append(key)
                barren = 0
            else:
                barren += 1
            if barren == BARREN:
                break
        turn = [lower for key in fruitful for lower in below[key] or [key]]
        turn.sort(key=lambda key: (ranks[key], key))
    return list(tested)
