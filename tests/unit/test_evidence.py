"""How ranked nodes become passages."""

from __future__ import annotations

from random import Random
from re import finditer, search
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import libraries
from naive import NaiveDocument, NaivePlace, window_passages, windows

from e2g_neo4j.retrieval.passages import ScoredNode, fit_nodes, passages
from e2g_neo4j.types.documents import Span
from e2g_neo4j.types.results import Pair, Reference

TEXT = "".join(chr(ord("a") + i % 26) for i in range(200))
AB, AC = Pair("a", "b", 1), Pair("a", "c", 2)


def chunk(index: int, *, document: str = "d", start: int | None = None, **more: Any) -> dict[str, Any]:
    """Chunk `index` of a document: 20 characters, of which 5 are the next one's too."""
    start = 15 * index if start is None else start
    row = {
        "id": f"{document}-c{index}",
        "level": 0,
        "index": index,
        "text": TEXT[start : start + 20],
        "start": start,
        "end": start + 20,
        "page": None,
        "heading": None,
        "document_id": document,
        "document": f"Title of {document}",
        "source": f"{document}.txt",
        "path": [f"{document}-s1"],
        "corpus": "novels",
    }
    return {**row, **more}


def summary(index: int, text: str, level: int = 1, document: str = "d") -> dict[str, Any]:
    return chunk(index, document=document, id=f"{document}-s{level}-{index}", level=level, text=text)


def test_a_node_becomes_a_passage_with_its_place_and_citation() -> None:
    row = chunk(2, page="7", heading="The bee")
    [passage] = passages([ScoredNode(row, 2.5, (AB,))])
    assert passage.text == TEXT[30:50]
    assert (passage.corpus, passage.document, passage.source) == ("novels", "Title of d", "d.txt")
    assert (passage.start, passage.end, passage.score) == (30, 50, 2.5)
    assert (passage.level, passage.nodes, passage.path) == (0, ("d-c2",), ("d-s1",))
    assert (passage.pairs, passage.page, passage.heading) == ((AB,), "7", "The bee")
    assert passage.to_labelled_text() == f"a - b: {TEXT[30:50]}"


def test_evidence_of_two_pairs_names_both_and_of_none_only_the_text() -> None:
    both, none = passages([ScoredNode(chunk(0), 2, (AB, AC)), ScoredNode(chunk(4), 1)])
    assert both.to_labelled_text() == f"a - b; a - c: {both.text}"
    assert none.to_labelled_text() == none.text


def test_consecutive_chunks_become_one_passage_without_the_overlap_twice() -> None:
    ranked = [ScoredNode(chunk(2), 3.0, (AC,)), ScoredNode(chunk(0), 2.0, (AB,)), ScoredNode(chunk(1), 1.0, (AB, AC))]
    [passage] = passages(ranked)
    assert passage.text == TEXT[0:50]
    assert (passage.start, passage.end) == (0, 50)
    assert passage.nodes == ("d-c0", "d-c1", "d-c2"), "in reading order, however they were ranked"
    assert passage.score == 3.0
    assert passage.pairs == (AB, AC), "each pair once"


def test_chunks_that_touch_are_joined_and_those_with_a_gap_stay_apart() -> None:
    touching = passages([ScoredNode(chunk(0), 1), ScoredNode(chunk(1, start=20), 1)])
    assert [(p.text, p.start, p.end) for p in touching] == [(TEXT[:40], 0, 40)]
    apart = passages([ScoredNode(chunk(0), 1), ScoredNode(chunk(1, start=22), 1)])
    assert [(p.text, p.start, p.end) for p in apart] == [(TEXT[:20], 0, 20), (TEXT[22:42], 22, 42)]


def test_a_node_inside_another_adds_its_pairs_and_no_text() -> None:
    inside = chunk(1, start=5, end=15, text=TEXT[5:15])
    [passage] = passages(
        [ScoredNode(inside, 3, (AC,)), ScoredNode(chunk(0), 2, (AB,)), ScoredNode(chunk(2, start=18), 1)]
    )
    assert (passage.text, passage.start, passage.end, passage.score) == (TEXT[:38], 0, 38, 3)
    assert passage.nodes == ("d-c0", "d-c1", "d-c2")
    assert passage.pairs == (AB, AC)


@pytest.mark.parametrize(
    "second",
    [chunk(2), chunk(1, document="e", start=30)],
    ids=["a chunk further on", "the next chunk of another document"],
)
def test_chunks_that_do_not_follow_each_other_stay_apart(second: dict[str, Any]) -> None:
    assert [p.nodes for p in passages([ScoredNode(chunk(0), 2), ScoredNode(second, 1)])] == [("d-c0",), (second["id"],)]


