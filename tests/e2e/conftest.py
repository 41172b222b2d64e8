"""End-to-end tests load every model once a process, not once a command, and extract in that process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from e2g_neo4j.models.embedding import load
from e2g_neo4j.models.entities import pipeline


@pytest.fixture(scope="session", autouse=True)
def _models_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "load_embedder", cache(load.load_embedder))
        patch.setattr(pipeline, "load_pipeline", cache(pipeline.load_pipeline))
        patch.setenv("E2G_WORKERS", "1")  # starting other processes takes longer than a small library
        yield
