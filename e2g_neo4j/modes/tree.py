"""`tree`: the nearest chunks and summaries of the whole tree, as RAPTOR's collapsed tree (arXiv 2401.18059)."""

from __future__ import annotations

from e2g_neo4j.evidence import Ranked
from e2g_neo4j.queries import Embed, Read, Rows, Story


def tree(question: str, *, corpus: str, k: int) -> Story[list[Ranked]]:
    vector = yield Embed(question)
    rows: Rows = yield Read("query/nearest", {"corpus": corpus, "vector": vector, "k": k, "names": []})
    return [Ranked(row, row["score"]) for row in rows]
