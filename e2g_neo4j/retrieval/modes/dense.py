"""`dense`: rank windows by the cosine of their vectors to that of the question."""

from __future__ import annotations

from collections.abc import Sequence

from e2g_neo4j.retrieval.windows import Window, ranked_windows
from e2g_neo4j.runtime.requests import Embed, Operation, read_each


def dense(question: str, *, corpora: Sequence[str], limit: int) -> Operation[list[tuple[Window, float]]]:
    """Find the nearest windows, at most `limit` of each corpus. Scores are (1 + cosine) / 2."""
    vector = yield Embed(question)
    parameters = {"vector": vector, "limit": limit}
    return ranked_windows((yield from read_each("query/dense", dict.fromkeys(corpora, parameters))))
