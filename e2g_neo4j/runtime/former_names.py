"""Modules under their former names, which keep working for one release, with a DeprecationWarning."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_file_location
from types import ModuleType

FORMER_MODULES = {
    "e2g_neo4j.model": "e2g_neo4j.types",
    "e2g_neo4j.reading": "e2g_neo4j.indexing.sources.files",
    "e2g_neo4j.embedding": "e2g_neo4j.models.embedding",
}


class _FormerModuleFinder(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        present = FORMER_MODULES.get(name)
        spec = find_spec(present) if present else None
        if spec is None or spec.origin is None:
            return None
        warnings.warn(f"{name} is now {present}.", DeprecationWarning, stacklevel=2)
        folders = spec.submodule_search_locations
        return spec_from_file_location(name, spec.origin, submodule_search_locations=folders and list(folders))


def keep_former_modules() -> None:
    """Let imports of former names find the modules."""
    sys.meta_path.append(_FormerModuleFinder())
