"""Import a corpus from an archive, completely or not at all.

An archive may come from a stranger. It is read, and compared with its manifest and with `contents`, before anything is
written. Then nodes and relationships are written in bounded transactions, and compared with each other by `checks`. No
query finds the corpus, because it has no documents yet. The last step makes its documents visible in one transaction.
A run that is killed before that leaves an abandoned import. The next writer removes it, see
`recover_abandoned_imports`.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import Any
from uuid import uuid4

from neo4j.exceptions import ConstraintError
from pydantic import ValidationError

from e2g_neo4j.errors import ArchiveError, DatabaseError, InputError
from e2g_neo4j.graph.archive import checks, contents, lines
from e2g_neo4j.graph.archive.format import (
    LONGEST_LINE,
    MANIFEST,
    MEMBERS,
    NODES,
    RELATIONSHIPS,
    SUMMARIES,
    Manifest,
    loads,
)
from e2g_neo4j.graph.lease import Lease
from e2g_neo4j.models.words import divide_words
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.cypher import split_suffix
from e2g_neo4j.runtime.requests import Execute, Read, Write
from e2g_neo4j.types.ids import cache_key, corpus_key, document_id
from e2g_neo4j.types.reports import ArchiveInfo

NODE_ROWS = 500
"""Nodes per transaction."""

ROWS = 10_000
"""Relationships or summaries per transaction."""

CHUNKS_READ = 50
"""Chunks that are compared with their windows, and whose words are counted, per transaction."""

LARGEST_MANIFEST = 2**20

LONGEST_LIST = 2**16
"""Maximum bytes of the list of members, which is read at once."""

MOST_PACKED = 100
"""Maximum compression ratio of a member. Relationships reach 23, zeros a thousand."""

LAYERS = ("communities", "clusters", "entity_vectors", "sentence_vectors", "descriptions", "statements")
"""Properties of a corpus: the revision that each layer was made from."""

CHECKED_AT_ONCE = 1_000
"""Lines after which `checkpoint` is called."""


class _Bounded(io.BufferedReader):
    """A file of which no more than LONGEST_LIST bytes are read at once while its list of members is read."""

    most: int | None = LONGEST_LIST

    def __init__(self, file: Path) -> None:
        super().__init__(io.FileIO(file))

    def read(self, size: int | None = -1, /) -> bytes:
        if self.most is not None and size is not None and size > self.most:
            raise zipfile.BadZipFile("its list of members is too long")
        return super().read(size)


class Archive:
    """An open archive, whose members were compared with its manifest.

    Args:
        checkpoint: called from time to time while it is read. It may raise an exception.

    Attributes:
        layers: the node that says which layers of the corpus are up to date; None without visible documents.

    Raises:
        InputError: the file cannot be read.
        ArchiveError: the file is not an archive, is damaged or incomplete, or has what is not allowed in a corpus.
    """

    def __init__(self, file: Path, checkpoint: Callable[[], object] = lambda: None) -> None:
        self.file = file
        self._checkpoint = checkpoint
        try:
            self._file = _Bounded(file)
        except (OSError, ValueError) as error:
            raise InputError(f"{file} cannot be read ({error}). Name an archive that `e2g export` wrote.") from error
        try:
            self._zip = zipfile.ZipFile(self._file)
            self._file.most = None
        except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
            self._file.close()
            raise self.damage_error(str(error)) from error
        try:
            self._check_members()
            self.manifest = self._manifest()
            self._known = self._check_lines()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._zip.close()
        self._file.close()

    def damage_error(self, why: str) -> ArchiveError:
        return ArchiveError(
            f"{self.file} is damaged, incomplete or not an archive of a corpus ({why}). Nothing was imported. Export "
            "the corpus again."
        )

    def rows(self, member: str, corpus: str) -> Iterator[tuple[dict[str, Any], int]]:
        """Yield the rows of a member as parameters of its statement, renamed to a corpus, with their bytes."""
        renamed: dict[str, str] = {}
        if corpus != self.manifest.corpus:
            renamed = {old: document_id(corpus, source) for old, source in self._known.items()}
        ours = {"corpus": corpus, "corpus_key": corpus_key(corpus)}
        for number, line in enumerate(self._lines(member), 1):
            found = self._parse_line(member, number, line)
            if isinstance(found, lines.Node) and found.label in contents.NOT_CREATED:
                continue
            properties = found if isinstance(found, dict) else found.properties
            for name in ("id", "document", "description_chunk"):
                if isinstance(value := properties.get(name), str):
                    head, rest = value[:16], value[16:]
                    properties[name] = renamed.get(head, head) + rest
            properties |= {name: value for name, value in ours.items() if name in properties}
            match found:
                case lines.Node():
                    labels = _stage_labels(found.labels)
                    vectors = {name: properties.pop(name, None) for name in contents.VECTORS}
                    row = {"key": found.key, "labels": labels, "properties": properties, **vectors}
                case lines.Relationship():
                    start, end = contents.RELATIONSHIPS[found.type][1]
                    row = {"a": found.a, "type": found.type, "b": found.b, "properties": properties}
                    row |= {"starts": _stage_labels(start), "ends": _stage_labels(end)}
                case _:
                    key = properties["key"] = cache_key(corpus, properties["key"])
                    row = {"key": key, "properties": properties}
            yield row, len(line)

    # --- checks before anything is written -------------------------------------------------------

    def _check_members(self) -> None:
        members = self._zip.infolist()
        if sorted(one.filename for one in members) != sorted([MANIFEST, *MEMBERS]):
            raise self.damage_error(f"its members are not {MANIFEST}, {', '.join(MEMBERS)}")
        for one in members:
            if one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise self.damage_error(f"{one.filename} is not packed as `e2g export` does it")
            largest = LARGEST_MANIFEST if one.filename == MANIFEST else MOST_PACKED * one.compress_size + 2**20
            if one.file_size > largest:
                raise self.damage_error(f"{one.filename} would unpack to {one.file_size} bytes")

    def _manifest(self) -> Manifest:
        with self._unpack(MANIFEST):
            text = self._zip.read(MANIFEST)
        try:
            manifest = Manifest.model_validate_json(text)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_context=False)[0]
            raise self.damage_error(f"{MANIFEST}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}") from error
        if set(manifest.members) != set(MEMBERS):
            raise self.damage_error(f"{MANIFEST} names other members")
        return manifest

    def _check_lines(self) -> dict[str, str]:
        """Read everything once. Return the source by id of the documents whose id is derived from corpus and source."""
        known: dict[str, str] = {}
        documents = 0
        self.layers: lines.Node | None = None
        for member in MEMBERS:
            expected = self.manifest.members[member]
            digest, size, number = sha256(), 0, 0
            for number, line in enumerate(self._lines(member), 1):
                digest.update(line)
                size += len(line)
                found = self._parse_line(member, number, line)
                if isinstance(found, lines.Node) and found.label == "Corpus":
                    if self.layers is not None:
                        raise self.damage_error(f"{member}, line {number}: there are two nodes with the label Corpus")
                    self.layers = found
                if isinstance(found, lines.Node) and found.label == "Document":
                    documents += 1
                    identity, source = found.properties["id"], found.properties["source"]
                    if identity == document_id(self.manifest.corpus, source):
                        known[identity] = source
            if (digest.hexdigest(), size, number) != (expected.sha256, expected.bytes, expected.lines):
                raise self.damage_error(f"{member} does not match {MANIFEST}")
        if documents != self.manifest.documents or not documents:
            raise self.damage_error(f"it contains {documents} documents")
        return known

    def _parse_line(self, member: str, number: int, line: bytes) -> lines.Node | lines.Relationship | dict[str, Any]:
        try:
            row = loads(line)
            if member == NODES:
                return lines.node(row, self.manifest.corpus, self.manifest.fingerprint.dimensions)
            return (
                lines.relationship(row, self.manifest.corpus) if member == RELATIONSHIPS else lines.parse_cache_row(row)
            )
        except (ValueError, TypeError, LookupError, ArithmeticError) as error:
            raise self.damage_error(f"{member}, line {number}: {error}") from error

    def _lines(self, member: str) -> Iterator[bytes]:
        with self._unpack(member), self._zip.open(member) as file:
            for number in count():
                if number % CHECKED_AT_ONCE == 0:
                    self._checkpoint()
                line = file.readline(LONGEST_LINE + 1)
                if len(line) > LONGEST_LINE:
                    raise self.damage_error(f"{member} has a line of more than {LONGEST_LINE} bytes")
                if not line:
                    return
                yield line

    @contextmanager
    def _unpack(self, member: str) -> Iterator[None]:
        try:
            yield
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
            raise self.damage_error(f"{member}: {error}") from error


def _stage_labels(labels: Sequence[str]) -> list[str]:
    return ["StagedDocument" if label == "Document" else label for label in labels]


def restore(
    perform: Execute,
    archive: Archive,
    corpus: str,
    record: tuple[str, dict[str, Any]],
    mark: tuple[str, dict[str, Any]] | None = None,
) -> ArchiveInfo:
    """Import a corpus from an archive.

    An import that fails or is interrupted with Ctrl-C is removed at once. After a power failure, the next writer
    removes it.

    Args:
        corpus: the name of the new corpus.
        record: the statement that records its models.
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
            _write(perform, archive, reservation, fulltext=bool(split_suffix(record[1]["vectors"])[1]))
            _check(perform, archive, reservation)
            _publish(perform, archive, reservation, record, mark)
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


