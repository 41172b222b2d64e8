"""List and create indexes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from neo4j import Driver, ManagedTransaction
from neo4j.exceptions import ClientError, DatabaseError, Forbidden

from e2g_neo4j.errors import MigrationError
from e2g_neo4j.runtime.cypher import load
from e2g_neo4j.runtime.database import session_options, translate_errors
from e2g_neo4j.runtime.requests import Rows

POPULATION_SECONDS = 600
"""How long to wait until a new index is populated."""

POLL_SECONDS = 0.1

VECTOR_INDEX = "e2g_embedding"


def run(driver: Driver, database: str, statement: str, **parameters: Any) -> Rows:
    """Run a statement of `cypher/migrate/`."""
    result = driver.execute_query(load(f"migrate/{statement}"), parameters, database_=database)
    return [record.data() for record in result.records]


def indexes_of(driver: Driver, database: str) -> set[str]:
    """Return the names of the indexes of this project."""
    with translate_errors(driver):
        return {row["name"] for row in run(driver, database, "indexes")}


def vector_dimensions(driver: Driver, database: str) -> int | None:
    """Return the number of dimensions of the first embedding model's indexes, or None if there are none yet."""
    indexes = run(driver, database, "indexes")
    return next((row["dimensions"] for row in indexes if row["name"] == VECTOR_INDEX), None)


def create(
    driver: Driver,
    database: str,
    statements: Sequence[str],
    failed: str,
    created: Callable[[], object] = lambda: None,
    **parameters: Any,
) -> None:
    """Run statements that create indexes and the like in one transaction, and wait for the indexes.

    `created` is called after each statement.

    Raises:
        MigrationError: a statement failed; the message begins with `failed`.
        AccessError: the user may not change the schema.
    """

    def work(transaction: ManagedTransaction) -> None:
        for statement in statements:
            transaction.run(statement, parameters).consume()  # from a file of this project
            created()

    try:
        with driver.session(**session_options(driver, database)) as session:
            session.execute_write(work)
        deadline = time.monotonic() + POPULATION_SECONDS
        while late := [row for row in run(driver, database, "indexes") if row["state"] != "ONLINE"]:
            if time.monotonic() > deadline or "FAILED" in {row["state"] for row in late}:
                raise MigrationError(
                    f"{failed}: Neo4j could not fill the index {late[0]['name']}, see its log. Drop it and run "
                    "`e2g doctor --migrate`."
                )
            time.sleep(POLL_SECONDS)
    except Forbidden:
        raise
    except (ClientError, DatabaseError) as error:
        reason = " ".join((error.message or "").split())
        raise MigrationError(f"{failed}: {reason} Correct this and run `e2g doctor --migrate`.") from error
