"""Modes `linear` and `hipporag` on the real server, against the naive implementation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import (
    MODELS,
    REAL_DIMENSIONS,
    bounded,
    driven,
    few_examples,
    own_borders,
    padded,
    performing,
    questions,
    side_by_side,
    small_document,
    vectors,
    write,
    write_with_sentences,
)
from naive import AmbiguousError, NaiveChunk, NaiveDocument, NaiveWindow, connected, remembered
from neo4j import Driver

from e2g_neo4j.errors import QueryError
from e2g_neo4j.indexing.vector_layers import SENTENCES
from e2g_neo4j.retrieval import passage_graph, sentences
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import hipporag, linear
from e2g_neo4j.retrieval.windows import Window
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read, Write

Mode: TypeAlias = Callable[..., Any]
MODES: tuple[Mode, ...] = (linear.linear, hipporag.hipporag)

CHAIN = [(["ann", "bob"], 0.8), (["bob", "cid"], 0.7), (["cid", "dan"], 0.6), (["eve"], 0.1)]
"""A document each, of one sentence, with its cosine to (1, 0, …)."""


@pytest.fixture
def chain(driver: Driver, corpora: list[str], corpus: str) -> str:
    corpora.append(corpus)
    write_with_sentences(driver, corpus, chain_documents())
    return corpus


def chain_documents() -> list[NaiveDocument]:
    return [pointing(f"d{n}", (near, (1 - near**2) ** 0.5), names) for n, (names, near) in enumerate(CHAIN)]


def pointing(id: str, vector: tuple[float, ...], names: Sequence[str]) -> NaiveDocument:
    """A small document whose window and sentence have a vector of their own."""
    document = small_document(id, names)
    [chunk], [sentence] = document.chunks, document.sentences
    window = NaiveWindow(chunk.start, chunk.end, vector)
    moved = NaiveChunk(chunk.id, 0, chunk.start, chunk.end, vector, (window,))
    return replace(document, chunks=(moved,), sentences=(replace(sentence, vector=vector),))


def ask(
    driver: Driver, mode: Mode, corpus: str, entities: Sequence[str], vector: Sequence[float] = (1.0,), limit: int = 200
) -> list[tuple[Window, float]]:
    found: list[tuple[Window, float]] = driven(
        performing(driver), mode(Query("?", [corpus], limit, {corpus: entities})), vector
    )
    return found


def scores_of(found: Sequence[tuple[Window, float]]) -> dict[str, float]:
    return {window.id: score for window, score in found}


def activated(driver: Driver, corpus: str, entities: Sequence[str]) -> dict[str, tuple[Any, int]]:
    vector = padded([[1.0]], REAL_DIMENSIONS)[0].tolist()
    active, _ = driven(performing(driver), linear.activate(Query("", [corpus], 0, {corpus: entities}), vector))
    return {key: (pytest.approx(score, abs=0.01), step) for (_, key), (score, step) in active.items()}


def test_activation_follows_sentences_until_it_is_too_low(
    driver: Driver, chain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """.8, then .8 * .7 = .56, then .56 * .6 = .336, where no cosine is subtracted."""
    monkeypatch.setattr(linear, "PRIOR", 1e9)
    monkeypatch.setattr(linear, "THRESHOLD", 0.5)
    assert activated(driver, chain, ["ann"]) == {
        "ann": (1.0, 1),
        "bob": (0.8, 2),
        "cid": (0.56, 3),
    }
    monkeypatch.setattr(linear, "THRESHOLD", 0.3)
    assert activated(driver, chain, ["ann"])["dan"] == (0.336, 4)
    monkeypatch.setattr(linear, "STEPS", 2)
    assert activated(driver, chain, ["ann"]).keys() == {"ann", "bob", "cid"}
    assert activated(driver, chain, ["eve"]) == {"eve": (1.0, 1)}


@pytest.mark.parametrize("mode", MODES)
def test_hubs_are_left_out(driver: Driver, chain: str, monkeypatch: pytest.MonkeyPatch, mode: Mode) -> None:
    """Bob and cid are in two chunks. Without them, only the first sentence leads to ann."""
    for module in (linear, hipporag):
        monkeypatch.setattr(module, "HUB", 1)
    assert sentences.HUB == 1000
    monkeypatch.setattr(hipporag, "PASSAGES", 0.0)
    monkeypatch.setattr(linear, "PASSAGES", 0.0)
    found = scores_of(ask(driver, mode, chain, ["ann", "bob"]))
    assert found["d0-c0-w0"] > 0
    assert found["d1-c0-w0"] == 0


def test_facts_lead_to_windows_of_the_same_entities(
    driver: Driver, chain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the nearest sentence counts: its entities are ann and bob, and bob is in the second window too."""
    monkeypatch.setattr(hipporag, "FACTS", 1)
    monkeypatch.setattr(hipporag, "PASSAGES", 0.0)
    found = scores_of(ask(driver, hipporag.hipporag, chain, []))
    assert found["d0-c0-w0"] > found["d1-c0-w0"] > 0
    assert (found["d2-c0-w0"], found["d3-c0-w0"]) == (0, 0)


