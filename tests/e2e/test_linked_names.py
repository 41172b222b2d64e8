"""Names of linked nodes are found where the pipeline misses them, in whatever order a corpus is indexed and linked."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from at_server import settings_of
from graphs import Snapshot, comparable
from libraries import performing, remove
from neo4j import Driver

from e2g_neo4j import E2G
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.indexing import merge_overrides, pipeline
from e2g_neo4j.indexing.archive.contents import Format
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.runtime.requests import Write
from e2g_neo4j.types.documents import SourceDocument
from e2g_neo4j.types.reports import LinkReport

TEXTS = {
    "Inn": (
        "The cook gave bread to Silver Wren. All day Silver Wren sat by the fire with Theodora Quill. "
        "Everybody greeted Miss Wren."
    ),
    "Boat": "Then Miss Wren sold the boat to Theodora Quill. Everybody greeted Miss Wren.",
    "Log": "Luke Farran sailed home.",
}
"""The pipeline reads "Silver Wren" as two nouns. Nobody else in the inn is called Wren, so Miss Wren is she."""


@pytest.fixture(scope="module")
def client(neo4j_connection: Connection) -> Iterator[E2G]:
    settings = settings_of(neo4j_connection)
    with E2G(settings=settings) as client:
        yield client


@pytest.fixture
def label(corpus: str, driver: Driver) -> Iterator[str]:
    """The label of two nodes of somebody else's."""
    label = f"Guest{corpus[5:]}"
    nodes = [{"name": "Silver Wren", "born": 1841}, {"name": ["LUKE FARRAN", "Old"], "born": 1849}]
    driver.execute_query("UNWIND $nodes AS row CREATE (n:$($label)) SET n = row", label=label, nodes=nodes)
    yield label
    driver.execute_query("MATCH (n:$($label)) DETACH DELETE n", label=label)


@pytest.fixture
def link(client: E2G, corpus: str, label: str) -> Callable[[], LinkReport]:
    return lambda: client.link(corpus=corpus, label=label, name="name", type="person")


@pytest.fixture
def fresh(client: E2G, corpus: str, driver: Driver) -> Iterator[Callable[..., Snapshot]]:
    """Indexes documents for the first time, into another corpus that has known the same names from the beginning."""
    other = f"{corpus}-fresh"

    def index(*titles: str) -> Snapshot:
        remove(driver, [other])
        driver.execute_query(
            "MATCH (n:E2GLinkedNames {corpus: $corpus}) CREATE (m:E2GLinkedNames) SET m = n {.*, corpus: $other}",
            corpus=corpus,
            other=other,
        )
        client.index(library(other, *titles), corpus=other)
        return comparable(driver, other)

    yield index
    remove(driver, [corpus, other])


def library(corpus: str, *titles: str) -> list[SourceDocument]:
    return [from_text(TEXTS[title], corpus=corpus, source=title, title=title) for title in titles or TEXTS]


def without_links(driver: Driver, corpus: str) -> Snapshot:
    nodes, relationships = comparable(driver, corpus)
    return nodes, {key: held for key, held in relationships.items() if "REFERS_TO" not in key}


def mentioned(client: E2G, corpus: str) -> dict[str, int]:
    return {one.key: one.mentions for one in client.entities(corpus=corpus, limit=100)}


def test_names_are_found_in_a_corpus_that_was_indexed_before(
    client: E2G, corpus: str, label: str, driver: Driver, link: Callable[[], LinkReport], fresh: Callable[..., Snapshot]
) -> None:
    client.index(library(corpus), corpus=corpus)
    assert "silver wren" not in mentioned(client, corpus)
    rehearsed = client.link(corpus=corpus, label=label, name="name", type="person", dry_run=True)
    assert ([one.key for one in rehearsed.links], rehearsed.names) == (["luke farran"], 0)
    report = link()
    assert (report.names, report.documents, report.added, report.removed) == (3, 1, 2, 0)
    assert [(one.key, one.method) for one in report.links] == [("luke farran", "folded"), ("silver wren", "exact")]
    found = mentioned(client, corpus)
    assert (found["silver wren"], found["miss wren"]) == (3, 2)
    assert [(one.key, one.title) for one in client.merges(corpus=corpus)] == [("miss wren", "Inn")]
    assert without_links(driver, corpus) == fresh()
    again = link()
    assert (again.names, again.documents, again.added, again.links) == (3, 0, 0, report.links)
    rows = driver.execute_query("MATCH (n:$($label)) RETURN properties(n) AS held ORDER BY n.born", label=label).records
    assert [row["held"] for row in rows] == [
        {"name": "Silver Wren", "born": 1841},
        {"name": ["LUKE FARRAN", "Old"], "born": 1849},
    ]


