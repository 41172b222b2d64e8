"""Retrieval without the entity graph on the real server, against the naive implementation."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from libraries import REAL_DIMENSIONS, chunks_wanted, few_examples, indexed, libraries, padded, remove, vectors, write
from naive import NaiveDocument, containing, dense, fused, merged, tree
from neo4j import Driver

from e2g_neo4j import baselines, database
from e2g_neo4j.evidence import Ranked, passages
from e2g_neo4j.queries import Embed, Story
from e2g_neo4j.writing import stage

WORDS = ("harker", "mina", "lantern", "zebu")
"""Names that the index's stemmer leaves alone, and whose pieces it does not take for them."""

QUESTIONS = st.lists(st.sampled_from((*WORDS, "nobody")), min_size=1, max_size=3, unique=True)


def ranked(driver: Driver, story: Story[list[Ranked]], vector: list[float]) -> list[Ranked]:
    reply: Any = None
    while True:
        try:
            request = story.send(reply)
        except StopIteration as end:
            found: list[Ranked] = end.value
            return found
        if isinstance(request, Embed):
            reply = padded([vector], REAL_DIMENSIONS)[0].tolist()
        else:
            reply = database.read(driver, "neo4j", request)  # type: ignore[arg-type]


def ids(found: list[Ranked]) -> list[str]:
    return [node.row["id"] for node in found]


def assert_best_first(found: list[Ranked]) -> None:
    scores = [node.score for node in found]
    assert scores == sorted(scores, reverse=True)


def assert_passages(found: list[Ranked], library: list[NaiveDocument]) -> None:
    told = [(p.document, p.level, p.start, p.end, p.text, list(p.nodes)) for p in passages(found)]
    assert told == [
        (f"Title of {p.document}", p.level, p.start, p.end, p.text, p.nodes) for p in merged(library, ids(found), {})
    ]


@few_examples(15)
@given(st.data())
def test_every_mode_equals_the_naive_implementation_in_every_corpus(driver: Driver, data: Any) -> None:
    """Three corpora side by side, with the same ids of documents and chunks, each asked in all modes."""
    run = uuid4().hex
    written = {f"{run}-{number}": data.draw(libraries(WORDS), f"library {number}") for number in range(3)}
    try:
        for corpus, library in written.items():
            write(driver, corpus, library)
        for _ in range(3):
            vector, k = data.draw(vectors(), "vector"), data.draw(chunks_wanted(), "k")
            words = data.draw(QUESTIONS, "words")
            question = " ".join(words) + "?"
            for corpus, library in written.items():
                nearest, nodes, by_words, both = (
                    ranked(driver, mode(question, corpus=corpus, k=k), vector)
                    for mode in (baselines.dense, baselines.tree, baselines.fulltext, baselines.hybrid)
                )
                every = ranked(driver, baselines.fulltext(question, corpus=corpus, k=1000), vector)
                assert ids(nearest) == dense(library, vector, k)
                assert ids(nodes) == tree(library, vector, k)
                assert_ranked_by_words(every, library, words)
                assert ids(by_words) == ids(every)[:k]
                assert ids(both) == fused(dense(library, vector, 50), ids(every)[:50])[:k]
                for found in (nearest, nodes, by_words, both):
                    assert_best_first(found)
                    assert_passages(found, library)
    finally:
        remove(driver, list(written))


def assert_ranked_by_words(found: list[Ranked], library: list[NaiveDocument], words: list[str]) -> None:
    """Exactly the chunks that hold a word; and one that has each word as often, in no more text, comes no later.

    More cannot be said without the index's own statistics, which count every corpus of the server.
    """
    expected = containing(library, words)
    assert set(ids(found)) == expected.keys()
    scores = {node.row["id"]: node.score for node in found}
    for better, (counts, length) in expected.items():
        for worse, (fewer, longer) in expected.items():
            if length <= longer and all(counts.get(word, 0) >= number for word, number in fewer.items()):
                assert scores[better] >= scores[worse] * (1 - 1e-6)


@few_examples(8)
@given(libraries(WORDS), libraries(WORDS), vectors())
def test_staged_documents_are_invisible_to_every_mode(
    driver: Driver, old: list[NaiveDocument], new: list[NaiveDocument], vector: list[float]
) -> None:
    """After every transaction of a stage each mode still finds the old versions, and nothing but them."""
    corpus = uuid4().hex

    def found() -> list[list[tuple[str, str]]]:
        return [
            [
                (node.row["id"], node.row["text"])
                for node in ranked(driver, mode(" ".join(WORDS), corpus=corpus, k=100), vector)
            ]
            for mode in (baselines.dense, baselines.tree, baselines.fulltext, baselines.hybrid)
        ]

    try:
        write(driver, corpus, old)
        before = found()
        assert before[0]
        for request in stage(corpus, [indexed(one, corpus, dimensions=REAL_DIMENSIONS) for one in new]):
            database.write(driver, "neo4j", request)
            assert found() == before
    finally:
        remove(driver, [corpus])


@pytest.mark.parametrize("mode", [baselines.fulltext, baselines.hybrid])
def test_a_question_of_signs_alone_is_no_error(driver: Driver, mode: Any) -> None:
    corpus = uuid4().hex
    assert ranked(driver, mode('?! "\\ AND (', corpus=corpus, k=3), [1.0]) == []
