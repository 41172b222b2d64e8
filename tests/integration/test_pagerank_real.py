"""Mode `pagerank` on the real server, against the naive implementation."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import (
    NAMES,
    REAL_DIMENSIONS,
    bounded,
    driven,
    few_examples,
    name_vectors,
    padded,
    performing,
    pointing,
    questions,
    side_by_side,
    small_document,
    vectors,
    write,
)
from naive import AmbiguousError, NaiveDocument, cosine, pageranked, windows
from neo4j import Driver

from e2g_neo4j.retrieval.linking import Linked
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import pagerank
from e2g_neo4j.retrieval.windows import Window
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read

PATH = [["ann", "bob"], ["bob", "cid"], ["cid", "dan"], ["eve"]]
"""A document each. To (1, 0, …) the last one has a cosine of 1, the others of 0."""


@pytest.fixture
def path(driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The entities of the question and of the nearest window are the seeds."""
    monkeypatch.setattr(pagerank, "ENTRY", 1)
    corpora.append(corpus)
    write(driver, corpus, path_documents())
    return corpus


def path_documents() -> list[NaiveDocument]:
    return [pointing(f"d{n}", (float(n == 3), *[0.0] * n, float(n < 3)), names) for n, names in enumerate(PATH)]


def ask(
    driver: Driver,
    corpus: str,
    entities: Sequence[str],
    vector: list[float],
    limit: int = 300,
    unknown: Sequence[str] = (),
) -> list[tuple[Window, float]]:
    """`unknown`: names that no entity has, whose vectors are that of the question."""
    linked = Linked(unknown=tuple(unknown))
    query = Query("?", [corpus], limit, {corpus: entities}, layered=[corpus] if unknown else [], linked=linked)
    operation = pagerank.pagerank(query)
    return driven(performing(driver), operation, vector)


def scores_of(found: Sequence[tuple[Window, float]]) -> dict[str, float]:
    return {window.id: score for window, score in found}


def test_windows_of_a_path_are_as_by_hand(driver: Driver, path: str) -> None:
    """Ann, of the question, and eve, of the nearest window, are each in one chunk: both are seeds of weight 1. Next to
    ann is bob alone, and cid is next to no seed. Eve has no neighbour: eve = (.15 + .85 eve) / 2 = 3/23, and as much
    returns to ann: ann = .85 bob + 3/23 and bob = .85 ann, so ann + bob = 740/851. It is the only relation."""
    found = ask(driver, path, ["ann"], [1.0])
    assert [(window.id, score) for window, score in found] == [
        ("d0-c0-w0", pytest.approx(740 / 851)),
        ("d3-c0-w0", 0.0),
        ("d1-c0-w0", 0.0),
        ("d2-c0-w0", 0.0),
    ]


def test_the_entity_with_the_nearest_name_is_a_seed(driver: Driver, path: str) -> None:
    """Nobody is called by the name, and its cosine with ann is .8: ann weighs .8, eve 1. eve = 5/9 (.15 + .85 eve) =
    3/19, and ann and bob have the rest. With a cosine of .69 there is only eve."""
    name_vectors(driver, path, {"ann": [0.8, 0.6], "bob": [0.6, 0.8], "cid": [0.75, 0.0, 0.66]})
    found = scores_of(ask(driver, path, [], [1.0], unknown=["anna"]))
    assert found == {"d0-c0-w0": pytest.approx(16 / 19), **dict.fromkeys(["d3-c0-w0", "d1-c0-w0", "d2-c0-w0"], 0.0)}
    assert set(scores_of(ask(driver, path, [], [1.0])).values()) == {0.0}, "without vectors of entities"
    name_vectors(driver, path, {"ann": [0.69, 0.72], "cid": [0.5, 0.87]})
    assert set(scores_of(ask(driver, path, [], [1.0], unknown=["anna"])).values()) == {0.0}


def test_seeds_weigh_less_the_more_chunks_mention_them(driver: Driver, path: str) -> None:
    """Bob is in two chunks and weighs 1/2, eve 1. Next to bob are ann and cid. As bob passes .85 to them, and gets .85
    of theirs: bob = .7225 bob + r / 3 and eve = 2/3 r, where r = .15 + .85 eve = 9/26. So bob = 400/962 and ann and cid
    have .425 of it. Both relations score 1.425 times 400/962."""
    assert scores_of(ask(driver, path, ["bob"], [1.0])) == {
        "d0-c0-w0": pytest.approx(1.425 * 400 / 962),
        "d1-c0-w0": pytest.approx(1.425 * 400 / 962),
        "d2-c0-w0": 0.0,
        "d3-c0-w0": 0.0,
    }