def test_names_are_found_in_documents_that_come_and_go_later(
    client: E2G, corpus: str, driver: Driver, link: Callable[[], LinkReport], fresh: Callable[..., Snapshot]
) -> None:
    client.index(library(corpus, "Log"), corpus=corpus)
    assert link().documents == 0
    steps: Sequence[tuple[Callable[[], Any], Sequence[str]]] = (
        (lambda: client.index(library(corpus, "Boat"), corpus=corpus), ["Boat", "Log"]),
        (lambda: client.index(library(corpus, "Inn"), corpus=corpus), ["Inn", "Boat", "Log"]),
        (lambda: client.delete(["Boat"], corpus=corpus), ["Inn", "Log"]),
        (lambda: client.delete(["Log"], corpus=corpus), ["Inn"]),
    )
    for step, titles in steps:
        step()
        assert without_links(driver, corpus) == fresh(*titles)
    client.delete(corpus=corpus)
    assert comparable(driver, corpus) == ({}, {})


def test_a_name_that_a_node_lost_is_found_no_more(
    client: E2G, corpus: str, label: str, driver: Driver, link: Callable[[], LinkReport], fresh: Callable[..., Snapshot]
) -> None:
    client.index(library(corpus), corpus=corpus)
    before = comparable(driver, corpus)
    link()
    driver.execute_query("MATCH (n:$($label) {born: 1841}) SET n.name = 'Nobody Known'", label=label)
    report = link()
    assert (report.documents, report.removed, [one.key for one in report.links]) == (1, 1, ["luke farran"])
    assert without_links(driver, corpus) == fresh()
    assert client.unlink(corpus=corpus) == 1
    assert comparable(driver, corpus) == before


def test_unlinking_removes_what_only_names_of_nodes_have_found(
    client: E2G, corpus: str, label: str, driver: Driver, link: Callable[[], LinkReport], fresh: Callable[..., Snapshot]
) -> None:
    client.index(library(corpus), corpus=corpus)
    before = comparable(driver, corpus)
    link()
    linked = comparable(driver, corpus)
    assert client.unlink(corpus=corpus, label="Somebody") == 0
    assert comparable(driver, corpus) == linked != before
    assert client.unlink(corpus=corpus, label=label) == 2
    assert comparable(driver, corpus) == before == fresh()


def test_the_next_change_completes_what_was_killed(
    client: E2G,
    corpus: str,
    driver: Driver,
    link: Callable[[], LinkReport],
    fresh: Callable[..., Snapshot],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The names are stored, and no document is updated."""
    client.index(library(corpus, "Inn", "Boat"), corpus=corpus)

    def killed(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(merge_overrides, "update_linked_names", killed)
        with pytest.raises(KeyboardInterrupt):
            link()
    assert "silver wren" not in mentioned(client, corpus)
    client.index(library(corpus, "Log"), corpus=corpus)
    assert without_links(driver, corpus) == fresh()


@pytest.mark.parametrize("before", ["publish", "rewrite_mentions"])
def test_names_that_are_learnt_while_a_document_is_written(
    client: E2G,
    corpus: str,
    driver: Driver,
    fresh: Callable[..., Snapshot],
    monkeypatch: pytest.MonkeyPatch,
    before: str,
) -> None:
    """The write finds out, and is made again."""
    module = pipeline if before == "publish" else merge_overrides
    original = getattr(module, before)
    names = {"label": "Guest", "names": ["Silver Wren"], "type": "person", "version": "1", "changed": []}
    done: list[object] = []

    def meanwhile(*arguments: Any, **options: Any) -> Any:
        request = original(*arguments, **options)
        if not done:
            done.append(performing(driver)(Write((("link/set_known_names", {"corpus": corpus, **names}),))))
        return request

    client.index(library(corpus, "Log" if before == "publish" else "Inn"), corpus=corpus)
    with monkeypatch.context() as patch:
        patch.setattr(module, before, meanwhile)
        if before == "publish":
            client.index(library(corpus, "Inn"), corpus=corpus)
        else:
            client.merge("Cook", "Theodora Quill", corpus=corpus)
            assert mentioned(client, corpus)["silver wren"] == 3
            client.join("Cook", corpus=corpus)
    assert done
    assert comparable(driver, corpus) == fresh(*(["Log"] if before == "publish" else []), "Inn")


def test_an_archive_has_what_names_have_found_and_not_the_names(
    client: E2G,
    corpus: str,
    driver: Driver,
    link: Callable[[], LinkReport],
    fresh: Callable[..., Snapshot],
    tmp_path: Path,
) -> None:
    """Whoever may read a corpus may export it, but not read the user's graph."""
    client.index(library(corpus, "Inn"), corpus=corpus)
    link()
    found = mentioned(client, corpus)
    for format in get_args(Format):
        client.export_corpus(tmp_path / format, corpus=corpus, format=format)
    with zipfile.ZipFile(tmp_path / "archive") as archive:
        held = b"".join(map(archive.read, archive.namelist())) + (tmp_path / "graphml").read_bytes()
    assert b"Silver Wren" in held
    assert b"E2GLinkedNames" not in held
    assert b"farran" not in held.lower(), "no text has this name"
    remove(driver, [corpus])
    client.import_corpus(tmp_path / "archive", corpus=corpus)
    assert mentioned(client, corpus) == found
    link()
    client.index(library(corpus, "Boat"), corpus=corpus)
    assert without_links(driver, corpus) == fresh("Inn", "Boat")
