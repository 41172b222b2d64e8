"""`e2g doctor`: check whether a database can be used, without changing it.

The checks use `dbms.components`, SHOW DATABASES, SHOW INDEXES and SHOW CONSTRAINTS, see the Neo4j manual.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from shlex import quote
from typing import Any, TypeAlias

from e2g_neo4j.graph import schema
from e2g_neo4j.graph.indexes import VECTOR_INDEX
from e2g_neo4j.models.choice import command_for_language, describe_lack
from e2g_neo4j.models.embedding.prefixes import knows_language
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.database import LTS, SEARCH_SINCE, version
from e2g_neo4j.runtime.requests import Operation, Read, Rows
from e2g_neo4j.types.fingerprint import Fingerprint
from e2g_neo4j.types.languages import name_of
from e2g_neo4j.types.mentions import find_circle
from e2g_neo4j.types.reports import Finding

Shape: TypeAlias = tuple[frozenset[str], frozenset[str]]
"""The labels or types of an index, and its properties."""

OWN_PROPERTIES: Mapping[str, frozenset[str]] = {
    label: frozenset(properties.split())
    for label, properties in {
        "Document": "corpus id source title sha256 characters tokens chunks windows persistence losses state run "
        "work error chunker extractor changed",
        "Chunk": "corpus corpus_key id document index level text start end tokens page heading terms embedding notes "
        "own told sentence_vectors term_windows window_headings window_shares window_weights",
        "Window": "corpus corpus_key id document index text start end embedding",
        "Summary": "corpus id document level index text tokens start end embedding made_of notes notes_of",
        "Entity": "corpus key name forms form_counts type types type_counts chunks description description_chunk "
        "embedded_name embedding typed_label",
        "Alias": "corpus key name apart into",
        "Corpus": "corpus chunks windows unread adopts adopted_properties revision communities clusters "
        "entity_vectors sentence_vectors descriptions statements statement_models report_models typed typed_labels "
        "typed_types typed_patterns graph_schema importing importer",
        "Community": "corpus id level title text rating entities sha256 report_sha256 sources embedding",
        "Cluster": "corpus id level text tokens chunks document start end sha256 text_sha256 embedding",
        "Statement": "corpus id predicate text keywords strength subject_type object_type status period embedding",
        "Term": "corpus term windows",
    }.items()
}
"""Labels of this project that other tools use too, with the properties of this project's nodes."""

_SHAPE = re.compile(r"(e2g_\w+) IF NOT EXISTS\s+FOR [^:]*:([\w|]+)(.*?)(?:OPTIONS|IS UNIQUE|;)", re.DOTALL)


def examine(models: Models, database: str) -> Operation[list[Finding]]:
    """Check a database against the configured models. Return the findings, including checks without a problem."""
    [server] = yield Read("doctor/server", {})
    access: Rows = yield Read("doctor/access", {"database": database})
    history: Rows = yield Read("migrate/history", {})
    indexes: Rows = yield Read("doctor/schema", {})
    constraints: Rows = yield Read("doctor/constraints", {})
    labels: Rows = yield Read("doctor/labels", {})
    stored: Rows = yield Read("doctor/models", {})
    [locks] = yield Read("doctor/locks", {})
    behind: Rows = yield Read("doctor/behind", {})
    unused: Rows = yield Read("doctor/unused", {})
    overrides: Rows = yield Read("doctor/overrides", {})
    scripts = schema.read_scripts(old=version(server["version"]) < SEARCH_SINCE)
    return [
        *_server(server),
        *_access(access, server["edition"]),
        *_migrations(scripts, history, indexes, locks["migrations"]),
        *_names(scripts, indexes, constraints),
        *_labels(labels, migrated=bool(history)),
        *_neighbours(indexes, constraints),
        *_models(stored, models),
        *_find_unused([row["corpus"] for row in unused]),
        *_layers([row["corpus"] for row in behind]),
        *_merges(overrides),
        *_runs(locks["runs"]),
    ]


def _server(row: dict[str, str]) -> Iterator[Finding]:
    what = f"Neo4j {row['version']}, {row['edition']} edition"
    server_version = version(row["version"])
    if row["version"] == "2026.08.0":
        yield Finding(
            "server",
            "note",
            f"{what}: its makers recommend 2026.08.1, which mends an issue with some queries.",
            "Update to 2026.08.1 or later.",
        )
    elif server_version >= SEARCH_SINCE:
        yield Finding("server", "ok", f"{what}.")
    elif server_version == LTS:
        yield Finding(
            "server", "note", f"{what}: vector indexes cannot filter by corpus in this version, see docs/joining.md."
        )
    else:
        yield Finding("server", "note", f"{what}: not tested, used like 5.26.", "Update to 2026.01 or later.")


