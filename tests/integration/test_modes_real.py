"""Every mode but the paper's own on the real server, against the naive implementation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from math import isfinite, sqrt
from typing import Any, TypeAlias, TypeVar
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import (
    NAMES,
    bounded,
    chunks_wanted,
    few_examples,
    libraries,
    name_vectors,
    names_in,
    pointing,
    questions,
    remove,
    side_by_side,
    small_document,
    staging,
    vectors,
    write,
)
from libraries import (
    driven as operated,
)
from naive import (
    AmbiguousError,
    NaiveDocument,
    NaivePlace,
    all_chunks,
    chunks_of,
    containing,
    cosine,
    dense,
    fused,
    merged,
    persistence,
    routed,
    seeds_of,
    signalled,
    spread,
    taking_turns,
    text_of,
    tree,
    windows,
)
from neo4j import Driver

from e2g_neo4j.retrieval.passages import ScoredNode, passages, top_k
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.ranking import WORDS as WEIGHT
from e2g_neo4j.retrieval.ranking import rank_signals as ranking_of
from e2g_neo4j.retrieval.strategies import auto, fulltext, hybrid, lightrag, routes
from e2g_neo4j.retrieval.strategies.auto import diffusion
from e2g_neo4j.retrieval.strategies.dense import dense as dense_mode
from e2g_neo4j.retrieval.strategies.tree import tree as tree_mode
from e2g_neo4j.retrieval.windows import Window, rank_windows
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Operation, Read, Rows, Write

WORDS = ("harker", "mina", "lantern", "zebu")
"""Names that the index's stemmer leaves alone, and whose pieces it does not take for them."""

BY_WORDS: tuple[Any, ...] = (fulltext.fulltext, fulltext.fulltext_chunks, hybrid.hybrid, hybrid.hybrid_chunks)

T = TypeVar("T")
Ranked: TypeAlias = Sequence[tuple[Window, float]] | Sequence[tuple[str, float]] | Sequence[ScoredNode]

QUESTIONS = st.lists(st.sampled_from((*WORDS, "nobody")), min_size=1, max_size=3, unique=True)


def driven(driver: Driver, operation: Operation[T], vector: list[float]) -> tuple[T, dict[str, Any]]:
    """What an operation returns, and what the server answered to the last of each of its reads."""
    answers: dict[str, Any] = {}

    def perform(request: Read | Write) -> Rows:
        assert isinstance(request, Read)
        rows = answers[request.statement] = database.read(driver, "neo4j", request)
        return rows

    return operated(perform, operation, vector), answers


def ranked(driver: Driver, operation: Operation[T], vector: list[float]) -> T:
    return driven(driver, operation, vector)[0]


def ids(found: Ranked) -> list[str]:
    """Of windows, chunks or nodes."""
    return [one.row["id"] if isinstance(one, ScoredNode) else id_of(one[0]) for one in found]


def id_of(unit: Window | str) -> str:
    return unit if isinstance(unit, str) else unit.id


def scores_of(found: Ranked) -> dict[str, float]:
    scores = [one.score if isinstance(one, ScoredNode) else one[1] for one in found]
    return dict(zip(ids(found), scores, strict=True))


def assert_best_first(found: Ranked) -> None:
    scores = list(scores_of(found).values())
    assert scores == pytest.approx(sorted(scores, reverse=True), abs=1e-4)


def assert_passages(found: list[ScoredNode], library: list[NaiveDocument]) -> None:
    told = [(p.document, p.level, p.start, p.end, p.text, list(p.nodes)) for p in passages(found)]
    assert told == [
        (f"Title of {p.document}", p.level, p.start, p.end, p.text, p.nodes) for p in merged(library, ids(found), {})
    ]


