"""How windows are ranked, without a database: normalisation, and what neighbours contribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from naive import z as naive_z

from e2g_neo4j.retrieval.ranking import (
    MAX_SMOOTHING,
    RADIUS,
    SMOOTHING,
    SMOOTHING_FROM,
    TIE,
    Scores,
    candidate_windows,
    look_up_scores,
    rank_signals,
    relevance,
    smooth,
    z,
)
from e2g_neo4j.retrieval.windows import Window
from e2g_neo4j.types.results import Reference

NUMBERS = st.floats(-1e3, 1e3)


@st.composite
def candidates(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Rows of `signals.cypher` in any order: some chunks of some documents, each of one to six windows."""
    rows = []
    for number in range(draw(st.integers(1, 3))):
        persistence = draw(st.floats(0, 1))
        for index in draw(st.lists(st.integers(0, 9), unique=True, min_size=1, max_size=8)):
            parts = np.array(draw(st.lists(st.integers(1, 9), min_size=1, max_size=6)), dtype=float)
            rows.append(
                {
                    "chunk": f"d{number}-c{index}",
                    "document": f"d{number}",
                    "index": index,
                    "tokens": draw(st.integers(1, 1200)),
                    "persistence": persistence,
                    "shares": (parts / parts.sum()).tolist(),
                    "nears": draw(st.lists(st.floats(-1, 1), min_size=len(parts), max_size=len(parts))),
                }
            )
    return draw(st.permutations(rows))


def with_scores() -> st.SearchStrategy[tuple[list[Window], Scores]]:
    def scored(rows: list[dict[str, Any]]) -> st.SearchStrategy[tuple[list[Window], Scores]]:
        found, _ = candidate_windows(rows)
        scores = st.lists(NUMBERS, min_size=len(found), max_size=len(found)).map(np.array)
        return st.tuples(st.just(found), scores)

    return candidates().flatmap(scored)


