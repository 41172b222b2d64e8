"""Communities: the hierarchy, the sentences of reports, titles, and the turns of mode `communities`."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2g_neo4j.indexing.communities.hierarchy import LARGEST, Community, communities
from e2g_neo4j.indexing.communities.reports import CHARACTERS, SentenceEntities, choose_sentences, titles
from e2g_neo4j.retrieval.strategies.communities import nearest

TRIANGLES = {pair: 1.0 for names in ("abc", "def") for pair in combinations(names, 2)}
"""Two triangles, all of whose edges weigh 1."""

BRIDGED = {**TRIANGLES, ("c", "d"): 1.0}


def modularity(weights: dict[tuple[str, str], float], parts: list[tuple[str, ...]]) -> float:
    whole = sum(weights.values())
    found = 0.0
    for part in parts:
        inside = sum(weight for pair, weight in weights.items() if set(pair) <= set(part))
        degrees = sum(weight for pair, weight in weights.items() for name in pair if name in part)
        found += inside / whole - (degrees / (2 * whole)) ** 2
    return found


def test_two_triangles_with_a_bridge_are_two_communities() -> None:
    found = communities(BRIDGED, largest=3)
    assert found == [Community(1, ("a", "b", "c"), None), Community(1, ("d", "e", "f"), None)]
    assert modularity(BRIDGED, [one.members for one in found]) == pytest.approx(5 / 14)


def test_communities_contain_those_of_the_level_below() -> None:
    chain = {pair: 1.0 for names in ("abc", "def", "ghi", "jkl") for pair in combinations(names, 2)}
    chain |= {("c", "d"): 0.5, ("i", "j"): 0.5, ("f", "g"): 0.1}
    found = communities(chain, largest=3)
    assert [(one.level, "".join(one.members), one.parent) for one in found[:4]] == [
        (1, "abc", None),
        (1, "def", None),
        (1, "ghi", None),
        (1, "jkl", None),
    ]
    six = communities({**chain, ("l", "m"): 0.1, **dict.fromkeys(combinations("mnopqrs", 2), 1.0)}, largest=3)
    assert {"".join(one.members): six[one.parent].members if one.parent is not None else None for one in six}[
        "abc"
    ] == tuple("abcdefghijkl")


def test_components_are_communities_of_their_own() -> None:
    assert [one.members for one in communities(TRIANGLES)] == [("a", "b", "c"), ("d", "e", "f")]


@pytest.mark.parametrize("weights", [{}, {("a", "b"): 1.0}])
def test_two_entities_are_no_community(weights: dict[tuple[str, str], float]) -> None:
    assert communities(weights) == []


@st.composite
def graphs(draw: st.DrawFn) -> dict[tuple[str, str], float]:
    names = [f"n{number:02}" for number in range(draw(st.integers(2, 40)))]
    pairs = st.tuples(st.sampled_from(names), st.sampled_from(names)).filter(lambda pair: pair[0] < pair[1])
    weights = st.sampled_from([1 / 9, 0.5, 1.0, 3.5])
    return draw(st.dictionaries(pairs, weights, max_size=120))


@given(graphs(), st.randoms(use_true_random=False), st.integers(3, 10))
def test_a_hierarchy_of_any_graph(weights: dict[tuple[str, str], float], order: random.Random, largest: int) -> None:
    found = communities(weights, largest)
    for one in found:
        assert 3 <= len(one.members) <= largest * 6 ** (one.level - 1)
        if one.parent is not None:
            parent = found[one.parent]
            assert set(one.members) < set(parent.members)
            assert parent.level > one.level
    for level in {one.level for one in found}:
        members = [name for one in found if one.level == level for name in one.members]
        assert len(members) == len(set(members))
    assert len({one.members for one in found}) == len(found)
    shuffled = list(weights.items())
    order.shuffle(shuffled)
    assert communities(dict(shuffled), largest) == found


def test_what_is_far_from_a_change_stays() -> None:
    """Forty groups of five, in a ring; one edge more in the first."""
    groups = [[f"g{group:02}n{number}" for number in range(5)] for group in range(40)]
    weights = {pair: 1.0 for group in groups for pair in combinations(group, 2)}
    weights |= {(a[4], b[0]): 0.2 for a, b in pairwise(groups)}
    before = communities(weights)
    after = communities({**weights, ("g00n0", "new"): 1.0, ("g00n1", "new"): 1.0})
    assert len(before) > LARGEST / 5
    changed = {one.members for one in after} - {one.members for one in before}
    assert 0 < len(changed) <= 2


def sentence(number: int, entities: str, length: int = 100) -> SentenceEntities:
    return SentenceEntities("d", 0, "c", (1000 * number, 1000 * number + length), tuple(entities), number)


def test_sentences_add_most_per_character_until_the_budget_is_spent() -> None:
    """The first has two pairs of weight 1 (.02 a character), the second all three in twice the length (.015), of which
    one is left (.005); the third has the one that is left in 50 characters (.02)."""
    weights = {("a", "b"): 1.0, ("b", "c"): 1.0, ("a", "c"): 1.0}
    one, other, third = sentence(1, "ab", 50), sentence(2, "abc", 200), sentence(3, "bc", 50)
    outside, too_long = sentence(4, "ax"), sentence(0, "abc", CHARACTERS + 1)
    hierarchy = [Community(1, ("a", "b", "c"), None)]
    assert list(choose_sentences(hierarchy, [third, other, one, outside, too_long], weights)) == [[one, other, third]]
    repeating = [one, third, sentence(5, "ab", 60)]
    assert list(choose_sentences(hierarchy, repeating, weights)) == [[one, third]]
    large = [sentence(number, "ab" if number % 2 else "bc", CHARACTERS - 10) for number in range(4)]
    assert list(choose_sentences(hierarchy, large, weights)) == [[large[0]]]


def test_titles_name_the_most_linked_entities() -> None:
    weights = {("a", "b"): 1.0, ("b", "c"): 2.0, ("c", "d"): 1.0, ("d", "e"): 0.5, ("e", "z"): 9.0}
    hierarchy = [Community(1, ("a", "b", "c", "d", "e"), None)]
    assert titles(hierarchy, weights, {name: name.upper() for name in "abcdez"}) == ["B, C, D, A"]


def test_titles_name_names_before_nouns() -> None:
    hierarchy = [Community(1, ("count", "door", "lucy", "mina", "time"), None)]
    weights = {("count", "door"): 9.0, ("door", "time"): 9.0, ("lucy", "mina"): 1.0, ("count", "lucy"): 1.0}
    names = {"count": "count", "door": "door", "lucy": "Lucy", "mina": "Mina", "time": "time"}
    assert titles(hierarchy, weights, names) == ["Lucy, Mina, door, count"]


# --- vectors -----------------------------------------------------------------------------------------


def test_a_community_of_two_corpora_is_as_near_as_the_nearest_of_them() -> None:
    rows = [
        {"communities": [{"id": "x", "score": 0.9, "windows": []}]},
        {"communities": [{"id": "y", "score": 0.7, "windows": []}, {"id": "x", "score": 0.5, "windows": []}]},
    ]
    assert nearest(rows, 2) == nearest(rows[::-1], 2) == ["x", "y"]
