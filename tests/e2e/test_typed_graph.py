"""The typed graph of the sample library by the clients and the command line, and its marks: 40 statements whose
relationships were written down by hand, tests/data/typed_graph.json."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from at_server import set_variables, settings_of
from langchain_core.documents import Document
from langchain_neo4j.graphs.graph_document import GraphDocument, Node, Relationship
from neo4j import Driver

from e2g_neo4j import E2G, cli
from e2g_neo4j.cli.setup import CHUNKS, LIBRARY
from e2g_neo4j.indexing.graph_schema import GraphSchema
from e2g_neo4j.indexing.statements.added import readable
from e2g_neo4j.indexing.typed.layer import build_graph
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.settings import Settings

CORPUS = "typed-sample"
GIVEN = json.loads((Path(__file__).parent.parent / "data" / "typed_graph.json").read_text("utf-8"))


def documents() -> Iterator[GraphDocument]:
    for one in GIVEN["statements"]:
        ends = (Node(id=one[end], type=one[f"{end}_type"]) for end in ("subject", "object"))
        subject, object = ends
        said = Relationship(source=subject, target=object, type=one["predicate"], properties={"period": one["period"]})
        yield GraphDocument(nodes=[subject, object], relationships=[said], source=Document(one["text"]))


@pytest.fixture(scope="module")
def settings(neo4j_connection: Connection) -> Settings:
    return settings_of(
        neo4j_connection, workers=1, chunk_tokens=CHUNKS["chunk_tokens"], chunk_overlap=CHUNKS["chunk_overlap"]
    )


@pytest.fixture(scope="module")
def e2g(settings: Settings) -> Iterator[E2G]:
    with E2G(settings=settings) as client:
        client.index([LIBRARY], corpus=CORPUS)
        by_text: dict[str, list[GraphDocument]] = {}
        for one in documents():
            by_text.setdefault(one.source.page_content if one.source else "", []).append(one)
        together = [
            GraphDocument(
                nodes=[], relationships=[each for one in said for each in one.relationships], source=said[0].source
            )
            for said in by_text.values()
        ]
        report = client.add_graph_documents(together, corpus=CORPUS)
        assert report.not_found == report.invalid == 0, report
        yield client
        client.delete(corpus=CORPUS)


def relationships(driver: Driver) -> set[tuple[str, str, str]]:
    records = driver.execute_query(
        "MATCH (a:Entity {corpus: $corpus})-[r]->(b:Entity) WHERE r.statements IS NOT NULL "
        "RETURN a.key, type(r), b.key",
        corpus=CORPUS,
    ).records
    return {(a, type, b) for a, type, b in records}


def is_right(found: tuple[str, str, str], right: str) -> bool:
    """Names with * are those of whoever the text means by the last word."""
    a, type, b = right.split("|")
    ends = (
        name == key or (name.startswith("*") and name[1:] in key.split())
        for name, key in zip((a, b), (found[0], found[2]), strict=True)
    )
    return type == found[1] and all(ends)


def test_marks(e2g: E2G, driver: Driver) -> None:
    report = e2g.enrich(corpus=CORPUS, layers=["typed"], graph_schema=GIVEN["schema"]).layers["typed"]
    found = relationships(driver)
    wanted = {one["right"] for one in GIVEN["statements"] if one["right"]}
    right = {one for one in found if any(is_right(one, each) for each in wanted)}
    missed = {each for each in wanted if not any(is_right(one, each) for one in found)}
    assert found - right == {("house", "LOCATED_IN", "port averil"), ("walter crail", "WORKS_FOR", "holloway")}
    assert (len(found), len(wanted), len(missed)) == (14, 20, 8), "docs/statements.md has these numbers"
    assert report.total == report.made == len(found)
    assert report.labelled
    assert report.outside


def test_marks_of_the_names_alone() -> None:
    """As if every name were an entity of the text: what is missed above, a chunk has no such entity for."""
    rows = [
        {
            **one,
            "id": f"{number:02}",
            "predicate": readable(one["predicate"]),
            "status": None,
            "period": None,
            "text": "",
        }
        | {end: one[end].lower() for end in ("subject", "object")}
        for number, one in enumerate(GIVEN["statements"])
    ]
    graph = build_graph(rows, GraphSchema.read(GIVEN["schema"]))
    wanted = {one["right"] for one in GIVEN["statements"] if one["right"]}
    assert len(graph.relationships) == len(wanted) == 20
    assert all(any(is_right(one, each) for each in wanted) for one in graph.relationships)
    assert all(any(is_right(one, each) for one in graph.relationships) for each in wanted)


def test_the_command(
    e2g: E2G, driver: Driver, neo4j_connection: Connection, tmp_path: Path, monkeypatch, capsys
) -> None:
    set_variables(monkeypatch, neo4j_connection, E2G_WORKERS="1")
    (tmp_path / "schema.json").write_text(json.dumps(GIVEN["schema"]), "utf-8")
    (tmp_path / "wrong.json").write_text('{"entities": [\n"Chunk"]}', "utf-8")

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["e2g", "enrich", "--corpus", CORPUS, *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return int(end.value.code or 0)

    schema = ("--schema", str(tmp_path / "schema.json"))
    assert run("--without", "typed") == 0
    assert relationships(driver) == set()
    assert run("--with", "typed", *schema, "--prefix", "X_") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "typed relationships" in printed
    assert "Not typed, because they fit no relationship of the schema" in printed
    assert {type[:2] for _, type, _ in relationships(driver)} == {"X_"}
    for wrong, says in (
        (("--with", "typed", "--schema", str(tmp_path / "wrong.json")), "wrong.json, line 2: 'Chunk' is a name"),
        (("--with", "entities", *schema), "add the layer typed"),
        (("--with", "typed", "--without", "typed"), "at once"),
        (("--with", "typed", "--prefix", "no prefix"), "The prefix 'no prefix' cannot be used"),
    ):
        assert run(*wrong) == 4
        assert says in " ".join(capsys.readouterr().err.split())
    assert run("--with", "", "--typed", "--prefix", "", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["layers"]["typed"]["total"] == len(relationships(driver)) > 10


def test_the_template(e2g: E2G) -> None:
    e2g.enrich(corpus=CORPUS, layers=["typed"], graph_schema=GIVEN["schema"])
    given = {"entity": "Luke Farran", "type": "married to", "limit": 5}
    [row] = e2g.run_template("related_by_type", given, corpus=CORPUS).rows
    assert (row["subject"], row["relationship"], row["object"]) == ("Luke Farran", "MARRIED_TO", "Ann Holloway")
    assert (row["valid_from"], row["valid_to"], row["statements"]) == ("1881", None, 1)
    assert row["texts"] == ["Luke Farran married in 1881 Ann Holloway"]


def test_an_archive_leaves_the_typed_graph_out(e2g: E2G, driver: Driver, tmp_path: Path) -> None:
    """It is made again of the statements that the archive has."""
    e2g.enrich(corpus=CORPUS, layers=["typed"], graph_schema=GIVEN["schema"])
    there = relationships(driver)
    e2g.export_corpus(tmp_path / "typed.e2g", corpus=CORPUS)
    e2g.export_corpus(tmp_path / "typed.graphml", corpus=CORPUS, format="graphml")
    e2g.delete(corpus=CORPUS)
    e2g.import_corpus(tmp_path / "typed.e2g")
    assert relationships(driver) == set()
    e2g.enrich(corpus=CORPUS, layers=["typed"], graph_schema=GIVEN["schema"])
    assert relationships(driver) == there
