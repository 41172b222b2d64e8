"""Choose the models of a new corpus by its language, and of an archive."""

from __future__ import annotations

from dataclasses import replace
from importlib import util
from shlex import quote

from e2g_neo4j.errors import PipelineError
from e2g_neo4j.models.embedding.base import CHINESE, DEFAULT, MULTILINGUAL
from e2g_neo4j.models.embedding.weights import PUBLISHED
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.lazy_imports import pip_install, requirements
from e2g_neo4j.types.fingerprint import Fingerprint


def models_for(language: str, models: Models) -> Models:
    """Return the models for a new corpus in a language: those of the settings, with another pipeline if need be.

    For Chinese, another model replaces the default embedding model, which does not know it.
    """
    if language == models.language:
        return models
    return models.of(with_embedding(models, language, _pipeline(language, models)))


def models_beside(language: str, models: Models) -> Models:
    """Return the models for documents in another language than their corpus: another pipeline, the same embedding
    model."""
    return models.of(replace(models.fingerprint, spacy_model=_pipeline(language, models)))


def _pipeline(language: str, models: Models) -> str:
    from e2g_neo4j.models.entities.pipeline import find_pipeline_id, pipeline_for

    return str(find_pipeline_id(pipeline_for(language, models.settings.spacy_model)))


def with_embedding(models: Models, language: str, pipeline: str) -> Fingerprint:
    """Return the fingerprint of the embedding model for a language, with a spaCy pipeline."""
    name, dimensions, pooling = models.fingerprint.embedding
    if language == "zh" and name == DEFAULT and not models.has_own_embedder and models.language != "zh":
        name, dimensions = CHINESE, PUBLISHED[CHINESE].dimensions
    return Fingerprint(name, dimensions, pooling, pipeline)


def models_of_archive(made_with: Fingerprint, models: Models) -> Models:
    """Return the models that an archive was made with.

    An archive may not say which models are loaded, so these are those of the settings, and models and pipelines that
    this package brings or fetches.

    Raises:
        FingerprintError: It was made with others.
    """
    from e2g_neo4j.models.entities.pipeline import find_pipeline_id
    from e2g_neo4j.models.entities.rules import RULES

    published = PUBLISHED.get(made_with.embedding_model)
    known = published and made_with.dimensions == published.dimensions
    pipelines = (models.pipeline_id, find_pipeline_id(None), find_pipeline_id(f"{RULES}{made_with.language}"))
    if known and made_with.spacy_model in pipelines:
        return models.of(made_with)
    models.fingerprint.check(made_with, "This archive was made")
    return models


def describe_lack(made_with: Fingerprint, models: Models) -> str | None:
    """Tell whether the pipeline of a corpus is not installed here. Embedding models are not looked for."""
    from e2g_neo4j.models.entities.pipeline import pipeline_of

    try:
        if made_with.spacy_model != models.pipeline_id:
            pipeline_of(made_with.spacy_model, models.settings.spacy_model)
    except PipelineError as error:
        return str(error)
    return None


def command_for_language(corpus: str) -> str:
    """Return the command that gives a corpus an embedding model that knows its language."""
    command = f"`e2g reindex --corpus {quote(corpus)} --embedding-model {MULTILINGUAL}`"
    if util.find_spec("sentence_transformers"):
        return command
    return f"{command} after `{pip_install(*requirements('sentence-transformers'))}`"
