"""What modes say of how they rank windows, and mode `routes` of where its windows come from."""

from __future__ import annotations

import pytest
from operations import chunk_row

from e2g_neo4j.retrieval.explain import with_entities_reason
from e2g_neo4j.retrieval.linking import Linked
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.retrieval.strategies.routes import origins_told, rank_rows

VECTOR, NEIGHBOUR = 0, 3


def test_the_reason_counts_windows_by_origin() -> None:
    row = chunk_row("c", [[0, 0.4, 0.0, VECTOR], [1, 0.1, 0.2, NEIGHBOUR]], shares=[0.5, 0.5])
    windows = [window for window, _ in rank_rows([row])]
    assert origins_told(windows) == (
        "Windows found: 1 by vector, 0 by entities of the question, 0 by entities of the nearest windows, 1 by "
        "neighbours of these entities."
    )
    assert {window.origin for window in windows} == {"vector", "neighbour"}


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("auto", ": vectors, words and entities rank the text."),
        ("hipporag", ": PageRank from entities of the question and of the nearest sentences rank the text."),
        ("lightrag", ": turns of vectors, entities and relations rank the text."),
        ("linear", ": PageRank from entities that sentences connect with the question rank the text."),
        ("pagerank", ": relations of entities that have most PageRank rank the text."),
        ("routes", ": vectors, entities and documents rank the text."),
    ],
)
def test_the_reason_says_what_ranks(mode: str, reason: str) -> None:
    assert reason in with_entities_reason(STRATEGIES[mode], Linked(("ann",)), 3)
