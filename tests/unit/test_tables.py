"""Tables: a line a row, no row divided by chunks or windows, and a citation that names the table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2g_neo4j.documents.builder import Builder
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.indexing.chunking import chunk
from e2g_neo4j.models.embedding.windows import windows
from e2g_neo4j.types.documents import Section, SourceDocument
from e2g_neo4j.types.sections import ROW, name_of, row_start

Spans = list[tuple[int, int]]


def words(text: str) -> Spans:
    return [found.span() for found in re.finditer(r"\w+|[^\w\s]", text)]


@dataclass(frozen=True)
class Model:
    """The tokenizer of `words`, and the tokens of a window."""

    window_tokens: int

    def token_spans(self, text: str) -> Spans:
        return words(text)


def text_of(tables: list[tuple[int, int]]) -> str:
    """Paragraphs with a table of so many rows and columns after each."""
    parts = []
    for number, (rows, columns) in enumerate(tables):
        parts.append(f"Part {number} of the annual report of the lighthouse says what was bought. " * 3)
        parts.append(
            "\n".join(f"{ROW}{' | '.join(f'{row},{column}00' for column in range(columns))} |" for row in range(rows))
        )
    return "\n\n".join(part for part in parts if part)


TABLES = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 6)), min_size=1, max_size=6)


def divided(text: str, places: list[int]) -> list[str]:
    """The rows that a place is inside of."""
    return [text[max(0, place - 20) : place + 20] for place in places if row_start(text, place) != place]


@given(tables=TABLES, size=st.integers(250, 1200), overlap=st.integers(0, 100))
def test_no_chunk_begins_or_ends_inside_a_row(tables: list[tuple[int, int]], size: int, overlap: int) -> None:
    text = text_of(tables)
    document = SourceDocument("doc", "c", "Title", "/source", text, "sha")
    chunks = chunk(document, words, size=size, overlap=overlap)
    assert divided(text, [one.start for one in chunks]) == []
    assert all(one.end == len(text) or text[one.end] == "\n" or row_start(text, one.end) == one.end for one in chunks)


@given(tables=TABLES, limit=st.integers(100, 256))
def test_no_window_begins_inside_a_row(tables: list[tuple[int, int]], limit: int) -> None:
    text = text_of(tables)
    assert divided(text, [start for start, _ in windows(Model(limit), text)]) == []


def test_a_row_longer_than_a_window_is_divided_all_the_same() -> None:
    text = f"{ROW}{' | '.join(map(str, range(500)))} |"
    cut = windows(Model(100), text)
    assert len(cut) > 9
    assert all(len(words(text[start:end])) <= 100 for start, end in cut)


@pytest.mark.parametrize(("place", "start"), [(0, 0), (1, 0), (5, 0), (10, 10), (11, 11), (14, 11), (18, 18)])
def test_where_the_row_of_a_place_starts(place: int, start: int) -> None:
    text = "| a | b |\n\n| c d |x"
    assert row_start(text, place) == (start if place < 18 else 11)


SECTIONS = (Section("heading", "Oil", 0), Section("table", "table 1", 10), Section("table", "Lamps by tower", 60))


@pytest.mark.parametrize(
    ("text", "start", "name"),
    [
        ("Much was bought.", 0, "Oil"),
        ("| a | b |\n| c | d |", 10, "Oil, table 1"),
        ("| e | f |\n| g | h |", 60, "Lamps by tower"),
        ("A long paragraph before the table.\n\n| e |", 30, "Oil"),
    ],
)
def test_a_text_that_is_mostly_rows_is_called_after_its_table(text: str, start: int, name: str) -> None:
    assert name_of(SECTIONS, text, start) == name


def test_cells_hold_no_bars_and_rows_no_empty_end() -> None:
    builder = Builder(Path("a.txt"), Limits(1000))
    builder.table([["Lamp", "a|b", ""], ["one\ntwo", "", "3"]], "Lamps")
    builder.table([["", ""]])
    reading = builder.build()
    assert reading.text == "Lamps\n| Lamp | a¦b |\n| one two |  | 3 |"
    assert [(one.label, one.start) for one in reading.sections] == [("Lamps", 0)]