@few_examples(15)
@given(st.data())
def test_every_mode_equals_the_naive_implementation_in_every_corpus(driver: Driver, data: Any) -> None:
    """Three corpora side by side, with the same ids of documents and chunks, each asked in all modes and units."""
    with side_by_side(driver, data, WORDS) as written:
        for _ in range(3):
            vector, limit = data.draw(vectors(), "vector"), data.draw(chunks_wanted(), "limit")
            words, depth = data.draw(QUESTIONS, "words"), data.draw(st.sampled_from([3, 300]), "depth")
            question = " ".join(words) + "?"
            for corpus, library in written.items():
                with suppress(AmbiguousError), bounded(hybrid, {"depth": depth}):
                    assert_windows_and_nodes(driver, corpus, library, question, words, vector, limit, depth)
                    assert_chunks(driver, corpus, library, question, words, vector, limit, depth)


def assert_windows_and_nodes(
    driver: Driver,
    corpus: str,
    library: list[NaiveDocument],
    question: str,
    words: list[str],
    vector: list[float],
    limit: int,
    depth: int,
) -> None:
    nearest = ranked(driver, dense_mode(Query(question, [corpus], limit)), vector)
    assert ids(nearest) == dense(library, vector)[:limit]
    nodes = ranked(driver, tree_mode(Query(question, [corpus], limit)), vector)
    assert ids(nodes) == tree(library, vector, limit)
    assert_passages(nodes, library)

    every = ranked(driver, fulltext.fulltext(Query(question, [corpus], 1000)), vector)
    places = windows(library)
    assert_ranked_by_words(every, {id: place.text for id, place in places.items()}, words)
    by_words = ranked(driver, fulltext.fulltext(Query(question, [corpus], limit)), vector)
    assert_first(by_words, every, limit)
    both, answers = driven(driver, hybrid.hybrid(Query(question, [corpus], limit)), vector)
    lexical = ids(rank_windows(answers["query/fulltext"]))
    assert len(lexical) == min(max(depth, limit), len(every))
    assert ids(both) == fused(dense(library, vector)[: max(depth, limit)], lexical)
    for found in (nearest, nodes, every, by_words, both):
        assert_best_first(found)
    for window, _ in (*nearest, *every, *both):
        assert_is(window, places[window.id])


def assert_is(window: Window, place: NaivePlace) -> None:
    [(index, chunk)] = [(n, one) for n, one in enumerate(place.document.chunks) if one.id == place.chunk]
    assert (window.chunk, window.document, window.index) == (place.chunk, place.document.id, index)
    assert window.last == (window.number == len(chunk.windows) - 1)
    assert window.share == pytest.approx(place.share)
    assert window.tokens == pytest.approx(place.end - place.start), "of these libraries each character is a token"
    vectors = [one.vector for chunk in place.document.chunks for one in chunk.windows]
    assert window.persistence == pytest.approx(persistence(vectors), abs=1e-3)


def assert_chunks(
    driver: Driver,
    corpus: str,
    library: list[NaiveDocument],
    question: str,
    words: list[str],
    vector: list[float],
    limit: int,
    depth: int,
) -> None:
    every = ranked(driver, fulltext.fulltext_chunks(Query(question, [corpus], 1000)), vector)
    assert_ranked_by_words(every, {chunk: text_of(library, chunk) for chunk in all_chunks(library)}, words)
    by_words = ranked(driver, fulltext.fulltext_chunks(Query(question, [corpus], limit)), vector)
    assert_first(by_words, every, limit)
    both, answers = driven(driver, hybrid.hybrid_chunks(Query(question, [corpus], limit)), vector)
    deep = max(depth, 2 * limit)
    lexical = ids(top_k(answers["query/fulltext_chunks"], 1000))
    assert len(lexical) == min(deep, len(every))
    assert ids(both) == fused(chunks_of(windows(library), dense(library, vector)[: 12 * deep])[:deep], lexical)
    for found in (every, by_words, both):
        assert_best_first(found)


