"""Our migrations and neo4j-migrations itself, on one database. A server of its own: these tests drop everything."""

from __future__ import annotations

import asyncio
import getpass
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from at_server import settings_of, variables_of
from libraries import driven, empty, performing
from modes import MAY_FIND_NOTHING
from neo4j import AsyncGraphDatabase, Driver, GraphDatabase

from e2g_neo4j import E2G, AsyncE2G
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import AccessError, DatabaseError, MigrationError, UnreachableError
from e2g_neo4j.graph import schema as migrations
from e2g_neo4j.graph.doctor import examine
from e2g_neo4j.graph.schema import ALL_PARTS, info, validate
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.runtime import waiting
from e2g_neo4j.runtime.cypher import folder
from e2g_neo4j.runtime.database import translate_errors
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.fingerprint import Fingerprint
from e2g_neo4j.types.languages import ANALYZERS
from e2g_neo4j.types.reports import Finding

pytestmark = [pytest.mark.timeout(600), pytest.mark.by_turns(2)]

REAL_TOOL = Path(__file__).with_name("neo4j_migrations.py")
DIMENSIONS = 384


@pytest.fixture(scope="module")
def server(scratch: Connection) -> dict[str, str]:
    return variables_of(scratch)


@pytest.fixture(scope="module")
def connected(server: dict[str, str]) -> Iterator[Driver]:
    auth = (server["NEO4J_USERNAME"], server["NEO4J_PASSWORD"])
    with GraphDatabase.driver(server["NEO4J_URI"], auth=auth, notifications_min_severity="OFF") as driver:
        yield driver


@pytest.fixture
def driver(connected: Driver) -> Driver:
    """On an empty database."""
    empty(connected)
    return connected


VERSIONS = [script.version for script in migrations.read_scripts()]