def silent(rows: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A row of `signals.cypher` in which words and entities say nothing."""
    lists = ("word_ids", "word_scores", "word_chunk_ids", "word_chunk_scores", "spread_ids", "spreads")
    row: dict[str, Any] = {name: [] for name in lists} | {"spread_sum": 0.0, "spread_squares": 0.0, "windows": 100}
    return {**row, "candidates": rows, "references": [], "referred": [], "titled": [], **more}


def relevance_of(rows: list[dict[str, Any]], signals: dict[str, Any], words: bool = True) -> list[float]:
    windows, near = candidate_windows(rows)
    parts = relevance(windows, near, [signals], words)
    assert list(parts) == (["vectors", "words", "entities"] if words else ["vectors", "entities"])
    found: list[float] = sum(parts.values(), np.zeros(len(windows))).tolist()
    return found


# --- normalisation -----------------------------------------------------------------------------------


@given(st.lists(NUMBERS, min_size=1, max_size=50))
def test_z_has_mean_0_and_deviation_1_and_keeps_the_order(values: list[float]) -> None:
    found = z(np.array(values))
    assume(np.std(values) > 1e-3)
    assert found.mean() == pytest.approx(0, abs=1e-6)
    assert found.std() == pytest.approx(1)
    order = np.argsort(values, kind="stable")
    assert np.all(np.diff(found[order]) >= 0)
    assert found.tolist() == pytest.approx(naive_z(values), abs=1e-6)


@given(NUMBERS, st.integers(1, 50))
def test_z_of_equal_values_is_0(value: float, count: int) -> None:
    """0.1 three times has a mean that is not quite 0.1."""
    assert z(np.full(count, value)).tolist() == [0.0] * count


def test_z_of_values_that_differ_by_the_rounding_of_vectors_is_0() -> None:
    assert z(np.array([0.7, 0.7 + 6e-8])).tolist() == [0, 0]


def test_z_of_nothing_is_nothing() -> None:
    assert z(np.array([])).tolist() == []


def test_what_no_list_names_has_0() -> None:
    signals = [{"ids": ["x", "a"], "scores": [3.0, 2.0]}, {"ids": ["c"], "scores": [1.0]}]
    assert look_up_scores(["a", "b", "a", "c"], signals, "ids", "scores").tolist() == [2.0, 0.0, 2.0, 1.0]
    with pytest.raises(ValueError, match="argument"):
        look_up_scores(["a"], [{"ids": ["a", "b"], "scores": [1.0]}], "ids", "scores")


# --- windows in reading order ------------------------------------------------------------------------


@given(candidates())
def test_windows_come_in_reading_order_with_what_belongs_to_them(rows: list[dict[str, Any]]) -> None:
    found, near = candidate_windows(rows)
    assert [(unit.document, unit.index, unit.number) for unit in found] == sorted(
        (row["document"], row["index"], number) for row in rows for number in range(len(row["shares"]))
    )
    by_chunk = {row["chunk"]: row for row in rows}
    for unit, cosine in zip(found, near, strict=True):
        row = by_chunk[unit.chunk]
        assert unit.id == f"{row['chunk']}-w{unit.number}"
        assert (unit.share, cosine) == (row["shares"][unit.number], row["nears"][unit.number])
        assert unit.tokens == pytest.approx(row["shares"][unit.number] * row["tokens"])
        assert unit.persistence == row["persistence"]
        assert unit.last == (unit.number + 1 == len(row["shares"]))


# --- what neighbours lend ----------------------------------------------------------------------------


def positions(found: list[Window]) -> list[tuple[str, int, int]]:
    """(document, run, place in it) of each window: a run ends where a chunk of the document is missing."""
    places = []
    for document, members in groupby(found, key=lambda unit: unit.document):
        run = place = 0
        before: Window | None = None
        for unit in members:
            if before is not None and unit.index - before.index > 1:
                run, place = run + 1, 0
            places.append((document, run, place))
            place, before = place + 1, unit
    return places


@given(with_scores())
def test_smoothing_equals_a_double_loop(given_: tuple[list[Window], Scores]) -> None:
    found, scores = given_
    places = positions(found)
    expected = []
    for i, (document, run, place) in enumerate(places):
        total = scores[i]
        for j, (other, other_run, other_place) in enumerate(places):
            steps = abs(other_place - place)
            if (other, other_run) == (document, run) and 1 <= steps <= RADIUS:
                above = max(0.0, found[i].persistence - SMOOTHING_FROM)
                total += min(MAX_SMOOTHING, SMOOTHING * above) ** steps * scores[j]
        expected.append(total)
    before = scores.copy()
    assert smooth(found, scores).tolist() == pytest.approx(expected, rel=1e-9, abs=1e-6)
    assert np.array_equal(scores, before), "what is given stays as it is"


@given(with_scores(), st.floats(0, SMOOTHING_FROM))
def test_a_document_that_changes_topics_lends_nothing(given_: tuple[list[Window], Scores], persistence: float) -> None:
    found, scores = given_
    none = [replace(window, persistence=persistence) for window in found]
    assert np.array_equal(smooth(none, scores), scores)


@pytest.mark.parametrize(
    ("persistence", "fraction"), [(0.3, 0.0), (0.35, 0.0), (0.5, 0.225), (0.6, 0.375), (0.9, 0.825), (1.0, 0.9)]
)
def test_the_next_window_contributes_a_fraction_that_grows_with_topic_persistence(
    persistence: float, fraction: float
) -> None:
    row = {"chunk": "c", "document": "d", "index": 0, "tokens": 30, "shares": [1 / 3] * 3, "nears": [0.0] * 3}
    found, _ = candidate_windows([{**row, "persistence": persistence}])
    assert smooth(found, np.array([1.0, 0.0, 0.0])).tolist() == pytest.approx([1, fraction, fraction**2])


# --- the ranking -------------------------------------------------------------------------------------


@given(candidates(), st.data())
def test_windows_are_ranked_best_first_by_what_is_said_of_them(rows: list[dict[str, Any]], data: Any) -> None:
    """Every window once; scores are those of relevance and smoothing; equal ones in reading order."""
    found, near = candidate_windows(rows)
    ids = [unit.id for unit in found]
    chunks = sorted({unit.chunk for unit in found})
    lists = {
        "word_ids": data.draw(st.lists(st.sampled_from(ids), unique=True)),
        "word_chunk_ids": data.draw(st.lists(st.sampled_from(chunks), unique=True)),
        "spread_ids": data.draw(st.lists(st.sampled_from(ids), unique=True)),
    }
    scores = {
        name: data.draw(st.lists(st.floats(0.01, 9), min_size=len(lists[of]), max_size=len(lists[of])))
        for name, of in (
            ("word_scores", "word_ids"),
            ("word_chunk_scores", "word_chunk_ids"),
            ("spreads", "spread_ids"),
        )
    }
    spreads = scores["spreads"]
    signals = silent(
        rows, **lists, **scores, spread_sum=sum(spreads), spread_squares=sum(x * x for x in spreads), windows=len(ids)
    )
    order = rank_signals([signals], words=True)
    assert sorted(unit.id for unit, _ in order) == sorted(ids)
    assert all(np.isfinite(score) for _, score in order)
    own = sum(relevance(found, near, [signals], True).values(), np.zeros(len(found)))
    expected = smooth(found, own).tolist()
    groups: list[list[int]] = []
    for i in sorted(range(len(ids)), key=lambda i: -expected[i]):
        if not groups or expected[groups[-1][-1]] - expected[i] > TIE:
            groups.append([])
        groups[-1].append(i)
    best = [i for group in groups for i in sorted(group)]
    assert [(unit.id, score) for unit, score in order] == [(ids[i], expected[i]) for i in best]
    for unit, score in order:
        assert list(unit.signals) == ["vectors", "words", "entities", "neighbours", "references", "pairs"]
        assert sum(unit.signals.values()) == pytest.approx(score, abs=1e-9)


def test_two_corpora_are_ranked_as_one() -> None:
    """Whatever says of which corpus: lists join, sums add up."""
    row = {"index": 0, "tokens": 9, "persistence": 0.0, "shares": [0.25, 0.75]}
    a = {**row, "chunk": "a", "document": "x", "nears": [0.1, 0.5]}
    b = {**row, "chunk": "b", "document": "y", "nears": [0.3, 0.2]}
    here = silent([a], word_ids=["a-w1"], word_scores=[3.0], spread_ids=["a-w0"], spreads=[2.0], windows=10)
    there = silent([b], word_chunk_ids=["b"], word_chunk_scores=[1.0], spread_ids=["b-w1"], spreads=[1.0], windows=30)
    here |= {"spread_sum": 2.5, "spread_squares": 4.2}
    there |= {"spread_sum": 1.5, "spread_squares": 1.3}
    lists = ("word_ids", "word_scores", "word_chunk_ids", "word_chunk_scores", "spread_ids", "spreads")
    one = silent([a, b], spread_sum=4.0, spread_squares=5.5, windows=40) | {
        name: here[name] + there[name] for name in lists
    }
    assert rank_signals([here, there]) == rank_signals([one])


def test_each_signal_counts_by_its_weight() -> None:
    """Two windows, one of which a signal names: z is 1 and -1."""
    row = {
        "chunk": "c",
        "document": "d",
        "index": 0,
        "tokens": 9,
        "persistence": 0.0,
        "shares": [0.25, 0.75],
        "nears": [0.5, 0.5],
    }

    def said(words: bool = True, **more: Any) -> list[float]:
        return relevance_of([row], silent([row], **more), words)

    assert said() == [0, 0]
    nearer = {**row, "nears": [0.9, 0.1]}
    assert relevance_of([nearer], silent([nearer])) == [1.5, -1.5]
    assert said(word_ids=["c-w1"], word_scores=[3.0]) == [-0.5, 0.5]
    assert said(words=False, word_ids=["c-w1"], word_scores=[3.0]) == [0, 0]
    spread: dict[str, Any] = {
        "spread_ids": ["c-w0"],
        "spreads": [2.0],
        "spread_sum": 2.0,
        "spread_squares": 4.0,
        "windows": 2,
    }
    assert said(**spread) == [0.7, -0.7]
    rare = said(**{**spread, "windows": 101})
    assert rare == pytest.approx([6 * (1 + np.log(7 / 6)), 0.7 * -0.1]), "reached among many that are not"


def test_what_reaches_all_windows_alike_but_for_rounding_tells_none_from_another() -> None:
    row = {
        "chunk": "c",
        "document": "d",
        "index": 0,
        "tokens": 9,
        "persistence": 0.0,
        "shares": [0.2, 0.3, 0.5],
        "nears": [0.5] * 3,
    }
    spreads = [0.1 + 0.2, 0.3, 0.3]
    signals = silent([row], spread_ids=["c-w0", "c-w1", "c-w2"], spreads=spreads, spread_sum=sum(spreads), windows=3)
    signals["spread_squares"] = sum(x * x for x in spreads) + 1e-16
    assert relevance_of([row], signals) == [0, 0, 0]


def test_words_around_a_window_count_by_the_share_of_the_chunk_that_is_not_the_window() -> None:
    row = {"document": "d", "tokens": 9, "persistence": 0.0}
    rows = [
        {**row, "chunk": "c0", "index": 0, "shares": [0.25, 0.75], "nears": [0.0, 0.0]},
        {**row, "chunk": "c5", "index": 5, "shares": [1.0, 0.0], "nears": [0.0, 0.0]},
    ]
    signals = silent(rows, word_chunk_ids=["c0"], word_chunk_scores=[4.0])
    assert relevance_of(rows, signals) == pytest.approx([0.375, 0.125, 0, -0.5])


def test_the_best_vector_around_a_window_counts_by_the_share_of_the_chunk_that_is_not_the_window() -> None:
    row = {"document": "d", "tokens": 9, "persistence": 0.0}
    rows = [
        {**row, "chunk": "c0", "index": 0, "shares": [0.25, 0.75], "nears": [0.0, 1.0]},
        {**row, "chunk": "c5", "index": 5, "shares": [0.5, 0.5], "nears": [0.0, 0.0]},
    ]
    whole = [{**one, "shares": [1.0, 1.0]} for one in rows]
    alone, both = relevance_of(whole, silent(whole)), relevance_of(rows, silent(rows))
    assert np.subtract(both, alone).tolist() == pytest.approx([0.375, 0.125, -0.25, -0.25])


def test_one_candidate_has_a_finite_score() -> None:
    row = {"chunk": "c", "document": "d", "index": 0, "tokens": 9, "persistence": 0.0, "shares": [1.0], "nears": [0.3]}
    signals = silent(
        [row],
        word_ids=["c-w0"],
        word_scores=[2.0],
        word_chunk_ids=["c"],
        word_chunk_scores=[1.0],
        spread_ids=["c-w0"],
        spreads=[0.1],
        spread_sum=0.1,
        spread_squares=0.1 * 0.1,
        windows=1,
    )
    assert rank_signals([signals]) == [(candidate_windows([row])[0][0], 0.0)]


# --- references --------------------------------------------------------------------------------------


def passage(name: str, near: float) -> dict[str, Any]:
    """A document of one window, as a candidate."""
    row = {"chunk": name, "document": name, "index": 0, "tokens": 9, "persistence": 0.0, "shares": [1.0]}
    return {**row, "nears": [near]}


def refers(chunk: str, document: str, referring: int = 1, windows: Sequence[int] = (0,)) -> dict[str, Any]:
    return {"chunk": chunk, "document": document, "text": "T", "windows": list(windows), "referring": referring}


FILMS = [passage("a", 0.9), *(passage(f"x{n}", 0.4) for n in range(6))]


def order_of(signals: dict[str, Any], named: Sequence[str] = ()) -> list[str]:
    return [window.chunk for window, _ in rank_signals([signals], named=lambda titles: set(titles).intersection(named))]


def test_a_document_that_the_best_window_refers_to_comes_next_although_nothing_else_found_it() -> None:
    signals = silent(FILMS, referred=[passage("b", 0.0)])
    assert order_of(signals) == ["a", *(f"x{n}" for n in range(6))], "described, but not referred to"
    signals["references"] = [refers("a", "b")]
    [first, second, *_] = rank_signals([signals])
    assert (first[0].chunk, second[0].chunk) == ("a", "b")
    assert second[0].referred == Reference("T", "a")
    own = sum(value for name, value in second[0].signals.items() if name != "references")
    assert second[0].signals["references"] == pytest.approx(0.9 * (first[1] - own)), "never before it"
    signals["references"] = [refers("a", "b", windows=[1])]
    assert "b" not in order_of(signals), "another window of the chunk refers to it"


def test_a_document_receives_less_the_more_chunks_refer_to_it_and_the_worse_these_are() -> None:
    def received(*references: dict[str, Any]) -> float:
        found = rank_signals([silent(FILMS, referred=[passage("b", 0.0)], references=list(references))])
        return next((window.signals["references"] for window, _ in found if window.chunk == "b"), 0.0)

    assert received(refers("a", "b", 32)) == pytest.approx(12 / 32**0.3)
    assert 0 < received(refers("x0", "b")) < received(refers("a", "b"))
    assert received(refers("x0", "b"), refers("a", "b")) == received(refers("a", "b")), "the best one counts"
    assert received(refers("x5", "b")) == 0, "the sixth window"
    assert received(refers("x5", "unknown")) == 0, "its document is not searched"


def test_references_of_documents_that_the_question_names_count_in_full() -> None:
    others = [passage(f"x{n}", 0.9) for n in range(6)]
    signals = silent(
        others,
        referred=[passage("b", -0.9), passage("named", 0.3)],
        references=[refers("named", "b")],
        titled=[{"document": "named", "title_key": "night train"}],
    )
    assert "b" not in order_of(signals), "a longer title has these words"
    assert [name for name in order_of(signals, ["night train"]) if name not in order_of(signals)] == ["named", "b"]


def test_chunks_with_a_pair_of_names_count_more_the_closer_these_are() -> None:
    signals = silent([passage("a", 0.5), passage("b", 0.5), passage("c", 0.5)])
    found = rank_signals([signals], hops={"c": 1, "b": 2})
    assert [(window.chunk, window.signals["pairs"]) for window, _ in found] == [("c", 0.5), ("b", 0.25), ("a", 0.0)]


@given(candidates())
def test_a_chunk_whose_windows_are_just_being_deleted_is_left_out(rows: list[dict[str, Any]]) -> None:
    """The server reads what other transactions have deleted meanwhile no more."""
    changed = {**rows[0], "nears": rows[0]["nears"][:-1]}
    assert rank_signals([silent([changed, *rows[1:]])]) == rank_signals([silent(rows[1:])])


def test_no_candidate_is_no_window() -> None:
    assert rank_signals([silent([])]) == []
    assert rank_signals([]) == []