def assert_ranked_by_words(found: Ranked, texts: Mapping[str, str], words: list[str]) -> None:
    """Exactly the texts that hold a word; and one that has each word as often, in no more text, comes no later.

    More cannot be said without the index's own statistics, which count every corpus of the server.
    """
    expected = containing(texts, words)
    scores = scores_of(found)
    assert scores.keys() == expected.keys()
    for better, (counts, length) in expected.items():
        for worse, (fewer, longer) in expected.items():
            if length <= longer and all(counts.get(word, 0) >= number for word, number in fewer.items()):
                assert scores[better] >= scores[worse] * (1 - 1e-6)


def assert_first(found: Ranked, every: Ranked, limit: int) -> None:
    """The best; of those with equal scores at the end, any."""
    scores = scores_of(every)
    assert len(set(ids(found))) == len(found) == min(limit, len(every))
    told = sorted((scores[id] for id in ids(found)), reverse=True)
    assert told == pytest.approx(list(scores.values())[:limit], rel=1e-6)


@pytest.mark.parametrize("mode", BY_WORDS)
def test_a_question_of_signs_alone_is_no_error(driver: Driver, mode: Any) -> None:
    corpus = uuid4().hex
    assert ranked(driver, mode(Query('?! "\\ AND (', [corpus], 3)), [1.0]) == []


@pytest.mark.parametrize("word", ["o'neill", "O'Neill's", "back\\slash", "3.5", "u.s.", "O’Neill"])
def test_words_with_signs_are_found(driver: Driver, corpora: list[str], corpus: str, word: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, [small_document("d", ["o'neill", "back\\slash", "3.5", "u.s."])])
    for mode, expected in ((fulltext.fulltext, "d-c0-w0"), (fulltext.fulltext_chunks, "d-c0")):
        found: Any = ranked(driver, mode(Query(f"What of {word}?", [corpus], 3)), [1.0])
        assert ids(found) == [expected]
    rows = driven(driver, asked(f"What of {word}?", corpus), [1.0])[1]["query/signals"]
    assert rows[0]["word_ids"] == ["d-c0-w0"]


@pytest.mark.parametrize("other", ["{name} two", "another"])
@pytest.mark.parametrize("name", ["novel", "the novel", "the", "?!"])
def test_a_corpus_is_found_by_its_words_whatever_its_name(
    driver: Driver, corpora: list[str], name: str, other: str
) -> None:
    """Another corpus, whose name may hold that of this one, has more and better matches."""
    apart = other.format(name=name)
    corpora += [name, apart]
    write(driver, name, [small_document("d", ["harker"], ["mina"])])
    write(driver, apart, [small_document(f"e{number}", ["harker", "harker"]) for number in range(12)])
    assert ids(ranked(driver, fulltext.fulltext(Query("harker", [name], 3)), [1.0])) == ["d-c0-w0"]
    assert ids(ranked(driver, fulltext.fulltext_chunks(Query("harker", [name], 3)), [1.0])) == ["d-c0"]
    assert {window.document for window, _ in ranked(driver, asked("harker", name), [1.0])} == {"d"}


# --- windows by all signals --------------------------------------------------------------------------


def asked(question: str, corpus: str, *, entities: tuple[str, ...] = ()) -> Operation[list[tuple[Window, float]]]:
    return auto.auto(Query(question, [corpus], 100, {corpus: entities}))


@few_examples(20)
@given(st.data())
def test_ranking_windows_equals_the_naive_implementation_in_every_corpus(driver: Driver, data: Any) -> None:
    """Three corpora side by side with the same ids and names; also where the bounds of the lists are tight.

    BM25 is taken as the server gives it: its statistics count every corpus.
    """
    with side_by_side(driver, data) as written:
        for _ in range(3):
            vector = data.draw(vectors(), "vector")
            names = data.draw(questions(), "names")
            tight = data.draw(st.booleans(), "tight")
            bounds = {"depth": 20, "matches": 200, "active": 50, "reach": 2000, "hub": 1000}
            if tight:
                bounds = {"depth": 5, "matches": 6, "active": 3, "reach": 3, "hub": 2}
            for corpus, library in written.items():
                with bounded(auto, bounds):
                    for weight in (WEIGHT, 0.0):
                        assert_windows(driver, corpus, library, names, vector, weight, bounds)


