"""The Python clients on the sample library: the same calls, the same answers."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from at_server import settings_of
from graphs import evidence
from langchain_core.language_models import FakeListChatModel
from libraries import remove
from neo4j import AsyncGraphDatabase, GraphDatabase

from e2g_neo4j import E2G, AsyncE2G, Settings, SourceDocument
from e2g_neo4j.cli.setup import QUESTIONS
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import FingerprintError, ModelError
from e2g_neo4j.indexing import pipeline
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read

CORPUS = "cut-sample"


@pytest.fixture(scope="module")
def settings(neo4j_connection) -> Settings:
    return settings_of(neo4j_connection, chunk_tokens=300, chunk_overlap=50)


@pytest.fixture(scope="module")
def e2g(settings, cut_sample):
    with E2G(settings=settings) as e2g:
        yield e2g


def document(corpus: str, text: str, source: str = "memory:1") -> SourceDocument:
    return from_text(text, corpus=corpus, source=source, title="A note")


def test_sync_and_async_give_the_same_evidence(e2g, settings):
    question = QUESTIONS[0]

    async def ask():
        async with AsyncE2G(settings=settings) as same:
            return await same.retrieve(question, corpus=CORPUS, k=4)

    found = e2g.retrieve(question, corpus=CORPUS, k=4)
    assert evidence(asyncio.run(ask())) == evidence(found)
    assert found.passages


@pytest.mark.full
def test_layers_are_up_to_date_though_the_last_document_fails(settings, corpus, driver, monkeypatch):
    complete = pipeline.index

    def failing(*given: Any, **more: Any) -> Any:
        yield from complete(*given, **more)
        raise ModelError("The server is gone.")

    with E2G(settings=settings) as client:
        client.index([document(corpus, "Luke Farran met Theodora Quill.")], corpus=corpus)
        client.enrich(corpus=corpus)
        monkeypatch.setattr(pipeline, "index", failing)
        with pytest.raises(ModelError, match="gone"):
            client.index([document(corpus, "Peter Lisle met Luke Farran.", "memory:2")], corpus=corpus)
        assert len(client.documents(corpus)) == 2
        assert corpus not in [row["corpus"] for row in database.read(driver, "neo4j", Read("doctor/behind", {}))]
        client.delete(corpus=corpus)


@pytest.mark.parametrize("question", [*QUESTIONS, "Which storms did Hester Pendry, Luke Farran and Josiah Quill see?"])
def test_a_question_costs_at_most_three_round_trips(settings, question, e2g, monkeypatch):
    from e2g_neo4j.runtime import database

    reads = []
    read = database.read

    def counted(*arguments):
        reads.append(arguments[-1].statement)
        return read(*arguments)

    monkeypatch.setattr(database, "read", counted)
    found = e2g.retrieve(question, corpus=CORPUS)
    assert found.round_trips == len(reads) <= 3


def test_the_event_loop_stays_free(e2g, settings, corpus):
    async def beats_while_indexing():
        longest = 0.0
        async with AsyncE2G(settings=settings) as client:
            work = asyncio.create_task(
                client.index([document(corpus, "Alice met Bob in Paris. " * 400)], corpus=corpus)
            )
            last = time.perf_counter()
            while not work.done():
                await asyncio.sleep(0.01)
                longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
            return await work, longest

    report, longest = asyncio.run(beats_while_indexing())
    assert report.documents == 1
    assert longest < report.seconds["total"] / 2  # blocked, it would be all of it


def test_borrowed_drivers_are_left_open(e2g, settings, neo4j_connection):
    auth = (neo4j_connection.username, neo4j_connection.password.get_secret_value())
    with GraphDatabase.driver(neo4j_connection.uri, auth=auth) as driver:
        with E2G(driver, settings=settings) as client:
            assert CORPUS in client.corpora()
        driver.verify_connectivity()

    async def borrowed():
        async with AsyncGraphDatabase.driver(neo4j_connection.uri, auth=auth) as driver:
            async with AsyncE2G(driver, settings=settings) as client:
                assert CORPUS in await client.corpora()
            await driver.verify_connectivity()

    asyncio.run(borrowed())


def test_answers_come_from_the_evidence(settings, e2g):
    model = FakeListChatModel(responses=["Theodora Quill made it [1].", " ", " ", " "])
    with E2G(settings=settings, chat_model=model) as client:
        answer = client.answer(QUESTIONS[0], corpus=CORPUS)
        assert answer.text == "Theodora Quill made it [1]."
        assert evidence(answer.evidence) == evidence(
            e2g.retrieve(QUESTIONS[0], corpus=CORPUS, tokens=settings.evidence_tokens)
        )
        with pytest.raises(ModelError, match="no text"):
            client.answer(QUESTIONS[0], corpus=CORPUS)


def test_a_chat_model_writes_the_tree(settings, corpus):
    text = "\n\n".join(f"Alice met Bob in town number {number}. They spoke of the weather." for number in range(60))
    with E2G(settings=settings, chat_model=FakeListChatModel(responses=["A tale of two friends."])) as client:
        report = client.index([document(corpus, text)], corpus=corpus)
        assert report.summaries_by_level
        top = client.retrieve("Why?", corpus=corpus, k=20, mode="tree").passages
    assert "A tale of two friends." in {passage.text for passage in top}


def test_a_corpus_is_asked_with_its_own_pipeline(e2g, settings):
    renamed: Any = Renamed(e2g.models.nlp)
    question = "What did Luke Farran save?"
    with E2G(settings=settings, nlp=renamed) as client:
        assert client.retrieve(question, corpus=CORPUS).passages == e2g.retrieve(question, corpus=CORPUS).passages


def test_a_pipeline_that_is_not_installed_is_named(e2g, driver, corpus):
    e2g.index([document(corpus, "Alice met Bob in Paris.")], corpus=corpus)
    driver.execute_query("MATCH (i:E2GIndex {corpus: $corpus}) SET i.spacy_model = 'en_other-1'", corpus=corpus)
    try:
        with pytest.raises(FingerprintError, match=r"spaCy pipeline en_.*E2G_SPACY_MODEL"):
            e2g.retrieve("Who met Bob?", corpus=corpus)
    finally:
        remove(driver, [corpus])


class Renamed:
    """A pipeline that is another one by name."""

    path = None

    def __init__(self, nlp) -> None:
        self._nlp = nlp
        self.meta = {**nlp.meta, "name": "another"}
        self.pipe_names = nlp.pipe_names

    def __call__(self, text: str):
        return self._nlp(text)
