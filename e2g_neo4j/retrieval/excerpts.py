"""What a reader is shown of a passage: the sentences that answer the question most likely.

A sentence counts by the words that it shares with the question, each by its rarity among the texts that were found. Two
or three of them fit. Rows of tables, items of lists and lines of code count as sentences.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from math import log

from e2g_neo4j.models.porter import stem
from e2g_neo4j.models.words import terms, tokens
from e2g_neo4j.types.documents import Span
from e2g_neo4j.types.results import Excerpt

LENGTH = 400
"""Characters of an excerpt."""

SHORTNESS = 0.2
"""The score of a sentence is divided by its length to this power. On XQuAD, the excerpt of the right paragraph then has
the answer in .91 of 1,190 questions, with 0 in .90; its first 400 characters in .65."""

MOST_SENTENCES = 200
"""Sentences of a text that are compared."""

_ASKING = frozenset(
    {"what", "who", "whom", "whose", "when", "where", "which", "how", "why", "did", "do", "doe", "mani"}
)
"""Terms that say what is asked for."""

_GAP = " … "

_ABBREVIATIONS = (
    *("Mr", "Mrs", "Ms", "Dr", "St", "Prof", "Capt", "Col", "Gen", "Lt", "Sgt", "Rev", "Hon", "Jr", "Sr", "No", "Nos"),
    *("vs", "etc", "cf", "ca", "approx", "Fig", "Eq", "Sec", "Vol", "vol", "pp", "Inc", "Ltd", "Co", "Corp", "[A-Z]"),
    *("Jan", "Feb", "Mar", "Apr", "Jun", "Jul", "Aug", "Sept", "Sep", "Oct", "Nov", "Dec", r"e\.g", r"i\.e", r"a\.m"),
)
_ABBREVIATION = re.compile(rf"\b(?:{'|'.join(_ABBREVIATIONS)})\.\Z")
_LONGEST_ABBREVIATION = 8
_SENTENCE_END = re.compile(
    r"(?P<mark>[.!?…][\"'”’)\]]?)\s+(?=[\"'“‘(\[]*[^\W_a-z])|(?P<full>[。！？।؟])\s*"
    r"|\n(?=[ \t]*(?:[-*+•]|\d+[.)]) )|(?<=[^\n])\n(?=\|)|(?<=\|)\n"
)
_BLOCK_END = re.compile(r"\n[ \t]*\n+")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_INDENTED = re.compile(r"(?:(?: {4}|\t).*(?:\n|$))+\Z")
_SPACE = re.compile(r"\s+")


def term_weights(question: str, texts: Sequence[str]) -> dict[str, float]:
    """Return the terms of a question with their weights: the rarer in the texts, the more.

    Args:
        texts: The texts that were found.
    """
    asked = frozenset(terms(question)) - _ASKING
    containing = Counter(term for text in texts for term in {term for _, term in _find_terms(text, asked)})
    return {term: log(1 + (len(texts) - containing[term] + 0.5) / (containing[term] + 0.5)) for term in sorted(asked)}


def make_excerpt(text: str, weights: Mapping[str, float], start: int = 0) -> Excerpt:
    """Return the best sentences of a text, in their order.

    Args:
        weights: The terms of the question, see `term_weights`.
        start: Where the text starts in its document.
    """
    spans = list(_sentences(text))[:MOST_SENTENCES] or [(0, len(text))]
    found = list(_find_terms(text, frozenset(weights)))
    scores = [
        _score({term for at, term in found if first <= at < last}, weights, last - first) for first, last in spans
    ]
    best = max(range(len(spans)), key=lambda at: (scores[at], -at))
    order = sorted(range(len(spans)), key=lambda at: (-scores[at], abs(at - best - 0.25)))
    shown, room = list[int](), LENGTH - 2 * len(_GAP)
    for at in order:
        first, last = spans[at]
        if last - first <= room:
            shown.append(at)
            room -= last - first + len(_GAP)
        elif at == best:
            spans[at] = _part(text, spans[at], weights, room)
            shown, room = [at], 0
    shown.sort()
    return Excerpt(_join_sentences(text, spans, shown), start + spans[shown[0]][0], start + spans[shown[-1]][1])


def _find_terms(text: str, asked: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield where a text has some terms, and which."""
    for found in _beginnings(asked).finditer(text):
        for start, _, word in tokens(found[0]):
            if (term := stem(word)) in asked:
                yield found.start() + start, term