def assert_windows(
    driver: Driver,
    corpus: str,
    library: list[NaiveDocument],
    names: list[str],
    vector: list[float],
    weight: float,
    bounds: dict[str, int],
) -> None:
    """Candidates, scores and order."""
    entities = names_in(library, names)
    mode = auto.auto if weight else diffusion
    operation = mode(Query(" ".join(names) + "?", [corpus], 100, {corpus: entities}))
    found, answers = driven(driver, operation, vector)
    [row] = answers["query/signals"]
    places = windows(library)
    assert row["windows"] == len(places)
    assert_of_corpus(row, places)
    assert found == ranking_of([row], words=bool(weight))
    try:
        expected = signalled(
            library,
            entities,
            vector,
            list(zip(row["word_ids"], row["word_scores"], strict=True)),
            list(zip(row["word_chunk_ids"], row["word_chunk_scores"], strict=True)),
            weight_of_words=weight,
            **bounds,
        )
    except AmbiguousError:
        return
    scores = scores_of(found)
    assert scores.keys() == expected.keys()
    assert scores == pytest.approx(expected, abs=5e-3)
    assert list(scores.values()) == pytest.approx(sorted(scores.values(), reverse=True), abs=1e-3)
    for window, _ in found:
        assert_is(window, places[window.id])


def assert_of_corpus(row: dict[str, Any], places: dict[str, NaivePlace]) -> None:
    chunks = {place.chunk for place in places.values()}
    assert set(row["word_ids"]) | set(row["spread_ids"]) <= places.keys()
    assert {one["chunk"] for one in row["candidates"]} | set(row["word_chunk_ids"]) <= chunks
    assert row["spreads"] == sorted(row["spreads"], reverse=True)


@few_examples(10)
@given(libraries(), questions(), vectors(), st.booleans())
def test_activation_reaches_windows_as_in_the_naive_implementation(
    driver: Driver, library: list[NaiveDocument], names: list[str], vector: list[float], by_name: bool
) -> None:
    """Of a question with words, which choose seeds too, and of one without."""
    corpus = uuid4().hex
    question = " ".join(names) + "?" if by_name else "?"
    entities = names_in(library, names)
    try:
        write(driver, corpus, library)
        [row] = driven(driver, asked(question, corpus, entities=entities), vector)[1]["query/signals"]
    finally:
        remove(driver, [corpus])
    by_words = list(zip(row["word_ids"], row["word_scores"], strict=True))
    try:
        seeds = seeds_of(windows(library), vector, by_words, depth=20, worth=0.5)
    except AmbiguousError:
        return
    expected = spread(library, entities, seeds, active=50, reach=2000, hub=1000)
    told = dict(zip(row["spread_ids"], row["spreads"], strict=True))
    assert told == pytest.approx(expected, rel=1e-4)
    assert row["spread_sum"] == pytest.approx(sum(expected.values()), rel=1e-4)
    assert row["spread_squares"] == pytest.approx(sum(score**2 for score in expected.values()), rel=1e-4)


def test_a_staged_document_changes_no_order_by_words(driver: Driver, corpora: list[str], corpus: str) -> None:
    """Of words that no other test has: their statistics are this corpus' own, but for the length of texts."""
    corpora.append(corpus)
    rare = [f"w{uuid4().hex[:8]}" for _ in range(2)]
    write(driver, corpus, [small_document("d", [rare[0], rare[1]]), small_document("e", [rare[1]])])

    def order() -> list[str]:
        return ids(ranked(driver, fulltext.fulltext(Query(" ".join(rare), [corpus], 9)), [1.0]))

    assert order() == ["d-c0-w0", "e-c0-w0"]
    staged = [small_document(f"x{number}", [rare[0]]) for number in range(9)]  # published, they would be found too
    for request in staging(corpus, staged):
        database.write(driver, "neo4j", request)
        assert order() == ["d-c0-w0", "e-c0-w0"]


