"""Communities on the real server: what is written, what queries see of it, and mode `communities`."""

from __future__ import annotations

from collections import Counter
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
    dangling,
    driven,
    few_examples,
    padded,
    performing,
    side_by_side,
    small_document,
    vectors,
    write,
)
from naive import AmbiguousError, NaiveDocument, cosine, dense, windows
from neo4j import Driver

from e2g_neo4j.errors import CorpusChangedError, CorpusNotFoundError
from e2g_neo4j.graph.writer import delete
from e2g_neo4j.indexing import layers
from e2g_neo4j.indexing.clusters.layer import CLUSTERS
from e2g_neo4j.indexing.communities import layer
from e2g_neo4j.indexing.communities.layer import COMMUNITIES
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import communities as mode
from e2g_neo4j.retrieval.windows import Window
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read, Write

TWO_GROUPS = [
    small_document("d0", ["ann", "bob"], ["bob", "cid"], ["ann", "cid"]),
    small_document("d1", ["dan", "eve"], ["eve", "fay"], ["dan", "fay"]),
]


def enriched(driver: Driver, corpus: str) -> Any:
    return driven(performing(driver), COMMUNITIES.enrich(MODELS, corpus, None))


def found(driver: Driver, corpus: str) -> dict[str, Any]:
    """The communities of a corpus by their members."""
    records = driver.execute_query(
        "MATCH (c:Community {corpus: $corpus}) RETURN c.title AS title, c.text AS text, c.level AS level, "
        "COLLECT { MATCH (c)<-[:IN_COMMUNITY]-(e) RETURN e.key ORDER BY e.key } AS members, "
        "COLLECT { MATCH (c)-[:QUOTES]->(n) RETURN n.id ORDER BY n.id } AS quotes",
        corpus=corpus,
    ).records
    return {" ".join(record["members"]): (record["title"], record["text"], record["quotes"]) for record in records}


def asked(driver: Driver, corpus: str, vector: list[float], limit: int = 100) -> list[Window]:
    operation = mode.communities(Query("Who?", [corpus], limit))
    return [window for window, _ in driven(performing(driver), operation, vector)]


