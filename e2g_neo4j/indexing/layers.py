"""Keep the layers of a corpus that `enrich` has made up to date."""

from __future__ import annotations

from e2g_neo4j.indexing import entity_vectors
from e2g_neo4j.indexing.communities import layer as communities
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.reports import Progress


def update(models: Models, corpus: str, progress: Progress | None = None) -> Operation[None]:
    """Bring communities and vectors of entities up to date, if the corpus has any."""
    yield from entity_vectors.update(models, corpus, progress)
    yield from communities.update(models, corpus, progress)