@pytest.mark.parametrize(
    "question", ["Who?", "the of and", '?! "\\ AND (', "harker", 'the "elder" and `n`', "o'neill's back\\slash"]
)
@pytest.mark.parametrize("chunks", [1, 2], ids=["one chunk", "two chunks"])
def test_scores_are_finite_whatever_is_asked_of_however_little(
    driver: Driver, corpora: list[str], corpus: str, question: str, chunks: int
) -> None:
    """One chunk or two, of one window each: nothing deviates, and no signal may say anything."""
    corpora.append(corpus)
    write(driver, corpus, [small_document(f"d{number}", ["harker", 'the "elder"', "`n`"]) for number in range(chunks)])
    known = tuple(name for name in ("harker", 'the "elder"', "`n`") if name in question)
    for mode in (auto.auto, diffusion):
        found = ranked(driver, mode(Query(question, [corpus], 100, {corpus: known})), [1.0])
        assert sorted(ids(found)) == [f"d{number}-c0-w0" for number in range(chunks)]
        assert all(isfinite(score) for _, score in found)


@pytest.mark.parametrize("question", ["the of and", "?!"])
def test_a_question_without_words_finds_none_by_words(
    driver: Driver, corpora: list[str], corpus: str, question: str
) -> None:
    corpora.append(corpus)
    write(driver, corpus, [small_document("d", ["harker"])])
    assert ranked(driver, fulltext.fulltext(Query(question, [corpus], 3)), [1.0]) == []
    [row] = driven(driver, asked(question, corpus), [1.0])[1]["query/signals"]
    assert row["word_ids"] == row["word_chunk_ids"] == []


def test_a_corpus_without_entities_is_ranked_by_vectors_and_words(
    driver: Driver, corpora: list[str], corpus: str
) -> None:
    corpora.append(corpus)
    write(driver, corpus, [small_document("d", [], []), small_document("e", [])])
    found = ranked(driver, asked("So?", corpus), [1.0])
    assert sorted(ids(found)) == ["d-c0-w0", "e-c0-w0"]
    assert all(isfinite(score) for _, score in found)


def test_an_entity_of_the_question_that_only_a_staged_document_mentions_weighs_nothing(
    driver: Driver, corpora: list[str], corpus: str
) -> None:
    """It was known when the question was linked, and its document was replaced since."""
    corpora.append(corpus)
    write(driver, corpus, [small_document("d", ["harker"])])
    for request in staging(corpus, [small_document("e", ["mina"])]):
        database.write(driver, "neo4j", request)
    [row] = driven(driver, asked("?", corpus, entities=("mina",)), [1.0])[1]["query/signals"]
    [alone] = driven(driver, asked("?", corpus), [1.0])[1]["query/signals"]
    assert (row["spread_ids"], row["spreads"]) == (["d-c0-w0"], alone["spreads"])


def test_an_entity_that_is_left_out_gives_no_window_anything(driver: Driver, corpora: list[str], corpus: str) -> None:
    """The nearest window is a seed by both entities; without one of them, its other window gets nothing."""
    corpora.append(corpus)
    write(driver, corpus, [small_document("d", ["harker"], ["mina"]), small_document("e", ["mina"])])

    def reached(*without: str) -> set[str]:
        query = Query("?", [corpus], 100, {corpus: ("harker",)}, without=without)
        [row] = driven(driver, auto.auto(query), [1.0])[1]["query/signals"]
        return set(row["spread_ids"])

    assert reached() == {"d-c0-w0", "e-c0-w0"}
    assert reached("mina") == {"d-c0-w0"}
    assert reached("mina", "harker") == set()


# --- windows by several routes -----------------------------------------------------------------------


