"""Statements of users and chat models on the real server: they only read, within bounds, and stay within a corpus."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from at_server import migrated, settings_of
from libraries import remove, small_document, staging, write
from neo4j import Driver

from e2g_neo4j import E2G, AsyncE2G, Settings
from e2g_neo4j.answering import text_to_cypher
from e2g_neo4j.answering.cypher_expressions import UnreadableStatement
from e2g_neo4j.answering.cypher_parser import Walled, check_plan, check_words, wall_in
from e2g_neo4j.answering.text_to_cypher import run_for
from e2g_neo4j.errors import CorpusNotFoundError, DatabaseError, InputError, NotFoundError
from e2g_neo4j.graph import read_only
from e2g_neo4j.graph.read_only import RejectedStatementError, Rows, open_read, run_read_only
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.retrieval.templates import BUNDLED, templates
from e2g_neo4j.runtime import database

DOCUMENTS = [
    small_document("d0", ["ann", "bob"], ["bob", "cid"]),
    small_document("d1", ["dan", "eve"], ["ann", "cid"], ["ann"]),
]


def run(driver: Driver, statement: str, limit: int = 10, **parameters: Any) -> Rows:
    return run_read_only(statement, parameters, limit, where="It")(driver, "neo4j")


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("RETURN 1.5 AS v", 1.5),
        ("RETURN 1.0 / 0.0 AS v", "inf"),
        ("RETURN [null, true, 'x'] AS v", [None, True, "x"]),
        ("RETURN date('2020-02-01') AS v", "2020-02-01"),
        ("RETURN duration('P1D') AS v", "P1D"),
        ("RETURN [n IN range(1, 40) | 0.5 * n] AS v", None),
        ("RETURN {a: 1, b: [n IN range(1, 40) | 0.5]} AS v", {"a": 1}),
    ],
)
def test_values_are_plain(driver: Driver, statement: str, value: Any) -> None:
    assert run(driver, statement) == Rows(("v",), ({"v": value},), False)


def test_nodes_relationships_and_paths_are_their_properties_without_vectors(driver: Driver, corpus: str) -> None:
    create = (
        "CREATE (:ReadOnlyTest {run: $run, n: 1, embedding: [1.0, 0.0], codes: $codes})-[:TO {n: 2}]->"
        "(:ReadOnlyTest {run: $run, n: 3})"
    )
    driver.execute_query(create, run=corpus, codes=b"\1\2")
    try:
        match = "MATCH p = (a:ReadOnlyTest {run: $run})-[r]->(b) RETURN a, r, p, [a] AS l"
        [row] = run(driver, match, run=corpus).rows
    finally:
        driver.execute_query("MATCH (n:ReadOnlyTest {run: $run}) DETACH DELETE n", run=corpus)
    first, last = {"run": corpus, "n": 1}, {"run": corpus, "n": 3}
    assert row == {"a": first, "r": {"n": 2}, "p": [first, {"type": "TO", "n": 2}, last], "l": [first]}


def test_only_the_first_rows_are_returned(driver: Driver) -> None:
    assert run(driver, "UNWIND range(1, 10) AS n RETURN n", 3) == Rows(("n",), tuple({"n": n} for n in (1, 2, 3)), True)
    assert not run(driver, "UNWIND range(1, 3) AS n RETURN n", 3).more
    assert run(driver, "UNWIND [] AS n RETURN n") == Rows(("n",), (), False)


@pytest.mark.parametrize("statement", ["CREATE (n:ReadOnlyTest)", "MATCH (n:Chunk) SET n.text = '' RETURN n"])
def test_a_statement_that_writes_is_not_run(driver: Driver, statement: str) -> None:
    with pytest.raises(InputError, match="does not only read"):
        run(driver, statement)
    with pytest.raises(RejectedStatementError), open_read(driver, "neo4j") as transaction:
        transaction.rows(statement, {}, 10)  # the server refuses it too
    assert driver.execute_query("MATCH (n:ReadOnlyTest) RETURN count(n) AS n").records[0]["n"] == 0


@pytest.mark.parametrize("statement", ["MATCH (n:Chunk RETURN n", "RETURN $other", "RETURN 1 / 0"])
def test_a_mistake_is_told(driver: Driver, statement: str) -> None:
    with pytest.raises(RejectedStatementError, match="rejected"):
        run(driver, statement)


def test_a_statement_is_stopped_in_time(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_only, "SECONDS", 0.5)
    with pytest.raises((DatabaseError, RejectedStatementError), match=r"stopped|terminated|timeout"):
        run(driver, "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN sum(a * b) AS n")


# --- templates ---------------------------------------------------------------------------------------

VALUES = {"first": "Ann", "second": "the cid", "entity": "ann", "limit": "10"}


@pytest.fixture
def two(driver: Driver, corpus: str) -> Iterator[tuple[str, str]]:
    """Two corpora with the same names and ids; the other has more of everything, and a third document is staged."""
    mine, other = corpus, f"{corpus}-other"
    more = [small_document(f"d{n}", *[["ann", "bob"], ["ann", "cid"]] * 3) for n in range(4)]
    write(driver, mine, DOCUMENTS)
    write(driver, other, more)
    for request in staging(mine, [small_document("d9", ["ann", "cid"], ["ann", "zoe"])], "a run"):
        database.write(driver, "neo4j", request)
    driver.execute_query("MATCH (e:Entity) WHERE e.corpus IN $both SET e.type = 'noun'", both=[mine, other])
    for one, count in ((mine, 1), (other, 2)):
        driver.execute_query(
            "MATCH (a:Entity {corpus: $corpus, key: 'ann'}), (b:Entity {corpus: $corpus, key: 'bob'}) "
            "CREATE (a)-[:MARRIED_TO {statements: ['s'], count: $count}]->(b), "
            "(:Statement {corpus: $corpus, id: 's', text: 'Ann married Bob.'})",
            corpus=one,
            count=count,
        )
    yield mine, other
    remove(driver, [mine, other])


@pytest.fixture
def settings(neo4j_connection: Connection) -> Settings:
    return settings_of(neo4j_connection, text_to_cypher=True)


def given(name: str) -> dict[str, str]:
    [template] = [one for one in templates(Settings()) if one.name == name]
    values = VALUES | {"type": "married to" if name == "related_by_type" else "noun"}
    return {one.name: values[one.name] for one in template.parameters}


def test_bundled_templates_return_what_their_corpus_has(driver: Driver, two: tuple[str, str]) -> None:
    mine, _ = two
    with E2G(driver) as client:
        found = {name: client.run_template(name, given(name), corpus=mine) for name in BUNDLED}
    rows: dict[str, list[Any]] = {name: [list(row.values()) for row in one.rows] for name, one in found.items()}
    text = [document.text for document in DOCUMENTS]
    [[_, _, *both]] = rows.pop("chunks_with_both")[:1]
    assert both == [text[1], 2, 1]
    assert [row[1:] for row in rows.pop("first_and_last_mention")] == [
        [0, text[0], 0, text[0]],
        [0, text[1], 0, text[1]],
    ]
    assert [row[2:] for row in rows.pop("documents_about")] == [[2, 1], [1, 1]]
    assert rows == {
        "neighbours_of": [["bob", "noun", 1], ["cid", "noun", 1]],
        "mentioned_with": [["bob", 1], ["cid", 1]],
        "count_mentions": [["ann", 3, 2, 2]],
        "count_together": [["ann", "cid", 1, 2, 2]],
        "count_of_type": [["noun", 5]],
        "related_by_type": [["ann", "MARRIED_TO", "bob", None, None, 1, ["Ann married Bob."]]],
        "most_mentioned": [["ann", 3, 2], ["bob", 2, 1], ["cid", 2, 2], ["dan", 1, 1], ["eve", 1, 1]],
        "entities_of_type": [["ann", 2], ["cid", 2], ["bob", 1], ["dan", 1], ["eve", 1]],
    }


@pytest.mark.parametrize("name", BUNDLED)
def test_a_bundled_template_returns_the_same_beside_another_corpus(
    driver: Driver, two: tuple[str, str], name: str
) -> None:
    mine, other = two
    with E2G(driver) as client:
        before = client.run_template(name, given(name), corpus=mine)
        assert client.run_template(name, given(name), corpus=other).rows != before.rows
        remove(driver, [other])
        assert client.run_template(name, given(name), corpus=mine) == before
        assert before.rows


def test_names_of_templates_corpora_and_entities_are_checked(driver: Driver, two: tuple[str, str]) -> None:
    mine, other = two
    driver.execute_query(
        "MATCH (e:Entity {corpus: $corpus, key: 'ann'}) CREATE (:Alias {corpus: $corpus, key: 'annie', name: 'Annie'})"
        "-[:ALIAS_OF {corpus: $corpus, document: 'd0', count: 1}]->(e)",
        corpus=mine,
    )
    with E2G(driver) as client:
        found = client.run_template("neighbours_of", {"entity": "ANNIE", "limit": 5}, corpus=mine)
        assert found.parameters == {"entity": "ann", "limit": 5, "corpus": mine}
        for entity, corpus in (("annie", other), ("zoe", mine)):  # an alias elsewhere, an entity that is staged
            with pytest.raises(NotFoundError, match=entity):
                client.run_template("neighbours_of", {"entity": entity, "limit": 5}, corpus=corpus)
        with pytest.raises(CorpusNotFoundError):
            client.run_template("neighbours_of", {"entity": "ann", "limit": 5}, corpus="nowhere")
        with pytest.raises(NotFoundError, match="neighbours_of"):
            client.run_template("x", {}, corpus=mine)


def test_templates_of_the_user_only_read(
    settings: Settings, two: tuple[str, str], tmp_path: Path, driver: Driver
) -> None:
    mine, _ = two
    count = "// Counts chunks.\n// $least: integer - Least index.\nMATCH (c:Chunk {corpus: $corpus})\n"
    (tmp_path / "count.cypher").write_text(f"{count}WHERE c.index >= $least RETURN count(c) AS chunks;\n")
    (tmp_path / "erase.cypher").write_text(f"{count}WHERE c.index >= $least SET c.text = '' RETURN c\n")
    settings = settings.model_copy(update={"templates": tmp_path})

    async def asked() -> Any:
        async with AsyncE2G(settings=settings) as client:
            return await client.run_template("count", {"least": 0}, corpus=mine)

    with E2G(settings=settings) as client:
        found = client.run_template("count", {"least": 0}, corpus=mine)
        assert (found.rows, found.template) == (({"chunks": 2},), "count")
        assert asyncio.run(asked()) == found
        with pytest.raises(InputError, match=r"erase.*does not only read"):
            client.run_template("erase", {"least": 0}, corpus=mine)
    texts = driver.execute_query("MATCH (c:Chunk {corpus: $corpus}) RETURN c.text AS text", corpus=mine).records
    assert all(row["text"] for row in texts)


# --- statements of chat models -----------------------------------------------------------------------


@pytest.fixture
def alone(scratch: Connection) -> Iterator[Driver]:
    """A database with one corpus, `novels`, and a graph of the user's."""
    with migrated(scratch) as driver:
        write(driver, "novels", DOCUMENTS)
        driver.execute_query("MERGE (:Ship {name: 'Averil'}) MERGE (:E2GKey {id: 'k', hash: 'secret'})")
        yield driver
        driver.execute_query("MATCH (n:Ship|E2GKey) DELETE n")
        remove(driver, ["novels", "letters"])


