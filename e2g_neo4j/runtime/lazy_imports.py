"""Packages of extras, and installed packages that others import although they are not needed here."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

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


class _TorchHider(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        importer = sys.modules.get("thinc.compat")
        if name == "torch" and importer is not None and not hasattr(importer, "has_torch"):
            raise ModuleNotFoundError("torch is hidden from thinc", name=name)
        return None


def hide_torch_from_spacy() -> None:
    """Prevent spaCy from importing torch, which takes more than a second and is only needed for transformers. Call this
    only in processes of this program: it cannot be undone once spaCy is imported."""
    sys.meta_path.insert(0, _TorchHider())
