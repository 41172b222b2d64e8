"""Communities on the real server: what is written, and what queries see of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from graphs import snapshot
from libraries import (
    MODELS,
    driven,
    performing,
    remove,
    small_document,
    write,
)
from neo4j import Driver

from e2g_neo4j.errors import CorpusNotFoundError, InputError
from e2g_neo4j.graph.writer import delete
from e2g_neo4j.indexing.communities import layer
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read, Write

TWO_GROUPS = [
    small_document("d0", ["ann", "bob"], ["bob", "cid"], ["ann", "cid"]),
    small_document("d1", ["dan", "eve"], ["eve", "fay"], ["dan", "fay"]),
]


@pytest.fixture
def corpora(driver: Driver) -> Iterator[list[str]]:
    """Fill it with the corpora that a test writes: they are removed in the end."""
    written: list[str] = []
    yield written
    remove(driver, written)


def enriched(driver: Driver, corpus: str) -> Any:
    return driven(performing(driver), layer.enrich(MODELS, corpus, None))


def found(driver: Driver, corpus: str) -> dict[str, Any]:
    """The communities of a corpus by their members."""
    records = driver.execute_query(
        "MATCH (c:Community {corpus: $corpus}) RETURN c.title AS title, c.text AS text, c.level AS level, "
        "COLLECT { MATCH (c)<-[:IN_COMMUNITY]-(e) RETURN e.key ORDER BY e.key } AS members, "
        "COLLECT { MATCH (c)-[:QUOTES]->(n) RETURN n.id ORDER BY n.id } AS quotes",
        corpus=corpus,
    ).records
    return {" ".join(record["members"]): (record["title"], record["text"], record["quotes"]) for record in records}


def test_two_groups_of_names_are_two_communities(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    write(driver, corpus, TWO_GROUPS)
    write(driver, other, TWO_GROUPS)
    before = snapshot(driver, other, exact=True)
    report = enriched(driver, corpus)
    assert (report.communities, report.levels, report.made, report.kept) == (2, 1, 2, 0)
    there = found(driver, corpus)
    assert there.keys() == {"ann bob cid", "dan eve fay"}
    title, text, quotes = there["ann bob cid"]
    assert title == "ann, bob, cid"
    assert text == " ".join(TWO_GROUPS[0].text.split())
    assert quotes == ["d0-c0"]
    again = enriched(driver, corpus)
    assert (again.communities, again.made, again.kept) == (2, 0, 2)
    assert snapshot(driver, other, exact=True) == before


def test_a_corpus_without_documents_has_no_communities(driver: Driver, corpus: str) -> None:
    with pytest.raises(CorpusNotFoundError):
        enriched(driver, corpus)


def test_a_deleted_document_leaves_nothing_in_communities(driver: Driver, corpora: list[str], corpus: str) -> None:
    """In the very transaction that hides the document, before anything is made again."""
    corpora.append(corpus)
    write(driver, corpus, TWO_GROUPS)
    enriched(driver, corpus)
    driven(performing(driver), delete(corpus, ["d0"]))
    assert found(driver, corpus).keys() == {"dan eve fay"}
    behind = database.read(driver, "neo4j", Read("doctor/behind", {}))
    assert {"corpus": corpus} in behind
    driven(performing(driver), layer.update(MODELS, corpus))
    assert found(driver, corpus).keys() == {"dan eve fay"}
    assert {"corpus": corpus} not in database.read(driver, "neo4j", Read("doctor/behind", {}))
    driven(performing(driver), delete(corpus, ["d1"]))
    assert snapshot(driver, corpus) == ({}, {})


def test_what_has_not_changed_keeps_its_report(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, TWO_GROUPS)
    enriched(driver, corpus)
    kept = driver.execute_query(
        "MATCH (c:Community {corpus: $corpus})-[:QUOTES]->({id: 'd0-c0'}) RETURN elementId(c) AS id", corpus=corpus
    ).records[0]["id"]
    write(driver, corpus, [small_document("d1", ["dan", "eve"], ["eve", "fay"], ["dan", "fay", "gil"])])
    report = enriched(driver, corpus)
    assert (report.made, report.kept) == (1, 1)
    assert found(driver, corpus).keys() == {"ann bob cid", "dan eve fay gil"}
    assert driver.execute_query("MATCH (c:Community) WHERE elementId(c) = $id RETURN c", id=kept).records


@pytest.mark.parametrize("writes", range(6))
def test_a_change_meanwhile_begins_again(driver: Driver, corpora: list[str], corpus: str, writes: int) -> None:
    """A document is replaced after so many writes of the run. What is left is as if nobody had come between."""
    corpora += [corpus, fresh := f"{corpus}-fresh"]
    write(driver, corpus, TWO_GROUPS)
    perform = performing(driver)
    left = writes

    def interrupted(request: Read | Write) -> Any:
        nonlocal left
        if isinstance(request, Write) and left >= 0:
            left -= 1
            if left < 0:
                write(driver, corpus, [new])
        return perform(request)

    new = small_document("d1", ["dan", "eve"], ["eve", "ann"], ["dan", "ann"])
    driven(interrupted, layer.enrich(MODELS, corpus, None))
    write(driver, corpus, [new])
    driven(perform, layer.update(MODELS, corpus))
    write(driver, fresh, [TWO_GROUPS[0], new])
    enriched(driver, fresh)
    assert snapshot(driver, corpus) == snapshot(driver, fresh)


def test_a_corpus_that_always_changes_is_an_error(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, TWO_GROUPS)
    perform = performing(driver)

    def changing(request: Read | Write) -> Any:
        if isinstance(request, Read) and request.statement == "communities/stored":
            write(driver, corpus, TWO_GROUPS)
        return perform(request)

    with pytest.raises(InputError, match="was changed 5 times while its communities were made"):
        driven(changing, layer.enrich(MODELS, corpus, None))
    assert found(driver, corpus) == {}


@pytest.mark.parametrize("writes", range(1, 5))
def test_an_interrupted_run_shows_nothing_and_is_cleaned_up(
    driver: Driver, corpora: list[str], corpus: str, writes: int
) -> None:
    corpora += [corpus, fresh := f"{corpus}-fresh"]
    write(driver, corpus, TWO_GROUPS)
    operation = layer.enrich(MODELS, corpus, None)
    perform = performing(driver)
    reply: Any = None
    staged = False
    while writes:
        request: Any = operation.send(reply)
        staged = staged or (isinstance(request, Write) and request.statements[0][0] == "communities/stage")
        reply = perform(request)
        writes -= isinstance(request, Write)
    operation.close()
    assert staged or writes == 0
    assert found(driver, corpus) == {}
    enriched(driver, corpus)
    write(driver, fresh, TWO_GROUPS)
    enriched(driver, fresh)
    assert snapshot(driver, corpus) == snapshot(driver, fresh)