def test_summaries_that_follow_each_other_stay_apart_from_each_other_and_from_chunks() -> None:
    ranked = [
        ScoredNode(summary(0, "One."), 3),
        ScoredNode(summary(1, "Two."), 2),
        ScoredNode(chunk(2), 1),
        ScoredNode(chunk(0), 0),
    ]
    assert [p.nodes for p in passages(ranked)] == [("d-s1-0",), ("d-s1-1",), ("d-c2",), ("d-c0",)]
    assert [p.level for p in passages(ranked)] == [1, 1, 0, 0]
    for one in passages(ranked)[:2]:
        assert (one.shown.start, one.shown.end) == (one.start, one.end), "its sentences have no place in the document"


def test_a_passage_stands_where_its_best_node_stood() -> None:
    ranked = [
        ScoredNode(chunk(5), 9),
        ScoredNode(chunk(1, document="e"), 8),
        ScoredNode(chunk(4), 7),
        ScoredNode(chunk(0), 6),
    ]
    assert [p.nodes for p in passages(ranked)] == [("d-c4", "d-c5"), ("e-c1",), ("d-c0",)]


def test_the_better_of_two_equal_texts_is_kept() -> None:
    ranked = [
        ScoredNode(chunk(3), 2),
        ScoredNode(chunk(8, document="copy", text=chunk(3)["text"]), 1),
        ScoredNode(chunk(0), 0),
    ]
    assert [p.nodes for p in passages(ranked)] == [("d-c3",), ("d-c0",)]


def test_a_summary_that_repeats_the_one_below_it_is_a_duplicate() -> None:
    ranked = [ScoredNode(summary(2, "Told twice.", level=2), 2), ScoredNode(summary(6, "Told twice."), 1)]
    assert [p.nodes for p in passages(ranked)] == [("d-s2-2",)]


@pytest.mark.parametrize("best", [0, 1, 2])
def test_a_merged_passage_is_cited_and_shown_by_its_best_chunk(best: int) -> None:
    """The others are there for the model that reads on."""
    rows = [chunk(n, page=f"A-{n}", heading=f"Heading {n}") for n in range(3)]
    reference = Reference("Title of d", "e-c0")
    first = ScoredNode(rows.pop(best), 9.0, signals={"words": 1.0}, referred=reference)
    [passage] = passages([first, *(ScoredNode(row, 1.0) for row in rows)])
    assert (passage.start, passage.end) == (0, 50)
    assert (passage.page, passage.heading) == (f"A-{best}", f"Heading {best}")
    assert (passage.score, passage.signals, passage.referred) == (9.0, {"words": 1.0}, reference)
    assert passage.excerpt is not None
    assert (passage.excerpt.start, passage.excerpt.text) == (15 * best, TEXT[15 * best : 15 * best + 20])


def test_nothing_ranked_is_no_passage() -> None:
    assert passages([]) == ()
    assert fit_nodes([], 9, letters) == []


# --- windows -----------------------------------------------------------------------------------------


def window(number: int, *, of: int = 0, **more: Any) -> ScoredNode:
    """Window `number` of 20 characters of a document; each begins 40 after the one before."""
    place = {"start": 40 * number, "end": 40 * number + 20, "text": f"Window {number}."}
    row = {**chunk(of, id=f"d-c{of}-w{number}", chunk=f"d-c{of}"), **place, **more}
    return ScoredNode(row, 100.0 - number)


def test_a_window_names_its_chunk() -> None:
    [passage] = passages([window(3, of=7)])
    assert passage.nodes == ("d-c7",)


def test_windows_of_one_chunk_that_touch_name_it_once() -> None:
    ranked = [window(0, text=TEXT[:20]), window(1, start=20, end=40, text=TEXT[20:40])]
    [passage] = passages(ranked)
    assert (passage.text, passage.nodes) == (TEXT[:40], ("d-c0",))


@given(libraries(), st.randoms(use_true_random=False))
def test_windows_become_passages_as_in_the_naive_implementation(library: list[NaiveDocument], random: Random) -> None:
    """Merging, the heading, and that a passage's text is the exact slice of its document."""
    places = windows(library)
    order = random.sample(sorted(places), random.randint(0, len(places)))
    found = passages([as_ranked(id, places[id], -number) for number, id in enumerate(order)])
    assert [(p.document, p.start, p.end, p.text, list(p.nodes), p.heading) for p in found] == [
        (p.document, p.start, p.end, p.text, p.nodes, p.heading) for p in window_passages(places, order)
    ]
    texts = {document.id: document.text for document in library}
    assert all(p.text == texts[p.document][p.start : p.end] for p in found)


