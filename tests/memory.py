"""A summary cache over a dictionary, for tests of what goes into it. The real one is tested on the real database."""

from __future__ import annotations

from typing import Any

from e2g_neo4j.indexing.asking import SummaryCache
from e2g_neo4j.runtime.requests import Read, Rows, Write


def remembering() -> tuple[SummaryCache, dict[str, dict[str, Any]]]:
    """The cache, and what is kept, by key."""
    kept: dict[str, dict[str, Any]] = {}

    def perform(step: Read | Write) -> Rows:
        if isinstance(step, Read):
            assert step.statement == "index/cached_summary"
            return [kept[step.parameters["key"]]] if step.parameters["key"] in kept else []
        [(statement, parameters)] = step.statements
        assert statement == "index/cache_summary"
        kept.setdefault(parameters["key"], parameters)
        return []

    return SummaryCache(perform, "corpus"), kept
