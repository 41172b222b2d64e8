"""Retrieval with the real Cypher on the real server, against the naive implementation; all modes side by side."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from math import ceil, isfinite
from typing import Any, get_args
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import (
    MOST_READS,
    NAMES,
    REAL_DIMENSIONS,
    chunks_wanted,
    driven,
    few_examples,
    find_evidence,
    libraries,
    long_document,
    padded,
    performing,
    questions,
    remove,
    side_by_side,
    small_document,
    staging,
    vectors,
    write,
    write_with_sentences,
)
from modes import GRAPH_MODES, LAYER_MODES, MAY_FIND_NOTHING, WINDOW_MODES
from naive import (
    AmbiguousError,
    NaiveAnswer,
    NaiveDocument,
    ask,
    chunks_of,
    dense,
    fitted,
    fused,
    merged,
    nodes_of,
    packed,
    persistence,
    shares_of,
    window_passages,
    windows,
)
from neo4j import Driver
from operations import outcome

from e2g_neo4j.errors import DatabaseError, NotFoundError
from e2g_neo4j.graph.writer import delete
from e2g_neo4j.retrieval.linking import link, link_parameters
from e2g_neo4j.retrieval.options import MIN_TOKENS, RetrievalOptions, Unit
from e2g_neo4j.retrieval.passages import top_k
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.ranking import rank_signals
from e2g_neo4j.retrieval.strategies import DEFAULT_MODE, STRATEGIES, lightrag, pagerank, routes
from e2g_neo4j.retrieval.strategies.hipporag import hipporag
from e2g_neo4j.retrieval.strategies.linear import linear
from e2g_neo4j.retrieval.windows import rank_windows
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Embed, Read
from e2g_neo4j.settings import MAX_HOPS, Settings
from e2g_neo4j.types.fingerprint import Fingerprint
from e2g_neo4j.types.results import Evidence

MODES = [mode for mode in STRATEGIES if mode not in LAYER_MODES]
"""The modes that need no more than what these tests write."""


SOURCES = {
    "lightrag": lightrag.MIX,
    "lightrag_hybrid": lightrag.HYBRID,
    "lightrag_local": lightrag.LOCAL,
    "lightrag_global": lightrag.GLOBAL,
}


def answer(
    driver: Driver,
    made_with: Fingerprint,
    corpus: str,
    names: list[str],
    vector: list[float],
    *,
    k: int = 10,
    h: int = 3,
    mode: str = "e2g",
    unit: Unit | None = None,
    tokens: int | None = None,
    question: str = "Who?",
    answers: dict[str, Any] | None = None,
) -> Evidence:
    """The evidence; and in `answers`, what the server answered to each statement."""
    options = RetrievalOptions(k=k, hops=h, mode=mode, unit=unit, tokens=tokens).fill(Settings())
    operation: Any = find_evidence(
        question, corpora=[corpus], names=names, made_with=made_with, options=options, token_spans=characters
    )
    asked: list[Any] = []

    def reply(request: Any) -> Any:
        asked.append(request)
        if isinstance(request, Embed):
            return padded([vector], REAL_DIMENSIONS)[0].tolist()
        rows = database.read(driver, "neo4j", request)
        if answers is not None:
            answers[request.statement] = rows
        return rows

    evidence: Evidence = outcome(operation, reply)
    reads = [one for one in asked if isinstance(one, Read)]
    assert len(reads) <= MOST_READS.get(mode, 3), "round trips"
    if mode == "e2g":
        assert (len(reads) < len(asked)) == (evidence.route == "global"), "the local route needs no vector"
    return evidence


def characters(text: str) -> list[tuple[int, int]]:
    """Tokens of these tests."""
    return [(place, place + 1) for place in range(len(text))]


def assert_equal(evidence: Evidence, expected: NaiveAnswer) -> None:
    assert evidence.route == expected.route
    assert list(evidence.entities) == expected.entities
    assert len(evidence.pairs) == len(expected.pairs)
    assert {(pair.a, pair.b, pair.hops) for pair in evidence.pairs} == expected.pairs
    assert evidence.hops == expected.hops
    assert [(r.hops, r.pairs, r.candidates) for r in evidence.trace] == expected.trace
    assert [(p.source, p.document, p.level, p.start, p.end, p.text, list(p.nodes)) for p in evidence.passages] == [
        (f"{p.document}.txt", f"Title of {p.document}", p.level, p.start, p.end, p.text, p.nodes)
        for p in expected.passages
    ]
    assert [sorted((q.a, q.b, q.hops) for q in p.pairs) for p in evidence.passages] == [
        p.pairs for p in expected.passages
    ]


# --- against the naive implementation ----------------------------------------------------------------


@few_examples(25, 4)
@given(st.data())
def test_equals_the_naive_implementation_in_every_corpus(driver: Driver, made_with: Fingerprint, data: Any) -> None:
    """Three corpora side by side with the same document, chunk and entity names, each asked several questions."""
    with side_by_side(driver, data, write=write_with_sentences) as written:
        for _ in range(4):
            names, vector = data.draw(questions(), "names"), data.draw(vectors(), "vector")
            k, h = data.draw(chunks_wanted(), "k"), data.draw(st.integers(1, MAX_HOPS), "h")
            for corpus, library in written.items():
                evidence = answer(driver, made_with, corpus, names, vector, k=k, h=h)
                expected = ask(library, names, vector, k=k, h=h)
                assert_equal(evidence, expected)
                assert set(evidence.unknown_entities) == set(names) - set(expected.entities)
                assert not any(chunks_with(library, one.a, one.b) for one in evidence.absences)


@few_examples(15)
@given(libraries(), questions(), vectors(), chunks_wanted())
def test_coverage_and_occurrence_are_counted_below_every_node(
    driver: Driver, made_with: Fingerprint, library: list[NaiveDocument], names: list[str], vector: list[float], k: int
) -> None:
    corpus, answers = uuid4().hex, dict[str, Any]()
    try:
        write(driver, corpus, library)
        evidence = answer(driver, made_with, corpus, names, vector, k=k, mode="e2g_normalised", answers=answers)
    finally:
        remove(driver, [corpus])
    for row in answers.get("query/shares", ()):
        assert row == shares_of(library, row["id"], names)
    assert evidence.route == "local" or not evidence.passages or answers["query/shares"]


TEN = "船が港に着いた。夜だ"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ann  met\tBob.\r\nShe\nslept. ", 5),
        (9 * "a" + " " + 9 * "b", 2),
        ("", 0),
        (3 * TEN, 30),
        (f"{TEN} Ann {TEN}", 3),
    ],
)
def test_a_word_is_a_run_of_characters_or_a_character_of_scripts_without_spaces(
    driver: Driver, text: str, words: int
) -> None:
    corpus = uuid4().hex
    try:
        driver.execute_query("CREATE (:Chunk {corpus: $corpus, id: 'c', text: $text})", corpus=corpus, text=text)
        [row] = database.read(
            driver, "neo4j", Read("query/shares", {"corpus": corpus, "ids": ["c", "no"], "names": ["ann"]})
        )
    finally:
        remove(driver, [corpus])
    assert row == {"id": "c", "entities": 0, "matched": 0, "words": words, "mentions": 0}


@few_examples(15)
@given(libraries(), questions(), vectors(), chunks_wanted(), st.integers(1, MAX_HOPS))
def test_modes_with_pairs_decide_the_route_as_the_paper_does(
    driver: Driver,
    made_with: Fingerprint,
    library: list[NaiveDocument],
    names: list[str],
    vector: list[float],
    k: int,
    h: int,
) -> None:
    """And tell all pairs within h edges: with them h never shrinks. Every mode gives at most k chunks' worth of text
    that is in the library, with finite scores."""
    corpus = uuid4().hex
    try:
        write_with_sentences(driver, corpus, library)
        question = " ".join(names) + "?"
        found = {
            mode: answer(driver, made_with, corpus, names, vector, k=k, h=h, mode=mode, question=question)
            for mode in MODES
        }
    finally:
        remove(driver, [corpus])

    paper, roomy = found["e2g"], ask(library, names, vector, k=1000, h=h)
    shares, code = found["e2g_normalised"], found["e2g_code"]
    assert (shares.route, shares.pairs, shares.hops) == (paper.route, paper.pairs, paper.hops)
    assert shares.trace == paper.trace
    assert (code.route, code.hops) == (paper.route, paper.hops), "names without a type are not taken apart"
    for mode in sorted(GRAPH_MODES - {"e2g", "e2g_normalised", "e2g_code"}):
        one = found[mode]
        assert (one.route, one.entities, one.unknown_entities) == (paper.route, paper.entities, paper.unknown_entities)
        assert {(pair.a, pair.b, pair.hops) for pair in one.pairs} == roomy.pairs
        assert set(paper.pairs) == {pair for pair in one.pairs if pair.hops <= paper.hops}
        assert (one.hops, one.trace) == (h, ())
        holding = {pair: chunks_with(library, pair.a, pair.b) for pair in one.pairs}
        for passage in one.passages:
            assert set(passage.pairs) == {pair for pair in one.pairs if holding[pair] & set(passage.nodes)}
    texts = {f"Title of {document.id}": document.text for document in library}
    for mode, one in found.items():
        assert one.mode == mode
        assert one.passages or mode in MAY_FIND_NOTHING
        assert all(isfinite(passage.score) for passage in one.passages)
        for passage in one.passages:
            assert passage.level or passage.text == texts[passage.document][passage.start : passage.end]


@few_examples(15)
@given(st.data())
def test_the_windows_and_chunks_of_every_mode_fill_every_budget(
    driver: Driver, made_with: Fingerprint, data: Any
) -> None:
    """As in the naive implementation: read as many as a budget needs, pack them, cut the last, merge neighbours.

    BM25 is taken as the server gives it, and so is the order by all signals, which has a test of its own.
    """
    library, corpus = data.draw(libraries(), "library"), uuid4().hex
    try:
        write_with_sentences(driver, corpus, library)
        for _ in range(3):
            names, vector = data.draw(questions(), "names"), data.draw(vectors(), "vector")
            k, tokens = data.draw(chunks_wanted(), "k"), data.draw(st.none() | st.integers(MIN_TOKENS, 400), "tokens")
            question = " ".join(names) + "?"
            for mode in sorted(WINDOW_MODES - LAYER_MODES):
                for unit in get_args(Unit):
                    answers: dict[str, Any] = {}
                    found = answer(
                        driver, made_with, corpus, names, vector, k=k, tokens=tokens, mode=mode, unit=unit,
                        question=question, answers=answers,
                    )  # fmt: skip
                    read = min(12 * k, max(20, ceil(tokens / 100))) if tokens else 12 * k
                    chunks = min(k, ceil(tokens / 200)) if tokens else k
                    if mode in ("hipporag", "linear"):
                        answers["order"] = by_pagerank(driver, mode, corpus, found.entities, vector, read)
                    with suppress(AmbiguousError):
                        order = order_of(library, mode, unit, vector, names, answers, read, chunks)
                        assert_fills(found, library, order, unit, k, tokens, chunks)
    finally:
        remove(driver, [corpus])


def by_pagerank(
    driver: Driver, mode: str, corpus: str, entities: Sequence[str], vector: list[float], read: int
) -> list[str]:
    """The ids of windows as modes `hipporag` and `linear` rank them, which have a test of their own."""
    ranking = linear if mode == "linear" else hipporag
    operation = ranking(Query("?", [corpus], read, {corpus: entities}))
    return [window.id for window, _ in driven(performing(driver), operation, vector)]


def order_of(
    library: list[NaiveDocument],
    mode: str,
    unit: Unit,
    vector: list[float],
    names: list[str],
    answers: dict[str, Any],
    read: int,
    chunks: int,
) -> list[str]:
    """The ids of windows or chunks, best first."""
    near = dense(library, vector) if mode in ("dense", "hybrid") else []
    places = windows(library)
    if unit == "chunk" and mode in ("fulltext", "hybrid"):
        by_words = [node.row["id"] for node in top_k(answers["query/fulltext_chunks"], 1000)]
        assert len(by_words) <= (chunks if mode == "fulltext" else 300)
        return by_words if mode == "fulltext" else fused(chunks_of(places, near[: 12 * 300])[:300], by_words)
    if mode in ("auto", "diffusion"):
        links = [{"corpus": "", **row} for row in answers["query/link"]]
        hops = link(links, names, (), 3).hops_of_names
        order = [window.id for window, _ in rank_signals(answers["query/signals"], words=mode == "auto", hops=hops)]
    elif mode == "routes":
        order = [window.id for window, _ in routes.rank_rows(answers["query/routes"])]
    elif mode in SOURCES:
        order = [window.id for window, _ in lightrag.mix_rows(answers["query/lightrag"], SOURCES[mode])]
    elif mode == "pagerank":
        order = [window.id for window, _ in pagerank.rank_rows(answers["query/pagerank_windows"])][:read]
    elif mode in ("hipporag", "linear"):
        order = answers["order"]
    elif mode == "dense":
        order = near[:read]
    else:
        order = [window.id for window, _ in rank_windows(answers["query/fulltext"])]
        assert len(order) <= (read if mode == "fulltext" else 300)
        order = order if mode == "fulltext" else fused(near[: max(300, read)], order)
    return order if unit == "window" else chunks_of(places, order)


def assert_fills(
    found: Evidence,
    library: list[NaiveDocument],
    order: list[str],
    unit: Unit,
    k: int,
    tokens: int | None,
    chunks: int,
) -> None:
    told = [(p.document, p.start, p.end, p.text, list(p.nodes)) for p in found.passages]
    if tokens is not None:
        assert sum(len(text) for *_, text, _ in told) <= tokens
    if unit == "window":
        places = windows(library)
        staying = {d.id: persistence([one.vector for c in d.chunks for one in c.windows]) for d in library}
        chosen = packed(places, order, staying, chunks=k, tokens=tokens)
        places = places if tokens is None else fitted(places, chosen, tokens)
        expected = window_passages(places, [id for id in chosen if id in places])
    elif tokens is None:
        expected = merged(library, order[:chunks], {})
    else:
        return
    assert told == [(f"Title of {p.document}", p.start, p.end, p.text, p.nodes) for p in expected]


@pytest.mark.full
def test_larger_budgets_find_no_less(driver: Driver, made_with: Fingerprint, corpora: list[str], corpus: str) -> None:
    """In characters, in every mode and unit, of texts without repetition."""
    corpora.append(corpus)
    sentences = [["ann", "bob"], ["cid"], ["dan", "eve"]] * 40
    library = [long_document(f"d{n}", [[*names, f"x{n}y{i}"] for i, names in enumerate(sentences)]) for n in range(3)]
    write_with_sentences(driver, corpus, library)
    for mode in MODES:
        for unit in get_args(Unit) if mode in WINDOW_MODES else ("chunk",):
            texts = []
            for tokens in (MIN_TOKENS, 200, 800, 3200, 12800):
                found = answer(
                    driver, made_with, corpus, ["ann", "bob"], [1.0], k=1000, tokens=tokens, mode=mode, unit=unit,
                    question="Does ann know bob?",
                )  # fmt: skip
                texts.append(sum(len(passage.text) for passage in found.passages))
                assert 0 < texts[-1] <= tokens, (mode, unit)
            assert texts == sorted(texts), (mode, unit)


def chunks_with(library: list[NaiveDocument], a: str, b: str) -> set[str]:
    return {chunk.id for d in library for chunk in d.chunks if {a, b} <= d.counts(chunk).keys()}


@few_examples(10)
@given(libraries(), questions(), vectors())
def test_nearest_gives_every_node_its_score_occurrences_and_way_up(
    driver: Driver, library: list[NaiveDocument], names: list[str], vector: list[float]
) -> None:
    corpus = uuid4().hex
    try:
        write_with_sentences(driver, corpus, library)
        unit = padded([vector], REAL_DIMENSIONS)[0].tolist()
        request = Read("query/nearest", {"corpus": corpus, "vector": unit, "k": 1000, "names": sorted(set(names))})
        rows = {row["id"]: row for row in database.read(driver, "neo4j", request)}
    finally:
        remove(driver, [corpus])

    nodes = nodes_of(library)
    assert rows.keys() == nodes.keys()
    for id, document in nodes.items():
        node = next(n for n in document.nodes() if n.id == id)
        cosine = np.dot(node.vector, vector) / np.linalg.norm(node.vector) / np.linalg.norm(vector)
        assert rows[id]["score"] == pytest.approx((1 + cosine) / 2, abs=1e-5)
        leaves = document.leaves(id)
        counted = sum(document.counts(leaf).get(name, 0) for leaf in leaves for name in set(names))
        assert rows[id]["occurrences"] == counted
        assert (rows[id]["start"], rows[id]["end"]) == (leaves[0].start, leaves[-1].end)
        way, here = [], id
        while parent := next((s.id for s in document.summaries if here in s.children), None):
            way.append(parent)
            here = parent
        assert rows[id]["path"] == way


# --- what is not visible -----------------------------------------------------------------------------

BY_WORDS = {"auto", "fulltext", "hybrid"}
"""Modes with scores that other corpora change."""


def found_in(
    driver: Driver, made_with: Fingerprint, corpus: str, mode: str, vector: list[float]
) -> dict[tuple[str, ...], float]:
    """The nodes of all passages that a mode can find, and their scores, where nothing else changes them."""
    found = answer(
        driver, made_with, corpus, list(NAMES), vector, k=1000, mode=mode, question=" ".join(NAMES) + "?"
    )  # fmt: skip
    return {one.nodes: 0.0 if mode in BY_WORDS else one.score for one in found.passages}


@few_examples(12)
@given(libraries(), libraries(), vectors())
def test_staged_and_removed_documents_are_not_found_in_any_mode(
    driver: Driver,
    made_with: Fingerprint,
    old: list[NaiveDocument],
    new: list[NaiveDocument],
    vector: list[float],
) -> None:
    """While a new version is staged, nothing changes. Of documents that are deleted, but whose nodes are still there,
    nothing is found."""
    corpus = uuid4().hex
    try:
        write_with_sentences(driver, corpus, [*old, small_document("kept", NAMES)])
        before = {mode: found_in(driver, made_with, corpus, mode, vector) for mode in MODES}
        for number, request in enumerate(staging(corpus, new)):
            database.write(driver, "neo4j", request)
            for mode in MODES[number % 3 :: 3]:
                assert found_in(driver, made_with, corpus, mode, vector) == pytest.approx(before[mode]), mode
        deletion: Any = delete(corpus, [document.id for document in old])
        for request in deletion:
            database.write(driver, "neo4j", request)
        for mode in MODES:
            found = found_in(driver, made_with, corpus, mode, vector)
            assert found.keys() <= {("kept-c0",)}, mode
            assert found or mode in MAY_FIND_NOTHING, mode
    finally:
        remove(driver, [corpus])


# --- the wall between corpora ------------------------------------------------------------------------


@few_examples(5)
@given(libraries(), vectors())
def test_nearest_finds_a_small_corpus_behind_a_large_one_that_is_nearer(
    driver: Driver, library: list[NaiveDocument], vector: list[float]
) -> None:
    """The corpus filters inside the index: nodes of another do not use up the k."""
    small, large = uuid4().hex, uuid4().hex
    unit = padded([vector], REAL_DIMENSIONS)[0].tolist()
    try:
        write_with_sentences(driver, small, library)
        driver.execute_query(
            "CREATE (d:Document {corpus: $corpus, id: 'd', state: 'ready'}) WITH d UNWIND range(1, 300) AS i "
            "CREATE (c:Chunk {corpus: $corpus, id: 'c' + i, document: 'd', level: 0, text: 'x', index: i}) "
            "WITH c CALL db.create.setNodeVectorProperty(c, 'embedding', $vector)",
            corpus=large,
            vector=unit,
        )
        request = Read("query/nearest", {"corpus": small, "vector": unit, "k": 5, "names": []})
        rows = database.read(driver, "neo4j", request)
    finally:
        remove(driver, [small, large])
    assert len(rows) == min(5, len(nodes_of(library)))
    assert {row["document"] for row in rows} <= {f"Title of {document.id}" for document in library}


def test_paths_do_not_lead_through_another_corpus(
    driver: Driver, made_with: Fingerprint, corpora: list[str], corpus: str
) -> None:
    """a and b are joined in one corpus only."""
    joined, apart = f"{corpus}-joined", f"{corpus}-apart"
    corpora += [joined, apart]
    write_with_sentences(driver, joined, [small_document("d", ["a", "b"])])
    write_with_sentences(driver, apart, [small_document("d", ["a"], ["b"])])
    assert answer(driver, made_with, joined, ["a", "b"], [1.0]).route == "local"
    far = answer(driver, made_with, apart, ["a", "b"], [1.0])
    assert (far.route, far.pairs) == ("global", ())


def test_a_corpus_that_does_not_exist_is_named(driver: Driver, made_with: Fingerprint, corpus: str) -> None:
    with pytest.raises(NotFoundError, match=corpus):
        answer(driver, made_with, corpus, ["a"], [1.0])


def test_at_most_so_many_entities_are_paired_the_rarest_first(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    rare_last = ["often", "sometimes", "twice", "once"]
    library = [small_document(f"d{number}", rare_last[: number + 1]) for number in range(4)]
    write_with_sentences(driver, corpus, library)
    request = Read(
        "query/link",
        {"corpus": corpus, "names": rare_last, "other_names": [], "proper": [], "limit": 2, "meanings": 3, "terms": []},
    )
    [row] = database.read(driver, "neo4j", request)
    assert sorted(one["entity"] for one in row["named"]) == ["once", "twice"]
    assert [(pair["a"], pair["b"]) for pair in row["pairs"]] == [("once", "twice")]


def test_names_that_nothing_is_called_by_are_read_as_similar_ones(
    driver: Driver, corpora: list[str], corpus: str
) -> None:
    """Of this corpus, whatever it is called, and not after they are gone. No nouns, and no parts of words."""
    corpus = f'{corpus} "a\\ b'
    corpora += [corpus, f"{corpus} c"]
    people = [["luke farran", "renfield"], ["luke farran", "luke hay", "lukewarm"], ["ann trelawney"]]
    write_with_sentences(driver, corpus, [small_document(f"d{n}", names) for n, names in enumerate(people)])
    write_with_sentences(driver, f"{corpus} c", [small_document("d", ["luke else", "renfeild"])])
    driver.execute_query("MATCH (e:Entity {corpus: $c}) WHERE e.chunks > 0 SET e.type = 'person'", c=corpus)

    def read(*names: str, **terms: list[str]) -> dict[str, list[tuple[str, int]]]:
        proper = {name: terms.get(name, []) for name in names}
        request = Read("query/link", {"corpus": corpus, **link_parameters(names, proper=proper)})
        [row] = database.read(driver, "neo4j", request)
        found: dict[str, list[tuple[str, int]]] = {name: [] for name in names}
        for one in row["similar"]:
            found[one["name"]].append((one["entity"], one["count"]))
        assert {one["entity"] for one in row["named"]} >= {one["entity"] for one in row["similar"]}
        return found

    assert read("luke", "renfield", "farran luke") == {
        "luke": [("luke farran", 2), ("luke hay", 2)],
        "renfield": [],
        "farran luke": [("luke farran", 1)],
    }
    assert read("renfeild", "ann terlawny", "luek", "varney") == {
        "renfeild": [("renfield", 1)],
        "ann terlawny": [("ann trelawney", 1)],
        "luek": [],
        "varney": [],
    }
    driver.execute_query(
        "MERGE (t:Term {term: 'renfeild', corpus: $c}) SET t.windows = 1 "
        "WITH t MATCH (e:Entity {corpus: $c, key: 'luke hay'}) SET e.type = 'noun'",
        c=corpus,
    )
    assert read("renfeild", "luke", renfeild=["renfeild"]) == {"renfeild": [], "luke": [("luke farran", 1)]}
    driver.execute_query("MATCH (e:Entity {corpus: $c, key: 'luke farran'}) REMOVE e:Entity SET e:E2GRetired", c=corpus)
    assert read("luke") == {"luke": []}


def test_hops_are_counted_in_edges_up_to_the_bound(
    driver: Driver, made_with: Fingerprint, corpora: list[str], corpus: str
) -> None:
    """A chain n0 - n1 - … - n7: the way from n0 to n6 has six edges, and that is the longest that counts."""
    corpora.append(corpus)
    chain = [f"n{number}" for number in range(MAX_HOPS + 2)]
    write_with_sentences(driver, corpus, [small_document("d", *pairwise(chain))])
    for hops, name in enumerate(chain[1:], 1):
        evidence = answer(driver, made_with, corpus, [chain[0], name], [1.0], h=MAX_HOPS)
        told = [(pair.a, pair.b, pair.hops) for pair in evidence.pairs]
        assert told == ([(chain[0], name, hops)] if hops <= MAX_HOPS else [])


def test_names_full_of_quotes_are_only_names_in_every_mode(
    driver: Driver, made_with: Fingerprint, corpora: list[str], corpus: str
) -> None:
    corpora.append(corpus)
    names = ['"`\'" }) DETACH DELETE n //', "``n`` OR \\'", 'the "elder"']
    write_with_sentences(driver, corpus, [small_document("d", names), small_document("e", ["ann"])])
    for mode in MODES:
        found = answer(driver, made_with, corpus, names, [1.0], k=1, mode=mode, question=" ".join(names) + "?")
        assert all(isfinite(passage.score) for passage in found.passages), mode
        assert found.passages, mode
        if mode in GRAPH_MODES:
            assert (found.route, set(found.entities), len(found.pairs)) == ("local", set(names), 3), mode
            assert [passage.source for passage in found.passages] == ["d.txt"], mode


@pytest.mark.parametrize("question", ["?!", "the of and", "\u4f60\u597d", "\u201c\u2019\u201d", "AND OR NOT"])
def test_a_question_without_words_is_answered_in_every_mode(
    driver: Driver, made_with: Fingerprint, corpora: list[str], corpus: str, question: str
) -> None:
    """Of a corpus of one chunk with one window, where nothing deviates."""
    corpora.append(corpus)
    write_with_sentences(driver, corpus, [small_document("d", ["ann", "bob"])])
    for mode in MODES:
        found = answer(driver, made_with, corpus, [], [1.0], mode=mode, question=question)
        nothing = mode in ("fulltext", "lightrag_local")
        assert [passage.nodes for passage in found.passages] == ([] if nothing else [("d-c0",)]), mode
        assert all(isfinite(passage.score) for passage in found.passages), mode


def test_the_mode_that_nobody_chose_is_auto() -> None:
    assert DEFAULT_MODE == "auto"


def test_a_read_cannot_write(driver: Driver) -> None:
    with pytest.raises(DatabaseError):
        database.read(
            driver,
            "neo4j",
            Read("index/renew_run", {"corpus": "x", "run": "x", "milliseconds": 1}),
        )
