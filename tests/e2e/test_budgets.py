"""Budgets in tokens on the sample library, through the client: counted again on the passages' texts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest
from at_server import settings_of
from libraries import remove
from modes import MAY_FIND_NOTHING, WINDOW_MODES
from neo4j import Driver
from stated import state

from e2g_neo4j import E2G, Settings
from e2g_neo4j.cli.demo import CHUNKS, LIBRARY, QUESTIONS
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.retrieval.options import MAX_TOKENS, MIN_TOKENS, Unit
from e2g_neo4j.retrieval.strategies import MODES
from e2g_neo4j.types.results import Evidence

pytestmark = [pytest.mark.timeout(900), pytest.mark.xdist_group("budgets"), pytest.mark.full, pytest.mark.by_turns(3)]

CORPORA = ("budget-one", "budget-two")
BUDGETS = (MIN_TOKENS, 150, 450, 1350, 4050)
ASKED: list[tuple[str, Unit]] = [
    (mode, unit) for mode in MODES for unit in get_args(Unit) if unit == "chunk" or mode in WINDOW_MODES
]


@pytest.fixture(scope="module")
def settings(neo4j_connection: Connection) -> Settings:
    return settings_of(neo4j_connection, workers=1).model_copy(update=CHUNKS)


@pytest.fixture(scope="module")
def e2g(settings: Settings, driver: Driver) -> Iterator[E2G]:
    files = sorted(path for path in Path(LIBRARY).iterdir())
    with E2G(settings=settings) as e2g:
        for number, corpus in enumerate(CORPORA):
            e2g.index(files[number::2], corpus=corpus)
            e2g.enrich(corpus=corpus)
            state(e2g, corpus)
        yield e2g
    remove(driver, CORPORA)


def tokens_of(e2g: E2G, evidence: Evidence) -> int:
    return sum(len(e2g.models.embedder.token_spans(passage.text)) for passage in evidence.passages)


@pytest.mark.parametrize(("mode", "unit"), ASKED)
@pytest.mark.parametrize("corpora", [CORPORA[:1], CORPORA], ids=["one corpus", "two corpora"])
def test_evidence_fits_and_larger_budgets_find_no_less(
    e2g: E2G, mode: str, unit: Unit, corpora: tuple[str, ...]
) -> None:
    """A budget is used up, or else all that the mode finds with ten times as much is there."""
    for question in QUESTIONS:
        found = [e2g.retrieve(question, corpora=corpora, mode=mode, unit=unit, tokens=tokens) for tokens in BUDGETS]
        counts = [tokens_of(e2g, evidence) for evidence in found]
        for evidence, count, tokens in zip(found, counts, BUDGETS, strict=True):
            assert count <= tokens
            assert count or mode in MAY_FIND_NOTHING
            assert {passage.corpus for passage in evidence.passages} <= set(corpora)
            for passage in evidence.passages:
                assert passage.level or len(passage.text) == passage.end - passage.start
        for less, more in pairwise(counts):
            assert less <= more


@pytest.mark.parametrize(("mode", "unit"), ASKED)
def test_the_tighter_of_two_limits_holds(e2g: E2G, mode: str, unit: Unit) -> None:
    """A chunk has at most CHUNKS tokens, a summary those of its setting."""
    largest = CHUNKS["chunk_tokens"] if unit == "window" else max(CHUNKS["chunk_tokens"], e2g.settings.summary_tokens)
    largest += 10  # a window may begin or end in a word of several tokens
    for question in QUESTIONS:
        one = e2g.retrieve(question, corpus=CORPORA[0], mode=mode, unit=unit, k=1, tokens=MAX_TOKENS)
        assert tokens_of(e2g, one) <= largest
        assert one.passages or mode in MAY_FIND_NOTHING
        few = e2g.retrieve(question, corpus=CORPORA[0], mode=mode, unit=unit, k=1000, tokens=MIN_TOKENS)
        assert tokens_of(e2g, few) <= MIN_TOKENS
        assert few.passages or mode in MAY_FIND_NOTHING


def test_an_answer_without_limits_has_as_much_evidence_as_it_may_use(e2g: E2G, settings: Settings) -> None:
    question = QUESTIONS[0]

    def evidence(tokens: int, k: int | None = None) -> Evidence:
        with E2G(settings=settings.model_copy(update={"evidence_tokens": tokens})) as other:
            return other.answer(question, corpora=CORPORA, k=k).evidence

    by_answer, by_hand = evidence(400), e2g.retrieve(question, corpora=CORPORA, tokens=400)
    assert [passage.text for passage in by_answer.passages] == [passage.text for passage in by_hand.passages]
    assert tokens_of(e2g, evidence(2 * MAX_TOKENS)) > 400
    with_k = e2g.retrieve(question, corpora=CORPORA, k=7)
    assert [passage.text for passage in evidence(400, k=7).passages] == [passage.text for passage in with_k.passages]
    assert tokens_of(e2g, with_k) > 400
