"""Chunks are exact slices that cover the document, of bounded size, with the overlap asked for."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2g_neo4j import chunking
from e2g_neo4j.chunking import chunk
from e2g_neo4j.embedding import load_embedder
from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.model import Section, SourceDocument

BOOKS = Path(__file__).parents[3] / "shared" / "books"
WORDS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters=" \n"), min_size=1, max_size=12), min_size=1, max_size=120
).map(" ".join)


def document(text: str, *sections: Section) -> SourceDocument:
    return SourceDocument("doc", "c", "Title", "/source", text, "sha", sections)


def words(text: str) -> list[tuple[int, int]]:
    return [found.span() for found in re.finditer(r"\S+", text)]


def pieces(text: str) -> list[tuple[int, int]]:
    """Tokens of two characters, as word pieces are: several to a word."""
    return [found.span() for found in re.finditer(r"\S{1,2}", text)]


@cache
def real_spans():
    return load_embedder().token_spans


@pytest.mark.parametrize("spans", [words, pieces])
@given(text=WORDS, size=st.integers(2, 40), overlap=st.integers(0, 20))
def test_chunks_are_exact_slices_that_cover_every_token(spans, text, size, overlap):
    overlap = min(overlap, size // 2)
    chunks = chunk(document(text), spans, size=size, overlap=overlap)
    tokens = spans(text)
    covered = set()
    for number, one in enumerate(chunks):
        assert one.index == number
        assert one.text == text[one.start : one.end]
        assert one.tokens == sum(one.start <= start and end <= one.end for start, end in tokens) <= size
        covered |= {span for span in tokens if one.start <= span[0] and span[1] <= one.end}
    assert covered == set(tokens)
    assert len({one.id for one in chunks}) == len(chunks)
    for before, after in zip(chunks, chunks[1:], strict=False):
        assert before.start < after.start
        assert before.end < after.end


@given(count=st.integers(1, 300), size=st.integers(2, 60), overlap=st.integers(0, 59))
def test_neighbours_share_exactly_the_overlap_where_tokens_are_words(count, size, overlap):
    if overlap >= size:
        return
    text = " ".join(f"w{number}" for number in range(count))
    chunks = chunk(document(text), words, size=size, overlap=overlap)
    for before, after in zip(chunks, chunks[1:], strict=False):
        assert len(words(text[after.start : before.end])) == overlap
    assert len(chunks) == max(1, -(-(count - overlap) // (size - overlap)))


def test_a_window_begins_with_a_word():
    text = "alpha beta gamma delta epsilon zeta eta theta iota kappa"
    for one in chunk(document(text), pieces, size=7, overlap=3):
        assert one.start == 0 or text[one.start - 1] == " "


def test_a_single_endless_word_is_cut_all_the_same():
    chunks = chunk(document("x" * 500), pieces, size=20, overlap=5)
    assert [one.tokens for one in chunks[:3]] == [20, 20, 20]
    assert chunks[-1].end == 500


def test_repeated_text_gets_ids_of_its_own_and_a_change_elsewhere_leaves_ids_alone():
    lines = ["same words here", "other words there", "same words here"]
    first = chunk(document(" ".join(lines)), words, size=3, overlap=0)
    assert first[0].id != first[2].id
    assert first[2].id == first[0].id + "-2"
    changed = chunk(
        document(" ".join(["same words here", "brand new words", "same words here"])), words, size=3, overlap=0
    )
    assert [a.id == b.id for a, b in zip(first, changed, strict=True)] == [True, False, True]


def test_pages_and_headings():
    text = "one two three four five six"
    sections = (Section("page", "1", 0), Section("page", "2", 8), Section("heading", "Intro", 4))
    first, second = chunk(document(text, *sections), words, size=3, overlap=0)
    assert (first.page, first.heading) == ("1-2", "Intro")
    assert (second.page, second.heading) == ("2", "Intro")


def test_a_text_longer_than_a_block_has_the_tokens_of_the_whole(monkeypatch):
    monkeypatch.setattr(chunking, "BLOCK", 50)
    text = " ".join(f"word{number}" for number in range(400))
    assert chunking._spans(text, words) == words(text)


def test_an_overlap_as_large_as_the_chunk_is_refused():
    with pytest.raises(ConfigurationError, match="E2G_CHUNK_OVERLAP"):
        chunk(document("a b c"), words, size=10, overlap=10)


@given(text=st.text(st.characters(codec="utf-8"), min_size=1, max_size=300))
def test_any_text_with_the_real_tokenizer(text):
    for one in chunk(document(text), real_spans(), size=16, overlap=4):
        assert one.text == text[one.start : one.end]
        assert one.tokens <= 16


@pytest.mark.needs_data
@pytest.mark.skipif(not BOOKS.is_dir(), reason="the novels are not beside this checkout")
def test_a_whole_novel():
    text = (BOOKS / "345_dracula.txt").read_text(encoding="utf-8")
    chunks = chunk(document(text), real_spans())
    assert all(one.text == text[one.start : one.end] for one in chunks)
    assert all(one.tokens <= 1200 for one in chunks)
    assert chunks[0].text.startswith(text.lstrip()[:20])
    assert chunks[-1].text.endswith(text.rstrip()[-20:])
    shared = [len(real_spans()(text[b.start : a.end])) for a, b in zip(chunks, chunks[1:], strict=False)]
    assert all(95 <= number <= 110 for number in shared)
