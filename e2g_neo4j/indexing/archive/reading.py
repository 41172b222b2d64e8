"""Read an archive, which may come from a stranger: it is compared with its manifest and with `contents`, or refused."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from e2g_neo4j.errors import ArchiveError, InputError
from e2g_neo4j.indexing.archive.contents import (
    LONGEST_LINE,
    MANIFEST,
    MEMBERS,
    ArchivedDocument,
    ChunkRow,
    DocumentRow,
    Manifest,
    NameRow,
    Row,
    SummaryRow,
    check_depth,
)
from e2g_neo4j.types.ids import document_id
from e2g_neo4j.types.mentions import find_circle
from e2g_neo4j.types.reports import ArchiveInfo

LARGEST_MANIFEST = 2**20

LONGEST_LIST = 2**16
"""Maximum bytes of the list of members, which is read at once."""

MOST_PACKED = 100
"""Maximum compression ratio of a member. Chunks reach 3, zeros a thousand."""

CHECKED_AT_ONCE = 1_000
"""Lines after which `checkpoint` is called."""

R = TypeVar("R", bound=Row)


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
    """An open archive, which was read once and is as its manifest says.

    Args:
        checkpoint: called from time to time while it is read. It may raise an exception.

    Attributes:
        ids: the ids of its documents, with their sources.

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
            self.manifest = self._read_manifest()
            self.ids = self._check_lines()
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

    def info(self, corpus: str) -> ArchiveInfo:
        """Return what its import reports."""
        said, size = self.manifest, self.file.stat().st_size
        replies = said.members["replies.jsonl"].lines
        return ArchiveInfo(corpus, str(self.file), said.documents, said.nodes, said.relationships, replies, size)

    @property
    def identity(self) -> str:
        """A hash that no other archive has."""
        return sha256(self.manifest.model_dump_json().encode()).hexdigest()

    def ids_in(self, corpus: str) -> dict[str, str]:
        """Return the id that each document gets in a corpus. Those that were derived from its name are so again."""
        here = self.manifest.corpus
        return {
            id: document_id(corpus, source) if id == document_id(here, source) else id
            for id, source in self.ids.items()
        }

    def documents(self) -> Iterator[ArchivedDocument]:
        """Yield the documents, with their chunks and summaries."""
        chunks, summaries = self.rows(ChunkRow), self.rows(SummaryRow)
        for number, row in enumerate(self.rows(DocumentRow), 1):
            document = ArchivedDocument(row, [*islice(chunks, row.chunks)], [*islice(summaries, row.summaries)])
            try:
                document.check()
            except ValueError as error:
                raise self.damage_error(f"documents.jsonl, line {number}: {error}") from error
            yield document
        if next(chunks, None) or next(summaries, None):
            raise self.damage_error("it contains chunks or summaries without a document")

    def rows(self, kind: type[R]) -> Iterator[R]:
        """Yield the lines of a member."""
        [member] = [name for name, one in MEMBERS.items() if one is kind]
        dimensions = self.manifest.fingerprint.dimensions
        number = 0
        for number, line in enumerate(self._lines(member), 1):
            try:
                row = kind.model_validate_json(check_depth(line))
                row.check(dimensions)
            except (ValueError, TypeError, LookupError, ArithmeticError, InputError) as error:
                raise self.damage_error(f"{member}, line {number}: {_describe(error)}") from error
            yield row

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

    def _read_manifest(self) -> Manifest:
        with self._unpack(MANIFEST):
            text = self._zip.read(MANIFEST)
        try:
            manifest = Manifest.model_validate_json(text)
        except ValidationError as error:
            raise self.damage_error(f"{MANIFEST}: {_describe(error)}") from error
        if manifest.members.keys() != MEMBERS.keys():
            raise self.damage_error(f"{MANIFEST} names other members")
        return manifest

    def _check_lines(self) -> dict[str, str]:
        """Read everything once. Return the sources of the documents, by id."""
        ids = {document.row.id: document.row.source for document in self.documents()}
        if not len(ids) == self.manifest.members["documents.jsonl"].lines == self.manifest.documents:
            raise self.damage_error(f"it contains {len(ids)} documents with ids of their own")
        if circle := find_circle({row.key: row.into for row in self.rows(NameRow) if row.into}):
            raise self.damage_error(f"names.jsonl: {circle[0]!r} was merged into names that resolve to it")
        for kind in MEMBERS.values():
            for _ in self.rows(kind) if kind not in (ChunkRow, SummaryRow, DocumentRow, NameRow) else ():
                pass
        return ids

    def _lines(self, member: str) -> Iterator[bytes]:
        digest, size, number = sha256(), 0, 0
        with self._unpack(member), self._zip.open(member) as file:
            while line := file.readline(LONGEST_LINE + 1):
                if number % CHECKED_AT_ONCE == 0:
                    self._checkpoint()
                if len(line) > LONGEST_LINE:
                    raise self.damage_error(f"{member} has a line of more than {LONGEST_LINE} bytes")
                digest.update(line)
                size += len(line)
                number += 1
                yield line
        expected = self.manifest.members[member]
        if (digest.hexdigest(), size, number) != (expected.sha256, expected.bytes, expected.lines):
            raise self.damage_error(f"{member} does not match {MANIFEST}")

    @contextmanager
    def _unpack(self, member: str) -> Iterator[None]:
        try:
            yield
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
            raise self.damage_error(f"{member}: {error}") from error


def _describe(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error)[:300]
    fault: Any = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, fault["loc"]))[:200]
    return f"property {place!r}: {fault['msg'][:200]}"
