"""What Neo4j's errors become, and what is said of its versions."""

from __future__ import annotations

import re

import pytest
from neo4j.exceptions import Neo4jError, ServiceUnavailable

from e2g_neo4j.errors import AccessError, DatabaseError, UnreachableError
from e2g_neo4j.graph import doctor
from e2g_neo4j.runtime import drivers
from e2g_neo4j.runtime.database import translate_errors


class Anything:
    """Stands for a driver, and for its managed server."""

    def __init__(self) -> None:
        self.ended = 0

    def revive(self) -> tuple[str, int]:
        return "127.0.0.1", 1

    def end_broken(self) -> None:
        self.ended += 1


@pytest.fixture
def managed() -> Anything:
    driver = Anything()
    drivers.MANAGED[driver] = driver
    return driver


def test_a_lock_out_after_wrong_passwords_is_told_from_other_refusals() -> None:
    error = Neo4jError._hydrate_neo4j(code="Neo.ClientError.Security.AuthenticationRateLimit", message="too many")
    with pytest.raises(AccessError, match="NEO4J_PASSWORD"), translate_errors():
        raise error


@pytest.mark.parametrize(
    "code",
    [
        "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
        "Neo.TransientError.General.TransactionOutOfMemoryError",
        "Neo.TransientError.General.OutOfMemoryError",
    ],
)
def test_a_transaction_that_is_too_large_for_the_server_names_what_to_raise(code: str, managed: Anything) -> None:
    limit = "would use more than the limit 128.0 MiB. dbms.memory.transaction.total.max threshold reached"
    for server, message, advice in (
        (managed, limit, "increase E2G_DB_HEAP_MB and restart"),
        (None, limit, "increase dbms.memory.transaction.total.max of your server"),
        (None, "The memory pool limit was exceeded.", "increase server.memory.heap.max_size of your server"),
    ):
        error = Neo4jError._hydrate_neo4j(code=code, message=message)
        with pytest.raises(DatabaseError, match=re.escape(message)) as raised, translate_errors(server):
            raise error
        assert advice in str(raised.value)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("Neo.DatabaseError.Transaction.TransactionLogError", "Could not append transaction"),
        ("Neo.DatabaseError.Transaction.TransactionStartFailed", "A critical error, and needs to be restarted."),
        ("Neo.DatabaseError.General.UnknownError", "java.io.IOException: No space left on device"),
    ],
)
def test_a_full_disk_is_named_and_a_managed_server_ended(code: str, message: str, managed: Anything) -> None:
    for driver, advice in ((managed, "started again by itself"), (None, "then restart the database")):
        error = Neo4jError._hydrate_neo4j(code=code, message=message)
        with pytest.raises(DatabaseError, match=f"its disk is full: free up space.*{advice}"), translate_errors(driver):
            raise error
    assert managed.ended == 1


def test_advice_about_a_lost_connection_is_about_the_server_that_is_used(managed: Anything) -> None:
    for server, advice in ((managed, "`e2g db logs`"), (None, "check NEO4J_URI")):
        with pytest.raises(UnreachableError) as raised, translate_errors(server):
            raise ServiceUnavailable("Couldn't connect to 127.0.0.1:1:\nFailed to establish connection")
        assert advice in str(raised.value)
        assert ("NEO4J_URI" in str(raised.value)) == (server is None)
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("number", "state"),
    [("2026.09.0", "ok"), ("2026.08.1", "ok"), ("2026.08.0", "note"), ("5.26.31", "note")],
)
def test_doctor_judges_the_version_of_the_server(number: str, state: str) -> None:
    [found] = doctor._server({"version": number, "edition": "community"})
    assert found.state == state
    assert number in found.what
    assert bool(found.next_step) == (number == "2026.08.0")
