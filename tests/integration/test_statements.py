"""What reads sends to Neo4j: the text of our files and nothing else, on sessions that the server lets write nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from at_server import settings_of
from langchain_core.language_models import FakeListChatModel
from libraries import service_life
from neo4j import READ_ACCESS, AsyncGraphDatabase, Driver
from recording import Sent, files, recorded

from e2g_neo4j import E2G, Settings
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import DatabaseError, E2GError
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read

TEXT = "Alice Harper met Bob Miller in Paris. Miller sold her `a {letter}` for $corpus. " * 9


def settings(connection: Connection) -> Settings:
    return settings_of(connection, chunk_tokens=64, chunk_overlap=8, group_size=2, workers=1)


# --- reads -------------------------------------------------------------------------------------------

READS: dict[str, Callable[[E2G, str], Any]] = {
    "retrieve": lambda client, corpus: [client.retrieve("Alice?", corpus=corpus, mode=m) for m in STRATEGIES],
    "paths": lambda client, corpus: client.paths(client.retrieve("Alice?", corpus=corpus)),
    "answer": lambda client, corpus: client.answer("Alice?", corpus=corpus),
    "stream": lambda client, corpus: list(client.stream("Alice?", corpus=corpus)),
    "plan": lambda client, corpus: client.index(
        [from_text(TEXT, corpus=corpus, source="z")], corpus=corpus, dry_run=True
    ),
    "corpora": lambda client, corpus: client.corpora(),
    "documents": lambda client, corpus: client.documents(corpus),
    "stats": lambda client, corpus: client.stats(corpus),
    "entities": lambda client, corpus: client.entities(corpus=corpus),
    "describe_entity": lambda client, corpus: client.describe_entity("alice", corpus=corpus),
    "merges": lambda client, corpus: client.merges(corpus=corpus),
    "doctor": lambda client, corpus: client.doctor(),
    "facts": lambda client, corpus: client.retrieve("Alice?", corpus=corpus, relationship_types=["CO_OCCURS"]),
}


@pytest.fixture(scope="module")
def asked(neo4j_connection: Connection) -> Iterator[tuple[E2G, str]]:
    corpus = f"statements-{uuid4().hex[:8]}"
    model = FakeListChatModel(responses=["Yes. [1]"])
    with E2G(settings=settings(neo4j_connection), chat_model=model) as client:
        client.index([from_text("Alice met Bob.", corpus=corpus, source="x")], corpus=corpus)
        client.enrich(corpus=corpus)
        client.enrich(corpus=corpus, layers=["statements"])
        yield client, corpus
        client.delete(corpus=corpus)


def test_every_statement_is_that_of_a_file_byte_for_byte(asked: tuple[E2G, str], tmp_path: Path) -> None:
    """Also where texts, names and corpora look like Cypher. Reads have the read mode, see below."""
    client, _ = asked
    corpus = f"{uuid4().hex} MATCH n"
    with recorded() as sent:
        texts = [from_text(text, corpus=corpus, source=text[:1]) for text in (TEXT, "$k")]
        client.index(texts, corpus=corpus)
        client.enrich(corpus=corpus)
        client.split("Miller", corpus=corpus)
        client.join("Miller", corpus=corpus)
        client.delete([texts[1].id], corpus=corpus)
        client.export_corpus(tmp_path / "x.zip", corpus=corpus)
        client.delete(corpus=corpus)
        client.import_corpus(tmp_path / "x.zip")
        client.delete(corpus=corpus)
        service_life(client.runner.run)
    assert len(set(sent.statements)) > 60
    assert_are_files(sent)


@pytest.mark.parametrize("name", READS)
def test_what_only_reads_opens_sessions_to_read(asked: tuple[E2G, str], name: str) -> None:
    with recorded() as sent:
        READS[name](*asked)
    assert sent.statements
    assert set(sent.modes) == {READ_ACCESS}
    assert_are_files(sent)


def assert_are_files(sent: Sent) -> None:
    assert set(sent.statements) <= files()


async def test_the_server_refuses_a_write_on_a_read(
    driver: Driver, neo4j_connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = f"Marker{uuid4().hex}"
    monkeypatch.setattr(database, "load", lambda *_: f"CREATE (n:{marker}) RETURN n.x AS x")
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
    monkeypatch.setattr(database, "load", lambda *_: endless)
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
