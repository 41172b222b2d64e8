"""How ranked nodes become passages."""

from __future__ import annotations

from typing import Any

import pytest

from e2g_neo4j.evidence import Ranked, passages
from e2g_neo4j.model import Pair

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
    }
    return {**row, **more}


def summary(index: int, text: str, level: int = 1, document: str = "d") -> dict[str, Any]:
    return chunk(index, document=document, id=f"{document}-s{level}-{index}", level=level, text=text)


def test_a_node_becomes_a_passage_with_its_place_and_citation() -> None:
    row = chunk(2, page="7", heading="The bee")
    [passage] = passages([Ranked(row, 2.5, (AB,))])
    assert passage.text == TEXT[30:50]
    assert (passage.document, passage.source) == ("Title of d", "d.txt")
    assert (passage.start, passage.end, passage.score) == (30, 50, 2.5)
    assert (passage.level, passage.nodes, passage.path) == (0, ("d-c2",), ("d-s1",))
    assert (passage.pairs, passage.page, passage.heading) == ((AB,), "7", "The bee")
    assert passage.labelled() == f"a - b: {TEXT[30:50]}"


def test_evidence_of_two_pairs_names_both_and_of_none_only_the_text() -> None:
    both, none = passages([Ranked(chunk(0), 2, (AB, AC)), Ranked(chunk(4), 1)])
    assert both.labelled() == f"a - b; a - c: {both.text}"
    assert none.labelled() == none.text


def test_consecutive_chunks_become_one_passage_without_the_overlap_twice() -> None:
    ranked = [Ranked(chunk(2), 1.0, (AC,)), Ranked(chunk(0), 3.0, (AB,)), Ranked(chunk(1), 2.0, (AB, AC))]
    [passage] = passages(ranked)
    assert passage.text == TEXT[0:50]
    assert (passage.start, passage.end) == (0, 50)
    assert passage.nodes == ("d-c0", "d-c1", "d-c2"), "in reading order, however they were ranked"
    assert passage.score == 3.0
    assert passage.pairs == (AB, AC), "each pair once"


def test_chunks_that_touch_or_leave_a_gap_keep_their_offsets() -> None:
    touching = passages([Ranked(chunk(0), 1), Ranked(chunk(1, start=20), 1)])
    assert [(p.text, p.start, p.end) for p in touching] == [(TEXT[:40], 0, 40)]
    [gap] = passages([Ranked(chunk(0), 1), Ranked(chunk(1, start=22), 1)])
    assert gap.text.split() == [TEXT[:20], TEXT[22:42]]
    assert len(gap.text) == gap.end - gap.start == 42


@pytest.mark.parametrize(
    "second",
    [chunk(2), chunk(1, document="e", start=30)],
    ids=["a chunk further on", "the next chunk of another document"],
)
def test_chunks_that_do_not_follow_each_other_stay_apart(second: dict[str, Any]) -> None:
    assert [p.nodes for p in passages([Ranked(chunk(0), 2), Ranked(second, 1)])] == [("d-c0",), (second["id"],)]


def test_summaries_that_follow_each_other_stay_apart_from_each_other_and_from_chunks() -> None:
    ranked = [
        Ranked(summary(0, "One."), 3),
        Ranked(summary(1, "Two."), 2),
        Ranked(chunk(2), 1),
        Ranked(chunk(0), 0),
    ]
    assert [p.nodes for p in passages(ranked)] == [("d-s1-0",), ("d-s1-1",), ("d-c2",), ("d-c0",)]
    assert [p.level for p in passages(ranked)] == [1, 1, 0, 0]


def test_a_passage_stands_where_its_best_node_stood() -> None:
    ranked = [Ranked(chunk(5), 9), Ranked(chunk(1, document="e"), 8), Ranked(chunk(4), 7), Ranked(chunk(0), 6)]
    assert [p.nodes for p in passages(ranked)] == [("d-c4", "d-c5"), ("e-c1",), ("d-c0",)]


def test_the_better_of_two_equal_texts_is_kept() -> None:
    ranked = [Ranked(chunk(3), 2), Ranked(chunk(8, document="copy", text=chunk(3)["text"]), 1), Ranked(chunk(0), 0)]
    assert [p.nodes for p in passages(ranked)] == [("d-c3",), ("d-c0",)]


def test_a_summary_that_repeats_the_one_below_it_is_a_duplicate() -> None:
    ranked = [Ranked(summary(2, "Told twice.", level=2), 2), Ranked(summary(6, "Told twice."), 1)]
    assert [p.nodes for p in passages(ranked)] == [("d-s2-2",)]


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [("3", "4", "3-4"), ("3", "3", "3"), ("3-4", "4-6", "3-6"), (None, "4", "4"), ("3", None, "3"), (None, None, None)],
)
def test_a_passage_spans_the_pages_of_its_chunks(first: str | None, second: str | None, together: str | None) -> None:
    [passage] = passages([Ranked(chunk(0, page=first), 1), Ranked(chunk(1, page=second), 1)])
    assert passage.page == together


def test_nothing_ranked_is_no_passage() -> None:
    assert passages([]) == ()
