"""What Neo4j's errors become, and what is said of its versions."""

from __future__ import annotations

import pytest
from neo4j.exceptions import Neo4jError

from e2g_neo4j.errors import AccessError, DatabaseError
from e2g_neo4j.graph import doctor
from e2g_neo4j.runtime.database import translated


def test_a_lock_out_after_wrong_passwords_is_told_from_other_refusals() -> None:
    error = Neo4jError._hydrate_neo4j(code="Neo.ClientError.Security.AuthenticationRateLimit", message="too many")
    with pytest.raises(AccessError, match="NEO4J_PASSWORD"), translated():
        raise error


@pytest.mark.parametrize(
    "code",
    [
        "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
        "Neo.TransientError.General.TransactionOutOfMemoryError",
        "Neo.TransientError.General.OutOfMemoryError",
    ],
)
def test_a_transaction_that_is_too_large_for_the_server_names_what_to_raise(code: str) -> None:
    error = Neo4jError._hydrate_neo4j(code=code, message="The memory pool limit was exceeded.")
    with pytest.raises(DatabaseError, match=r"pool limit.*E2G_DB_HEAP_MB.*heap\.max_size"), translated():
        raise error


@pytest.mark.parametrize(
    ("number", "state"),
    [("2026.09.0", "ok"), ("2026.08.1", "ok"), ("2026.08.0", "note"), ("5.26.31", "note")],
)
def test_doctor_judges_the_version_of_the_server(number: str, state: str) -> None:
    [found] = doctor._server({"version": number, "edition": "community"})
    assert found.state == state
    assert number in found.what
    assert bool(found.next_step) == (number == "2026.08.0")
