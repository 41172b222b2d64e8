"""Lucene queries for the full-text index."""

from __future__ import annotations

import re

import regex  # type: ignore[import-untyped]

from e2g_neo4j.retrieval.word_statistics import WordStatistics
from e2g_neo4j.types.ids import corpus_key

MAX_WORDS = 200
"""Maximum number of distinct words of a query. Lucene rejects queries with more than about a thousand."""

MAX_NAME = 6
"""Maximum number of words of a name that is looked for by its words. Each may stand for fifty others, and Lucene
rejects queries with more than about a thousand."""

ONE_LETTER, TWO_LETTERS = 5, 8
"""Minimum length of a word that may differ from what is meant in one letter, or in two. In a name of several words, one
of four letters may differ in one."""

_WORD = re.compile(r"\w+(?:['.]\w+)*")

_CJK, _FRENCH = "_cjk", "_french"

_ELISION = re.compile(r"^(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu)'", re.IGNORECASE)

_CJK_WORD = regex.compile(r"\p{Han}+|(?V1)[\w--\p{Han}]+")


def lucene(question: str, corpus: str, statistics: WordStatistics | None = None, *, fulltext: str = "") -> str:
    """Return a Lucene query for any word of the question within a corpus. Query syntax in the question has no effect.

    The corpus is only a filter with weight 0: a hit without a matching word has the score 0. This happens because the
    index ignores words such as "the".

    Args:
        question: The question.
        corpus: The corpus to search.
        statistics: How rare the words are in the corpora that are searched. By default, they count as in the whole
            index.
        fulltext: The suffix of the full-text indexes to search.
    """
    boosts = (
        (word, statistics.boost(word) if statistics else 1.0)
        for word in (cjk_words_of(question) if fulltext == _CJK else words_of(question, elided=fulltext == _FRENCH))
    )
    words = " ".join(f'"{word}"{_boost(value)}' for word, value in boosts)
    key, text = (f"fulltext_corpus{fulltext}", f"fulltext{fulltext}") if fulltext else ("corpus_key", "text")
    corpus_filter = f"+{key}:{corpus_key(corpus)}^0"
    return f"{corpus_filter} +{text}:({words})" if words else corpus_filter


def words_of(question: str, *, elided: bool = False) -> list[str]:
    """Return the distinct words of a question that are searched.

    Words are those of the index: "O'Neill", "3.5" and "u.s" are one word each. Apostrophes may be straight or curly.
    `elided`: without what the analyzer `french` takes from a word, such as l' in "l'homme".
    """
    found = _WORD.findall(question.replace("’", "'"))
    distinct = list(dict.fromkeys(_ELISION.sub("", word) if elided else word for word in found))[:MAX_WORDS]
    return distinct + [word.replace("'", "’") for word in distinct if "'" in word]


def cjk_words_of(question: str) -> list[str]:
    """Return the distinct words of a Chinese question as the analyzer `cjk` makes them: each two characters that follow
    each other, and words in other scripts."""
    found: dict[str, None] = {}
    for run in _CJK_WORD.findall(question):
        chinese = len(run) > 2 and regex.match(r"\p{Han}", run)
        found |= dict.fromkeys([run[at : at + 2] for at in range(len(run) - 1)] if chinese else [run])
    return list(found)[:MAX_WORDS]


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
