"""Embeddings with an Ollama server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx
import numpy as np
from ollama import Client, ResponseError
from tokenizers import Tokenizer

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.chat.base import RetryableError, first_line
from e2g_neo4j.models.chat.ollama import retry_after
from e2g_neo4j.models.chat.retry import repeat
from e2g_neo4j.models.embedding.base import DEFAULT, check, embed_parts_separately, normalised, unlimited
from e2g_neo4j.models.embedding.prefixes import model_prefixes
from e2g_neo4j.models.embedding.weights import PUBLISHED
from e2g_neo4j.runtime.loopback import without_proxy
from e2g_neo4j.types.documents import Span, Vectors

_BATCH = 16
"""Texts per request."""

_CONTEXT = 8192
"""Upper limit of the context that is requested. The server reserves memory for all of it, and texts are split into
windows anyway."""

_BUSY = {429, 502, 503, 504}
"""HTTP statuses of a server that may answer later."""


class OllamaEmbedder:
    """An embedding model of an Ollama server.

    Ollama's API does not tokenize, so tokens are counted with the tokenizer of the default model. It splits words into
    more tokens than most; a quarter of the model's context is reserved for texts where it does not. If a text is still
    too long, the server returns an error; text is never truncated.

    Args:
        name: `ollama:NAME`.
        host: Address of the server. Default: `OLLAMA_HOST`, or the default port on this machine.
        dimensions: Length of vectors to request. Older servers ignore it, and return vectors of the
            full length.
        client_options: Options of the HTTP client.

    Raises:
        ModelError: The server does not respond or has no such model.
    """

    def __init__(
        self, name: str, host: str | None = None, *, dimensions: int | None = None, **client_options: Any
    ) -> None:
        self.name = name
        self.prefixes = model_prefixes(name.removeprefix("ollama:"))
        self._requested_dimensions = dimensions
        self._ollama_name = name.removeprefix("ollama:")
        self._client = Client(host, timeout=600, **without_proxy(host) | client_options)
        estimate = PUBLISHED[DEFAULT]
        estimate.fetch()
        self._tokenizer = unlimited(Tokenizer.from_file(str(estimate.tokenizer)))
        self._unknown = self._tokenizer.token_to_id("[UNK]")
        shown = self._ask(lambda: self._client.show(self._ollama_name))
        lengths = [v for key, v in (shown.modelinfo or {}).items() if key.endswith(".context_length")]
        self._context = min(int(lengths[0]), _CONTEXT) if lengths else 2048
        self.window_tokens = self._context * 3 // 4
        self.dimensions = len(self._request(["dimensions"])[0])

    def token_spans(self, text: str) -> Sequence[Span]:
        """See `Embedder.token_spans`. A word that the tokenizer does not know counts as one token per character."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        spans: list[Span] = []
        for token, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            spans += ((at, at + 1) for at in range(start, end)) if token == self._unknown else ((start, end),)
        return spans

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [row for i in range(0, len(texts), _BATCH) for row in self._request(texts[i : i + _BATCH])]
        if any(len(row) != self.dimensions for row in rows):
            raise ModelError(
                f"The embedding model {self.name} returned vectors with a length other than {self.dimensions}. It may "
                "have been replaced during the run. Start again."
            )
        vectors = np.array(rows, np.float32).reshape(len(rows), self.dimensions)
        check(self, vectors)
        return normalised(vectors)

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, list[Vectors]]:
        """See `Embedder.embed_parts`. Parts are embedded as separate texts, because the API has no token vectors."""
        return embed_parts_separately(self, texts, parts)

    def _request(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        reply = self._ask(
            lambda: self._client.embed(
                self._ollama_name,
                list(texts),
                truncate=False,
                options={"num_ctx": self._context},
                dimensions=self._requested_dimensions,
            )
        )
        if len(reply.embeddings) != len(texts):
            raise ModelError(
                f"Ollama returned {len(reply.embeddings)} vectors for {len(texts)} texts from {self._ollama_name}. "
                "Check that it is an embedding model."
            )
        rows: Sequence[Sequence[float]] = reply.embeddings
        return rows

    def _ask(self, call: Any) -> Any:
        """Ask the server. While it is busy, this waits and tries again."""

        def attempt() -> Any:
            try:
                return call()
            except ResponseError as error:
                if error.status_code in _BUSY:
                    raise RetryableError(error.error, retry_after(error)) from error
                raise

        try:
            return repeat(attempt, lambda fault: ModelError(f"Ollama is busy ({fault}): try again later."))
        except ResponseError as error:
            if error.status_code == 404:
                advice = f"Run `ollama pull {self._ollama_name}`."
            elif "context length" in error.error:
                advice = "Set E2G_WINDOW_TOKENS to a smaller number, or use a model with a longer context."
            else:
                advice = "See the log of the Ollama server."
            raise ModelError(
                f"Ollama rejected a request for the embedding model {self._ollama_name}: {error.error}. {advice}"
            ) from error
        except (ConnectionError, httpx.HTTPError) as error:
            raise ModelError(
                f"Ollama does not respond ({first_line(error)}). Run `ollama serve`, or set E2G_OLLAMA_HOST."
            ) from error
