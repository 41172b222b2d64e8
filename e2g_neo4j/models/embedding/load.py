"""Load the configured embedding model."""

from __future__ import annotations

from e2g_neo4j.models.embedding.base import DEFAULT, Embedder, Precision
from e2g_neo4j.runtime.lazy_imports import needs


def load_embedder(
    name: str = DEFAULT, *, ollama_host: str | None = None, precision: Precision = "auto", dimensions: int | None = None
) -> Embedder:
    """Load an embedding model.

    Args:
        name: `BAAI/bge-small-en-v1.5` or `sentence-transformers/all-MiniLM-L6-v2`, which are fetched once; another
            sentence-transformers name or folder; or `ollama:NAME`.
        ollama_host: Address of the Ollama server. Default: `OLLAMA_HOST`, or the default port on this machine.
        precision: Number format of models in this process.
        dimensions: Length of vectors to request from an Ollama server. Other models return their own length.

    Raises:
        ModelError: The model does not exist, or the server does not respond.
        ConfigurationError: sentence-transformers is not installed.
    """
    if name.startswith("ollama:"):
        from e2g_neo4j.models.embedding.ollama import OllamaEmbedder

        return OllamaEmbedder(name, ollama_host, dimensions=dimensions)
    from e2g_neo4j.models.embedding.weights import PUBLISHED

    if name in PUBLISHED:
        from e2g_neo4j.models.embedding.openvino_model import OpenVinoEmbedder

        return OpenVinoEmbedder(PUBLISHED[name], precision)
    with needs(f"The embedding model {name}", "sentence-transformers", f"or use {DEFAULT} or ollama:NAME"):
        from e2g_neo4j.models.embedding.sentence_transformers import LocalEmbedder

    return LocalEmbedder(name, precision)
