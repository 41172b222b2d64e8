"""`dense`: rank chunks by their nearest window."""

from __future__ import annotations

from collections.abc import Sequence

from e2g_neo4j.retrieval.passages import ScoredNode, top_k
from e2g_neo4j.runtime.requests import Embed, Operation, read_each

WINDOWS = 6
"""Windows to read per requested chunk. A chunk of 1200 tokens has five of 254, and a neighbour may share one."""


def dense(question: str, *, corpora: Sequence[str], k: int) -> Operation[list[ScoredNode]]:
    """Find the k chunks with the nearest windows."""
    vector = yield Embed(question)
    parameters = {corpus: {"vector": vector, "windows": WINDOWS * k, "k": k} for corpus in corpora}
    return top_k((yield from read_each("query/dense", parameters)), k)
