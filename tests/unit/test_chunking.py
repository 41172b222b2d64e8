"""Chunks are exact slices that cover the document, of bounded size and overlap; a change leaves others alone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tiers import at_length
from tokenizers import Tokenizer

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.indexing import chunking
from e2g_neo4j.indexing.chunking import BLOCK, LONGEST_TOKEN, chunk
from e2g_neo4j.models.embedding.base import DEFAULT, spans_of
from e2g_neo4j.models.embedding.weights import PUBLISHED
from e2g_neo4j.types.documents import Chunk, Section, SourceDocument
from e2g_neo4j.types.sections import around, heading_of, page_of

BOOKS = Path(__file__).parents[3] / "shared" / "books"
Spans = list[tuple[int, int]]


def place_of(one: Chunk) -> tuple[str | None, str | None]:
    return page_of(one.sections, one.start, one.end), heading_of(one.sections, one.start, one.end)


def document(text: str, *sections: Section) -> SourceDocument:
    return SourceDocument("doc", "c", "Title", "/source", text, "sha", sections)


# --- tokenizers of the shapes that there are ---------------------------------------------------------


def words(text: str) -> Spans:
    return [found.span() for found in re.finditer(r"\S+", text)]


def pieces(text: str) -> Spans:
    """Two characters each, as word pieces are: several to a word."""
    return [found.span() for found in re.finditer(r"\S{1,2}", text)]


def spaced(text: str) -> Spans:
    """White space belongs to the token after it, or is one of its own."""
    return [found.span() for found in re.finditer(r"\s?\S{1,3}|\s", text)]


def octets(text: str) -> Spans:
    """Bytes: a character of three has three tokens with the same span."""
    return [(i, i + 1) for i, sign in enumerate(text) for _ in sign.encode()]


def unaccented(text: str) -> Spans:
    """Drops combining marks and control characters, as uncased BERT does."""
    kept = [(i, i + 1) for i, sign in enumerate(text) if unicodedata.category(sign) not in ("Mn", "Cc", "Cf")]
    return [span for span in kept if not text[span[0]].isspace()]


@cache
def of_the_default_model() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(PUBLISHED[DEFAULT].tokenizer))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def real(text: str) -> Spans:
    return spans_of(of_the_default_model(), text)


TOKENIZERS = [words, pieces, spaced, octets, unaccented, real]
ODD = [
    "e\u0301",
    "👩\u200d👩\u200d👧",
    "🇫🇷🇩🇪",
    "\r\n",
    "\n\n\n",
    "\u3000",
    "漢字",
    "ﬁ",
    "\u200b",
    "\x1b",
    "Z\u0335\u0336\u0337",
    "한국",
]
TEXTS = st.lists(
    st.one_of(
        st.sampled_from(ODD),
        st.sampled_from(["the", "unbelievableness", "don't", "--", "E²GraphRAG,", "of"]),
        st.text(st.characters(codec="utf-8"), max_size=6),
    ).flatmap(lambda part: st.sampled_from([part, part + " ", part + "\n"])),
    max_size=120,
).map("".join)
SIZES = st.tuples(st.integers(1, 40), st.integers(0, 39)).filter(lambda pair: pair[1] < pair[0])


def check(text: str, chunks: list[Chunk], size: int) -> None:
    """What holds whatever the tokenizer."""
    assert [one.index for one in chunks] == list(range(len(chunks)))
    assert len({one.id for one in chunks}) == len(chunks)
    uncovered = set(range(len(text)))
    for one in chunks:
        assert one.text == text[one.start : one.end] == one.text.strip() != ""
        assert one.tokens <= size
        uncovered -= set(range(one.start, one.end))
    assert not "".join(text[i] for i in uncovered).strip()
    for before, after in pairwise(chunks):
        assert before.start <= after.start
        assert before.end < after.end


@pytest.mark.parametrize("tokens", TOKENIZERS)
@given(text=TEXTS, sizes=SIZES)
@example(text="", sizes=(8, 2))
@example(text=" \r\n ", sizes=(8, 2))
@example(text="\u200b\u200b", sizes=(8, 2))
@example(text="cafe\u0301 re\u0301", sizes=(40, 0))
def test_chunks_are_exact_slices_that_cover_the_text(
    tokens: Callable[[str], Spans], text: str, sizes: tuple[int, int]
) -> None:
    size, overlap = sizes
    chunks = chunk(document(text), tokens, size=size, overlap=overlap)
    check(text, chunks, size)
    if len(tokens(text)) <= size:
        assert len(chunks) == bool(text.strip())


@pytest.mark.parametrize("tokens", [words, pieces, unaccented, real])
@example(text="\u00b8\x0c0", sizes=(1, 0))  # the real tokenizer begins a token at white space
@given(text=TEXTS, sizes=SIZES)
def test_neighbours_share_at_most_the_overlap(
    tokens: Callable[[str], Spans], text: str, sizes: tuple[int, int]
) -> None:
    size, overlap = sizes
    starts = np.array([last - len(text[first:last].lstrip()) for first, last in tokens(text)], dtype=np.int64)
    assume(len(set(starts.tolist())) == len(starts))  # a syllable of several tokens has one place to cut at
    chunks = chunk(document(text), tokens, size=size, overlap=overlap)

    def count(start: int, end: int) -> int:
        return int(((starts >= start) & (starts < end)).sum())

    for number, one in enumerate(chunks):
        assert count(0 if number == 0 else one.start, one.end) == one.tokens
    for before, after in pairwise(chunks):
        assert min(overlap // 2, before.tokens) <= count(after.start, before.end) <= overlap


@example(number=84, sizes=(18, 0))
@given(number=st.integers(0, 299), sizes=SIZES)
def test_windows_are_about_full_where_tokens_are_words(number: int, sizes: tuple[int, int]) -> None:
    """All but three or four have their share; these have at least half of it. Two of them may be one that is not
    too long."""
    size, overlap = sizes
    room = size - overlap
    most = (4 * room * chunking.PART - 1) // 6  # one part
    count = 1 + number % most
    text = " ".join(f"w{number}" for number in range(count))
    chunks = chunk(document(text), words, size=size, overlap=overlap)
    share = room - 2 * max(room // 60, min(2, room // 8))
    shares = -(-count // share)
    assert len(chunks) in ({1} if count <= size else {shares - 1, shares})
    assert all(one.tokens <= size for one in chunks)
    # A cut is at most two tokens from its goal in windows of this size.
    assert all(one.tokens >= min(count, share // 2 - 4) for one in chunks)


@given(st.lists(st.text("abcdefgh'é-", min_size=1, max_size=8), min_size=1, max_size=200))
def test_windows_begin_and_end_between_words(parts: list[str]) -> None:
    """A word has at most four pieces here and the slack is a quarter of fifty-two, so that there is always a place."""
    text = " ".join(parts)
    whole = set(words(text))
    for one in chunk(document(text), pieces, size=60, overlap=8):
        borders = words(one.text)
        assert {(one.start + first, one.start + last) for first, last in borders} <= whole


@pytest.mark.parametrize("grapheme", ["e\u0301", "👩\u200d👩\u200d👧", "👍🏽", "नि", "각"])
def test_no_grapheme_is_torn_apart_in_an_endless_word(grapheme: str) -> None:
    text = unicodedata.normalize("NFD", grapheme) * 300
    width = len(text) // 300
    chunks = chunk(document(text), octets, size=400, overlap=72)
    assert len(chunks) > 2
    assert all(one.start % width == 0 and one.end % width == 0 for one in chunks)
    check(text, chunks, 400)


def test_an_endless_word_that_is_one_unknown_token_is_cut_all_the_same() -> None:
    text = "x" * (3 * BLOCK)
    chunks = chunk(document(text), words, size=20, overlap=5)
    assert max(len(one.text) for one in chunks) <= 20 * LONGEST_TOKEN
    check(text, chunks, 20)


def test_repeated_text_gets_ids_of_its_own_and_a_change_elsewhere_leaves_ids_alone() -> None:
    first = chunk(document("same words here other words there same words here"), words, size=3, overlap=0)
    assert first[0].id.startswith("doc-")
    assert re.fullmatch(r"doc-[0-9a-f]{12}", first[0].id)
    assert first[2].id == first[0].id + "-2"
    changed = chunk(document("same words here brand new words same words here"), words, size=3, overlap=0)
    assert [a.id == b.id for a, b in zip(first, changed, strict=True)] == [True, False, True]


# --- a change in one place ---------------------------------------------------------------------------


def rambling(count: int, seed: int = 1) -> str:
    """So many words, in sentences and paragraphs."""
    random = np.random.default_rng(seed)
    ends = random.choice([" ", ". ", ".\n\n"], count, p=[0.93, 0.06, 0.01])
    return "".join(f"word{number}{end}" for number, end in zip(random.integers(0, 5000, count), ends, strict=True))


PROSE = st.builds(rambling, st.integers(900, 2500), st.integers(0, 2**32 - 1))


def places(chunks: list[Chunk], shift: int = 0) -> set[tuple[int, int, str]]:
    return {(one.start + shift, one.end + shift, one.text) for one in chunks}


@given(text=PROSE, where=st.floats(0, 1), length=st.integers(0, 300), new=st.text("abc .\n", max_size=300))
def test_a_change_reaches_no_further_than_the_parts_around_it(text: str, where: float, length: int, new: str) -> None:
    size, overlap = 12, 3
    reach = 4 * (size - overlap) * chunking.PART
    start = int(where * len(text))
    end = min(start + length, len(text))
    changed = text[:start] + new + text[end:]
    longest = max(b - a for one in (text, changed) for a, b in chunking._parts(one, reach))
    bound = reach + 2 * longest + 64
    old = chunk(document(text), words, size=size, overlap=overlap)
    new_chunks = chunk(document(changed), words, size=size, overlap=overlap)
    check(changed, new_chunks, size)
    far_before = [one for one in old if one.end < start - bound]
    far_after = [one for one in old if one.start > end + bound]
    assert places(far_before) <= places(new_chunks)
    assert places(far_after, len(changed) - len(text)) <= places(new_chunks)
    assert places(chunk(document(changed), words, size=size, overlap=overlap)) == places(new_chunks)


def test_one_word_more_changes_two_chunks_on_average() -> None:
    text = rambling(30_000)
    old = {one.id for one in chunk(document(text), words, size=200, overlap=20)}
    changed = []
    for place in np.linspace(0, len(text) - 1, 20, dtype=int):
        at = text.find(" ", place)
        new = chunk(document(f"{text[:at]} more{text[at:]}"), words, size=200, overlap=20)
        changed.append(len({one.id for one in new} - old))
    assert min(changed) == 1
    assert np.mean(changed) <= 3
    assert max(changed) <= 12
    assert len(old) > 150


def test_a_page_more_changes_less_than_a_part() -> None:
    text = rambling(60_000)
    old = {one.id for one in chunk(document(text), words, size=200, overlap=20)}
    changed = []
    for place in np.linspace(0, len(text) - 1, 10, dtype=int):
        at = text.find(" ", place)
        new = chunk(document(text[:at] + " " + rambling(400, 2) + text[at:]), words, size=200, overlap=20)
        changed.append(len({one.id for one in new} - old))
    assert np.mean(changed) <= 2 * chunking.PART
    assert len(old) > 300


def test_parts_are_no_shorter_than_their_reach_and_begin_where_a_paragraph_does() -> None:
    text = rambling(60_000)
    parts = list(chunking._parts(text, 5000))
    assert [parts[0][0], *(end for _, end in parts)] == [*(start for start, _ in parts), len(text)]
    assert len(parts) > 15
    assert all(end - start > 5000 for start, end in parts)
    assert all(text[start - 2 : start] == "\n\n" for start, _ in parts[1:])


@given(text=st.text("ab.\n ", max_size=300), reach=st.integers(1, 40))
def test_anchors_are_the_best_borders_around(text: str, reach: int) -> None:
    """Against the definition: better than all to the left, as good as all to the right."""
    borders = dict(chunking._borders(text, 0, len(text)))
    expected = [
        place
        for place, rank in borders.items()
        if reach < place < len(text) - reach
        and all(rank < other for at, other in borders.items() if place - reach <= at < place)
        and all(rank <= other for at, other in borders.items() if place < at <= place + reach)
    ]
    assert [start for start, _ in chunking._parts(text, reach)][1:] == expected


# --- pages and headings ------------------------------------------------------------------------------


def test_pages_and_headings() -> None:
    text = "one two three four five six"
    sections = (Section("page", "1", 0), Section("heading", "Intro", 4), Section("page", "2", 8))
    first, second = chunk(document(text, *sections), words, size=3, overlap=0)
    assert place_of(first) == ("1–2", "Intro")
    assert place_of(second) == ("2", "Intro")


def test_a_heading_after_the_chunk_is_not_its_own() -> None:
    text = "one two three four five six"
    first, second = chunk(document(text, Section("heading", "Late", 14)), words, size=3, overlap=0)
    assert place_of(first) == (None, None)
    assert place_of(second) == (None, "Late")


@pytest.mark.parametrize(
    ("start", "end", "heading"),
    [
        (0, 3, None),
        (0, 8, None),  # as much stands under One: the first of equals
        (0, 9, "One"),
        (4, 10, "One"),
        (8, 13, "Two"),  # begins with the last words under One
        (8, 20, "Two"),
        (11, 30, "Three"),
        (19, 21, "Two"),
        (25, 30, "Three"),
    ],
)
def test_a_text_has_the_heading_that_most_of_it_stands_under(start: int, end: int, heading: str | None) -> None:
    sections = (Section("heading", "One", 4), Section("heading", "Two", 10), Section("heading", "Three", 20))
    among = (*sections, Section("page", "1", 0), Section("page", "2", 15))
    assert heading_of(among, start, end) == heading
    assert heading_of(around(sections, start, end), start, end) == heading, "a chunk needs no other sections"


def test_of_equal_headings_in_several_places_all_text_counts() -> None:
    sections = (Section("heading", "Notes", 0), Section("heading", "A", 4), Section("heading", "Notes", 10))
    assert heading_of(sections, 0, 14) == "Notes"


def test_pages_are_those_of_the_first_and_the_last_character() -> None:
    pages = (Section("page", "1", 5), Section("page", "2", 10), Section("page", "3", 15))
    spans = [(0, 5), (0, 6), (5, 10), (5, 11), (9, 16), (15, 99)]
    assert [page_of(pages, *span) for span in spans] == [None, "1", "1", "1–2", "1–3", "3"]


class Counted:
    """A section that counts how often its place is asked for."""

    asked = 0

    def __init__(self, kind: str, label: str, start: int) -> None:
        self.kind, self.label, self._start = kind, label, start

    @property
    def start(self) -> int:
        Counted.asked += 1
        return self._start


def test_many_headings_cost_a_chunk_no_more_than_a_search_among_them() -> None:
    """5,000 headings and pages in 10 MB: two searches a chunk for each, every one of 13 steps at most."""
    count = at_length(5000, 500)
    part = "# Heading\n\n" + "some words of the text " * 90
    starts = [number * len(part) for number in range(count)]
    sections = [Counted(kind, f"{kind} {at}", at) for at in starts for kind in ("heading", "page")]
    read = 0

    def counting(text: str) -> Spans:
        nonlocal read
        read += len(text)
        return words(text)

    text = part * count
    Counted.asked = 0
    chunks = chunk(document(text, *sections), counting, size=300, overlap=30)  # type: ignore[arg-type]
    assert len(text) > 2000 * count
    assert len(chunks) > 1.6 * count
    assert read == len(text)
    assert Counted.asked <= len(chunks) * (4 * 14 + 1)


@given(text=st.text("ab \n\t", max_size=400), block=st.integers(1, 60))
def test_blocks_are_the_text(text: str, block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunking, "BLOCK", block)
        blocks = list(chunking._blocks(text, 0, len(text)))
    assert "".join(text[start:end] for start, end in blocks) == text
    assert all(0 < end - start <= block for start, end in blocks)


def test_a_text_of_many_blocks_has_the_tokens_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunking, "BLOCK", 50)
    text = " ".join(f"word{number}" for number in range(400))
    assert chunking._token_starts(text, 0, len(text), words).tolist() == [start for start, _ in words(text)]


@pytest.mark.parametrize(("size", "overlap"), [(10, 10), (10, 11), (10, -1), (0, 0)])
def test_an_overlap_that_does_not_fit_is_refused(size: int, overlap: int) -> None:
    with pytest.raises(ConfigurationError, match="E2G_CHUNK_OVERLAP"):
        chunk(document("a b c"), words, size=size, overlap=overlap)


@pytest.mark.needs_data
@pytest.mark.skipif(not BOOKS.is_dir(), reason="the novels are not beside this checkout")
@pytest.mark.parametrize("book", ["345_dracula", "145_middlemarch", "1342_pride_and_prejudice"])
def test_a_whole_novel(book: str) -> None:
    text = (BOOKS / f"{book}.txt").read_text(encoding="utf-8")
    chunks = chunk(document(text), real)
    assert len(chunks) > 140
    check(text, chunks, 1200)
    assert np.mean([one.tokens for one in chunks]) > 0.93 * 1200
    assert all(one.tokens > 600 for one in chunks[:-1])
    # Cut between words, a slice has the same tokens by itself.
    assert [len(real(one.text)) for one in chunks] == [one.tokens for one in chunks]
    assert all(80 < len(real(text[after.start : before.end])) <= 100 for before, after in pairwise(chunks))
