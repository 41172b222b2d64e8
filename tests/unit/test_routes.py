"""What mode `routes` says of where its windows come from. `test_modes_real` has how it ranks them."""

from __future__ import annotations

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
    assert with_entities_reason(STRATEGIES["routes"], Linked(("ann",)), 3).endswith(
        "vectors, entities and documents rank the text."
    )
    assert with_entities_reason(STRATEGIES["auto"], Linked(("ann",)), 3).endswith(
        "vectors, words and entities rank the text."
    )
    assert {window.origin for window in windows} == {"vector", "neighbour"}