def model_statement(driver: Driver, statement: str, corpus: str = "novels") -> list[dict[str, Any]]:
    """Without the rules for words, and the wall."""
    found = run_for(corpus, Walled(statement), {"corpus": corpus})(driver, "neo4j")
    if isinstance(found, RejectedStatementError):
        raise found
    return list(found.rows)


def test_a_statement_that_reads_labelled_nodes_is_run(alone: Driver) -> None:
    mentioned = "MATCH (e:Entity {corpus: $corpus})-[m:FROM_CHUNK]->(c:Chunk) RETURN e.key AS key, sum(m.count) AS n"
    assert model_statement(alone, f"{mentioned} ORDER BY n DESC, key LIMIT 2") == [
        {"key": "ann", "n": 3},
        {"key": "bob", "n": 2},
    ]
    assert model_statement(alone, "MATCH (s:Ship) RETURN s") == [{"s": {"name": "Averil"}}]
    path = (
        "MATCH p = shortestPath((:Entity {key: 'bob'})-[:CO_OCCURS*..3]-(:Entity {key: 'cid'})) RETURN length(p) AS n"
    )
    assert model_statement(alone, path) == [{"n": 1}]


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (n:Chunk) DETACH DELETE n",
        "MATCH (n:Chunk) SET n.text = '' RETURN n",
        "MERGE (n:Chunk {id: 'x'}) RETURN n",
        "UNWIND [1] AS i CALL (i) { CREATE (:Ship) } IN TRANSACTIONS RETURN i",
        "CALL db.labels()",
        "MATCH (n:Ship) CALL (n) { CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey } RETURN propertyKey",
        "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
        "SHOW INDEXES",
        "MATCH (n) RETURN n",
        "MATCH (n)-[r]-(m) RETURN n",
        "MATCH (n:!Chunk) RETURN n",
        "MATCH (n:$('E2G' + 'Key')) RETURN n",
        "MATCH (n) WHERE elementId(n) = '4:x:0' RETURN n",
        "MATCH (n) WHERE id(n) = 0 RETURN n",
    ],
)
def test_the_plan_of_another_statement_is_refused(alone: Driver, statement: str) -> None:
    """Without the rules for words, which also refuse most of these."""
    before = alone.execute_query("MATCH (n) RETURN count(n) AS n").records[0]["n"]
    with pytest.raises(InputError, match="was not run"):
        model_statement(alone, statement)
    assert alone.execute_query("MATCH (n) RETURN count(n) AS n").records[0]["n"] == before