@pytest.mark.parametrize("mode", MODES)
def test_without_entities_windows_are_ranked_by_vector(
    driver: Driver, corpora: list[str], corpus: str, mode: Mode
) -> None:
    corpora.append(corpus)
    write_with_sentences(
        driver, corpus, [pointing(f"d{n}", (near, 1 - near), []) for n, near in enumerate([0.2, 0.9, 0.5])]
    )
    assert [window.document for window, _ in ask(driver, mode, corpus, ["nobody"])] == ["d1", "d2", "d0"]


@pytest.mark.parametrize("mode", MODES)
def test_the_order_of_nodes_changes_nothing(driver: Driver, chain: str, corpora: list[str], mode: Mode) -> None:
    other = f"{chain}-other"
    corpora.append(other)
    for document in reversed(chain_documents()):
        write_with_sentences(driver, other, [document])
    assert ask(driver, mode, other, ["bob", "dan"]) == ask(driver, mode, chain, ["bob", "dan"])


@few_examples(20, 3)
@given(st.data())
def test_equals_the_naive_implementation_in_every_corpus(driver: Driver, data: Any) -> None:
    """Three corpora side by side with the same ids and names; also where the bounds are tight."""
    bounds: dict[Mode, list[dict[str, Any]]] = {
        linear.linear: [
            {"steps": 3, "sentences": 3, "threshold": 0.3, "prior": 10, "chunks": 10, "hub": 1000},
            {"steps": 2, "sentences": 1, "threshold": 0.05, "prior": 1, "chunks": 1, "hub": 2},
        ],
        hipporag.hipporag: [
            {"entry": 20, "sentences": 20, "facts": 5, "hub": 1000},
            {"entry": 2, "sentences": 3, "facts": 1, "hub": 2},
        ],
    }
    with side_by_side(driver, data, write=write_with_sentences) as written:
        for _ in range(4):
            vector, names = data.draw(vectors(), "vector"), data.draw(questions(), "names")
            entities = list(dict.fromkeys(names))
            limit = data.draw(st.sampled_from([2, 200]), "limit")
            for mode, twin in ((linear.linear, connected), (hipporag.hipporag, remembered)):
                some = data.draw(st.sampled_from(bounds[mode]), "bounds")
                for corpus, library in written.items():
                    own = {document.id: own_borders(document) for document in library}
                    module = linear if mode is linear.linear else hipporag
                    with suppress(AmbiguousError), bounded(passage_graph, {"limit": limit}), bounded(module, some):
                        expected = twin(library, entities, vector, own, limit=limit, **some)
                        found = ask(driver, mode, corpus, entities, vector, limit)
                        assert scores_of(found) == pytest.approx(expected, abs=1e-6)
                        scores = [round(score, 9) for _, score in found]
                        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("mode", MODES)
def test_two_corpora_are_ranked_together(driver: Driver, chain: str, corpora: list[str], mode: Mode) -> None:
    """Entities of the same name are two: no window of the other corpus gets more for the entities of this one."""
    other = f"{chain}-other"
    corpora.append(other)
    write_with_sentences(driver, other, [pointing("far", (0.0, 1.0), ["ann"])])
    found = driven(performing(driver), mode(Query("?", [chain, other], 200, {chain: ["ann"], other: []})), (1.0,))
    assert {window.document for window, _ in found} == {"d0", "d1", "d2", "d3", "far"}
    assert found[0][0].document == "d0"
    assert found[-1][0].document == "far"


@pytest.mark.parametrize("mode", MODES)
def test_chunks_without_vectors_are_an_error(driver: Driver, chain: str, mode: Mode) -> None:
    driver.execute_query(
        "MATCH (c:Chunk {corpus: $corpus}) WHERE c.id IS NOT NULL REMOVE c.sentence_vectors", corpus=chain
    )
    message = rf"corpus '{chain}' have no vectors.*e2g enrich --with sentences --corpus {chain}"
    with pytest.raises(QueryError, match=message):
        ask(driver, mode, chain, ["ann"])


def test_vectors_of_sentences_that_changed_meanwhile_are_not_written(
    driver: Driver, corpora: list[str], corpus: str
) -> None:
    corpora.append(corpus)
    write(driver, corpus, chain_documents())
    perform = performing(driver)

    def changing(request: Read | Write) -> Any:
        if isinstance(request, Write) and request.statements[0][0] == "sentences/set_vectors":
            driver.execute_query(
                "MATCH (c:Chunk {corpus: $corpus, id: 'd0-c0'}), (other:Chunk {corpus: $corpus, id: 'd3-c0'}) "
                "SET c.notes = other.notes",
                corpus=corpus,
            )
        return perform(request)

    def without() -> list[str]:
        rows = database.read(driver, "neo4j", Read("sentences/missing", {"corpus": corpus, "after": "", "limit": 9}))
        return [row["chunk"] for row in rows]

    driven(changing, SENTENCES.enrich(MODELS, corpus, None))
    assert without() == ["d0-c0"]
    assert driven(perform, SENTENCES.enrich(MODELS, corpus, None)).made == 1
    assert without() == []
