"""Keep the layers of a corpus that `enrich` has made up to date."""

from __future__ import annotations

from e2g_neo4j.indexing import entity_vectors
from e2g_neo4j.indexing.clusters import layer as clusters
from e2g_neo4j.indexing.communities import layer as communities
from e2g_neo4j.indexing.summaries.base import Summariser
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.reports import Progress


def update(
    models: Models, corpus: str, progress: Progress | None = None, summariser: Summariser | None = None
) -> Operation[None]:
    """Bring communities, clusters and vectors of entities up to date, if the corpus has any.

    Args:
        models: the configured models.
        corpus: the corpus.
        progress: called with the stage and its progress.
        summariser: writes the summaries of clusters. None: the one that indexing uses, without a budget.
    """
    yield from entity_vectors.update(models, corpus, progress)
    yield from communities.update(models, corpus, progress)
    yield from clusters.update(models, corpus, progress, summariser)
