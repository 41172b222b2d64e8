"""docs/guarantees.md names tests that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/\S+\.py)::(\w+)`", PAGE)


def test_every_named_test_exists() -> None:
    assert len(NAMED) > 30
    for file, name in NAMED:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_promise_names_its_test() -> None:
    """Those of the sections; what is common to all corpora is no promise."""
    promises = PAGE.split("Two things are shared")[0] + PAGE[PAGE.index("## Hostile input") :]
    items = re.findall(r"^- .+?(?=^- |^#|^$)", promises, re.MULTILINE | re.DOTALL)
    assert len(items) > 15
    for item in items:
        assert "`tests/" in item, item
