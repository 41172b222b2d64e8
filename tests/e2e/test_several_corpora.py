"""One question to several corpora: what is found in all of them is ranked together, and nothing joins them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from graphs import evidence, unordered
from libraries import MOST_READS, remove
from stated import state

from e2g_neo4j import Answer, AsyncE2G
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import NotFoundError, QueryError
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.testing import check_mode

TEXTS = {
    "ships": "Captain Farran sailed the Cormorant to Lantry. The Cormorant carried coal for the lighthouse.",
    "letters": "Miss Pendry wrote to Doctor Vale about the lighthouse. Doctor Vale answered Miss Pendry from Lantry.",
    "secrets": "Captain Farran told Doctor Vale that the lighthouse was sold, and Miss Pendry heard it.",
}
QUESTIONS = {
    "both": "Who knew the lighthouse?",
    "one": "What did Miss Pendry write to Doctor Vale?",
    "across": "Did Captain Farran meet Doctor Vale?",
}


WORDS = ("auto", "fulltext", "hybrid")
"""Modes that ask how rare words are, which is measured in the whole index: other tests that write meanwhile move scores
of one question by a little between two calls."""


def told(found, mode):
    """The evidence, without the scores where they move."""
    return replace(found, passages=tuple(told_passage(passage, mode) for passage in found.passages))


def told_passage(passage, mode):
    return replace(passage, score=0.0) if mode in WORDS else passage


@pytest.fixture(scope="module")
def names(client, driver):
    """What each text's corpus is called."""
    found = {name: f"several-{name}" for name in TEXTS}
    remove(driver, list(found.values()))
    for name, text in TEXTS.items():
        properties = {"kind": name.removesuffix("s")}
        document = from_text(text, corpus=found[name], source=name, title=name.title(), properties=properties)
        client.index([document], corpus=found[name])
        client.enrich(corpus=found[name])
        state(client, found[name])
    yield found
    remove(driver, list(found.values()))


@pytest.fixture
def two(names):
    return [names["ships"], names["letters"]]


@pytest.mark.parametrize("mode", STRATEGIES)
def test_what_is_found_in_all_is_ranked_together(client, two, names, mode):
    found = check_mode(client, mode, QUESTIONS["both"], corpora=two, where={"kind": "ship"})
    assert found.corpora == tuple(two)
    assert {passage.corpus for passage in found.passages} == set(two), "and none of the third"
    assert all(passage.text in TEXTS[passage.corpus.removeprefix("several-")] for passage in found.passages)
    assert found.round_trips <= MOST_READS.get(mode, 3) * len(two)


@pytest.mark.parametrize("mode", STRATEGIES)
def test_several_of_one_are_as_the_one(client, two, mode):
    question = QUESTIONS["one"]
    several = client.retrieve(question, corpora=two[:1], mode=mode)
    assert evidence(told(several, mode)) == evidence(told(client.retrieve(question, corpus=two[0], mode=mode), mode))


@pytest.mark.parametrize("mode", ["dense", "fulltext", "tree"])
def test_scores_that_compare_merge(client, two, mode):
    each = [passage for one in two for passage in client.retrieve(QUESTIONS["both"], corpus=one, mode=mode).passages]
    found = client.retrieve(QUESTIONS["both"], corpora=two, mode=mode)
    assert unordered(told(found, mode).passages) == unordered(told_passage(passage, mode) for passage in each)
    assert [passage.score for passage in found.passages] == sorted((one.score for one in found.passages), reverse=True)
    first = client.retrieve(QUESTIONS["both"], corpora=two, mode=mode, k=1)
    assert evidence(told(first, mode).passages) == evidence(told(found, mode).passages[:1])


@pytest.mark.parametrize("mode", ["auto", "e2g"])
def test_a_pair_of_one_corpus_decides_for_its_chunks(client, two, mode):
    found = client.retrieve(QUESTIONS["one"], corpora=two, mode=mode)
    assert found.route == "local"
    assert [(pair.a, pair.b) for pair in found.pairs] == [("doctor vale", "miss pendry")]
    assert found.passages[0].corpus == two[1]
    assert [bool(passage.pairs) for passage in found.passages] == [
        passage.corpus == two[1] for passage in found.passages
    ]


@pytest.mark.parametrize("mode", ["auto", "e2g"])
def test_no_pair_joins_two_corpora(client, two, names, mode):
    found = client.retrieve(QUESTIONS["across"], corpora=two, mode=mode)
    assert {"captain farran", "doctor vale"} <= set(found.entities)
    assert (found.route, found.pairs) == ("global", ())
    assert client.retrieve(QUESTIONS["across"], corpora=[*two, names["secrets"]], mode=mode).route == "local"


def test_one_that_is_not_there_is_named(client, two):
    for mode in STRATEGIES:
        with pytest.raises(NotFoundError, match="several-none"):
            client.retrieve(QUESTIONS["both"], corpora=[*two, "several-none"], mode=mode)


@pytest.mark.parametrize("how", [{}, {"corpora": []}, {"corpus": "a", "corpora": ["b"]}, {"corpora": "novels"}])
def test_corpora_are_named_in_one_way(client, how):
    for call in (client.retrieve, client.answer, lambda *question, **how: next(client.stream(*question, **how))):
        with pytest.raises(QueryError, match="Name one corpus"):
            call("Who?", **how)


def test_the_async_client_asks_the_same(client, two):
    async def asked():
        async with AsyncE2G() as e2g:
            streamed = [piece async for piece in e2g.stream(QUESTIONS["one"], corpora=two)]
            answered = await e2g.answer(QUESTIONS["one"], corpora=two)
            assert isinstance(streamed[-1], Answer)
            return await e2g.retrieve(QUESTIONS["one"], corpora=two), answered.evidence, streamed[-1].evidence

    retrieved, answered, streamed = (told(one, "auto") for one in asyncio.run(asked()))
    assert retrieved == told(client.retrieve(QUESTIONS["one"], corpora=two), "auto")
    budget = client.settings.evidence_tokens
    assert answered == streamed == told(client.retrieve(QUESTIONS["one"], corpora=two, tokens=budget), "auto")


def test_the_commands_take_the_option_several_times(two, output):
    several = ["-c", two[0], "--corpus", two[1]]
    assert f"{two[1]}, Letters, characters" in output("query", QUESTIONS["one"], *several)
    assert f"{two[1]}, Letters, characters" in output("ask", QUESTIONS["one"], *several)
    assert two[1] not in output("query", QUESTIONS["both"], "-c", two[0])
    told = json.loads(output("query", QUESTIONS["one"], *several, "--json"))
    assert told["corpora"] == two
    assert told["passages"][0]["corpus"] == two[1]
    explained = output("query", QUESTIONS["one"], *several, "--explain")
    assert f':params {{corpora: ["{two[0]}", "{two[1]}"], ' in explained
