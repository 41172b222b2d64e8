"""The tree's shape, whatever the document; what the two summarisers promise."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from threading import Event, Semaphore

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import grow_tree

from e2g_neo4j.errors import ModelError
from e2g_neo4j.indexing.summaries.base import SummaryInput, TreeInput
from e2g_neo4j.indexing.summaries.extractive import ExtractiveSummariser
from e2g_neo4j.indexing.summaries.tree import SummaryTreeBuilder, tree_size
from e2g_neo4j.types.documents import Chunk, SourceDocument
from e2g_neo4j.types.graph import Extraction, Sentence, Summary

WORDS = 6  # of a chunk; neighbours share two


def words(text: str) -> list[tuple[int, int]]:
    """A tokenizer: one token a word."""
    spans, start = [], 0
    for word in text.split():
        start = text.index(word, start)
        spans.append((start, start + len(word)))
        start += len(word)
    return spans


def a_document(chunks: int) -> tuple[SourceDocument, list[Chunk]]:
    text = " ".join(f"word{i}" for i in range(chunks * (WORDS - 2) + 2))
    document = SourceDocument("doc", "corpus", "Title", "file.txt", text, "")
    spans = words(text)
    cut = []
    for index in range(chunks):
        first = index * (WORDS - 2)
        start, end = spans[first][0], spans[first + WORDS - 1][1]
        cut.append(Chunk(f"doc-{index}", index, text[start:end], start, end, WORDS))
    return document, cut


class Recorder:
    """Writes the first and the last word of what it is given, and remembers it."""

    name = "recorder"
    concurrency = 1
    needs_sentences = False

    def __init__(self) -> None:
        self.given: list[str] = []

    def summarise(self, prose: SummaryInput) -> SummaryInput:
        self.given.append(prose.text)
        found = prose.text.split()
        return SummaryInput(f"{found[0]} … {found[-1]}")


def grow(chunks: int, group_size: int) -> tuple[list[Summary], Recorder, SourceDocument, list[Chunk]]:
    document, cut = a_document(chunks)
    recorder = Recorder()
    tree = grow_tree(document, cut, recorder, group_size=group_size, token_spans=words)
    return tree, recorder, document, cut


def by_level(tree: Sequence[Summary]) -> dict[int, list[Summary]]:
    levels: dict[int, list[Summary]] = {}
    for summary in tree:
        levels.setdefault(summary.level, []).append(summary)
    return levels


@settings(deadline=None)
@given(chunks=st.integers(0, 160), group_size=st.integers(2, 10))
def test_every_node_has_one_parent_that_stands_for_it(chunks: int, group_size: int) -> None:
    """The published code's parent links are off by one, and its last list of children runs past the end."""
    tree, _, _, cut = grow(chunks, group_size)
    levels = by_level(tree)
    assert len(tree) == tree_size(chunks, group_size)
    assert len({summary.id for summary in tree}) == len(tree)
    if chunks < 2:
        assert tree == []
        return
    assert sorted(levels) == list(range(1, len(levels) + 1))
    below = [chunk.id for chunk in cut]
    for level in sorted(levels):
        nodes = levels[level]
        assert [node.index for node in nodes] == list(range(len(nodes)))
        assert [child for node in nodes for child in node.children] == below
        assert all(len(node.children) == group_size for node in nodes[:-1])
        assert 2 <= len(nodes[-1].children) <= group_size + 1, "a node with one child would be a copy"
        below = [node.id for node in nodes]
    assert len(levels[len(levels)]) <= group_size
    assert all(len(levels[level]) > group_size for level in range(1, len(levels)))


def test_levels_end_where_one_has_at_most_g_nodes() -> None:
    assert [len(nodes) for nodes in by_level(grow(151, 5)[0]).values()] == [30, 6, 1]
    assert [len(nodes) for nodes in by_level(grow(152, 5)[0]).values()] == [31, 6, 1]
    assert [len(nodes) for nodes in by_level(grow(6, 5)[0]).values()] == [1]
    assert [len(nodes) for nodes in by_level(grow(3, 2)[0]).values()] == [1]
    assert [len(nodes) for nodes in by_level(grow(5, 5)[0]).values()] == [1]
    assert [len(nodes) for nodes in by_level(grow(2, 5)[0]).values()] == [1]


