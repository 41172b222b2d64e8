"""What is shown of a passage, without a database."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2g_neo4j.retrieval.excerpts import LENGTH, make_excerpt, term_weights

FILLER = "The rain fell on the roofs of Lantry all day, and nobody went out. " * 10


def shown(text: str, question: str = "Where was Quill?") -> str:
    return make_excerpt(text, term_weights(question, [text, FILLER])).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FILLER + "Dr. J. Quill met Ann. " + FILLER, "Dr. J. Quill met Ann."),
        (FILLER + "It was late.\n\n# Quill\n\n" + FILLER, "# Quill"),
        ("Whole and short. Quill.", "Whole and short. Quill."),
        ("no sentence at all", "no sentence at all"),
        ("only a part of one sentence. ", "only a part of one sentence."),
        (FILLER + "天亮了。Quill 在港口。" + FILLER, "Quill 在港口。"),
        (FILLER + "\n\n| name | place |\n| Quill | the harbour |\n| Ann | the hill |", "| Quill | the harbour |"),
        (FILLER + "\n\n```python\nquill = port()\n\nif quill:\n    sail()\n```\n\n" + FILLER, "if quill:\n    sail()"),
        (FILLER + "\n\n- rain\n- Quill, at\n  the harbour\n- Ann\n\n" + FILLER, "- Quill, at the harbour"),
    ],
)
def test_an_excerpt_has_the_sentence_that_answers(text: str, expected: str) -> None:
    assert expected in shown(text)


def test_what_is_left_out_is_told() -> None:
    assert shown(FILLER + "Here was Quill." + " And so on and on it rained there." * 20).count("…") == 2
    assert "…" not in shown("Whole and short. Quill.")


def test_a_sentence_that_is_too_long_is_cut_between_words_around_what_was_asked() -> None:
    found = shown(
        "It went on " + "and on and on " * 100 + "until Quill stopped it " + "and on and on " * 100 + "there."
    )
    assert "until Quill stopped" in found
    assert found.startswith(("… and", "… on"))
    assert found.endswith(("and …", "on …"))


@given(st.text(max_size=1500), st.text(max_size=60), st.integers(0, 1000))
def test_it_is_short_and_stands_where_it_says(text: str, question: str, start: int) -> None:
    found = make_excerpt(text, term_weights(question, [text]), start)
    assert len(found.text) <= LENGTH
    assert start <= found.start <= found.end <= start + len(text)
    parts = ["".join(part.split()) for part in found.text.split("…")]
    part_of = "".join(text[found.start - start : found.end - start].split())
    assert "…" in text or all(part in part_of for part in parts)


def test_a_short_sentence_is_shown_before_a_long_one_with_the_same_words() -> None:
    long = "The master of Lantry, " + "who had counted every boat of that year in his book, " * 10 + "saw Quill."
    found = shown(f"{long} {FILLER} Quill sailed. {FILLER}")
    assert "Quill sailed." in found
    assert "master of Lantry" not in found


def test_an_abbreviation_ends_no_sentence() -> None:
    assert "Mrs. Quill" in shown(f"{FILLER} It was said by Mrs. Quill of the mill. {FILLER}")
