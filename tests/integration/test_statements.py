"""What is sent to Neo4j: the text of our files and nothing else, and reads that the server lets write nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args
from uuid import uuid4

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_neo4j.graphs.graph_document import GraphDocument
from libraries import service_life
from neo4j import READ_ACCESS, AsyncGraphDatabase, Driver, GraphDatabase
from recording import Sent, files, recorded

from e2g_neo4j import E2G, AsyncE2G, Settings
from e2g_neo4j.errors import DatabaseError, E2GError, InputError, QueryError
from e2g_neo4j.evaluation import Question, evaluate
from e2g_neo4j.graph import catalog, schema
from e2g_neo4j.indexing.sources.files import from_text
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.retrieval.options import LLM_MODES, Mode
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.bookmarks import as_text
from e2g_neo4j.runtime.requests import Read
from e2g_neo4j.runtime.statements import folder
from e2g_neo4j.service.connections import connect

DIMENSIONS = 384
TEXT = "Alice Harper met Bob Miller in Paris. Miller sold her `a {letter}` for $corpus. " * 9

NOT_SENT = {
    **{f"explore/{path.name}": "is for Browser" for path in folder("cypher").glob("explore/*.cypher")},
    "interop/retrieval_query.cypher": "is for retrievers of other frameworks",
    "archive/discard.cypher": "wants an import that fails",
    "archive/take_over.cypher": "wants an import that was killed",
    "adopt/set_text_nodes.cypher": "wants a text node that was made anew",
}


TEMPLATES: dict[str, dict[str, Any]] = {
    "chunks_with_both": {"first": "Alice Harper", "second": "Bob Miller", "limit": 9},
    "documents_about": {"entity": "Alice Harper", "limit": 9},
    "entities_of_type": {"type": "person", "limit": 9},
    "first_and_last_mention": {"entity": "Alice Harper", "limit": 9},
    "neighbours_of": {"entity": "Alice Harper", "limit": 9},
}


def settings(connection: Connection) -> Settings:
    return Settings(
        neo4j_uri=connection.uri,
        neo4j_username=connection.username,
        neo4j_password=connection.password,
        chunk_tokens=64,
        chunk_overlap=8,
        group_size=2,
        workers=1,
    )


def life(client: Any, corpus: str, folder: Path, bookmark: str) -> Iterator[Any]:
    """All that a client can do, one after the other."""
    whole, changed = (from_text(TEXT + end, corpus=corpus, source="x") for end in ("", "It rained."))
    yield client.wait_for(bookmark)
    yield client.bookmark()
    yield client.migrate()
    yield client.migrate(accept_pipeline=True)
    yield client.migrations()
    yield client.validate()
    yield client.plan([whole], corpus=corpus)
    yield client.index([whole], corpus=corpus)
    yield client.index([changed], corpus=corpus)
    yield client.index([replace(changed, properties={"year": 1900})], corpus=corpus)
    yield client.retrieve("Who met?", corpus=corpus, mode="lightrag", where={"year": 1900})
    yield client.enrich(corpus=corpus)
    yield client.enrich(corpus=corpus)
    yield client.enrich(corpus=corpus, layers=["statements"])
    yield client.add_graph_documents([GraphDocument(nodes=[], relationships=[], source=Document(TEXT))], corpus=corpus)
    for mode in get_args(Mode):
        yield client.retrieve("Did Alice Harper meet Bob Miller?", corpus=corpus, mode=mode)
    yield client.retrieve("Did Alice Harper meet Bob Miller?", corpus=corpus, mode="fulltext", unit="chunk")
    yield client.index([replace(changed, properties={"year": 1900})], corpus=corpus)
    for mode in get_args(Mode):
        yield client.retrieve("Did Alice Harper meet Bob Miller?", corpus=corpus, mode=mode, where={"year": 1900})
    yield client.retrieve("Who met?", corpus=corpus, mode="fulltext", unit="chunk", where={"year": 1900})
    yield client.retrieve("Who?", corpus=corpus, mode="e2g", where={"year": 1900})
    for name, parameters in TEMPLATES.items():
        yield client.run_template(name, parameters, corpus=corpus)
    for mode in sorted(LLM_MODES):
        yield client.retrieve("Did Alice Harper meet Bob Miller?", corpus=corpus, mode=mode, llm=True)
    yield client.answer("Did Alice Harper meet Bob Miller?", corpus=corpus)
    yield client.corpora()
    yield client.documents(corpus)
    yield client.status(corpus)
    yield client.stats(corpus)
    yield client.resume(corpus=corpus)
    yield client.entities(corpus=corpus)
    yield client.merges(corpus=corpus)
    yield client.split("Miller", corpus=corpus)
    yield client.join("Miller", corpus=corpus)
    yield client.doctor()
    yield client.link(corpus=corpus, label="Person", name="name")
    yield client.retrieve("Did Alice Harper meet Bob Miller?", corpus=corpus, through=["KNOWS"])
    yield client.links(corpus=corpus)
    yield client.unlink(corpus=corpus)
    yield client.adopt(corpus=f"{corpus}-adopted", label="Page", properties=["id"])
    yield client.retrieve("Did Alice Harper meet Bob Miller?", corpus=f"{corpus}-adopted")
    yield client.unadopt(corpus=f"{corpus}-adopted")
    yield client.export_corpus(folder / f"{corpus}.zip", corpus=corpus)
    yield client.export_corpus(folder / f"{corpus}.graphml", corpus=corpus, format="graphml")
    yield client.delete(["x"], corpus=corpus)
    yield client.import_corpus(folder / f"{corpus}.zip")
    yield client.delete(corpus=corpus)


@pytest.fixture(scope="module")
def sent(scratch: Connection, tmp_path_factory: pytest.TempPathFactory) -> Sent:
    """What is sent from a server's first minute on, by both clients, an evaluation, and an error on the way."""
    folder = tmp_path_factory.mktemp("statements")
    connection = scratch
    with GraphDatabase.driver(
        connection.uri, auth=(connection.username, connection.password.get_secret_value())
    ) as theirs:
        theirs.execute_query("CREATE (:Person {name: 'Alice Harper'})-[:KNOWS]->(:Person {name: 'Bob Miller'})")
        theirs.execute_query("CREATE (:Page {id: 1, text: $text})", text=TEXT)
        bookmark = as_text(theirs.execute_query_bookmark_manager.get_bookmarks())
    reply = "Alice Harper | met | Bob Miller | Alice met Bob in Paris, and bought a letter of him. [1]"
    model = FakeListChatModel(responses=[reply])

    async def asynchronously() -> None:
        async with AsyncE2G(settings=settings(connection), chat_model=model) as client:
            for step in life(client, "async", folder, bookmark):
                await step

    keywords = FakeListChatModel(responses=['{"high_level": ["letters"], "low_level": ["Alice Harper"]}'])
    writing = settings(connection).model_copy(update={"text_to_cypher": True})
    with recorded() as sent:
        with E2G(settings=writing, chat_model=model) as client:
            client.index([from_text(TEXT, corpus="alone", source="x")], corpus="alone")
            with pytest.raises(InputError):  # the reply is no statement that only reads
                client.text_to_cypher("Whom did Alice meet?", corpus="alone")
            with pytest.raises(QueryError, match="has a property 'year'"):
                client.retrieve("Whom did Alice meet?", corpus="alone", where={"year": 1900})
        with E2G(settings=settings(connection), chat_model=keywords) as client:
            client.retrieve("Did Alice Harper meet Bob Miller?", corpus="alone", mode="lightrag", llm=True)
            client.delete(corpus="alone")
        with E2G(settings=settings(connection), chat_model=model) as client:
            for _ in life(client, "sync", folder, bookmark):
                pass
            service_life(client.runner.run)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("e2g_neo4j.indexing.pipeline.packed", lambda *arguments: None)  # as earlier versions
                client.index([from_text(TEXT, corpus="evaluated", source="x")], corpus="evaluated")
            client.enrich(corpus="evaluated")
            client.enrich(corpus="evaluated", layers=["statements"])
            client.index([from_text(TEXT, corpus="copy", source="x")], corpus="copy")
            client.enrich(corpus="copy", layers=["statements"])  # the replies are those of another corpus
            client.runner.run(connect("evaluated", "Alice Harper", "Bob Miller", 3))
            [document] = client.documents("evaluated")
            client.runner.run(catalog.text("evaluated", document.id))
            question = Question("1", "Did Alice Harper meet Bob Miller?", documents=("x",))
            evaluate(client, [question], corpus="evaluated", modes=["e2g"])
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("e2g_neo4j.indexing.run.embed_long", broken)
                with pytest.raises(MemoryError):
                    client.index([from_text("Carol.", corpus="evaluated", source="y")], corpus="evaluated")
        asyncio.run(asynchronously())
    return sent


