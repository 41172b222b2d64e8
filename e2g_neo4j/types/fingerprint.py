"""The fingerprint: which models a corpus was made with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from e2g_neo4j.errors import FingerprintError

_AFTER = " after "


def pooling_after(pooling: str, passage_prefix: str) -> str:
    """Return the pooling of passages with a prefix, such as `mean-of-windows after "passage: "`.

    It is a part of the pooling because it changes the vectors of passages in the same way: it is compared with it.
    """
    return f"{pooling}{_AFTER}{json.dumps(passage_prefix, ensure_ascii=False)}" if passage_prefix else pooling


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The models that made the vectors and entities of a corpus. Questions must be processed by the same models.

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

    @property
    def language(self) -> str:
        """The code of the language of the spaCy pipeline, such as "en"."""
        return self.spacy_model.partition("_")[0]

    @property
    def embedding(self) -> tuple[str, int, str]:
        """What the vectors depend on."""
        return self.embedding_model, self.dimensions, self.pooling

    @property
    def suffix(self) -> str:
        """The suffix of its vectors in a database whose first models are others: `_` and eight hexadecimal digits."""
        return f"_{sha256(json.dumps(self.embedding).encode()).hexdigest()[:8]}"

    @staticmethod
    def of_row(row: Mapping[str, Any]) -> Fingerprint:
        """Return what a row of `index/fingerprint` says, or a column `made_with`."""
        return Fingerprint(row["embedding_model"], row["dimensions"], row["pooling"], row["spacy_model"])

    def check(self, index: Fingerprint | None, what_was: str = "This corpus was indexed") -> None:
        """Check that a corpus was made with these models.

        Args:
            index: the fingerprint of the corpus; None if the database has no record of it.
            what_was: the beginning of the error message.

        Raises:
            FingerprintError: the corpus was made with other models, or the record is missing.
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
                    "used, or index the documents into another corpus."
                )
