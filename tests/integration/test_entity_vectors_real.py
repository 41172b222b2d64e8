"""Vectors of entities on the real server: what is written, what queries see of it, and mode `vector_context`."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from graphs import snapshot
from hypothesis import given
from hypothesis import strategies as st
from libraries import (
    MODELS,
    REAL_DIMENSIONS,
    bounded,
    driven,
    few_examples,
    padded,
    performing,
    side_by_side,
    small_document,
    vectors,
    write,
)
from naive import AmbiguousError, NaiveDocument, cosine, cut, edges_of, windows
from neo4j import Driver

from e2g_neo4j.graph.writer import delete
from e2g_neo4j.indexing.vector_layers import ENTITIES
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import vector_context
from e2g_neo4j.retrieval.windows import Window
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read, Write

DOCUMENTS = [
    small_document("d0", ["ann", "bob"], ["bob", "cid"]),
    small_document("d1", ["dan", "eve"], ["ann", "cid"]),
]


def enriched(driver: Driver, corpus: str) -> int:
    return driven(performing(driver), ENTITIES.enrich(MODELS, corpus, None)).made


def ask(driver: Driver, corpora: list[str], vector: list[float], limit: int = 200) -> list[tuple[Window, float]]:
    operation = vector_context.vector_context(Query("Who?", corpora, limit))
    found: list[tuple[Window, float]] = driven(performing(driver), operation, vector)
    return found


def ids(found: list[tuple[Window, float]]) -> list[str]:
    return [window.id for window, _ in found]


def named(driver: Driver, corpus: str) -> dict[str, tuple[str | None, list[float] | None]]:
    records = driver.execute_query(
        "MATCH (e:Entity {corpus: $corpus}) RETURN e.key AS key, e.name AS name, e.embedding AS embedding",
        corpus=corpus,
    ).records
    return {record["key"]: (record["name"], record["embedding"]) for record in records}


def behind(driver: Driver) -> list[str]:
    return [row["corpus"] for row in database.read(driver, "neo4j", Read("doctor/behind", {}))]


def test_the_names_of_all_entities_are_embedded_once(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    write(driver, corpus, DOCUMENTS)
    write(driver, other, DOCUMENTS)
    before = snapshot(driver, other, exact=True)
    assert enriched(driver, corpus) == 5
    for name, embedding in named(driver, corpus).values():
        assert embedding == pytest.approx(MODELS.embedder.embed([name])[0].tolist(), abs=1e-6)
    assert enriched(driver, corpus) == 0
    assert snapshot(driver, other, exact=True) == before


def test_names_that_are_new_are_embedded_after_a_change(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, fresh := f"{corpus}-fresh"]
    write(driver, corpus, DOCUMENTS)
    driven(performing(driver), ENTITIES.update(MODELS, corpus))
    assert all(embedding is None for _, embedding in named(driver, corpus).values()), "nobody has asked for them"
    enriched(driver, corpus)
    changed = [small_document("d1", ["dan", "fay"], ["gil", "cid"])]
    write(driver, corpus, changed)
    assert corpus in behind(driver)
    assert {key for key, (_, embedding) in named(driver, corpus).items() if embedding is None} == {"fay", "gil"}
    driven(performing(driver), ENTITIES.update(MODELS, corpus))
    assert corpus not in behind(driver)
    write(driver, fresh, [DOCUMENTS[0], *changed])
    enriched(driver, fresh)
    assert snapshot(driver, corpus) == snapshot(driver, fresh)
    driven(performing(driver), delete(corpus, ["d0", "d1"]))
    assert snapshot(driver, corpus) == ({}, {})


def test_another_spelling_is_embedded_again(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    enriched(driver, corpus)
    rename = "MATCH (e:Entity {corpus: $corpus, key: 'ann'}) SET e.name = 'ANN'"
    driver.execute_query(rename, corpus=corpus)
    assert enriched(driver, corpus) == 1
    assert named(driver, corpus)["ann"][1] == pytest.approx(MODELS.embedder.embed(["ANN"])[0].tolist(), abs=1e-6)


def test_a_name_that_changes_meanwhile_is_embedded_as_it_is_now(
    driver: Driver, corpora: list[str], corpus: str
) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    perform = performing(driver)

    def renaming(request: Read | Write) -> Any:
        if isinstance(request, Write) and request.statements[0][0] == "entities/set_vectors":
            driver.execute_query("MATCH (e:Entity {corpus: $corpus, key: 'ann'}) SET e.name = 'ANN'", corpus=corpus)
        return perform(request)

    driven(renaming, ENTITIES.enrich(MODELS, corpus, None))
    assert named(driver, corpus)["ann"][1] is None
    enriched(driver, corpus)
    assert named(driver, corpus)["ann"][1] == pytest.approx(MODELS.embedder.embed(["ANN"])[0].tolist(), abs=1e-6)


def test_windows_with_both_ends_of_a_relation_come_first(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All windows have the same vector. The nearest entity has relations to bob and to cid; the strongest counts."""
    corpora.append(corpus)
    write(
        driver,
        corpus,
        [
            small_document("d0", ["dan", "eve"]),
            small_document("d1", ["ann", "cid"]),
            small_document("d2", ["ann", "bob"], ["ann", "bob"]),
            small_document("d3", ["ann"]),
        ],
    )
    enriched(driver, corpus)
    near = named(driver, corpus)["ann"][1]
    assert near
    monkeypatch.setattr(vector_context, "ENTRY", 1)
    assert ids(ask(driver, [corpus], near)) == ["d1-c0-w0", "d2-c0-w0", "d0-c0-w0", "d3-c0-w0"]
    monkeypatch.setattr(vector_context, "NEIGHBOURS", 1)
    assert ids(ask(driver, [corpus], near)) == ["d2-c0-w0", "d0-c0-w0", "d1-c0-w0", "d3-c0-w0"]
    assert ids(ask(driver, [corpus], near, limit=2)) == ["d2-c0-w0", "d0-c0-w0"]
    monkeypatch.setattr(vector_context, "HUB", 2)  # ann is in three chunks
    assert ids(ask(driver, [corpus], near)) == ["d0-c0-w0", "d1-c0-w0", "d2-c0-w0", "d3-c0-w0"]