def broken(*arguments: object) -> None:
    raise MemoryError("The model broke down.")


@pytest.mark.timeout(600)
def test_every_statement_is_that_of_a_file_byte_for_byte(sent: Sent) -> None:
    names = {text: name for name, text in files("cypher", DIMENSIONS).items()}
    migrations = {part for text in files("migrations", DIMENSIONS).values() for part in schema.split(text)}
    for statement in sent.statements:
        assert statement.removeprefix("EXPLAIN ") in names or statement in migrations
    seen = set(sent.statements)
    assert {name for text, name in names.items() if text not in seen} == NOT_SENT.keys()
    assert migrations <= seen


# --- reads -------------------------------------------------------------------------------------------

READS: dict[str, Callable[[E2G, str], Any]] = {
    "retrieve": lambda client, corpus: [client.retrieve("Alice?", corpus=corpus, mode=m) for m in get_args(Mode)],
    "paths": lambda client, corpus: client.paths(client.retrieve("Alice?", corpus=corpus)),
    "answer": lambda client, corpus: client.answer("Alice?", corpus=corpus),
    "stream": lambda client, corpus: list(client.stream("Alice?", corpus=corpus)),
    "plan": lambda client, corpus: client.plan([from_text(TEXT, corpus=corpus, source="z")], corpus=corpus),
    "corpora": lambda client, corpus: client.corpora(),
    "documents": lambda client, corpus: client.documents(corpus),
    "status": lambda client, corpus: client.status(corpus),
    "stats": lambda client, corpus: client.stats(corpus),
    "entities": lambda client, corpus: client.entities(corpus=corpus),
    "merges": lambda client, corpus: client.merges(corpus=corpus),
    "doctor": lambda client, corpus: client.doctor(),
    "through": lambda client, corpus: client.retrieve("Alice?", corpus=corpus, through=["KNOWS"]),
}


