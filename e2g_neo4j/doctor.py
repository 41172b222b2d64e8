"""What a database is fit for, and what would get in the way: looked at without changing anything.

The pages of Neo4j's manual behind the checks: `dbms.components`, SHOW DATABASES, SHOW INDEXES, SHOW CONSTRAINTS.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from e2g_neo4j import migrate
from e2g_neo4j.database import SEARCH_SINCE, version
from e2g_neo4j.errors import FingerprintError
from e2g_neo4j.model import Finding, Fingerprint
from e2g_neo4j.queries import Read, Rows, Story

LTS = (5, 26)
"""The oldest version that is supported, and the only one before 2026.01 that is tested."""

Shape: TypeAlias = tuple[frozenset[str], frozenset[str]]
"""Of an index: its labels or types, and its properties."""

OURS: Mapping[str, frozenset[str]] = {
    label: frozenset(properties.split())
    for label, properties in {
        "Document": "corpus id source title sha256 characters tokens chunks windows persistence state run work error",
        "Chunk": "corpus corpus_key id document index level text start end tokens page heading embedding",
        "Window": "corpus corpus_key id document index text start end embedding",
        "Summary": "corpus id document level index text tokens start end embedding",
        "Entity": "corpus key name forms form_counts chunks",
        "Alias": "corpus key name apart",
        "Corpus": "corpus chunks windows adopts",
    }.items()
}
"""The labels of ours that other tools use too, with the properties that our nodes have."""

_SHAPE = re.compile(r"(e2g_\w+) IF NOT EXISTS\s+FOR [^:]*:([\w|]+)(.*?)(?:OPTIONS|IS UNIQUE|;)", re.DOTALL)


def doctor(database: str, fingerprint: Fingerprint) -> Story[list[Finding]]:
    """All that was looked at, problems or not; `fingerprint` is what is configured here."""
    [server] = yield Read("doctor/server", {})
    access: Rows = yield Read("doctor/access", {"database": database})
    history: Rows = yield Read("migrate/history", {})
    indexes: Rows = yield Read("doctor/schema", {})
    constraints: Rows = yield Read("doctor/constraints", {})
    labels: Rows = yield Read("doctor/labels", {})
    made: Rows = yield Read("index/fingerprint", {})
    [locks] = yield Read("doctor/locks", {})
    scripts = migrate.read_scripts(old=version(server["version"]) < SEARCH_SINCE)
    return [
        *_server(server),
        *_access(access, server["edition"]),
        *_migrations(scripts, history, indexes, locks["migrations"]),
        *_names(scripts, indexes, constraints),
        *_labels(labels, begun=bool(history)),
        *_neighbours(indexes, constraints),
        *_vectors(indexes, made, fingerprint),
        *_at_work(locks["runs"]),
    ]


def _server(row: dict[str, str]) -> Iterator[Finding]:
    what = f"Neo4j {row['version']}, {row['edition']} edition"
    found = version(row["version"])
    if found >= SEARCH_SINCE:
        yield Finding("server", "ok", f"{what}.")
    elif found == LTS:
        yield Finding(
            "server", "note", f"{what}: vectors are searched in indexes that do not know corpora, see docs/joining.md."
        )
    elif found > LTS:
        yield Finding("server", "note", f"{what}: not tested, spoken to as 5.26 is.", "Update to 2026.01 or later.")
    else:
        yield Finding("server", "problem", f"{what} is too old.", "Use 5.26 LTS, or 2026.01 or later.")


def _access(rows: Rows, edition: str) -> Iterator[Finding]:
    if any(row["access"] == "read-only" for row in rows):
        yield Finding(
            "rights",
            "note",
            "The database is read-only: what is indexed can be asked, and nothing can be changed.",
            "To index, take it out of server.databases.read_only.",
        )
    elif edition == "community":
        yield Finding("rights", "ok", "The database can be written; Community gives every user all rights.")
    else:
        yield Finding(
            "rights",
            "note",
            "The database can be written; whether this user may, its roles tell. Queries need MATCH, EXECUTE PROCEDURE "
            "and SHOW INDEX; indexing needs WRITE, CREATE and DROP of indexes and constraints, and NAME MANAGEMENT.",
            "Compare with `SHOW USER PRIVILEGES AS COMMANDS`.",
        )


def _migrations(scripts: Sequence[migrate.Script], history: Rows, indexes: Rows, locks: int) -> Iterator[Finding]:
    dimensions = next((row["dimensions"] for row in indexes if row["name"] == migrate.VECTOR_INDEX), None)
    migrations = migrate.compare(scripts, history, dimensions)
    wrong = migrate.contradictions(migrations)
    pending = [one.version for one in migrations if one.state == "pending"]
    if wrong:
        yield Finding("schema", "problem", f"{'; '.join(wrong)}.", "Do that, then run `e2g migrate`.")
    elif not history:
        yield Finding("schema", "note", "There is no schema of ours yet.", "`e2g index` and `e2g migrate` make it.")
    elif pending:
        yield Finding(
            "schema",
            "problem",
            f"Migrations {', '.join(pending)} are not applied.",
            "Run `e2g migrate`, or `e2g index`.",
        )
    else:
        yield Finding("schema", "ok", f"All {len(migrations)} migrations are applied.")
    if locks:
        yield Finding(
            "schema",
            "problem",
            "The lock of the migrations is held: a run is at it, or one was killed.",
            "If none is under way: `MATCH (lock:__Neo4jMigrationsLock) DELETE lock`.",
        )


def _names(scripts: Iterable[migrate.Script], indexes: Rows, constraints: Rows) -> Iterator[Finding]:
    """Whether what has the name of an index of ours is that index, and nothing else is in its place."""
    expected = shapes(scripts)
    found = False
    for row in indexes:
        shape = frozenset(row["labels"]), frozenset(row["properties"])
        if row["name"] in expected and shape != expected[row["name"]]:
            found = True
            yield Finding(
                "names",
                "problem",
                f"The index {row['name']} is on {_on(shape)}; ours of this name is on {_on(expected[row['name']])}.",
                f"After an update of the server from 5.26: `DROP INDEX {row['name']}`, then `e2g migrate`. If another "
                "program made it, rename it there.",
            )
    for row in constraints:
        shape = frozenset(row["labels"]), frozenset(row["properties"])
        if row["name"] in expected and shape != expected[row["name"]]:
            found = True
            yield Finding(
                "names",
                "problem",
                f"The constraint {row['name']} is on {_on(shape)}, and none of ours.",
                "Rename it in the program that made it.",
            )
    there = {(row["type"], frozenset(row["labels"]), frozenset(row["properties"])): row["name"] for row in indexes}
    for name, shape in expected.items():
        other = there.get((_kind(name), *shape))
        if other and not other.startswith("e2g_"):
            found = True
            yield Finding(
                "names",
                "problem",
                f"The index {other} is on {_on(shape)}, where our {name} is to be: Neo4j makes no second one.",
                f"Drop {other}, run `e2g migrate`, and use {name} in its stead.",
            )
    if not found:
        yield Finding("names", "ok", "No index or constraint of another program has a name or place of ours.")


def _kind(name: str) -> str:
    """The type of index that a name of ours says."""
    return "VECTOR" if name.endswith("_embedding") else "FULLTEXT" if name.endswith("_words") else "RANGE"


def _labels(rows: Rows, *, begun: bool) -> Iterator[Finding]:
    foreign = [row for row in rows if row["foreign"]]
    mixed = [row for row in rows if row["ours"] and not begun]
    for row in mixed:
        yield Finding(
            "labels",
            "problem",
            f"{row['ours']} nodes labelled {row['label']} have a property `corpus` and are not ours: they would be "
            "taken for ours.",
            "Rename that property, or use another database.",
        )
    if foreign:
        told = ", ".join(f"{row['foreign']} {row['label']}" for row in foreign)
        yield Finding(
            "labels",
            "note",
            f"Nodes of others carry labels of ours: {told}. They have no property `corpus` and stay as they are; no "
            "answer shows them. Where they have a text or an embedding too, our indexes hold it as well.",
        )
    elif not mixed:
        yield Finding("labels", "ok", "No node of others carries a label of ours.")


def _neighbours(indexes: Rows, constraints: Rows) -> Iterator[Finding]:
    """Indexes and constraints of others that will hold our nodes as well."""
    found = False
    for row in indexes:
        properties = _shared(row)
        if properties and row["type"] in ("VECTOR", "FULLTEXT") and not row["name"].startswith("e2g_"):
            found = True
            yield Finding(
                "neighbours",
                "note",
                f"The {row['type'].lower()} index {row['name']} is on {_on((frozenset(row['labels']), properties))}: "
                "searches in it find nodes of ours too.",
                "Let them ask for nodes `WHERE node.corpus IS NULL`.",
            )
    for row in constraints:
        if row["name"].startswith("e2g_") or not set(row["labels"]) & OURS.keys():
            continue
        properties, unique = _shared(row), "UNIQUENESS" in row["type"] or "KEY" in row["type"]
        whole = properties == frozenset(row["properties"])
        if (unique and whole and properties not in ({"id"}, {"corpus", "id"})) or not (unique or whole):
            found = True
            yield Finding(
                "neighbours",
                "problem",
                f"The constraint {row['name']} ({row['type'].lower()}) is on "
                f"{_on((frozenset(row['labels']), frozenset(row['properties'])))}: our nodes would break it.",
                "Drop it, or use another database.",
            )
    if not found:
        yield Finding("neighbours", "ok", "No index or constraint of others is on nodes like ours.")


def _shared(row: dict[str, list[str]]) -> frozenset[str]:
    """The properties of an index or constraint that nodes of ours have."""
    return frozenset(one for label in row["labels"] for one in row["properties"] if one in OURS.get(label, ()))


def _vectors(indexes: Rows, made: Rows, fingerprint: Fingerprint) -> Iterator[Finding]:
    for row in indexes:
        if row["name"].startswith("e2g_") and row["dimensions"] not in (None, fingerprint.dimensions):
            yield Finding(
                "models",
                "problem",
                f"The index {row['name']} holds vectors of {row['dimensions']} dimensions, "
                f"{fingerprint.embedding_model} makes {fingerprint.dimensions}.",
                "Set E2G_EMBEDDING_MODEL to the model that it was made with, or use another database.",
            )
            return
    if not made:
        yield Finding("models", "ok", f"Nothing is indexed yet; it will be with {fingerprint.embedding_model}.")
        return
    try:
        fingerprint.check(Fingerprint(**made[0]))
    except FingerprintError as error:
        yield Finding("models", "problem", str(error), "Set the models as it says.")
    else:
        yield Finding("models", "ok", f"Indexed with {fingerprint.embedding_model} and {fingerprint.spacy_model}.")


def _at_work(runs: int) -> Iterator[Finding]:
    if runs:
        yield Finding("runs", "note", f"Runs that are writing now: {runs}.", "`e2g status` shows at which documents.")
    else:
        yield Finding("runs", "ok", "No run is writing.")


def shapes(scripts: Iterable[migrate.Script]) -> dict[str, Shape]:
    """What each index of ours is on, once all scripts ran."""
    scripts = list(scripts)
    left = migrate.left_in_the_end(scripts)
    found = {}
    for script in scripts:
        for name, labels, on in _SHAPE.findall(script.text):
            if name in left:
                found[name] = frozenset(labels.split("|")), frozenset(re.findall(r"\b\w+\.(\w+)", on))
    return found


def _on(shape: Shape) -> str:
    labels, properties = ("|".join(sorted(shape[0])), ", ".join(sorted(shape[1])))
    return f"(:{labels}) {properties}"
