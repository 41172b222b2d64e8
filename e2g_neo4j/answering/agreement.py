"""How far answers agree, and the one of several that agrees most with the others.

Self-consistency (Wang et al., arXiv 2203.11171) samples several answers and takes the most frequent one. Answers in
words are rarely equal, so here the one with the highest mean F1 to the others is taken. Of answers that agree alike,
such as two, it is the one that its citations support best.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from string import punctuation

from e2g_neo4j.answering.support import passages_of, support
from e2g_neo4j.types.results import Answer

_CITATION = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", punctuation)

DIGITS = 9
"""Decimals of mean F1 that are compared. Smaller differences are of rounding."""


def most_agreed(answers: Sequence[Answer]) -> Answer:
    """Return the answer that agrees most with the others: the letter chosen most often, or the highest mean F1.

    Of several, the one with the most support (see `support`) is returned, or the first.

    Args:
        answers: The answers to one question, at least one, all with a letter or all without.
    """
    letters = Counter(one.choice for one in answers)
    words = [normalised(without_citations(one.text or "")) for one in answers]

    def agreement(at: int) -> float:
        if answers[at].choice is not None:
            return letters[answers[at].choice]
        return round(sum(f1(words[at], other) for number, other in enumerate(words) if number != at), DIGITS)

    def rank(at: int) -> tuple[float, float]:
        return agreement(at), support(answers[at].text or "", passages_of(answers[at])) or 0.0

    return answers[max(range(len(answers)), key=rank)]


def without_citations(text: str) -> str:
    """Return an answer without the numbers of its passages."""
    return _CITATION.sub(" ", text)


def words_of(text: str) -> list[str]:
    """Return the words in lower case, without punctuation."""
    return text.lower().translate(_NO_PUNCTUATION).split()


def normalised(text: str) -> list[str]:
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