HOSTILE = [
    "MATCH (c:Chunk) RETURN COLLECT {{ MATCH ({k}) RETURN properties({k}) }}",
    "MATCH (c:Chunk) RETURN [x IN [1] | COLLECT {{ MATCH ({k}) RETURN {k} {{.*}} }}]",
    "MATCH (c:Chunk) WITH c ORDER BY [x IN [1] | COUNT {{ MATCH ({k}) }}] RETURN c.id",
    "MATCH (c:Chunk) RETURN reduce(a = [], x IN [1] | a + COLLECT {{ MATCH ({k}) RETURN {k} }})",
    "MATCH (c:Chunk) WHERE all(x IN [1] WHERE EXISTS {{ MATCH ({k}) }}) RETURN c.id",
    "MATCH (c:Chunk) RETURN [({k})-[r]-(m) | properties(m)]",
    "MATCH (c:Chunk) CALL (c) {{ MATCH ({k}) RETURN {k} AS k }} RETURN k",
    "CYPHER 25 MATCH (c:Chunk) LET x = COLLECT {{ MATCH ({k}) RETURN {k} }} RETURN x",
    "MATCH (c:Chunk) RETURN c.id AS x UNION MATCH ({k}) RETURN {k}.id AS x",
    "MATCH ({k}) RETURN {k}",
    "MATCH (a)-[r:MIGRATED_TO]->(b) RETURN a, b",
    "MATCH (c:Chunk), (k) WHERE {labelled} RETURN k",
]
"""Statements that would read the nodes `k` of the service; {k} is a node pattern, {labelled} a condition for it."""


