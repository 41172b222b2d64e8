"""The stored fingerprints: which models a corpus was made with, and where its vectors are."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

from e2g_neo4j.errors import FingerprintError
from e2g_neo4j.graph.indexes import vector_dimensions
from e2g_neo4j.graph.vector_indexes import create_vector_indexes
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import CallDriver, Operation, Read, Rows, Write
from e2g_neo4j.types.fingerprint import Fingerprint


class CorpusModels(NamedTuple):
    """The models of a corpus, and the suffix of its vectors."""

    models: Models
    vectors: str


def read_models(models: Models, corpus: str) -> Operation[CorpusModels]:
    """Return the models that a corpus was made with, or those that the settings name if it has no documents."""
    for row in (yield Read("index/fingerprint", {"corpus": corpus})):
        if row["indexed"]:
            return CorpusModels(models.of(Fingerprint.of_row(row)), row["vectors"] or "")
    return CorpusModels(models, "")


def agree_on_models(models: Models, corpus: str) -> Operation[CorpusModels]:
    """Return the models that a corpus was made with. For a corpus without documents, these are recorded."""
    rows: Rows = yield Read("index/fingerprint", {"corpus": corpus})
    if rows and rows[0]["indexed"]:
        chosen = CorpusModels(models.of(Fingerprint.of_row(rows[0])), rows[0]["vectors"] or "")
    else:
        first = rows[0]["first"] if rows else None
        chosen = CorpusModels(models, (yield from suffix_in(models.fingerprint, first)))
        yield Write((set_fingerprint(corpus, chosen),))
    yield from create_indexes(chosen.models.fingerprint, chosen.vectors)
    return chosen


def suffix_in(fingerprint: Fingerprint, first: dict[str, Any] | None) -> Operation[str]:
    """Return the suffix of a model's vectors in a database with these first models; None: it has none yet."""
    if first is None:
        dimensions: int | None = yield CallDriver(vector_dimensions)
        return "" if dimensions in (None, fingerprint.dimensions) else fingerprint.suffix
    same = fingerprint.embedding == (first["embedding_model"], first["dimensions"], first["pooling"])
    return "" if same else fingerprint.suffix


def create_indexes(fingerprint: Fingerprint, vectors: str) -> Operation[None]:
    """Create the vector indexes of a model that is not the first of the database, unless they exist."""
    if vectors:
        yield CallDriver(partial(create_vector_indexes, vectors=vectors, dimensions=fingerprint.dimensions))


def set_fingerprint(corpus: str, made_with: CorpusModels) -> tuple[str, dict[str, Any]]:
    """Return the statement that records the models of a corpus, unless it has documents and a record."""
    parameters = {"corpus": corpus, **asdict(made_with.models.fingerprint), "vectors": made_with.vectors}
    return "index/set_fingerprint", parameters


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
