"""How rare the words of a question are in the corpora that are searched.

BM25 weighs a word by its rarity (idf) in the whole full-text index, which has all corpora of the database. A boost of
(idf in the searched corpora) / (idf in the index) corrects this. The first read of a question returns the numbers of
windows that contain its words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from e2g_neo4j.models.words import terms

LEAST_BOOST, MOST_BOOST = 0.02, 50.0
"""Bounds of a boost, for words that are in almost every window of the corpora, or of all others. There the weight in
the index is least certain, because Lucene counts deleted text until it merges its files."""


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """The numbers of windows that the rarity of words is computed from.

    Attributes:
        windows: Number of windows of the corpora that are searched.
        index_windows: Number of windows of the full-text index, which has all corpora.
        by_term: For each term of the question, the number of windows that contain it, of the corpora and of the index.
            Without terms that the corpora do not have.
    """

    windows: int
    index_windows: int
    by_term: Mapping[str, tuple[int, int]]

    def boost(self, word: str) -> float:
        """Return the factor that changes the weight of a word in the index to its weight in the corpora.

        It is 1 if nothing is known about the word. The weight of a word of several terms is the sum of theirs, as in
        Lucene.
        """
        of_word = list(terms(word))
        if not of_word or any(term not in self.by_term for term in of_word):
            return 1.0
        here = sum(idf(self.windows, self.by_term[term][0]) for term in of_word)
        everywhere = sum(idf(self.index_windows, self.by_term[term][1]) for term in of_word)
        return min(max(here / everywhere, LEAST_BOOST), MOST_BOOST)


def idf(windows: int, containing: int) -> float:
    """Return the inverse document frequency of BM25, as Lucene computes it."""
    return log(1 + (windows - containing + 0.5) / (containing + 0.5))


def terms_of(words: Iterable[str]) -> list[str]:
    """Return the distinct terms of some words, to read their statistics."""
    return list(dict.fromkeys(term for word in words for term in terms(word)))


def word_statistics(rows: Sequence[Mapping[str, Any]]) -> WordStatistics:
    """Return the statistics of the corpora that are searched, taken together, so that their scores can be compared.

    Args:
        rows: Rows of `link.cypher` or `corpus.cypher`, one per corpus.
    """
    found = [row["words"] for row in rows]
    here, everywhere = Counter[str](), dict[str, int]()
    for one in (term for words in found for term in words["terms"]):
        here[one["term"]] += one["windows"]
        everywhere[one["term"]] = one["index_windows"]
    return WordStatistics(
        windows=sum(words["windows"] for words in found),
        index_windows=max((words["index_windows"] for words in found), default=0),
        by_term={term: (here[term], everywhere[term]) for term in here},
    )