@pytest.mark.parametrize(
    "label", ["E2GKey", "E2GTask", "E2GBlob", "E2GUsage", "E2GConversation", "CachedSummary", "__Neo4jMigration"]
)
def test_nothing_of_the_service_is_read(alone: Driver, label: str) -> None:
    """Neither what a label names nor what no plan shows; only what a corpus and the graph of the user have."""
    rows = "CREATE (n:$($label) {id: 'x', task: 't', corpus_name: 'novels', file: 0, part: 0, sha256: 'a secret'})"
    alone.execute_query(f"{rows} CREATE (:E2GTask {{id: 't', corpus_name: 'novels'}})", label=label)
    try:
        assert model_statement(alone, "MATCH (s:Ship) RETURN s.name AS name") == [{"name": "Averil"}]
        for statement in HOSTILE:
            for node in ("k", f"k:`{label}`"):
                text = statement.format(k="k", labelled=f"k:`{label}`").replace("(k)", f"({node})")
                with suppress(InputError):
                    assert check_words(text) or "a secret" not in str(model_statement(alone, text)), text
    finally:
        alone.execute_query("MATCH (n) WHERE n.sha256 = 'a secret' OR n:E2GTask DELETE n")


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH " + ", ".join(f"(e{n}:Entity)" for n in range(40)) + " RETURN count(*)",
        "MATCH " + ", ".join(f"(e{n}:Entity)--(e{n + 1}:Entity)" for n in range(40)) + " RETURN count(*) AS n",
        "MATCH (e:Entity) WHERE " + " OR ".join(f"(e.key = '{n}' AND e.chunks > {n})" for n in range(80)) + " RETURN e",
        "UNWIND range(1, 1000) AS a UNWIND range(1, 1000) AS b UNWIND range(1, 1000) AS c RETURN sum(a + b + c) AS n",
        "UNWIND range(1, 1000) AS a UNWIND range(1, 1000) AS b UNWIND range(1, 1000) AS c RETURN a, b, c ORDER BY c, b",
        "UNWIND range(1, 1000) AS a UNWIND range(1, 1000) AS b UNWIND range(1, 99) AS c RETURN collect([a, b, c]) AS n",
    ],
    ids=["products", "joins", "conditions", "time", "sorting", "memory"],
)
def test_what_a_statement_costs_is_bounded(alone: Driver, statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules allow these. The server ends them in time, or by its limit of memory, and goes on."""
    assert check_words(statement) is None
    monkeypatch.setattr(read_only, "SECONDS", 2.0)
    began = monotonic()
    with suppress(DatabaseError, RejectedStatementError):
        model_statement(alone, statement)
    assert monotonic() - began < read_only.SECONDS + 20
    assert model_statement(alone, "MATCH (s:Ship) RETURN s.name AS name") == [{"name": "Averil"}]


def test_long_rows_are_left_out(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_only, "MOST_CHARACTERS", 250)
    found = run(driver, "UNWIND range(1, 9) AS n RETURN left('" + "x" * 100 + "', 100) AS text")
    assert (len(found.rows), found.more) == (2, True)
    with pytest.raises(RejectedStatementError, match="more than 250 characters"):
        run(driver, "RETURN [n IN range(1, 300) | n] AS numbers")


# --- the wall around a corpus ------------------------------------------------------------------------

ATTACKS = [
    "MATCH (e:Entity) RETURN e.key AS key ORDER BY key",
    "MATCH (c:Chunk) RETURN count(c) AS n, sum(size(c.text)) AS size",
    "MATCH (e:Entity {key: 'zoe'}) RETURN e",
    "MATCH (e:Entity {corpus: 'letters'}) RETURN e",
    "MATCH (e:Entity {corpus: $corpus + ''}) RETURN e",
    "MATCH (e:Entity {corpus: $corpus, corpus: 'letters'}) RETURN e",
    "MATCH (e:Entity {}) WHERE e.corpus <> $corpus OR true RETURN e.key AS key ORDER BY key",
    "MATCH (e:Entity WHERE e.corpus = 'letters') RETURN e",
    "MATCH (d:Document|Chunk|Window|Summary|Alias|Corpus|Term) RETURN labels(d) AS l, count(*) AS n ORDER BY l",
    "OPTIONAL MATCH (e:Entity {key: 'zoe'}) RETURN e.key AS key",
    "MATCH (e:Entity) OPTIONAL MATCH (f:Entity) WHERE f.corpus <> e.corpus RETURN e.key, f.key ORDER BY e.key",
    "MATCH (e:Entity {corpus: $corpus}) WITH 1 AS one MATCH (e:Entity) RETURN e.key AS key ORDER BY key",
    "MATCH (e:Entity {corpus: $corpus}) UNWIND [1] AS e MATCH (e)--(c:Chunk) RETURN c",
    "MATCH (e:Entity {corpus: $corpus}) RETURN e.key AS k UNION MATCH (e) RETURN e.key AS k",
    "MATCH (e:Entity {corpus: $corpus}) RETURN e.key AS k ORDER BY k UNION ALL MATCH (e:Entity) RETURN e.key AS k",
    "MATCH (s:Ship)<-[:REFERS_TO]-(e:Entity) RETURN e.key AS key",
    "MATCH (s:Ship)<-[:REFERS_TO]-(e) RETURN e.key AS key",
    "MATCH (a:Entity)-[r:REFERS_TO]->(s:Ship) RETURN startNode(r) AS a, endNode(r) AS s",
    "MATCH p = (a:Entity)-[:REFERS_TO*1..4]-(b:Entity|Ship) RETURN [n IN nodes(p) | n.key] AS keys",
    "MATCH p = (a:Entity)-[:REFERS_TO*1..4]-(b:Entity) RETURN [n IN nodes(p) | n.key] AS keys",
    "MATCH p = (a:Entity)-[:REFERS_TO|CO_OCCURS*1..6]-(b:Entity) RETURN nodes(p) AS n",
    "MATCH p = (s:Ship)-[:TIED*1..2]-(t:Ship) RETURN [n IN nodes(p) | properties(n)] AS n",
    "MATCH p = shortestPath((a:Entity {key: 'ann'})-[:REFERS_TO*..6]-(b:Entity {key: 'dan'})) RETURN length(p) AS n",
    "MATCH p = allShortestPaths((a:Entity {key: 'ann'})-[:CO_OCCURS*..6]-(b:Entity {key: 'cid'})) RETURN nodes(p)",
    "MATCH (a:Entity)-[rs:CO_OCCURS*1..2]-(b:Entity) RETURN count(rs) AS n",
    "MATCH (a:Entity)-[r]-(b:Chunk) RETURN count(r) AS n",
    "MATCH (h:Hero) RETURN h",
    "MATCH (h:Hero&Entity) RETURN h.key AS key",
    "MATCH (h:Hero|Entity) RETURN h.key AS key",
    "MATCH (h:Hero {corpus: $corpus}) RETURN h.key AS key",
    "MATCH (s:Ship), (h:Hero) RETURN s.name, h.key",
    "MATCH (e:Entity) RETURN COLLECT { MATCH (f:Entity) RETURN f.key } AS keys",
    "MATCH (e:Entity) RETURN COUNT { MATCH (f:Entity) } AS n",
    "MATCH (e:Entity) WHERE EXISTS { MATCH (f:Entity {key: 'zoe'}) } RETURN e.key",
    "MATCH (e:Entity) RETURN [(e)--(f:Entity) | f.key] AS keys",
    "MATCH (e:Entity) RETURN [(f:Entity) | f.key] AS keys",
    "MATCH (e:Entity) WHERE (e)--(:Ship)--(:Entity {key: 'zoe'}) RETURN e.key",
    "CALL { MATCH (e:Entity) RETURN e } RETURN e.key",
    "MATCH (e:Entity) CALL (e) { MATCH (f:Entity) RETURN f } RETURN f.key",
    "CALL db.index.fulltext.queryNodes('e2g_entity_words', 'zoe') YIELD node RETURN node",
    "LOAD CSV FROM 'file:///x' AS line RETURN line",
    "MATCH (e:Entity $all) RETURN e",
    "MATCH (n) WHERE n:Entity RETURN n",
    "MATCH ()-[r:FROM_CHUNK]->() RETURN count(r) AS n",
    "MATCH (n:Entity) WHERE elementId(n) STARTS WITH '4' RETURN count(n) AS n",
]
"""Statements that would tell of another corpus, `letters`. One of its entities is a `Hero` of the user's."""


def outcome_of(driver: Driver, statement: str) -> list[dict[str, Any]] | str:
    """The rows, or why there are none."""
    try:
        found = run_for("novels", wall_in(statement), {"corpus": "novels"})(driver, "neo4j")
    except (InputError, UnreadableStatement) as error:
        return str(error)
    return str(found) if isinstance(found, RejectedStatementError) else list(found.rows)


def write_letters(driver: Driver) -> None:
    """Another corpus, tied to this one and the graph of the user."""
    write(driver, "letters", [small_document("x0", ["zoe", "ann"], ["zoe", "dan"])])
    driver.execute_query(
        "MATCH (z:Entity {corpus: 'letters', key: 'zoe'}), (s:Ship) SET z:Hero "
        "CREATE (z)-[:REFERS_TO]->(s), (z)-[:TIED]->(s), (z)-[:TIED]->(:Ship {name: 'Zephyr'})"
    )


def test_no_statement_tells_of_another_corpus(alone: Driver) -> None:
    """What a statement returns is the same without that corpus, or it is refused."""
    alone.execute_query(
        "MATCH (a:Entity {key: 'ann'}), (s:Ship) CREATE (a)-[:REFERS_TO]->(s) CREATE (:Hero {key: 'h'})"
    )
    alone.execute_query("MATCH (d:Entity {key: 'dan'}), (s:Ship) CREATE (d)-[:REFERS_TO]->(s)")
    try:
        before = {statement: outcome_of(alone, statement) for statement in ATTACKS}
        write_letters(alone)
        after = {statement: outcome_of(alone, statement) for statement in ATTACKS}
    finally:
        alone.execute_query("MATCH (n:Ship|Hero) DETACH DELETE n")
    refused = {statement for statement, found in after.items() if "leads to another corpus" in found}
    assert {statement: after[statement] for statement in before if statement not in refused} == {
        statement: found for statement, found in before.items() if statement not in refused
    }
    assert "zoe" not in str([found for found in after.values() if not isinstance(found, str)])
    assert sum(isinstance(found, list) for found in after.values()) > 15, "those that stay within the corpus are run"
    assert len(refused) == 6, refused


def test_a_label_that_leads_to_another_corpus_meanwhile_is_refused(
    alone: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(plan: Any) -> str | None:
        write_letters(alone)
        return check_plan(plan)

    monkeypatch.setattr(text_to_cypher, "check_plan", meanwhile)
    assert "leads to another corpus" in outcome_of(alone, "MATCH (h:Hero) RETURN h")
    alone.execute_query("MATCH (n:Ship|Hero) DETACH DELETE n")
