"""Mode `raptor` and its clusters beside what the published code of RAPTOR selects and groups, without a database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from re import finditer
from typing import Any

import numpy as np
import pytest

from e2g_neo4j.indexing.clusters import layer
from e2g_neo4j.indexing.clusters.grouping import WHOLE, groups
from e2g_neo4j.indexing.clusters.nodes import Leaf
from e2g_neo4j.retrieval.passages import ScoredNode, fit_nodes
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies.tree import RAPTOR, raptor
from e2g_neo4j.types.documents import Span

PUBLISHED = json.loads((Path(__file__).parents[1] / "data" / "raptor.json").read_text(encoding="utf-8"))
"""Written by scripts/record_raptor.py."""

TOKENS = 3_500
"""The published code divides longer groups."""


def ranked(tree: dict[str, Any]) -> list[ScoredNode]:
    operation: Any = raptor(Query("Who?", ["c"], tree["k"]))
    operation.send(None)
    asked = operation.send([1.0])
    assert (asked.statement, asked.parameters["k"]) == ("query/raptor", 2 * tree["k"]), "some may be copies"
    texts = [" ".join([str(at)] * tokens) for at, tokens in enumerate(tree["tokens"])]
    rows = [
        {"id": f"{at:02}", "level": level, "score": (1 + cosine) / 2, "text": text, "start": 0, "end": len(text)}
        for at, (level, cosine, text) in enumerate(zip(tree["levels"], tree["cosines"], texts, strict=True))
    ]
    with pytest.raises(StopIteration) as end:
        operation.send(rows)
    nodes: list[ScoredNode] = end.value.value
    return nodes


def words(text: str) -> list[Span]:
    return [word.span() for word in finditer(r"\S+", text)]


def numbers(nodes: Sequence[ScoredNode]) -> list[int]:
    return [int(node.row["id"]) for node in nodes]


@pytest.mark.parametrize("tree", PUBLISHED["trees"], ids=range(len(PUBLISHED["trees"])))
def test_the_collapsed_tree_is_searched_in_the_same_way(tree: dict[str, Any]) -> None:
    """The published code ends with the first node that does not fit the budget, which is skipped here."""
    nodes = ranked(tree)
    assert RAPTOR.skips
    kept = numbers(fit_nodes(nodes, tree["budget"], words, skip=True))
    published = tree["collapsed"]
    if not published:
        assert kept == numbers(nodes)[:1] or sum(tree["tokens"][at] for at in kept) <= tree["budget"]
        return
    assert kept[: len(published)] == numbers(nodes)[: len(published)] == published
    left = tree["budget"] - sum(tree["tokens"][at] for at in published)
    if len(published) < tree["k"]:
        assert tree["tokens"][numbers(nodes)[len(published)]] > left
    assert sum(tree["tokens"][at] for at in kept[len(published) :]) <= left


def test_the_trees_cover_what_differs() -> None:
    """Mode `raptor` is the collapsed tree, not the traversal of its levels."""
    trees = PUBLISHED["trees"]
    assert {len(tree["collapsed"]) == tree["k"] for tree in trees} == {True, False}
    more = [len(fit_nodes(ranked(tree), tree["budget"], words, skip=True)) > len(tree["collapsed"]) for tree in trees]
    assert {*more} == {True, False}
    assert all({*tree["collapsed"]} != {*tree["traversed"]} for tree in trees)


@pytest.mark.parametrize("drawn", PUBLISHED["clouds"], ids=range(len(PUBLISHED["clouds"])))
def test_clouds_of_vectors_are_the_same_clusters(drawn: dict[str, Any]) -> None:
    """If they are dense. The published code takes sparse ones apart, and divides some groups that are too long for
    ever; here, these are cut."""
    tokens = drawn["tokens"]
    found = groups(np.array(drawn["vectors"], np.float32), [tokens] * len(drawn["vectors"]))
    published = drawn["groups"] and [tuple(group) for group in drawn["groups"]]
    if drawn["tight"] and published:
        assert found == published
    for group in (*found, *(published or ())):
        assert len({drawn["clouds"][node] for node in group}) == 1, "no cluster has nodes of two clouds"
    assert all(len(group) * tokens <= TOKENS or len(group) <= WHOLE for group in found)


def test_the_clouds_cover_what_differs() -> None:
    clouds = PUBLISHED["clouds"]
    tight = [drawn for drawn in clouds if drawn["tight"]]
    assert {len({*drawn["clouds"]}) for drawn in tight if drawn["groups"]} >= {1, 3}
    assert {drawn["groups"] is None for drawn in tight} == {True, False}


@pytest.mark.parametrize("halved", PUBLISHED["halved"], ids=lambda halved: halved["leaves"])
def test_levels_end_where_published_ones_do_or_later(halved: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The published code groups no 11 nodes or fewer. Here, they may have one more level."""
    monkeypatch.setattr(layer, "groups", lambda vectors, _: [(at, at + 1) for at in range(0, len(vectors) - 1, 2)])
    nodes = [Leaf(str(at), "d", at, (at, at + 1), 1, np.ones(1, np.float32)) for at in range(halved["leaves"])]
    sizes = [len(nodes)]
    while members := layer._members(nodes):
        nodes = nodes[: len(members) + len(nodes) % 2]
        sizes.append(len(nodes))
    assert sizes[: len(halved["levels"])] == halved["levels"]
    assert len(sizes) > len(halved["levels"])
