"""The pages for contributors and the reference name what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import e2g_neo4j
from e2g_neo4j.runtime.cypher import load
from e2g_neo4j.settings import MAX_HOPS

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_the_files_that_a_page_names_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:e2g_neo4j|cypher|migrations|tests|scripts|docs)/[\w./]*)`", text))
    assert len(named) > 5
    assert not [path for path in named if "NN" not in path and not (ROOT / path).exists()]


def test_the_functions_that_the_page_about_the_architecture_names_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.py):(\w+)`", text)
    assert len(named) > 40
    for file, name in named:
        assert re.search(rf"\b(?:def|class) {name}\b", (ROOT / "e2g_neo4j" / file).read_text(encoding="utf-8")), name


@pytest.mark.parametrize("name", sorted(e2g_neo4j.__all__))
def test_the_reference_documents_every_public_name(name: str) -> None:
    assert f"\n### `{name}`\n" in REFERENCE
    assert getattr(e2g_neo4j, name).__doc__ or name == "Progress"


@pytest.mark.parametrize("statement", ["query/link", "query/connect", "explore/evidence", "explore/between"])
def test_statements_hold_the_longest_path_as_a_literal(statement: str) -> None:
    assert f"[:CO_OCCURS*..{MAX_HOPS}]" in load(statement)
