"""Which names of a document are one person."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2g_neo4j.indexing.name_merging import apply_merges, find_merges, name_counts
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.types.graph import Extraction, Sentence


def chunks(*texts: str) -> list[Extraction]:
    """What is found in chunks, each a list of names: "Mr. Bennet, Mr. Bennet" is one that is there twice. A name that
    begins with a small letter is a common noun, one after "#" is not called a person."""
    found = []
    for text in texts:
        counts: dict[str, int] = {}
        forms: dict[str, dict[str, int]] = {}
        people: dict[str, int] = {}
        types: dict[str, Counter[str]] = {}
        for written in filter(None, (part.strip() for part in text.split(","))):
            form = written.removeprefix("#")
            key = entity_key(form)
            counts[key] = counts.get(key, 0) + 1
            forms.setdefault(key, {})[form] = forms.get(key, {}).get(form, 0) + 1
            type = "person" if written[0].isupper() else "name" if written[0] == "#" else "noun"
            types.setdefault(key, Counter())[type] += 1
            if type == "person":
                people[key] = people.get(key, 0) + 1
        named = {key: one for key, one in forms.items() if set(one) != {key}}
        found.append(Extraction((Sentence(0, 9, tuple(counts)),), counts, named, people, types))
    return found


def found(*texts: str, apart: tuple[str, ...] = ()) -> dict[str, str]:
    return {one.name: one.full for one in find_merges(name_counts(chunks(*texts)), dict.fromkeys(apart))}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        # The surname, alone and after titles.
        (
            "Quincey Morris, Quincey Morris, Morris, Mr. Morris",
            {"morris": "quincey morris", "mr morris": "quincey morris"},
        ),
        ("Abraham Van Helsing, Dr. Van Helsing", {"dr van helsing": "abraham van helsing"}),
        ("Dr. James Mortimer, Mortimer", {"mortimer": "dr james mortimer"}),
        ("Mrs. Laura Lyons, Mrs. Lyons", {"mrs lyons": "mrs laura lyons"}),
        # The full name after a title, with an initial or a degree.
        ("Jane Fairfax, Jane Fairfax, Miss Jane Fairfax", {"miss jane fairfax": "jane fairfax"}),
        ("John Seward, John Seward, John Seward M.D.", {"john seward md": "john seward"}),
        ("Quincey Morris, Quincey Morris, Quincey P. Morris", {"quincey p morris": "quincey morris"}),
        # The given name.
        ("Lucy Westenra, Lucy Westenra, Lucy, Miss Lucy", {"lucy": "lucy westenra", "miss lucy": "lucy westenra"}),
        ("Sir William Lucas, Sir William Lucas, Sir William", {"sir william": "sir william lucas"}),
        # Nobody has a full name.
        ("Mr. Jaggers, Mr. Jaggers, Jaggers", {"jaggers": "mr jaggers"}),
    ],
)
def test_other_names_of_a_person_join_the_full_name(names: str, expected: dict[str, str]) -> None:
    assert found(names) == expected


@pytest.mark.parametrize(
    "names",
    [
        "Jonathan Harker, Jonathan Harker, Mina Harker, Mina Harker, Harker",
        "Mr. Bennet, Mrs. Bennet, Elizabeth Bennet, Elizabeth Bennet, Bennet",
        "Elizabeth Bennet, Elizabeth Bennet, Mr. Bennet, Mrs. Bennet, Bennet",
        "Miss Noble, Mrs. Noble, Noble, Henrietta Noble, Henrietta Noble",
        "Tertius Lydgate, Tertius Lydgate, Lydgate, #the Lydgates",
        "John Seward, John Seward, John Paxton, John Paxton, John",
        "Clark Kent, Clark Kent, Kent Brockman, Kent Brockman, Kent",
        "Fitzwilliam Darcy, Fitzwilliam Darcy, Colonel Fitzwilliam, Fitzwilliam",
        "Joe Gargery, Joe Gargery, Mrs. Joe Gargery",
        "Clara Partridge, Clara Partridge, Mrs. Partridge",
        "Mrs. Abel, Mrs. Abel, Abel",
        "Mr. Bell, Dr. Bell, #Bell, #Bell, #Bell, #Bell",
        "Mr. Jonathan Harker, Mrs. Jonathan Harker",
        "Earl Grey, Earl Grey, grey, grey, grey, Grey",
        "#Christmas Eve, #Christmas Eve, Eve, Eve",
        "Meanwhile Joseph, Joseph, Joseph",
        "King George, King George, George",
        "Mr. Dixon, Mrs. Dixon, Dixon",
        "Mr. Weston, Mr. Weston, #Mr. Westons, Westons",
    ],
)
def test_what_might_be_two_people_stays_apart(names: str) -> None:
    assert found(names) == {}


def test_a_given_name_joins_only_after_the_full_name_was_there() -> None:
    assert found("Mary", "Mary King, Mary King, Mary") == {}
    assert found("Mary King", "Mary, Mary King") == {"mary": "mary king"}


def test_names_that_are_kept_apart_join_nothing_and_change_nothing_for_others() -> None:
    names = "Quincey Morris, Quincey Morris, Morris, Mr. Morris, Quincey"
    everything = found(names)
    assert found(names, apart=("morris",)) == {name: full for name, full in everything.items() if name != "morris"}


def test_a_join_tells_how_often_and_how_the_name_is_written_and_why() -> None:
    [one] = find_merges(name_counts(chunks("Quincey Morris, MORRIS", "Quincey Morris, Morris, Morris")))
    assert (one.name, one.full, one.count, one.form) == ("morris", "quincey morris", 3, "Morris")
    assert one.why == "the only full name with the surname morris"


NAMES = ["Quincey Morris", "Morris", "Mr. Morris", "Mrs. Morris", "Ann Morris", "Quincey", "Mr. Quincey Morris", "Ann"]


TEXTS = st.lists(st.lists(st.sampled_from([*NAMES, "#Morris", "morris"]), max_size=6), min_size=1, max_size=5)


@given(TEXTS, st.data())
def test_joins_do_not_chain_and_do_not_depend_on_the_order_in_a_chunk(
    texts: list[list[str]], data: st.DataObject
) -> None:
    once = found(*(", ".join(names) for names in texts))
    assert not set(once) & set(once.values())
    shuffled = [data.draw(st.permutations(names)) for names in texts]
    assert found(*(", ".join(names) for names in shuffled)) == once


@given(TEXTS)
def test_joining_moves_all_occurrences_to_the_entity_and_leaves_it_its_own_forms(texts: list[list[str]]) -> None:
    before = chunks(*(", ".join(names) for names in texts))
    same = find_merges(name_counts(before))
    full = {one.name: one.full for one in same}
    for old, new in zip(before, apply_merges(before, same), strict=True):
        assert sum(new.counts.values()) == sum(old.counts.values())
        assert sum(new.people.values()) == sum(old.people.values())
        assert full.keys().isdisjoint(new.counts)
        for key, count in new.counts.items():
            moved = [old.types.get(name, {}) for name in old.counts if full.get(name, name) == key]
            assert new.types[key] == sum(map(Counter, moved), Counter())
            assert sum(new.types[key].values()) == count
            assert new.types[key].get("person", 0) == new.people.get(key, 0)
        assert new.sentences[0].entities == tuple(
            dict.fromkeys(full.get(key, key) for key in old.sentences[0].entities)
        )
        for key in new.counts:
            own = old.forms.get(key, {key: old.counts[key]} if key in old.counts else {})
            assert new.forms.get(key, {key: new.counts[key]}) == own


def test_the_order_of_names_in_a_document_decides_nothing_but_who_came_first() -> None:
    names = [*NAMES, *NAMES]
    outcomes = set()
    for seed in range(20):
        random.Random(seed).shuffle(names)
        outcomes.add(str(sorted(found(", ".join(names)).items())))
    assert len(outcomes) == 1
