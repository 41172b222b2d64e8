"""`neo4j://`: reads go to the readers of a cluster, writes to its leader, and both follow when these change."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from at_server import settings_of
from bolt_cluster import Cluster
from graphs import snapshot
from neo4j import Driver

from e2g_neo4j import E2G, AsyncE2G, Settings
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import UnreachableError
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.runtime import database

pytestmark = pytest.mark.full

TEXT = "Ann met Bob at the harbour. Bob sold the boat of Ann. Cid saw Ann and Bob in Whitby.\n\n" * 40


@pytest.fixture
def cluster(neo4j_connection: Connection) -> Iterator[Cluster]:
    server = urlsplit(neo4j_connection.uri)
    cluster = Cluster(server.hostname or "", server.port or 7687)
    yield cluster
    cluster.close()


@pytest.fixture
def settings(neo4j_connection: Connection, cluster: Cluster) -> Settings:
    return settings_of(neo4j_connection, workers=1).model_copy(update={"neo4j_uri": cluster.uri})


@pytest.fixture
def corpus(corpora: list[str]) -> str:
    corpora.append(name := f"routing-{uuid4().hex[:8]}")
    return name


def test_readers_read_and_the_leader_writes(settings: Settings, cluster: Cluster, corpus: str) -> None:
    leader, *readers = cluster.members
    with E2G(settings=settings) as e2g:
        e2g.index([from_text(TEXT, corpus=corpus, source="harbour.txt")], corpus=corpus)
        assert leader.begun
        assert not any(one.reads for one in leader.begun)
        before = [len(one.begun) for one in readers]
        assert e2g.retrieve("Who sold the boat of Ann?", corpus=corpus).passages
    asked = [one for reader, past in zip(readers, before, strict=True) for one in reader.begun[past:]]
    assert asked
    assert all(one.reads and one.waits_for_bookmarks for one in asked), "each waits until its server has the text"


def test_async_clients_are_routed_too(settings: Settings, cluster: Cluster, corpus: str) -> None:
    leader, *readers = cluster.members

    async def use() -> None:
        async with AsyncE2G(settings=settings) as e2g:
            await e2g.index([from_text(TEXT, corpus=corpus, source="harbour.txt")], corpus=corpus)
            assert (await e2g.retrieve("Who sold the boat of Ann?", corpus=corpus)).passages

    asyncio.run(use())
    assert not any(one.reads for one in leader.begun)
    read = [one for reader in readers for one in reader.begun]
    assert read
    assert all(one.reads for one in read)


def test_an_index_run_follows_each_new_leader(
    settings: Settings, cluster: Cluster, corpus: str, driver: Driver
) -> None:
    """The graph is the same as that of a run without a change."""
    document = from_text(TEXT, corpus=corpus, source="harbour.txt")
    with E2G(settings=settings) as e2g:
        e2g.index([document], corpus=corpus)
        expected = snapshot(driver, corpus)
        e2g.delete([document.id], corpus=corpus)
        cluster.terms = [2, 1, 3, 1]
        e2g.index([document], corpus=corpus)
    assert cluster.terms == []
    assert sum(one.refused for one in cluster.members) >= 4
    assert snapshot(driver, corpus) == expected


def test_reads_go_on_if_readers_close_their_connections(settings: Settings, cluster: Cluster, corpus: str) -> None:
    with E2G(settings=settings) as e2g:
        e2g.index([from_text(TEXT, corpus=corpus, source="harbour.txt")], corpus=corpus)
        found = e2g.retrieve("Who sold the boat of Ann?", corpus=corpus)
        for one in cluster.members[1:]:
            one.left = 1
        again = [e2g.retrieve("Who sold the boat of Ann?", corpus=corpus) for _ in range(3)]
        assert all(one.left is None for one in cluster.members[1:]), "both were closed"
    assert {str(one.passages) for one in again} == {str(found.passages)}


def test_a_cluster_without_readers_is_reported(
    settings: Settings, cluster: Cluster, corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "RETRY_SECONDS", 1.0)
    cluster.close()
    with E2G(settings=settings) as e2g, pytest.raises(UnreachableError, match="NEO4J_URI"):
        e2g.corpora()
