"""`dense`: chunks by their nearest window."""

from __future__ import annotations

from e2g_neo4j.evidence import Ranked
from e2g_neo4j.queries import Embed, Read, Rows, Story

WINDOWS = 6
"""Windows looked at for each chunk wanted: a chunk of 1200 tokens has five of 254, and a neighbour may share one."""


def dense(question: str, *, corpus: str, k: int) -> Story[list[Ranked]]:
    vector = yield Embed(question)
    rows: Rows = yield Read("query/dense", {"corpus": corpus, "vector": vector, "windows": WINDOWS * k, "k": k})
    return [Ranked(row, row["score"]) for row in rows]