def routed_by(
    driver: Driver,
    corpus: str,
    entities: Sequence[str],
    vector: list[float],
    hops: int = 2,
    layered: Collection[str] = (),
) -> tuple[list[tuple[Window, float]], list[dict[str, Any]]]:
    """What the mode finds, and the rows that it is made of."""
    query = Query("?", [corpus], 100, {corpus: entities}, hops, layered=layered)
    found, answers = driven(driver, routes.routes(query), vector)
    return found, answers["query/routes"]


def coverages(rows: list[dict[str, Any]]) -> dict[str, float]:
    return {f"{row['chunk']}-w{number}": covered for row in rows for number, _, covered, _ in row["windows"]}


CIRCLE = ["ann", "bob", "cid", "dan", "eve", "fay", "zoe"]
"""Each is next to the next, and the last to the first."""


@pytest.fixture
def circle(driver: Driver, corpora: list[str], corpus: str) -> str:
    """A document for each two neighbours: all entities are in two chunks and equally rare. To (1, 0, …) the first
    document has a cosine of .8, the second of .6, the others of 0."""
    corpora.append(corpus)
    cosines = [0.8, 0.6, *[0.0] * 5]
    write(
        driver,
        corpus,
        [
            pointing(f"d{n}", (cosine, *[0.0] * n, sqrt(1 - cosine**2)), [name, CIRCLE[(n + 1) % 7]])
            for n, (name, cosine) in enumerate(zip(CIRCLE, cosines, strict=True))
        ],
    )
    return corpus


