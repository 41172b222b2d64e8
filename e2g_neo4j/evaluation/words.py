"""Compare texts by their words: an answer with another, and with the passages that it cites."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import punctuation

from e2g_neo4j.types.results import Answer

_CITATION = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", punctuation)
_STOP = (
    "a an the of in on at to for and or is are was were be been by with as that this which it its from can may not "
    "their has have had than into also such used include includes including who whom what these those"
)
STOP_WORDS = frozenset(_STOP.split())
STEM = 6
"""Number of letters of a content word that are compared, which ignores most endings."""

_CLAIM = re.compile(r"([^\[\]]*)((?:\[\d+(?:\s*,\s*\d+)*\]\s*)+)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)")


@lru_cache(maxsize=8192)
def content_words(text: str) -> frozenset[str]:
    """Return the first six letters of each word of a text, in lower case, without stop words."""
    return frozenset(word[:STEM] for word in re.findall(r"[^\W_]+", text.casefold()) if word not in STOP_WORDS)


def split_claims(text: str) -> list[tuple[str, list[int]]]:
    """Return the claims of an answer with the numbers of the passages that they cite.

    A claim is the sentence that ends with a citation, or what follows the last one.
    """
    found = []
    for before, citations in _CLAIM.findall(text):
        claim = _SENTENCE_END.split(before.strip())[-1]
        if content_words(claim):
            found.append((claim, [int(number) for number in re.findall(r"\d+", citations)]))
    return found


def passages_of(answer: Answer) -> dict[int, str]:
    """Return the texts of the passages that an answer cites, by number."""
    return {one.number: one.passage.text for one in answer.citations}


def support(text: str, passages: Mapping[int, str]) -> float | None:
    """Return how much of the claims of an answer the passages, by number, have that they cite. None: it cites none."""
    shares = []
    for claim, numbers in split_claims(text):
        words = content_words(claim)
        cited = frozenset[str]().union(*(content_words(passages.get(number, "")) for number in numbers))
        shares.append(len(words & cited) / len(words))
    return sum(shares) / len(shares) if shares else None


def without_citations(text: str) -> str:
    """Return an answer without the numbers of its passages."""
    return _CITATION.sub(" ", text)


def words_of(text: str) -> list[str]:
    """Return the words in lower case, without punctuation."""
    return text.lower().translate(_NO_PUNCTUATION).split()


def normalise_answer(text: str) -> list[str]:
    """Return the words in lower case, without punctuation and English articles, as for SQuAD (arXiv 1606.05250)."""
    return _ARTICLES.sub(" ", " ".join(words_of(text))).split()


def f1(said: Sequence[str], right: Sequence[str]) -> float:
    """Return the harmonic mean of precision and recall of words, which count as often as they occur."""
    return f_measure((Counter(said) & Counter(right)).total(), said, right)


def f_measure(common: int, said: Sequence[str], right: Sequence[str]) -> float:
    """Return the harmonic mean of precision and recall of `common` words. Two empty texts are the same: 1."""
    if not said and not right:
        return 1.0
    return 2 * common / (len(said) + len(right))
