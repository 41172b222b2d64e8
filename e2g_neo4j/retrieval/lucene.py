"""Lucene queries for the full-text index."""

from __future__ import annotations

import re

from e2g_neo4j.retrieval.word_statistics import WordStatistics
from e2g_neo4j.types.ids import corpus_key

MAX_WORDS = 200
"""Maximum number of distinct words of a query. Lucene rejects queries with more than about a thousand."""

_WORD = re.compile(r"\w+(?:['.]\w+)*")


def lucene(question: str, corpus: str, statistics: WordStatistics | None = None) -> str:
    """Return a Lucene query for any word of the question within a corpus. Query syntax in the question has no effect.

    The corpus is only a filter with weight 0: a hit without a matching word has the score 0. This happens because the
    index ignores words such as "the".

    Args:
        question: The question.
        corpus: The corpus to search.
        statistics: How rare the words are in the corpora that are searched. By default, they count as in the whole
            index.
    """
    boosts = ((word, statistics.boost(word) if statistics else 1.0) for word in words_of(question))
    words = " ".join(f'"{word}"{_boost(value)}' for word, value in boosts)
    corpus_filter = f"+corpus_key:{corpus_key(corpus)}^0"
    return f"{corpus_filter} +text:({words})" if words else corpus_filter


def words_of(question: str) -> list[str]:
    """Return the distinct words of a question that are searched.

    Words are those of the index: "O'Neill", "3.5" and "u.s" are one word each. Apostrophes may be straight or curly.
    """
    distinct = list(dict.fromkeys(_WORD.findall(question.replace("’", "'"))))[:MAX_WORDS]
    return distinct + [word.replace("'", "’") for word in distinct if "'" in word]


def _boost(value: float) -> str:
    rounded = f"{value:.3f}"
    return "" if rounded == "1.000" else f"^{rounded}"
