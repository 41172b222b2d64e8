"""What embedding models of servers share: batches, counted tokens, checked replies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from tokenizers import Tokenizer

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.embedding.base import DEFAULT, check, embed_parts_separately, normalise, remove_limits
from e2g_neo4j.models.embedding.prefixes import model_prefixes
from e2g_neo4j.models.embedding.weights import PUBLISHED
from e2g_neo4j.types.documents import Span, Vectors

BATCH = 32
"""Texts per request: about 8,000 tokens of windows, which every provider accepts."""


class RemoteEmbedder(ABC):
    """An embedding model of a server.

    Servers do not tokenize, so tokens are counted with the tokenizer of the default model, which splits words into more
    tokens than most. If a text is still too long, the server has to refuse it; text is never truncated here.

    Attributes:
        name: `provider:NAME`.
        prefixes: The prefixes that the model expects, by its name.
        window_tokens: The maximum number of tokens of a text.

    Args:
        name: `provider:NAME`.
        window_tokens: The maximum number of tokens of a text.
    """

    def __init__(self, name: str, window_tokens: int) -> None:
        self.name, self.window_tokens = name, window_tokens
        self.prefixes = model_prefixes(name.partition(":")[2])
        estimate = PUBLISHED[DEFAULT]
        estimate.fetch()
        self._tokenizer = remove_limits(Tokenizer.from_file(str(estimate.tokenizer)))
        self._unknown = self._tokenizer.token_to_id("[UNK]")
        self.dimensions = 0
        self.dimensions = len(self._rows(["dimensions"])[0])

    @abstractmethod
    def request(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Embed at most BATCH texts in one request.

        Raises:
            ModelError: The server does not respond, or refuses the texts.
        """

    def token_spans(self, text: str) -> Sequence[Span]:
        """See `Embedder.token_spans`. A word that the tokenizer does not know counts as one token per character."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        spans: list[Span] = []
        for token, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            spans += ((at, at + 1) for at in range(start, end)) if token == self._unknown else ((start, end),)
        return spans

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [row for at in range(0, len(texts), BATCH) for row in self._rows(texts[at : at + BATCH])]
        vectors = np.array(rows, np.float32).reshape(len(rows), self.dimensions)
        check(self, vectors)
        return normalise(vectors)

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, list[Vectors]]:
        """See `Embedder.embed_parts`. Parts are embedded as separate texts, because servers return no token vectors."""
        return embed_parts_separately(self, texts, parts)

    def _rows(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        rows = self.request(texts)
        if len(rows) != len(texts):
            raise ModelError(
                f"The embedding model {self.name} returned {len(rows)} vectors for {len(texts)} texts. Check that it "
                "is an embedding model."
            )
        if not all(map(any, rows)) or any(value is None for row in rows for value in row):
            raise ModelError(
                f"The embedding model {self.name} returned a vector without values, or of zeros. Check its server."
            )
        if any(len(row) != (self.dimensions or len(row)) for row in rows):
            raise ModelError(
                f"The embedding model {self.name} returned vectors with a length other than {self.dimensions}. It may "
                "have been replaced during the run. Start again."
            )
        return rows
