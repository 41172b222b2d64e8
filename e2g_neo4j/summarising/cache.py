"""The summaries that chat models wrote, kept in Neo4j: the same text is never paid for twice."""

from __future__ import annotations

from e2g_neo4j.queries import Perform, Read, Write


class SummaryCache:
    """Summaries by key. A summary is in the database before anything is made of it."""

    def __init__(self, perform: Perform, corpus: str, *, read_only: bool = False) -> None:
        self._perform = perform
        self._corpus = corpus
        self._read_only = read_only
        self._made: dict[str, str] = {}

    def find(self, key: str) -> str | None:
        if key in self._made:
            return self._made[key]
        rows = self._perform(Read("index/cached_summary", {"key": key}))
        if not rows:
            return None
        self.keep(key, rows[0]["text"])
        return self._made[key]

    def keep(self, key: str, text: str, *, model: str = "", prompt_tokens: int = 0, completion_tokens: int = 0) -> None:
        """Remember a summary; one that is known already belongs to one more corpus."""
        self._made[key] = text
        if self._read_only:
            return
        values = {"model": model, "prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
        parameters = {"key": key, "corpus": self._corpus, "text": text, **values}
        self._perform(Write((("index/cache_summary", parameters),)))
