"""End-to-end tests load every model once a process, not once a command."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from e2g_neo4j import extraction
from e2g_neo4j.embedding import embedder


@pytest.fixture(scope="session", autouse=True)
def _models_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedder, "load_embedder", cache(embedder.load_embedder))
        patch.setattr(extraction, "load_pipeline", cache(extraction.load_pipeline))
        yield
