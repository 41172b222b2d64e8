"""An embedding model that costs next to nothing, for measurements of everything else."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from tokenizers import Tokenizer

from e2g_neo4j.models.embedding.base import DEFAULT, normalise, spans_of
from e2g_neo4j.models.embedding.weights import PUBLISHED
from e2g_neo4j.types.documents import Vectors

Spans = Sequence[tuple[int, int]]


class HashEmbedder:
    """The tokenizer of the default model, with a vector derived from a hash of the text."""

    name = "hash"
    dimensions = 384
    window_tokens = 254

    def __init__(self) -> None:
        weights = PUBLISHED[DEFAULT]
        weights.fetch()
        self._tokenizer = Tokenizer.from_file(str(weights.tokenizer))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def token_spans(self, text: str) -> Spans:
        return spans_of(self._tokenizer, text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [np.random.default_rng(crc32(text.encode())).standard_normal(self.dimensions) for text in texts]
        return normalise(np.array(rows, np.float32).reshape(len(texts), self.dimensions))

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Spans]) -> tuple[Vectors, list[Vectors]]:
        pieces = [[text[start:end] for start, end in spans] for text, spans in zip(texts, parts, strict=True)]
        return self.embed(texts), [self.embed(one) for one in pieces]