def _write(perform: Execute, archive: Archive, reservation: dict[str, str], *, fulltext: bool) -> None:
    corpus = reservation["corpus"]
    for member, statement, size in (
        (NODES, "archive/create_nodes", NODE_ROWS),
        (RELATIONSHIPS, "archive/create_relationships", ROWS),
        (SUMMARIES, "archive/cache_summaries", ROWS),
    ):
        written = 0
        for batch in split_batches(archive.rows(member, corpus), size, itemgetter(1)):
            rows = [row for row, _ in batch]
            written += len(rows)
            if member == NODES and fulltext:
                rows = [{**row, "divided": divide_words(row["properties"].get("text") or "")} for row in rows]
            parameters = {"corpus": corpus, "rows": rows, **({"fulltext": fulltext} if member == NODES else {})}
            request = Write(((statement, parameters),), ("archive/is_mine", reservation))
            try:
                _perform_or_fail(perform, request)
            except DatabaseError as error:
                if isinstance(error.__cause__, ConstraintError):
                    raise archive.damage_error(f"{member}: two nodes have the same id or key") from error
                raise
        if member == RELATIONSHIPS:
            [imported] = perform(Read("archive/imported", {"corpus": corpus}))
            if imported["relationships"] != written:
                raise archive.damage_error(_describe_loss(perform, archive, corpus))


