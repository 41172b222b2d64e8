"""Embeddings with an Ollama server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx
from ollama import Client, ResponseError

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.chat.base import RetryableError, first_line
from e2g_neo4j.models.chat.ollama import retry_after
from e2g_neo4j.models.chat.retry import repeat
from e2g_neo4j.models.embedding.remote import RemoteEmbedder
from e2g_neo4j.runtime.loopback import without_proxy

_CONTEXT = 8192
"""Upper limit of the context that is requested. The server reserves memory for all of it, and texts are split into
windows anyway."""

_BUSY = {429, 502, 503, 504}
"""HTTP statuses of a server that may answer later."""


class OllamaEmbedder(RemoteEmbedder):
    """An embedding model of an Ollama server. A quarter of the model's context is reserved for texts in which it counts
    more tokens.

    Args:
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
        self._requested_dimensions = dimensions
        self._ollama_name = name.removeprefix("ollama:")
        self._client = Client(host, timeout=600, **without_proxy(host) | client_options)
        shown = self._ask(lambda: self._client.show(self._ollama_name))
        lengths = [v for key, v in (shown.modelinfo or {}).items() if key.endswith(".context_length")]
        self._context = min(int(lengths[0]), _CONTEXT) if lengths else 2048
        super().__init__(name, self._context * 3 // 4)

    def request(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        reply = self._ask(
            lambda: self._client.embed(
                self._ollama_name,
                list(texts),
                truncate=False,
                options={"num_ctx": self._context},
                dimensions=self._requested_dimensions,
            )
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
