"""The stored fingerprints: which models a corpus was made with, and where its vectors are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

from e2g_neo4j.errors import FingerprintError
from e2g_neo4j.graph import schema
from e2g_neo4j.graph.indexes import vector_dimensions
from e2g_neo4j.models.choice import models_for
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.cypher import split_suffix
from e2g_neo4j.runtime.requests import CallDriver, Operation, Read, Rows, Write
from e2g_neo4j.types.fingerprint import Fingerprint
from e2g_neo4j.types.languages import NameWords, name_words, words_suffix


class CorpusModels(NamedTuple):
    """The models of a corpus, and the suffix of its indexes."""

    models: Models
    vectors: str


def read_models(models: Models, corpus: str, language: Callable[[], str] | None = None) -> Operation[CorpusModels]:
    """Return the models that a corpus was made with.

    A corpus without documents has those of the settings, with a pipeline for its language, and no vectors. Default: the
    language of the settings' pipeline.
    """
    for row in (yield Read("index/fingerprint", {"corpus": corpus})):
        if row["indexed"]:
            return CorpusModels(models.of(Fingerprint.of_row(row)), row["vectors"] or "")
    return CorpusModels(models_for(language(), models) if language else models, "")


def prepare_models(models: Models, corpus: str, language: Callable[[], str]) -> Operation[CorpusModels]:
    """Like `read_models`, to index documents: create the indexes. `confirm_models` records the models."""
    rows: Rows = yield Read("index/fingerprint", {"corpus": corpus})
    if rows and rows[0]["indexed"]:
        chosen = CorpusModels(models.of(Fingerprint.of_row(rows[0])), rows[0]["vectors"] or "")
    else:
        models = models_for(language(), models)
        chosen = CorpusModels(models, (yield from suffix_in(models.fingerprint, rows[0]["first"] if rows else None)))
    yield from create_indexes(chosen.models.fingerprint, chosen.vectors)
    return chosen


def suffix_in(fingerprint: Fingerprint, first: dict[str, Any] | None) -> Operation[str]:
    """Return the suffix of the indexes of a corpus in a database with these first models; None: it has none yet."""
    if first is None:
        dimensions: int | None = yield CallDriver(vector_dimensions)
        same = dimensions in (None, fingerprint.dimensions)
    else:
        same = fingerprint.embedding == (first["embedding_model"], first["dimensions"], first["pooling"])
    return ("" if same else fingerprint.suffix) + words_suffix(fingerprint.language)


def create_indexes(fingerprint: Fingerprint, vectors: str) -> Operation[None]:
    """Create the indexes with a suffix, unless they exist."""
    if vectors:
        yield CallDriver(partial(schema.create_suffixed, suffix=vectors, dimensions=fingerprint.dimensions))


def read_name_words(corpus: str) -> Operation[NameWords]:
    """Return the words in and around names in the language of a corpus."""
    rows: Rows = yield Read("index/fingerprint", {"corpus": corpus})
    return name_words(Fingerprint.of_row(rows[0]).language if rows else "en")


def set_fingerprint(corpus: str, made_with: CorpusModels) -> tuple[str, dict[str, Any]]:
    """Return the statement that records the models of a corpus, unless it has documents and a record."""
    models, vectors = asdict(made_with.models.fingerprint), made_with.vectors
    unsuffixed = not split_suffix(vectors)[0]
    return "index/set_fingerprint", {"corpus": corpus, **models, "vectors": vectors, "unsuffixed": unsuffixed}


def confirm_models(models: Models, corpus: str, vectors: str) -> Operation[None]:
    """Record the models of a corpus of which this run has claimed documents, unless there is a record.

    Raises:
        FingerprintError: meanwhile, another run has begun to index the corpus with other models.
    """
    yield Write((set_fingerprint(corpus, CorpusModels(models, vectors)),))
    [row] = yield Read("index/fingerprint", {"corpus": corpus})
    if Fingerprint.of_row(row) != models.fingerprint:
        raise FingerprintError(
            f"Another run has begun to index the corpus {corpus!r} with the models {row['embedding_model']} and "
            f"{row['spacy_model']}. Start again to index with these, or choose another corpus."
        )
