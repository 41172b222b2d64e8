"""The vector indexes of embedding models other than the first of a database."""

from __future__ import annotations

import re

from neo4j import Driver

from e2g_neo4j.graph import indexes, schema
from e2g_neo4j.runtime.database import is_old, translated
from e2g_neo4j.runtime.statements import with_suffix

_INDEX = re.compile(r"\bVECTOR INDEX (e2g_\w+) IF NOT EXISTS")


def create_vector_indexes(driver: Driver, database: str, *, vectors: str, dimensions: int) -> None:
    """Create those of a model, unless they exist. They are those of the migrations, with a suffix.

    Raises:
        MigrationError: an index cannot be created.
        AccessError: the user may not change the schema.
    """
    with translated():
        existing = indexes.indexes_of(driver, database)
        statements = (
            with_suffix(statement, vectors)
            for script in schema.read_scripts(old=is_old(driver))
            for statement in script.statements({"embedding_dimensions": str(dimensions)})
        )
        missing = [one for one in statements if (found := _INDEX.search(one)) and found[1] not in existing]
        if missing:
            failed = f"The indexes for vectors of {dimensions} dimensions could not be created"
            indexes.create(driver, database, missing, failed)
