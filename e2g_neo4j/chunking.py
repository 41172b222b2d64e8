"""Windows of a document, cut between tokens (E²GraphRAG, arXiv 2505.24226: 1200 tokens, overlap 100)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Literal, TypeAlias

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.model import Chunk, Section, SourceDocument

TokenSpans: TypeAlias = Callable[[str], Sequence[tuple[int, int]]]
"""Where each token of a text begins and ends, in characters; special tokens are left out."""

BLOCK = 200_000
"""Characters that are tokenised at once."""

_SPACE = re.compile(r"\s")


def chunk(document: SourceDocument, token_spans: TokenSpans, *, size: int = 1200, overlap: int = 100) -> list[Chunk]:
    """Cut a document into windows of at most `size` tokens, of which neighbours share `overlap`.

    A chunk's text is the exact slice of the document's, from its first token to its last. A window begins with a word:
    where a boundary would fall inside of one, it moves back to the word's beginning, so that a chunk may share a few
    tokens more with the one before, unless a single word fills half a window. A document of at most `size` tokens
    is one chunk. The id depends on document and text alone, so that a chunk that does not change keeps it.

    Raises ConfigurationError unless 0 <= overlap < size.
    """
    if not 0 <= overlap < size:
        raise ConfigurationError(
            f"Chunks of {size} tokens cannot share {overlap}: set E2G_CHUNK_OVERLAP below E2G_CHUNK_TOKENS."
        )
    spans = _spans(document.text, token_spans)
    seen: Counter[str] = Counter()
    chunks: list[Chunk] = []
    for first, last in _windows(document.text, spans, size, overlap):
        start, end = spans[first][0], spans[last - 1][1]
        text = document.text[start:end]
        chunks.append(
            Chunk(
                id=_identity(document.id, text, seen),
                index=len(chunks),
                text=text,
                start=start,
                end=end,
                tokens=last - first,
                page=_page(document.sections, start, end),
                heading=_heading(document.sections, start, end),
            )
        )
    return chunks


def _spans(text: str, token_spans: TokenSpans) -> list[tuple[int, int]]:
    """The tokens of a text of any length, which is tokenised in blocks that end at white space."""
    spans: list[tuple[int, int]] = []
    for start, end in _blocks(text):
        spans += [(start + first, start + last) for first, last in token_spans(text[start:end]) if first < last]
    return spans


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        space = _SPACE.search(text, start + BLOCK)
        end = space.start() if space else len(text)
        yield start, end
        start = end


def _windows(text: str, spans: Sequence[tuple[int, int]], size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """First token and last plus one of each window."""
    first = 0
    while first < len(spans):
        last = min(first + size, len(spans))
        if last < len(spans):
            last = _word_border(text, spans, last, lowest=first + max(size // 2, overlap) + 1)
        yield first, last
        if last == len(spans):
            return
        first = _word_border(text, spans, last - overlap, lowest=max(first + 1, last - overlap - size // 4))


def _word_border(text: str, spans: Sequence[tuple[int, int]], token: int, *, lowest: int) -> int:
    """The token at or before `token` that begins a word; `token` itself where none does down to `lowest`."""
    for border in range(token, lowest - 1, -1):
        before, after = spans[border - 1][1], spans[border][0]
        if before < after or not (text[before - 1].isalnum() and text[after].isalnum()):
            return border
    return token


def _identity(document: str, text: str, seen: Counter[str]) -> str:
    digest = sha256(text.encode("utf-8")).hexdigest()[:12]
    seen[digest] += 1
    repeat = f"-{seen[digest]}" if seen[digest] > 1 else ""
    return f"{document}-{digest}{repeat}"


def _page(sections: Sequence[Section], start: int, end: int) -> str | None:
    """ "3", or "3-4" where the chunk goes on to the next page."""
    first, last = _section(sections, "page", start), _section(sections, "page", end - 1)
    if first is None or last is None or first == last:
        return first or last
    return f"{first}-{last}"


def _heading(sections: Sequence[Section], start: int, end: int) -> str | None:
    """The heading that the chunk stands under, or else the first inside of it."""
    above = _section(sections, "heading", start)
    return above or next((s.label for s in sections if s.kind == "heading" and start < s.start < end), None)


def _section(sections: Sequence[Section], kind: Literal["page", "heading"], place: int) -> str | None:
    of_kind = [section for section in sections if section.kind == kind]
    at = bisect_right(of_kind, place, key=lambda section: section.start)
    return of_kind[at - 1].label if at else None
