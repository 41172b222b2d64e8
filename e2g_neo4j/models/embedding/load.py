"""Load the configured embedding model."""

from __future__ import annotations

import re

from e2g_neo4j.models.embedding.base import DEFAULT, Embedder, Precision
from e2g_neo4j.runtime.lazy_imports import needs


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