@lru_cache
def _beginnings(asked: frozenset[str]) -> re.Pattern[str]:
    """Return what matches runs without spaces that may begin with one of some terms, or have an ideograph that is one.

    A stem is the beginning of its word, but for its last letter.
    """
    words = "|".join(sorted(re.escape(term[:-1] or term) for term in asked if len(term) > 1 or term.isascii()))
    signs = "".join(sorted(re.escape(term) for term in asked if len(term) == 1 and not term.isascii()))
    either = [*([rf"(?<!\w)(?:{words})"] if words else []), *([f"[{signs}]"] if signs else [])]
    return re.compile(rf"(?:{'|'.join(either)})\S*" if either else r"\Z\A.", re.IGNORECASE)


def _score(shared: Set[str], weights: Mapping[str, float], length: int) -> float:
    score: float = sum(weights[term] for term in sorted(shared)) / max(length, 1) ** SHORTNESS
    return score


def _sentences(text: str) -> Iterator[Span]:
    """Yield the sentences of a text, and what counts as such."""
    for first, last in _blocks(text):
        block = text[first:last]
        if _FENCE.match(block) or _INDENTED.match(block):
            yield from _lines(block, first)
            continue
        at = first
        for end in _SENTENCE_END.finditer(block):
            stop = max(end.end("mark"), end.end("full"), end.start())
            if end["mark"] and _ABBREVIATION.search(block, max(stop - _LONGEST_ABBREVIATION, 0), stop):
                continue
            if text[at : first + stop].strip():
                yield at, first + stop
                at = first + end.end()
        if text[at:last].strip():
            yield at, last


def _blocks(text: str) -> Iterator[Span]:
    """Yield the paragraphs of a text. Code between fences is one."""
    start = 0
    fenced = False
    for end in [*_BLOCK_END.finditer(text), None]:
        last = end.start() if end else len(text)
        fences = sum(bool(_FENCE.match(line)) for line in text[start:last].splitlines())
        fenced = fences % 2 == 1
        if not fenced or end is None:
            lead = len(text[start:last]) - len(text[start:last].lstrip("\n"))
            if text[start:last].strip():
                yield start + lead, last
            start = end.end() if end else last


def _lines(block: str, start: int) -> Iterator[Span]:
    """Yield a block of code: whole if it fits, or else line by line."""
    if len(block) <= LENGTH - 2 * len(_GAP):
        yield start, start + len(block)
        return
    for line in block.splitlines(keepends=True):
        if line.strip():
            yield start, start + len(line.rstrip("\n"))
        start += len(line)


def _part(text: str, span: Span, weights: Mapping[str, float], length: int) -> Span:
    """Return the part of a long sentence with most of the question's terms, at the ends of words."""
    first, last = span
    found = [
        (at, end, sum(weights.get(term, 0.0) for term in terms(word))) for at, end, word in tokens(text[first:last])
    ]
    if not found:
        return first, min(last, first + length)
    total, begin = max(
        (
            (sum(weight for at, end, weight in found if begin <= at and end <= begin + length), -begin)
            for begin, _, _ in found
        )
    )
    begin = -begin if total else 0
    hits = [(at, end) for at, end, weight in found if weight and begin <= at and end <= begin + length]
    if hits:
        begin = max(0, min(hits[0][0] - (length - (hits[-1][1] - hits[0][0])) // 2, last - first - length))
    begin = next((at for at, _, _ in found if at >= begin), begin)
    end = max((end for at, end, _ in found if end <= begin + length), default=begin + length)
    return first + begin, first + end


def _join_sentences(text: str, spans: Sequence[Span], shown: Sequence[int]) -> str:
    """Return the sentences, with a sign where some are left out. Lines of code and rows stay lines."""
    parts = []
    for number, at in enumerate(shown):
        first, last = spans[at]
        part = text[first:last]
        lines = _FENCE.match(part) or _INDENTED.match(part) or part.startswith("|")
        part = part if lines else _SPACE.sub(" ", part)
        adjacent = number and shown[number - 1] == at - 1
        before = text[spans[at - 1][1] : first] if adjacent else ""
        parts += (
            [("\n" if "\n" in before and (lines or "\n\n" in before) else " ")]
            if adjacent
            else [_GAP]
            if number
            else []
        )
        parts.append(part)
    lead = _GAP[1:] if text[: spans[shown[0]][0]].strip() else ""
    return f"{lead}{''.join(parts)}{_GAP[:-1] if text[spans[shown[-1]][1] :].strip() else ''}"