@few_examples(20, 3)
@given(st.data())
def test_ranking_equals_the_naive_implementation_in_every_corpus(driver: Driver, data: Any) -> None:
    """Three corpora side by side with the same ids and names."""
    with side_by_side(driver, data) as written:
        for corpus in written:
            enriched(driver, corpus)
        for _ in range(3):
            vector = data.draw(vectors(), "vector")
            constants = {
                "ENTRY": data.draw(st.integers(1, 6), "entry"),
                "NEIGHBOURS": data.draw(st.integers(1, 4), "neighbours"),
                "RELATION": data.draw(st.sampled_from([0.05, 0.5]), "relation"),
            }
            for corpus, library in written.items():
                with suppress(AmbiguousError), bounded(vector_context, constants):
                    expected = naive(driver, corpus, library, vector)
                    assert ids(ask(driver, [corpus], vector)) == expected


def naive(driver: Driver, corpus: str, library: list[NaiveDocument], vector: list[float]) -> list[str]:
    """Rank windows by their own scores, and by those of the entities whose relations they mention."""
    question = padded([vector], REAL_DIMENSIONS)[0].tolist()
    names = {key: name for key, (name, _) in named(driver, corpus).items()}
    all_scores = {
        key: (1 + cosine(MODELS.embedder.embed([name])[0].tolist(), question)) / 2 for key, name in names.items()
    }
    scores = {key: all_scores[key] for key in cut(all_scores, vector_context.ENTRY)}
    relations: dict[tuple[str, str], float] = {}
    for key in scores:
        weights = {pair: weight for pair, (_, weight) in edges_of(library).items() if key in pair}
        ordered = sorted(weights, key=lambda pair: (-round(weights[pair], 6), pair[pair[0] == key]))
        for pair in ordered[: vector_context.NEIGHBOURS]:
            relations[pair] = max(scores.get(end, 0.0) for end in pair)
    places = windows(library)
    total = {}
    for id, place in places.items():
        own = (1 + cosine(padded([place.vector], REAL_DIMENSIONS)[0].tolist(), question)) / 2
        mentioned = [score for (a, b), score in relations.items() if place.sentences.get(a) and place.sentences.get(b)]
        total[id] = own + vector_context.RELATION * max(mentioned, default=0.0)
    values = sorted(total.values())
    if any(1e-9 < b - a < 1e-4 for a, b in pairwise(values)):
        raise AmbiguousError
    in_order = sorted(places, key=lambda id: (places[id].document.id, places[id].position))
    return sorted(in_order, key=lambda id: -round(total[id], 7))
