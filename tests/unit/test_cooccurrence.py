"""The entity graph of documents, against a recount over their whole sentences."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import libraries, mentions_of
from naive import NaiveDocument, edges_of

from e2g_neo4j.indexing.cooccurrence import Edges, edges, mentions
from e2g_neo4j.models.entities.extraction import extract
from e2g_neo4j.models.entities.extraction_codec import MOST_ENTITIES
from e2g_neo4j.models.entities.pipeline import load_pipeline
from e2g_neo4j.types.documents import Chunk
from e2g_neo4j.types.graph import Extraction, Sentence
from e2g_neo4j.types.mentions import ChunkMentions, Mention


def rounded(edges: Edges) -> Edges:
    return {pair: (count, round(weight, 9)) for pair, (count, weight) in edges.items()}


def in_one_chunk(*sentences: tuple[str, ...]) -> list[ChunkMentions]:
    """A chunk with sentences of ten characters that mention the given entities."""
    counts = {name: sum(name in names for names in sentences) for names in sentences for name in names}
    spans = tuple(Sentence(10 * i, 10 * i + 9, names) for i, names in enumerate(sentences))
    return of_chunks([Chunk("c", 0, "x" * 10 * len(sentences), 0, 10 * len(sentences), 1)], [Extraction(spans, counts)])


def of_chunks(chunks: list[Chunk], extractions: list[Extraction]) -> list[ChunkMentions]:
    """Each chunk is one window."""
    return mentions(chunks, extractions, [[(0, len(chunk.text))] for chunk in chunks])


# --- properties --------------------------------------------------------------------------------------


@given(libraries())
def test_edges_equal_a_recount_over_whole_documents(library: list[NaiveDocument]) -> None:
    counted = edges(mentions_of(document) for document in library)
    assert rounded(counted) == rounded(edges_of(library))


@given(libraries())
def test_every_sentence_is_the_own_sentence_of_one_chunk(library: list[NaiveDocument]) -> None:
    for document in library:
        owned: list[set[str]] = []
        for chunk in mentions_of(document):
            sentences: dict[int, set[str]] = {}
            for mention in chunk.mentions:
                for number in mention.sentences:
                    sentences.setdefault(number, set()).add(mention.entity)
            owned += [sentences[number] for number in sorted(sentences)]
        told = [{name for name, _ in sentence.occurrences} for sentence in document.sentences]
        assert owned == [names for names in told if names]


@given(libraries())
def test_mentions_count_every_occurrence_in_the_text_of_a_chunk(library: list[NaiveDocument]) -> None:
    for document in library:
        counted = [{mention.entity: mention.count for mention in chunk.mentions} for chunk in mentions_of(document)]
        assert counted == [document.counts(chunk) for chunk in document.chunks]
        assert [chunk.chunk for chunk in mentions_of(document)] == [chunk.id for chunk in document.chunks]


@given(libraries())
def test_a_mention_counts_the_sentences_of_each_window_that_hold_the_entity(library: list[NaiveDocument]) -> None:
    """Sentences in an overlap count in the windows of both chunks."""
    for document in library:
        for chunk, found in zip(document.chunks, mentions_of(document), strict=True):
            told = document.sentences_of(chunk)
            assert {mention.entity: mention.windows for mention in found.mentions} == {
                name: tuple(window.get(name, 0) for window in told) for name in document.counts(chunk)
            }


# --- single cases ------------------------------------------------------------------------------------


def test_weight_is_shared_among_the_entities_of_a_sentence() -> None:
    counted: Any = edges([in_one_chunk(("a", "b"), ("a", "b", "c"), ("c",), ())])
    assert counted == {
        ("a", "b"): (2, pytest.approx(1 / 2 + 1 / 3)),
        ("a", "c"): (1, pytest.approx(1 / 3)),
        ("b", "c"): (1, pytest.approx(1 / 3)),
    }


def test_edges_are_summed_over_chunks_and_documents() -> None:
    one = in_one_chunk(("a", "b"))
    assert edges([one, [*one, *one]]) == {("a", "b"): (3, 1.5)}


def test_a_sentence_in_the_overlap_of_two_chunks_counts_once() -> None:
    # "Ann saw Bob." lies in both chunks, whole; what begins from character 18 on is the second's own.
    chunks = [Chunk("c0", 0, "x" * 30, 0, 30, 1, own=(0, 18)), Chunk("c1", 1, "x" * 30, 15, 45, 1, own=(18, 45))]
    left = Extraction((Sentence(0, 14, ("cid",)), Sentence(15, 27, ("ann", "bob"))), {"cid": 1, "ann": 1, "bob": 1})
    right = Extraction((Sentence(0, 12, ("ann", "bob")), Sentence(13, 30, ("dan",))), {"ann": 1, "bob": 1, "dan": 1})
    first, second = of_chunks(chunks, [left, right])
    assert edges([[first, second]]) == {("ann", "bob"): (1, 0.5)}
    assert Mention("ann", "c1", 1, (), (1,)) in second.mentions, (
        "the occurrence in the second chunk's text still counts"
    )


def test_a_sentence_over_the_border_of_two_windows_belongs_to_that_of_its_middle() -> None:
    chunks = [Chunk("c0", 0, "x" * 30, 100, 130, 1)]
    spans = (Sentence(0, 9, ("ann", "bob")), Sentence(10, 19, ("ann",)), Sentence(20, 30, ("ann",)))
    [found] = mentions(chunks, [Extraction(spans, {"ann": 3, "bob": 1})], [[(0, 14), (14, 25), (25, 30)]])
    assert {mention.entity: mention.windows for mention in found.mentions} == {"ann": (1, 1, 1), "bob": (1, 0, 0)}


def test_a_sentence_that_a_chunk_cuts_off_counts_in_the_next_which_holds_it_whole() -> None:
    chunks = [Chunk("c0", 0, "x" * 30, 0, 30, 1, own=(0, 22)), Chunk("c1", 1, "x" * 30, 20, 50, 1, own=(22, 50))]
    cut = Extraction((Sentence(0, 19, ()), Sentence(22, 30, ("ann", "bob"))), {"ann": 1, "bob": 1})
    whole = Extraction((Sentence(2, 15, ("ann", "bob", "cid")),), {"ann": 1, "bob": 1, "cid": 1})
    third = pytest.approx(1 / 3)
    counted: Any = edges([of_chunks(chunks, [cut, whole])])
    assert counted == {
        ("ann", "bob"): (1, third),
        ("ann", "cid"): (1, third),
        ("bob", "cid"): (1, third),
    }


def test_a_sentence_longer_than_the_overlap_keeps_the_pairs_of_its_beginning() -> None:
    chunks = [Chunk("c0", 0, "x" * 30, 0, 30, 1, own=(0, 26)), Chunk("c1", 1, "x" * 30, 25, 55, 1, own=(26, 55))]
    beginning = Extraction((Sentence(0, 30, ("ann", "bob")),), {"ann": 1, "bob": 1})
    rest = Extraction((Sentence(0, 10, ("bob", "cid")), Sentence(11, 30, ("dan", "eve"))), {"bob": 1})
    rest = Extraction(rest.sentences, {"bob": 1, "cid": 1, "dan": 1, "eve": 1})
    assert edges([of_chunks(chunks, [beginning, rest])]) == {("ann", "bob"): (1, 0.5), ("dan", "eve"): (1, 0.5)}


def test_what_a_chunk_mentions_depends_on_the_chunk_alone() -> None:
    one = Chunk("c1", 1, "x" * 30, 20, 50, 1, own=(22, 40))
    extraction = Extraction((Sentence(0, 9, ("ann",)), Sentence(10, 19, ("bob",))), {"ann": 1, "bob": 1})
    other = Chunk("c0", 0, "x" * 30, 0, 30, 1, own=(0, 22))
    assert of_chunks([other, one], [Extraction((), {}), extraction])[1:] == of_chunks([one], [extraction])


@given(st.integers(1, 3000))
def test_a_list_joins_neighbours_only_and_its_edges_grow_with_its_length(length: int) -> None:
    """Ten thousand words without a full stop have fifty million pairs."""
    names = tuple(f"n{number:05}" for number in range(length))
    counted = edges([in_one_chunk(names)])
    assert len(counted) <= length * (MOST_ENTITIES - 1) / 2
    assert all(int(b[1:]) - int(a[1:]) < MOST_ENTITIES for a, b in counted)
    assert {name for pair in counted for name in pair} >= set(names[: length - length % MOST_ENTITIES])
    weighed = [weight for _, weight in counted.values()]
    assert not weighed or min(weighed) == pytest.approx(1 / min(length, MOST_ENTITIES))


def test_chunks_without_overlap_share_no_sentence() -> None:
    chunks = [Chunk("c0", 0, "x" * 20, 0, 20, 1), Chunk("c1", 1, "x" * 20, 20, 40, 1)]
    both = [
        Extraction((Sentence(0, 20, ("ann", "bob")),), {"ann": 1, "bob": 1}),
        Extraction((Sentence(0, 20, ("ann", "bob")),), {"ann": 1, "bob": 1}),
    ]
    assert edges([of_chunks(chunks, both)]) == {("ann", "bob"): (2, 1.0)}


def test_every_chunk_needs_its_extraction() -> None:
    with pytest.raises(ValueError, match="argument"):
        mentions([Chunk("c0", 0, "x", 0, 1, 1)], [], [[(0, 1)]])


def test_every_chunk_needs_its_windows() -> None:
    with pytest.raises(ValueError, match="argument"):
        mentions([Chunk("c0", 0, "x", 0, 1, 1)], [Extraction((), {})], [])


def test_a_noun_repeated_in_a_sentence_is_not_its_own_neighbour() -> None:
    text = "The dog met another dog near the river, and the dogs drank. A dog barked at the dog."
    extraction = extract(load_pipeline()(text))
    counted = edges([of_chunks([Chunk("c", 0, text, 0, len(text), 20)], [extraction])])
    assert extraction.counts["dog"] >= 4
    assert ("dog", "river") in counted
    assert all(a < b for a, b in counted)


def test_names_with_underscores_stay_apart() -> None:
    # Joined by "_", the first two pairs are one and the same key.
    counted = edges([in_one_chunk(("mina", "harker_x"), ("mina_harker", "x"), ('the "x"', "o'neill"))])
    assert set(counted) == {("harker_x", "mina"), ("mina_harker", "x"), ("o'neill", 'the "x"')}


def test_windows_of_the_random_libraries_overlap_by_a_sentence() -> None:
    """The property above rests on it: a sentence is whole in at least one chunk."""

    @given(libraries())
    def check(library: list[NaiveDocument]) -> None:
        for document in library:
            longest = max(s.end - s.start for s in document.sentences)
            assert all(a.end - b.start >= longest for a, b in pairwise(document.chunks))
            assert (document.chunks[0].start, document.chunks[-1].end) == (0, len(document.text))

    check()
