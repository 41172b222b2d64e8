"""The cache of summaries by chat models, stored in Neo4j, so that a corpus never pays for the same text twice."""

from __future__ import annotations

from e2g_neo4j.runtime.requests import Execute, Read, Write
from e2g_neo4j.types.chat import ChatUsage
from e2g_neo4j.types.ids import cached_key


class SummaryCache:
    """Summaries of a corpus by key. They are stored in the database before they are used."""

    def __init__(self, perform: Execute, corpus: str, *, read_only: bool = False) -> None:
        self._perform = perform
        self._corpus = corpus
        self._read_only = read_only
        self._made: dict[str, str] = {}

    def find(self, key: str) -> str | None:
        """Return a cached summary, or None."""
        if key in self._made:
            return self._made[key]
        rows = self._perform(Read("index/cached_summary", {"key": cached_key(self._corpus, key)}))
        if rows:
            self._made[key] = rows[0]["text"]
        return self._made.get(key)

    def keep(self, key: str, text: str, *, model: str = "", used: ChatUsage | None = None) -> None:
        """Store a summary, with the tokens that it took."""
        self._made[key] = text
        if self._read_only:
            return
        used = used or ChatUsage()
        values = {"model": model, "prompt_tokens": used.prompt_tokens, "completion_tokens": used.completion_tokens}
        parameters = {"key": cached_key(self._corpus, key), "corpus": self._corpus, "text": text, **values}
        self._perform(Write((("index/cache_summary", parameters),)))
