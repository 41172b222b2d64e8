"""Which windows are chosen for a budget, without a database, against the naive implementation and single cases."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import libraries
from naive import NaiveDocument, NaivePlace, chunk_length, packed
from naive import chunks_of as naive_chunks_of
from naive import windows as naive_windows

from e2g_neo4j.retrieval.options import MAX_K, MAX_TOKENS, MIN_TOKENS
from e2g_neo4j.retrieval.passages import TIE
from e2g_neo4j.retrieval.windows import (
    CUT,
    POOL_FROM,
    Budget,
    Window,
    chunks_of,
    pack,
    rank_windows,
    windows_of,
)

Ranked = list[tuple[Window, float]]
TOPICS = st.floats(0, 1)


def line(*shares: float, of: str = "c", document: str = "d", index: int = 0, persistence: float = 0.0) -> list[Window]:
    """The windows of a chunk of 100 tokens."""
    row = {"chunk": of, "document": document, "index": index, "persistence": persistence}
    return windows_of({**row, "shares": list(shares), "tokens": 100})


def best_first(*windows: Window) -> Ranked:
    return [(window, float(-rank)) for rank, window in enumerate(windows)]


def packed_ids(ranked: Ranked, budget: Budget) -> list[str]:
    return [window.id for window, _ in pack(ranked, budget)]


@st.composite
def rankings(draw: st.DrawFn, persistence: st.SearchStrategy[float] = TOPICS) -> tuple[Ranked, dict[str, Any]]:
    """Some windows of a library in any order, and the library as the naive implementation takes it."""
    library: list[NaiveDocument] = draw(libraries())
    places = naive_windows(library)
    staying = {document.id: draw(persistence) for document in library}
    order = draw(st.permutations(sorted(places)))[: draw(st.integers(0, len(places)))]
    ranked = [(window_at(id, places[id], staying), float(-rank)) for rank, id in enumerate(order)]
    return ranked, {"places": places, "order": order, "staying": staying}


def window_at(id: str, place: NaivePlace, staying: dict[str, float]) -> Window:
    [(index, chunk)] = [(n, one) for n, one in enumerate(place.document.chunks) if one.id == place.chunk]
    number = int(id.rpartition("-w")[2])
    last = number == len(chunk.windows) - 1
    tokens = place.share * chunk_length(place)
    return Window(place.chunk, number, place.document.id, index, last, place.share, tokens, staying[place.document.id])


def budgets() -> st.SearchStrategy[Budget]:
    by_tokens = st.builds(Budget, st.just(MAX_K), st.integers(1, 400))
    return st.builds(Budget, st.integers(1, 6)) | by_tokens | st.builds(Budget, st.integers(1, 6), st.integers(1, 400))


# --- the choice --------------------------------------------------------------------------------------


@given(rankings(), budgets())
def test_windows_are_packed_as_in_the_naive_implementation(
    found: tuple[Ranked, dict[str, Any]], budget: Budget
) -> None:
    ranked, naive = found
    assert packed_ids(ranked, budget) == packed(**naive, chunks=budget.chunks, tokens=budget.tokens)


@given(rankings(), budgets())
def test_a_budget_is_never_exceeded(found: tuple[Ranked, dict[str, Any]], budget: Budget) -> None:
    """By the fraction of chunks, and by tokens with what the last window may lose; but the best alone may be longer."""
    ranked, _ = found
    chosen = pack(ranked, budget)
    assert bool(chosen) == bool(ranked)
    assert sum(window.share for window, _ in chosen) <= budget.chunks + 1e-6
    if budget.tokens is not None and len(chosen) > 1:
        assert sum(window.tokens for window, _ in chosen) <= budget.tokens + CUT + 1e-3
    assert all(one in ranked for one in chosen)
    assert len({window.id for window, _ in chosen}) == len(chosen)


@given(rankings())
def test_if_everything_fits_everything_is_chosen(found: tuple[Ranked, dict[str, Any]]) -> None:
    ranked, _ = found
    tokens = ceil(sum(window.tokens for window, _ in ranked))
    for budget in (Budget(MAX_K), Budget(MAX_K, tokens)):
        assert sorted(packed_ids(ranked, budget)) == sorted(window.id for window, _ in ranked)


@given(rankings(st.floats(0, POOL_FROM)), budgets())
def test_where_topics_change_the_best_that_fit_are_chosen(found: tuple[Ranked, dict[str, Any]], budget: Budget) -> None:
    ranked, _ = found
    expected, used = set(), 0.0
    for window, _ in ranked:
        if used + budget.cost(window) <= 1 + 1e-9:
            expected.add(window.id)
            used += budget.cost(window)
    assert set(packed_ids(ranked, budget)) == expected


@given(rankings(), budgets())
def test_windows_are_ordered_by_the_best_of_their_run_and_grow_from_it(
    found: tuple[Ranked, dict[str, Any]], budget: Budget
) -> None:
    """Each window is the best of what is left, or follows or precedes one that was chosen just before."""
    ranked, naive = found
    rank = {id: n for n, id in enumerate(naive["order"])}
    chosen = [window for window, _ in pack(ranked, budget)]
    run: list[Window] = []
    firsts = []
    for window in chosen:
        if any(window.follows(one) or one.follows(window) for one in run):
            run.append(window)
        else:
            firsts.append(rank[window.id])
            run = [window]
        assert rank[window.id] >= firsts[-1], "a run begins with its best"
    assert firsts == sorted(firsts)


def test_where_topics_stay_the_neighbours_of_the_best_are_chosen() -> None:
    """Where they change, the second window by rank takes the room of those beside the first."""
    a, b, c = line(0.4, 0.4, 0.2, persistence=1.0)
    [far, _] = line(0.4, 0.6, of="z", document="e", persistence=1.0)
    assert packed_ids(best_first(a, far, b, c), Budget(1)) == ["c-w0", "c-w1", "c-w2"]
    for window in (a, b, c, far):
        window.persistence = 0.0
    assert packed_ids(best_first(a, far, b, c), Budget(1)) == ["c-w0", "z-w0", "c-w2"]


def test_a_run_goes_on_in_the_next_chunk_and_no_further() -> None:
    before, here = line(0.5, 0.5, of="c0", persistence=1.0), line(0.5, 0.5, of="c1", index=1, persistence=1.0)
    beyond = line(0.5, 0.5, of="c3", index=3, persistence=1.0)
    assert packed_ids(best_first(before[1], beyond[0], here[0]), Budget(1)) == ["c0-w1", "c1-w0"]
    assert packed_ids(best_first(before[1], beyond[0], here[1]), Budget(1)) == ["c0-w1", "c3-w0"]


def test_a_run_that_does_not_fit_is_cut_around_its_best_window() -> None:
    """Of five in a row there is room for three: the best, and the better neighbour each time."""
    windows = line(*[0.2] * 5, persistence=1.0)
    order = [windows[n] for n in (2, 3, 0, 1, 4)]
    for one in windows:
        one.share = 1 / 3
    assert packed_ids(best_first(*order), Budget(1)) == ["c-w2", "c-w3", "c-w1"]


def test_of_the_neighbours_the_one_that_fits_is_taken() -> None:
    short, best, long = line(0.2, 0.6, 0.9, persistence=1.0)
    assert packed_ids(best_first(best, long, short), Budget(1)) == ["c-w1", "c-w0"]


def test_what_is_left_of_the_room_goes_to_the_next_run() -> None:
    best, long, short = line(0.6, 0.9, 0.2, persistence=1.0)
    alone = line(0.3, of="z", document="e", persistence=1.0)[0]
    assert packed_ids(best_first(best, alone, long, short), Budget(1)) == ["c-w0", "z-w0"]


@pytest.mark.parametrize("tokens", [MIN_TOKENS, 100])
def test_the_best_window_is_chosen_though_it_is_longer_than_the_budget(tokens: int) -> None:
    """It will be cut; what comes after it finds no room."""
    long, short = (windows_of({**row("c", [1.0]), "tokens": 900}), windows_of({**row("e", [1.0]), "tokens": 10}))
    assert packed_ids(best_first(*long, *short), Budget(MAX_K, tokens)) == ["c-w0"]
    assert packed_ids(best_first(*short, *long), Budget(MAX_K, tokens)) == ["e-w0"]


def test_nothing_is_packed_of_nothing() -> None:
    assert pack([], Budget(1)) == []


# --- budgets -----------------------------------------------------------------------------------------


def test_a_window_costs_what_it_takes_of_the_tighter_limit() -> None:
    [window, _] = line(0.25, 0.75)
    assert window.tokens == 25
    assert Budget(5).cost(window) == pytest.approx(0.25 / 5)
    assert Budget(1, 1000 - CUT).cost(window) == pytest.approx(0.25)
    assert Budget(MAX_K, 1000 - CUT).cost(window) == pytest.approx(0.025)
    assert Budget(MAX_K, MIN_TOKENS).cost(windows_of({**row("c", [1.0]), "tokens": 900})[0]) == 1


def test_a_larger_budget_reads_no_fewer_windows_and_chunks() -> None:
    tokens = [*range(MIN_TOKENS, 5000, 50), 10_000, 100_000, MAX_TOKENS]
    for by_tokens in ([Budget(MAX_K, one) for one in tokens], [Budget(k) for k in range(1, MAX_K, 7)]):
        for smaller, larger in pairwise(by_tokens):
            assert 1 <= smaller.chunks_to_read() <= larger.chunks_to_read() <= MAX_K
            assert smaller.chunks_to_read() < smaller.windows_to_read() <= larger.windows_to_read()
    assert Budget(3).chunks_to_read() == Budget(3, MAX_TOKENS).chunks_to_read() == 3


@given(st.integers(MIN_TOKENS, MAX_TOKENS // 10), st.integers(100, 240))
def test_enough_windows_are_read_to_fill_a_budget_in_tokens(tokens: int, length: int) -> None:
    """Unless so many are chunks of their own that they are more than a question may ask for."""
    assert Budget(MAX_K, tokens).windows_to_read() * length >= min(tokens, 12 * MAX_K * length)


# --- windows of rows ---------------------------------------------------------------------------------


def row(chunk: str, shares: Sequence[float], **more: Any) -> dict[str, Any]:
    own = {"chunk": chunk, "document": f"d of {chunk}", "index": 0, "tokens": 50, "persistence": 0.4}
    return {**own, "shares": list(shares), **more}


def test_a_row_gives_every_window_of_its_chunk() -> None:
    first, last = windows_of(row("c", [0.2, 0.8], index=7))
    assert first == Window("c", 0, "d of c", 7, False, 0.2, 10, 0.4)
    assert last == Window("c", 1, "d of c", 7, True, 0.8, 40, 0.4)
    assert (first.id, last.id) == ("c-w0", "c-w1")
    assert last.follows(first)
    assert not first.follows(last)
    assert not first.follows(first)


def test_windows_of_several_chunks_and_corpora_are_ranked_together() -> None:
    rows = [
        row("b", [0.5, 0.5], scores=[[1, 0.9], [0, 0.3]]),
        row("a", [1.0], scores=[[0, 0.5]], corpus="another"),
    ]
    assert [(window.id, score) for window, score in rank_windows(rows)] == [
        ("b-w1", 0.9),
        ("a-w0", 0.5),
        ("b-w0", 0.3),
    ]


def test_ties_are_in_reading_order() -> None:
    near = 0.5 + TIE / 2
    rows = [
        row("z", [0.5, 0.5], document="d", index=0, scores=[[1, 0.5], [0, near]]),
        row("a", [1.0], document="d", index=1, scores=[[0, near]]),
        row("q", [1.0], document="c", index=9, scores=[[0, 0.5]]),
    ]
    for order in (rows, rows[::-1]):
        assert [window.id for window, _ in rank_windows(order)] == ["q-w0", "z-w0", "z-w1", "a-w0"]


@given(rankings(), st.integers(1, 8))
def test_a_chunk_stands_where_its_best_window_does(found: tuple[Ranked, dict[str, Any]], k: int) -> None:
    ranked, naive = found
    chunks = chunks_of(ranked, k)
    assert [chunk for chunk, _ in chunks] == naive_chunks_of(naive["places"], naive["order"])[:k]
    for chunk, score in chunks:
        assert score == max(one for window, one in ranked if window.chunk == chunk)
