"""Export a corpus to a file. Writers of the corpus wait meanwhile, so the file is a consistent snapshot."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from neo4j import Driver
from pydantic import ValidationError

from e2g_neo4j.errors import (
    AdoptedCorpusError,
    ArchiveError,
    CorpusNotFoundError,
    FingerprintError,
    InputError,
    QueryError,
)
from e2g_neo4j.indexing.archive.contents import (
    LONGEST_LINE,
    MANIFEST,
    MEMBERS,
    Format,
    Layers,
    MadeWith,
    Manifest,
    Member,
    Row,
    pack_vectors,
)
from e2g_neo4j.indexing.linked_names import LinkedNames, collect_linked_names
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import CallDriver, Operation
from e2g_neo4j.types.ids import cache_key
from e2g_neo4j.types.properties import from_stored
from e2g_neo4j.types.reports import ArchiveInfo

Rows: TypeAlias = Callable[..., Iterator[dict[str, Any]]]
"""A function that streams the rows of a statement about the corpus."""

Found: TypeAlias = Mapping[str, dict[str, str]]
"""The types of the names of linked nodes that are in a document, by its id and their spelling."""


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
                from e2g_neo4j.indexing.archive.graphml import write_graphml

                counts = write_graphml(part, rows)
            else:
                counts = _write_archive(part, rows, corpus, about)
            return ArchiveInfo(corpus, str(file), *counts, part.stat().st_size)


def _write_archive(part: Path, rows: Rows, corpus: str, about: Mapping[str, Any]) -> tuple[int, int, int, int]:
    """Write an archive and return the number of documents, nodes, relationships and cached summaries."""
    if about["made_with"] is None:
        raise FingerprintError(
            "The database has no record of the models that its index was made with (the E2GIndex node is missing). "
            "Index the documents again."
        )
    suffix = about["vectors"] or ""
    names = rows("link/known_names")
    linked = collect_linked_names({name: row["type"] for row in reversed([*names]) for name in row["names"]})
    found: Found = defaultdict(dict)
    values = {
        "chunks.jsonl": (_chunk(row, linked, found) for row in rows("archive/chunks", suffix)),
        "summaries.jsonl": (_with_vector(row) for row in rows("archive/summaries", suffix)),
        "documents.jsonl": (_document(row, found) for row in rows("archive/documents")),
        "names.jsonl": rows("archive/names"),
        "entities.jsonl": (_with_vector(row) for row in rows("archive/entities", suffix)),
        "vectors.jsonl": (_text_vector(row) for row in rows("archive/vectors", suffix)),
        "replies.jsonl": (_reply(row, corpus) for row in rows("archive/replies")),
    }
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        members = {name: _write(archive, name, kind, values[name]) for name, kind in MEMBERS.items()}
        manifest = Manifest(
            corpus=corpus,
            documents=members["documents.jsonl"].lines,
            nodes=about["nodes"],
            relationships=about["relationships"],
            fingerprint=MadeWith(**about["made_with"]),
            layers=Layers(**about["layers"]),
            members=members,
        )
        archive.writestr(MANIFEST, manifest.model_dump_json(indent=1))
    return manifest.documents, manifest.nodes, manifest.relationships, members["replies.jsonl"].lines


def _chunk(row: dict[str, Any], linked: LinkedNames, found: Found) -> dict[str, Any]:
    document = row.pop("document")
    if names := linked.find_in([row["text"]]):
        found[document].update(names)
    windows = [tuple(span) for span in row["windows"]]
    return {**row, "own": tuple(row["own"]), "windows": windows, "vectors": pack_vectors(row["vectors"])}


def _document(row: dict[str, Any], found: Found) -> dict[str, Any]:
    links = zip(*(row.pop(name) or () for name in ("link_starts", "link_ends", "link_targets")), strict=True)
    properties = from_stored(row["properties"])
    if row["group_size"] is not None:
        row["group_size"] = max(2, row["group_size"])
    return {**row, "links": list(links), "properties": properties, "linked": found.get(row["id"])}


def _with_vector(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "vector": pack_vectors([row["vector"]])}


def _text_vector(row: dict[str, Any]) -> dict[str, Any]:
    return _with_vector({"sha256": sha256(row["text"].encode()).hexdigest(), "vector": row["vector"]})


def _reply(row: dict[str, Any], corpus: str) -> dict[str, Any]:
    """Return a cached reply under a key without the word of its corpus."""
    return {**row, "key": row["key"].removeprefix(cache_key(corpus))}


def _write(archive: zipfile.ZipFile, name: str, kind: type[Row], rows: Iterable[dict[str, Any]]) -> Member:
    lines = size = 0
    digest = sha256()
    with archive.open(name, "w", force_zip64=True) as member:
        for row in rows:
            values = {field: value for field, value in row.items() if value is not None}
            try:
                line = kind(**values).model_dump_json(exclude_none=True).encode() + b"\n"
            except ValidationError as error:
                raise ArchiveError(f"A line of {name} cannot be held in an archive: {error}") from error
            if len(line) > LONGEST_LINE:
                raise ArchiveError(f"A line of {name} takes more than {LONGEST_LINE} bytes. Index smaller chunks.")
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
