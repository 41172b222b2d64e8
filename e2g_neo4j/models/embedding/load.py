"""Load the configured embedding model, and list those that there are."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.chat.base import first_line
from e2g_neo4j.models.embedding.base import DEFAULT, Embedder, Precision
from e2g_neo4j.models.embedding.prefixes import languages_of
from e2g_neo4j.runtime.lazy_imports import needs
from e2g_neo4j.runtime.loopback import without_proxy
from e2g_neo4j.settings import Settings


@dataclass(frozen=True, slots=True)
class EmbeddingModelInfo:
    """An embedding model.

    Attributes:
        name: what E2G_EMBEDDING_MODEL is set to for it.
        languages: the languages that it knows, as far as its name tells.
        state: `set`, `fetched` if its weights are, and `served` if the server that is set has it.
    """

    name: str
    languages: str
    state: tuple[str, ...]


def list_embedding_models(settings: Settings) -> list[EmbeddingModelInfo]:
    """Return the models whose weights are fetched, the one of the settings, and those of its server.

    Raises:
        ModelError: The server does not respond.
    """
    from e2g_neo4j.models.embedding.weights import PUBLISHED

    provider, _, name = settings.embedding_model.partition(":")
    served: list[str] = []
    if provider == "ollama" or (name and settings.embedding_url):
        address = settings.ollama_host if provider == "ollama" else settings.embedding_url
        served = [f"{provider}:{one}" for one in _list_served(provider, address)]
    found = []
    for one in dict.fromkeys([settings.embedding_model, *PUBLISHED, *served]):
        fetched = one in PUBLISHED and PUBLISHED[one].folder.is_dir()
        states = (("set", one == settings.embedding_model), ("fetched", fetched), ("served", one in served))
        found.append(EmbeddingModelInfo(one, languages_of(one), tuple(state for state, holds in states if holds)))
    return found


def _list_served(provider: str, address: str | None) -> list[str]:
    """Return the names of the models of a server. `address`: default for Ollama: that of the environment."""
    import httpx
    from ollama import Client, ResponseError

    try:
        if provider == "ollama":
            return [one.model or "" for one in Client(address, timeout=10, **without_proxy(address)).list().models]
        url = f"{(address or '').rstrip('/')}/models"
        key = os.environ.get("OPENAI_API_KEY") if provider == "openai" else None
        headers = {"Authorization": f"Bearer {key or 'none'}"}
        reply = httpx.get(url, headers=headers, timeout=10, **without_proxy(address)).raise_for_status().json()
        return [one["id"] for one in reply["data"]]
    except (httpx.HTTPError, ResponseError, ConnectionError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"The server of the embedding model does not list its models ({first_line(error)}): check that it runs, "
            "and E2G_EMBEDDING_URL or E2G_OLLAMA_HOST."
        ) from error


def load_embedder(
    name: str = DEFAULT,
    *,
    ollama_host: str | None = None,
    url: str | None = None,
    precision: Precision = "auto",
    dimensions: int | None = None,
    window_tokens: int = 0,
) -> Embedder:
    """Load an embedding model.

    Args:
        name: `BAAI/bge-small-en-v1.5` or `sentence-transformers/all-MiniLM-L6-v2`, which are fetched once; another
            sentence-transformers name or folder; `ollama:NAME`; or `provider:NAME` for LangChain's `init_embeddings`.
        ollama_host: Address of the Ollama server. Default: `OLLAMA_HOST`, or the default port on this machine.
        url: Address of a server with the API of a provider. Default: the provider's own.
        precision: Number format of models in this process.
        dimensions: Length of vectors to request from a server. Other models return their own length.
        window_tokens: Tokens of the windows that texts are split into.

    Raises:
        ModelError: The model does not exist, or the server does not respond.
        ConfigurationError: A package is not installed, or the provider needs more than the name, such as an API key.
    """
    if name.startswith("ollama:"):
        from e2g_neo4j.models.embedding.ollama import OllamaEmbedder

        return OllamaEmbedder(name, ollama_host, dimensions=dimensions)
    if re.match(r"[a-z][a-z0-9_-]+:(?!//)", name):  # a letter alone is a drive
        with needs(f"The embedding model {name}", "langchain"):
            from e2g_neo4j.models.embedding.langchain import LangChainEmbedder

        return LangChainEmbedder(name, url=url, dimensions=dimensions, window_tokens=window_tokens)
    from e2g_neo4j.models.embedding.weights import PUBLISHED

    if name in PUBLISHED:
        from e2g_neo4j.models.embedding.openvino_model import OpenVinoEmbedder

        return OpenVinoEmbedder(PUBLISHED[name], precision)
    with needs(f"The embedding model {name}", "sentence-transformers", f"or use {DEFAULT} or ollama:NAME"):
        from e2g_neo4j.models.embedding.sentence_transformers import LocalEmbedder

    return LocalEmbedder(name, precision)
