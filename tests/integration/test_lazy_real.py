"""Mode `lazy` on the real server, against a second implementation."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from statistics import fmean, pstdev
from typing import Any

import pytest
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
    pointing,
    side_by_side,
    small_document,
    vectors,
    write,
)
from naive import AmbiguousError, NaiveDocument, cosine, dense, windows
from neo4j import Driver

from e2g_neo4j.indexing.communities import hierarchy, layer
from e2g_neo4j.indexing.communities.layer import COMMUNITIES
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import lazy
from e2g_neo4j.retrieval.windows import Window
from e2g_neo4j.runtime.requests import Write


def ask(driver: Driver, corpora: list[str], vector: list[float], limit: int = 200) -> list[tuple[Window, float]]:
    operation = lazy.lazy(Query("Who?", corpora, limit))
    found: list[tuple[Window, float]] = driven(performing(driver), operation, vector)
    return found


def visits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any]]:
    """Return a list that gets the ranks and the parents of the communities of each question."""
    found: list[tuple[Any, Any]] = []
    visit = lazy.visit

    def noted(ranks: Any, parents: Any, relevant: Any) -> list[int]:
        found.append((ranks, parents))
        return visit(ranks, parents, relevant)

    monkeypatch.setattr(lazy, "visit", noted)
    return found


def ids(found: list[tuple[Window, float]]) -> list[str]:
    return [window.id for window, _ in found]


def test_the_communities_of_an_interrupted_run_are_not_visited(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every window would be relevant, but staged communities have none."""
    corpora.append(corpus)
    write(driver, corpus, [small_document("d0", ["ann", "bob"], ["bob", "cid"], ["ann", "cid"])])
    operation = COMMUNITIES.enrich(MODELS, corpus, None)
    perform = performing(driver)
    reply: Any = None
    published = False
    while not published:
        request: Any = operation.send(reply)
        published = isinstance(request, Write) and request.statements[0][0] == "communities/publish"
        if not published:
            reply = perform(request)
    operation.close()
    staged = "MATCH (:StagedCommunity {corpus: $corpus})<-[:IN_COMMUNITY]-() RETURN count(*) AS n"
    assert driver.execute_query(staged, corpus=corpus).records[0]["n"]
    visited = visits(monkeypatch)
    assert ids(ask(driver, [corpus], [1.0])) == ["d0-c0-w0"]
    driven(perform, COMMUNITIES.enrich(MODELS, corpus, None))
    ask(driver, [corpus], [1.0])
    [(before, _), (after, _)] = visited
    assert before == {}
    assert list(after.values()) == [[0]]


