"""Export a corpus to a file. Writers of the corpus wait meanwhile, so the file is a consistent snapshot."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from neo4j import Driver

from e2g_neo4j.errors import (
    AdoptedCorpusError,
    ArchiveError,
    CorpusNotFoundError,
    FingerprintError,
    InputError,
    QueryError,
)
from e2g_neo4j.graph.archive import contents, lines
from e2g_neo4j.graph.archive.format import (
    LONGEST_LINE,
    MANIFEST,
    NODES,
    RELATIONSHIPS,
    SUMMARIES,
    Format,
    MadeWith,
    Manifest,
    Member,
    encode,
)
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.cypher import split_suffix
from e2g_neo4j.runtime.requests import CallDriver, Operation
from e2g_neo4j.types.ids import cache_key
from e2g_neo4j.types.reports import ArchiveInfo

Rows: TypeAlias = Callable[[str], Iterator[dict[str, Any]]]
"""A function that streams the rows of a statement about the corpus."""


def export_corpus(file: Path, corpus: str, format: Format) -> Operation[ArchiveInfo]:
    """The same as `export`, as an operation."""
    done: ArchiveInfo = yield CallDriver(partial(export, file=file, corpus=corpus, format=format))
    return done


def export(driver: Driver, name: str, file: Path, corpus: str, format: Format = "archive") -> ArchiveInfo:
    """Write a corpus to a file. If this fails, no file is left.

    Memory and transactions are bounded, whatever the size of the corpus.

    Args:
        file: the file to create.
        format: `archive` or `graphml`.

    Raises:
        NotFoundError: the corpus has no documents.
        InputError: the file exists already or cannot be written, or the corpus was adopted.
        QueryError: there is no such format.
        FingerprintError: the database has no record of the models of its index.
    """
    if format not in ("archive", "graphml"):
        raise QueryError(f"Unknown format {format!r}. Choose archive or graphml.")
    if file.exists():
        raise InputError(f"{file} exists already. Choose another file, or remove it first.")
    with database.lock_corpus(driver, name, corpus) as rows:
        [about] = rows("archive/corpus")
        if not about["found"]:
            raise CorpusNotFoundError(corpus)
        if about["adopts"]:
            raise AdoptedCorpusError(corpus, "back up the database itself, with the tools of Neo4j")
        with _temporary_file(file) as part:
            if format == "graphml":
                from e2g_neo4j.graph.archive.graphml import write_graphml

                counts = write_graphml(part, rows)
            else:
                counts = _write_archive(part, rows, corpus, about["made_with"], about["vectors"] or "")
            return ArchiveInfo(corpus, str(file), *counts, part.stat().st_size)


def _write_archive(
    part: Path, rows: Rows, corpus: str, made_with: dict[str, Any] | None, vectors: str
) -> tuple[int, int, int, int]:
    """Write an archive and return the number of documents, nodes, relationships and cached summaries. In archives, the
    name of the property with the vector has no suffix."""
    if made_with is None:
        raise FingerprintError(
            "The database has no record of the models that its index was made with (the E2GIndex node is missing). "
            "Index the documents again."
        )
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        documents = 0

        def nodes() -> Iterator[dict[str, Any]]:
            nonlocal documents
            for row in rows("archive/nodes"):
                row["properties"] = without_suffix(row["properties"], vectors)
                documents += "Document" in row["labels"]
                yield lines.own_node(row)

        relationships = map(lines.own_relationship, rows("archive/relationships"))
        members = {
            NODES: _write(archive, NODES, nodes()),
            RELATIONSHIPS: _write(archive, RELATIONSHIPS, filter(None, relationships)),
            SUMMARIES: _write(archive, SUMMARIES, (_of_corpus(row, corpus) for row in rows("archive/summaries"))),
        }
        manifest = Manifest(corpus=corpus, documents=documents, fingerprint=MadeWith(**made_with), members=members)
        archive.writestr(MANIFEST, manifest.model_dump_json(indent=1))
    return documents, members[NODES].lines, members[RELATIONSHIPS].lines, members[SUMMARIES].lines


def without_suffix(properties: dict[str, Any], suffix: str) -> dict[str, Any]:
    """Return the properties of a node as a corpus has them whose indexes have no suffix, without vectors of other
    models."""
    suffix, words = split_suffix(suffix)
    left_out = (*contents.VECTORS, f"fulltext{words}", f"fulltext_corpus{words}")
    kept = {name: value for name, value in properties.items() if name not in left_out}
    if properties.get("notes_of") not in (None, f"embedding{suffix}"):
        kept |= {"notes": None, "made_of": None}
    return kept | {name: properties[name + suffix] for name in contents.VECTORS if name + suffix in properties}


def _of_corpus(row: dict[str, Any], corpus: str) -> dict[str, Any]:
    """Return a cached reply under a key without the word of its corpus."""
    properties = row["properties"]
    return {"properties": {**properties, "key": properties["key"].removeprefix(cache_key(corpus))}}


def _write(archive: zipfile.ZipFile, name: str, rows: Iterable[dict[str, Any]]) -> Member:
    lines = size = 0
    digest = sha256()
    with archive.open(name, "w", force_zip64=True) as member:
        for row in rows:
            properties = {key: encode(value) for key, value in row["properties"].items() if value is not None}
            row = {**row, "properties": properties}
            line = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            if len(line) > LONGEST_LINE:
                raise ArchiveError(
                    f"A node or relationship takes more than {LONGEST_LINE} bytes. Index smaller chunks."
                )
            member.write(line)
            digest.update(line)
            lines += 1
            size += len(line)
    return Member(lines=lines, bytes=size, sha256=digest.hexdigest())


@contextmanager
def _temporary_file(file: Path) -> Iterator[Path]:
    """Create a temporary file in the same folder. Rename it to `file` at the end, or delete it in case of an error."""
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
        raise InputError(f"{file} cannot be written ({error}). Choose a file in a writable folder.") from error
