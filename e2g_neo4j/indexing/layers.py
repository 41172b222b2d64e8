"""The layers that a corpus may have."""

from __future__ import annotations

from e2g_neo4j.errors import BudgetError, CorpusChangedError, CorpusNotFoundError, ModelError
from e2g_neo4j.indexing.clusters.layer import CLUSTERS
from e2g_neo4j.indexing.communities.layer import COMMUNITIES
from e2g_neo4j.indexing.descriptions import DESCRIPTIONS
from e2g_neo4j.indexing.statements.layer import STATEMENTS
from e2g_neo4j.indexing.typed.layer import TYPED
from e2g_neo4j.indexing.vector_layers import ENTITIES, SENTENCES
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.reports import Progress

LAYERS = (SENTENCES, ENTITIES, CLUSTERS, STATEMENTS, TYPED, COMMUNITIES, DESCRIPTIONS)
"""All layers, in the order in which they are made. The typed graph, communities and descriptions may be made from
statements."""


def update(
    models: Models, corpus: str, progress: Progress | None = None, meter: UsageMeter | None = None
) -> Operation[None]:
    """Bring the layers that a corpus has up to date. If the chat model fails, this raises its error after the others.

    Args:
        meter: Counts the use of the chat model. Without it, the chat model is not used.
    """
    failed: Exception | None = None
    for layer in LAYERS:
        try:
            yield from layer.update(models, corpus, progress, meter)
        except (CorpusChangedError, CorpusNotFoundError):
            pass  # whoever changes it last brings them up to date
        except (BudgetError, ModelError) as error:
            failed = failed or error
    if failed:
        raise failed