migrate = partial(migrations.migrate, parts=ALL_PARTS)
"""Creates all of the schema, as neo4j-migrations does."""


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the migrations that may be edited, and that our code reads, with the placeholder filled in."""
    place = rendered(tmp_path / "migrations")
    monkeypatch.setattr(migrations, "folder", lambda _: place)
    return place


def add_migration(place: Path) -> Path:
    path = place / "V002__Later.cypher"
    path.write_text("CREATE INDEX e2g_later IF NOT EXISTS FOR (n:Later) ON (n.name);\n", "utf-8")
    return path


def real_tool(server: dict[str, str], place: Path, *commands: str) -> list[Any]:
    run = subprocess.run(
        [sys.executable, str(REAL_TOOL), str(place), *commands],
        env={**os.environ, **server},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    answers: list[Any] = json.loads(run.stdout.splitlines()[-1])
    return answers


def rendered(target: Path) -> Path:
    """The migrations with the placeholder filled in: neo4j-migrations before 3.3 knows none."""
    shutil.copytree(folder("migrations"), target)
    for path in target.rglob("*.cypher"):
        path.write_text(path.read_text("utf-8").replace("${nm:embedding_dimensions}", str(DIMENSIONS)), "utf-8")
    return target


def records(driver: Driver) -> list[tuple[dict[str, Any], ...]]:
    """The chain as it is stored; times and durations, which differ from run to run, by their type only."""
    chain = driver.execute_query(
        "MATCH (a:__Neo4jMigration)-[r:MIGRATED_TO]->(b:__Neo4jMigration) RETURN a, r, b ORDER BY b.version"
    ).records
    return [
        (dict(start), {k: v if isinstance(v, str) else type(v).__name__ for k, v in run.items()}, dict(end))
        for start, run, end in chain
    ]


def schema(driver: Driver) -> set[tuple[str, ...]]:
    """Every index and constraint, with its settings."""
    found = driver.execute_query("SHOW INDEXES YIELD * WHERE type <> 'LOOKUP'").records
    keys = ("name", "type", "entityType", "labelsOrTypes", "properties", "owningConstraint", "indexProvider")
    return {(*(str(r[key]) for key in keys), str(sorted(r["options"]["indexConfig"].items()))) for r in found}


def locks(driver: Driver) -> int:
    return int(driver.execute_query("MATCH (l:__Neo4jMigrationsLock) RETURN count(l) AS n").records[0]["n"])


def test_neo4j_migrations_accepts_what_ours_migrated(driver: Driver, server: dict[str, str]) -> None:
    applied = migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)
    assert [run.version for run in applied] == VERSIONS
    told, verdict, last = real_tool(server, folder("migrations"), "info", "validate", "apply")
    assert verdict == {"outcome": "VALID", "warnings": []}
    assert last == VERSIONS[-1]
    ours = info(driver, "neo4j")
    by = f"{getpass.getuser()}/neo4j"
    assert told == [
        {"version": m.version, "state": "APPLIED", "source": m.source, "checksum": m.checksum, "by": by} for m in ours
    ]
    assert [m.state for m in ours] == ["applied"]
    assert locks(driver) == 0
    [of_5_26] = migrations.read_scripts(old=True)
    changed = "MATCH (m:__Neo4jMigration {version: '001'}) SET m.checksum = $checksum"
    driver.execute_query(changed, checksum=migrations.checksum(of_5_26.text))  # as after an update of the server
    assert real_tool(server, folder("migrations"), "validate") == [{"outcome": "VALID", "warnings": []}]
    validate(driver, "neo4j")


def test_ours_accepts_what_neo4j_migrations_migrated(driver: Driver, server: dict[str, str], tmp_path: Path) -> None:
    last, told = real_tool(server, rendered(tmp_path / "rendered"), "apply", "info")
    assert last == VERSIONS[-1]
    assert [m.state for m in info(driver, "neo4j")] == ["applied"] * len(VERSIONS)
    assert [m.checksum for m in info(driver, "neo4j")] == [element["checksum"] for element in told]
    validate(driver, "neo4j")
    before = records(driver)
    assert migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS) == []
    assert records(driver) == before


@pytest.mark.full
def test_ours_continues_where_neo4j_migrations_stopped(driver: Driver, server: dict[str, str], copy: Path) -> None:
    assert real_tool(server, copy, "apply") == ["001"]
    add_migration(copy)
    assert [m.state for m in info(driver, "neo4j")] == ["applied", "pending"]
    assert [run.version for run in migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)] == ["002"]
    assert real_tool(server, copy, "validate") == [{"outcome": "VALID", "warnings": []}]


@pytest.mark.full
def test_both_leave_the_same_records_and_the_same_schema(driver: Driver, server: dict[str, str], copy: Path) -> None:
    add_migration(copy)
    real_tool(server, copy, "apply")
    theirs = records(driver), schema(driver)
    empty(driver)
    migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)
    assert (records(driver), schema(driver)) == theirs
    assert len(theirs[0]) == 2


def test_an_index_that_a_question_misses_is_named_with_the_next_step(driver: Driver) -> None:
    statement = "CALL db.index.fulltext.queryNodes('e2g_nothing', 'x') YIELD node RETURN node"
    with (
        pytest.raises(DatabaseError, match=r"The database has no index e2g_nothing: run `e2g doctor --migrate`\."),
        translate_errors(),
    ):
        driver.execute_query(statement)


def test_indexes_of_an_older_server_are_named_and_made_again(driver: Driver) -> None:
    """As they are after an update from 5.26."""
    migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)
    wanted = schema(driver)
    older = [one for script in migrations.read_scripts(old=True) for one in script.definitions(DIMENSIONS)]
    vectors = {one.name: one.statement for one in older if "VECTOR INDEX" in one.statement}
    for name in vectors.keys() - {"e2g_summary_embedding"}:
        driver.execute_query(f"DROP INDEX {name}")
    for statement in vectors.values():
        driver.execute_query(statement)
    told = [one.what for one in looked_at(driver) if one.state == "problem"]
    assert sorted(what.split()[2] for what in told) == sorted(vectors.keys() - {"e2g_summary_embedding"})
    for name in vectors:
        driver.execute_query(f"DROP INDEX {name}")
    assert migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS) == []
    assert schema(driver) == wanted
    assert {one.state for one in looked_at(driver)} == {"ok"}


def looked_at(driver: Driver) -> list[Finding]:
    models: Any = SimpleNamespace(fingerprint=Fingerprint("a model", DIMENSIONS, "mean", "a pipeline"))
    return driven(performing(driver), examine(models, "neo4j"))


def test_both_notice_an_edited_file(driver: Driver, server: dict[str, str], copy: Path) -> None:
    migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)
    path = copy / "V001__Schema.cypher"
    path.write_text(path.read_text("utf-8").replace("english", "swedish"), "utf-8")
    (verdict,) = real_tool(server, copy, "validate")
    assert verdict["outcome"] == "DIFFERENT_CONTENT"
    assert "001" in verdict["warnings"][0]
    assert [m.state for m in info(driver, "neo4j")] == ["changed"]
    with pytest.raises(MigrationError, match=r"V001__Schema\.cypher is not the file"):
        validate(driver, "neo4j")
    with pytest.raises(MigrationError, match=r"V001__Schema\.cypher is not the file"):
        migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)


@pytest.mark.full
def test_both_notice_a_missing_file(driver: Driver, server: dict[str, str], copy: Path) -> None:
    later = add_migration(copy)
    migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)
    later.unlink()
    assert real_tool(server, copy, "validate")[0]["outcome"] == "INCOMPLETE_MIGRATIONS"
    with pytest.raises(MigrationError, match=r"V002__Later\.cypher was applied but is not part of"):
        validate(driver, "neo4j")


def test_an_empty_database_is_all_pending_and_asking_changes_nothing(driver: Driver) -> None:
    assert [m.state for m in info(driver, "neo4j")] == ["pending"] * len(VERSIONS)
    with pytest.raises(MigrationError, match="run `e2g doctor --migrate`"):
        validate(driver, "neo4j")
    assert schema(driver) == set()


def test_several_processes_at_once_migrate_once(driver: Driver, server: dict[str, str]) -> None:
    code = (
        "import os, neo4j\n"
        "from e2g_neo4j.graph.schema import migrate\n"
        "auth = os.environ['NEO4J_USERNAME'], os.environ['NEO4J_PASSWORD']\n"
        "with neo4j.GraphDatabase.driver(os.environ['NEO4J_URI'], auth=auth) as driver:\n"
        f"    print(len(migrate(driver, 'neo4j', embedding_dimensions={DIMENSIONS}, parts=['service'])))\n"
    )
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, **server},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    outputs = [run.communicate(timeout=120) for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0], outputs
    assert sorted(out.strip() for out, _ in outputs) == ["0", "0", str(len(VERSIONS))]
    validate(driver, "neo4j")
    assert len(records(driver)) == len(VERSIONS)
    assert locks(driver) == 0


def test_commands_at_once_wait_for_each_other_and_tell_no_deadlock(server: dict[str, str], driver: Driver) -> None:
    command = [sys.executable, "-m", "e2g_neo4j.cli", "doctor", "--migrate"]
    pipe = subprocess.PIPE
    runs = [
        subprocess.Popen(command, env={**os.environ, **server}, stdout=pipe, stderr=pipe, text=True) for _ in range(3)
    ]
    outputs = [run.communicate(timeout=240) for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0], outputs
    assert not [error for _, error in outputs if re.search("deadlock|failed|Transient", error, re.IGNORECASE)]
    assert len(records(driver)) == len(VERSIONS)
    assert locks(driver) == 0


def test_a_holder_of_the_lock_that_gets_on_is_waited_for(
    server: dict[str, str], driver: Driver, caplog: pytest.LogCaptureFixture
) -> None:
    """For longer than one may hold it and do nothing."""
    caplog.set_level(logging.INFO, logger="e2g_neo4j.waiting")
    migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)
    driver.execute_query("CREATE (:__Neo4jMigrationsLock {id: 'theirs', name: 'John Doe'})")
    driver.execute_query("DROP INDEX e2g_embedding")

    def hold() -> None:
        for number in range(6):
            time.sleep(1)
            driver.execute_query(f"CREATE RANGE INDEX e2g_held_{number} FOR (n:Held{number}) ON (n.name)")
        driver.execute_query("MATCH (lock:__Neo4jMigrationsLock) DELETE lock")

    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(hold)
        migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS, lock_seconds=3)
        holding.result()
    for number in range(6):
        driver.execute_query(f"DROP INDEX e2g_held_{number}")
    assert "Taking the lock of the schema" in caplog.text
    assert locks(driver) == 0


@pytest.mark.full
def test_the_lock_of_another_run_is_waited_for_and_then_explained(driver: Driver, server: dict[str, str]) -> None:
    migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)
    driver.execute_query("CREATE (:__Neo4jMigrationsLock {id: 'theirs', name: 'John Doe'})")
    assert "error" in real_tool(server, folder("migrations"), "info")[0], "the real tool minds this lock too"
    driver.execute_query("DROP INDEX e2g_embedding")
    with pytest.raises(MigrationError, match="DELETE lock"):
        migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS, lock_seconds=0.5)
    assert locks(driver) == 1, "another's lock is never taken away"


def test_a_failed_migration_leaves_no_lock_and_no_record(driver: Driver) -> None:
    driver.execute_query("UNWIND [1, 2] AS i CREATE (:Entity {corpus: 'c', key: 'twice'})")
    with pytest.raises(MigrationError, match=r"V001__Schema\.cypher could not be applied.*twice"):
        migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)
    assert locks(driver) == 0
    assert [m.state for m in info(driver, "neo4j")] == ["pending"] * len(VERSIONS)
    driver.execute_query("MATCH (e:Entity) WITH e LIMIT 1 DELETE e")
    assert len(migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)) == len(VERSIONS)


def test_indexes_keep_their_dimensions_and_those_of_another_model_are_beside_them(driver: Driver) -> None:
    migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)
    assert migrate(driver, "neo4j", embedding_dimensions=768) == []
    assert set(dimensions(driver).values()) == {DIMENSIONS}
    for words in ("_cjk", "_german", "_standard", "_cjk"):  # the second time, they are there
        migrations.create_suffixed(driver, "neo4j", suffix=f"_0123abcd{words}", dimensions=768)
    found = dimensions(driver)
    assert {name for name, number in found.items() if number == 768} == {
        f"{name}_0123abcd" for name, number in found.items() if number == DIMENSIONS
    }
    validate(driver, "neo4j")
    shown = driver.execute_query("SHOW FULLTEXT INDEXES YIELD name, options").records
    analyzers = {row["name"]: row["options"]["indexConfig"]["fulltext.analyzer"] for row in shown}
    for kind in ("chunk", "window"):
        made = [analyzers.get(f"e2g_{kind}_words{suffix}") for suffix in ("", "_cjk", "_german", "_standard")]
        assert made == ["english", "cjk", "german", "standard-no-stop-words"]
    rows = driver.execute_query("CALL db.index.fulltext.listAvailableAnalyzers()").records
    assert set(ANALYZERS.values()) <= {row["analyzer"] for row in rows}
    driver.execute_query("DROP INDEX e2g_embedding")
    with pytest.raises(MigrationError, match="e2g_embedding is missing"):
        validate(driver, "neo4j")
    assert migrate(driver, "neo4j", embedding_dimensions=768) == []
    validate(driver, "neo4j")


def dimensions(driver: Driver) -> dict[str, int]:
    """The number of dimensions of each vector index."""
    rows = driver.execute_query("SHOW VECTOR INDEXES YIELD name, options").records
    return {row["name"]: row["options"]["indexConfig"]["vector.dimensions"] for row in rows}


def test_an_index_that_was_dropped_by_hand_is_made_again(driver: Driver) -> None:
    migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)
    before = schema(driver)
    driver.execute_query("DROP INDEX e2g_document_source")
    with pytest.raises(MigrationError, match="e2g_document_source is missing"):
        validate(driver, "neo4j")
    assert migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS) == []
    validate(driver, "neo4j")
    assert schema(driver) == before
    assert len(records(driver)) == len(VERSIONS)


def test_a_new_database_has_the_core_alone_and_each_part_once_it_is_used(
    driver: Driver, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is recorded anew, and the real tool finds the files applied."""
    scripts = migrations.read_scripts()
    defined = [one for script in scripts for one in script.definitions(DIMENSIONS)]

    def made() -> set[str]:
        return {index[0] for index in schema(driver) if index[0].startswith("e2g_")}

    with caplog.at_level(logging.INFO, waiting.logger.name):
        applied = migrations.migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)
    assert [run.version for run in applied] == VERSIONS
    assert made() == {one.name for one in defined if one.part == "core"}
    told = [text for record in caplog.records if "the schema (" in (text := record.getMessage())]
    assert told == [f"Creating the schema ({done} of {len(made())})" for done in range(1, len(made()) + 1)]
    validate(driver, "neo4j")
    assert {one.state for one in looked_at(driver)} == {"ok"}
    recorded = records(driver)
    for part in ALL_PARTS:
        before = made()
        if any(one.part == part for one in defined):
            with pytest.raises(MigrationError, match="is missing: run `e2g doctor --migrate`"):
                validate(driver, "neo4j", [part])
        assert migrations.migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS, parts=[part]) == []
        assert made() - before == {one.name for one in defined if one.part == part}
    assert records(driver) == recorded
    assert {one.state for one in looked_at(driver)} == {"ok"}


