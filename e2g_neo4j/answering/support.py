"""How much of an answer the passages have that it cites, by words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from e2g_neo4j.types.results import Answer

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


def cited_claims(text: str) -> list[tuple[str, list[int]]]:
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
    """Return how much of the claims of an answer the passages have that they cite. None: it cites none.

    Args:
        text: The answer with its citations, numbers in brackets.
        passages: The texts of the cited passages by number.
    """
    shares = []
    for claim, numbers in cited_claims(text):
        words = content_words(claim)
        cited = frozenset[str]().union(*(content_words(passages.get(number, "")) for number in numbers))
        shares.append(len(words & cited) / len(words))
    return sum(shares) / len(shares) if shares else None
