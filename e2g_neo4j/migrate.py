"""Bring the database's schema to what `migrations/` says, recorded as neo4j-migrations records it.

neo4j-migrations (michael-simons/neo4j-migrations) is the tool that many Neo4j teams use; it can look at, check and
continue what this module did, and the other way round. The conventions are its own: files `V<version>__<name>.cypher`,
a checksum (CRC32) over the statements of a file, a chain of `__Neo4jMigration` nodes and one lock node.
"""

from __future__ import annotations

import getpass
import re
import time
import uuid
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from neo4j import Driver, ManagedTransaction
from neo4j.exceptions import ClientError, ConstraintError, DatabaseError, Forbidden

from e2g_neo4j.database import is_old, translated
from e2g_neo4j.errors import FingerprintError, MigrationError
from e2g_neo4j.queries import Rows, folder, load

LOCK_SECONDS = 60.0
"""How long to wait for another run to finish."""

POPULATION_SECONDS = 600
"""How long to wait until a new index holds what the database already has."""

VECTOR_INDEX = "e2g_embedding"

_FILE_NAME = re.compile(r"V(\d+(?:_\d+)*)__([\w ]+)\.cypher")
_STATEMENT_END = re.compile(r";(?:\r\n|\n|\r)")
_PLACEHOLDER = re.compile(r"\$\{nm:(\w+)\}")
_MADE = re.compile(r"\b(e2g_\w+) IF NOT EXISTS")
_DROPPED = re.compile(r"\bDROP (?:INDEX|CONSTRAINT) (e2g_\w+) IF EXISTS")
_BOOKKEEPING = ("unique_lock_id", "unique_lock_name", "unique_version", "repeated_at")

State = Literal["applied", "pending", "changed", "missing"]


@dataclass(frozen=True, slots=True)
class Applied:
    """A migration that this run applied, and how long it took."""

    version: str
    description: str
    seconds: float


@dataclass(frozen=True, slots=True)
class MigrationInfo:
    """One migration, as the files and the database know it.

    `changed`: applied, and the file was edited since. `missing`: applied, and there is no such file here.
    `at`, `by` and `connected_as` (the operating system's and the database's user) are None until it is applied.
    """

    version: str
    description: str
    state: State
    source: str
    checksum: str
    at: datetime | None = None
    by: str | None = None
    connected_as: str | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """A file of `migrations/`."""

    version: str
    description: str
    source: str
    text: str
    other: str = ""
    """The text of the file that servers older, or newer, than this one get in its stead, if there is one."""

    def statements(self, values: Mapping[str, str]) -> list[str]:
        """What to run: placeholders `${nm:name}` replaced, statements that are only comments left out."""

        def value(match: re.Match[str]) -> str:
            if match[1] not in values:
                raise MigrationError(
                    f"{self.source} has a placeholder {match[0]} that nothing fills: correct the file."
                )
            return values[match[1]]

        rendered = split(_PLACEHOLDER.sub(value, self.text))
        return [s for s in rendered if not all(line.lstrip().startswith("//") for line in s.splitlines())]

    def checksums(self, dimensions: int | None) -> tuple[str, ...]:
        """That of the file, which we record; then that of the text with the placeholder filled in beforehand, as
        somebody had to do who applied it by a neo4j-migrations older than 3.3, which knows no placeholders; and those
        of its stand-in, which counts as the same after the server was updated."""
        texts = [self.text, self.other] if self.other else [self.text]
        return tuple(checksum(one) for text in texts for one in (text, _PLACEHOLDER.sub(str(dimensions), text)))


def migrate(
    driver: Driver, database: str, *, embedding_dimensions: int, lock_seconds: float = LOCK_SECONDS
) -> list[Applied]:
    """Apply what is pending and return it: an empty list when the database is up to date.

    Indexes that were dropped by hand since are made again. Runs side by side wait for each other, at most
    `lock_seconds`. Raises FingerprintError when the vector index has another number of dimensions, MigrationError
    when files and database contradict each other or another run holds the lock for too long, AccessError where the
    user may not change the schema.
    """
    with translated():
        driver.verify_connectivity()  # fails at once, where a query would be tried again for half a minute
        scripts = read_scripts(old=is_old(driver))
        if not _work(driver, database, scripts, embedding_dimensions):
            return []
        with _locked(driver, database, lock_seconds):
            applied = [
                _apply(driver, database, script, previous, embedding_dimensions)
                for script, previous in _work(driver, database, scripts, embedding_dimensions)
            ]
    _refuse(_lost_indexes(driver, database, scripts))
    return [run for run in applied if run is not None]


