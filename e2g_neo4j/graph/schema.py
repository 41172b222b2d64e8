"""Apply the migrations in `migrations/` to the database, compatible with neo4j-migrations.

Many Neo4j teams use neo4j-migrations (michael-simons/neo4j-migrations). It can list, validate and continue the
migrations of this module, and the other way round. The conventions are the same: files `V<version>__<name>.cypher`, a
checksum (CRC32) over the statements of a file, a chain of `__Neo4jMigration` nodes and one lock node.

Lines `// part: NAME` divide the files. That tool runs all of a file. This module creates the core, records the file as
applied, and creates each other part when it is first used. Both take the file in `5.26/` on servers of that line: it
has the same name, and its first line tells that tool.
"""

from __future__ import annotations

import getpass
import re
import time
import uuid
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from neo4j import Driver
from neo4j.exceptions import ClientError, ConstraintError

from e2g_neo4j.errors import MigrationError
from e2g_neo4j.graph.indexes import VECTOR_INDEX, create, indexes_of, run, vector_dimensions
from e2g_neo4j.runtime.cypher import folder, load, split_suffix, with_suffix
from e2g_neo4j.runtime.database import is_old, translate_errors
from e2g_neo4j.runtime.requests import CallDriver, Operation, Rows
from e2g_neo4j.runtime.waiting import report_waiting
from e2g_neo4j.types.languages import ANALYZERS
from e2g_neo4j.types.reports import Layer

LOCK_SECONDS = 60.0
"""How long to wait for another migration to finish."""

_FILE_NAME = re.compile(r"V(\d+(?:_\d+)*)__([\w ]+)\.cypher")
_STATEMENT_END = re.compile(r";(?:\r\n|\n|\r)")
_PLACEHOLDER = re.compile(r"\$\{nm:(\w+)\}")
_PART = re.compile(r"^// part: (\w+)$", re.MULTILINE)
_CREATED = re.compile(r"\b(e2g_\w+) IF NOT EXISTS")
_BOOKKEEPING = ("unique_lock_id", "unique_lock_name", "unique_version", "repeated_at")

State = Literal["applied", "pending", "changed", "missing"]

Part: TypeAlias = Literal[Layer, "links", "service"]
"""A part of the schema beside the core. The layers `sentences`, `entities`, `descriptions` and `typed` need none."""

ALL_PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(frozen=True, slots=True)
class Applied:
    """A migration that was applied by this call, and how long it took."""

    version: str
    description: str
    seconds: float


@dataclass(frozen=True, slots=True)
class MigrationInfo:
    """A migration in the files or the database.

    State `changed`: it was applied and the file was edited since. `missing`: it was applied and there is no such file.
    """

    version: str
    state: State
    source: str
    checksum: str


class Definition(NamedTuple):
    """A statement that creates an index or a constraint, its name, and the part of the schema that it belongs to."""

    name: str
    part: str
    statement: str


@dataclass(frozen=True, slots=True)
class Script:
    """A file of `migrations/`."""

    version: str
    description: str
    source: str
    text: str
    other: str = ""
    """The text of the file for older, or newer, servers with the same name, if there is one."""

    def definitions(self, dimensions: int) -> list[Definition]:
        """Return what the file creates, with the placeholder replaced."""
        found = []
        part = "core"
        for statement in split(_PLACEHOLDER.sub(str(dimensions), self.text)):
            if new := _PART.search(statement):
                part = new[1]
            found.append(Definition(_CREATED.findall(statement)[-1], part, statement))
        return found

    def checksums(self, dimensions: int | None) -> tuple[str, ...]:
        """Return all valid checksums, first that of the file, which this module records.

        neo4j-migrations before 3.3 has no placeholders, so its users had to replace them in the file: the checksum of
        that text is valid too. So are those of the file for other servers, as the server may have been updated."""
        texts = [self.text, self.other] if self.other else [self.text]
        return tuple(checksum(one) for text in texts for one in (text, _PLACEHOLDER.sub(str(dimensions), text)))


def migrate(
    driver: Driver,
    database: str,
    *,
    embedding_dimensions: int | Callable[[], int],
    parts: Collection[Part] = (),
    lock_seconds: float = LOCK_SECONDS,
) -> list[Applied]:
    """Apply pending migrations and return them. Waits for concurrent ones, at most `lock_seconds` without a sign.

    Creates the core of the schema, these parts, and what is missing of the parts that exist, such as an index that was
    dropped by hand. `embedding_dimensions` is that of the first embedding model: if there are vector indexes, theirs
    counts.

    Raises:
        MigrationError: files and database contradict each other, or a migration holds the lock for too long.
        AccessError: the user may not change the schema.
    """
    with translate_errors(driver):
        driver.verify_connectivity()  # fails at once, while a query would be retried for half a minute
        scripts = read_scripts(old=is_old(driver))
        pending, missing, _ = _find_missing(driver, database, scripts, parts)
        if not pending | missing:
            return []
        with report_waiting("Creating the schema") as report, _hold_lock(driver, database, lock_seconds):
            return _apply(driver, database, scripts, parts, embedding_dimensions, report)


