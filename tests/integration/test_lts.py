"""On 5.26, the release with long-term support: statements composed for it, and its schema."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from at_server import migrated, settings_of, variables_of
from graphs import evidence
from libraries import driven, performing, service_life
from modes import MAY_FIND_NOTHING
from neo4j import Driver
from stated import state
from test_cypher import columns_told, explained, texts, values_of, whole
from test_migrate import real_tool
from test_typed_real import (  # noqa: F401 (they run here too: names of labels and types are given as values)
    test_names_of_others_are_refused,
    test_removing_leaves_nothing,
    test_statements_become_relationships_and_labels,
    test_what_is_deleted_is_gone_at_once_and_the_layer_follows,
)

from e2g_neo4j import E2G
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.graph.doctor import shapes
from e2g_neo4j.graph.schema import info, read_scripts, validate
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.retrieval.strategies import STRATEGIES
from e2g_neo4j.retrieval.where import Where
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.cypher import Variant, folder

pytestmark = [pytest.mark.timeout(900), pytest.mark.by_turns(3)]

DIMENSIONS = 384


@pytest.fixture(scope="module")
def connection(scratch_5_26: Connection) -> Connection:
    return scratch_5_26


@pytest.fixture(scope="module")
def driver(connection: Connection) -> Iterator[Driver]:
    with migrated(connection) as driver:
        yield driver


@pytest.fixture(scope="module")
def client(connection: Connection, driver: Driver) -> Iterator[E2G]:
    settings = settings_of(connection, chunk_tokens=64, chunk_overlap=8, group_size=2, workers=1)
    with E2G(settings=settings) as client:
        yield client


def test_versions_are_told_apart(driver: Driver) -> None:
    assert database.is_old(driver)
    told = {"Neo4j/5.26.30": (5, 26), "Neo4j/2026.08.1": (2026, 8), "2025.12": (2025, 12), "5.9.0": (5, 9)}
    assert {agent: database.version(agent) for agent in told} == told
    assert (5, 26) < (2025, 12) < database.SEARCH_SINCE < (2026, 8)


@pytest.mark.parametrize(("name", "variant"), texts((Variant.LTS, Variant.FILTERED)))
def test_the_server_understands_the_statement(name: str, variant: Variant, driver: Driver) -> None:
    statement = whole(name, variant)
    result = driver.execute_query(explained(statement), values_of(statement))
    if not name.startswith("migrate/") and "SHOW" not in statement:
        assert columns_told(name) == result.keys


def test_the_service_runs(driver: Driver) -> None:
    service_life(lambda operation: driven(performing(driver), operation))
    left = driver.execute_query("MATCH (t:E2GTask) RETURN t.id AS id, t.state AS state").records
    assert [(row["id"], row["state"]) for row in left] == [("first", "succeeded")]
    assert driver.execute_query("MATCH (n:E2GBlob|E2GTaskStep) RETURN count(n) AS n").records[0]["n"] == 0


def test_all_modes_filters_index_and_delete(client: E2G) -> None:
    text = "Alice Harper met Bob Miller in Paris. Miller sold her a letter. The letter was old. " * 12
    client.index(
        [
            from_text(text, corpus="novels", source="x", properties={"year": 1897, "a.b": "`c`"}),
            from_text("It rained.", corpus="novels", source="y"),
        ],
        corpus="novels",
    )
    assert {one.state for one in client.doctor() if one.check == "schema"} == {"ok"}
    client.enrich(corpus="novels")
    state(client, "novels")
    for mode in STRATEGIES:
        found = client.retrieve("Did Alice Harper meet Bob Miller?", corpus="novels", mode=mode, k=3)
        assert found.passages, mode
        assert all(passage.level or passage.text in text + "It rained." for passage in found.passages)
        where: Where = {"year": {">": 1890}, "a.b": "`c`"}
        found = client.retrieve("Did Alice Harper meet Bob Miller?", corpus="novels", mode=mode, k=100, where=where)
        assert {passage.source for passage in found.passages} == {"x"}, mode
    assert client.split("Miller", corpus="novels")
    assert client.join("Miller", corpus="novels")
    client.delete(["y"], corpus="novels")
    assert client.stats("novels")["documents"] == 1
    client.delete(corpus="novels")
    assert "novels" not in client.corpora()


def test_an_archive_comes_back(client: E2G, tmp_path: Path) -> None:
    client.index([from_text("Alice met Bob. " * 50, corpus="kept", source="x")], corpus="kept")
    before = client.stats("kept"), evidence(client.retrieve("Who met Bob?", corpus="kept", mode="tree").passages)
    client.export_corpus(tmp_path / "kept.zip", corpus="kept")
    client.delete(corpus="kept")
    client.import_corpus(tmp_path / "kept.zip")
    found = evidence(client.retrieve("Who met Bob?", corpus="kept", mode="tree").passages)
    assert (client.stats("kept"), found) == before
    client.delete(corpus="kept")


@pytest.mark.full
def test_a_corpus_is_found_beside_many_that_are_nearer(client: E2G) -> None:
    """The index holds more vectors that answer better, all of another corpus, than are looked at."""
    question = "Where does the heron nest?"
    near = [
        from_text(f"{question} The heron nests here, number {n}.", corpus="birds", source=str(n)) for n in range(120)
    ]
    client.index(near, corpus="birds")
    client.index([from_text("Steam engines want coal.", corpus="engines", source="x")], corpus="engines")
    for corpus in ("birds", "engines"):
        client.enrich(corpus=corpus)
        state(client, corpus)
    unlike = {"e2g", "diffusion", "fulltext", "hybrid"}  # these need entities or words of the text
    for mode in sorted(set(STRATEGIES) - unlike):
        found = client.retrieve(question, corpus="engines", mode=mode, k=1)
        shown = [passage.text for passage in found.passages]
        assert shown == ["Steam engines want coal."] or (not shown and mode in MAY_FIND_NOTHING), mode
        many = client.retrieve(question, corpus="birds", mode=mode, k=5).passages
        assert len(many) == 5 or mode in MAY_FIND_NOTHING, mode
    client.delete(corpus="birds")
    client.delete(corpus="engines")


# --- migrations --------------------------------------------------------------------------------------


@pytest.mark.full
def test_neo4j_migrations_chooses_the_file_for_this_server(driver: Driver, connection: Connection) -> None:
    told, verdict = real_tool(variables_of(connection), folder("migrations"), "info", "validate")
    assert verdict == {"outcome": "VALID", "warnings": []}
    assert [one["checksum"] for one in told] == [one.checksum for one in info(driver, "neo4j")]


def test_what_was_migrated_here_counts_after_an_update_of_the_server() -> None:
    """Whichever of the two files was applied."""
    for old, new in zip(read_scripts(old=True), read_scripts(), strict=True):
        assert old.source == new.source
        assert set(old.checksums(DIMENSIONS)) == set(new.checksums(DIMENSIONS))


def test_every_index_is_what_the_files_say(driver: Driver) -> None:
    validate(driver, "neo4j")
    rows = driver.execute_query(
        "SHOW INDEXES YIELD name, labelsOrTypes, properties WHERE name STARTS WITH 'e2g_'"
    ).records
    there = {row["name"]: (frozenset(row["labelsOrTypes"]), frozenset(row["properties"])) for row in rows}
    assert shapes(read_scripts(old=True)) == there
