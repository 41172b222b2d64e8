"""From ranked windows and chunks to passages: rerank them, choose those that fit the budget, and read their text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from e2g_neo4j.retrieval.options import Unit
from e2g_neo4j.retrieval.passages import ScoredNode, TokenSpans, fit_nodes, passages, read_chunks, read_windows
from e2g_neo4j.retrieval.windows import Budget, Window, chunks_of, pack
from e2g_neo4j.runtime.requests import Operation, Rerank
from e2g_neo4j.types.results import Pair, Passage
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


def rerank(question: str, ranked: Sequence[ScoredNode]) -> Operation[list[ScoredNode]]:
    """Order nodes by the reranker.

    Nodes that were not reranked follow, with the lowest score of those that were.

    Args:
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


@dataclass(frozen=True, slots=True)
class Selection:
    """How the passages of a question are chosen from a ranking.

    Attributes:
        corpora: The corpora to search.
        budget: How much text to return.
        unit: What is ranked.
        token_spans: Returns the span of each token of a text, for a budget in tokens.
        reranker: The name of the reranker, if any.
    """

    question: str
    corpora: Sequence[str]
    budget: Budget
    unit: Unit
    token_spans: TokenSpans
    reranker: str | None = None

    @property
    def windows(self) -> int:
        """How many windows a mode has to rank."""
        windows = self.budget.windows_to_read()
        return max(windows, CANDIDATE_WINDOWS) if self.reranker else windows

    @property
    def chunks(self) -> int:
        """How many chunks a mode that ranks chunks has to rank."""
        chunks = self.budget.chunks_to_read()
        return max(chunks, CANDIDATES) if self.reranker else chunks

    def of_windows(
        self, ranked: Sequence[tuple[Window, float]], pairs: Mapping[str, tuple[Pair, ...]] | None = None
    ) -> Operation[tuple[Passage, ...]]:
        """Return the passages of ranked windows, or of their chunks if these are the unit.

        Args:
            ranked: Windows with their scores, best first.
            pairs: Per chunk, the pairs of the question's entities that it mentions.
        """
        if self.unit == "chunk":
            return (yield from self.of_chunks(chunks_of(ranked, self.chunks), pairs))
        if self.reranker is None:
            return self._merge_nodes((yield from self._window_texts(pack(ranked, self.budget), pairs)))
        candidates = ranked[: self.windows]
        nodes = yield from rerank(self.question, (yield from self._window_texts(candidates, pairs)))
        by_id = {window.id: window for window, _ in candidates}
        texts = {node.row["id"]: node for node in nodes}
        chosen = pack([(by_id[node.row["id"]], node.score) for node in nodes], self.budget)
        return self._merge_nodes([texts[window.id] for window, _ in chosen])

    def of_chunks(
        self, ranked: Sequence[tuple[str, float]], pairs: Mapping[str, tuple[Pair, ...]] | None = None
    ) -> Operation[tuple[Passage, ...]]:
        """Return the passages of ranked chunks.

        Args:
            ranked: Ids of chunks with their scores, best first.
            pairs: Per chunk, the pairs of the question's entities that it mentions.
        """
        ids = [chunk for chunk, _ in ranked]
        by_id = yield from read_chunks(ids, self.corpora)
        found = pairs or {}
        nodes = [ScoredNode(by_id[id], score, found.get(id, ())) for id, score in ranked if id in by_id]
        return (yield from self.of_nodes(nodes))

    def of_nodes(self, ranked: Sequence[ScoredNode], *, skip: bool = False) -> Operation[tuple[Passage, ...]]:
        """Return the passages of ranked chunks, summaries and clusters whose text has been read.

        Args:
            ranked: Nodes, best first.
            skip: Whether to skip nodes that do not fit the budget, instead of cutting the first of them.
        """
        if self.reranker is not None:
            ranked = yield from rerank(self.question, ranked)
        return self._merge_nodes(ranked[: self.budget.chunks_to_read()], skip=skip)

    def _merge_nodes(self, nodes: Sequence[ScoredNode], *, skip: bool = False) -> tuple[Passage, ...]:
        tokens = self.budget.tokens
        chosen = nodes if tokens is None else fit_nodes(nodes, tokens, self.token_spans, skip=skip)
        return passages(chosen, self.question)

    def _window_texts(
        self, windows: Sequence[tuple[Window, float]], pairs: Mapping[str, tuple[Pair, ...]] | None
    ) -> Operation[list[ScoredNode]]:
        by_id = yield from read_windows([window.id for window, _ in windows], self.corpora)
        found = pairs or {}
        return [
            ScoredNode(by_id[window.id], score, found.get(window.chunk, ()), window.signals, window.referred)
            for window, score in windows
            if window.id in by_id  # missing if its document was replaced between the two reads
        ]