def _access(rows: Rows, edition: str) -> Iterator[Finding]:
    if any(row["access"] == "read-only" for row in rows):
        yield Finding(
            "rights",
            "note",
            "The database is read-only. Existing indexes can be queried, but nothing can be indexed.",
            "To index, remove it from server.databases.read_only.",
        )
    elif edition == "community":
        yield Finding("rights", "ok", "The database is writable. In Community edition every user has all privileges.")
    else:
        yield Finding(
            "rights",
            "note",
            "The database is writable. The roles of the user decide what it may do. Queries need MATCH, EXECUTE "
            "PROCEDURE and SHOW INDEX; indexing needs WRITE, CREATE and DROP of indexes and constraints, and NAME "
            "MANAGEMENT.",
            "Compare with `SHOW USER PRIVILEGES AS COMMANDS`.",
        )


def _migrations(scripts: Sequence[schema.Script], history: Rows, indexes: Rows, locks: int) -> Iterator[Finding]:
    dimensions = next((row["dimensions"] for row in indexes if row["name"] == VECTOR_INDEX), None)
    migrations = schema.compare(scripts, history, dimensions)
    conflicts = schema.conflicts(migrations)
    pending = [one.version for one in migrations if one.state == "pending"]
    missing = schema.find_missing_indexes(scripts, {row["name"] for row in indexes}, ())
    if conflicts:
        yield Finding("schema", "problem", f"{'; '.join(conflicts)}.", "Do that, then run `e2g doctor --migrate`.")
    elif not history:
        yield Finding("schema", "note", "The schema does not exist yet.", "`e2g index` creates it.")
    elif pending:
        yield Finding(
            "schema",
            "problem",
            f"Not applied of `migrations/`: {', '.join(pending)}.",
            "Run `e2g doctor --migrate`. `e2g index` applies them too.",
        )
    elif missing:
        yield Finding(
            "schema",
            "problem",
            f"Missing: {', '.join(sorted(missing))}.",
            "Run `e2g doctor --migrate`, or drop the other index on the same properties.",
        )
    else:
        yield Finding("schema", "ok", "The schema is that of `migrations/`.")
    if locks:
        yield Finding(
            "schema",
            "problem",
            "The lock of the migrations is held: a migration is running, or was killed.",
            "If none is running: `MATCH (lock:__Neo4jMigrationsLock) DELETE lock`.",
        )


def _names(scripts: Iterable[schema.Script], indexes: Rows, constraints: Rows) -> Iterator[Finding]:
    """Check that indexes with names of this project are its own, and that no other index takes their place."""
    expected = shapes(scripts)
    found = False
    for kind, row in [*(("index", row) for row in indexes), *(("constraint", row) for row in constraints)]:
        name, shape = row["name"], _shape(row)
        if name not in expected or shape == expected[name]:
            continue
        found = True
        problem = f"The constraint {name} on {_on(shape)} belongs to another program."
        step = "Rename it in the program that created it."
        if kind == "index":
            problem = f"The index {name} is on {_on(shape)}, but should be on {_on(expected[name])}."
            step = (
                f"After an update of the server from 5.26: `DROP INDEX {name}`, then `e2g doctor --migrate`. If "
                "another program created it, rename it there."
            )
        yield Finding("names", "problem", problem, step)
    existing = {(row["type"], *_shape(row)): row["name"] for row in indexes}
    for name, shape in expected.items():
        other = existing.get((_kind(name), *shape))
        if other and not other.startswith("e2g_"):
            found = True
            yield Finding(
                "names",
                "problem",
                f"The index {other} is on {_on(shape)}, like {name} of this program. Neo4j does not allow two of them.",
                f"Drop {other}, run `e2g doctor --migrate`, and use {name} instead.",
            )
    if not found:
        yield Finding("names", "ok", "No index or constraint of another program conflicts with one of this program.")


def _kind(name: str) -> str:
    """Return the type of an index of this project from its name."""
    return "VECTOR" if name.endswith("_embedding") else "FULLTEXT" if name.endswith("_words") else "RANGE"


def _labels(rows: Rows, *, migrated: bool) -> Iterator[Finding]:
    foreign = [row for row in rows if row["foreign"]]
    mixed = [row for row in rows if row["ours"] and not migrated]
    for row in mixed:
        yield Finding(
            "labels",
            "problem",
            f"{row['ours']} nodes labelled {row['label']} of another program have a property `corpus`. They would be "
            "mistaken for nodes of this program.",
            "Rename that property, or use another database.",
        )
    if foreign:
        counts = ", ".join(f"{row['foreign']} {row['label']}" for row in foreign)
        yield Finding(
            "labels",
            "note",
            f"Nodes of other programs have labels that this program uses: {counts}. They have no property `corpus`, "
            "are not changed and never appear in results. If they have a text or an embedding, the indexes of this "
            "program contain it.",
        )
    elif not mixed:
        yield Finding("labels", "ok", "No node of another program has a label that this program uses.")