def test_modes_that_need_no_layer_find_passages_in_a_new_database(driver: Driver, scratch: Connection) -> None:
    text = "Alice Harper met Bob Miller in Paris. Miller sold her a letter. The letter was old. " * 12
    with E2G(settings=settings_of(scratch, workers=1)) as client:
        client.index([from_text(text, corpus="novels", source="x")], corpus="novels")
        assert "e2g_community_key" not in {index[0] for index in schema(driver)}
        for mode in client.modes(["novels"]):
            if mode.missing is None:
                found = client.retrieve("Did Alice Harper meet Bob Miler?", corpus="novels", mode=mode.name, k=3)
                assert found.passages or mode.name in MAY_FIND_NOTHING, mode.name


def test_indexes_are_populated_when_migrate_returns(driver: Driver) -> None:
    driver.execute_query(
        "UNWIND range(1, 20000) AS i CREATE (:Chunk {corpus: 'c', id: toString(i), document: 'd', text: 'word ' + i})"
    )
    migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)
    states = driver.execute_query("SHOW INDEXES YIELD name, state WHERE name STARTS WITH 'e2g_'").records
    assert {record["state"] for record in states} == {"ONLINE"}
    assert len(states) == 55


def test_nodes_and_indexes_of_other_tools_stay_as_they_are(driver: Driver) -> None:
    driver.execute_query("CREATE FULLTEXT INDEX theirs FOR (c:Chunk) ON EACH [c.text]")
    driver.execute_query("CREATE CONSTRAINT also_theirs FOR (d:Document) REQUIRE d.id IS UNIQUE")
    driver.execute_query("UNWIND [1, 2] AS i CREATE (:Entity {name: 'Ann'}), (:Chunk {id: 'same', text: 'x'})")
    theirs = schema(driver)
    migrate(driver, "neo4j", embedding_dimensions=DIMENSIONS)
    validate(driver, "neo4j")
    assert theirs < schema(driver)
    left = driver.execute_query("MATCH (n:Entity|Chunk) RETURN count(n) AS n").records[0]["n"]
    assert left == 4


