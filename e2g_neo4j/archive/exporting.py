"""A corpus into a file. What is read is one state of it: its writers wait meanwhile."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from neo4j import Driver

from e2g_neo4j import database
from e2g_neo4j.archive import MANIFEST, NODES, RELATIONSHIPS, SUMMARIES, Format, MadeWith, Manifest, Member, encoded
from e2g_neo4j.errors import FingerprintError, InputError, QueryError, is_adopted, no_corpus
from e2g_neo4j.model import ArchiveInfo

Rows: TypeAlias = Callable[[str], Iterator[dict[str, Any]]]
"""The rows of a statement about the corpus, as they come."""


def export(driver: Driver, name: str, file: Path, corpus: str, format: Format = "archive") -> ArchiveInfo:
    """Write a corpus of the database `name` to a file, which is there whole or not at all.

    Memory and transactions are bounded, whatever the size of the corpus. Raises NotFoundError for a corpus without
    documents, InputError for a file that is there already or cannot be written.
    """
    if format not in ("archive", "graphml"):
        raise QueryError(f"There is no format {format!r}: choose archive or graphml.")
    if file.exists():
        raise InputError(f"{file} exists already: name another file, or remove it first.")
    with database.locked(driver, name, corpus) as rows:
        [about] = rows("query/corpus")
        if not about["found"]:
            raise no_corpus(corpus)
        if about["adopts"]:
            raise is_adopted(corpus, "back up the database itself, with the tools of Neo4j")
        with _made(file) as part:
            if format == "graphml":
                from e2g_neo4j.archive.graphml import write_graphml

                counts = write_graphml(part, rows)
            else:
                counts = _archive(part, rows, corpus, about["made_with"])
            return ArchiveInfo(corpus, str(file), *counts, part.stat().st_size)


def _archive(part: Path, rows: Rows, corpus: str, made_with: dict[str, Any] | None) -> tuple[int, int, int, int]:
    """Returns how many documents, nodes, relationships and remembered summaries there are."""
    if made_with is None:
        raise FingerprintError(
            "The database does not say what its index was made with (its E2GIndex node is gone): index the documents "
            "again."
        )
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        documents = 0

        def nodes() -> Iterator[dict[str, Any]]:
            nonlocal documents
            for row in rows("archive/nodes"):
                documents += "Document" in row["labels"]
                yield row

        members = {
            NODES: _write(archive, NODES, nodes()),
            RELATIONSHIPS: _write(archive, RELATIONSHIPS, rows("archive/relationships")),
            SUMMARIES: _write(archive, SUMMARIES, rows("archive/summaries")),
        }
        manifest = Manifest(corpus=corpus, documents=documents, fingerprint=MadeWith(**made_with), members=members)
        archive.writestr(MANIFEST, manifest.model_dump_json(indent=1))
    return documents, members[NODES].lines, members[RELATIONSHIPS].lines, members[SUMMARIES].lines


def _write(archive: zipfile.ZipFile, name: str, rows: Iterable[dict[str, Any]]) -> Member:
    lines = size = 0
    digest = sha256()
    with archive.open(name, "w", force_zip64=True) as member:
        for row in rows:
            held = {key: encoded(value) for key, value in row["properties"].items() if value is not None}
            line = json.dumps({**row, "properties": held}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            member.write(line)
            digest.update(line)
            lines += 1
            size += len(line)
    return Member(lines=lines, bytes=size, sha256=digest.hexdigest())


@contextmanager
def _made(file: Path) -> Iterator[Path]:
    """A file beside it, which takes its name in the end and goes where that is not reached."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{file.name[:100]}.", dir=file.absolute().parent)
        os.close(handle)
        part = Path(name)
        try:
            yield part
            part.chmod(0o644)
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
    except (OSError, ValueError) as error:  # also a NUL in its name
        raise InputError(f"{file} cannot be written ({error}): name a file in a folder that can be.") from error
