"""Keep the layers of a corpus that `enrich` has made up to date."""

from __future__ import annotations

from contextlib import suppress

from e2g_neo4j.errors import CorpusChangedError, CorpusNotFoundError
from e2g_neo4j.indexing import entity_vectors
from e2g_neo4j.indexing.clusters import layer as clusters
from e2g_neo4j.indexing.communities import layer as communities
from e2g_neo4j.indexing.statements import layer as statements
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.reports import Progress


def update(
    models: Models, corpus: str, progress: Progress | None = None, meter: UsageMeter | None = None
) -> Operation[None]:
    """Bring vectors of entities, clusters, communities and statements up to date, if the corpus has any.

    Args:
        models: the models.
        corpus: the corpus.
        progress: called with the stage and its progress.
        meter: counts the use of the chat model. Without it, the chat model is not used.
    """
    updates = (
        entity_vectors.update(models, corpus, progress),
        clusters.update(models, corpus, progress),  # before what may ask the chat model, and fail
        communities.update(models, corpus, progress, meter),
        statements.update(models, corpus, progress, meter),
    )
    for one in updates:
        with suppress(CorpusChangedError, CorpusNotFoundError):  # whoever changes it last brings them up to date
            yield from one