def info(driver: Driver, database: str) -> list[MigrationInfo]:
    """Every migration that the files or the database know, in order. Changes nothing."""
    with translated():
        driver.verify_connectivity()
        return compare(
            read_scripts(old=is_old(driver)), _run(driver, database, "history"), _dimensions(driver, database)
        )


def validate(driver: Driver, database: str) -> None:
    """Nothing when the schema is what the files say. Raises MigrationError that names what differs."""
    migrations = info(driver, database)
    pending = [f"{m.source} is not applied: run `e2g migrate`" for m in migrations if m.state == "pending"]
    _refuse(contradictions(migrations) + pending)
    _refuse(_lost_indexes(driver, database, read_scripts(old=is_old(driver))))


# --- files -------------------------------------------------------------------------------------------


def read_scripts(place: Path | None = None, *, old: bool = False) -> list[Script]:
    """The files of `migrations/`, in order of version. For a server that is older than SEARCH (`old`), those of the
    same name in `cypher/lts/migrations/` stand in."""
    stand_ins = {
        path.name: path.read_text("utf-8") for path in (folder("cypher") / "lts" / "migrations").glob("*.cypher")
    }
    scripts = []
    for path in (place or folder("migrations")).glob("*.cypher"):
        name = _FILE_NAME.fullmatch(path.name)
        if name is None:
            raise MigrationError(f"{path.name} is not named like V001__Some_name.cypher: rename or remove it.")
        version, description = name[1].replace("_", "."), name[2].replace("_", " ")
        text, other = path.read_text(encoding="utf-8"), stand_ins.get(path.name, "")
        if old and other:
            text, other = other, text
        scripts.append(Script(version, description, path.name, text, other))
    scripts.sort(key=lambda script: _order(script.version))
    for first, second in pairwise(scripts):
        if _order(first.version) == _order(second.version):
            raise MigrationError(f"{first.source} and {second.source} have the same version: renumber one.")
    return scripts


def split(text: str) -> list[str]:
    """The statements of a file: parted by a semicolon at the end of a line, trimmed, empty ones left out."""
    parts = (part.strip().removesuffix(";").strip() for part in _STATEMENT_END.split(text))
    return [part for part in parts if part]


def checksum(text: str) -> str:
    """CRC32 over the UTF-8 bytes of each statement in turn, as an unsigned decimal number."""
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
            migrations.append(
                MigrationInfo(script.version, script.description, "pending", script.source, checksum(script.text))
            )
        else:
            state: State = "applied" if row["checksum"] in script.checksums(dimensions) else "changed"
            migrations.append(_recorded(row, state))
    migrations += [_recorded(row, "missing") for row in history if row["version"] not in known]
    return sorted(migrations, key=lambda migration: _order(migration.version))


def _recorded(row: dict[str, Any], state: State) -> MigrationInfo:
    return MigrationInfo(
        row["version"],
        row["description"] or "",
        state,
        row["source"] or "",
        row["checksum"] or "",
        row["at"].to_native() if row["at"] else None,
        row["by"],
        row["connected_as"],
    )


def contradictions(migrations: list[MigrationInfo]) -> list[str]:
    """What no further migration can put right."""
    found = []
    for migration in migrations:
        if migration.state == "changed":
            found.append(
                f"{migration.source} is not the file that was applied (checksum {migration.checksum}): restore it"
            )
        if migration.state == "missing":
            found.append(
                f"{migration.source or migration.version} was applied but is not among our files: update e2g-neo4j, or "
                "use a database that no other program keeps migrations in"
            )
    states = [migration.state for migration in migrations]
    last = max((n for n, state in enumerate(states) if state != "pending"), default=0)
    found += [
        f"{gap.source} is not applied although a later one is: restore the files that were applied"
        for gap in migrations[:last]
        if gap.state == "pending"
    ]
    return found


def _refuse(differences: list[str]) -> None:
    if differences:
        raise MigrationError(f"The schema differs from the migrations. {'; '.join(differences)}.")


def _lost_indexes(driver: Driver, database: str, scripts: list[Script]) -> list[str]:
    with translated():
        there = {row["name"] for row in _run(driver, database, "indexes")}
    return [
        f"{name} is missing: run `e2g migrate`, or drop the index on the same properties that is in its place"
        for name in sorted(left_in_the_end(scripts) - there)
    ]


