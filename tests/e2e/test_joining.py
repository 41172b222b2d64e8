"""Beside and upon a knowledge base of somebody else's, on the current server and on 5.26: nothing of theirs changes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import foreign
import pytest
from at_server import connected, set_variables, settings_of
from langchain_core.language_models import FakeListChatModel
from libraries import MOST_READS
from modes import GRAPH_MODES
from neo4j import Driver
from stated import state
from tiers import few_of

from e2g_neo4j import E2G, Answer, Settings
from e2g_neo4j.errors import DatabaseError, InputError, NotFoundError, QueryError
from e2g_neo4j.managed_neo4j import Connection, LocalServer, config, server
from e2g_neo4j.retrieval.strategies import STRATEGIES

pytestmark = [pytest.mark.timeout(900), pytest.mark.full, pytest.mark.by_turns(2)]

QUESTION = "What did Luke Farran and Theodora Quill do with the chronometer?"
TYPES = ["ACTED_IN", "DIRECTED", "OWNS"]


@dataclass
class Joined:
    """A server with the graph of somebody else's, a client, and the dump before the client first came."""

    connection: Connection
    driver: Driver
    settings: Settings
    client: E2G
    before: dict[str, Any]


@pytest.fixture(
    scope="module", params=["scratch", pytest.param("scratch_5_26", marks=pytest.mark.full)], ids=["current", "5.26"]
)
def place(request: pytest.FixtureRequest) -> Iterator[Joined]:
    yield from joined(request.getfixturevalue(request.param))


def joined(connection: Connection) -> Iterator[Joined]:
    settings = settings_of(connection, chunk_tokens=32, chunk_overlap=4, group_size=2, workers=1)
    with connected(connection) as driver:
        foreign.fill(driver)
        before = foreign.dump(driver)
        model = FakeListChatModel(responses=["Luke Farran played in The Chronometer [9, 1]."])
        with E2G(settings=settings, chat_model=model) as client:
            yield Joined(connection, driver, settings, client, before)


