"""The layers that a corpus may have."""

from __future__ import annotations

from contextlib import suppress

from e2g_neo4j.errors import CorpusChangedError, CorpusNotFoundError
from e2g_neo4j.indexing.clusters.layer import CLUSTERS
from e2g_neo4j.indexing.communities.layer import COMMUNITIES
from e2g_neo4j.indexing.entity_vectors import ENTITIES
from e2g_neo4j.indexing.sentence_vectors import SENTENCES
from e2g_neo4j.indexing.statements.layer import STATEMENTS
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.reports import Progress

LAYERS = (SENTENCES, ENTITIES, CLUSTERS, COMMUNITIES, STATEMENTS)
"""All layers, in the order in which they are made: last those that may ask the chat model, and fail."""


def update(
    models: Models, corpus: str, progress: Progress | None = None, meter: UsageMeter | None = None
) -> Operation[None]:
    """Bring the layers that a corpus has up to date.

    Args:
        models: The models.
        corpus: The corpus.
        progress: Called with the stage and its progress.
        meter: Counts the use of the chat model. Without it, the chat model is not used.
    """
    for layer in LAYERS:
        with suppress(CorpusChangedError, CorpusNotFoundError):  # whoever changes it last brings them up to date
            yield from layer.update(models, corpus, progress, meter)