def left_in_the_end(scripts: list[Script]) -> set[str]:
    """The indexes that are there once all scripts ran: a later one may drop what an earlier one made."""
    names: set[str] = set()
    for script in scripts:
        names = (names | set(_MADE.findall(script.text))) - set(_DROPPED.findall(script.text))
    return names


def _work(
    driver: Driver, database: str, scripts: list[Script], wanted_dimensions: int
) -> list[tuple[Script, str | None]]:
    """The scripts to run, each with the version before it; None for one that is applied and runs again.

    Those are the first that has lost an index and all after it, which may drop what it makes.
    """
    indexes = _run(driver, database, "indexes")
    dimensions = next((row["dimensions"] for row in indexes if row["name"] == VECTOR_INDEX), None)
    migrations = compare(scripts, _run(driver, database, "history"), dimensions or wanted_dimensions)
    _refuse(contradictions(migrations))
    if dimensions not in (None, wanted_dimensions):
        raise FingerprintError(
            f"The index holds embeddings of {dimensions} dimensions, the embedding model in use makes "
            f"{wanted_dimensions}: use the model it was made with, or delete what is indexed, run "
            f"`DROP INDEX {VECTOR_INDEX}` and index again."
        )
    lost = left_in_the_end(scripts) - {row["name"] for row in indexes}
    pending = {migration.version for migration in migrations if migration.state == "pending"}
    work: list[tuple[Script, str | None]] = []
    previous = "BASELINE"
    again = False
    for script in scripts:
        again = again or not lost.isdisjoint(_MADE.findall(script.text))
        if script.version in pending:
            work.append((script, previous))
        elif again:
            work.append((script, None))
        previous = script.version
    return work


def _dimensions(driver: Driver, database: str) -> int | None:
    indexes = _run(driver, database, "indexes")
    return next((row["dimensions"] for row in indexes if row["name"] == VECTOR_INDEX), None)


# --- what happens in the database --------------------------------------------------------------------


def _run(driver: Driver, database: str, statement: str, **parameters: Any) -> Rows:
    result = driver.execute_query(load(f"migrate/{statement}"), parameters, database_=database)
    return [record.data() for record in result.records]


def _apply(driver: Driver, database: str, script: Script, previous: str | None, dimensions: int) -> Applied | None:
    """Run a file in one transaction, wait for its indexes, then record it (`previous` None: recorded already)."""
    statements = script.statements({"embedding_dimensions": str(dimensions)})

    def work(transaction: ManagedTransaction) -> None:
        for statement in statements:
            transaction.run(statement).consume()  # our own file, filled in

    started = time.perf_counter()
    try:
        with driver.session(database=database) as session:
            session.execute_write(work)
        for row in _run(driver, database, "indexes"):
            if row["state"] != "ONLINE":
                _run(driver, database, "await_index", name=row["name"], seconds=POPULATION_SECONDS)
    except Forbidden:
        raise
    except (ClientError, DatabaseError) as error:
        reason = " ".join((error.message or "").split())
        raise MigrationError(
            f"{script.source} could not be applied: {reason} Put that right and run `e2g migrate` again."
        ) from error
    seconds = time.perf_counter() - started
    if previous is None:
        return None
    _run(
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
        connected_as=_run(driver, database, "user")[0]["user"],
    )
    return Applied(script.version, script.description, seconds)


@contextmanager
def _locked(driver: Driver, database: str, patience: float) -> Iterator[None]:
    """Hold neo4j-migrations' lock, so that its runs and ours exclude each other."""
    lock = str(uuid.uuid4())
    name = "John Doe" if database.lower() == "neo4j" else database.lower()
    deadline = time.monotonic() + patience
    for statement in _BOOKKEEPING:
        try:
            _run(driver, database, statement)
        except ClientError as error:  # a run beside this one has made it since the server looked
            if not (error.code or "").endswith("AlreadyExists"):
                raise
    while True:
        try:
            _run(driver, database, "lock", id=lock, name=name)
            break
        except ConstraintError as error:
            if time.monotonic() > deadline:
                raise MigrationError(
                    f"Another run has held the migrations' lock for {patience:.0f} s. If none is under way, one "
                    "was killed: remove its lock by `MATCH (lock:__Neo4jMigrationsLock) DELETE lock` and try again."
                ) from error
            time.sleep(0.2)
    try:
        yield
    finally:
        _run(driver, database, "unlock", id=lock)


def _system_user() -> str | None:
    with suppress(OSError, KeyError, ImportError):
        return getpass.getuser()
    return None
