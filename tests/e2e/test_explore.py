"""Queries made for looking, addresses, guide and picture, on the sample library in a real Neo4j."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any
from urllib.parse import unquote

import pytest
from at_server import set_variables, settings_of
from langchain_core.documents import Document
from langchain_neo4j.graphs.graph_document import GraphDocument, Node, Relationship
from neo4j import Driver, Result
from neo4j.graph import Graph, Path

from e2g_neo4j import E2G
from e2g_neo4j.browser.drawing import page
from e2g_neo4j.browser.guide import NEIGHBOURS, GuideServer, example_parameters
from e2g_neo4j.browser.statements import MOST_PASSAGES
from e2g_neo4j.cli.setup import CHUNKS, LIBRARY
from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.graph.catalog import evidence_parameters
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.runtime.cypher import folder, load
from e2g_neo4j.types.results import Evidence

pytestmark = pytest.mark.by_turns(3)

CORPUS = "explore-sample"
QUESTION = "Who really made the chronometer that Luke Farran saved?"
TABLES = {"types", "corpora", "documents", "hubs", "mentions", "bridges", "communities"}
MOST = 300
"""What Browser shows of nodes at most."""


@pytest.fixture(scope="module")
def client(neo4j_connection: Connection) -> Iterator[E2G]:
    settings = settings_of(
        neo4j_connection, workers=1, chunk_tokens=CHUNKS["chunk_tokens"], chunk_overlap=CHUNKS["chunk_overlap"]
    )
    with E2G(settings=settings) as client:
        client.index([LIBRARY], corpus=CORPUS)
        client.enrich(corpus=CORPUS)
        name = client.runner.run(example_parameters(CORPUS))["name"]
        client.add_graph_documents([*related(client, name), *related(client, "Luke Farran")], corpus=CORPUS)
        client.enrich(corpus=CORPUS, layers=["typed"])
        yield client


def related(client: E2G, name: str) -> Iterator[GraphDocument]:
    """An entity and its neighbour, in a chunk that has both."""
    [row] = client.run_template("neighbours_of", {"entity": name, "limit": 1}, corpus=CORPUS).rows
    both = {"first": name, "second": row["neighbour"], "limit": 1}
    [chunk] = client.run_template("chunks_with_both", both, corpus=CORPUS).rows
    ends = Node(id=name, type="Person"), Node(id=row["neighbour"])
    near = Relationship(source=ends[0], target=ends[1], type="IS_NEAR")
    yield GraphDocument(nodes=[*ends], relationships=[near], source=Document(chunk["text"]))


@pytest.fixture(scope="module")
def examples(client: E2G) -> dict[str, Any]:
    return client.runner.run(example_parameters(CORPUS))


@pytest.fixture(scope="module")
def evidence(client: E2G) -> Evidence:
    return client.retrieve(QUESTION, corpus=CORPUS)


@pytest.fixture
def parameters(examples: dict[str, Any], evidence: Evidence) -> dict[str, Any]:
    return examples | evidence_parameters(evidence)


def rows(driver: Driver, name: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(row) for row in driver.execute_query(load(f"explore/{name}"), parameters).records]


def graph(driver: Driver, name: str, parameters: dict[str, Any]) -> Graph:
    return driver.execute_query(load(f"explore/{name}"), parameters, result_transformer_=Result.graph)


NAMES = sorted(path.stem for path in folder("cypher").glob("explore/*.cypher"))


@pytest.mark.parametrize("name", NAMES)
def test_every_query_shows_something_and_never_too_much(driver, parameters, name: str) -> None:
    found = rows(driver, name, parameters)
    assert 0 < len(found) <= MOST
    shown = graph(driver, name, parameters)
    if name in TABLES:
        assert not shown.nodes
        for value in (value for row in found for value in row.values()):
            assert not isinstance(value, list) or len(value) <= 10, "a vector does not belong in a table"
    else:
        assert 0 < len(shown.nodes) <= MOST
        assert {node["corpus"] for node in shown.nodes} == {CORPUS}


@pytest.mark.parametrize("name", NAMES)
def test_another_corpus_has_none_of_it(driver, parameters, name: str) -> None:
    if name != "corpora":
        assert rows(driver, name, parameters | {"corpus": "no-such", "corpora": ["no-such"]}) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_file_can_be_pasted_into_browser_after_the_parameters_of_its_header(driver, client, name: str) -> None:
    """As it is: whatever is not Cypher is in comments, and Browser sets the parameters by the command that it names."""
    text = (folder("cypher") / "explore" / f"{name}.cypher").read_text(encoding="utf-8")
    commands = re.findall(r"(?m)^// :params (\{.*\})$", text)
    given = driver.execute_query(f"RETURN {commands[0]} AS given").records[0]["given"] if commands else {}
    assert given.keys() == set(re.findall(r"\$(\w+)", load(f"explore/{name}")))
    assert given.get("corpus", given.get("corpora", "sample")) in ("sample", ["sample"]), "that of e2g demo"
    given |= {key: value for key, value in (("corpus", CORPUS), ("corpora", [CORPUS])) if key in given}
    assert driver.execute_query(text, given).records


def test_a_tree_and_one_branch_of_it(driver, parameters) -> None:
    tree = graph(driver, "tree", parameters)
    levels = {node["level"] for node in tree.nodes}
    assert {label for node in tree.nodes for label in node.labels} == {"Summary"}
    assert {one.type for one in tree.relationships} <= {"CHILD_OF"}
    branch = graph(driver, "branch", parameters)
    leaf = [node for node in branch.nodes if "Chunk" in node.labels and node["index"] == parameters["index"]]
    assert len(leaf) == 1
    on_the_way = {one.end_node["level"] for one in branch.relationships if one.type == "CHILD_OF" and one.end_node}
    assert on_the_way == levels, "up to the highest level"
    assert [node["title"] for node in branch.nodes if "Document" in node.labels] == [parameters["title"]]


def test_neighbours_are_the_strongest_and_as_many_as_asked_for(driver, client, parameters) -> None:
    name = parameters["name"]
    shown = graph(driver, "neighbours", parameters)
    assert len(shown.relationships) == NEIGHBOURS
    assert len(shown.nodes) == NEIGHBOURS + 1
    assert all(name in {node["name"] for node in one.nodes if node} for one in shown.relationships)
    [row] = driver.execute_query(
        "MATCH (:Entity {corpus: $corpus, name: $name})-[r:CO_OCCURS]-(n) "
        "RETURN collect([r.weight, n.type]) AS weights",
        corpus=CORPUS,
        name=name,
    ).records
    drawn = [
        (one["weight"], end["type"]) for one in shown.relationships for end in one.nodes if end and end["name"] != name
    ]
    best = sorted(((kind == "noun", -weight) for weight, kind in row["weights"]))[:NEIGHBOURS]
    assert sorted((kind == "noun", -weight) for weight, kind in drawn) == best
    small = graph(driver, "neighbours", parameters | {"name": name.upper().lower(), "limit": 2.0})
    assert len(small.relationships) == 2, "in small letters, and as Browser sends numbers"


def test_what_lies_between_two_entities(driver, parameters) -> None:
    shown = rows(driver, "between", parameters | {"a": "Luke Farran", "b": "chronometer"})
    [path] = {row["path"] for row in shown}
    assert {path.nodes[0]["key"], path.nodes[-1]["key"]} == {"luke farran", "chronometer"}
    for row in shown:
        assert row["carrier"].nodes[0] in path.nodes
        assert row["carrier"].nodes[2] in path.nodes
        assert "Chunk" in row["carrier"].nodes[1].labels
    long = rows(driver, "between", parameters)
    assert len(long) <= 3 * parameters["hops"]
    hops = len(long[0]["path"])
    assert rows(driver, "between", parameters | {"hops": hops - 1}) == []


PEOPLE = ("ann lee", "bob ray", "zed zoe")
WORDS = (("Ann Lee", "person"), ("Bob Ray", "person"), ("Cy", "name"), ("Dee", "place"), ("people", "noun"))


@pytest.fixture
def two_books(driver: Driver) -> Iterator[str]:
    """Ann Lee and Bob Ray share no sentence. A noun connects them at once, and two names of the same book, in turn. The
    noun also connects both with Zed of another book, who is mentioned most often."""
    corpus = "explore-two-books"
    driver.execute_query(
        "UNWIND [['Long', 4], ['Short', 3]] AS row CREATE (d:Document {corpus: $corpus, id: row[0], title: row[0], "
        "source: row[0], chunks: row[1]}) WITH d UNWIND range(0, d.chunks - 1) AS index "
        "CREATE (:Chunk {corpus: $corpus, document: d.id, id: d.id + index, index: index})-[:FROM_DOCUMENT]->(d)",
        corpus=corpus,
    )
    driver.execute_query(
        "UNWIND $words + [['Zed Zoe', 'person']] AS row CREATE (e:Entity {corpus: $corpus, key: toLower(row[0]), "
        "name: row[0], forms: [row[0]], type: row[1], chunks: 4}) WITH e MATCH (c:Chunk {corpus: $corpus}) "
        "WHERE e.type = 'noun' OR (e.name = 'Zed Zoe') = (c.document = 'Short') "
        "CREATE (e)-[:FROM_CHUNK {count: 1}]->(c)",
        corpus=corpus,
        words=[list(word) for word in WORDS],
    )
    driver.execute_query(
        "UNWIND $edges AS edge MATCH (a:Entity {corpus: $corpus, key: edge[0]}) "
        "MATCH (b:Entity {corpus: $corpus, key: edge[1]}) CREATE (a)-[:CO_OCCURS {weight: 1.0, count: 1}]->(b)",
        corpus=corpus,
        edges=[["ann lee", "cy"], ["cy", "dee"], ["dee", "bob ray"], *([one, "people"] for one in PEOPLE)],
    )
    yield corpus
    driver.execute_query("MATCH (n {corpus: $corpus}) DETACH DELETE n", corpus=corpus)


def test_a_path_goes_through_names_before_nouns(driver, two_books: str) -> None:
    asked = {"corpus": two_books, "a": "Ann Lee", "b": "Bob Ray"}
    ways = {hops: {path_of(row["path"]) for row in rows(driver, "between", asked | {"hops": hops})} for hops in (2, 3)}
    assert ways == {2: {("Ann Lee", "people", "Bob Ray")}, 3: {("Ann Lee", "Cy", "Dee", "Bob Ray")}}
    evidence = {"corpora": [two_books], "pairs": [{"a": "ann lee", "b": "bob ray"}], "nodes": [], "names": []}
    assert [path_of(row["path"]) for row in rows(driver, "evidence", evidence)] == [("Ann Lee", "people", "Bob Ray")]
    driver.execute_query(
        "MATCH (a:Entity {corpus: $corpus, key: 'cy'}) MATCH (b:Entity {corpus: $corpus, key: 'bob ray'}) "
        "CREATE (a)-[:CO_OCCURS {weight: 1.0, count: 1}]->(b)",
        corpus=two_books,
    )
    assert [path_of(row["path"]) for row in rows(driver, "evidence", evidence)] == [("Ann Lee", "Cy", "Bob Ray")]


def path_of(path: Path) -> tuple[str, ...]:
    return tuple(node["name"] for node in path.nodes)


def test_the_examples_belong_to_one_document(client: E2G, two_books: str) -> None:
    found = client.runner.run(example_parameters(two_books))
    assert {found.pop("a"), found.pop("b")} == {"Bob Ray", "Cy"}, "connected by a name, not by people"
    assert found == {
        **{"corpus": two_books, "title": "Long", "index": 2, "first": "Long", "second": "Short"},
        **{"name": "Ann Lee", "limit": NEIGHBOURS, "hops": 3},
    }
    assert client.runner.run(example_parameters("no-such")) == {"corpus": "no-such"}


def test_the_examples_of_the_sample_are_names_with_a_path_of_names(driver, examples) -> None:
    [path] = {row["path"] for row in rows(driver, "between", examples)}
    assert len(path) == 2, "neither next to each other nor far apart"
    assert "noun" not in {node["type"] for node in path.nodes}


def test_bridges_are_counted_right(driver, parameters) -> None:
    shown = rows(driver, "bridges", parameters)
    assert [row["clustering"] for row in shown] == sorted(row["clustering"] for row in shown)
    for row in (shown[0], shown[-1]):
        around = driver.execute_query(
            "MATCH (:Entity {corpus: $corpus, name: $name})-[r:CO_OCCURS]-(n) RETURN n.key AS key, n.name AS name "
            "ORDER BY r.weight DESC, key LIMIT 12",
            corpus=CORPUS,
            name=row["entity"],
        ).records
        assert row["strongest"] == [one["name"] for one in around][:6]
        pairs = list(combinations(sorted(one["key"] for one in around), 2))
        joined = driver.execute_query(
            "UNWIND $pairs AS p MATCH (:Entity {corpus: $corpus, key: p[0]})-[r:CO_OCCURS]-"
            "(:Entity {corpus: $corpus, key: p[1]}) RETURN count(r) AS n",
            corpus=CORPUS,
            pairs=pairs,
        ).records[0]["n"]
        assert row["clustering"] == pytest.approx(joined / len(pairs), abs=0.005)


def test_mentions_show_the_name(driver, parameters) -> None:
    shown = rows(driver, "mentions", parameters)
    assert all(parameters["name"].split()[-1] in row["text"] for row in shown)
    assert [row["mentions"] for row in shown] == sorted((row["mentions"] for row in shown), reverse=True)


def test_what_two_documents_share_is_in_both(driver, parameters) -> None:
    shown = rows(driver, "shared", parameters)
    assert 0 < len(shown) <= 10
    for row in shown:
        assert row["one"].nodes[0] == row["other"].nodes[0]
        assert row["one"].nodes[0]["type"] != "noun"
        assert row["one"].nodes[2]["title"] == parameters["first"]
        assert row["other"].nodes[2]["title"] == parameters["second"]


def test_the_evidence_of_a_question(driver, parameters, evidence: Evidence) -> None:
    shown = graph(driver, "evidence", parameters)
    given = {node for passage in evidence.passages for node in passage.nodes}
    above = {node for passage in evidence.passages for node in passage.path}
    assert {node["id"] for node in shown.nodes if node.get("id")} == given | above
    entities = {node["key"] for node in shown.nodes if "Entity" in node.labels}
    assert entities >= {name for pair in evidence.pairs for name in (pair.a, pair.b)}


def test_the_guide_runs_on_the_corpus(driver, examples) -> None:
    with GuideServer(examples, port=0) as server:
        text = server.pages["/guide.adoc"][1].decode()
    found = re.findall(r"(?ms)^----\n(.*?)\n----$", text)
    assert len(found) == len(NAMES) - 1 + 3
    for statement in found:
        if not statement.startswith(":"):
            assert driver.execute_query(statement, examples).records


# --- the command line ----------------------------------------------------------------------------------


@pytest.fixture
def run(client: E2G, neo4j_connection: Connection, output, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    set_variables(monkeypatch, neo4j_connection)
    opened: list[str] = []
    monkeypatch.setattr("e2g_neo4j.cli.browser.webbrowser.open", opened.append)

    def run(*arguments: str) -> tuple[str, list[str]]:
        opened.clear()
        return output(*arguments), list(opened)

    return run


def test_explain_gives_an_address_with_the_statement(run, driver, evidence: Evidence, monkeypatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    out, opened = run("query", QUESTION, "-c", CORPUS, "--browser")
    [address] = opened
    assert address in out
    assert address.startswith("http://127.0.0.1:7474/browser/?cmd=edit&arg=")
    statement = unquote(address.split("arg=")[1])
    filled_in = driver.execute_query(statement, result_transformer_=Result.graph)
    assert len(evidence.passages) > MOST_PASSAGES
    best = replace(evidence, passages=evidence.passages[:MOST_PASSAGES])
    asked = graph(driver, "evidence", evidence_parameters(best))
    assert {node.element_id for node in filled_in.nodes} == {node.element_id for node in asked.nodes}
    assert run("query", QUESTION, "-c", CORPUS, "--browser", "--no-open")[1] == []
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    if sys.platform == "linux":
        assert run("query", QUESTION, "-c", CORPUS, "--browser")[1] == []


def test_the_guide_is_served_until_it_is_interrupted(run, output, monkeypatch) -> None:
    def interrupted(self: GuideServer) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(GuideServer, "serve_forever", interrupted)
    printed = output("guide", "-c", CORPUS, "--port", "0", "--no-open", code=130)
    assert re.search(r"(?m)/browser/\?cmd=edit&arg=%3Aguide%20http%3A%2F%2Flocalhost%3A\d+%2Fguide\.html$", printed)


def test_a_guide_to_a_corpus_without_documents_is_refused(output) -> None:
    printed = output("guide", "-c", "nowhere", "--port", "0", "--no-open", code=5)
    assert "editor" not in printed


def test_a_picture_has_the_evidence_and_no_vectors(run, driver, evidence: Evidence, tmp_path) -> None:
    out, _ = run("query", QUESTION, "-c", CORPUS, "--html", "evidence.html")
    assert "evidence.html" in out
    text = (tmp_path / "evidence.html").read_text(encoding="utf-8")
    [data] = re.findall(r'(?s)<script type="application/json" id="neo4j-viz-data">(.*?)</script>', text)
    drawn = json.loads(data)
    shown = graph(driver, "evidence", evidence_parameters(evidence))
    assert {node["id"] for node in drawn["nodes"]} == {node.element_id for node in shown.nodes}
    assert {one["id"] for one in drawn["relationships"]} == {one.element_id for one in shown.relationships}
    assert "embedding" not in data
    assert {"#da7194", "#f5d97e"} <= {node["color"].lower() for node in drawn["nodes"]}
    assert "Luke Farran" in {node["caption"] for node in drawn["nodes"]}
    assert not re.search(r"""<(script|link|img|iframe)[^>]*\s(src|href)=["']?(https?:)?//""", text)


def test_without_neo4j_viz_the_way_out_is_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "neo4j_viz", None)
    with pytest.raises(ConfigurationError, match=r"pip install -e .*\[viz\].*--browser"):
        page([])
