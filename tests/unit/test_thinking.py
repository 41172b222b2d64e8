"""Reasoning before a reply is not shown, however the text is cut into pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2g_neo4j.answering.citations import CitationFilter, ShownAnswer
from e2g_neo4j.models.chat.thinking import ThoughtFilter, without_thought


def shown(said: str, size: int, into: ThoughtFilter | ShownAnswer) -> str:
    return "".join(into.add(said[at : at + size]) for at in range(0, len(said), size)) + into.end()


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Luke.", "Luke."),
        (" Luke.", " Luke."),
        ("<think>Hm.</think>\n\nLuke. ", "Luke. "),
        (" \n<thinking>Hm </think Hm</thinking>Luke.", "Luke."),
        ("<think></think>", ""),
        ("<think>Hm.</thinki", ""),
        ("<thin", "<thin"),
        ("<thinker> Luke", "<thinker> Luke"),
        ("Luke <think>Hm</think>.", "Luke <think>Hm</think>."),
        ("<think>a</think><think>b</think>", "<think>b</think>"),
        ("", ""),
        ("<thought>Hm.</thought>Luke.", "Luke."),
        ("<reasoning>\nHm.\n</reasoning>\nLuke.", "Luke."),
        ("<seed:think>Hm.</seed:think>Luke.", "Luke."),
        ("[THINK]Hm.[/THINK]Luke [1].", "Luke [1]."),
        (
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Luke.<|return|>",
            "Luke.",
        ),
        ("<|channel|>final<|message|>Luke.", "Luke."),
        ("<|channel|>analysis<|message|>Hm. Luke.<|end|>", ""),
        ("analysisThe user asks. Hm.assistantfinalLuke.", "Luke."),
        ("analysis of Luke", "analysis of Luke"),
        ("Models write `</think>` then.", "Models write `</think>` then."),
        ("Is a < b? [/x] Yes <b>.", "Is a < b? [/x] Yes <b>."),
    ],
)
def test_reasoning_is_removed_from_the_beginning(said: str, left: str) -> None:
    assert without_thought(said) == left
    for size in range(1, 12):
        assert shown(said, size, ThoughtFilter()) == left


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Hm, Luke?\n</think>\n\nLuke.", "Luke."),
        ("Hm.</think>", ""),
        ("Hm.</reasoning>Luke.", "Luke."),
        ("Hm.<|end|><|start|>assistant<|channel|>final<|message|>Luke.<|return|>", "Luke."),
    ],
)
def test_reasoning_that_only_says_where_it_ends_is_no_part_of_an_answer(said: str, left: str) -> None:
    """A stream has shown some of it, but nothing of the tag."""
    assert without_thought(said) == left
    for size in range(1, 12):
        streamed = shown(said, size, ThoughtFilter())
        assert streamed.endswith(left)
        assert not {"k>", "|>", "g>L"} & {streamed[at : at + 2] for at in range(len(streamed))}


_PARTS = st.sampled_from(
    ["<think>", "</think>", "<thinking>", "</thinking>", "<thi", "nk>", " ", "\n", "a", "[1", ", 9]"]
)


@given(st.lists(_PARTS, max_size=12).map("".join), st.integers(1, 9))
def test_a_streamed_answer_is_the_whole_one(said: str, size: int) -> None:
    assert shown(said, size, ThoughtFilter()).endswith(without_thought(said))
    if "</think" in said and not said.lstrip().startswith(("<think>", "<thinking>")):
        return  # a stream has shown what is not known for reasoning before it ends
    citations = CitationFilter(2)
    assert shown(said, size, ShownAnswer(2)) == citations.add(without_thought(said)) + citations.end()


def test_a_reply_is_shown_as_soon_as_it_begins() -> None:
    thought = ThoughtFilter()
    assert [thought.add(piece) for piece in ("<thi", "nk>Hm.</", "think>", "\n", "Luke", " was")] == [
        *[""] * 4,
        "Luke",
        " was",
    ]
