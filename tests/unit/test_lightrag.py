"""How mode `lightrag` mixes windows, without a database."""

from __future__ import annotations

from typing import Any

import pytest
from operations import chunk_row

from e2g_neo4j.retrieval.strategies import lightrag
from e2g_neo4j.retrieval.strategies.lightrag import mix_rows, relations_told


def row(*windows: tuple[int, float, str], **found: Any) -> dict[str, Any]:
    """A row of `lightrag.cypher`: a chunk of five windows, of which some are found; each mentions some letters."""
    given = [{"number": number, "score": score, "mentioned": list(letters)} for number, score, letters in windows]
    candidate = chunk_row("d-c0", given, shares=[0.2] * 5)
    return {"nearest": [], "named": [], "local": [], "global": [], "candidates": [candidate]} | found


def numbers(*rows: dict[str, Any], sources: lightrag.Sources = lightrag.MIX) -> list[int]:
    return [window.number for window, _ in mix_rows(rows, sources)]


def test_entities_and_relations_have_windows_by_their_own_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """One entity has 0, two relations have 2 and 3; the rest by cosine."""
    monkeypatch.setattr(lightrag, "WINDOWS_EACH", 1)
    windows = [(0, 0.9, "a"), (1, 0.8, "a"), (2, 0.5, "ab"), (3, 0.4, "ac"), (4, 0.95, "")]
    assert numbers(row(*windows, named=["a"], local=[["a", "b"], ["a", "c"]])) == [0, 2, 3, 4, 1]


# --- statements as relations -------------------------------------------------------------------------


def test_windows_of_a_statement_are_in_its_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """2 mentions both ends of the relation in the first chunk, 3 and 0 one of them; 1 is in another chunk. Without 2, 3
    is the first of the relation."""
    elsewhere = {**row((1, 0.9, "ab"))["candidates"][0], "chunk": "d-c1", "index": 1}
    monkeypatch.setattr(lightrag, "WINDOWS_EACH", 1)

    def first_of(*windows: tuple[int, float, str]) -> list[str]:
        stated = row(*windows, local=[["a", "b", "d-c0"]])
        stated["candidates"].append(elsewhere)
        return [window.id for window, _ in mix_rows([stated])]

    assert first_of((0, 0.1, "a"), (2, 0.4, "ab"), (3, 0.8, "b")) == ["d-c0-w2", "d-c1-w1", "d-c0-w3", "d-c0-w0"]
    assert first_of((0, 0.1, "a"), (3, 0.8, "b")) == ["d-c0-w3", "d-c1-w1", "d-c0-w0"]


def test_the_reason_says_where_relations_are_statements() -> None:
    assert relations_told(["a", "b"], ["b"]) == "Relations are the statements of b."
    assert relations_told(["a", "b"], ["a", "b"]) == "Relations are the statements."