def info(driver: Driver, database: str) -> list[MigrationInfo]:
    """Return all migrations in the files and the database, in order, without changing anything."""
    with translate_errors(driver):
        driver.verify_connectivity()
        return compare(
            read_scripts(old=is_old(driver)), run(driver, database, "history"), vector_dimensions(driver, database)
        )


def validate(driver: Driver, database: str, parts: Collection[Part] = ()) -> None:
    """Raise MigrationError, with the differences, if the core of the schema, these parts, or those that exist, do not
    match the files."""
    migrations = info(driver, database)
    pending = [f"{m.source} is not applied: run `e2g doctor --migrate`" for m in migrations if m.state == "pending"]
    _raise_if_any(conflicts(migrations) + pending)
    _raise_if_missing(read_scripts(old=is_old(driver)), indexes_of(driver, database), parts)


def check_migrations(parts: Collection[Part] = ()) -> Operation[None]:
    """The same as `validate`, as an operation."""
    yield CallDriver(partial(validate, parts=parts))


# --- files -------------------------------------------------------------------------------------------


def read_scripts(directory: Path | None = None, *, old: bool = False) -> list[Script]:
    """Read the migrations in a folder, `migrations/` if None, in order of version.

    For a server without the SEARCH clause (`old`), files in the subfolder `5.26` replace files of the same name.
    Raises MigrationError if a file name is invalid, or two files have the same version."""
    place = directory or folder("migrations")
    scripts = []
    for path in place.glob("*.cypher"):
        name = _FILE_NAME.fullmatch(path.name)
        if name is None:
            raise MigrationError(f"{path.name} is not named like V001__Some_name.cypher. Rename or remove it.")
        version, description = name[1].replace("_", "."), name[2].replace("_", " ")
        alternative = place / "5.26" / path.name
        text, other = path.read_text("utf-8"), alternative.read_text("utf-8") if alternative.exists() else ""
        if old and other:
            text, other = other, text
        scripts.append(Script(version, description, path.name, text, other))
    scripts.sort(key=lambda script: _order(script.version))
    for first, second in pairwise(scripts):
        if _order(first.version) == _order(second.version):
            raise MigrationError(f"{first.source} and {second.source} have the same version. Renumber one of them.")
    return scripts


def split(text: str) -> list[str]:
    """Return the statements of a file. They are separated by a semicolon at the end of a line."""
    parts = (part.strip().removesuffix(";").strip() for part in _STATEMENT_END.split(text))
    return [part for part in parts if part]


def checksum(text: str) -> str:
    """Return the CRC32 over the UTF-8 bytes of all statements, as an unsigned decimal number."""
    return str(zlib.crc32("".join(split(text)).encode("utf-8")))


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


# --- files against database --------------------------------------------------------------------------


def compare(scripts: Sequence[Script], history: Rows, dimensions: int | None) -> list[MigrationInfo]:
    applied = {row["version"]: row for row in history}
    known = {script.version for script in scripts}
    migrations = []
    for script in scripts:
        row = applied.get(script.version)
        if row is None:
            migrations.append(MigrationInfo(script.version, "pending", script.source, checksum(script.text)))
        else:
            state: State = "applied" if row["checksum"] in script.checksums(dimensions) else "changed"
            migrations.append(_describe_migration(row, state))
    migrations += [_describe_migration(row, "missing") for row in history if row["version"] not in known]
    return sorted(migrations, key=lambda migration: _order(migration.version))


def _describe_migration(row: dict[str, Any], state: State) -> MigrationInfo:
    return MigrationInfo(row["version"], state, row["source"] or "", row["checksum"] or "")


def conflicts(migrations: list[MigrationInfo]) -> list[str]:
    """Describe the differences between files and database that applying migrations cannot resolve."""
    messages = []
    for migration in migrations:
        if migration.state == "changed":
            messages.append(
                f"{migration.source} is not the file that was applied (checksum {migration.checksum}): restore it"
            )
        if migration.state == "missing":
            messages.append(
                f"{migration.source or migration.version} was applied but is not part of this version: update "
                "e2g-neo4j, or use a database without migrations of other programs"
            )
    states = [migration.state for migration in migrations]
    last = max((n for n, state in enumerate(states) if state != "pending"), default=0)
    messages += [
        f"{gap.source} is not applied although a later one is: restore the files that were applied"
        for gap in migrations[:last]
        if gap.state == "pending"
    ]
    return messages


def _raise_if_any(differences: list[str]) -> None:
    if differences:
        raise MigrationError(f"The schema differs from the migrations. {'; '.join(differences)}.")


def _raise_if_missing(scripts: Sequence[Script], existing: Collection[str], parts: Collection[Part]) -> None:
    _raise_if_any(
        [
            f"{name} is missing: run `e2g doctor --migrate`, or drop the other index on the same properties"
            for name in sorted(find_missing_indexes(scripts, existing, parts))
        ]
    )


def find_missing_indexes(scripts: Sequence[Script], existing: Collection[str], parts: Collection[Part]) -> set[str]:
    """Return the names of what is missing of the core, of these parts, and of those of which something exists."""
    defined = [one for script in scripts for one in script.definitions(0)]
    wanted = {"core", *parts, *(one.part for one in defined if one.name in existing)}
    return {one.name for one in defined if one.part in wanted}.difference(existing)


