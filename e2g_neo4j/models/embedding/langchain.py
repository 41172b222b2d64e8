"""Embedding models of hosted providers, and of servers with their API, by LangChain."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from e2g_neo4j.errors import ConfigurationError, ModelError
from e2g_neo4j.models.chat.base import RetryableError, first_line
from e2g_neo4j.models.chat.langchain import retryable
from e2g_neo4j.models.chat.retry import repeat
from e2g_neo4j.models.embedding.remote import RemoteEmbedder
from e2g_neo4j.runtime.lazy_imports import pip_install

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

MOST_TOKENS = 512
"""Tokens of a text, unless E2G_WINDOW_TOKENS is more. No server tells what its model reads; most read at least this."""

OPENAI = "openai"
"""The provider whose API other servers have too."""


class LangChainEmbedder(RemoteEmbedder):
    """An embedding model of a provider of LangChain's `init_embeddings`.

    Args:
        name: `provider:NAME`, such as `openai:text-embedding-3-small`.
        url: Address of a server with the API of the provider. Default: the provider's own.
        dimensions: Length of vectors to request, of OpenAI's API.
        window_tokens: Tokens of the windows that texts are split into.

    Raises:
        ConfigurationError: The provider is unknown, its package is not installed, or it needs a key.
        ModelError: The server does not respond, or refuses the request.
    """

    def __init__(
        self, name: str, *, url: str | None = None, dimensions: int | None = None, window_tokens: int = MOST_TOKENS
    ) -> None:
        options: dict[str, Any] = {"base_url": url} if url else {}
        if name.startswith(f"{OPENAI}:"):
            options |= {"check_embedding_ctx_length": False, "max_retries": 0}  # else, it sends numbers of tokens
            options |= {"dimensions": dimensions} if dimensions else {}
            if url and not os.environ.get("OPENAI_API_KEY"):
                options["api_key"] = "none"  # the package demands one, servers of one's own do not
        self._embeddings = _initialise(name, options)
        self._of_questions = False
        super().__init__(name, max(MOST_TOKENS, window_tokens))

    @property
    def for_questions(self) -> LangChainEmbedder:
        """The same model for questions, which some providers embed in another way than passages."""
        other = copy(self)
        other._of_questions = True
        return other

    def request(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        def attempt() -> list[list[float]]:
            try:
                if self._of_questions:
                    return [self._embeddings.embed_query(text) for text in texts]
                return self._embeddings.embed_documents(list(texts))
            except Exception as error:  # providers raise any type of error
                raise retryable(error) or ModelError(
                    f"The embedding model {self.name} failed ({first_line(error)}). Check E2G_EMBEDDING_MODEL, "
                    "E2G_EMBEDDING_URL and the key of the provider; if a text is too long, set a smaller "
                    "E2G_WINDOW_TOKENS."
                ) from error

        def error_of(fault: RetryableError) -> ModelError:
            return ModelError(f"The embedding model {self.name} does not respond ({fault}): try again later.")

        return repeat(attempt, error_of)


def _initialise(name: str, options: dict[str, Any]) -> Embeddings:
    """Return the embeddings of a provider."""
    try:
        found: Embeddings = importlib.import_module("langchain.embeddings").init_embeddings(name, **options)
    except ImportError as error:
        package = re.search(r"\blangchain-[\w-]+", str(error))  # of the provider, as langchain names it
        needed = ["langchain", *([package[0]] if package else [])]
        raise ConfigurationError(
            f"The embedding model {name!r} needs {' and '.join(needed)}: run `{pip_install(*needed)}`."
        ) from error
    except Exception as error:
        raise ConfigurationError(
            f"Cannot use E2G_EMBEDDING_MODEL {name!r} ({first_line(error).rstrip('.')}): set it to provider:NAME, such "
            "as openai:text-embedding-3-small, and set what else the provider needs, such as an API key."
        ) from error
    return found
