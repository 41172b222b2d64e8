"""Import a corpus from an archive, completely or not at all.

The archive is read and compared with its manifest before anything is written. Then nodes and relationships are written
in bounded transactions. No query finds the corpus, because it has no documents yet. The last step makes its documents
visible in one transaction. A run that is killed before that leaves an abandoned import. The next writer removes it, see
`recover_abandoned_imports`.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from e2g_neo4j.errors import ArchiveError, DatabaseError, InputError
from e2g_neo4j.graph.archive import recovery
from e2g_neo4j.graph.archive.format import MANIFEST, MEMBERS, NODES, RELATIONSHIPS, SUMMARIES, Manifest, decoded
from e2g_neo4j.graph.archive.recovery import end_import, recover_abandoned_imports
from e2g_neo4j.graph.lease import Lease
from e2g_neo4j.runtime.batched import batched
from e2g_neo4j.runtime.requests import Execute, Read, Write
from e2g_neo4j.types.ids import added_key, corpus_key, document_id
from e2g_neo4j.types.reports import ArchiveInfo

ROWS = 10_000
"""Relationships or summaries per transaction."""

LONGEST_LINE = 2**25
"""Maximum bytes of a node or relationship, more than any that is exported."""

LONGEST_NAME = 200
"""Maximum characters of the name of a label, type or property."""

LARGEST_MANIFEST = 2**20

MOST_PACKED = 200
"""Maximum compression ratio of a member. Text and vectors reach about ten, zeros a thousand."""

_OURS = frozenset(["run", "import_key", "corpora"])
"""Properties that are not allowed in archives."""


class Archive:
    """An open archive, whose members were compared with its manifest.

    Raises:
        InputError: the file cannot be read.
        ArchiveError: the file is not an archive, or is damaged or incomplete.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self._zip = zipfile.ZipFile(file)
        except (OSError, ValueError) as error:
            raise InputError(f"{file} cannot be read ({error}). Name an archive that `e2g export` wrote.") from error
        except zipfile.BadZipFile as error:
            raise self.damaged(str(error)) from error
        try:
            self._check_members()
            self.manifest = self._manifest()
            self._known = self._checked_lines()
        except BaseException:
            self._zip.close()
            raise

    def close(self) -> None:
        self._zip.close()

    def damaged(self, why: str) -> ArchiveError:
        return ArchiveError(
            f"{self.file} is damaged, incomplete or not an archive of a corpus ({why}). Nothing was imported. Export "
            "the corpus again."
        )

    def rows(self, member: str, corpus: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a member as parameters of its statement, renamed to a corpus."""
        renamed: dict[str, str] = {}
        if corpus != self.manifest.corpus:
            renamed = {old: document_id(corpus, source) for old, source in self._known.items()}
        parse = {NODES: _node, RELATIONSHIPS: _relationship, SUMMARIES: _summary}[member]
        for line in self._lines(member):
            row = parse(json.loads(line))
            properties = row["properties"]
            for name in ("id", "document"):
                if isinstance(value := properties.get(name), str):
                    head, rest = value[:16], value[16:]
                    properties[name] = renamed.get(head, head) + rest
            ours = {"corpus": corpus, "corpus_key": corpus_key(corpus)}
            properties |= {name: value for name, value in ours.items() if name in properties}
            if member == SUMMARIES and row["key"].startswith(added := added_key(self.manifest.corpus)):
                row["key"] = properties["key"] = added_key(corpus, row["key"].removeprefix(added))
            yield row

    # --- checks before anything is written -------------------------------------------------------

    def _check_members(self) -> None:
        members = self._zip.infolist()
        if sorted(one.filename for one in members) != sorted([MANIFEST, *MEMBERS]):
            raise self.damaged(f"its members are not {MANIFEST}, {', '.join(MEMBERS)}")
        for one in members:
            largest = LARGEST_MANIFEST if one.filename == MANIFEST else MOST_PACKED * one.compress_size + 2**20
            if one.file_size > largest:
                raise self.damaged(f"{one.filename} would unpack to {one.file_size} bytes")

    def _manifest(self) -> Manifest:
        with self._unpacking(MANIFEST):
            text = self._zip.read(MANIFEST)
        try:
            manifest = Manifest.model_validate_json(text)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_context=False)[0]
            raise self.damaged(f"{MANIFEST}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}") from error
        if set(manifest.members) != set(MEMBERS):
            raise self.damaged(f"{MANIFEST} names other members")
        return manifest

    def _checked_lines(self) -> dict[str, str]:
        """Read everything once. Return the source by id of the documents whose id is derived from corpus and source."""
        known: dict[str, str] = {}
        documents = 0
        for member, parse in ((NODES, _node), (RELATIONSHIPS, _relationship), (SUMMARIES, _summary)):
            expected = self.manifest.members[member]
            digest, size, number = sha256(), 0, 0
            for number, line in enumerate(self._lines(member), 1):
                digest.update(line)
                size += len(line)
                try:
                    row = parse(json.loads(line))
                except (ValueError, TypeError, KeyError, RecursionError) as error:
                    raise self.damaged(f"{member}, line {number}: {error}") from error
                if member == NODES:
                    if row["embedding"] is not None and len(row["embedding"]) != self.manifest.fingerprint.dimensions:
                        raise self.damaged(f"{member}, line {number}: an embedding has {len(row['embedding'])} numbers")
                    if "StagedDocument" in row["labels"]:
                        documents += 1
                        identity, source = row["properties"].get("id"), row["properties"].get("source")
                        if isinstance(source, str) and identity == document_id(self.manifest.corpus, source):
                            known[identity] = source
            if (digest.hexdigest(), size, number) != (expected.sha256, expected.bytes, expected.lines):
                raise self.damaged(f"{member} does not match {MANIFEST}")
        if documents != self.manifest.documents or not documents:
            raise self.damaged(f"it contains {documents} documents")
        return known

    def _lines(self, member: str) -> Iterator[bytes]:
        with self._unpacking(member), self._zip.open(member) as file:
            while line := file.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    raise self.damaged(f"{member} has a line of more than {LONGEST_LINE} bytes")
                yield line

    @contextmanager
    def _unpacking(self, member: str) -> Iterator[None]:
        try:
            yield
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
            raise self.damaged(f"{member}: {error}") from error


def _node(row: Any) -> dict[str, Any]:
    key, labels, properties = _fields(row, "key", "labels", "properties")
    if not (isinstance(labels, list) and labels and all(map(_is_name, labels)) and isinstance(key, str)):
        raise ValueError("a node has no key or labels")
    if any(label.startswith("E2G") or label in ("CachedSummary", "StagedDocument") for label in labels):
        raise ValueError(f"the labels {labels} are not allowed in a corpus")
    decoded_properties = _properties(properties)
    staged = ["StagedDocument" if label == "Document" else label for label in labels]
    embedding = decoded_properties.pop("embedding", None)
    if embedding is not None and not (isinstance(embedding, list) and all(isinstance(one, float) for one in embedding)):
        raise ValueError("an embedding is not a list of numbers")
    return {"key": key, "labels": staged, "embedding": embedding, "properties": decoded_properties}


def _relationship(row: Any) -> dict[str, Any]:
    a, kind, b, properties = _fields(row, "a", "type", "b", "properties")
    if not (isinstance(a, str) and isinstance(b, str) and _is_name(kind)):
        raise ValueError("a relationship has no start, end or type")
    return {"a": a, "type": kind, "b": b, "properties": _properties(properties)}


def _summary(row: Any) -> dict[str, Any]:
    [properties] = _fields(row, "properties")
    decoded_properties = _properties(properties)
    match decoded_properties:
        case {"key": str(key), "text": str()}:
            return {"key": key, "properties": decoded_properties}
    raise ValueError("a summary has no key or text")


def _fields(row: Any, *names: str) -> list[Any]:
    if not isinstance(row, dict) or set(row) != set(names):
        raise ValueError(f"its fields are not {', '.join(names)}")
    return [row[name] for name in names]


def _properties(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict) or not all(map(_is_name, row)) or not _OURS.isdisjoint(row):
        raise ValueError("it has properties that are not allowed in a corpus")
    return {name: decoded(value) for name, value in row.items()}


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME


def restore(
    perform: Execute, archive: Archive, corpus: str, mark: tuple[str, dict[str, Any]] | None = None
) -> ArchiveInfo:
    """Import a corpus from an archive.

    An import that fails or is interrupted with Ctrl-C is removed at once. After a power failure, the next writer
    removes it.

    Args:
        perform: executes requests.
        archive: the archive.
        corpus: the name of the new corpus.
        mark: a statement that records the import, in the transaction that makes it visible.

    Raises:
        InputError: the corpus exists already.
        ArchiveError: relationships refer to missing nodes.
        DatabaseError: another run ended this import.
    """
    recover_abandoned_imports(perform)
    with Lease(perform, corpus) as lease:
        reservation = {"corpus": corpus, "run": lease.run}
        if not perform(Write((("archive/reserve", reservation),), ("archive/is_free", {"corpus": corpus}))):
            raise InputError(
                f"The corpus {corpus!r} exists already, or is being imported. Delete it first, or import under another "
                "name with --corpus."
            )
        try:
            _write(perform, archive, reservation)
            _publish(perform, archive, reservation, mark)
        except BaseException:
            with suppress(DatabaseError):  # if the database cannot be reached, the next writer does it
                for row in perform(Read("archive/reserved", {})):
                    if row["run"] == lease.run:
                        end_import(perform, reservation, published=row["published"])
            raise
        end_import(perform, reservation, published=True)
    return archive_info(archive, corpus)


def archive_info(archive: Archive, corpus: str) -> ArchiveInfo:
    """Return what the import of an archive reports."""
    manifest, size = archive.manifest, archive.file.stat().st_size
    nodes, relationships, summaries = (manifest.members[member].lines for member in MEMBERS)
    return ArchiveInfo(corpus, str(archive.file), manifest.documents, nodes, relationships, summaries, size)


def _write(perform: Execute, archive: Archive, reservation: dict[str, str]) -> None:
    corpus = reservation["corpus"]
    for member, statement, size in (
        (NODES, "archive/create_nodes", recovery.NODE_ROWS),
        (RELATIONSHIPS, "archive/create_relationships", ROWS),
        (SUMMARIES, "archive/cache_summaries", ROWS),
    ):
        for rows in batched(archive.rows(member, corpus), size):
            _checked(perform, Write(((statement, {"corpus": corpus, "rows": rows}),), ("archive/is_mine", reservation)))


def _publish(
    perform: Execute, archive: Archive, reservation: dict[str, str], mark: tuple[str, dict[str, Any]] | None
) -> None:
    [imported] = perform(Read("archive/imported", {"corpus": reservation["corpus"]}))
    members = archive.manifest.members
    if (imported["nodes"], imported["relationships"]) != (members[NODES].lines, members[RELATIONSHIPS].lines):
        raise archive.damaged("relationships refer to nodes that it does not contain")
    statements = (("archive/publish", reservation), *([mark] if mark else []))
    _checked(perform, Write(statements, ("archive/is_mine", reservation)))


def _checked(perform: Execute, request: Write) -> None:
    if not perform(request):
        raise DatabaseError(
            "The import was suspended for so long that another run removed it. Nothing was imported. Start it again."
        )
