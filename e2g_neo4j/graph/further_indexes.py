"""Indexes that not every database needs: of further embedding models, and of words in other languages than English."""

from __future__ import annotations

import re

from neo4j import Driver

from e2g_neo4j.graph import indexes, schema
from e2g_neo4j.runtime.database import is_old, translated
from e2g_neo4j.runtime.statements import load, split_suffix, with_suffix
from e2g_neo4j.types.languages import ANALYZERS

_INDEX = re.compile(r"\b(?:VECTOR|FULLTEXT) INDEX (e2g_\w+) IF NOT EXISTS")


def create(driver: Driver, database: str, *, suffix: str, dimensions: int) -> None:
    """Create the indexes with a suffix, unless they exist. Those of vectors are like the ones that exist without it.

    Raises:
        MigrationError: an index cannot be created.
        AccessError: the user may not change the schema.
    """
    vectors, words = split_suffix(suffix)
    with translated(driver):
        existing = indexes.indexes_of(driver, database)
        names = ("migrate/chunk_words", "migrate/window_words") if words else ()
        wanted = [load(name, vectors=words) for name in names]
        if vectors:
            wanted += [
                with_suffix(one.statement, vectors)
                for script in schema.read_scripts(old=is_old(driver))
                for one in script.definitions(dimensions)
                if one.name in existing and "VECTOR INDEX" in one.statement
            ]
        missing = [one for one in wanted if existing.isdisjoint(_INDEX.findall(one))]
        if missing:
            failed = f"The indexes with the suffix {suffix} could not be created"
            indexes.create(driver, database, missing, failed, analyzer=ANALYZERS.get(words))
