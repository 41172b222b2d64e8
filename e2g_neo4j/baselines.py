"""Retrieval without the entity graph, over the same database: what the paper's way has to beat.

`dense` ranks chunks by their nearest window, `fulltext` by BM25, `hybrid` adds the reciprocal ranks of both, and
`tree` takes the nearest chunks and summaries of the whole tree, as RAPTOR's collapsed tree does (arXiv 2401.18059).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from e2g_neo4j.evidence import Ranked
from e2g_neo4j.queries import Embed, Read, Rows, Story

WINDOWS = 6
"""Windows looked at for each chunk wanted: a chunk of 1200 tokens has five of 254, and a neighbour may share one."""

RANK_OFFSET = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): 1 / (60 + rank)."""

DEPTH = 50
"""Chunks of each list that `hybrid` fuses, or 2k if that is more."""

MOST_WORDS = 200
"""Different words of a question that are searched for; Lucene refuses some thousand."""

_WORD = re.compile(r"\w+")
_LUCENE = re.compile(r'[+\-!(){}\[\]^"~*?:\\/&|]')


def dense(question: str, *, corpus: str, k: int) -> Story[list[Ranked]]:
    return _ranked((yield from _dense(question, corpus, k)))


def fulltext(question: str, *, corpus: str, k: int) -> Story[list[Ranked]]:
    return _ranked((yield from _fulltext(question, corpus, k)))


def hybrid(question: str, *, corpus: str, k: int) -> Story[list[Ranked]]:
    depth = max(DEPTH, 2 * k)
    by_vector = yield from _dense(question, corpus, depth)
    by_words = yield from _fulltext(question, corpus, depth)
    return fused(by_vector, by_words)[:k]


def tree(question: str, *, corpus: str, k: int) -> Story[list[Ranked]]:
    vector = yield Embed(question)
    rows: Rows = yield Read("query/nearest", {"corpus": corpus, "vector": vector, "k": k, "names": []})
    return _ranked(rows)


def fused(*rankings: Sequence[dict[str, Any]]) -> list[Ranked]:
    """Nodes of several rankings by the sum of 1 / (60 + rank), best first; ties by id."""
    scores: dict[str, float] = {}
    rows: dict[str, dict[str, Any]] = {}
    for ranking in rankings:
        for rank, row in enumerate(ranking, 1):
            rows[row["id"]] = row
            scores[row["id"]] = scores.get(row["id"], 0.0) + 1 / (RANK_OFFSET + rank)
    return [Ranked(rows[node], scores[node]) for node in sorted(scores, key=lambda node: (-scores[node], node))]


def lucene(question: str, corpus: str) -> str:
    """A Lucene query for any of the question's words, inside a corpus; data stays data, whatever signs it holds.

    The corpus only narrows: its share of the score is weighed with 0.
    """
    words = " ".join(f'"{word}"' for word in list(dict.fromkeys(_WORD.findall(question)))[:MOST_WORDS])
    name = _LUCENE.sub(lambda sign: "\\" + sign[0], corpus)
    return f'+corpus:"{name}"^0 +text:({words})'


def _dense(question: str, corpus: str, k: int) -> Story[Rows]:
    vector = yield Embed(question)
    rows: Rows = yield Read("query/dense", {"corpus": corpus, "vector": vector, "windows": WINDOWS * k, "k": k})
    return rows


def _fulltext(question: str, corpus: str, k: int) -> Story[Rows]:
    if not _WORD.search(question):
        return []
    rows: Rows = yield Read("query/fulltext", {"corpus": corpus, "words": lucene(question, corpus), "k": k})
    return rows


def _ranked(rows: Rows) -> list[Ranked]:
    return [Ranked(row, row["score"]) for row in rows]
