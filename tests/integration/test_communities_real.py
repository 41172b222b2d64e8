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

from e2g_neo4j.indexing.communities import layer
from e2g_neo4j.indexing.communities.layer import COMMUNITIES
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import communities as mode
from e2g_neo4j.retrieval.windows import Window
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
