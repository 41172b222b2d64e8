"""Choose the summariser by the configured models."""

from __future__ import annotations

from e2g_neo4j.indexing.summaries.base import Summariser
from e2g_neo4j.indexing.summaries.cache import SummaryCache
from e2g_neo4j.indexing.summaries.chat import ChatSummariser
from e2g_neo4j.indexing.summaries.extractive import ExtractiveSummariser
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.types.chat import ChatModel


def summariser_of(models: Models, model: ChatModel | None, cache: SummaryCache, meter: UsageMeter) -> Summariser:
    """Return a summariser.

    Args:
        models: the configured models.
        model: the chat model; None for extractive summaries.
        cache: the cache of summaries.
        meter: counts the use of the chat model.
    """
    settings = models.settings
    if model is None:
        return ExtractiveSummariser(models.embedder.token_spans, budget=settings.summary_tokens)
    return ChatSummariser(
        model,
        cache,
        meter,
        prompts=settings.prompts,
        budget=settings.summary_tokens,
        concurrency=settings.llm_concurrency,
    )
