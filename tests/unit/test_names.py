"""The one rule for names of corpora."""

from __future__ import annotations

import pytest

from e2g_neo4j.errors import InputError
from e2g_neo4j.types.ids import check_corpus_name


@pytest.mark.parametrize(
    "name", ["a", "_a-b_c", "2 b.1", "\u0928\u093e\u0935\u0932", "\u6d77 2.0", "\u00e4 b", "\u0627"]
)
def test_letters_of_any_script_are_allowed(name: str) -> None:
    check_corpus_name(name)


@pytest.mark.parametrize(
    ("name", "proposal"),
    [
        *(
            ("a/b c", "a-b c"),
            ("..", "novels"),
            ("--corpus", "corpus"),
            ("team-*", "team"),
            ("a+b", "a-b"),
            (" a", "a"),
        ),
        *((" a", "a"), ("a ", "a"), ("a\nb", "a-b"), ("a\x00b", "a-b"), ("a\u202eb", "a-b"), ("a\u200bb", "a-b")),
        *(("a\u034fb", "a-b"), ("a\ufe0fb", "a-b"), ("a\u3164b", "a-b"), ("a\u00a0b", "a-b")),
        *(("cafe\u0301", "caf\u00e9"), ("a:b@c#d", "a-b-c-d"), ("\U0001f600", "novels")),
    ],
)
def test_other_signs_are_refused_with_a_name_that_is_allowed(name: str, proposal: str) -> None:
    with pytest.raises(InputError, match="cannot be named") as told:
        check_corpus_name(name)
    assert str(told.value).endswith(f"for example {proposal!r}.")
    assert str(told.value).isprintable()
    check_corpus_name(proposal)


@pytest.mark.parametrize("name", ["", " ", "x" * 1001])
def test_empty_and_long_names_are_refused(name: str) -> None:
    with pytest.raises(InputError):
        check_corpus_name(name)