def test_overlaps_are_merged_before_summarising() -> None:
    _, recorder, document, cut = grow(7, 5)
    assert recorder.given == [document.text[: cut[4].end], document.text[cut[5].start :]]


def test_upper_levels_summarise_texts_and_not_ids() -> None:
    """From about 151 chunks on, the published code summarises the ids of the nodes below."""
    tree, recorder, _, _ = grow(160, 5)
    levels = by_level(tree)
    texts = {summary.id: summary.text for summary in tree}
    upper = [node for level in (2, 3) for node in levels[level] if len(node.children) > 1]
    assert len(upper) == 9
    for node in upper:
        assert "\n\n".join(texts[child] for child in node.children) in recorder.given
    assert not any("doc-s" in text for text in recorder.given)


def test_a_node_that_would_be_left_over_is_covered_by_the_one_before() -> None:
    tree, recorder, _, cut = grow(11, 2)  # levels of 5 and 2: a node with three children ends both
    levels = by_level(tree)
    assert [len(levels[level]) for level in sorted(levels)] == [5, 2]
    assert levels[1][-1].children == tuple(chunk.id for chunk in cut[8:])
    assert levels[2][-1].children == tuple(node.id for node in levels[1][2:])
    assert len(recorder.given) == len(tree)


def test_a_summary_that_did_not_change_keeps_its_id_and_equal_texts_differ() -> None:
    class Same(Recorder):
        def summarise(self, prose: SummaryInput) -> SummaryInput:
            return SummaryInput("the same")

    document, cut = a_document(12)
    tree = grow_tree(document, cut, Same(), group_size=5, token_spans=words)
    assert len({summary.id for summary in tree}) == 3
    assert tree[1].id == f"{tree[0].id}-2"
    first = {summary.id for summary in grow(40, 5)[0] if summary.level == 1}
    longer = {summary.id for summary in grow(45, 5)[0] if summary.level == 1}
    assert len(first & longer) == 8


def test_progress_counts_every_summary_and_tokens_are_counted() -> None:
    document, cut = a_document(40)
    steps: list[int] = []
    tree = grow_tree(document, cut, Recorder(), group_size=5, token_spans=words, progress=steps.append)
    assert sum(steps) == len(tree) == tree_size(40, 5)
    assert {summary.tokens for summary in tree} == {3}


def test_a_group_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        grow(3, 1)


# --- sentences of a group ----------------------------------------------------------------------------


def test_a_sentence_in_an_overlap_is_summarised_once() -> None:
    text = "Ann came. Bob left her. Cid stayed on. Dora slept."
    bounds = [(0, 9), (10, 23), (24, 38), (39, 50)]
    document = SourceDocument("doc", "corpus", "Title", "file.txt", text, "")
    one, two = Chunk("a", 0, text[:38], 0, 38, 8), Chunk("b", 1, text[14:], 14, len(text), 7)
    first = Extraction(tuple(Sentence(s, e, (text[s : s + 3],)) for s, e in bounds[:3]), {})
    second = Extraction(
        (Sentence(0, 9, ()), *(Sentence(s - 14, e - 14, (text[s : s + 3],)) for s, e in bounds[2:])), {}
    )
    seen: list[SummaryInput] = []

    class Keeper(Recorder):
        needs_sentences = True

        def summarise(self, prose: SummaryInput) -> SummaryInput:
            seen.append(prose)
            return super().summarise(prose)

    vectors = [np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)]
    grow_tree(
        document,
        [one, two],
        Keeper(),
        group_size=5,
        token_spans=words,
        extractions=[first, second],
        sentence_vectors=vectors,
    )
    [prose] = seen
    assert [(s.start, s.end) for s in prose.sentences] == bounds
    assert prose.counts == {"Ann": 1, "Bob": 1, "Cid": 1, "Dor": 1}
    assert prose.vectors is not None
    assert prose.vectors.shape == (4, 3)