def test_two_groups_of_names_are_two_communities(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    write(driver, corpus, TWO_GROUPS)
    write(driver, other, TWO_GROUPS)
    before = snapshot(driver, other, exact=True)
    report = enriched(driver, corpus)
    assert (report.total, report.levels, report.made) == (2, 1, 2)
    there = found(driver, corpus)
    assert there.keys() == {"ann bob cid", "dan eve fay"}
    title, text, quotes = there["ann bob cid"]
    assert title == "ann, bob, cid"
    assert text == " ".join(TWO_GROUPS[0].text.split())
    assert quotes == ["d0-c0"]
    again = enriched(driver, corpus)
    assert (again.total, again.made) == (2, 0)
    assert snapshot(driver, other, exact=True) == before


def test_a_corpus_without_documents_has_no_communities(driver: Driver, corpus: str) -> None:
    with pytest.raises(CorpusNotFoundError):
        enriched(driver, corpus)


def test_a_deleted_document_leaves_nothing_in_communities(driver: Driver, corpora: list[str], corpus: str) -> None:
    """In the very transaction that hides the document, before anything is made again."""
    corpora.append(corpus)
    write(driver, corpus, TWO_GROUPS)
    enriched(driver, corpus)
    driven(performing(driver), delete(corpus, ["d0"]))
    assert found(driver, corpus).keys() == {"dan eve fay"}
    behind = database.read(driver, "neo4j", Read("doctor/behind", {}))
    assert {"corpus": corpus} in behind
    driven(performing(driver), COMMUNITIES.update(MODELS, corpus))
    assert found(driver, corpus).keys() == {"dan eve fay"}
    assert {"corpus": corpus} not in database.read(driver, "neo4j", Read("doctor/behind", {}))
    driven(performing(driver), delete(corpus, ["d1"]))
    assert snapshot(driver, corpus) == ({}, {})


def test_what_has_not_changed_keeps_its_report(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, TWO_GROUPS)
    enriched(driver, corpus)
    kept = driver.execute_query(
        "MATCH (c:Community {corpus: $corpus})-[:QUOTES]->({id: 'd0-c0'}) RETURN elementId(c) AS id", corpus=corpus
    ).records[0]["id"]
    write(driver, corpus, [small_document("d1", ["dan", "eve"], ["eve", "fay"], ["dan", "fay", "gil"])])
    report = enriched(driver, corpus)
    assert (report.total, report.made) == (2, 1)
    assert found(driver, corpus).keys() == {"ann bob cid", "dan eve fay gil"}
    assert driver.execute_query("MATCH (c:Community) WHERE elementId(c) = $id RETURN c", id=kept).records


@pytest.mark.parametrize("writes", range(6))
def test_a_change_meanwhile_begins_again(driver: Driver, corpora: list[str], corpus: str, writes: int) -> None:
    """A document is replaced after so many writes of the run. What is left is as if nobody had come between."""
    corpora += [corpus, fresh := f"{corpus}-fresh"]
    write(driver, corpus, TWO_GROUPS)
    perform = performing(driver)
    left = writes

    def interrupted(request: Read | Write) -> Any:
        nonlocal left
        if isinstance(request, Write) and left >= 0:
            left -= 1
            if left < 0:
                write(driver, corpus, [new])
        return perform(request)

    new = small_document("d1", ["dan", "eve"], ["eve", "ann"], ["dan", "ann"])
    driven(interrupted, COMMUNITIES.enrich(MODELS, corpus, None))
    assert not dangling(driver, corpus)
    write(driver, corpus, [new])
    driven(perform, COMMUNITIES.update(MODELS, corpus))
    write(driver, fresh, [TWO_GROUPS[0], new])
    enriched(driver, fresh)
    assert snapshot(driver, corpus) == snapshot(driver, fresh)


def test_an_entity_may_go_between_two_reads_of_edges(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its edges are read first, then it is gone."""
    corpora.append(corpus)
    write(driver, corpus, TWO_GROUPS)
    monkeypatch.setattr(layer, "ENTITIES_READ", 1)
    perform = performing(driver)
    new = [small_document("d1", ["dan", "eve"], ["eve", "gil"], ["dan", "gil"])]

    def without_fay(request: Read | Write) -> Any:
        if new and request == Read("communities/edges", {"corpus": corpus, "after": "eve", "limit": 1}):
            write(driver, corpus, new)
            new.clear()
        return perform(request)

    driven(without_fay, COMMUNITIES.enrich(MODELS, corpus, None))
    assert found(driver, corpus).keys() == {"ann bob cid", "dan eve gil"}


def test_a_corpus_that_always_changes_is_an_error(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, TWO_GROUPS)
    perform = performing(driver)
    during = "communities/stored"

    def changing(request: Read | Write) -> Any:
        if isinstance(request, Read) and request.statement == during:
            write(driver, corpus, TWO_GROUPS)
        return perform(request)

    with pytest.raises(CorpusChangedError, match="was changed 5 times while its communities were made"):
        driven(changing, COMMUNITIES.enrich(MODELS, corpus, None))
    assert found(driver, corpus) == {}
    for one in (COMMUNITIES, CLUSTERS):
        driven(perform, one.enrich(MODELS, corpus, None))
    write(driver, corpus, TWO_GROUPS)
    during = "clusters/stored"
    driven(changing, layers.update(MODELS, corpus))
    assert found(driver, corpus).keys() == {"ann bob cid", "dan eve fay"}, "the layers after it are updated"
    [state] = database.read(driver, "neo4j", Read("layers/state", {"corpus": corpus}))
    assert state["clusters"] != state["revision"] == state["communities"]


@pytest.mark.parametrize("writes", range(1, 5))
def test_an_interrupted_run_shows_nothing_and_is_cleaned_up(
    driver: Driver, corpora: list[str], corpus: str, writes: int
) -> None:
    corpora += [corpus, fresh := f"{corpus}-fresh"]
    write(driver, corpus, TWO_GROUPS)
    operation = COMMUNITIES.enrich(MODELS, corpus, None)
    perform = performing(driver)
    reply: Any = None
    staged = False
    while writes:
        request: Any = operation.send(reply)
        staged = staged or (isinstance(request, Write) and request.statements[0][0] == "communities/stage")
        reply = perform(request)
        writes -= isinstance(request, Write)
    operation.close()
    assert staged or writes == 0
    assert found(driver, corpus) == {}
    assert {window.id for window in asked(driver, corpus, [1.0])} == {"d0-c0-w0", "d1-c0-w0"}
    enriched(driver, corpus)
    write(driver, fresh, TWO_GROUPS)
    enriched(driver, fresh)
    assert snapshot(driver, corpus) == snapshot(driver, fresh)


@few_examples(20, 3)
@given(st.data())
def test_ranking_equals_the_naive_implementation_in_every_corpus(driver: Driver, data: Any) -> None:
    """Three corpora side by side with the same ids and names."""
    with side_by_side(driver, data) as written:
        for corpus in written:
            enriched(driver, corpus)
        for _ in range(3):
            vector = data.draw(vectors(), "vector")
            best = data.draw(st.sampled_from([1, 2, 10]), "communities")
            for corpus, library in written.items():
                with suppress(AmbiguousError), bounded(mode, {"turns": best}):
                    expected = naive(driver, corpus, library, vector, best)
                    assert [window.id for window in asked(driver, corpus, vector)] == expected


def naive(driver: Driver, corpus: str, library: list[NaiveDocument], vector: list[float], best: int) -> list[str]:
    """The turns of the communities that are there: each gives its nearest window that is left, until none is."""
    question = padded([vector], REAL_DIMENSIONS)[0].tolist()
    records = driver.execute_query(
        "MATCH (c:Community {corpus: $corpus}) "
        "RETURN c.embedding AS vector, COLLECT { MATCH (c)<-[:IN_COMMUNITY]-(e) RETURN e.key } AS members",
        corpus=corpus,
    ).records
    nears = sorted(((cosine(one["vector"], question), one["members"]) for one in records), key=lambda one: -one[0])
    if any(a - b < 4e-5 for (a, _), (b, _) in pairwise(nears)):
        raise AmbiguousError
    places = windows(library)
    by_near = dense(library, vector)
    queues = [
        [id for id in by_near if any(places[id].sentences.get(member) for member in members)]
        for _, members in nears[:best]
    ]
    found: list[str] = []
    turn = Counter[int]()
    while any(turn[number] < len(queue) for number, queue in enumerate(queues)):
        for number, queue in enumerate(queues):
            if turn[number] < len(queue) and (id := queue[turn[number]]) not in found:
                found.append(id)
            turn[number] += 1
    return found + [id for id in by_near if id not in found]
