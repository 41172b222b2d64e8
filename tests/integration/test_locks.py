"""Whatever writes a corpus waits for the transaction that holds its lock, before it reads or writes anything."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from libraries import documents_of, driven, performing, remove, small_document, stage, written
from neo4j import Driver

from e2g_neo4j.graph.lease import fail
from e2g_neo4j.graph.writer import claim, delete, purge
from e2g_neo4j.indexing import merge_overrides
from e2g_neo4j.indexing.entity_linking import unlink
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read, Rows, Write

HOLD = "MERGE (lock:E2GLock {corpus: $corpus}) DELETE lock"
BLOCKED = """
SHOW TRANSACTIONS YIELD status, currentQuery, parameters
WHERE status STARTS WITH 'Blocked' AND parameters.corpus = $corpus AND currentQuery CONTAINS 'E2GLock'
RETURN count(*) AS n
"""


@pytest.fixture
def corpora(driver: Driver) -> Iterator[tuple[str, str]]:
    both = uuid4().hex, uuid4().hex
    yield both
    remove(driver, both)


def test_every_writer_waits_for_the_lock_of_its_corpus(driver: Driver, corpora: tuple[str, str]) -> None:
    """All requests that write in the life of a corpus, each while another transaction holds the lock."""
    corpus, other = corpora
    plain = performing(driver)
    waited: list[str] = []

    def perform(request: Read | Write) -> Rows:
        if isinstance(request, Read):
            return plain(request)
        with ThreadPoolExecutor(1) as pool:
            with driver.session() as session, session.begin_transaction() as holder:
                holder.run(HOLD, corpus=corpus).consume()
                writer = pool.submit(database.write, driver, "neo4j", request)
                assert_blocked(writer, request)
                holder.rollback()
            waited.extend(name for name, _ in request.statements)
            return writer.result()

    def assert_blocked(writer: Future[Any], request: Write) -> None:
        until = time.monotonic() + 60
        while not driver.execute_query(BLOCKED, corpus=corpus).records[0]["n"]:
            assert not writer.done(), f"{request.statements[0][0]} went on beside another writer"
            assert time.monotonic() < until
            time.sleep(0.02)

    documents = documents_of(corpus, [small_document("d", ["jonathan harker", "ann"], ["mr harker"])])
    for request in claim(corpus, "a run", [one.document for one in documents]):
        perform(request)
    perform(fail(corpus, ["d"], ValueError("Too long.")))
    for request in stage(corpus, "a run", documents):
        perform(request)
    assert driven(perform, written(corpus, "a run", documents))
    assert driven(perform, merge_overrides.split("mr harker", corpus=corpus))
    driver.execute_query("MATCH (e:Entity {corpus: $c}) CREATE (e)-[:REFERS_TO]->(:Page {corpus: $c})", c=corpus)
    assert driven(perform, unlink(corpus, None))
    driven(perform, delete(corpus, ["d"]))
    driven(perform, purge(corpus))
    assert {"index/publish_documents", "index/set_override", "index/delete_documents", "link/delete_links"} <= set(
        waited
    )

    with driver.session() as session, session.begin_transaction() as holder:
        holder.run(HOLD, corpus=corpus).consume()
        for request in claim(
            other, "a run", [one.document for one in documents_of(other, [small_document("d", ["ann"])])]
        ):
            plain(request)  # another corpus has a lock of its own
        holder.rollback()
