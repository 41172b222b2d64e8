"""`RemoteE2G` has the calls of `E2G`, but for those that the documentation names, `AsyncE2G` has all."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from e2g_neo4j import E2G, AsyncE2G, RemoteE2G

SERVICE = Path(__file__).parents[2] / "docs" / "service.md"
CALLS = {name: call for name, call in inspect.getmembers(E2G, inspect.isfunction) if not name.startswith("_")}


def test_what_is_missing_is_documented():
    documented = SERVICE.read_text(encoding="utf-8")
    missing = CALLS.keys() - dict(inspect.getmembers(RemoteE2G)).keys()
    assert {"migrate", "add_graph_documents"} <= missing
    for text in (documented[documented.index("Missing are") :].split("\n\n")[0], RemoteE2G.__doc__ or ""):
        assert not [name for name in missing if f"`{name}`" not in text]


@pytest.mark.parametrize("name", sorted(CALLS.keys() & dict(inspect.getmembers(RemoteE2G)).keys() - {"close"}))
def test_signatures_are_those_of_the_client(name: str):
    assert inspect.signature(getattr(RemoteE2G, name)) == inspect.signature(CALLS[name])


def test_the_async_client_has_every_call():
    awaited = {
        name for name, _ in inspect.getmembers(AsyncE2G, inspect.iscoroutinefunction) if not name.startswith("_")
    }
    assert awaited == CALLS.keys() - {"stream"}
    for name in E2G.__dict__.keys() & CALLS.keys():
        assert inspect.signature(getattr(AsyncE2G, name)) == inspect.signature(CALLS[name])
