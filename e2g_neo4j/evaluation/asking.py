"""Ask a question, and measure time and length of the evidence."""

from __future__ import annotations

import time
from typing import Any, Unpack

from e2g_neo4j.client import E2G
from e2g_neo4j.evaluation.results import PARTS
from e2g_neo4j.retrieval.options import RetrievalKeywords
from e2g_neo4j.runtime.requests import Chat, Embed, EmbedAll, Request, Rerank
from e2g_neo4j.types.results import Evidence


class _Parts:
    """Measures the seconds of each of PARTS of one question. Their sum is the time of `E2G.retrieve`."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._part = "reading"  # spaCy processes the question before the first request
        self._began = time.perf_counter()

    def requested(self, request: Request) -> None:
        self.ended(self._part)

    def executed(self, request: Request, result: Any) -> None:
        kinds = {Embed: "embedding", EmbedAll: "embedding", Rerank: "ranking", Chat: "ranking"}
        self.ended(kinds.get(type(request), "database"))
        self._part = "ranking"

    def ended(self, part: str | None = None) -> None:
        now = time.perf_counter()
        self.seconds[part or self._part] += now - self._began
        self._began = now


def ask(
    e2g: E2G, question: str, *, corpus: str, **retrieval: Unpack[RetrievalKeywords]
) -> tuple[Evidence, dict[str, float]]:
    """Retrieve the evidence and measure the seconds of each of PARTS."""
    parts = _Parts()
    with e2g.runner.observed(parts):
        evidence = e2g.retrieve(question, corpus=corpus, **retrieval)
    parts.ended()
    return evidence, parts.seconds


def tokens_of(e2g: E2G, evidence: Evidence) -> int:
    """Return the length of all passages together, in tokens of the embedding model."""
    return sum(len(e2g.models.embedder.token_spans(passage.text)) for passage in evidence.passages)