def test_a_window_scores_the_sum_of_its_relations(driver: Driver, corpora: list[str], corpus: str) -> None:
    """With entities of .6, .3 and 0, a – b in the first and a – c in the second: .9 and .6. The third has both, and b
    and c, which are no relation."""
    corpora.append(corpus)
    write(driver, corpus, [small_document(f"d{n}", names) for n, names in enumerate(["ab", "ac", "abc", "a"])])
    relations = pagerank.best_relations({"a": 0.6, "b": 0.3, "c": 0.0}, [("a", "b"), ("a", "c")])
    parameters = {"corpus": corpus, "vector": padded([[1.0]], REAL_DIMENSIONS)[0].tolist(), "limit": 9}
    request = Read("query/pagerank_windows", {**parameters, **pagerank.as_parameters(relations)})
    assert [
        (window.document, score) for window, score in pagerank.rank_rows(database.read(driver, "neo4j", request))
    ] == [
        ("d2", pytest.approx(1.5)),
        ("d0", pytest.approx(0.9)),
        ("d1", pytest.approx(0.6)),
        ("d3", 0.0),
    ]


def test_the_neighbours_that_get_most_are_kept(driver: Driver, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bob is next to both seeds, dan only to cid, and so gets less."""
    monkeypatch.setattr(pagerank, "AROUND", 1)
    found = scores_of(ask(driver, path, ["ann", "cid"], [1.0]))
    assert [id for id, score in found.items() if score] == ["d0-c0-w0", "d1-c0-w0"]
    monkeypatch.setattr(pagerank, "AROUND", 2)
    assert scores_of(ask(driver, path, ["ann", "cid"], [1.0]))["d2-c0-w0"] > 0


def test_hubs_are_in_no_relation(driver: Driver, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bob and cid are in two chunks."""
    monkeypatch.setattr(pagerank, "HUB", 1)
    found = scores_of(ask(driver, path, ["ann", "bob"], [1.0]))
    assert set(found.values()) == {0.0}
    assert len(found) == len(PATH)


def test_windows_are_found_up_to_a_limit(driver: Driver, path: str) -> None:
    """The best by relations, then the nearest."""
    assert list(scores_of(ask(driver, path, ["ann"], [1.0], limit=2))) == ["d0-c0-w0", "d3-c0-w0"]
    assert list(scores_of(ask(driver, path, ["bob"], [1.0], limit=1))) == ["d0-c0-w0"], "of equals in reading order"


def test_the_order_of_nodes_changes_nothing(driver: Driver, path: str, corpora: list[str]) -> None:
    other = f"{path}-other"
    corpora.append(other)
    for document in reversed(path_documents()):
        write(driver, other, [document])
    assert ask(driver, other, ["bob", "dan"], [1.0]) == ask(driver, path, ["bob", "dan"], [1.0])


@few_examples(20, 3)
@given(st.data())
def test_equals_the_naive_implementation_in_every_corpus(driver: Driver, data: Any) -> None:
    """Three corpora side by side with the same ids and names; also where the bounds are tight."""
    wide = {"entry": 10, "seeds": 10, "around": 200, "hub": 1000, "relations": 64}
    tight = {"entry": 2, "seeds": 2, "around": 1, "hub": 2, "relations": 2}
    with side_by_side(driver, data) as written:
        for _ in range(4):
            vector, names = data.draw(vectors(), "vector"), data.draw(questions(), "names")
            limit, bounds = data.draw(st.sampled_from([2, 300]), "limit"), data.draw(st.sampled_from([wide, tight]))
            unknown = data.draw(st.none() | st.sampled_from(NAMES), "the entity with the name's vector")
            toward = {True: vector, False: [-part for part in vector]}
            for corpus, library in written.items():
                with suppress(AmbiguousError), bounded(pagerank, bounds):
                    entities, similar = list(dict.fromkeys(names)), {unknown: 1.0} if unknown else {}
                    expected = pageranked(library, entities, vector, limit=limit, similar=similar, **bounds)
                    name_vectors(driver, corpus, {name: toward[name == unknown] for name in NAMES})
                    found = ask(driver, corpus, entities, vector, limit, ["?"] if unknown else [])
                    assert len(found) == min(limit, len(expected))
                    assert [score for _, score in found] == pytest.approx([expected[w.id] for w, _ in found], abs=1e-7)
                    assert_in_order(found, library, vector, limit)
                    best = sorted(expected.values(), reverse=True)[:limit]
                    assert [score for _, score in found] == pytest.approx(best, abs=1e-7)


def assert_in_order(
    found: Sequence[tuple[Window, float]], library: list[NaiveDocument], vector: list[float], limit: int
) -> None:
    """By score, and if all windows are among the nearest, by cosine, then as in the text."""
    scores = [round(score, 8) for _, score in found]
    assert scores == sorted(scores, reverse=True)
    places = windows(library)
    if limit < len(places):
        return
    nears = [cosine(places[window.id].vector, vector) for window, _ in found]
    for at in range(len(found) - 1):
        if scores[at] == scores[at + 1]:
            assert nears[at] > nears[at + 1] - 1e-3
            if abs(nears[at] - nears[at + 1]) < 1e-9:
                one, next_one = found[at][0], found[at + 1][0]
                assert (one.document, one.index, one.number) < (next_one.document, next_one.index, next_one.number)