def _describe_loss(perform: Execute, archive: Archive, corpus: str) -> str:
    """Return which relationship could not be written."""
    number = 0
    for batch in split_batches(archive.rows(RELATIONSHIPS, corpus), ROWS, itemgetter(1)):
        rows = [row for row, _ in batch]
        lost = perform(Read("archive/lost_relationships", {"corpus": corpus, "rows": rows}))
        if lost:
            [row] = lost
            fault = (
                f"{row['type']} connects {row['a']} with {row['b']}"
                if row["a"] and row["b"]
                else f"{row['type']} refers to a node that it does not contain"
            )
            return f"{RELATIONSHIPS}, line {number + row['number'] + 1}: {fault}"
        number += len(rows)
    return "relationships refer to nodes that it does not contain"


def _check(perform: Execute, archive: Archive, reservation: dict[str, str]) -> None:
    """Compare what was written with each other, and count its words in bounded transactions."""
    corpus = reservation["corpus"]
    if fault := checks.fault_of(perform, corpus):
        raise archive.damage_error(fault)
    after = ""
    while rows := perform(Read("archive/chunks", {"corpus": corpus, "after": after, "limit": CHUNKS_READ})):
        for row in rows:
            if fault := checks.fault_of_chunk(row):
                raise archive.damage_error(f"Chunk {row['chunk']!r}: {fault}")
        counted = ("archive/count_terms", {"corpus": corpus, **checks.terms_of(rows)})
        _perform_or_fail(perform, Write((counted,), ("archive/is_mine", reservation)))
        after = rows[-1]["chunk"]


def _publish(
    perform: Execute,
    archive: Archive,
    reservation: dict[str, str],
    record: tuple[str, dict[str, Any]],
    mark: tuple[str, dict[str, Any]] | None,
) -> None:
    corpus = reservation["corpus"]
    statements: tuple[tuple[str, dict[str, Any]], ...] = (
        record,  # before its documents are visible
        ("archive/publish", reservation),
        ("index/count_corpus", {"corpus": corpus}),
        ("archive/set_layers", {"corpus": corpus, "rows": [_layers(archive)]}),
        *([mark] if mark else []),
    )
    _perform_or_fail(perform, Write(statements, ("archive/is_mine", reservation)))


def _layers(archive: Archive) -> dict[str, Any]:
    """Return whether the layers of the corpus are up to date, and the models that wrote them."""
    if archive.layers is None:
        return {}
    stored = archive.layers.properties
    layers = {name: stored[name] == stored["revision"] for name in LAYERS if name in stored}
    return layers | {name: stored[name] for name in ("statement_models", "report_models") if name in stored}


def _perform_or_fail(perform: Execute, request: Write) -> None:
    if not perform(request):
        raise DatabaseError(
            "The import was suspended for so long that another run removed it. Nothing was imported. Start it again."
        )


def recover_abandoned_imports(perform: Execute) -> None:
    """Complete abandoned imports that were published, and remove the others."""
    for row in perform(Read("archive/reserved", {})):
        if row["at_work"]:
            continue
        abandoned, by = {"corpus": row["corpus"], "run": row["run"]}, uuid4().hex
        perform(Write((("archive/take_over", {**abandoned, "by": by}),), ("archive/is_mine", abandoned)))
        end_import(perform, {"corpus": row["corpus"], "run": by}, published=row["published"])


def end_import(perform: Execute, reservation: dict[str, str], *, published: bool) -> None:
    """End an import: remove the marks if it was published, else the imported nodes. Then release the corpus.

    Args:
        reservation: corpus and run of the import.
        published: whether the import was published.
    """
    batch = {"corpus": reservation["corpus"], "limit": NODE_ROWS}
    step = ("archive/unmark" if published else "archive/discard", batch)
    while perform(Write((step,), ("archive/is_left", reservation))):
        pass
    cleanup = () if published else (("index/delete_empty_corpus", {"corpus": reservation["corpus"]}),)
    perform(Write((*cleanup, ("archive/release", reservation)), ("archive/is_mine", reservation)))
