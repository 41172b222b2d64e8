"""`fulltext`: chunks by BM25, from Neo4j's full-text index. Word statistics are those of the whole index."""

from __future__ import annotations

import re
from collections.abc import Sequence

from e2g_neo4j.evidence import Ranked, best
from e2g_neo4j.queries import Story, corpus_key, read_each

MOST_WORDS = 200
"""Different words of a question that are searched for; Lucene refuses some thousand."""

_WORD = re.compile(r"\w+(?:['.]\w+)*")


def fulltext(question: str, *, corpora: Sequence[str], k: int) -> Story[list[Ranked]]:
    asked = {corpus: {"words": lucene(question, corpus), "k": k} for corpus in corpora}
    return best((yield from read_each("query/fulltext", asked)), k)


def lucene(question: str, corpus: str) -> str:
    """A Lucene query for any of the question's words, inside a corpus; data stays data, whatever signs it holds.

    Words are what the index takes for words: "O'Neill", "3.5" and "u.s" are one each, and an apostrophe may be
    straight or curly. The corpus only narrows: its share of the score is weighed with 0, so that whatever is found
    without any word (the index ignores "the" and the like) has the score 0.
    """
    found = list(dict.fromkeys(_WORD.findall(question.replace("’", "'"))))[:MOST_WORDS]
    found += [word.replace("'", "’") for word in found if "'" in word]
    words = " ".join(f'"{word}"' for word in found)
    inside = f"+corpus_key:{corpus_key(corpus)}^0"
    return f"{inside} +text:({words})" if words else inside