def _find_missing(
    driver: Driver, database: str, scripts: Sequence[Script], parts: Collection[Part]
) -> tuple[set[str], set[str], int | None]:
    """Return the versions that are pending, the names of indexes that are missing, and the dimensions of the others."""
    indexes = run(driver, database, "indexes")
    dimensions = next((row["dimensions"] for row in indexes if row["name"] == VECTOR_INDEX), None)
    migrations = compare(scripts, run(driver, database, "history"), dimensions)
    _raise_if_any(conflicts(migrations))
    pending = {one.version for one in migrations if one.state == "pending"}
    return pending, find_missing_indexes(scripts, {row["name"] for row in indexes}, parts), dimensions


# --- database ----------------------------------------------------------------------------------------


def _apply(
    driver: Driver,
    database: str,
    scripts: Sequence[Script],
    parts: Collection[Part],
    first: int | Callable[[], int],
    report: Callable[[int, int], None],
) -> list[Applied]:
    """Create what is missing, in one transaction for each script, and record the scripts that are pending."""
    pending, missing, dimensions = _find_missing(driver, database, scripts, parts)
    dimensions = dimensions or (first if isinstance(first, int) else first())
    applied: list[Applied] = []
    previous, done = "BASELINE", count(1)
    for script in scripts:
        started = time.perf_counter()
        statements = [one.statement for one in script.definitions(dimensions) if one.name in missing]
        if statements:
            failed = f"{script.source} could not be applied"
            create(driver, database, statements, failed, lambda: report(next(done), len(missing)))
        seconds = time.perf_counter() - started
        if script.version in pending:
            _record(driver, database, script, previous, seconds)
            applied.append(Applied(script.version, script.description, seconds))
        previous = script.version
    _raise_if_missing(scripts, indexes_of(driver, database), parts)
    return applied


def _record(driver: Driver, database: str, script: Script, previous: str, seconds: float) -> None:
    run(
        driver,
        database,
        "record",
        previous=previous,
        version=script.version,
        description=script.description,
        source=script.source,
        checksum=checksum(script.text),
        milliseconds=round(seconds * 1000),
        by=_system_user(),
        connected_as=run(driver, database, "user")[0]["user"],
    )


@contextmanager
def _hold_lock(driver: Driver, database: str, timeout: float) -> Iterator[None]:
    """Hold the lock of neo4j-migrations, so that its runs and those of this module exclude each other."""
    lock = str(uuid.uuid4())
    name = "John Doe" if database.lower() == "neo4j" else database.lower()
    for statement in _BOOKKEEPING:
        try:
            run(driver, database, statement)
        except ClientError as error:  # a concurrent run has created it
            if not (error.code or "").endswith("AlreadyExists"):
                raise
    with report_waiting("Taking the lock of the schema, which another process may hold"):
        _take_lock(driver, database, lock, name, timeout)
    try:
        yield
    finally:
        run(driver, database, "unlock", id=lock)


def _take_lock(driver: Driver, database: str, lock: str, name: str, timeout: float) -> None:
    """Create the node that is the lock, once nobody else has one. `timeout` counts from the last sign of the holder."""
    seen, deadline = None, 0.0
    while True:
        try:
            run(driver, database, "lock", id=lock, name=name)
        except ConstraintError as error:
            found = run(driver, database, "history"), run(driver, database, "indexes")
            if found != seen or any(row["state"] == "POPULATING" for row in found[1]):
                seen, deadline = found, time.monotonic() + timeout
            elif time.monotonic() > deadline:
                raise MigrationError(
                    f"Another process has held the lock of the schema for {timeout:.0f} s and changed nothing. If none "
                    "is running, one was killed: remove its lock with `MATCH (lock:__Neo4jMigrationsLock) DELETE lock` "
                    "and try again."
                ) from error
            time.sleep(0.2)
        else:
            return


def _system_user() -> str | None:
    with suppress(OSError, KeyError, ImportError):
        return getpass.getuser()
    return None


def create_suffixed(driver: Driver, database: str, *, suffix: str, dimensions: int) -> None:
    """Create the indexes with a suffix, unless they exist: of a further embedding model, like those without it, or of
    words in another language than English.

    Raises:
        MigrationError: an index cannot be created.
        AccessError: the user may not change the schema.
    """
    vectors, words = split_suffix(suffix)
    with translate_errors(driver):
        existing = indexes_of(driver, database)
        names = ("migrate/chunk_words", "migrate/window_words") if words else ()
        wanted = [load(name, vectors=words) for name in names]
        if vectors:
            wanted += [
                with_suffix(one.statement, vectors)
                for script in read_scripts(old=is_old(driver))
                for one in script.definitions(dimensions)
                if one.name in existing and "VECTOR INDEX" in one.statement
            ]
        missing = [one for one in wanted if existing.isdisjoint(_CREATED.findall(one))]
        if missing:
            failed = f"The indexes with the suffix {suffix} could not be created"
            create(driver, database, missing, failed, analyzer=ANALYZERS.get(words))
