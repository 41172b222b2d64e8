"""Lucene queries for the full-text index."""

from __future__ import annotations

import re

import regex  # type: ignore[import-untyped]

from e2g_neo4j.retrieval.word_statistics import WordStatistics
from e2g_neo4j.types.ids import corpus_key

MAX_WORDS = 200
"""Maximum number of distinct words of a query. Lucene rejects queries with more than about a thousand."""

_WORD = re.compile(r"\w+(?:['.]\w+)*")


_CJK_WORD = regex.compile(r"\p{Han}+|(?V1)[\w--\p{Han}]+")


def lucene(question: str, corpus: str, statistics: WordStatistics | None = None, *, cjk: bool = False) -> str:
    """Return a Lucene query for any word of the question within a corpus. Query syntax in the question has no effect.

    The corpus is only a filter with weight 0: a hit without a matching word has the score 0. This happens because the
    index ignores words such as "the".

    Args:
        question: The question.
        corpus: The corpus to search.
        statistics: How rare the words are in the corpora that are searched. By default, they count as in the whole
            index.
        cjk: Whether to search the full-text indexes of Chinese text.
    """
    boosts = (
        (word, statistics.boost(word) if statistics else 1.0)
        for word in (cjk_words_of(question) if cjk else words_of(question))
    )
    words = " ".join(f'"{word}"{_boost(value)}' for word, value in boosts)
    corpus_filter = f"+{'cjk_key' if cjk else 'corpus_key'}:{corpus_key(corpus)}^0"
    return f"{corpus_filter} +{'cjk' if cjk else 'text'}:({words})" if words else corpus_filter


def words_of(question: str) -> list[str]:
    """Return the distinct words of a question that are searched.

    Words are those of the index: "O'Neill", "3.5" and "u.s" are one word each. Apostrophes may be straight or curly.
    """
    distinct = list(dict.fromkeys(_WORD.findall(question.replace("’", "'"))))[:MAX_WORDS]
    return distinct + [word.replace("'", "’") for word in distinct if "'" in word]


def cjk_words_of(question: str) -> list[str]:
    """Return the distinct words of a Chinese question as the analyzer `cjk` makes them: each two characters that follow
    each other, and words in other scripts."""
    found: dict[str, None] = {}
    for run in _CJK_WORD.findall(question):
        chinese = len(run) > 2 and regex.match(r"\p{Han}", run)
        found |= dict.fromkeys([run[at : at + 2] for at in range(len(run) - 1)] if chinese else [run])
    return list(found)[:MAX_WORDS]


def _boost(value: float) -> str:
    rounded = f"{value:.3f}"
    return "" if rounded == "1.000" else f"^{rounded}"
