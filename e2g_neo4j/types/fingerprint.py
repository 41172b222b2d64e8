"""The fingerprint: which models an index was made with."""

from __future__ import annotations

import json
from dataclasses import dataclass

from e2g_neo4j.errors import FingerprintError

_AFTER = " after "


def pooling_after(pooling: str, passage_prefix: str) -> str:
    """Return the pooling of passages with a prefix, such as `mean-of-windows after "passage: "`.

    It is a part of the pooling because it changes the vectors of passages in the same way: it is compared with it.
    """
    return f"{pooling}{_AFTER}{json.dumps(passage_prefix, ensure_ascii=False)}" if passage_prefix else pooling


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The models that made the vectors and entities of an index. Questions must be processed by the same models.

    Attributes:
        embedding_model: the name of the embedding model.
        dimensions: the length of its vectors.
        pooling: how token vectors are combined, and the prefix of passages, if there is one.
        spacy_model: the spaCy pipeline, followed by `+` and a hash of its files.
    """

    embedding_model: str
    dimensions: int
    pooling: str
    spacy_model: str

    @property
    def passage_prefix(self) -> str:
        """The text before every passage; empty if there is none."""
        _, _, prefix = self.pooling.partition(_AFTER)
        return str(json.loads(prefix)) if prefix else ""

    @staticmethod
    def check_name(configured: str, index: str) -> None:
        """Check the name of the embedding model alone, before the model is loaded.

        Raises:
            FingerprintError: the index was made with another embedding model.
        """
        if index != configured:
            raise FingerprintError(
                f"This database was indexed with the embedding model {index}, but {configured} is configured. Set "
                "E2G_EMBEDDING_MODEL to what was used, or index the documents into another database."
            )

    def check(self, index: Fingerprint | None, what_was: str = "This database was indexed") -> None:
        """Check that an index was made with these models.

        Args:
            index: the fingerprint of the index; None if the database has no record of it.
            what_was: the beginning of the error message.

        Raises:
            FingerprintError: the index was made with other models, or the record is missing.
        """
        if index is None:
            raise FingerprintError(
                "The database has no record of the models that its index was made with (the E2GIndex node is "
                "missing). Index the documents again."
            )
        for what, setting, used, configured in (
            ("embedding model", "E2G_EMBEDDING_MODEL", index.embedding_model, self.embedding_model),
            ("vector length", "E2G_EMBEDDING_DIMENSIONS", index.dimensions, self.dimensions),
            ("passage prefix", "E2G_PASSAGE_PREFIX", repr(index.passage_prefix), repr(self.passage_prefix)),
            ("pooling of vectors", "E2G_EMBEDDING_MODEL", index.pooling, self.pooling),
            ("spaCy pipeline", "E2G_SPACY_MODEL", index.spacy_model, self.spacy_model),
        ):
            if used != configured:
                raise FingerprintError(
                    f"{what_was} with the {what} {used}, but {configured} is configured. Set {setting} to what was "
                    "used, or index the documents into another database."
                )
