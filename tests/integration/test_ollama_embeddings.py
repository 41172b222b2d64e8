"""Embedding models of a real Ollama server, tiny ones whose vectors show the words of a text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from real_ollama import RealOllama
from tiny_models import MARKERS, write_embedder, write_gguf_embedder

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.embedding.ollama import OllamaEmbedder
from e2g_neo4j.models.embedding.windows import embed_long, embed_with_parts
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Embed
from e2g_neo4j.settings import Settings

WORDS = ["the", "whale", "is", "blue", "and", "a", "red", "fish", "swims", "in", "cold", "sea"]
TEXT = "The whale is blue. The red fish swims in the cold sea. " * 60

Create = Callable[..., str]


@pytest.fixture(scope="module")
def create(ollama_server: RealOllama, tmp_path_factory: pytest.TempPathFactory) -> Create:
    """Creates a model by a name; returns the name for E2G_EMBEDDING_MODEL."""
    folder = tmp_path_factory.mktemp("gguf")

    def made(name: str, **options: int) -> str:
        path = write_gguf_embedder(folder / f"{name.replace(':', '-')}.gguf", WORDS, **options)
        ollama_server.client.create(name, files={path.name: ollama_server.client.create_blob(path)})
        return f"ollama:{name}"

    return made


def models(server: RealOllama, name: str, **settings: object) -> Models:
    return Models(Settings(embedding_model=name, ollama_host=server.host, **settings))  # type: ignore[arg-type]


def test_vectors_are_those_of_the_same_model_in_this_process(
    create: Create, ollama_server: RealOllama, tmp_path: Path
) -> None:
    texts = ["The whale is blue.", "A red fish swims.", "cold", "sea, sea"] * 12  # several requests
    here = models(ollama_server, str(write_embedder(tmp_path, WORDS)), embedding_precision="float32").embedder
    there = models(ollama_server, create("same")).embedder
    assert np.allclose(there.embed(texts), here.embed(texts), atol=1e-2)


def test_prefixes_are_known_by_the_name_of_the_model(create: Create, ollama_server: RealOllama) -> None:
    found = models(ollama_server, create("nomic-embed-text"))
    question = np.array(found.vector(Embed("the whale")).result())
    [passage] = embed_long(found.embedder, ["the whale"])
    search, query = MARKERS.index("search"), MARKERS.index("query")
    assert min(question[search], question[query], passage[search]) > 0.05 > abs(passage[query])
    assert found.fingerprint.passage_prefix == "search_document: "


def test_prefixes_are_settings(create: Create, ollama_server: RealOllama) -> None:
    found = models(ollama_server, create("unknown"), query_prefix="query: ", passage_prefix="passage: ")
    question = np.array(found.vector(Embed("the whale")).result())
    [passage] = embed_long(found.embedder, ["the whale"])
    assert question[MARKERS.index("query")] > 0.1
    assert passage[MARKERS.index("passage")] > 0.1


def test_the_server_truncates_vectors(create: Create, ollama_server: RealOllama) -> None:
    name = create("matryoshka")
    full, found = models(ollama_server, name), models(ollama_server, name, embedding_dimensions=16)
    raw = OllamaEmbedder(name, ollama_server.host, dimensions=16)
    assert (full.dimensions, found.dimensions, raw.dimensions) == (64, 16, 16)
    [vector], [whole] = embed_long(found.embedder, ["a red fish"]), embed_long(full.embedder, ["a red fish"])
    assert np.allclose(vector, whole[:16] / np.linalg.norm(whole[:16]), atol=1e-3)


def test_windows_follow_the_context_and_are_never_cut(create: Create, ollama_server: RealOllama) -> None:
    short = models(ollama_server, create("short", context=128)).embedder
    assert short.window_tokens == 96
    [embedded] = embed_with_parts(short, [(TEXT, [(0, 18)])])
    assert len(embedded.windows) > 8
    assert embedded.part_vectors.shape == (1, 64)
    long = models(ollama_server, create("long", context=8192), window_tokens=5000).embedder
    assert long.window_tokens == 5000
    [embedded] = embed_with_parts(long, [(TEXT, [])])
    assert len(embedded.windows) == 1


def test_a_text_that_is_too_long_for_the_model_is_an_error_with_the_next_step(
    create: Create, ollama_server: RealOllama
) -> None:
    """The model spells words that the estimate counts as one token."""
    found = models(ollama_server, create("speller", context=64)).embedder
    with pytest.raises(ModelError, match=r"context length.*E2G_WINDOW_TOKENS"):
        found.embed(["something otherwise " * 20])
