"""Modes within some documents, on the real server, against the naive implementation in a library of these alone."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st
from libraries import chunks_wanted, few_examples, libraries, remove, staging, vectors, write
from naive import AmbiguousError, dense, tree, windows
from neo4j import Driver
from test_modes_real import QUESTIONS, WORDS, assert_first, assert_ranked_by_words, ids, ranked

from e2g_neo4j.retrieval.filters import FilteredDocuments
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import fulltext
from e2g_neo4j.retrieval.strategies.dense import dense as dense_mode
from e2g_neo4j.retrieval.strategies.tree import tree as tree_mode
from e2g_neo4j.runtime import database


@few_examples(8)
@given(st.data())
def test_rankings_equal_those_of_a_library_of_these_documents(driver: Driver, data: Any) -> None:
    """Whether windows are compared or found by the index, beside a corpus with the same ids and staged documents."""
    run = uuid4().hex
    corpus, other = f"{run}-0", f"{run}-1"
    library = data.draw(libraries(WORDS), "library")
    try:
        write(driver, corpus, library)
        write(driver, other, library)
        for one in staging(corpus, data.draw(libraries(WORDS), "staged")):
            database.write(driver, "neo4j", one)
        for _ in range(3):
            chosen = data.draw(st.lists(st.sampled_from(library), unique_by=lambda one: one.id), "documents")
            vector, limit = data.draw(vectors(), "vector"), data.draw(chunks_wanted(), "limit")
            words = data.draw(QUESTIONS, "words")
            for overfetch in (0, 1, 1000):
                documents = {corpus: FilteredDocuments([one.id for one in chosen], overfetch)}
                query = Query(" ".join(words), [corpus], limit, documents=documents)
                with suppress(AmbiguousError):
                    assert ids(ranked(driver, dense_mode(query), vector)) == dense(chosen, vector)[:limit]
                    assert ids(ranked(driver, tree_mode(query), vector)) == tree(chosen, vector, limit)
                every = ranked(driver, fulltext.fulltext(replace(query, limit=1000)), vector)
                assert_ranked_by_words(every, {id: place.text for id, place in windows(chosen).items()}, words)
                assert_first(ranked(driver, fulltext.fulltext(query), vector), every, limit)
    finally:
        remove(driver, [corpus, other])
