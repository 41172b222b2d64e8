"""Clusters on the real server: what is written, what queries see of it, and mode `raptor`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from at_server import migrated
from graphs import snapshot
from libraries import (
    DIMENSIONS,
    MODELS,
    REAL_DIMENSIONS,
    dangling,
    driven,
    padded,
    performing,
    remove,
    small_document,
    staging,
    text_of,
    write,
)
from naive import NaiveChunk, NaiveDocument, NaiveWindow
from neo4j import Driver

from e2g_neo4j.errors import CorpusNotFoundError
from e2g_neo4j.graph.writer import delete
from e2g_neo4j.indexing.clusters.layer import CLUSTERS
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.retrieval.filters import FilteredDocuments
from e2g_neo4j.retrieval.passages import ScoredNode
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies.tree import raptor
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read

FAR = [0, 1]
"""The axes near which the vectors of two groups are."""


def document(id: str, axis: int, chunks: int = 6) -> NaiveDocument:
    """A document whose chunks have vectors near an axis, with a sentence each."""
    random = np.random.default_rng(axis)
    text, found = text_of([[f"{id} {number}"] for number in range(chunks)], ["\n\n"] * chunks)
    rows = np.eye(DIMENSIONS)[axis] + random.normal(0, 0.01, (chunks, DIMENSIONS))
    starts = [*(one.start for one in found), len(text)]
    written = []
    for number, row in enumerate(rows.tolist()):
        vector, start, end = tuple(row), starts[number], starts[number + 1]
        windows = (NaiveWindow(start, end, vector),)
        written.append(NaiveChunk(f"{id}-c{number}", number, start, end, vector, windows))
    return NaiveDocument(id, text, found, tuple(written), ())


TWO_GROUPS = [document(f"d{axis}", axis) for axis in FAR]


def enriched(driver: Driver, corpus: str) -> Any:
    return driven(performing(driver), CLUSTERS.enrich(MODELS, corpus, None))


def found(driver: Driver, corpus: str) -> set[tuple[int, tuple[str, ...], str, str]]:
    """Level, chunks below, document and text of the clusters of a corpus."""
    records = driver.execute_query(
        "MATCH (c:Cluster {corpus: $corpus}) RETURN c.level AS level, c.document AS document, c.text AS text, "
        "COLLECT { MATCH (c)<-[:IN_CLUSTER*1..5]-(n:Chunk) RETURN DISTINCT n.id ORDER BY n.id } AS chunks",
        corpus=corpus,
    ).records
    return {(one["level"], tuple(one["chunks"]), one["document"], one["text"]) for one in records}


def ask(driver: Driver, corpora: list[str], vector: list[float], limit: int = 100) -> list[ScoredNode]:
    return driven(performing(driver), raptor(Query("Who?", corpora, limit)), vector)


def behind(driver: Driver) -> list[str]:
    return [row["corpus"] for row in database.read(driver, "neo4j", Read("doctor/behind", {}))]


def test_two_far_groups_are_two_clusters_below_another(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    write(driver, corpus, TWO_GROUPS)
    write(driver, other, TWO_GROUPS)
    before = snapshot(driver, other, exact=True)
    report = enriched(driver, corpus)
    assert (report.total, report.levels, report.made) == (3, 2, 3)
    first, second = (tuple(f"d{axis}-c{number}" for number in range(6)) for axis in FAR)
    assert {(level, chunks, source) for level, chunks, source, _ in found(driver, corpus)} == {
        (1, first, "d0"),
        (1, second, "d1"),
        (2, first + second, "d0"),
    }
    texts = {chunks: text for _, chunks, _, text in found(driver, corpus)}
    assert texts[first] == " ".join(f"So d0 {number}." for number in range(6))
    again = enriched(driver, corpus)
    assert (again.total, again.made) == (3, 0)
    assert snapshot(driver, other, exact=True) == before
    [row] = database.read(driver, "neo4j", Read("query/stats", {"corpus": corpus}))
    assert row["clusters"] == 3


def test_a_corpus_without_documents_has_no_clusters(driver: Driver, corpora: list[str], corpus: str) -> None:
    with pytest.raises(CorpusNotFoundError):
        enriched(driver, corpus)
    corpora.append(corpus)
    write(driver, corpus, [small_document("d0", ["ann"])])
    assert enriched(driver, corpus).total == 0, "a summary of one chunk would repeat it"


def test_chunks_and_clusters_are_ranked_together(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    write(driver, corpus, TWO_GROUPS)
    write(driver, other, [document(f"other {axis}", axis) for axis in FAR])
    enriched(driver, corpus)
    enriched(driver, other)
    nodes = ask(driver, [corpus], [1.0])
    assert {node.row["corpus"] for node in nodes} == {corpus}
    assert len(nodes) == 12 + 3
    assert [node.row["level"] for node in nodes[:6]] == [0] * 6
    assert {node.row["id"] for node in nodes[:6]} == {f"d0-c{number}" for number in range(6)}
    summaries = {node.row["level"]: node.row for node in nodes if node.row["level"]}
    assert summaries[2]["path"] == []
    assert nodes[0].row["path"] == [summaries_of(nodes, "d0"), summaries[2]["id"]]
    assert (summaries[2]["document_id"], summaries[2]["start"]) == ("d0", 0)
    embedding = driver.execute_query(
        "MATCH (c:Cluster {corpus: $corpus, level: 2}) RETURN c.embedding AS vector", corpus=corpus
    ).records[0]["vector"]
    assert [node.row["id"] for node in ask(driver, [corpus], embedding, 1)] == [summaries[2]["id"]]
    assert len(ask(driver, [corpus, other], [1.0])) == 30
    write(driver, other, TWO_GROUPS)
    texts = {node.row["text"] for node in ask(driver, [corpus, other], [1.0], 26)}
    assert len(texts) == 26, "copies of the other corpus take up no places"


def summaries_of(nodes: list[ScoredNode], document: str) -> str:
    [id] = [one.row["id"] for one in nodes if one.row["level"] == 1 and one.row["document_id"] == document]
    return str(id)


def test_a_deleted_document_leaves_nothing_in_clusters(driver: Driver, corpora: list[str], corpus: str) -> None:
    """In the very transaction that hides the document, on all levels, before anything is made again."""
    corpora += [corpus, fresh := f"{corpus}-fresh"]
    write(driver, corpus, [*TWO_GROUPS, document("d2", 2, 9)])
    driven(performing(driver), CLUSTERS.update(MODELS, corpus))
    assert found(driver, corpus) == set(), "nobody has asked for them"
    enriched(driver, corpus)
    kept = {one for one in found(driver, corpus) if one[0] == 1 and one[2] == "d1"}
    assert len(kept) == 1
    driven(performing(driver), delete(corpus, ["d0"]))
    assert not any(name.startswith("d0") for _, chunks, _, _ in found(driver, corpus) for name in chunks)
    assert {node.row["document_id"] for node in ask(driver, [corpus], [1.0])} == {"d1", "d2"}
    assert kept < found(driver, corpus)
    assert corpus in behind(driver)
    driven(performing(driver), CLUSTERS.update(MODELS, corpus))
    assert corpus not in behind(driver)
    assert kept < found(driver, corpus)
    write(driver, fresh, [TWO_GROUPS[1], document("d2", 2, 9)])
    enriched(driver, fresh)
    assert snapshot(driver, corpus) == snapshot(driver, fresh)
    driven(performing(driver), delete(corpus, ["d1", "d2"]))
    assert snapshot(driver, corpus) == ({}, {})


def test_a_text_that_changes_under_the_same_members_is_summarised_again(
    driver: Driver, corpora: list[str], corpus: str
) -> None:
    """A text node of an adopted corpus changes without its chunk. The cluster above is written again too."""
    corpora.append(corpus)
    write(driver, corpus, TWO_GROUPS)
    enriched(driver, corpus)
    before = found(driver, corpus)
    driver.execute_query(
        "MATCH (c:Chunk {corpus: $corpus, id: 'd0-c0'}) SET c.text = 'Ed d0 0.' WITH c "
        "MATCH (r:Corpus {corpus: $corpus}) SET r.revision = r.revision + 1",
        corpus=corpus,
    )
    driven(performing(driver), CLUSTERS.update(MODELS, corpus))
    after = found(driver, corpus)
    assert {one[:3] for one in after} == {one[:3] for one in before}
    assert sum("Ed d0 0." in text for *_, text in after) >= 1
    assert not dangling(driver, corpus)


@pytest.fixture(scope="module")
def driver_5_26(scratch_5_26: Connection) -> Iterator[Driver]:
    with migrated(scratch_5_26) as driver:
        yield driver


def test_5_26_ranks_the_same(driver_5_26: Driver, driver: Driver, corpora: list[str], corpus: str) -> None:
    """One index knows corpora, the other does not: there, corpora that have few of the nearest nodes are compared."""
    corpora += [corpus, other := f"{corpus}-other"]
    servers = (driver, driver_5_26)
    for server in servers:
        write(server, corpus, TWO_GROUPS)
        write(server, other, [document("d0", 0, 30)])
        enriched(server, corpus)
        enriched(server, other)
    vector = padded([[0.3, 1.0]], REAL_DIMENSIONS)[0].tolist()
    for limit in (3, 100):
        new, old = (ask(server, [corpus], vector, limit) for server in servers)
        assert [node.row["id"] for node in new] == [node.row["id"] for node in old]
        assert [node.score for node in new] == pytest.approx([node.score for node in old], abs=1e-4)
        assert [node.row["path"] for node in new] == [node.row["path"] for node in old]


# --- within some documents ---------------------------------------------------------------------------


def placed(id: str, *cosines: float) -> NaiveDocument:
    """A document whose chunks have these cosines with the first axis."""
    text, found = text_of([[f"{id} {number}"] for number in range(len(cosines))], [" "] * len(cosines))
    starts = [*(one.start for one in found), len(text)]
    chunks = []
    for number, cosine in enumerate(cosines):
        vector, start, end = (cosine, (1 - cosine**2) ** 0.5), starts[number], starts[number + 1]
        chunks.append(NaiveChunk(f"{id}-c{number}", number, start, end, vector, (NaiveWindow(start, end, vector),)))
    return NaiveDocument(id, text, found, tuple(chunks), ())


def cluster(driver: Driver, corpus: str, id: str, cosine: float, chunks: int, *members: str) -> None:
    driver.execute_query(
        "CREATE (c:Cluster {corpus: $corpus, id: $id, level: size($id), text: 'Of ' + $id, document: 'd0', start: 0, "
        "end: 1, chunks: $chunks}) WITH c CALL db.create.setNodeVectorProperty(c, 'embedding', $vector) "
        "WITH c MATCH (n:Chunk|Cluster {corpus: $corpus}) WHERE n.id IN $members CREATE (n)-[:IN_CLUSTER]->(c)",
        corpus=corpus,
        id=id,
        chunks=chunks,
        members=members,
        vector=padded([[cosine, (1 - cosine**2) ** 0.5]], REAL_DIMENSIONS)[0].tolist(),
    )


def check_filtered(driver: Driver, corpus: str) -> None:
    """Cluster a has the chunks of d0 alone; b and ab have one of d3 too, which is nearest."""
    write(driver, corpus, [placed("d0", 0.9, 0.1), placed("d1", 0.3), placed("d2", 0.5), placed("d3", 0.95)])
    cluster(driver, corpus, "a", 0.6, 2, "d0-c0", "d0-c1")
    cluster(driver, corpus, "b", 0.99, 3, "d1-c0", "d2-c0", "d3-c0")
    cluster(driver, corpus, "ab", 0.98, 5, "a", "b")
    driver.execute_query(
        "MATCH (c:Chunk {corpus: $corpus, id: 'd1-c0'}), (near:Chunk {corpus: $corpus, id: 'd0-c0'}) "
        "CREATE (c)-[:IN_CLUSTER]->(s:StagedCluster {corpus: $corpus, chunks: 3})<-[:IN_CLUSTER]-(near)",
        corpus=corpus,
    )
    for request in staging(corpus, [placed("d1", 0.99), placed("d4", 0.99)]):
        database.write(driver, "neo4j", request)

    def found(*documents: str, limit: int = 100) -> list[tuple[str, float]]:
        query = Query("Who?", [corpus], limit, documents={corpus: FilteredDocuments(documents)})
        nodes = driven(performing(driver), raptor(query), [1.0])
        assert {node.row["document_id"] for node in nodes} <= set(documents)
        assert not any("d3" in node.row["text"] or "Of b" in node.row["text"] for node in nodes)
        return [(node.row["id"], round(node.score, 3)) for node in nodes]

    # The mean of d0-c0, d0-c1, d1 and d2 in ab is .725, that of d1 and d2 in b is .7.
    nearest = [("d0-c0", 0.95), ("a", 0.8), ("d2-c0", 0.75)]
    assert found("d0", "d1", "d2", "d4") == [*nearest, ("d0-c1", 0.725), ("d1-c0", 0.725)]
    assert found("d0", "d1", "d2", "d4", limit=4) == [*nearest, ("d0-c1", 0.725)]
    assert found("d1", "d2") == [("d2-c0", 0.75), ("d1-c0", 0.7)]
    assert found("d1") == [("d1-c0", 0.65)]
    assert found("d4") == []


def test_clusters_count_by_the_chunks_of_the_filtered_documents(
    driver: Driver, corpora: list[str], corpus: str
) -> None:
    corpora.append(corpus)
    check_filtered(driver, corpus)


def test_5_26_filters_the_same(driver_5_26: Driver, corpus: str) -> None:
    check_filtered(driver_5_26, corpus)
    remove(driver_5_26, [corpus])