def test_no_more_windows_are_returned_than_asked_for(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora.append(corpus)
    write(driver, corpus, [small_document(f"d{n}", ["ann", "bob"], ["bob", "cid"], ["ann", "cid"]) for n in range(4)])
    driven(performing(driver), COMMUNITIES.enrich(MODELS, corpus, None))
    assert len(ask(driver, [corpus], [1.0])) == 4
    assert len(ask(driver, [corpus], [1.0], limit=3)) == 3
    visited = visits(monkeypatch)
    monkeypatch.setattr(lazy, "WINDOWS", 2)
    assert len(ask(driver, [corpus], [1.0])) == 4
    [(ranks, _)] = visited
    assert list(ranks.values()) == [[0, 1]]  # only these may be tested


def test_communities_are_visited_below_those_that_contain_them(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora.append(corpus)
    first = small_document("d0", ["ann", "bob"], ["bob", "cid"], ["ann", "cid"])
    second = small_document("d1", ["dan", "eve"], ["eve", "fay"], ["dan", "fay"])
    bridge = small_document("d2", ["cid", "dan"], ["bob", "eve"], ["ann", "fay"])
    apart = small_document("d3", ["gil", "hal"], ["hal", "ivy"], ["gil", "ivy"])
    another = small_document("d4", ["joe", "kim"], ["kim", "lee"], ["joe", "lee"])
    write(driver, corpus, [first, second, bridge, apart, another])
    monkeypatch.setattr(layer, "communities", partial(hierarchy.communities, largest=3))
    driven(performing(driver), COMMUNITIES.enrich(MODELS, corpus, None))
    visited = visits(monkeypatch)
    assert len(ask(driver, [corpus], [1.0])) == 5
    [(ranks, parents)] = visited
    by_windows = {tuple(of): key for key, of in ranks.items()}
    assert by_windows.keys() == {(0, 1, 2), (0, 2), (1, 2), (3,), (4,)}
    root = by_windows[0, 1, 2]
    assert {parents[by_windows[within]] for within in ((0, 2), (1, 2))} == {root}
    assert {parents[by_windows[top]] for top in ((0, 1, 2), (3,), (4,))} == {None}


def test_windows_are_compared_with_the_mean_and_the_standard_deviation_of_the_corpus(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores 1, .9 and .5: the mean is .8, the deviation .216. The nearest window has no entities."""
    corpora.append(corpus)
    names: list[list[list[str]]] = [[["nobody"]], [["ann", "bob"], ["bob", "cid"], ["ann", "cid"]], [["nobody"]]]
    vectors_of = [(1.0, 0.0), (0.8, 0.6), (0.0, 1.0)]
    given = enumerate(zip(names, vectors_of, strict=True))
    write(driver, corpus, [pointing(f"d{n}", vector, *sentences) for n, (sentences, vector) in given])
    driven(performing(driver), COMMUNITIES.enrich(MODELS, corpus, None))
    orders = []
    for deviations in (0.42, 0.5):
        monkeypatch.setattr(lazy, "DEVIATIONS", deviations)
        orders.append([window.document for window, _ in ask(driver, [corpus], [1.0])])
    assert orders == [["d1", "d0", "d2"], ["d0", "d1", "d2"]]


@few_examples(20, 3)
@given(st.data())
def test_ranking_equals_the_naive_implementation_in_every_corpus(driver: Driver, data: Any) -> None:
    """Three corpora side by side with the same ids and names. Communities are small, so that some contain others."""
    with side_by_side(driver, data) as written:
        for corpus in written:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(layer, "communities", partial(hierarchy.communities, largest=3))
                driven(performing(driver), COMMUNITIES.enrich(MODELS, corpus, None))
        for _ in range(3):
            vector = data.draw(vectors(), "vector")
            constants = {
                "BUDGET": data.draw(st.sampled_from([1, 3, 100]), "budget"),
                "TESTS": data.draw(st.integers(1, 3), "tests"),
                "BARREN": data.draw(st.integers(1, 3), "barren"),
                "DEVIATIONS": data.draw(st.sampled_from([-1.0, 0.0, 1.0]), "deviations"),
            }
            for corpus, library in written.items():
                with suppress(AmbiguousError), bounded(lazy, constants):
                    expected = naive(driver, corpus, library, vector)
                    assert ids(ask(driver, [corpus], vector)) == expected


def naive(driver: Driver, corpus: str, library: list[NaiveDocument], vector: list[float]) -> list[str]:
    """Rank by vector, then move the windows that tests find relevant to the front."""
    question = padded([vector], REAL_DIMENSIONS)[0].tolist()
    places = windows(library)
    by_near = dense(library, vector)
    scores = {id: (1 + cosine(padded([places[id].vector], REAL_DIMENSIONS)[0], question)) / 2 for id in by_near}
    least = fmean(scores.values()) + lazy.DEVIATIONS * pstdev(scores.values()) if scores else 0.0
    if any(abs(score - least) < 1e-5 for score in scores.values()):
        raise AmbiguousError
    records = driver.execute_query(
        "MATCH (c:Community {corpus: $corpus}) RETURN c.id AS id, "
        "COLLECT { MATCH (c)<-[:IN_COMMUNITY]-(e) RETURN e.key } AS members, "
        "COLLECT { MATCH (c)-[:PARENT]->(p) RETURN p.id } AS parents",
        corpus=corpus,
    ).records
    queues = {
        one["id"]: [id for id in by_near if any(places[id].sentences.get(member) for member in one["members"])]
        for one in records
    }
    by_best = sorted((id for id in queues if queues[id]), key=lambda id: ([by_near.index(w) for w in queues[id]], id))
    parents = {one["id"]: one["parents"][0] if one["parents"] else None for one in records}
    relevant: list[str] = []
    left = set(by_near)
    spent = 0
    turn = [id for id in by_best if parents[id] is None]
    while turn:
        barren, good = 0, set()
        for community in turn:
            chosen = [id for id in queues[community] if id in left][: lazy.TESTS][: lazy.BUDGET - spent]
            hits = [id for id in chosen if scores[id] > least]
            left -= set(chosen)
            spent += len(chosen)
            relevant += hits
            if hits:
                good.add(community)
                barren = 0
            elif chosen:
                barren += 1
            if barren == lazy.BARREN:
                break
        inner = {id for id in by_best if parents[id] in good}
        turn = [id for id in by_best if id in inner or (id in good and not any(parents[c] == id for c in by_best))]
    return relevant + [id for id in by_near if id not in relevant]
