"""Vectors whose last bits differ: the same graph, the same passages in the same order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from at_server import settings_of
from graphs import comparable, evidence
from libraries import remove
from neo4j import Driver
from perturbed import perturbed_models

from e2g_neo4j import E2G
from e2g_neo4j.cli.setup import CHUNKS, LIBRARY, QUESTIONS
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.models.embedding import load
from e2g_neo4j.types.results import Evidence

pytestmark = [pytest.mark.timeout(900), pytest.mark.full, pytest.mark.by_turns(3)]

CORPUS = "rounding"
SEEDS = (1, 2)
ASKED = (*QUESTIONS, "Which storms did Hester Pendry, Luke Farran and Josiah Quill see?", "Who kept the lighthouse?")
WITHOUT_WORDS: tuple[str, ...] = (
    "e2g",
    "diffusion",
    "routes",
    "lightrag",
    "pagerank",
    "hipporag",
    "linear",
    "dense",
    "tree",
)
MODES: tuple[str, ...] = (*WITHOUT_WORDS, "auto", "hybrid")


def client(connection: Connection, patch: pytest.MonkeyPatch, seed: int) -> E2G:
    """One whose vectors are disturbed."""
    model = perturbed_models(load.load_embedder, np.random.default_rng(seed))()
    patch.setattr(load, "load_embedder", lambda *arguments, **options: model)
    settings = settings_of(connection).model_copy(update=CHUNKS)
    return E2G(settings=settings)


@dataclass(frozen=True)
class Seen:
    """What came out where vectors were disturbed in one way: the graph, and the evidence of each question in each mode,
    at first asked twice."""

    graph: Any
    evidence: dict[tuple[str, str], list[Evidence]]


@pytest.fixture(scope="module")
def seen(neo4j_connection: Connection, driver: Driver) -> list[Seen]:
    """The sample library, indexed again and again as one corpus: ids, which decide between equals, are the same."""
    found = []
    for seed, modes, times in zip(SEEDS, (MODES, WITHOUT_WORDS), (2, 1), strict=True):
        with pytest.MonkeyPatch.context() as patch, client(neo4j_connection, patch, seed) as one:
            one.index([LIBRARY], corpus=CORPUS)
            one.enrich(corpus=CORPUS, layers=["sentences"])
            asked = {
                (question, mode): [one.retrieve(question, corpus=CORPUS, k=5, mode=mode) for _ in range(times)]
                for question in ASKED
                for mode in modes
            }
            found.append(Seen(comparable(driver, CORPUS), asked))
            remove(driver, [CORPUS])
    return found


def test_the_graph_is_the_same(seen: list[Seen]) -> None:
    [first, *others] = [one.graph for one in seen]
    assert any(key[0] == "Summary" for key in first[0])
    assert any("CO_OCCURS" in key for key in first[1])
    for other in others:
        assert other == first


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("question", ASKED)
def test_the_same_passages_come_in_the_same_order(seen: list[Seen], question: str, mode: str) -> None:
    """Where the vector of the question differs, and where all others do too.

    Not of two indexings by words: their statistics are those of the whole full-text index, which has changed meanwhile.
    """
    first, again = seen[0].evidence[question, mode]
    assert first.passages
    assert evidence(again) == evidence(first)
    for other in seen[1:] if mode in WITHOUT_WORDS else ():
        [found] = other.evidence[question, mode]
        assert [(p.text, p.document, p.start, p.level) for p in found.passages] == [
            (p.text, p.document, p.start, p.level) for p in first.passages
        ]
