"""What Neo4j's errors become."""

from __future__ import annotations

import pytest
from neo4j.exceptions import Neo4jError

from e2g_neo4j.database import translated
from e2g_neo4j.errors import AccessError


def test_a_lock_out_after_wrong_passwords_is_told_from_other_refusals() -> None:
    error = Neo4jError._hydrate_neo4j(code="Neo.ClientError.Security.AuthenticationRateLimit", message="too many")
    with pytest.raises(AccessError, match="NEO4J_PASSWORD"), translated():
        raise error