@given(st.lists(st.tuples(st.integers(0, 150), st.integers(1, 50)), unique=True, max_size=20))
def test_overlapping_spans_of_any_kind_keep_the_text_of_the_document(spans: list[tuple[int, int]]) -> None:
    text = "".join(chr(0x4E00 + number) for number in range(200))  # no two slices are equal
    ranked = [
        ScoredNode(chunk(n, id=f"c{n}", start=start, end=start + length, text=text[start : start + length]), -n)
        for n, (start, length) in enumerate(spans)
    ]
    found = passages(ranked)
    assert all(p.text == text[p.start : p.end] for p in found)
    covered = {place for start, length in spans for place in range(start, start + length)}
    assert sorted(place for p in found for place in range(p.start, p.end)) == sorted(covered), "each sign once"


def as_ranked(id: str, place: NaivePlace, score: float) -> ScoredNode:
    row = chunk(0, document=place.document.id, id=id, chunk=place.chunk, start=place.start, end=place.end)
    text = place.document.text[place.start : place.end]
    heading = place.document.heading(place.start, place.end)
    told = {"document": place.document.id, "text": text, "heading": heading}
    return ScoredNode({**row, **told}, score)


# --- a budget of tokens ------------------------------------------------------------------------------


def letters(text: str) -> list[Span]:
    """Tokens of these tests: one or two letters or digits of a word, and every other sign."""
    return [found.span() for found in finditer(r"\w\w?|[^\w\s]", text)]


WORDS = st.lists(st.text("abcé", min_size=1, max_size=9), min_size=1, max_size=12)
TEXTS = st.builds(
    lambda words, gap, end: gap.join(words) + end, WORDS, st.sampled_from([" ", ", ", "\n\n"]), st.just(".")
)


@given(st.lists(st.tuples(TEXTS, st.integers(0, 2)), max_size=8), st.integers(1, 120))
def test_nodes_fill_a_budget_and_only_the_last_is_cut(drawn: list[tuple[str, int]], tokens: int) -> None:
    """Counted again on the texts that are returned. What is cut off would not have fitted."""
    ranked = [
        ScoredNode(chunk(n, start=1000 * n, end=1000 * n + len(text), text=text, level=level), -n)
        for n, (text, level) in enumerate(drawn)
    ]
    unique = [
        node for n, node in enumerate(ranked) if node.row["text"] not in [other.row["text"] for other in ranked[:n]]
    ]
    found = fit_nodes(ranked, tokens, letters)
    counts = [len(letters(node.row["text"])) for node in found]
    assert sum(counts) <= tokens
    assert found[:-1] == unique[: len(found[:-1])]
    if sum(len(letters(node.row["text"])) for node in unique) <= tokens:
        assert found == unique
        return
    for node, whole in zip(found, unique, strict=False):
        text = whole.row["text"]
        assert text.startswith(node.row["text"])
        assert (node.score, node.row["start"], node.row["id"]) == (whole.score, whole.row["start"], whole.row["id"])
        if node.row["level"]:
            assert node.row["end"] == whole.row["end"], "a summary keeps its span"
        else:
            assert node.row["end"] == node.row["start"] + len(node.row["text"])
        rest = text[len(node.row["text"]) :]
        assert not (rest[:1].isalnum() and node.row["text"][-1].isalnum()), "cut at a word"
    last = unique[len(found) - 1].row["text"] if found else ""
    left = last[len(found[-1].row["text"]) :] if found else ""
    following = search(r"\s*\w*[^\w\s]*", left or unique[len(found)].row["text"])
    assert following is not None
    assert sum(counts) + len(letters(following[0])) > tokens, "one more word does not fit"


def test_a_text_without_spaces_is_cut_anywhere() -> None:
    row = chunk(0, text="书" * 200, start=7, end=207)
    [node] = fit_nodes([ScoredNode(row, 1.0)], 60, letters)
    assert (node.row["text"], node.row["end"]) == ("书" * 120, 127)


def test_a_node_of_which_no_word_fits_is_left_out() -> None:
    ranked = [ScoredNode(chunk(0, text="It rains."), 1.0), ScoredNode(chunk(9, text="Extraordinarily."), 0.5)]
    assert [node.row["text"] for node in fit_nodes(ranked, 8, letters)] == ["It rains."]
    assert fit_nodes(ranked[1:], 3, letters) == []


def test_a_duplicate_takes_nothing_of_the_budget() -> None:
    same = chunk(0)["text"]
    ranked = [ScoredNode(chunk(0), 3), ScoredNode(chunk(5, document="copy", text=same), 2), ScoredNode(chunk(9), 1)]
    assert [node.row["id"] for node in fit_nodes(ranked, 20, letters)] == ["d-c0", "d-c9"]


def test_a_passage_that_was_cut_ends_where_its_text_does() -> None:
    rows = [chunk(0, text="One two three.", end=14), chunk(1, start=14, end=28, text=" Four five six.")]
    [passage] = passages(fit_nodes([ScoredNode(row, 1.0) for row in rows], 12, letters))
    assert (passage.text, passage.start, passage.end) == ("One two three. Four five", 0, 24)