@pytest.fixture(scope="module")
def corpus(place: Joined, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two texts about people whom the graph knows too."""
    folder = tmp_path_factory.mktemp("texts")
    for name, text in foreign.TEXTS.items():
        (folder / name).write_text(text)
    assert place.client.index([folder], corpus="papers").documents == len(foreign.TEXTS)
    place.client.enrich(corpus="papers")
    state(place.client, "papers")
    return "papers"


def unharmed(place: Joined, *, linked: bool = False) -> None:
    now = foreign.dump(place.driver)
    for kind, held in place.before.items():
        if kind != "degrees" or not linked:
            assert now[kind] == held, kind


def ours(place: Joined) -> list[tuple[str, str, str, float]]:
    rows = place.driver.execute_query(
        "MATCH (e:Entity)-[r:REFERS_TO]->(n) RETURN e.key AS key, coalesce(n.name, n.title) AS name, "
        "r.method AS method, r.score AS score, keys(r) AS held ORDER BY key"
    ).records
    assert all(sorted(row["held"]) == ["method", "property", "score"] for row in rows)
    return [(row["key"], row["name"], row["method"], round(row["score"], 2)) for row in rows]


# --- beside ------------------------------------------------------------------------------------------


def test_indexing_and_asking_leave_the_graph_alone(place: Joined, corpus: str) -> None:
    for mode in STRATEGIES:
        found = place.client.retrieve(QUESTION, corpus=corpus, mode=mode, k=4)
        assert found.passages, mode
        assert all(
            passage.text in text for passage in found.passages for text in [whole(passage.source)] if not passage.level
        )
        assert "chunk 1" not in json.dumps([passage.text for passage in found.passages])
    assert found.round_trips <= 3
    unharmed(place)


def whole(source: str) -> str:
    return foreign.TEXTS[Path(source).name]


def test_a_deleted_document_leaves_the_graph_alone(place: Joined, corpus: str, tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("Luke Farran came home. Zyxelia Quorn met him.")
    place.client.index([tmp_path], corpus="passing")
    place.client.delete(corpus="passing")
    unharmed(place)


# --- joined ------------------------------------------------------------------------------------------


@pytest.fixture
def linked(place: Joined, corpus: str) -> Iterator[Any]:
    yield place.client.link(corpus=corpus, label="Person", name="name", aliases="aliases")
    place.client.unlink(corpus=corpus)
    unharmed(place)


def test_entities_refer_to_nodes_by_name_and_other_names(place: Joined, corpus: str, linked: Any) -> None:
    assert ours(place) == [
        ("luke farran", "Luke Farran", "exact", 1.0),
        ("nora vik", "Professor Nora Vik of Uppsala", "alias", 0.9),
        ("otto vinge", "Captain Otto Vinge", "words", 0.67),
        ("theodora quill", "THEODORA QUILL", "folded", 0.95),
        ("walter crail", "Walter Crail", "exact", 1.0),
        ("walter crail", "Walter Crail", "exact", 1.0),
    ]
    assert linked.ambiguous == (), "all nodes of one name are linked"
    assert linked.methods == {"alias": 1, "exact": 3, "words": 1, "folded": 1}
    assert (linked.added, linked.removed, linked.nodes, linked.vectors) == (6, 0, 126, True)
    unharmed(place, linked=True)


def test_a_second_call_and_a_rehearsal_change_nothing(place: Joined, corpus: str, linked: Any) -> None:
    before = ours(place)
    again = place.client.link(corpus=corpus, label="Person", name="name", aliases="aliases")
    assert (again.added, again.removed, again.links) == (0, 0, linked.links)
    rehearsed = place.client.link(corpus=corpus, label="Film", name="title", dry_run=True)
    assert [(one.key, one.node_name) for one in rehearsed.links] == []
    assert ours(place) == before


def test_links_follow_what_changes(place: Joined, corpus: str, linked: Any, tmp_path: Path) -> None:
    """Without the aliases the link that came of one goes. A document that is replaced keeps the links of the entities
    that stay; a deleted one takes those of the entities that go with it."""
    fewer = place.client.link(corpus=corpus, label="Person", name="name")
    assert (fewer.added, fewer.removed) == (0, 1)
    text = tmp_path / "more.txt"
    text.write_text("Ada Abel met Luke Farran. Karl Quist and Nora Vik saw it.")
    place.client.index([text], corpus="passing")
    place.driver.execute_query("CREATE (:Guest {name: 'Nora Vik'}), (:Guest {name: 'Karl Quist'})")
    try:
        assert place.client.link(corpus="passing", label="Guest", name="name").added == 2
        text.write_text("Karl Quist left. Nobody else was there.")
        place.client.index([text], corpus="passing")
        assert place.driver.execute_query(
            "MATCH (e:Entity)-[:REFERS_TO]->(n:Guest) RETURN collect(e.key) AS keys"
        ).records[0]["keys"] == ["karl quist"]
        place.client.delete(corpus="passing")
        left = place.driver.execute_query("MATCH ()-[r:REFERS_TO]->(:Guest) RETURN count(r) AS n").records[0]["n"]
        assert left == 0
    finally:
        place.driver.execute_query("MATCH (n:Guest) DETACH DELETE n")


def test_near_names_refer_by_vectors(place: Joined, corpus: str) -> None:
    place.driver.execute_query("CREATE (:Painter {name: 'Karl Quistt'}), (:Painter {name: 'Somebody Else'})")
    try:
        report = place.client.link(corpus=corpus, label="Painter", name="name")
        assert [(one.key, one.node_name, one.method) for one in report.links] == [
            ("karl quist", "Karl Quistt", "vector")
        ]
        assert 0.9 <= report.links[0].score <= 1
        assert place.client.unlink(corpus=corpus, label="Person") == 0
        assert place.client.unlink(corpus=corpus, label="Painter") == 1
    finally:
        place.driver.execute_query("MATCH (n:Painter) DETACH DELETE n")


@pytest.mark.parametrize("label", ["Nobody", "`Person`) DETACH DELETE n //", "Person|Film", "'"])
def test_labels_and_properties_are_data(place: Joined, corpus: str, label: str) -> None:
    with pytest.raises(InputError):
        place.client.link(corpus=corpus, label=label, name="name")
    with pytest.raises(InputError):
        place.client.link(corpus=corpus, label="Person", name=label)
    assert place.client.unlink(corpus=corpus, label=label) == 0
    with pytest.raises(QueryError, match="no relationships of the type"):
        place.client.retrieve(QUESTION, corpus=corpus, relationship_types=[label])
    unharmed(place)


def test_what_cannot_be_joined_is_refused(place: Joined, corpus: str) -> None:
    with pytest.raises(NotFoundError):
        place.client.link(corpus="none", label="Person", name="name")
    empties: list[dict[str, Any]] = [{"label": ""}, {"name": " "}, {"aliases": ""}]
    for empty in empties:
        with pytest.raises(InputError):
            place.client.link(**{"corpus": corpus, "label": "Person", "name": "name", **empty})
    for types in ([""], ["X"] * 51, ["KNOWS", "REFERS_TO"], ["STANDS_FOR"]):
        with pytest.raises(QueryError):
            place.client.retrieve(QUESTION, corpus=corpus, relationship_types=types)
    with pytest.raises(QueryError):
        place.client.retrieve(QUESTION, corpus=corpus, relationship_types=["X"], mode="dense")


# --- their facts -------------------------------------------------------------------------------------


def test_facts_come_with_the_evidence(place: Joined, corpus: str, linked: Any) -> None:
    assert place.client.retrieve(QUESTION, corpus=corpus).facts == ()
    for mode in sorted(GRAPH_MODES):
        found = place.client.retrieve(QUESTION, corpus=corpus, mode=mode, relationship_types=TYPES)
        assert [fact.to_sentence() for fact in found.facts] == [
            "Luke Farran ACTED_IN The Chronometer (roles: Himself, the mate)",
            "THEODORA QUILL DIRECTED The Chronometer",
            "Luke Farran OWNS Holloway Lines (since: 1870)",
        ], "those that join two of the question's entities come first"
        assert [fact.entities for fact in found.facts] == [("luke farran",), ("theodora quill",), ("luke farran",)]
        assert found.round_trips <= MOST_READS.get(mode, 3) + 1
    assert place.client.retrieve("Who is Walter Crail?", corpus=corpus, relationship_types=TYPES).facts == ()
    with pytest.raises(QueryError, match=r"of the type 'ACTED_INN'\. Did you mean 'ACTED_IN'\?"):
        place.client.retrieve(QUESTION, corpus=corpus, relationship_types=["ACTED_INN"])
    unharmed(place, linked=True)


def test_facts_have_the_names_by_which_nodes_were_linked_and_no_vectors(place: Joined, corpus: str) -> None:
    place.driver.execute_query(
        "CREATE (:Sailor {handle: 'Luke Farran', id: 7})-[:SAILED_WITH {since: 1870, "
        "vector: [i IN range(1, 64) | i / 9.0], small: range(-64, 63)}]->(:Sailor {handle: 'Nobody Else', id: 8}) "
        "CREATE (:Mate {name: 'Nora Vik', handle: 'nv1'})-[:SAILED_WITH]->(:Sailor {handle: 'Otto Vinge', name: '22'})"
    )
    try:
        place.client.link(corpus=corpus, label="Sailor", name="handle")
        found = place.client.retrieve(QUESTION, corpus=corpus, relationship_types=["SAILED_WITH"])
        assert [fact.to_sentence() for fact in found.facts] == ["Luke Farran SAILED_WITH Nobody Else (since: 1870)"]
        place.client.link(corpus=corpus, label="Mate", name="name")
        asked = "Did Nora Vik sail with Otto Vinge?"
        found = place.client.retrieve(asked, corpus=corpus, relationship_types=["SAILED_WITH"])
        assert [fact.to_sentence() for fact in found.facts] == ["Nora Vik SAILED_WITH Otto Vinge"]
    finally:
        place.client.unlink(corpus=corpus, label="Sailor")
        place.client.unlink(corpus=corpus, label="Mate")
        place.driver.execute_query("MATCH (n:Sailor|Mate) DETACH DELETE n")


def test_facts_of_a_hub_are_bounded(place: Joined, corpus: str, linked: Any) -> None:
    place.driver.execute_query(
        "MATCH (p:Person {name: 'Luke Farran'}) UNWIND range(1, 3000) AS n CREATE (p)-[:HAS]->(:Thing {name: n})"
    )
    try:
        found = place.client.retrieve(QUESTION, corpus=corpus, relationship_types=["HAS"])
        assert len(found.facts) == 25
    finally:
        place.driver.execute_query("MATCH (n:Thing) DETACH DELETE n")


def test_an_answer_cites_facts_by_the_ids_of_their_nodes(place: Joined, corpus: str, linked: Any) -> None:
    passages = len(place.client.retrieve(QUESTION, corpus=corpus).passages)
    model = FakeListChatModel(responses=[f"Luke Farran played in The Chronometer [1, {passages + 1}, 99]."])
    with E2G(settings=place.settings, chat_model=model) as client:
        *_, streamed = client.stream(QUESTION, corpus=corpus, relationship_types=TYPES)
        given = client.answer(QUESTION, corpus=corpus, relationship_types=TYPES)
    for answer in (given, streamed):
        assert isinstance(answer, Answer)
        first, fact = answer.citations
        assert (first.number, first.fact) == (1, None)
        assert fact.fact == answer.evidence.facts[0]
        assert answer.dropped == (99,)
        assert fact.passage.source == f"{fact.fact.subject_id} {fact.fact.object_id}"


# --- the command line --------------------------------------------------------------------------------


def test_commands(
    place: Joined, corpus: str, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    set_variables(monkeypatch, place.connection)

    def e2g(*arguments: str, answer: str = "", code: int = 0) -> str:
        monkeypatch.setattr(sys, "stdin", StringIO(answer))
        ended, out, err = run(*arguments)
        assert ended == code, err
        return str(out + (err if answer else ""))

    people = ("link", "--corpus", corpus, "--label", "Person", "--aliases", "aliases")
    assert "Otto Vinge" in e2g(*people, "--dry-run")
    assert ours(place) == []
    told = e2g(*people)
    assert "Linked 5 entities" in told
    assert "to 6 of 126 nodes labelled Person: 6 added" in " ".join(told.split())
    asked = json.loads(e2g("query", QUESTION, "--corpus", corpus, "--relationship-types", "DIRECTED, OWNS", "--json"))
    assert [fact["relationship"] for fact in asked["facts"]] == ["OWNS", "DIRECTED"]
    assert asked["facts"][0]["properties"] == {"since": "1870"}
    assert "THEODORA QUILL DIRECTED The Chronometer" in e2g(
        "query", QUESTION, "-c", corpus, "--relationship-types", "DIRECTED"
    )
    assert {one["state"] for one in json.loads(e2g("doctor", "--json"))} <= {"ok", "note"}
    assert "ok " in e2g("doctor")
    linked = place.client.links(corpus=corpus)
    assert sum(linked.values()) == len(ours(place)) == 6
    assert all("Person" in label.split(":") for label in linked)
    before = e2g("unlink", "--corpus", corpus, answer="n\n", code=1)
    assert f"Remove 6 links of the corpus '{corpus}' (" in before
    assert all(f"{label}: {number}" in before for label, number in linked.items())
    assert len(ours(place)) == 6
    assert "(" not in e2g("unlink", "--corpus", corpus, "--label", "Painter of nothing", answer="n\n")
    assert "Removed 6 links" in e2g("unlink", "--corpus", corpus, answer="y\n")
    assert ours(place) == []
    assert "6 added" in e2g(*people)
    assert json.loads(e2g("unlink", "--corpus", corpus, "--yes", "--json"))["removed"] == 6
    unharmed(place)


# --- doctor ------------------------------------------------------------------------------------------


def findings(place: Joined) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for one in place.client.doctor():
        found.setdefault(one.check, []).append((one.state, one.what))
        assert one.next_step or one.state != "problem"
    return found


def test_doctor_knows_the_server_and_the_neighbours(place: Joined, corpus: str) -> None:
    found = findings(place)
    [(state, what)] = found["server"]
    assert ("5.26" in what) == (state == "note")
    assert "community" in what
    assert found["labels"] == [("note", found["labels"][0][1])]
    assert "40 Chunk" in found["labels"][0][1]
    assert found["schema"][0][0] == found["names"][0][0] == found["models"][0][0] == found["runs"][0][0] == "ok"
    unharmed(place)


def test_doctor_finds_what_gets_in_the_way(place: Joined, corpus: str) -> None:
    place.driver.execute_query("CREATE CONSTRAINT theirs FOR (e:Entity) REQUIRE e.name IS UNIQUE")
    place.driver.execute_query(
        "CREATE VECTOR INDEX theirs_too FOR (c:Chunk) ON c.text "
        "OPTIONS {indexConfig: {`vector.dimensions`: 8, `vector.similarity_function`: 'cosine'}}"
    )
    place.driver.execute_query("DROP INDEX e2g_window_words")
    place.driver.execute_query("CREATE INDEX e2g_window_words FOR (n:Other) ON (n.thing)")
    lock = "CREATE (:__Neo4jMigrationsLock {id: 'x', name: 'John Doe'})"
    place.driver.execute_query(lock)
    try:
        found = findings(place)
        assert [state for state, _ in found["neighbours"]] == ["note", "problem"]
        assert "theirs_too" in found["neighbours"][0][1]
        assert "theirs" in found["neighbours"][1][1]
        assert [(state, "e2g_window_words" in what) for state, what in found["names"]] == [("problem", True)]
        assert [state for state, _ in found["schema"]] == ["ok", "problem"]
    finally:
        place.driver.execute_query("MATCH (n:__Neo4jMigrationsLock) DELETE n")
        for statement in ("CONSTRAINT theirs", "INDEX theirs_too", "INDEX e2g_window_words"):
            place.driver.execute_query(f"DROP {statement}")
        place.client.migrate()
    assert {state for told in findings(place).values() for state, _ in told} <= {"ok", "note"}


def test_doctor_compares_the_models(place: Joined, corpus: str, tmp_path: Path) -> None:
    place.driver.execute_query("MATCH (i:E2GIndex) SET i.spacy_model = 'en_other-1'")
    try:
        [(state, what)] = findings(place)["models"]
        assert state == "problem"
        assert "en_other-1" in what
    finally:
        found = place.client.models.fingerprint
        place.driver.execute_query("MATCH (i:E2GIndex) SET i.spacy_model = $model", model=found.spacy_model)


# --- to read only ------------------------------------------------------------------------------------


@pytest.mark.full
def test_a_database_to_be_read_only_can_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    local = LocalServer(Settings(home=tmp_path, db_heap_mb=384))

    def at(connection: Connection) -> Settings:
        return settings_of(connection, workers=1)

    def read_only(conf: Path, bolt_port: int, http_port: int) -> None:
        config.write_settings(conf, bolt_port, http_port)
        with (conf / "neo4j.conf").open("a", encoding="utf-8") as file:
            file.write("server.databases.read_only=neo4j\n")

    text = tmp_path / "a.txt"
    text.write_text(foreign.TEXTS["harbour.txt"])
    try:
        with E2G(settings=at(local.start())) as client:
            assert [one.state for one in client.doctor() if one.check == "schema"] == ["note"], "nothing is there yet"
            client.index([text], corpus="papers")
            client.enrich(corpus="papers")
            state(client, "papers")
        local.stop()
        monkeypatch.setattr(server, "write_settings", read_only)
        with E2G(settings=at(local.start())) as client:
            for mode in few_of([*STRATEGIES], 8):
                assert client.retrieve(QUESTION, corpus="papers", mode=mode).passages
            [rights] = [one for one in client.doctor() if one.check == "rights"]
            assert (rights.state, "read-only" in rights.what) == ("note", True)
            text.write_text("Something else.")
            with pytest.raises(DatabaseError, match="read-only"):
                client.index([text], corpus="papers")
    finally:
        local.stop()
