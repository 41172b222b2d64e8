"""Which names of a document are one person."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2g_neo4j.indexing.missed_names import add_missed_names, collect_known_names
from e2g_neo4j.indexing.name_merging import _find_end, apply_merges, find_merges, name_counts
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.types.graph import Extraction, Sentence
from e2g_neo4j.types.languages import name_words
from e2g_neo4j.types.mentions import Decisions

ENGLISH = name_words("en")


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
            key = entity_key(form, "fr" if "d'" in form else "en")
            counts[key] = counts.get(key, 0) + 1
            forms.setdefault(key, {})[form] = forms.get(key, {}).get(form, 0) + 1
            type = "person" if written[0].isupper() else "name" if written[0] == "#" else "noun"
            types.setdefault(key, Counter())[type] += 1
            if type == "person":
                people[key] = people.get(key, 0) + 1
        named = {key: one for key, one in forms.items() if set(one) != {key}}
        found.append(Extraction((Sentence(0, 9, tuple(counts)),), counts, named, people, types))
    return found


def found(*texts: str, apart: tuple[str, ...] = (), language: str = "en") -> dict[str, str]:
    merges = find_merges(name_counts(chunks(*texts)), name_words(language), dict.fromkeys(apart))
    return {one.name: one.full for one in merges}


def test_an_entity_is_called_by_its_name_without_titles() -> None:
    merges = find_merges(name_counts(chunks("Captain Luke Farran, Captain Luke Farran, Farran")), name_words("en"))
    assert {one.name: (one.full, one.spelled) for one in merges} == {
        "captain luke farran": ("luke farran", "Luke Farran"),
        "farran": ("luke farran", "Luke Farran"),
    }
    [merge] = find_merges(name_counts(chunks("Luke Farran, Farran")), name_words("en"))
    assert merge.spelled is None, "the text has it"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        # The surname, alone and after titles.
        (
            "Quincey Morris, Quincey Morris, Morris, Mr. Morris",
            {"morris": "quincey morris", "mr morris": "quincey morris"},
        ),
        ("Abraham Van Helsing, Dr. Van Helsing", {"dr van helsing": "abraham van helsing"}),
        ("Dr. James Mortimer, Mortimer", dict.fromkeys(["mortimer", "dr james mortimer"], "james mortimer")),
        ("Mrs. Laura Lyons, Mrs. Lyons", {"mrs lyons": "mrs laura lyons"}),
        # As in newspapers: the full name once. One who is a junior is one nevertheless.
        ("Theodora Quill, Quill, Quill, Quill", {"quill": "theodora quill"}),
        ("Henry Stone Jr., Stone, Henry Stone", {"stone": "henry stone", "henry stone jr": "henry stone"}),
        # The full name after a title, with an initial or a degree.
        ("Jane Fairfax, Jane Fairfax, Miss Jane Fairfax", {"miss jane fairfax": "jane fairfax"}),
        ("John Seward, John Seward, John Seward M.D.", {"john seward md": "john seward"}),
        ("Quincey Morris, Quincey Morris, Quincey P. Morris", {"quincey p morris": "quincey morris"}),
        # The given name.
        ("Lucy Westenra, Lucy Westenra, Lucy, Miss Lucy", {"lucy": "lucy westenra", "miss lucy": "lucy westenra"}),
        (
            "Sir William Lucas, Sir William Lucas, Sir William",
            dict.fromkeys(["sir william", "sir william lucas"], "william lucas"),
        ),
        # A full name with titles alone.
        ("Miss Theodora Quill", {"miss theodora quill": "theodora quill"}),
        ("Henry Stone Jr., Mr. Henry Stone Sr.", {"mr henry stone sr": "henry stone sr"}),
        ("Mr. Jonathan Harker, Mrs. Jonathan Harker", {"mr jonathan harker": "jonathan harker"}),
        # An initial, and a salutation.
        (
            "Theodora Quill, Theodora Quill, T. Quill, Dear Miss Quill, Miss Quill",
            dict.fromkeys(["t quill", "dear miss quill", "miss quill"], "theodora quill"),
        ),
        ("Dear Lizzy, Dear Lizzy, Lizzy", {"dear lizzy": "lizzy"}),
        # Nobody has a full name.
        ("Mr. Jaggers, Mr. Jaggers, Jaggers", {"jaggers": "mr jaggers"}),
        # A title written in two ways.
        ("Dr. Livesey, Dr. Livesey, Doctor Livesey", {"doctor livesey": "dr livesey"}),
        (
            "Dr. Livesey, Dr. Livesey, Doctor Livesey, Livesey",
            dict.fromkeys(["doctor livesey", "livesey"], "dr livesey"),
        ),
    ],
)
def test_other_names_of_a_person_join_the_full_name(names: str, expected: dict[str, str]) -> None:
    assert found(names) == expected


@pytest.mark.parametrize(
    ("language", "names", "expected"),
    [
        ("de", "Jörg Weiß, Herr Weiss, Weiß", {"herr weiss": "jorg weiss", "weiss": "jorg weiss"}),
        ("de", "Anna Keller, Frau Dr. Anna Keller", {"frau dr anna keller": "anna keller"}),
        (
            "de",
            "Anna Keller, Anna Keller, Annas, #Bonn, #Bonns, Anna",
            {"annas": "anna keller", "anna": "anna keller", "bonns": "bonn"},
        ),
        ("de", "Hans-Peter Vogt, Hans-Peter, Hans", {"hans peter": "hans peter vogt"}),
        ("de", "Otto Brandt, Frau Brandt, Brandt", {}),
        ("de", "Prof. Kern, Prof. Kern, Professor Kern", {"professor kern": "prof kern"}),
        (
            "fr",
            "Charles d'Artagnan, M. d'Artagnan, #Artagnan",
            dict.fromkeys(["m d'artagnan", "artagnan"], "charles d'artagnan"),
        ),
        ("fr", "d'Artagnan, d'Artagnan, #Artagnan", {"artagnan": "d'artagnan"}),
        (
            "fr",
            "Jean-Luc Rémy, Jean-Luc Rémy, M. Remy, Jean-Luc",
            {"m remy": "jean luc remy", "jean luc": "jean luc remy"},
        ),
        ("fr", "Pierre Le Goff, Mme Pierre Le Goff, Mme Le Goff", {}),
        ("en", "Jean-Luc Remy, Jean-Luc Remy, M. Remy, Jean-Luc, Annas, Anna", {}),
        ("es", "Ana Ruiz, Ana Ruiz, Sra. Ruiz, Mr. Ruiz", {}),
    ],
)
def test_titles_and_possessives_are_those_of_the_language(language: str, names: str, expected: dict[str, str]) -> None:
    assert found(names, language=language) == expected


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
        "Mrs. Jonathan Harker, Mrs. Laura Lyons",
        "Mr. Robin Hale, Miss Robin Hale, Robin",
        "Earl Grey, Earl Grey, grey, grey, grey, Grey",
        "#Christmas Eve, #Christmas Eve, Eve, Eve",
        "Meanwhile Joseph, Joseph, Joseph",
        "Henry Stone Jr., Henry Stone Jr., Henry Stone Sr., Henry Stone Sr., Henry Stone, H. Stone, Stone, Mr. Stone",
        "Michael Jordan, Michael Jordan, Jordan, #Jordan, #Jordan",
        "Harrison Ford, Harrison Ford, #Ford, #Ford",
        "Mary Lincoln, Mary Lincoln, #Lincoln",
        "Theodora Quill, Theodora Quill, Thomas Quill, Thomas Quill, T. Quill, Quill",
        "Thomas Quill, Thomas Quill, Miss T. Quill, Mr. Quill",
        "King George, King George, George",
        "Mr. Dixon, Mrs. Dixon, Dixon",
        "Mr. Weston, Mr. Weston, #Mr. Westons, Westons",
    ],
)
def test_what_might_be_two_people_stays_apart(names: str) -> None:
    assert found(names) == {}


def test_a_full_name_that_stands_once_introduces_the_surname() -> None:
    assert found("Theodora Quill", "", "Quill") == {"quill": "theodora quill"}
    assert found("Quill", "Theodora Quill, Quill") == {}
    assert found("Theodora Quill", "", "", "Quill") == {}


def test_a_given_name_joins_only_after_the_full_name_was_there() -> None:
    assert found("Mary", "Mary King, Mary King, Mary") == {}
    assert found("Mary King", "Mary, Mary King") == {"mary": "mary king"}


def test_names_that_are_kept_apart_join_nothing_and_change_nothing_for_others() -> None:
    names = "Quincey Morris, Quincey Morris, Morris, Mr. Morris, Quincey"
    everything = found(names)
    assert found(names, apart=("morris",)) == {name: full for name, full in everything.items() if name != "morris"}


def test_a_join_tells_how_often_and_how_the_name_is_written_and_why() -> None:
    [one] = find_merges(name_counts(chunks("Quincey Morris, MORRIS", "Quincey Morris, Morris, Morris")), ENGLISH)
    assert (one.name, one.full, one.count, one.form) == ("morris", "quincey morris", 3, "Morris")
    assert one.why == "the only full name with the surname morris"


def test_what_is_merged_by_hand_wins_over_the_rules() -> None:
    names = name_counts(chunks("Quincey Morris, Quincey Morris, Morris, Mr. Morris, Texan, ship"))
    cases: list[tuple[Decisions, dict[str, str]]] = [
        ({"texan": "quincey morris", "morris": None}, {"texan": "quincey morris", "mr morris": "quincey morris"}),
        ({"quincey morris": "morris"}, {"quincey morris": "morris", "mr morris": "morris"}),  # not in a circle
        ({"ship": "boat", "morris": "ship"}, {"ship": "boat", "morris": "boat", "mr morris": "quincey morris"}),
        ({"ship": "texan", "texan": "ship", "morris": "ship"}, {"mr morris": "quincey morris"}),  # a circle by hand
    ]
    for overrides, expected in cases:
        assert {one.name: one.full for one in find_merges(names, ENGLISH, overrides)} == expected


def test_a_long_chain_of_merges_by_hand_is_followed_once() -> None:
    steps = Counted((f"n{number}", f"n{number + 1}") for number in range(2000))
    ends = dict[str, str]()
    assert {_find_end(name, steps, {}, ends) for name in steps} == {"n2000"}
    assert steps.read <= 4 * len(steps)


class Counted(dict[str, str]):
    """Counts how often it is read."""

    read = 0

    def __getitem__(self, key: str) -> str:
        self.read += 1
        return super().__getitem__(key)


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
    same = find_merges(name_counts(before), ENGLISH)
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
        spelled = {one.full: one.spelled for one in same if one.spelled}
        for key in new.counts:
            if key in spelled:
                assert new.forms[key] == {spelled[key]: new.counts[key]}, "no text has it without a title"
                continue
            own = old.forms.get(key, {key: old.counts[key]} if key in old.counts else {})
            assert new.forms.get(key, {key: new.counts[key]}) == own


def test_the_order_of_names_in_a_document_decides_nothing_but_who_came_first() -> None:
    names = [*NAMES, *NAMES]
    outcomes = set()
    for seed in range(20):
        random.Random(seed).shuffle(names)
        outcomes.add(str(sorted(found(", ".join(names)).items())))
    assert len(outcomes) == 1


def extraction(text: str, *sentences: str, nouns: tuple[str, ...] = ()) -> Extraction:
    """What is found in a text, sentence by sentence: "Hugo Thorne, thorne", of which `nouns` are common nouns."""
    bounds = [(one.start(), one.end()) for one in re.finditer(r"[^.]+\.", text)]
    names = [[form.strip() for form in one.split(",") if form.strip()] for one in sentences]
    counts = Counter(entity_key(form) for forms in names for form in forms)
    spelled: dict[str, Counter[str]] = {}
    for form in (form for forms in names for form in forms):
        spelled.setdefault(entity_key(form), Counter())[form] += 1
    types = {key: Counter({"noun" if key in nouns else "person": count}) for key, count in counts.items()}
    return Extraction(
        tuple(
            Sentence(start, end, tuple(dict.fromkeys(map(entity_key, forms))))
            for (start, end), forms in zip(bounds, names, strict=True)
        ),
        dict(counts),
        {key: dict(forms) for key, forms in spelled.items() if set(forms) != {key}},
        {key: count for key, count in counts.items() if key not in nouns},
        {key: dict(one) for key, one in types.items()},
    )


SURE = extraction("Hugo Thorne came. Hugo Thorne sat. He saw Hugo Thorne.", *["Hugo Thorne"] * 3)


@pytest.mark.parametrize(
    ("text", "read", "nouns", "expected"),
    [
        ("Did Greta and Hugo Thorne go.", "Greta, Hugo", (), {"greta": 1, "hugo thorne": 1}),
        ("Then Hugo\nThorne went.", "", (), {"hugo thorne": 1}),
        ("He saw Thorne.", "thorne", ("thorne",), {"thorne": 1}),
        ("He saw Mr Thorne.", "", (), {"thorne": 1}),
        ("Hugo saw Hugo Thorne.", "Hugo, Hugo", (), {"hugo": 2, "hugo thorne": 1}),
        # Not the name, or it was found.
        ("He saw hugo thorne and a thorne.", "thorne", ("thorne",), {"thorne": 1}),
        ("He saw Thorne Street.", "Thorne Street", (), {"thorne street": 1}),
        ("He saw Quint Thorne.", "", (), {}),
        ("Thorne grows there.", "thorne", ("thorne",), {"thorne": 1}),
        ("He saw Hugo Thornes and Hugo-Thorne.", "", (), {}),
        ("Mr Hugo Thorne.", "", (), {"hugo thorne": 1}),
    ],
)
def test_a_name_that_other_chunks_have_is_found(
    text: str, read: str, nouns: tuple[str, ...], expected: dict[str, int]
) -> None:
    before = extraction(text, read, nouns=nouns)
    after = add_missed_names(text, before, collect_known_names(name_counts([SURE, SURE, before]), ENGLISH))
    assert after.counts == expected
    assert set().union(*(one.entities for one in after.sentences)) == expected.keys()
    assert all(sum(types.values()) == after.counts[key] for key, types in after.types.items())
    named = {"thorne": 1} if text in ("He saw Thorne.", "He saw Mr Thorne.") else {}
    assert {key: count for key, count in after.people.items() if key == "thorne"} == named
