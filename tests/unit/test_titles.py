"""Titles in texts: whatever they are, their keys are safe to look for, and short."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2g_neo4j.indexing import references
from e2g_neo4j.indexing.references import Titles
from e2g_neo4j.models.titles import (
    LONGEST,
    MOST_CHARACTERS,
    document_key,
    find_titles,
    possible_titles,
    title_key,
)
from e2g_neo4j.models.words import tokens

PIECES = (
    "Fog", "the", "of", " ", "(", ")", '"', "\\", "_", "__", "'s", "1", "1,000", "AND", "*", "🦆", "夜", "\u0301",
    "\u202e", "\x00", "İ", "x" * 254,
)  # fmt: skip
TITLES = st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text(max_size=40)


@given(TITLES)
def test_a_key_is_words_that_a_query_can_quote(title: str) -> None:
    key = title_key(title)
    assert not set(key) & set('"\\\n\x00()*')
    assert len(key) <= MOST_CHARACTERS + LONGEST
    assert key.count(" ") < LONGEST
    assert not key or any(character.isalnum() for character in key)
    assert document_key(f"wiki:{title}") is not None


@given(TITLES, TITLES, TITLES)
def test_a_text_mentions_the_titles_that_are_in_it(before: str, title: str, after: str) -> None:
    key = title_key(title)
    text = f"{before}. {title}. {after}"
    longest = {key.split(" ")[0]: key.count(" ") + 1}
    found = list(find_titles(text, list(tokens(text)), {key} - {""}, longest))
    assert all(title_key(text[start:end]) == one == key for start, end, one in found if one.count(" "))
    assert all(0 <= start < end <= len(text) for start, end, _ in found)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("We took the Fog, and the fog lifted.", ["Fog"]),
        ("The Fog Lamp burned.", ["Fog Lamp"]),
        ("the fog lamp burned.", ["fog lamp"]),
        ("Fog Harbour is a town.", []),
        ("Fog (a film) was shown.", ["Fog"]),
    ],
)
def test_a_title_is_the_longest_and_a_word_alone_needs_a_capital(text: str, named: list[str]) -> None:
    keys = {title_key("Fog"), title_key("Fog Lamp"), title_key("Lamp")}
    found = find_titles(text, list(tokens(text)), keys, {"fog": 2, "lamp": 1})
    assert [text[start:end] for start, end, _ in found] == named


@given(TITLES)
def test_a_question_names_a_bounded_number_of_titles(question: str) -> None:
    assert len(possible_titles(question * 50)) <= 600


def test_what_says_nothing_is_no_key() -> None:
    for title in ("The", "And", "__", "_ _", "1,000", "...", "🦆", "\u0301", "a", "", "fog " * 21, "x" * 5000):
        assert title_key(title) == "" or title == "x" * 5000, title


def test_brackets_at_the_end_and_places_in_documents_do_not_count() -> None:
    assert title_key("Night Train (1999 film)") == "night train"
    assert document_key("https://example.org/fog#causes") == "https://example.org/fog"
    assert document_key("wiki:Fog (weather)#Causes") == "wiki:fog"


def referred_to(text: str, bearers: dict[str, list[str]]) -> list[dict[str, Any]]:
    """What a chunk of four windows refers to, the first half of which are links to three documents."""
    titles = Titles("c", {key: ids[: references.MOST_BEARERS + 1] for key, ids in bearers.items() if ids})
    for key in titles.documents:
        first = key.split(" ")[0]
        titles.longest[first] = max(key.count(" ") + 1, titles.longest.get(first, 0))
    size = len(text) // 4 + 1
    links = [[at, at + 2, f"d{at % 3}"] for at in range(0, len(text) // 2, 5)]
    windows = [[at, at + size] for at in range(0, len(text), size)]
    row = {"document": "me", "title_key": "own fog", "text": text, "start": 0, "windows": windows, "links": links}
    there = {id for ids in bearers.values() for id in ids}
    sources: dict[str, list[str]] = {id: [id] for id in ("d0", "d1", "d2") if id in there}
    return references._references(row, list(tokens(text)), titles, sources)[0]


@given(
    st.lists(st.sampled_from(("fog lamp", "fog", "fog lamp horn", "own fog", "lamp horn", "Horn.")), max_size=12),
    st.dictionaries(
        st.sampled_from(("fog lamp", "fog lamp horn", "own fog", "lamp horn", "horn", "fog fog")),
        st.sets(st.sampled_from([f"d{number}" for number in range(9)])).map(sorted),
    ),
)
def test_a_document_that_is_not_referred_to_may_go(words: list[str], bearers: dict[str, list[str]]) -> None:
    """Nothing tells the chunk of it, so that nothing may change."""
    text = " ".join(words)
    bearers = {**bearers, "own fog": [*bearers.get("own fog", ()), "me"]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(references, "MOST_BEARERS", 2)
        patch.setattr(references, "MOST_REFERENCES", 3)
        before = referred_to(text, bearers)
        assert len(before) <= 3
        others = {id for ids in bearers.values() for id in ids} - {"me", *(one["document"] for one in before)}
        for gone in others:
            assert (
                referred_to(text, {key: [one for one in ids if one != gone] for key, ids in bearers.items()}) == before
            )
