"""Descriptions of entities on the real server: which sentence is stored, what changes make of it, and cards."""

from __future__ import annotations

from typing import Any

import libraries
import pytest
from graphs import snapshot
from libraries import MODELS, driven, performing, small_document, write
from neo4j import Driver
from stated import Model, Models

from e2g_neo4j.errors import CorpusNotFoundError, NotFoundError
from e2g_neo4j.graph import catalog
from e2g_neo4j.graph.writer import delete
from e2g_neo4j.indexing.communities.layer import COMMUNITIES
from e2g_neo4j.indexing.descriptions import DESCRIPTIONS
from e2g_neo4j.indexing.statements.layer import STATEMENTS
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read

DOCUMENTS = [
    small_document("d0", ["ann", "bob"], ["bob", "cid"], ["cid"]),
    small_document("d1", ["dan", "eve"], ["ann"], ["eve"]),
]


@pytest.fixture(autouse=True)
def no_nouns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "type_of", lambda *_: "place")


def described(driver: Driver, corpus: str) -> dict[str, tuple[str | None, str | None]]:
    records = driver.execute_query(
        "MATCH (e:Entity {corpus: $corpus}) "
        "RETURN e.key AS key, e.description AS description, e.description_chunk AS chunk",
        corpus=corpus,
    ).records
    return {record["key"]: (record["description"], record["chunk"]) for record in records}


def describe(driver: Driver, corpus: str) -> int:
    return driven(performing(driver), DESCRIPTIONS.enrich(MODELS, corpus, None)).made


def behind(driver: Driver) -> list[str]:
    return [row["corpus"] for row in database.read(driver, "neo4j", Read("doctor/behind", {}))]


def test_the_sentence_with_the_fewest_other_names_describes(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    write(driver, corpus, DOCUMENTS)
    write(driver, other, DOCUMENTS)
    before = snapshot(driver, other, exact=True)
    assert describe(driver, corpus) == 5
    assert described(driver, corpus) == {
        "ann": ("So ann.", "d1-c0"),
        "bob": ("So ann bob.", "d0-c0"),
        "cid": ("So cid.", "d0-c0"),
        "dan": ("So dan eve.", "d1-c0"),
        "eve": ("So eve.", "d1-c0"),
    }
    assert describe(driver, corpus) == 0
    assert snapshot(driver, other, exact=True) == before


def test_a_corpus_without_documents_has_no_descriptions(driver: Driver, corpus: str) -> None:
    with pytest.raises(CorpusNotFoundError):
        describe(driver, corpus)


def test_a_description_goes_with_its_chunk_and_comes_from_another(
    driver: Driver, corpora: list[str], corpus: str
) -> None:
    corpora += [corpus, fresh := f"{corpus}-fresh"]
    write(driver, corpus, DOCUMENTS)
    describe(driver, corpus)
    driven(performing(driver), delete(corpus, ["d1"]))
    assert corpus in behind(driver)
    left = {"ann": (None, None), "bob": ("So ann bob.", "d0-c0"), "cid": ("So cid.", "d0-c0")}
    assert described(driver, corpus) == left, "that of ann was deleted"
    driven(performing(driver), DESCRIPTIONS.update(MODELS, corpus))
    assert corpus not in behind(driver)
    write(driver, fresh, DOCUMENTS[:1])
    describe(driver, fresh)
    assert snapshot(driver, corpus) == snapshot(driver, fresh)


def test_common_nouns_have_none(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    describe(driver, corpus)
    driver.execute_query("MATCH (e:Entity {corpus: $corpus, key: 'ann'}) SET e.type = 'noun'", corpus=corpus)
    assert describe(driver, corpus) == 1
    assert described(driver, corpus)["ann"] == (None, None)


def test_statements_describe_before_sentences(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    describe(driver, corpus)
    stating: Any = Models(Model({"": "ann | is | - | Ann winds the clock."}))
    driven(performing(driver), STATEMENTS.enrich(stating, corpus, None, UsageMeter()))
    assert corpus in behind(driver), "descriptions are made from statements"
    driven(performing(driver), DESCRIPTIONS.update(MODELS, corpus))
    assert described(driver, corpus)["ann"][0] == "Ann winds the clock."
    driven(performing(driver), delete(corpus, ["d0"]))
    assert described(driver, corpus)["ann"] == (None, None), "a chunk that states it is gone"
    driven(performing(driver), DESCRIPTIONS.update(MODELS, corpus))
    assert described(driver, corpus)["ann"] == (None, None), "its statements are not up to date"
    driven(performing(driver), STATEMENTS.update(stating, corpus, meter=UsageMeter()))
    driven(performing(driver), DESCRIPTIONS.update(MODELS, corpus))
    assert described(driver, corpus)["ann"][0] == "Ann winds the clock."


def test_a_card_tells_what_the_corpus_has_of_an_entity(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    perform = performing(driver)
    bare = driven(perform, catalog.describe_entity(corpus, "Ann"))
    assert (bare.source, bare.community, bare.linked, bare.entity.description) == (None, None, (), None)
    describe(driver, corpus)
    driven(perform, COMMUNITIES.enrich(MODELS, corpus, None))
    driver.execute_query(
        "MATCH (e:Entity {corpus: $corpus, key: 'ann'}) CREATE (e)-[:REFERS_TO {method: 'exact', score: 1.0, "
        "property: 'called'}]->(:Person {called: 'Ann H.', of: $corpus})",
        corpus=corpus,
    )
    card = driven(perform, catalog.describe_entity(corpus, "ANN"))
    driver.execute_query("MATCH (p:Person {of: $corpus}) DETACH DELETE p", corpus=corpus)
    assert card.entity.description == described(driver, corpus)["ann"][0]
    assert card.source is not None
    assert (card.source.chunk, card.source.document) == ("d1-c0", "d1")
    assert [(one.document, one.mentions) for one in card.documents] == [("d0", 1), ("d1", 1)]
    assert (card.entity.mentions, card.entity.documents) == (2, 2)
    assert [one.key for one in card.neighbours] == ["bob"]
    assert [(one.labels, one.name, one.method) for one in card.linked] == [(("Person",), "Ann H.", "exact")]
    with pytest.raises(NotFoundError, match="e2g entities PART"):
        driven(perform, catalog.describe_entity(corpus, "nobody"))
    with pytest.raises(CorpusNotFoundError):
        driven(perform, catalog.describe_entity(f"{corpus}-none", "ann"))


def test_words_of_descriptions_find_entities_after_names(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    texts = {"ann": "Ann keeps the lamp for Bob.", "eve": "A keeper called Eve."}
    driver.execute_query(
        "UNWIND keys($texts) AS key MATCH (e:Entity {corpus: $corpus, key: key}) SET e.description = $texts[key]",
        corpus=corpus,
        texts=texts,
    )

    def find(words: str) -> list[str]:
        return [one.key for one in driven(performing(driver), catalog.entities(corpus, words, None, 10))]

    assert find("bob") == ["bob", "ann"]
    assert find("LAMP keeps") == ["ann"]
    assert find("lamp keeper") == []
    assert sorted(find("keep")) == ["ann", "eve"]