def test_a_wrong_password_and_a_closed_port_say_so(driver: Driver, server: dict[str, str]) -> None:
    with (
        GraphDatabase.driver(server["NEO4J_URI"], auth=("neo4j", "wrong password")) as stranger,
        pytest.raises(AccessError, match="NEO4J_PASSWORD"),
    ):
        migrate(stranger, "neo4j", embedding_dimensions=DIMENSIONS)
    with (
        GraphDatabase.driver("bolt://127.0.0.1:9", auth=("neo4j", "any")) as nobody,
        pytest.raises(UnreachableError, match="NEO4J_URI"),
    ):
        migrate(nobody, "neo4j", embedding_dimensions=DIMENSIONS)


# --- over an async driver ----------------------------------------------------------------------------


def test_indexing_with_a_borrowed_async_driver_migrates_the_database_of_that_driver(
    server: dict[str, str], driver: Driver
) -> None:
    """The settings name another server: nothing may be asked of it."""
    elsewhere = Settings(neo4j_uri="bolt://127.0.0.1:9")
    note = from_text("Alice met Bob in Paris.", corpus="borrowed", source="memory:1")

    async def borrowed() -> tuple[Any, ...]:
        auth = (server["NEO4J_USERNAME"], server["NEO4J_PASSWORD"])
        async with (
            AsyncGraphDatabase.driver(server["NEO4J_URI"], auth=auth) as mine,
            AsyncE2G(mine, settings=elsewhere) as client,
        ):
            return await client.index([note], corpus="borrowed"), await client.migrate()

    report, again = asyncio.run(borrowed())
    assert (report.documents, again) == (1, [])
    validate(driver, "neo4j")
