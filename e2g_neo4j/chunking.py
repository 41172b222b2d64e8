"""Windows of a document, cut at places that its text decides (E²GraphRAG, arXiv 2505.24226: 1200 tokens, overlap 100).

A change in one place leaves the windows elsewhere as they are, and the same text always has the same windows. For that
no border depends on how much text stands before it: a long text is parted at anchors, which depend on nothing but
their neighbourhood (content-defined chunking), and each part is cut by itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import chain, pairwise
from zlib import crc32

import numpy as np
import regex  # type: ignore[import-untyped]
from numpy.typing import NDArray

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.model import Chunk, Section, SourceDocument, Span, TokenSpans

CHUNKER = "content-defined-2"
"""Which rules a text is cut by. A document that was cut by others is indexed again, though its text is the same."""

ADOPTED = "whole-nodes-1"
"""As CHUNKER, of a document that was put together of text nodes: each is a chunk."""

BLOCK = 16_384
"""Characters that are tokenised at once."""

LONGEST_TOKEN = 256
"""Characters. Some tokenizers make one unknown token of a word of any length; such a one counts as several."""

PART = 12
"""Chunks that a part of a long text has at least, at four characters a token; about twice as many on average."""

Rank = tuple[int, int]
"""How good a place is to cut at, the smaller the better: 0 before a paragraph, 1 a sentence, 2 a word; and a number
that the text after it decides, so that of many equal places one is the best."""

_GAP = regex.compile(r"(?P<end>(?:[!?…]|(?<=\w{4})\.)[\"'”’»)\]_*]*)?\s+|(?P<full>[。！？][”’」』）]*)\s*")
"""What may stand before a paragraph, sentence or word. A full stop after a short word may be an abbreviation's."""


def chunk(document: SourceDocument, token_spans: TokenSpans, *, size: int = 1200, overlap: int = 100) -> list[Chunk]:
    """Cut a document into windows of at most `size` tokens, of which neighbours share at most `overlap`.

    A chunk's text is the exact slice of the document's, without white space at its ends; together the chunks hold
    every other character. A window ends where a sentence or paragraph does, if one ends near, or else between two
    words, and begins between two words; so it shares some tokens less than `overlap` with the one before. Where no
    word ends in the last quarter (an endless word, Chinese without full stops), it ends between two graphemes, and
    failing that (emoji as bytes) between two tokens. The windows of a part are about equally long, some hundredths
    shorter than `size`. A document of at most `size` tokens is one chunk. The id depends on the document,
    the chunk's text and what of it is its own, so that a chunk that does not change keeps it.

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
    windows = list(_windows(document.text, token_spans, size, overlap))
    begins = [*(own for *_, own in windows[1:]), len(document.text)]
    for (start, end, tokens, own), following in zip(windows, begins, strict=False):  # there may be no window
        text = document.text[start:end]
        own_end = min(following, end)
        chunks.append(
            Chunk(
                id=_identity(document.id, f"{text}\0{own - start}:{own_end - end}", seen),
                index=len(chunks),
                text=text,
                start=start,
                end=end,
                tokens=tokens,
                page=_page(pages, start, end),
                heading=_heading(headings, start, end),
                own=(own, own_end),
            )
        )
    return chunks


def cut_by(document: SourceDocument) -> str:
    """Which rules a document is cut by."""
    return ADOPTED if document.cuts else CHUNKER


def whole_nodes(document: SourceDocument, token_spans: TokenSpans) -> list[Chunk]:
    """One chunk for each text node of somebody else's that a document was put together of, whatever its size."""
    return [
        Chunk(
            id=id,
            index=index,
            text=(text := document.text[cut.start : cut.end]),
            start=cut.start,
            end=cut.end,
            tokens=len(_token_starts(text, 0, len(text), token_spans)),
            own=(cut.start, cut.end),
            stands_for=cut.stands_for,
        )
        for index, (id, cut) in enumerate(zip(chunk_ids(document), document.cuts, strict=True))
    ]


def chunk_ids(document: SourceDocument) -> list[str]:
    """The ids of `whole_nodes`, which depend on the document and on the key and text of each node."""
    seen: Counter[str] = Counter()
    return [_identity(document.id, f"{cut.key}\0{document.text[cut.start : cut.end]}", seen) for cut in document.cuts]


def _windows(text: str, token_spans: TokenSpans, size: int, overlap: int) -> Iterator[tuple[int, int, int, int]]:
    """Start, end and number of tokens of each window, and where what is its own begins; those that add nothing but
    white space are left out.

    That is after a quarter of what it shares with the one before: so far from the borders of both, a pipeline finds
    the same sentences in both of them.
    """
    covered = 0
    for start, end, tokens in _cut(text, token_spans, size, overlap):
        window = text[start:end]
        end = start + len(window.rstrip())
        start += len(window) - len(window.lstrip())
        if covered < end and start < end:
            yield start, end, tokens, start + max(0, covered - start) // 4
            covered = end


def _cut(text: str, token_spans: TokenSpans, size: int, overlap: int) -> Iterator[tuple[int, int, int]]:
    """The windows of all parts, with the white space at their ends."""
    room = size - overlap
    spans = _parts(text, 4 * room * PART)
    parts = ((start, end, _token_starts(text, start, end, token_spans)) for start, end in spans)
    first: list[tuple[int, int, NDArray[np.int64]]] = []
    while sum(len(starts) for *_, starts in first) <= size:
        if (part := next(parts, None)) is None:
            yield 0, len(text), sum(len(starts) for *_, starts in first)
            return
        first.append(part)
    before = np.empty(0, np.int64)  # the last tokens of the part before, of which the next window has some
    for start, end, starts in chain(first, parts):
        known = np.concatenate([before, starts])
        begun = len(before)
        for at, last in pairwise([begun, *(begun + cut for cut in _cuts(text, starts, room)), len(known)]):
            shared = _shared(text, known, at, overlap)
            # What a tokenizer drops, such as accents, belongs to the token before it.
            begin = start if shared == begun else int(known[shared])
            yield begin, int(known[last]) if last < len(known) else end, last - shared
        before = known[max(0, len(known) - overlap) :]