def _neighbours(indexes: Rows, constraints: Rows) -> Iterator[Finding]:
    """Check for indexes and constraints of other programs that apply to nodes of this program."""
    found = False
    for row in indexes:
        properties = _own_properties(row)
        if properties and row["type"] in ("VECTOR", "FULLTEXT") and not row["name"].startswith("e2g_"):
            found = True
            yield Finding(
                "neighbours",
                "note",
                f"The {row['type'].lower()} index {row['name']} is on {_on((frozenset(row['labels']), properties))}: "
                "searches in it also find nodes of this program.",
                "Add `WHERE node.corpus IS NULL` to these searches.",
            )
    for row in constraints:
        if row["name"].startswith("e2g_") or not set(row["labels"]) & OWN_PROPERTIES.keys():
            continue
        properties, unique = _own_properties(row), "UNIQUENESS" in row["type"] or "KEY" in row["type"]
        all_shared = properties == frozenset(row["properties"])
        if (unique and all_shared and properties not in ({"id"}, {"corpus", "id"})) or not (unique or all_shared):
            found = True
            yield Finding(
                "neighbours",
                "problem",
                f"The constraint {row['name']} ({row['type'].lower()}) is on "
                f"{_on(_shape(row))}: nodes of this program violate it.",
                "Drop it, or use another database.",
            )
    if not found:
        yield Finding("neighbours", "ok", "No index or constraint of another program applies to nodes of this program.")


def _own_properties(row: dict[str, list[str]]) -> frozenset[str]:
    """Return the properties of an index or constraint that nodes of this project have."""
    return frozenset(
        one for label in row["labels"] for one in row["properties"] if one in OWN_PROPERTIES.get(label, ())
    )


def _models(stored: Rows, models: Models) -> Iterator[Finding]:
    fingerprint = models.fingerprint
    used = {Fingerprint.of_row(row): row["corpora"] for row in stored}
    if not used:
        yield Finding("models", "ok", f"Nothing is indexed yet. {fingerprint.embedding_model} is configured.")
        return
    if fingerprint in used:
        yield Finding("models", "ok", f"Indexed with {fingerprint.embedding_model} and {fingerprint.spacy_model}.")
    for made_with, corpora in used.items():
        if corpora and not knows_language(made_with.embedding_model, made_with.language):
            yield Finding(
                "models",
                "note",
                f"{made_with.embedding_model} does not know {name_of(made_with.language)}, so words count more: "
                f"{', '.join(corpora)}.",
                f"To find more, run {command_for_language(corpora[0])}.",
            )
        if made_with == fingerprint or not corpora:
            continue
        what = f"Indexed with {made_with.embedding_model} and {made_with.spacy_model}: {', '.join(corpora)}."
        if absent := describe_lack(made_with, models):
            yield Finding("models", "problem", f"{what} {absent}", "Install it, or index these corpora again.")
        else:
            yield Finding("models", "ok", f"{what} These models are loaded when one of the corpora is used.")


def _find_unused(corpora: Sequence[str]) -> Iterator[Finding]:
    if corpora:
        yield Finding(
            "models",
            "note",
            f"`e2g reindex` is running or was interrupted, and has left vectors that no question uses: "
            f"{', '.join(corpora)}.",
            "If it was interrupted, run the same command again to finish it, or with the present model to remove them.",
        )


def _layers(behind: Sequence[str]) -> Iterator[Finding]:
    if behind:
        yield Finding(
            "layers",
            "note",
            "Communities, clusters, vectors of entities, descriptions, statements or the typed graph are out of date, "
            "because a run was interrupted, had no chat model, or changed what they are made from: "
            f"{', '.join(behind)}.",
            "`e2g enrich --corpus NAME` brings them up to date, for statements with `--with statements`, for the typed "
            "graph with `--with typed`, and so does the next change of the corpus.",
        )
    else:
        yield Finding(
            "layers",
            "ok",
            "No corpus has communities, clusters, vectors of entities, descriptions, statements or a typed graph that "
            "are out of date.",
        )


def _merges(overrides: Rows) -> Iterator[Finding]:
    circles = {row["corpus"]: circle for row in overrides if (circle := find_circle(dict(row["names"])))}
    for corpus, circle in circles.items():
        yield Finding(
            "merges",
            "problem",
            f"Names of the corpus {corpus!r} were merged in a circle, which has no effect: {', '.join(circle)}.",
            f"`e2g entities --split {quote(circle[0])} --corpus {quote(corpus)}` ends it.",
        )
    if not circles:
        yield Finding("merges", "ok", "No names were merged in a circle.")


def _runs(runs: int) -> Iterator[Finding]:
    if runs:
        yield Finding("runs", "note", f"Active runs: {runs}.", "`e2g documents` lists them.")
    else:
        yield Finding("runs", "ok", "No run is active.")


def shapes(scripts: Iterable[schema.Script]) -> dict[str, Shape]:
    """Return labels and properties of each index of the scripts."""
    return {
        name: (frozenset(labels.split("|")), frozenset(re.findall(r"\b\w+\.(\w+)", on)))
        for script in scripts
        for name, labels, on in _SHAPE.findall(script.text)
    }


def _shape(row: Mapping[str, Any]) -> Shape:
    return frozenset(row["labels"]), frozenset(row["properties"])


def _on(shape: Shape) -> str:
    labels, properties = ("|".join(sorted(shape[0])), ", ".join(sorted(shape[1])))
    return f"(:{labels}) {properties}"
