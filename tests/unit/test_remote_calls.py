"""The documentation names the calls of `E2G` that `RemoteE2G` lacks."""

from __future__ import annotations

import inspect
from pathlib import Path

from e2g_neo4j import E2G, RemoteE2G

SERVICE = Path(__file__).parents[2] / "docs" / "service.md"


def lacking() -> set[str]:
    """The methods that are missing, and the arguments of the others."""
    names: set[str] = set()
    for name, method in inspect.getmembers(E2G, inspect.isfunction):
        if not name.startswith("_"):
            other = getattr(RemoteE2G, name, None)
            if other is None:
                names.add(name)
            else:
                names |= inspect.signature(method).parameters.keys() - inspect.signature(other).parameters.keys()
    return names


def test_what_is_missing_is_documented():
    documented = SERVICE.read_text(encoding="utf-8")
    assert {"migrate", "add_graph_documents", "dry_run"} <= lacking()
    for text in (documented[documented.index("Missing are") :].split("\n\n")[0], RemoteE2G.__doc__ or ""):
        assert not [name for name in lacking() if f"`{name}`" not in text]
