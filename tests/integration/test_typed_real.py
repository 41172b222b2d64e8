"""The typed graph on the real server: labels and relationships of statements, through all that these live through."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from graphs import snapshot
from langchain_core.documents import Document
from langchain_neo4j.graphs.graph_document import GraphDocument, Node, Relationship
from libraries import dangling, driven, performing, small_document, write
from neo4j import Driver
from stated import Model, Models

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.graph.writer import delete
from e2g_neo4j.indexing import layers, merge_overrides
from e2g_neo4j.indexing.graph_schema import GraphSchema
from e2g_neo4j.indexing.statements import layer as statements
from e2g_neo4j.indexing.statements.layer import STATEMENTS
from e2g_neo4j.indexing.typed import layer
from e2g_neo4j.indexing.typed.layer import TYPED
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read, Write
from e2g_neo4j.types.reports import LayerReport

DOCUMENTS = [
    small_document("d0", ["ann", "bob"], ["bob", "cid"]),
    small_document("d1", ["dan", "eve"], ["ann", "cid"]),
]
SCHEMA = GraphSchema.read(
    {
        "entities": [{"type": "Person", "aliases": ["character"]}, "Place"],
        "relationships": [
            {"type": "MARRIED_TO", "from": ["Person"], "to": ["Person"], "aliases": ["husband of"]},
            {"type": "LIVES_IN", "from": ["Person"], "to": ["Place"]},
        ],
    }
)


def told(text: str, *said: Sequence[str]) -> GraphDocument:
    """Relationships: subject, its type, predicate, object, its type."""
    related = [
        Relationship(source=Node(id=a, type=kind), target=Node(id=b, type=other), type=predicate)
        for a, kind, predicate, b, other in said
    ]
    return GraphDocument(nodes=[], relationships=related, source=Document(text))


FIRST = told(
    DOCUMENTS[0].text,
    ("ann", "Person", "WAS_MARRIED_TO_IN_1890", "bob", "Person"),
    ("cid", "City", "is home of", "bob", "character"),
)
SECOND = told(
    DOCUMENTS[1].text,
    ("dan", "PERSON", "HUSBAND_OF", "eve", "person"),
    ("cid", "Place", "lives in", "ann", "Person"),
)


def added(driver: Driver, corpus: str, *documents: GraphDocument) -> None:
    models: Any = Models(None)
    driven(performing(driver), statements.add(models, corpus, documents, lambda *_: None))


def made(driver: Driver, corpus: str, schema: GraphSchema | None = None) -> LayerReport:
    models: Any = Models(None)
    return driven(performing(driver), TYPED.enrich(models, corpus, schema=schema))


def updated(driver: Driver, corpus: str, model: Model | None = None) -> None:
    models: Any = Models(model)
    driven(performing(driver), layers.update(models, corpus, meter=UsageMeter()))


def removed(driver: Driver, corpus: str) -> LayerReport:
    models: Any = Models(None)
    return driven(performing(driver), layer.remove(models, corpus))


def relationships(driver: Driver, corpus: str) -> dict[tuple[str, str, str], Mapping[str, Any]]:
    records = driver.execute_query(
        "MATCH (a)-[r {corpus: $corpus}]->(b) WHERE r.statements IS NOT NULL RETURN a.key, type(r), b.key, r {.*}",
        corpus=corpus,
    ).records
    return {(a, type, b): held for a, type, b, held in records}


def labels(driver: Driver, corpus: str) -> dict[str, str]:
    records = driver.execute_query(
        "MATCH (n {corpus: $corpus}) UNWIND labels(n) AS label WITH n, label WHERE label = n.typed_label "
        "RETURN n.key, label",
        corpus=corpus,
    ).records
    return dict(map(tuple, records))


def behind(driver: Driver) -> list[str]:
    return [row["corpus"] for row in database.read(driver, "neo4j", Read("doctor/behind", {}))]


def test_statements_become_relationships_and_labels(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    for one in (corpus, other):
        write(driver, one, DOCUMENTS)
    before = snapshot(driver, other, exact=True)
    added(driver, corpus, FIRST, SECOND)
    report = made(driver, corpus, SCHEMA)
    found = relationships(driver, corpus)
    assert found.keys() == {("ann", "MARRIED_TO", "bob"), ("dan", "MARRIED_TO", "eve"), ("ann", "LIVES_IN", "cid")}
    assert labels(driver, corpus) == {
        **dict.fromkeys(("ann", "bob", "dan", "eve"), "Person"),
        "cid": "Place",
    }
    assert (report.total, report.made, report.labelled, report.outside) == (3, 3, 5, 1)
    married = found["ann", "MARRIED_TO", "bob"]
    [id] = married["statements"]
    assert married == {"corpus": corpus, "statements": [id], "count": 1, "valid_from": "1890"}
    [row] = driver.execute_query("MATCH (s:Statement {id: $id}) RETURN s.predicate AS said", id=id).records
    assert row["said"] == "was married to in 1890"
    assert corpus not in behind(driver)
    assert snapshot(driver, other, exact=True) == before
    again = snapshot(driver, corpus, exact=True)
    assert made(driver, corpus).made == 0, "the corpus has kept its schema"
    assert snapshot(driver, corpus, exact=True) == again


def test_without_a_schema_types_have_the_words_of_the_statements(
    driver: Driver, corpora: list[str], corpus: str
) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    added(driver, corpus, FIRST, told(DOCUMENTS[1].text, ("dan", "work of art", "PART_OF", "eve", "Document")))
    report = made(driver, corpus)
    assert relationships(driver, corpus).keys() == {("ann", "MARRIED_TO", "bob"), ("cid", "HOME_OF", "bob")}
    assert labels(driver, corpus) == {"ann": "Person", "bob": "Character", "cid": "City", "dan": "WorkOfArt"}
    assert report.outside == 1, "PART_OF is a type of this project"
    made(driver, corpus, GraphSchema().with_prefix("E2G_"))
    assert ("dan", "E2G_PART_OF", "eve") in relationships(driver, corpus)
    assert labels(driver, corpus)["eve"] == "E2G_Document"


def test_names_of_others_are_refused(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    added(driver, corpus, FIRST)
    mine = f"Typed{abs(hash(corpus))}"
    schema = GraphSchema.read({"entities": [{"type": mine, "aliases": ["person"]}]})
    for theirs, clear in (
        (f"CREATE (:{mine} {{mine: true}})", f"MATCH (n:{mine}) WHERE n.mine DELETE n"),
        (f"CREATE CONSTRAINT IF NOT EXISTS FOR (n:{mine}) REQUIRE n.name IS UNIQUE", ""),
    ):
        driver.execute_query(theirs)
        before = snapshot(driver, corpus, exact=True)
        with pytest.raises(ConfigurationError, match=f"{mine}.*--prefix E2G_"):
            made(driver, corpus, schema)
        assert snapshot(driver, corpus, exact=True) == before
        if clear:
            driver.execute_query(clear)
    assert made(driver, corpus, schema.with_prefix("E2G_")).labelled == 2
    [rule] = driver.execute_query(
        "SHOW CONSTRAINTS YIELD name, labelsOrTypes WHERE labelsOrTypes = [$mine] RETURN name", mine=mine
    ).records
    driver.execute_query(f"DROP CONSTRAINT {rule['name']}")
    driver.execute_query("CREATE (:Typed1 {mine: true})-[:E2G_MARRIED_TO]->(:Typed1 {mine: true})")
    taken = database.read(driver, "neo4j", Read("typed/taken", {"labels": [], "types": ["E2G_MARRIED_TO", "NONE"]}))
    assert taken[0]["types"] == ["E2G_MARRIED_TO"]
    removed(driver, corpus)
    [row] = driver.execute_query("MATCH (n:Typed1)-[r]->() RETURN count(r) AS theirs").records
    assert row["theirs"] == 1
    driver.execute_query("MATCH (n:Typed1) DETACH DELETE n")


def test_what_is_deleted_is_gone_at_once_and_the_layer_follows(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    added(driver, corpus, FIRST, SECOND)
    made(driver, corpus, SCHEMA)
    driven(performing(driver), delete(corpus, ["d1"]))
    assert relationships(driver, corpus).keys() == {("ann", "MARRIED_TO", "bob")}, "before any update"
    assert "dan" not in labels(driver, corpus)
    assert not dangling(driver, corpus)
    assert corpus in behind(driver)
    updated(driver, corpus)
    assert corpus not in behind(driver)
    assert labels(driver, corpus) == {"ann": "Person", "bob": "Person"}
    added(driver, corpus, told(DOCUMENTS[0].text, ("ann", "Person", "LIVES_IN", "bob", "Place")))
    assert relationships(driver, corpus) == {}
    assert corpus in behind(driver)
    updated(driver, corpus)
    assert relationships(driver, corpus).keys() == {("ann", "LIVES_IN", "bob")}


def test_removing_leaves_nothing(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    added(driver, corpus, FIRST, SECOND)
    before = snapshot(driver, corpus, exact=True)
    made(driver, corpus)
    assert snapshot(driver, corpus, exact=True) != before
    assert removed(driver, corpus).total == 0
    assert snapshot(driver, corpus, exact=True) == before
    updated(driver, corpus)
    assert relationships(driver, corpus) == {}


@pytest.mark.parametrize("text", [(["ann"],), (["ann", "bob"],)])
def test_a_corpus_without_relations(
    driver: Driver, corpora: list[str], corpus: str, text: tuple[list[str], ...]
) -> None:
    corpora.append(corpus)
    write(driver, corpus, [small_document("d0", *text)])
    with pytest.raises(ConfigurationError, match="e2g enrich --with statements,typed"):
        made(driver, corpus)
    added(driver, corpus)
    assert made(driver, corpus, SCHEMA).total == 0
    assert corpus not in behind(driver)


def test_twenty_random_updates_end_like_a_fresh_corpus(driver: Driver, corpora: list[str], corpus: str) -> None:
    """Documents are written, changed and deleted, names split and joined, graph documents added, and the typed graph
    is removed and made."""
    corpora += [corpus, fresh := f"{corpus}-fresh"]
    perform = performing(driver)
    chosen = random.Random(corpus)
    people = ["jonathan harker", "mr harker", "lucy westenra", "cid", "dan", "eve"]
    versions = {
        f"d{number}": [
            small_document(f"d{number}", [people[0]], [people[1]], [a, people[1]], [a, b])
            for a, b in ((people[2], people[3]), (people[4], people[5]))
        ]
        for number in range(4)
    }
    graphs = [
        told(
            one.text,
            (people[0], "Person", "MARRIED_TO", one_of[0], "character"),
            (one_of[1], "Place", "lives in since 1890", people[1], "Person"),
        )
        for of_one in versions.values()
        for one, one_of in zip(of_one, (people[2:4], people[4:6]), strict=True)
    ]
    stored = {"d0": versions["d0"][0]}
    write(driver, corpus, [*stored.values()])
    added(driver, corpus, *graphs)
    made(driver, corpus, SCHEMA)
    apart = False
    for step in range(20):
        match chosen.choice(["write", "write", "delete", "names", "add", "again"]):
            case "write":
                name = chosen.choice(sorted(versions))
                stored[name] = chosen.choice(versions[name])
                write(driver, corpus, [stored[name]])
            case "delete" if len(stored) > 1:
                name = chosen.choice(sorted(stored))
                del stored[name]
                driven(perform, delete(corpus, [name]))
            case "names":
                change = merge_overrides.join if apart else merge_overrides.split
                apart = not apart
                driven(perform, change("mr harker", corpus=corpus))
            case "add":
                added(driver, corpus, *chosen.sample(graphs, 3))
            case "again":
                removed(driver, corpus)
                made(driver, corpus)
        if chosen.random() < 0.7 or step == 19:
            updated(driver, corpus)
    assert corpus not in behind(driver)
    write(driver, fresh, [*stored.values()])
    if apart:
        driven(perform, merge_overrides.split("mr harker", corpus=fresh))
    added(driver, fresh, *graphs)
    made(driver, fresh, SCHEMA)
    assert relationships(driver, fresh)
    assert snapshot(driver, corpus) == snapshot(driver, fresh)


def test_the_extractor_is_told_the_schema(driver: Driver, corpora: list[str], corpus: str) -> None:
    """Replies to another schema are not taken, updates keep to the schema, and what is outside of it is counted."""
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS[:1])
    more = "x | 5 | Person | Person | |"
    model = Model(
        {
            "ann bob": f"ann | MARRIED_TO | bob | Ann married Bob. | {more} in 1890\nbob | robs | cid | No. | {more}",
            "dan eve": f"dan | married | eve | Dan married Eve. | {more}",
        }
    )
    models: Any = Models(model)
    enrich = STATEMENTS.enrich(models, corpus, None, UsageMeter())
    assert driven(performing(driver), enrich).outside == 0, "there is no schema"
    enrich = STATEMENTS.enrich(models, corpus, None, UsageMeter(), schema=SCHEMA)
    report = driven(performing(driver), enrich)
    assert (report.total, report.outside, report.usage.calls) == (2, 1, 1)
    first, second = model.requests
    assert "MARRIED_TO" not in f"{first.system} {first.schema}"
    assert "- MARRIED_TO (Person to Person) = husband of" in second.system
    assert "- Person = character" in second.system
    [fields] = [second.schema["properties"]["statements"]["items"]["properties"]]  # type: ignore[index]
    assert fields["predicate"]["enum"] == ["MARRIED_TO", "LIVES_IN", "is", "related to"]
    assert fields["object_type"]["enum"] == ["Person", "Place", "other", ""]
    made(driver, corpus)
    assert relationships(driver, corpus)["ann", "MARRIED_TO", "bob"]["valid_from"] == "1890"
    write(driver, corpus, DOCUMENTS[1:])
    updated(driver, corpus, model)
    assert "MARRIED_TO" in model.requests[-1].system
    assert ("dan", "MARRIED_TO", "eve") in relationships(driver, corpus)
    assert corpus not in behind(driver)


def test_a_schema_that_changes_meanwhile_is_noticed(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    added(driver, corpus, FIRST)
    made(driver, corpus, SCHEMA)
    perform = performing(driver)
    left = [GraphSchema().with_prefix("E2G_")]

    def beside(request: Any) -> Any:
        if isinstance(request, Write) and request.statements[-1][0] == "typed/publish" and left:
            made(driver, corpus, left.pop())
        return perform(request)

    models: Any = Models(None)
    driven(beside, TYPED.enrich(models, corpus))
    assert ("ann", "E2G_MARRIED_TO", "bob") in relationships(driver, corpus)
    assert ("ann", "MARRIED_TO", "bob") not in relationships(driver, corpus)
