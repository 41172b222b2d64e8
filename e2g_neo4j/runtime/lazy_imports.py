"""Packages of extras, and installed packages that others import although they are not needed here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec

from e2g_neo4j.errors import ConfigurationError, ModelError


@contextmanager
def hidden(module: str) -> Iterator[None]:
    """Make imports of a module fail, unless it has been imported."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]


def require_extra(extra: str, *modules: str) -> None:
    """Raise ConfigurationError if a package of an extra is not installed."""
    for module in modules:
        if find_spec(module) is None:
            raise ConfigurationError(f"{module} is not installed: run `pip install 'e2g-neo4j[{extra}]'`.")


def require_sentence_transformers(what: str) -> None:
    """Raise ModelError if sentence-transformers or PyTorch is not installed, as in the container image.

    Args:
        what: What needs them.
    """
    if find_spec("torch") is None or find_spec("sentence_transformers") is None:
        raise ModelError(
            f"{what} needs sentence-transformers, which is not installed here. Install it with `pip install "
            "sentence-transformers`, or use the bundled all-MiniLM-L6-v2 or ollama:NAME, and no reranker."
        )


_spacy_needs_torch = True


def leave_out_torch() -> None:
    """Make `import_spacy` leave out torch. Only processes of this program call this: it cannot be undone once spaCy is
    imported."""
    global _spacy_needs_torch
    _spacy_needs_torch = False


def import_spacy() -> None:
    """Import spaCy. It imports torch, which takes more than a second and is only needed for transformers, unless
    `leave_out_torch` was called."""
    with nullcontext() if _spacy_needs_torch else hidden("torch"):
        import spacy  # noqa: F401
