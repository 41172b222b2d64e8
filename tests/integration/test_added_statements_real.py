"""Graph documents that are added, on the real server: they live through all that statements live through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from graphs import cached_replies, snapshot
from langchain_core.documents import Document
from langchain_neo4j.graphs.graph_document import GraphDocument, Node, Relationship
from libraries import driven, performing, small_document, write
from neo4j import Driver
from stated import MODEL, Model, Models

from e2g_neo4j.errors import ConfigurationError, InputError
from e2g_neo4j.graph.writer import delete
from e2g_neo4j.indexing import merge_overrides
from e2g_neo4j.indexing.statements import layer
from e2g_neo4j.indexing.statements.layer import STATEMENTS
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read
from e2g_neo4j.types.reports import GraphDocumentReport, LayerReport

DOCUMENTS = [
    small_document("d0", ["ann", "bob"], ["bob", "cid"]),
    small_document("d1", ["dan", "eve"], ["ann", "cid"]),
]
FIRST, SECOND = (one.text for one in DOCUMENTS)


def told(text: str, *said: tuple[str, str, str], **metadata: object) -> GraphDocument:
    return GraphDocument(
        nodes=[],
        relationships=[Relationship(source=Node(id=a), target=Node(id=b), type=kind) for a, kind, b in said],
        source=Document(text, metadata=metadata),
    )


KNOWS = told(FIRST, ("ann", "KNOWS", "old bob"), ("cid", "KNOWS", "nobody"), ("nobody", "KNOWS", "ann"))
MEETS = told(SECOND, ("dan", "MEETS", "eve"))


def added(driver: Driver, corpus: str, *documents: GraphDocument, model: Model | None = None) -> GraphDocumentReport:
    models: Any = Models(model)
    return driven(performing(driver), layer.add(models, corpus, documents, lambda *_: None))


def enriched(driver: Driver, corpus: str, model: Model | None) -> LayerReport:
    models: Any = Models(model)
    return driven(performing(driver), STATEMENTS.enrich(models, corpus, None, UsageMeter()))


def updated(driver: Driver, corpus: str, model: Model | None = None) -> None:
    models: Any = Models(model)
    driven(performing(driver), STATEMENTS.update(models, corpus, meter=UsageMeter()))


def stated(driver: Driver, corpus: str) -> list[tuple[str, str, str, str | None]]:
    records = driver.execute_query(
        "MATCH (s:Statement {corpus: $corpus})-[:STATED_IN]->(c:Chunk), (s)-[:SUBJECT]->(a:Entity) "
        "RETURN c.id, a.key, s.predicate, [(s)-[:OBJECT]->(b:Entity) | b.key][0] ORDER BY c.id, a.key, s.predicate",
        corpus=corpus,
    ).records
    return [tuple(record) for record in records]


def behind(driver: Driver) -> list[str]:
    return [row["corpus"] for row in database.read(driver, "neo4j", Read("doctor/behind", {}))]


FOUND = [("d0-c0", "ann", "knows", "bob"), ("d0-c0", "cid", "knows", None), ("d1-c0", "dan", "meets", "eve")]


def test_what_others_found_becomes_statements(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    for one in (corpus, other):
        write(driver, one, DOCUMENTS)
    before = snapshot(driver, other, exact=True)
    elsewhere = told("Nobody has ever written these words down.", ("ann", "KNOWS", "bob"), ("ann", "KNOWS", "cid"))
    report = added(driver, corpus, KNOWS, MEETS, elsewhere, told("", ("ann", "_", "bob")))
    assert stated(driver, corpus) == FOUND
    assert report == GraphDocumentReport(
        graph_documents=4, added=3, not_found=2, invalid=1, unmatched=1, without_object=1, statements=3
    )
    assert corpus not in behind(driver)
    assert snapshot(driver, other, exact=True) == before
    [row] = database.read(driver, "neo4j", Read("query/stats", {"corpus": corpus}))
    assert row["statements"] == 3
    assert added(driver, corpus, MEETS).statements == 3, "what was added before stays"
    added(driver, corpus, told(FIRST, ("bob", "KNOWS", "ann")))
    assert stated(driver, corpus)[0] == ("d0-c0", "bob", "knows", "ann"), "of the same text it is replaced"
    assert len(stated(driver, corpus)) == 2


def test_another_corpus_with_the_same_text_has_no_such_statements(
    driver: Driver, corpora: list[str], corpus: str
) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    for one in (corpus, other):
        write(driver, one, DOCUMENTS)
    added(driver, corpus, KNOWS)
    added(driver, other, MEETS)
    assert stated(driver, other) == FOUND[2:]
    driven(performing(driver), delete(corpus, ["d0", "d1"]))
    assert snapshot(driver, corpus) == ({}, {})
    assert added(driver, other).statements == 1
    driven(performing(driver), delete(other, ["d0", "d1"]))
    assert not cached_replies(driver, MODEL, corpora=[corpus, other])


def test_other_names_find_the_entity(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    dan = Node(id="person 7", properties={"aliases": ["nobody", "dan"]})
    meets = Relationship(source=dan, target=Node(id="e", properties={"name": "eve"}), type="MEETS")
    report = added(driver, corpus, GraphDocument(nodes=[], relationships=[meets], source=Document(SECOND)))
    assert (report.added, report.unmatched) == (1, 0)
    assert stated(driver, corpus) == FOUND[2:]


def test_a_source_may_name_a_chunk(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    assert added(driver, corpus, told("What else it may say.", ("dan", "MEETS", "eve"), id="d1-c0")).added == 1
    assert stated(driver, corpus) == FOUND[2:]


@pytest.mark.parametrize("first", [0, 1])
def test_any_history_ends_like_a_fresh_corpus(driver: Driver, corpora: list[str], corpus: str, first: int) -> None:
    """Texts may be added before they are indexed; deleted ones come back with their statements."""
    corpora += [corpus, fresh := f"{corpus}-fresh"]
    perform = performing(driver)
    write(driver, corpus, DOCUMENTS[first : first + 1])
    assert added(driver, corpus, KNOWS, MEETS).not_found == (3, 1)[1 - first]
    write(driver, corpus, DOCUMENTS)
    updated(driver, corpus)
    assert stated(driver, corpus) == FOUND
    changed = small_document("d1", ["dan", "eve", "fay"], ["ann", "cid"])
    write(driver, corpus, [changed])
    assert corpus in behind(driver)
    updated(driver, corpus)
    assert corpus not in behind(driver)
    assert stated(driver, corpus) == FOUND[:2]
    driven(perform, delete(corpus, ["d0"]))
    updated(driver, corpus)
    assert stated(driver, corpus) == []
    write(driver, corpus, DOCUMENTS)
    updated(driver, corpus)
    write(driver, fresh, DOCUMENTS)
    added(driver, fresh, MEETS, KNOWS)
    assert snapshot(driver, corpus) == snapshot(driver, fresh)


def test_subjects_follow_split_and_joined_names(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    people = small_document("d0", ["jonathan harker"], ["mr harker"], ["lucy westenra", "mr harker"])
    write(driver, corpus, [people])
    added(driver, corpus, told(people.text, ("Mr Harker", "WRITES_TO", "Lucy Westenra")))
    perform = performing(driver)
    joined = snapshot(driver, corpus)
    assert stated(driver, corpus) == [("d0-c0", "jonathan harker", "writes to", "lucy westenra")]
    driven(perform, merge_overrides.split("mr harker", corpus=corpus))
    updated(driver, corpus)
    assert stated(driver, corpus) == [("d0-c0", "mr harker", "writes to", "lucy westenra")]
    driven(perform, merge_overrides.join("mr harker", corpus=corpus))
    updated(driver, corpus)
    assert snapshot(driver, corpus) == joined


def test_a_chat_model_is_asked_about_the_other_text_alone(driver: Driver, corpora: list[str], corpus: str) -> None:
    """Before it is asked by `enrich`, not at all; and whatever came first, the statements are the same."""
    corpora += [corpus, later := f"{corpus}-later"]
    replies: dict[str, str | list[str]] = {
        "ann bob": "ann | greets | bob | Hello.",
        "dan eve": "dan | greets | eve | Hello.",
        "fay": "fay | greets | gil | Hello.",
    }
    model = Model(replies)
    write(driver, corpus, DOCUMENTS)
    added(driver, corpus, KNOWS, model=model)
    write(driver, corpus, [DOCUMENTS[1], small_document("d2", ["fay", "gil"])])
    updated(driver, corpus, model)
    assert not model.requests
    assert corpus not in behind(driver)
    models: Any = Models(model)
    assert driven(performing(driver), layer.plan(models, corpus)).usage.calls == 2
    report = enriched(driver, corpus, model)
    assert (report.usage.calls, report.usage.remembered, report.total, report.unmatched) == (2, 0, 4, 1)
    assert len(model.requests) == 2
    assert {row[2] for row in stated(driver, corpus) if row[0] == "d0-c0"} == {"knows"}
    write(driver, later, [*DOCUMENTS, small_document("d2", ["fay", "gil"])])
    enriched(driver, later, model)
    assert len(model.requests) == 5, "about each of its texts: replies serve their own corpus alone"
    added(driver, later, KNOWS)
    assert snapshot(driver, later) == snapshot(driver, corpus)
    with pytest.raises(ConfigurationError, match="E2G_CHAT_MODEL"):
        enriched(driver, corpus, None)


def test_what_is_added_while_a_chat_model_reads_is_not_lost(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    added(driver, corpus, KNOWS)
    perform = performing(driver)
    others = [MEETS]

    def beside(request: Any) -> Any:
        if isinstance(request, Read) and request.statement == "statements/aliases" and others:
            added(driver, corpus, others.pop())
        return perform(request)

    models: Any = Models(Model({"dan eve": "dan | greets | eve | Hello."}))
    driven(beside, STATEMENTS.enrich(models, corpus, None, UsageMeter()))
    assert stated(driver, corpus) == FOUND
    assert corpus not in behind(driver)


def test_without_a_chat_model_enrich_makes_what_was_added(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS)
    with pytest.raises(ConfigurationError, match="E2G_CHAT_MODEL"):
        enriched(driver, corpus, None)
    added(driver, corpus, KNOWS, MEETS)
    write(driver, corpus, [small_document("d1", ["dan", "eve"])])
    assert corpus in behind(driver)
    report = enriched(driver, corpus, None)
    assert (report.total, report.unreadable, report.usage.calls) == (2, 0, 0)
    models: Any = Models(None)
    assert driven(performing(driver), layer.plan(models, corpus)) == LayerReport()
    assert corpus not in behind(driver)


def test_new_text_that_no_chat_model_has_read_is_not_passed_over(
    driver: Driver, corpora: list[str], corpus: str
) -> None:
    corpora.append(corpus)
    write(driver, corpus, DOCUMENTS[:1])
    enriched(driver, corpus, model := Model({"ann bob": "ann | greets | bob | Hello."}))
    write(driver, corpus, DOCUMENTS[1:])
    with pytest.raises(InputError, match="e2g enrich --with statements"):
        added(driver, corpus, KNOWS)
    assert corpus in behind(driver)
    updated(driver, corpus, model)
    assert stated(driver, corpus) == FOUND[:2]


def test_adding_in_batches(driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    corpora.append(corpus)
    names: Sequence[str] = [f"n{number}" for number in range(7)]
    documents = [small_document(f"d{number}", [name, "ann"]) for number, name in enumerate(names)]
    monkeypatch.setattr(layer, "ROWS", 2)
    monkeypatch.setattr("e2g_neo4j.indexing.statements.added.TEXTS_READ", 3)
    write(driver, corpus, documents)
    graph = [told(one.text, (name, "KNOWS", "ann")) for one, name in zip(documents, names, strict=True)]
    assert added(driver, corpus, *graph).added == 7
    assert [row[1] for row in stated(driver, corpus)] == names