def _parts(text: str, reach: int) -> Iterator[Span]:
    """Parts of a text that begin at anchors: borders that are the best within `reach` characters on both sides.

    So no part is shorter than `reach`, and whether a place is an anchor depends on the text around it alone. A text
    without words, or that says the same all the time, has none.
    """
    start = 0
    near: deque[tuple[int, Rank]] = deque([(0, (-1, 0))])  # ever better ones that a border has to be better than
    anchor = len(text)
    for place, rank in _borders(text, 0, len(text)):
        if place - anchor > reach:
            yield start, anchor
            start, anchor = anchor, len(text)
        while near and near[0][0] < place - reach:
            near.popleft()
        while near and near[-1][1] > rank:
            near.pop()
        if not near:
            anchor = place
        near.append((place, rank))
    if len(text) - anchor > reach:
        yield start, anchor
        start = anchor
    if start < len(text):
        yield start, len(text)


def _borders(text: str, start: int, end: int) -> Iterator[tuple[int, Rank]]:
    """Where words begin after `start`, and how good it is to cut there."""
    for gap in _GAP.finditer(text, start, end):
        place = gap.end()
        if place < end:
            kind = 0 if gap[0].count("\n") > 1 else 1 if gap["end"] or gap["full"] else 2
            yield place, (kind, crc32(text[place : place + 32].encode("utf-8", "surrogatepass")))


def _cuts(text: str, starts: NDArray[np.int64], room: int) -> Iterator[int]:
    """The tokens of a part before which its windows end but for the last: at most `room` each.

    In the first half of a part they are counted from its beginning, in the second from its end: so a change moves
    those between itself and the middle alone, and by a few words few of these, because each is the best of the
    places near.
    """
    slack = max(room // 60, min(2, room // 8))
    share = room - 2 * slack
    at = 0
    for goal in _goals(len(starts), share):
        while goal + slack - at > room and len(starts) - at > room:  # an endless word kept an earlier one back
            at = _best(text, starts, at, at + share + slack, slack, room // 4)
            yield at
        if goal < len(starts) and goal - at > share // 2:
            at = _best(text, starts, at, goal, slack, room // 4)
            yield at


def _goals(tokens: int, share: int) -> list[int]:
    """Where windows would end best: all of them `share` tokens long, but three or four in the middle that share what
    is left."""
    count = -(-tokens // share)
    sides = max(0, (count - 3) // 2)
    left, between = tokens - 2 * sides * share, count - 2 * sides
    first = [share * number for number in range(1, sides + 1)]
    middle = [sides * share + left * number // between for number in range(1, between)]
    return [*first, *middle, *(tokens - share * number for number in range(sides, -1, -1))]


def _best(text: str, starts: NDArray[np.int64], at: int, goal: int, slack: int, far: int) -> int:
    """The best token to end a window before that begins with token `at` and should end near `goal`."""
    highest = min(goal + slack, len(starts) - 1)
    for lowest in (max(goal - slack, at + 1), max(goal - far, at + 1)):
        first = int(starts[lowest])
        found = []
        for place, rank in _borders(text, max(0, first - 64), int(starts[highest]) + 64):
            token = int(np.searchsorted(starts, place, side="right")) - 1
            # To some tokenizers white space is of the token after it.
            if lowest <= token <= highest and not text[starts[token] : place].strip():
                found.append((rank, token))
        if found:
            return min(found)[1]
    graphemes = (token for token in range(goal, lowest - 1, -1) if _begins_grapheme(text, int(starts[token])))
    return next(graphemes, goal)


def _shared(text: str, starts: NDArray[np.int64], at: int, overlap: int) -> int:
    """The token with which the window begins that goes on from token `at`: at most so many before it."""
    lowest = max(0, at - overlap)
    for good in (_begins_word, _begins_grapheme):
        for token in range(lowest, at - overlap // 2):
            if good(text, int(starts[token])):
                return token
    return lowest


def _begins_word(text: str, place: int) -> bool:
    return place == 0 or text[place - 1].isspace() or text[place].isspace()


def _begins_grapheme(text: str, place: int) -> bool:
    """Whether no combining mark, joined emoji or the like is torn apart here."""
    before = max(0, place - 64)
    return any(found.start() == place - before for found in regex.finditer(r"\X", text[before : place + 1]))


def _token_starts(text: str, start: int, end: int, token_spans: TokenSpans) -> NDArray[np.int64]:
    """Where each token of a part begins, in ascending order. It is tokenised by itself, in blocks, so that its tokens
    depend on nothing else."""
    found: list[NDArray[np.int64]] = []
    for first, last in _blocks(text, start, end):
        places = [at for begin, over in token_spans(text[first:last]) for at in range(begin, over, LONGEST_TOKEN)]
        found.append(np.maximum.accumulate(np.array(places, dtype=np.int64)) + first)
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _blocks(text: str, start: int, stop: int) -> Iterator[Span]:
    """Blocks that begin with white space, or anywhere in a text that has none."""
    while start < stop:
        end = start + BLOCK
        if end < stop:
            space = max(text.rfind(sign, start + 1, end) for sign in " \n")
            end = space if space > 0 else end
        else:
            end = stop
        yield start, end
        start = end


def _identity(document: str, content: str, seen: Counter[str]) -> str:
    digest = sha256(content.encode("utf-8")).hexdigest()[:12]
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
