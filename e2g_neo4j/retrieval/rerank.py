"""Order the best passages of any mode by a reranker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from e2g_neo4j.retrieval.passages import ScoredNode
from e2g_neo4j.runtime.requests import Operation, Rerank
from e2g_neo4j.types.ties import best_first

CANDIDATES = 50
"""Chunks that a mode ranks for the reranker, or more if more are requested."""

CANDIDATE_WINDOWS = 100
"""Windows that a mode ranks for the reranker, or more if more are requested."""

CHARACTERS = 100_000
"""Text of candidates that is reranked: about a hundred windows of 240 tokens. Later candidates keep their order. A
cross-encoder's time is proportional to the text."""

TIE = 1e-6
"""Scores that differ by at most this are ties, which keep the order of the mode."""


def reranked(question: str, ranked: Sequence[ScoredNode]) -> Operation[list[ScoredNode]]:
    """Order nodes by the reranker.

    Nodes that were not reranked follow, with the lowest score of those that were.

    Args:
        question: The question.
        ranked: Windows, chunks or summaries, best first.
    """
    nodes = [node for node in ranked if node.row["text"]]  # empty if an adopted text node was deleted
    if not nodes:
        return []
    count, size = 0, 0
    while count < len(nodes) and (not count or size + len(nodes[count].row["text"]) <= CHARACTERS):
        size += len(nodes[count].row["text"])
        count += 1
    scores: list[float] = yield Rerank(question, tuple(node.row["text"] for node in nodes[:count]))
    ordered = [replace(nodes[i], score=scores[i]) for i in best_first(scores, TIE)]
    return ordered + [replace(node, score=min(scores)) for node in nodes[count:]]
