"""Content-defined chunking of documents (E²GraphRAG, arXiv 2505.24226: 1200 tokens, overlap 100).

An edit in one place does not change the chunks elsewhere, and the same text always has the same chunks. Therefore no
boundary depends on how much text precedes it. A long text is split at anchors, which depend only on the text around
them, and each part is chunked separately.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from hashlib import sha256
from itertools import chain, pairwise
from zlib import crc32

import numpy as np
import regex  # type: ignore[import-untyped]
from numpy.typing import NDArray

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.types.documents import Chunk, SourceDocument, Span, TokenSpans
from e2g_neo4j.types.sections import LONGEST_ROW, ROW, around, row_start

BLOCK = 16_384
"""Characters that are tokenised in one call."""

LONGEST_TOKEN = 256
"""In characters. Some tokenizers return one unknown token for a word of any length; longer ones count as several."""

PART = 12
"""The minimum number of chunks of a part of a long text, at four characters per token. The average is twice that."""

Rank = tuple[int, int]
"""How good a boundary is, the smaller the better: 0 before a paragraph, 1 before a sentence, 2 before a word; then a
hash of the text after it, so that one of many equal boundaries is the best."""

_GAP = regex.compile(
    rf"^(?P<row>{regex.escape(ROW)}[^\n]{{0,{LONGEST_ROW}}}(?:\n+|\Z))"
    r"|(?P<end>(?:[!?…]|(?<=\w{4})\.)[\"'”’»)\]_*]*)?\s+|(?P<full>[。！？][”’」』）]*)\s*",
    regex.M,
)
"""The gap before a paragraph, sentence or word, or a row of a table. A full stop after a short word may be that of an
abbreviation."""


def chunk(document: SourceDocument, token_spans: TokenSpans, *, size: int = 1200, overlap: int = 100) -> list[Chunk]:
    """Split a document into chunks.

    The text of a chunk is an exact slice of the document without white space at its ends. Together, the chunks contain
    all other characters. A chunk ends at the end of a sentence or paragraph if one is near, else between two words. It
    begins between two words, so the overlap is often some tokens shorter than `overlap`. If no word ends in the last
    quarter (an endless word, Chinese without full stops), it ends between two graphemes, or (emoji as bytes) between
    two tokens. The chunks of a part have about the same length, a few percent less than `size`. A document of at most
    `size` tokens is one chunk. Ids depend on the document, the text of the chunk and its own text, so unchanged chunks
    keep their ids.

    Args:
        token_spans: the tokenizer that counts tokens.
        size: the maximum number of tokens of a chunk.
        overlap: the maximum number of tokens that neighbouring chunks share.

    Raises:
        ConfigurationError: not 0 <= overlap < size.
    """
    if not 0 <= overlap < size:
        raise ConfigurationError(
            f"Chunks of {size} tokens cannot share {overlap}: set E2G_CHUNK_OVERLAP below E2G_CHUNK_TOKENS."
        )
    sections = [[one for one in document.sections if one.kind == kind] for kind in ("page", "heading", "table")]
    seen: Counter[str] = Counter()
    chunks: list[Chunk] = []
    windows = list(_windows(document.text, token_spans, size, overlap))
    begins = [*(own for *_, own in windows[1:]), len(document.text)]
    for (start, end, tokens, own), following in zip(windows, begins, strict=False):  # there may be no windows
        text = document.text[start:end]
        own_end = min(following, end)
        chunks.append(
            Chunk(
                id=chunk_identity(document.id, text, (own - start, own_end - start), seen),
                index=len(chunks),
                text=text,
                start=start,
                end=end,
                tokens=tokens,
                own=(own, own_end),
                sections=tuple(chain.from_iterable(around(some, start, end) for some in sections)),
            )
        )
    return chunks


def whole_nodes(document: SourceDocument, token_spans: TokenSpans) -> list[Chunk]:
    """Return one chunk for each text node of an adopted document, whatever its size."""
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
    """Return the ids of `whole_nodes`, which depend on the document and on the key and text of each node."""
    seen: Counter[str] = Counter()
    return [identity(document.id, f"{cut.key}\0{document.text[cut.start : cut.end]}", seen) for cut in document.cuts]


def _windows(text: str, token_spans: TokenSpans, size: int, overlap: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield start, end and number of tokens of each chunk, and the start of its own text.

    Chunks that only add white space are left out. The own text starts after a quarter of the overlap with the previous
    chunk: at this distance from the boundaries of both, the spaCy pipeline finds the same sentences in both.
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
    """Yield start, end and number of tokens of the chunks of all parts, with the white space at their ends."""
    room = size - overlap
    spans = _parts(text, 4 * room * PART)
    parts = ((start, end, _token_starts(text, start, end, token_spans)) for start, end in spans)
    first: list[tuple[int, int, NDArray[np.int64]]] = []
    while sum(len(starts) for *_, starts in first) <= size:
        if (part := next(parts, None)) is None:
            yield 0, len(text), sum(len(starts) for *_, starts in first)
            return
        first.append(part)
    before = np.empty(0, np.int64)  # the last tokens of the previous part, for the overlap of the next chunk
    for start, end, starts in chain(first, parts):
        known = np.concatenate([before, starts])
        begun = len(before)
        for at, last in pairwise([begun, *(begun + cut for cut in _cuts(text, starts, room)), len(known)]):
            shared = _overlap_start(text, known, at, overlap)
            # Characters that a tokenizer drops, such as accents, belong to the token before them.
            begin = start if shared == begun else int(known[shared])
            yield begin, int(known[last]) if last < len(known) else end, last - shared
        before = known[max(0, len(known) - overlap) :]


def _parts(text: str, reach: int) -> Iterator[Span]:
    """Split a text at anchors: boundaries that are the best within `reach` characters on both sides.

    So no part is shorter than `reach`, and whether a boundary is an anchor depends only on the text around it. A text
    without words, or of repetitions only, has no anchors.
    """
    start = 0
    near: deque[tuple[int, Rank]] = deque([(0, (-1, 0))])  # boundaries within reach, with increasing rank
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
    """Yield where words begin after `start`, with the rank of the boundary. Those inside of rows are left out."""
    stop = text.find("\n", end, end + LONGEST_ROW) + 1 if row_start(text, end) < end else end
    for gap in _GAP.finditer(text, row_start(text, start), stop or end):
        place = gap.end()
        if start < place < end:
            whole = gap["end"] or gap["full"] or gap["row"]
            kind = 0 if gap[0].count("\n") > 1 else 1 if whole else 2
            yield place, (kind, crc32(text[place : place + 32].encode("utf-8", "surrogatepass")))


def _cuts(text: str, starts: NDArray[np.int64], room: int) -> Iterator[int]:
    """Yield the tokens of a part before which its chunks end, except for the last. Chunks have at most `room` tokens.

    In the first half of a part, tokens are counted from its beginning, in the second half from its end. So an edit only
    moves boundaries between itself and the middle. An edit of a few words moves few of them, because each is the best
    boundary nearby.
    """
    slack = max(room // 60, min(2, room // 8))
    share = room - 2 * slack
    at = 0
    for goal in _goals(len(starts), share):
        while goal + slack - at > room and len(starts) - at > room:  # an endless word moved an earlier one back
            at = _best(text, starts, at, at + share + slack, slack, room // 4)
            yield at
        if goal < len(starts) and goal - at > share // 2:
            at = _best(text, starts, at, goal, slack, room // 4)
            yield at


def _goals(tokens: int, share: int) -> list[int]:
    """Return the ideal ends of chunks: each has `share` tokens, except three or four in the middle that divide the rest
    equally."""
    count = -(-tokens // share)
    sides = max(0, (count - 3) // 2)
    rest, between = tokens - 2 * sides * share, count - 2 * sides
    first = [share * number for number in range(1, sides + 1)]
    middle = [sides * share + rest * number // between for number in range(1, between)]
    return [*first, *middle, *(tokens - share * number for number in range(sides, -1, -1))]


def _best(text: str, starts: NDArray[np.int64], at: int, goal: int, slack: int, far: int) -> int:
    """Return the best token to end before, for a chunk that begins with token `at` and should end near `goal`."""
    highest = min(goal + slack, len(starts) - 1)
    for lowest in (max(goal - slack, at + 1), max(goal - far, at + 1)):
        first = int(starts[lowest])
        candidates = []
        for place, rank in _borders(text, max(0, first - 64), int(starts[highest]) + 64):
            token = int(np.searchsorted(starts, place, side="right")) - 1
            # In some tokenizers, white space belongs to the token after it.
            if lowest <= token <= highest and not text[starts[token] : place].strip():
                candidates.append((rank, token))
        if candidates:
            return min(candidates)[1]
    graphemes = (token for token in range(goal, lowest - 1, -1) if _begins_grapheme(text, int(starts[token])))
    return next(graphemes, goal)


def _overlap_start(text: str, starts: NDArray[np.int64], at: int, overlap: int) -> int:
    """Return the first token of the next chunk after token `at`: at most `overlap` tokens before it, at least half as
    many unless it would be inside of a row."""
    lowest = max(0, at - overlap)
    for is_boundary in (_begins_whole, _begins_word, _begins_grapheme):
        for token in range(lowest, at - overlap // 2):
            if is_boundary(text, int(starts[token])):
                return _after_row(text, starts, token, at)
    return lowest


def _after_row(text: str, starts: NDArray[np.int64], token: int, last: int) -> int:
    """Return a token, or the first after the row that it is inside of, up to `last`."""
    if row_start(text, int(starts[token])) == starts[token]:
        return token
    return next((one for one in range(token, last + 1) if _begins_whole(text, int(starts[one]))), token)


def _begins_word(text: str, place: int) -> bool:
    return place == 0 or text[place - 1].isspace() or text[place].isspace()


def _begins_whole(text: str, place: int) -> bool:
    return _begins_word(text, place) and row_start(text, place) == place


def _begins_grapheme(text: str, place: int) -> bool:
    """Return whether a grapheme begins here, so that no combining mark or joined emoji is split."""
    before = max(0, place - 64)
    return any(found.start() == place - before for found in regex.finditer(r"\X", text[before : place + 1]))


def _token_starts(text: str, start: int, end: int, token_spans: TokenSpans) -> NDArray[np.int64]:
    """Return where each token of a part begins, in ascending order.

    A part is tokenised separately, in blocks, so that its tokens do not depend on other text.
    """
    blocks: list[NDArray[np.int64]] = []
    for first, last in _blocks(text, start, end):
        places = [at for begin, over in token_spans(text[first:last]) for at in range(begin, over, LONGEST_TOKEN)]
        blocks.append(np.maximum.accumulate(np.array(places, dtype=np.int64)) + first)
    return np.concatenate(blocks) if blocks else np.empty(0, np.int64)


def _blocks(text: str, start: int, stop: int) -> Iterator[Span]:
    """Split a text into blocks that begin with white space, or anywhere if there is none."""
    while start < stop:
        end = start + BLOCK
        if end < stop:
            space = max(text.rfind(sign, start + 1, end) for sign in " \n")
            end = space if space > 0 else end
        else:
            end = stop
        yield start, end
        start = end


def chunk_identity(document: str, text: str, own: Span, seen: Counter[str]) -> str:
    """Return the id of a chunk of a document that is not adopted. `own` is the span of its own text in its text."""
    return identity(document, f"{text}\0{own[0]}:{own[1] - len(text)}", seen)


def identity(prefix: str, content: str, seen: Counter[str]) -> str:
    """Return an id that depends on its prefix and the content alone, and on how often this was seen before."""
    digest = sha256(content.encode("utf-8")).hexdigest()[:12]
    seen[digest] += 1
    repeat = f"-{seen[digest]}" if seen[digest] > 1 else ""
    return f"{prefix}-{digest}{repeat}"
