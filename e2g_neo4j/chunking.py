"""Windows of a document, cut between words (E²GraphRAG, arXiv 2505.24226: 1200 tokens, overlap 100)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256

import numpy as np
import regex  # type: ignore[import-untyped]
from numpy.typing import NDArray

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.model import Chunk, Section, SourceDocument, Span, TokenSpans

BLOCK = 16_384
"""Characters that are tokenised at once."""

LONGEST_TOKEN = 256
"""Characters. Some tokenizers make one unknown token of a word of any length; such a one counts as several."""


def chunk(document: SourceDocument, token_spans: TokenSpans, *, size: int = 1200, overlap: int = 100) -> list[Chunk]:
    """Cut a document into windows of at most `size` tokens, of which neighbours share exactly `overlap`.

    A chunk's text is the exact slice of the document's, without white space at its ends; together the chunks hold
    every other character. A window begins and ends between words, and is some tokens shorter than `size` for that.
    Where no word ends in the last quarter of it (an endless word, Chinese), it ends between two graphemes, and
    failing that (emoji as bytes, which the overlap does not divide) between two tokens. A document of at most `size`
    tokens is one chunk. The id depends on the document and the chunk's text alone, so that a chunk that does not
    change keeps it.

    Raises ConfigurationError unless 0 <= overlap < size.
    """
    if not 0 <= overlap < size:
        raise ConfigurationError(
            f"Chunks of {size} tokens cannot share {overlap}: set E2G_CHUNK_OVERLAP below E2G_CHUNK_TOKENS."
        )
    pages = [section for section in document.sections if section.kind == "page"]
    headings = [section for section in document.sections if section.kind == "heading"]
    seen: Counter[str] = Counter()
    chunks: list[Chunk] = []
    for start, end, tokens in _windows(document.text, token_spans, size, overlap):
        text = document.text[start:end]
        chunks.append(
            Chunk(
                id=_identity(document.id, text, seen),
                index=len(chunks),
                text=text,
                start=start,
                end=end,
                tokens=tokens,
                page=_page(pages, start, end),
                heading=_heading(headings, start, end),
            )
        )
    return chunks


def _windows(text: str, token_spans: TokenSpans, size: int, overlap: int) -> Iterator[tuple[int, int, int]]:
    """Start, end and number of tokens of each window; those that add nothing but white space are left out."""
    starts = _token_starts(text, token_spans)
    first = covered = 0
    while True:
        last = _cut(text, starts, first, size, overlap)
        # What a tokenizer drops, such as accents, belongs to the token before it.
        start = int(starts[first]) if first else 0
        end = int(starts[last]) if last < len(starts) else len(text)
        window = text[start:end]
        end = start + len(window.rstrip())
        start += len(window) - len(window.lstrip())
        if covered < end and start < end:
            yield start, end, last - first
            covered = end
        if last == len(starts):
            return
        first = last - overlap


def _cut(text: str, starts: NDArray[np.int64], first: int, size: int, overlap: int) -> int:
    """The token before which the window ends that begins with token `first`.

    The next window begins `overlap` tokens earlier, so that both places have to be good ones to cut at.
    """
    furthest = first + size
    if furthest >= len(starts):
        return len(starts)
    lowest = furthest - (size - overlap) // 4
    for good in (_begins_word, _begins_grapheme):
        for last in range(furthest, lowest - 1, -1):
            if good(text, int(starts[last])) and good(text, int(starts[last - overlap])):
                return last
    return furthest


def _begins_word(text: str, place: int) -> bool:
    return place == 0 or text[place - 1].isspace() or text[place].isspace()


def _begins_grapheme(text: str, place: int) -> bool:
    """Whether no combining mark, joined emoji or the like is torn apart here."""
    before = max(0, place - 64)
    return any(found.start() == place - before for found in regex.finditer(r"\X", text[before : place + 1]))


def _token_starts(text: str, token_spans: TokenSpans) -> NDArray[np.int64]:
    """Where each token begins, in ascending order. Tokenised in blocks, so that a long text takes little memory."""
    found: list[NDArray[np.int64]] = []
    for start, end in _blocks(text):
        places = [place for first, last in token_spans(text[start:end]) for place in range(first, last, LONGEST_TOKEN)]
        found.append(np.maximum.accumulate(np.array(places, dtype=np.int64)) + start)
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _blocks(text: str) -> Iterator[Span]:
    """Blocks that begin with white space, or anywhere in a text that has none."""
    start = 0
    while start < len(text):
        end = start + BLOCK
        if end < len(text):
            space = max(text.rfind(sign, start + 1, end) for sign in " \n")
            end = space if space > 0 else end
        else:
            end = len(text)
        yield start, end
        start = end


def _identity(document: str, text: str, seen: Counter[str]) -> str:
    digest = sha256(text.encode("utf-8")).hexdigest()[:12]
    seen[digest] += 1
    repeat = f"-{seen[digest]}" if seen[digest] > 1 else ""
    return f"{document}-{digest}{repeat}"


def _page(pages: Sequence[Section], start: int, end: int) -> str | None:
    """ "3", or "3–4" where the chunk goes on to the next page."""
    first, last = _last_before(pages, start), _last_before(pages, end - 1)
    if first is None or last is None or first == last:
        return first or last
    return f"{first}–{last}"


def _heading(headings: Sequence[Section], start: int, end: int) -> str | None:
    """The heading that the chunk stands under, or else the first inside of it."""
    inside = headings[0].label if headings and headings[0].start < end else None
    return _last_before(headings, start) or inside


def _last_before(sections: Sequence[Section], place: int) -> str | None:
    at = bisect_right(sections, place, key=lambda section: section.start)
    return sections[at - 1].label if at else None
