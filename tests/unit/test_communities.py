"""Communities: the hierarchy, the sentences of reports, titles, and the turns of mode `communities`."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2g_neo4j.indexing.communities.elements import StoredStatement
from e2g_neo4j.indexing.communities.hierarchy import Community, communities
from e2g_neo4j.indexing.communities.layer import add_strengths
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
    found = communities(BRIDGED)
    assert found == [Community(1, ("a", "b", "c"), None), Community(1, ("d", "e", "f"), None)]
    assert modularity(BRIDGED, [one.members for one in found]) == pytest.approx(5 / 14)


def test_large_communities_are_divided() -> None:
    """Four triangles in two pairs, and two pairs of these."""
    chain = {pair: 1.0 for names in ("abc", "def", "ghi", "jkl") for pair in combinations(names, 2)}
    chain |= dict.fromkeys([("c", "d"), ("b", "e"), ("a", "f"), ("i", "j"), ("h", "k"), ("g", "l")], 0.9)
    chain["f", "g"] = 0.1
    found = communities(chain, largest=5)
    assert [(one.level, "".join(one.members), one.parent) for one in found] == [
        (1, "abc", 4),
        (1, "def", 4),
        (1, "ghi", 5),
        (1, "jkl", 5),
        (2, "abcdef", None),
        (2, "ghijkl", None),
    ]
    assert [one.members for one in communities(chain)] == [tuple("abcdef"), tuple("ghijkl")]


def test_components_are_communities_of_their_own() -> None:
    assert [one.members for one in communities(TRIANGLES)] == [("a", "b", "c"), ("d", "e", "f")]


@pytest.mark.parametrize(
    ("weights", "groups", "members"),
    [
        ({}, [], []),
        ({}, [["ab"]], []),
        ({("a", "b"): 1.0}, [], ["ab"]),
        ({**TRIANGLES, ("x", "y"): 1.0}, [], ["abc", "def", "xy"]),
        ({**TRIANGLES, ("x", "y"): 1.0}, [[], ["ax"]], ["abcxy", "def"]),
        (TRIANGLES, [["dz", "dz", "az"], ["az", "abz"]], ["abc", "defz"]),
        (TRIANGLES, [["yz"], ["az", "abz", "dz"]], ["abcz", "def"]),
    ],
    ids=["nothing", "no edge", "one edge", "apart", "a pair", "by sentences", "by chunks"],
)
def test_entities_without_a_community_join_those_that_they_stand_with(
    weights: dict[tuple[str, str], float], groups: list[list[str]], members: list[str]
) -> None:
    found = ["".join(one.members) for one in communities(weights, groups)]
    assert found == members


def test_parts_that_are_all_small_are_no_division() -> None:
    """Leiden divides eb·ch, and both parts would join the one that b stands with."""
    weights = {("b", "e"): 3.0, ("b", "c"): 0.5, ("c", "h"): 0.2, ("d", "f"): 1.0, ("f", "g"): 3.0}
    found = communities(weights, [["bf"]], largest=3)
    assert [one.members for one in found] == [("b", "c", "e", "h"), ("d", "f", "g")]


NAMES = st.sampled_from([f"n{number:02}" for number in range(40)])
SIZES = st.integers(3, 10)


def graphs() -> st.SearchStrategy[dict[tuple[str, str], float]]:
    pairs = st.tuples(NAMES, NAMES).filter(lambda pair: pair[0] < pair[1])
    return st.dictionaries(pairs, st.sampled_from([1 / 9, 0.5, 1.0, 3.5]), max_size=120)


@given(graphs(), st.lists(st.sets(NAMES, min_size=2, max_size=4), max_size=6), st.randoms(use_true_random=False), SIZES)
def test_a_hierarchy_of_any_graph(
    weights: dict[tuple[str, str], float], sentences: list[set[str]], order: random.Random, largest: int
) -> None:
    """Every entity is in exactly one community of a level, and of those that no finer level divides."""
    found = communities(weights, [sentences], largest)
    edges = {name for pair in weights for name in pair}
    joined = {name for one in found for name in one.members} - edges
    assert all(any(name in one and one & (edges | joined) > {name} for one in sentences) for name in joined)
    names = sorted(edges | joined)
    for one in found:
        parts = [part for part in found if part.parent is not None and found[part.parent] is one]
        assert (one.level == 1) == (not parts)
        if parts:
            assert one.level == 1 + max(part.level for part in parts)
            assert sorted(name for part in parts for name in part.members) == list(one.members)
    for level in {one.level for one in found}:
        of_level = [
            one for one in found if one.level <= level and (one.parent is None or found[one.parent].level > level)
        ]
        assert sorted(name for one in of_level for name in one.members) == names
    assert len({one.members for one in found}) == len(found)
    shuffled = list(weights.items())
    order.shuffle(shuffled)
    assert communities(dict(shuffled), [sentences], largest) == found


def test_no_move_of_an_entity_raises_the_modularity() -> None:
    generator = random.Random(5)
    weights = {
        (f"n{a:02}", f"n{b:02}"): generator.choice([0.2, 0.5, 1.0])
        for a, b in combinations(range(30), 2)
        if generator.random() < (0.4 if a % 3 == b % 3 else 0.05)
    }
    parts = [one.members for one in communities(weights, largest=99)]
    best = modularity(weights, parts)
    for name in {name for pair in weights for name in pair}:
        without = [tuple(one for one in part if one != name) for part in parts]
        for number in range(len(parts)):
            moved = [(*part, name) if at == number else part for at, part in enumerate(without)]
            assert modularity(weights, moved) <= best + 1e-9


def test_stated_relations_weigh_by_their_strength() -> None:
    """Without what is stated of an entity that is gone, of one alone, and of one and itself."""
    names = dict.fromkeys("abc", "")
    statements = [
        StoredStatement(str(number), ("c",), subject, object, "", strength)
        for number, (subject, object, strength) in enumerate(
            [("b", "a", 10), ("a", "b", 5), ("b", "c", 1), ("a", None, 9), ("a", "a", 9), ("a", "gone", 9)]
        )
    ]
    found = add_strengths({("a", "b"): 0.5}, statements, names)
    assert found == pytest.approx({("a", "b"): 3.5, ("b", "c"): 0.2})


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
    assert titles(hierarchy, weights, {name: name.upper() for name in "abcdez"}) == ["B, C, D"]


def test_titles_name_names_before_nouns() -> None:
    hierarchy = [Community(1, ("count", "door", "lucy", "mina", "time"), None)]
    weights = {("count", "door"): 9.0, ("door", "time"): 9.0, ("lucy", "mina"): 1.0, ("count", "lucy"): 1.0}
    names = {"count": "count", "door": "door", "lucy": "Lucy", "mina": "Mina", "time": "time"}
    assert titles(hierarchy, weights, names) == ["Lucy, Mina: count"]
    assert titles([Community(1, ("count", "door", "time"), None)], weights, names) == ["door, count, time"]


# --- vectors -----------------------------------------------------------------------------------------


def test_a_community_of_two_corpora_is_as_near_as_the_nearest_of_them() -> None:
    rows = [
        {"communities": [{"id": "x", "score": 0.9, "windows": []}]},
        {"communities": [{"id": "y", "score": 0.7, "windows": []}, {"id": "x", "score": 0.5, "windows": []}]},
    ]
    assert nearest(rows, 2) == nearest(rows[::-1], 2) == ["x", "y"]