# --- picking sentences -------------------------------------------------------------------------------


def as_prose(
    sentences: Sequence[str], entities: Sequence[tuple[str, ...]] | None = None, seed: int = 0
) -> SummaryInput:
    marked, start = [], 0
    for number, sentence in enumerate(sentences):
        marked.append(Sentence(start, start + len(sentence), entities[number] if entities else ()))
        start += len(sentence) + 1
    vectors = np.random.default_rng(seed).normal(size=(len(sentences), 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    counts = Counter(name for sentence in marked for name in sentence.entities)
    return SummaryInput(" ".join(sentences), tuple(marked), vectors, counts)


SENTENCE = st.lists(st.text("abcdeXYZ", min_size=1, max_size=9), min_size=1, max_size=120).map(
    lambda found: " ".join(found) + "."
)


@settings(deadline=None)
@given(sentences=st.lists(SENTENCE, min_size=1, max_size=25), budget=st.integers(32, 200), seed=st.integers(0, 9))
def test_the_budget_is_never_exceeded_and_the_text_is_quoted(sentences: list[str], budget: int, seed: int) -> None:
    summary = ExtractiveSummariser(words, budget=budget).summarise(as_prose(sentences, seed=seed))
    assert 0 < len(words(summary.text)) <= budget
    assert summary.text == " ".join(summary.text[s.start : s.end] for s in summary.sentences)
    assert summary.vectors is not None
    assert len(summary.vectors) == len(summary.sentences)
    if not summary.text.endswith("…"):
        quoted = [summary.text[s.start : s.end] for s in summary.sentences]
        places = iter(sentences)
        assert all(any(text == sentence for sentence in places) for text in quoted)  # in reading order


def test_one_giant_sentence_is_cut_at_a_word_with_an_ellipsis() -> None:
    giant = " ".join(f"word{i}" for i in range(900)) + "."
    text = ExtractiveSummariser(words, budget=50).summarise(as_prose([giant])).text
    assert text.endswith("…")
    assert giant.startswith(text[:-1] + " ")
    assert 40 <= len(words(text)) <= 50


def test_frequent_names_are_kept() -> None:
    filler = [f"The weather on day {i} was neither good nor bad for the walk along the river." for i in range(60)]
    named = [f"On the road by the mill old Tobias met the miller and they spoke of case {i}." for i in range(4)]
    sentences = filler[:30] + named + filler[30:]
    entities = [("weather", "walk", "river")] * 30 + [("tobias", "miller")] * 4 + [("weather", "walk", "river")] * 30
    for seed in range(5):
        text = ExtractiveSummariser(words, budget=60).summarise(as_prose(sentences, entities, seed)).text
        assert "Tobias" in text


def test_headings_tables_and_half_quotes_are_left_out() -> None:
    good = [f"A plain sentence number {i} tells the reader one more thing about the harbour." for i in range(4)]
    bad = [
        "CHAPTER THE SECOND OF THE BOOK.",
        "12.5 13.7 88.1 90.2 11.0 17.8 33.1 4.5 9.2.",
        "Table of contents and lists",
    ]
    half = 'so she said to him at the door of the old house," and he went away.'
    summary = ExtractiveSummariser(words, budget=100).summarise(
        as_prose([bad[0], *good[:2], *bad[1:], half, *good[2:]])
    )
    assert summary.text == " ".join(good)


def test_hard_wrapped_lines_are_unwrapped() -> None:
    prose = as_prose(["The harbour was\n  full of ships that\nhad come from the north."])
    summary = ExtractiveSummariser(words, budget=100).summarise(prose)
    assert summary.text == "The harbour was full of ships that had come from the north."


def test_the_same_text_gives_the_same_summary() -> None:
    prose = as_prose([f"Sentence {i} speaks of the sea and of what it does to us." for i in range(80)])
    one, two = (ExtractiveSummariser(words, budget=60).summarise(prose).text for _ in range(2))
    assert one == two


def test_repetition_is_avoided() -> None:
    sentences = [f"The ship with the red sail came home on day {i} of the month." for i in range(5)]
    sentences.append("Nobody had thought of the lighthouse keeper and his only daughter.")
    prose = as_prose(sentences)
    assert prose.vectors is not None
    prose.vectors[:5] = prose.vectors[0]
    prose.vectors[5] = 0.3 * prose.vectors[0] + np.sqrt(1 - 0.09) * np.eye(8, dtype=np.float32)[7]
    text = ExtractiveSummariser(words, budget=26).summarise(prose).text
    assert "lighthouse" in text


def test_without_sentences_or_vectors_there_is_no_extractive_summary() -> None:
    with pytest.raises(ValueError, match="a vector for each"):
        ExtractiveSummariser(words).summarise(SummaryInput("Some text.", (Sentence(0, 10, ()),)))


# --- many at once ------------------------------------------------------------------------------------


def test_concurrent_summaries_stay_in_order() -> None:
    class Slow(Recorder):
        concurrency = 4

        def summarise(self, prose: SummaryInput) -> SummaryInput:
            if prose.text.startswith("word0 "):
                time.sleep(0.05)
            return super().summarise(prose)

    document, cut = a_document(60)
    parallel = grow_tree(document, cut, Slow(), group_size=5, token_spans=words)
    assert parallel == grow(60, 5)[0]


class Gated(Recorder):
    """Writes while a gate is open, and counts how many are at it at once."""

    def __init__(self, concurrency: int) -> None:
        super().__init__()
        self.concurrency = concurrency
        self.gate = Event()
        self.arrived = Semaphore(0)
        self.levels: list[int] = []

    def summarise(self, prose: SummaryInput) -> SummaryInput:
        self.levels.append(prose.level)
        self.arrived.release()
        assert self.gate.wait(10)
        return super().summarise(prose)


def test_calls_under_way_are_as_many_as_allowed_over_all_documents() -> None:
    summariser = Gated(3)
    grounds = [TreeInput(*a_document(3)) for _ in range(8)]
    with SummaryTreeBuilder(grounds, summariser, group_size=5, token_spans=words) as forest:
        for _ in range(3):
            assert summariser.arrived.acquire(timeout=10)
        assert not summariser.arrived.acquire(timeout=0.2)
        summariser.gate.set()
        assert all(len(forest.tree(number)) == 1 for number in range(8))


def test_a_parent_is_written_before_distant_leaves() -> None:
    summariser = Gated(1)
    summariser.gate.set()
    grow_tree(*a_document(30), summariser, group_size=2, token_spans=words)
    assert summariser.levels[:7] == [1, 1, 2, 1, 1, 2, 3]


def test_after_a_failure_nothing_is_begun_and_what_is_under_way_ends() -> None:
    class Failing(Recorder):
        concurrency = 2

        def summarise(self, prose: SummaryInput) -> SummaryInput:
            if prose.text.startswith("word0 "):
                raise ModelError("no more")
            time.sleep(0.1)
            return super().summarise(prose)

    summariser = Failing()
    grounds = [TreeInput(*a_document(100)) for _ in range(3)]
    with SummaryTreeBuilder(grounds, summariser, group_size=5, token_spans=words) as forest:
        for number in range(3):
            with pytest.raises(ModelError, match="Summary 0 of level 1 of 'Title': no more"):
                forest.tree(number)
        assert len(summariser.given) <= 1


def test_whoever_leaves_the_forest_pays_for_nothing_more() -> None:
    summariser = Gated(1)
    with SummaryTreeBuilder([TreeInput(*a_document(40))], summariser, group_size=5, token_spans=words):
        assert summariser.arrived.acquire(timeout=10)
    summariser.gate.set()
    assert not summariser.arrived.acquire(timeout=0.2)


def test_what_a_progress_bar_raises_reaches_the_caller() -> None:
    def broken(written: int) -> None:
        raise RuntimeError("no terminal")

    with pytest.raises(RuntimeError, match="no terminal"):
        grow_tree(*a_document(30), Recorder(), group_size=5, token_spans=words, progress=broken)
