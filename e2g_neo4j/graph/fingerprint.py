"""The stored fingerprint: which models an index was made with."""

from __future__ import annotations

from dataclasses import asdict

from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import Operation, Read, Write
from e2g_neo4j.types.fingerprint import Fingerprint


def agree_on_fingerprint(configured: Fingerprint) -> Operation[None]:
    """Store the fingerprint if there is none. Raises FingerprintError if the stored one differs."""
    yield Write((("index/set_fingerprint", asdict(configured)),))
    [row] = yield Read("index/fingerprint", {})
    configured.check(Fingerprint(**row))


def check_fingerprint(configured: Fingerprint) -> Operation[None]:
    """Raise FingerprintError if the stored fingerprint differs. Change nothing."""
    for row in (yield Read("index/fingerprint", {})):
        configured.check(Fingerprint(**row))


def check_model_name(models: Models) -> Operation[None]:
    """Raise FingerprintError if the index was made with another embedding model. A model that is loaded already was
    checked before."""
    if models.must_load_embedder:
        for row in (yield Read("index/fingerprint", {})):
            Fingerprint.check_name(models.settings.embedding_model, row["embedding_model"])