def test_routes_of_a_circle_are_as_by_hand(driver: Driver, circle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two nearest windows name ann (in half of them), bob (in both) and cid (half); the question names zoe (1).

    Next to zoe is fay (half of 1), next to cid is dan (half of .5), next to these eve (half of .5): 4 in all.
    """
    monkeypatch.setattr(routes, "ENTRY", 2)
    found, rows = routed_by(driver, circle, ["zoe"], [1.0])
    sixteenths = [6, 6, 3, 2, 3, 6, 6]
    assert coverages(rows) == pytest.approx({f"d{n}-c0-w0": part / 16 for n, part in enumerate(sixteenths)})
    assert [(window.document, window.origin) for window, _ in found] == [
        ("d0", "vector"),
        ("d1", "vector"),
        ("d5", "question"),
        ("d6", "question"),
        ("d2", "seed"),
        ("d4", "neighbour"),
        ("d3", "neighbour"),
    ]
    by_hand = [4.303, 3.680, -0.405, -0.405, -2.192, -2.192, -2.788]
    assert [score for _, score in found] == pytest.approx(by_hand, abs=2e-3)


def test_one_hop_leads_to_neighbours_alone(driver: Driver, circle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not to eve, so that 3.75 is all."""
    monkeypatch.setattr(routes, "ENTRY", 2)
    _, rows = routed_by(driver, circle, ["zoe"], [1.0], hops=1)
    counted = [1.5, 1.5, 0.75, 0.25, 0.5, 1.5, 1.5]
    assert coverages(rows) == pytest.approx({f"d{n}-c0-w0": part / 3.75 for n, part in enumerate(counted)})


def test_more_hops_than_two_are_two(driver: Driver, circle: str) -> None:
    assert routed_by(driver, circle, ["zoe"], [1.0], hops=6) == routed_by(driver, circle, ["zoe"], [1.0], hops=2)


def test_the_neighbours_with_most_weight_are_followed(
    driver: Driver, circle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fay, whom zoe leads to, before dan, whom cid leads to; then eve by fay. Without dan, 3.75 is all."""
    monkeypatch.setattr(routes, "ENTRY", 2)
    monkeypatch.setattr(routes, "NEIGHBOURS", 1)
    _, rows = routed_by(driver, circle, ["zoe"], [1.0])
    counted = [1.5, 1.5, 0.5, 0.25, 0.75, 1.5, 1.5]
    assert coverages(rows) == pytest.approx({f"d{n}-c0-w0": part / 3.75 for n, part in enumerate(counted)})


def test_neighbours_with_names_near_the_question_are_followed(
    driver: Driver, circle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fay's name is opposite to the question: dan is followed before her, then eve, to whom he leads: 3.375 in all."""
    monkeypatch.setattr(routes, "ENTRY", 2)
    monkeypatch.setattr(routes, "NEIGHBOURS", 1)
    name_vectors(driver, circle, {"fay": [-1.0], "dan": [1.0]})
    _, rows = routed_by(driver, circle, ["zoe"], [1.0], layered=[circle])
    counted = [1.5, 1.5, 0.75, 0.375, 0.125, 1, 1.5]
    assert coverages(rows) == pytest.approx({f"d{n}-c0-w0": part / 3.375 for n, part in enumerate(counted)})


def test_the_seeds_that_most_of_the_nearest_windows_name_are_taken(
    driver: Driver, circle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bob alone; and without a question's entity, and with ann and cid next to him."""
    monkeypatch.setattr(routes, "ENTRY", 2)
    monkeypatch.setattr(routes, "SEEDS", 1)
    found, rows = routed_by(driver, circle, [], [1.0], hops=1)
    counted = {"d0": 1.5, "d1": 1.5, "d2": 0.5, "d6": 0.5}
    assert coverages(rows) == pytest.approx({f"{document}-c0-w0": part / 2 for document, part in counted.items()})
    assert [window.document for window, _ in found] == ["d0", "d1", "d2", "d6"], "of equals in reading order"


def test_hubs_lead_nowhere(driver: Driver, circle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every entity is one."""
    monkeypatch.setattr(routes, "ENTRY", 2)
    monkeypatch.setattr(routes, "HUB", 1)
    found, rows = routed_by(driver, circle, ["zoe"], [1.0])
    assert [(window.document, window.origin) for window, _ in found] == [("d0", "vector"), ("d1", "vector")]
    assert set(coverages(rows).values()) == {0.0}


def test_of_many_windows_the_nearest_and_the_best_covered_are_read(
    driver: Driver, circle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "ENTRY", 2)
    monkeypatch.setattr(routes, "LIMIT", 3)
    found, _ = routed_by(driver, circle, ["zoe"], [1.0])
    assert [window.document for window, _ in found] == ["d0", "d1", "d5"]


@few_examples(20, 3)
@given(st.data())
def test_routes_equal_the_naive_implementation_in_every_corpus(driver: Driver, data: Any) -> None:
    """Three corpora side by side with the same ids and names; also where the bounds are tight."""
    wide = {"entry": 10, "seeds": 10, "neighbours": 10, "compared": 100, "hub": 1000, "limit": 200}
    tight = {"entry": 2, "seeds": 2, "neighbours": 1, "compared": 2, "hub": 2, "limit": 5}
    with side_by_side(driver, data) as written:
        for _ in range(4):
            vector, names = data.draw(vectors(), "vector"), data.draw(questions(), "names")
            hops, bounds = data.draw(st.integers(1, 3), "hops"), data.draw(st.sampled_from([wide, tight]), "bounds")
            of_names = data.draw(st.none() | st.fixed_dictionaries(dict.fromkeys(NAMES, vectors())), "vectors of names")
            by_name = {name: (1 + cosine(one, vector)) / 2 for name, one in (of_names or {}).items()}
            for corpus, library in written.items():
                name_vectors(driver, corpus, of_names or {})
                entities = names_in(library, names)
                with suppress(AmbiguousError), bounded(routes, bounds):
                    layered = [corpus] if by_name else []
                    found, rows = routed_by(driver, corpus, entities, vector, hops, layered)
                    expected = routed(library, entities, vector, hops=min(hops, 2), by_name=by_name, **bounds)
                    assert {window.id: window.origin for window, _ in found} == {
                        id: origin for id, (_, _, origin) in expected.items()
                    }
                    assert coverages(rows) == pytest.approx({id: one for id, (_, one, _) in expected.items()})
                    scores = scores_of(found)
                    assert scores == pytest.approx({id: score for id, (score, _, _) in expected.items()}, abs=5e-3)
                    assert_best_first(found)
                    for window, _ in found:
                        assert_is(window, windows(library)[window.id])


# --- windows in turn by vectors, entities and relations ----------------------------------------------


def mixed_by(
    driver: Driver, corpus: str, entities: Sequence[str], vector: list[float]
) -> tuple[list[tuple[Window, float]], list[dict[str, Any]]]:
    """What the mode finds, and the rows that it is made of."""
    found, answers = driven(driver, lightrag.lightrag(Query("?", [corpus], 100, {corpus: entities})), vector)
    return found, answers["query/lightrag"]


def test_turns_in_a_circle_are_as_by_hand(driver: Driver, circle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two nearest windows have the relations ann-bob and bob-cid, the question's zoe has ann-zoe and fay-zoe.

    Zoe and the ends of the first two are in d0, d1, d2, d5 and d6: three windows of four entities. Of the relations,
    two have others: d5, and d6, which is left, as is d4 with fay.
    """
    monkeypatch.setattr(lightrag, "NEAREST", 2)
    monkeypatch.setattr(lightrag, "WINDOWS_EACH", 0.75)
    found, [row] = mixed_by(driver, circle, ["zoe"], [1.0])
    assert (row["nearest"], row["named"]) == (["d0-c0-w0", "d1-c0-w0"], ["zoe"])
    assert row["local"] == [["ann", "zoe"], ["fay", "zoe"]]
    assert row["global"] == [["ann", "bob"], ["bob", "cid"]]
    assert [window.document for window, _ in found] == ["d0", "d5", "d1", "d2", "d4", "d6"]
    assert [score for _, score in found] == pytest.approx([0.9, 0.5, 0.8, 0.5, 0.5, 0.5], abs=1e-4)


def test_relations_of_many_neighbours_and_of_the_nearest_windows_come_first(
    driver: Driver, circle: str, corpora: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ann has three neighbours, all others two. So of zoe's relations the one with ann is first."""
    write(driver, circle, [small_document("more", ["ann", "dan"])])
    monkeypatch.setattr(lightrag, "NEAREST", 2)
    monkeypatch.setattr(lightrag, "RELATIONS", 1)
    _, [row] = mixed_by(driver, circle, ["zoe"], [1.0])
    assert (row["local"], row["global"]) == ([["ann", "zoe"]], [["ann", "bob"]])


def test_hubs_have_no_relations(driver: Driver, circle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lightrag, "NEAREST", 2)
    monkeypatch.setattr(lightrag, "HUB", 1)
    found, [row] = mixed_by(driver, circle, ["zoe"], [1.0])
    assert (row["named"], row["local"], row["global"]) == ([], [], [])
    assert [window.document for window, _ in found] == ["d0", "d1"]


@few_examples(20, 3)
@given(st.data())
def test_turns_equal_the_naive_implementation_in_every_corpus(driver: Driver, data: Any) -> None:
    """Three corpora side by side with the same ids and names; also where the bounds are tight."""
    wide = {"nearest": 20, "entry": 5, "relations": 40, "hub": 1000, "limit": 200, "windows_each": 12.5}
    tight = {"nearest": 3, "entry": 2, "relations": 2, "hub": 2, "limit": 4, "windows_each": 0.5}
    with side_by_side(driver, data) as written:
        for _ in range(4):
            vector, names = data.draw(vectors(), "vector"), data.draw(questions(), "names")
            bounds: Any = data.draw(st.sampled_from([wide, tight]), "bounds")
            for corpus, library in written.items():
                entities = names_in(library, names)
                with suppress(AmbiguousError), bounded(lightrag, bounds):
                    found, _ = mixed_by(driver, corpus, entities, vector)
                    assert ids(found) == taking_turns(library, entities, vector, **bounds)
                    for window, _ in found:
                        assert_is(window, windows(library)[window.id])
