"""`tree`: rank all chunks and summaries by vector, like RAPTOR's collapsed tree (arXiv 2401.18059)."""

from __future__ import annotations

from collections.abc import Sequence

from e2g_neo4j.retrieval.passages import ScoredNode, top_k
from e2g_neo4j.runtime.requests import Embed, Operation, read_each


def tree(question: str, *, corpora: Sequence[str], k: int) -> Operation[list[ScoredNode]]:
    """Find the k nearest chunks and summaries."""
    vector = yield Embed(question)
    parameters = {corpus: {"vector": vector, "k": k, "names": []} for corpus in corpora}
    return top_k((yield from read_each("query/nearest", parameters)), k)