@pytest.fixture(scope="module")
def asked(neo4j_connection: Connection) -> Iterator[tuple[E2G, str]]:
    corpus = f"statements-{uuid4().hex[:8]}"
    model = FakeListChatModel(responses=["Yes. [1]"])
    with E2G(settings=settings(neo4j_connection), chat_model=model) as client:
        client.index([from_text("Alice met Bob.", corpus=corpus, source="x")], corpus=corpus)
        client.enrich(corpus=corpus)
        client.enrich(corpus=corpus)
        client.enrich(corpus=corpus, layers=["statements"])
        yield client, corpus
        client.delete(corpus=corpus)


@pytest.mark.parametrize("name", READS)
def test_what_only_reads_opens_sessions_to_read(asked: tuple[E2G, str], name: str) -> None:
    with recorded() as sent:
        READS[name](*asked)
    assert sent.statements
    assert set(sent.modes) == {READ_ACCESS}


async def test_the_server_refuses_a_write_on_a_read(
    driver: Driver, neo4j_connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = f"Marker{uuid4().hex}"
    monkeypatch.setattr(database, "load", lambda name: f"CREATE (n:{marker}) RETURN n.x AS x")
    with pytest.raises(DatabaseError, match="read"):
        database.read(driver, "neo4j", Read("any", {}))
    auth = (neo4j_connection.username, neo4j_connection.password.get_secret_value())
    async with AsyncGraphDatabase.driver(neo4j_connection.uri, auth=auth) as asynchronous:
        with pytest.raises(DatabaseError, match="read"):
            await database.read_async(asynchronous, "neo4j", Read("any", {}))
    assert driver.execute_query(f"MATCH (n:{marker}) RETURN count(n) AS n").records[0]["n"] == 0


async def test_a_read_that_takes_too_long_is_ended(
    driver: Driver, neo4j_connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b WITH a WHERE a < 0 RETURN count(a) AS n"
    monkeypatch.setattr(database, "load", lambda name: endless)
    monkeypatch.setattr(database, "READ_SECONDS", 0.5)
    began = time.monotonic()
    with pytest.raises(E2GError, match="stopped the query"):
        database.read(driver, "neo4j", Read("any", {}))
    auth = (neo4j_connection.username, neo4j_connection.password.get_secret_value())
    async with AsyncGraphDatabase.driver(neo4j_connection.uri, auth=auth) as asynchronous:
        with pytest.raises(E2GError, match="stopped the query"):
            await database.read_async(asynchronous, "neo4j", Read("any", {}))
    assert time.monotonic() - began < 250, "it was not waited for"
    running = driver.execute_query("SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery = $it RETURN 1", it=endless)
    assert running.records == []
