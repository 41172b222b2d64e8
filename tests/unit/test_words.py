"""The terms of a text: by hand, as Lucene's analyzer `english` gives them. tests/integration/test_terms.py compares
with the index itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2g_neo4j.models.porter import stem
from e2g_neo4j.models.words import LONGEST_TERM, count_terms, divide_words, terms

# Of Porter's paper, the examples of each step, carried on to the last.
STEMS = {
    "caresses": "caress",
    "ponies": "poni",
    "cats": "cat",
    "feed": "feed",
    "agreed": "agre",
    "plastered": "plaster",
    "bled": "bled",
    "motoring": "motor",
    "sing": "sing",
    "conflated": "conflat",
    "troubled": "troubl",
    "sized": "size",
    "hopping": "hop",
    "falling": "fall",
    "hissing": "hiss",
    "failing": "fail",
    "filing": "file",
    "happy": "happi",
    "sky": "sky",
    "relational": "relat",
    "rational": "ration",
    "digitizer": "digit",
    "possibly": "possibl",
    "archaeology": "archaeolog",
    "hopefulness": "hope",
    "electrical": "electr",
    "goodness": "good",
    "revival": "reviv",
    "replacement": "replac",
    "adoption": "adopt",
    "communion": "communion",
    "probate": "probat",
    "rate": "rate",
    "cease": "ceas",
    "controll": "control",
    "roll": "roll",
    "us": "us",
    "1990s": "1990",
}


@pytest.mark.parametrize(("word", "expected"), STEMS.items())
def test_a_word_is_reduced_to_its_stem(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The ship's captain was not in the ships.", ["ship", "captain", "ship"]),
        ("Mary’s and O'Neill's, don't", ["mari", "o'neil", "don't"]),
        ("U.S.A. 3.5 1,234.50 3:30 co-operate", ["u.s.a", "3.5", "1,234.50", "3", "30", "co", "oper"]),
        ("_emphasis_ ___ a_b", ["_emphasis_", "a_b"]),
        ("İstanbul ΣΟΦΟΣ", ["istanbul", "σοφοσ"]),
        ("漢字 ひら カタカナ", ["漢", "字", "ひ", "ら", "カタカナ"]),
        ("soft\u00adhyphen cafe\u0301", ["soft\u00adhyphen", "cafe\u0301"]),
        ("the of and", []),
        ("?! — “”", []),
    ],
)
def test_a_text_has_the_terms_of_the_index(text: str, expected: list[str]) -> None:
    assert list(terms(text)) == expected


@given(st.text())
def test_any_text_has_terms_that_the_database_can_hold(text: str) -> None:
    found = list(terms(text))
    assert all(0 < len(term) <= LONGEST_TERM for term in found)
    assert found == list(terms(f" {text} "))


def test_an_endless_word_is_cut() -> None:
    assert [len(term) for term in terms("x" * 600)] == [255, 255, 90]


def test_a_text_counts_once_for_a_term() -> None:
    assert count_terms(["Ships, a ship", "ship and sail", ""]) == {"sail": 1, "ship": 2}
    assert list(count_terms(["b a c"])) == ["b", "c"], "sorted, without the stop word"


@pytest.mark.parametrize(
    ("text", "divided"),
    [
        ("Ships sail.", None),
        ("小さな船", None),
        ("ประเทศไทย", " ประ ระเ ะเท เทศ ทศไ ศไท ไทย "),
        ("ที่นี่ 50 ไป", " ที่นี่  50  ไป "),
        ("Mu\u0308ller", "Müller"),
    ],
)
def test_scripts_without_spaces_are_divided_and_letters_composed(text: str, divided: str | None) -> None:
    assert divide_words(text) == divided


def test_a_long_run_is_divided_in_proportion_to_its_length() -> None:
    assert len((divide_words("กา" * 50_000) or "").split()) == 2 * 50_000 - 2
