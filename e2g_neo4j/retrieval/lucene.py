"""Lucene queries for the full-text index, and how rare their words are in the corpora that are searched.

BM25 weighs a word by its rarity (idf) in the whole full-text index, which has all corpora of the database. A boost of
(idf in the searched corpora) / (idf in the index) corrects this. The first read of a question returns the numbers of
windows that contain its words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import regex  # type: ignore[import-untyped]

from e2g_neo4j.models.words import divide_words, terms
from e2g_neo4j.types.ids import corpus_key

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


MAX_WORDS = 200
"""Maximum number of distinct words of a query. Lucene rejects queries with more than about a thousand."""

MAX_NAME = 6
"""Maximum number of words of a name that is looked for by its words. Each may stand for fifty others, and Lucene
rejects queries with more than about a thousand."""

ONE_LETTER, TWO_LETTERS = 5, 8
"""Minimum length of a word that may differ from what is meant in one letter, or in two. In a name of several words, one
of four letters may differ in one."""

MAX_CHARACTERS = 1_000
"""Characters of a question that are searched for in other languages than English: each may be a word."""

_WORD = regex.compile(r"[\w\p{M}\p{Cf}]+(?:['.][\w\p{M}\p{Cf}]+)*")

_OPERATORS = {"AND", "OR", "NOT", "TO"}


def lucene(question: str, corpus: str, statistics: WordStatistics | None = None, *, fulltext: str = "") -> str:
    """Return a Lucene query for any word of the question within a corpus. Query syntax in the question has no effect.

    The corpus is only a filter with weight 0: a hit without a matching word has the score 0. This happens because the
    index ignores words such as "the".

    Args:
        statistics: How rare the words are in the corpora that are searched. By default, they count as in the whole
            index.
        fulltext: The suffix of the full-text indexes to search. Their analyzer divides what has no spaces into words,
            which would be a phrase in quotation marks.
    """
    if fulltext:
        key, text = f"fulltext_corpus{fulltext}", f"fulltext{fulltext}"
        asked = question[:MAX_CHARACTERS]
        found = distinct_words(divide_words(asked) or asked, MAX_CHARACTERS)
        words = " ".join(word.lower() if word in _OPERATORS else word for word in found)
    else:
        key, text = "corpus_key", "text"
        boosts = ((word, statistics.boost(word) if statistics else 1.0) for word in words_of(question))
        words = " ".join(f'"{word}"{_boost(value)}' for word, value in boosts)
    corpus_filter = f"+{key}:{corpus_key(corpus)}^0"
    return f"{corpus_filter} +{text}:({words})" if words else corpus_filter


def words_of(question: str) -> list[str]:
    """Return the distinct words of a question that are searched in English text.

    Words are those of the index: "O'Neill", "3.5" and "u.s" are one word each. Apostrophes may be straight or curly.
    """
    distinct = distinct_words(question)
    return distinct + [word.replace("'", "’") for word in distinct if "'" in word]


def distinct_words(question: str, most: int = MAX_WORDS) -> list[str]:
    """Return the words of a question, at most so many. Marks belong to their letters."""
    found = _WORD.findall(question.replace("’", "'"))
    return list(dict.fromkeys(found))[:most]


def name_queries(name: str) -> list[list[str]]:
    """Return, for each word of the key of a name, queries for the word itself, for words that differ from it in at most
    one letter, and in at most two. Two neighbouring letters that changed places are one difference."""
    queries = []
    words = name.split()
    for word in words:
        same = re.sub(r"(\W)", r"\\\1", word)
        near = f"{same}~1" if len(word) >= ONE_LETTER - (len(words) > 1) else same
        far = f"{same}~2" if len(word) >= TWO_LETTERS else near
        queries.append([same, near, far])
    return queries


def _boost(value: float) -> str:
    rounded = f"{value:.3f}"
    return "" if rounded == "1.000" else f"^{rounded}"
