"""A corpus out of an archive: all of it, exactly, or nothing.

The whole archive is read and compared with its manifest before anything is written. Then nodes and relationships are
written in bounded transactions; no query finds the corpus, as it has no document yet. The last step makes its documents
visible in one transaction. A run that is killed before that leaves an abandoned import, which whoever writes next
removes: see `settle`.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import ValidationError

from e2g_neo4j.archive import MANIFEST, MEMBERS, NODES, RELATIONSHIPS, SUMMARIES, Manifest, decoded
from e2g_neo4j.errors import ArchiveError, DatabaseError, InputError
from e2g_neo4j.leases import Lease
from e2g_neo4j.model import ArchiveInfo
from e2g_neo4j.queries import Perform, Read, Write, corpus_key
from e2g_neo4j.reading import document_id

NODE_ROWS = 500
"""Nodes of a transaction: each carries a text and a vector."""

ROWS = 10_000
"""Relationships or summaries of a transaction."""

LONGEST_LINE = 2**25
"""Bytes of a node or relationship: more than any that is exported."""

LONGEST_NAME = 200
"""Characters of a label, type or property."""

LARGEST_MANIFEST = 2**20
MOST_PACKED = 200
"""How many times larger than in the file a member may be: text and vectors are hardly ten times, zeros a thousand."""

_OURS = frozenset(["run", "import_key", "corpora"])
"""Properties that no archive holds."""


class Archive:
    """An open archive whose members are what its manifest says. Raises ArchiveError where they are not."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self._zip = zipfile.ZipFile(file)
        except (OSError, ValueError) as error:
            raise InputError(f"{file} cannot be read ({error}): name an archive that `e2g export` wrote.") from error
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
            f"{self.file} is damaged, incomplete or no archive of a corpus ({why}): export the corpus again. Nothing "
            "was imported."
        )

    def rows(self, member: str, corpus: str) -> Iterator[dict[str, Any]]:
        """The rows of a member, as its statement wants them, under the name of a corpus."""
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
            yield row

    # --- what is checked before anything is written ----------------------------------------------

    def _check_members(self) -> None:
        found = self._zip.infolist()
        if sorted(one.filename for one in found) != sorted([MANIFEST, *MEMBERS]):
            raise self.damaged(f"it does not hold just {MANIFEST}, {', '.join(MEMBERS)}")
        for one in found:
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
        """Read everything once. The documents whose id is made of corpus and source, with their source."""
        known: dict[str, str] = {}
        documents = 0
        for member, parse in ((NODES, _node), (RELATIONSHIPS, _relationship), (SUMMARIES, _summary)):
            said = self.manifest.members[member]
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
                        raise self.damaged(f"{member}, line {number}: an embedding of {len(row['embedding'])} numbers")
                    if "StagedDocument" in row["labels"]:
                        documents += 1
                        identity, source = row["properties"].get("id"), row["properties"].get("source")
                        if isinstance(source, str) and identity == document_id(self.manifest.corpus, source):
                            known[identity] = source
            if (digest.hexdigest(), size, number) != (said.sha256, said.bytes, said.lines):
                raise self.damaged(f"{member} is not what {MANIFEST} says")
        if documents != self.manifest.documents or not documents:
            raise self.damaged(f"it holds {documents} documents")
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
        raise ValueError(f"{labels} are no labels of a corpus")
    held = _properties(properties)
    staged = ["StagedDocument" if label == "Document" else label for label in labels]
    embedding = held.pop("embedding", None)
    if embedding is not None and not (isinstance(embedding, list) and all(isinstance(one, float) for one in embedding)):
        raise ValueError("an embedding is no list of numbers")
    return {"key": key, "labels": staged, "embedding": embedding, "properties": held}


def _relationship(row: Any) -> dict[str, Any]:
    a, kind, b, properties = _fields(row, "a", "type", "b", "properties")
    if not (isinstance(a, str) and isinstance(b, str) and _is_name(kind)):
        raise ValueError("a relationship lacks an end or its type")
    return {"a": a, "type": kind, "b": b, "properties": _properties(properties)}


def _summary(row: Any) -> dict[str, Any]:
    [properties] = _fields(row, "properties")
    held = _properties(properties)
    match held:
        case {"key": str(key), "text": str()}:
            return {"key": key, "properties": held}
    raise ValueError("a summary has no key or text")


def _fields(row: Any, *names: str) -> list[Any]:
    if not isinstance(row, dict) or set(row) != set(names):
        raise ValueError(f"it does not hold just {', '.join(names)}")
    return [row[name] for name in names]


def _properties(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict) or not all(map(_is_name, row)) or not _OURS.isdisjoint(row):
        raise ValueError("its properties are none of a corpus")
    return {name: decoded(value) for name, value in row.items()}


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME


# --- into the database -------------------------------------------------------------------------------


def restore(perform: Perform, archive: Archive, corpus: str) -> ArchiveInfo:
    """Make a corpus out of an archive. Raises InputError where the corpus is there already.

    What an error or Ctrl-C interrupts is removed at once, what a power cut does by whoever writes next.
    """
    settle(perform)
    with Lease(perform, corpus) as lease:
        mine = {"corpus": corpus, "run": lease.run}
        if not perform(Write((("archive/reserve", mine),), ("archive/is_free", {"corpus": corpus}))):
            raise InputError(
                f"The corpus {corpus!r} is there already, or is being imported: delete it first, or import under "
                "another name with --corpus."
            )
        try:
            _write(perform, archive, mine)
            _publish(perform, archive, mine)
        except BaseException:
            with suppress(DatabaseError):  # where the database is gone, whoever writes next does it
                for row in perform(Read("archive/reserved", {})):
                    if row["run"] == lease.run:
                        _end(perform, mine, published=row["published"])
            raise
        _end(perform, mine, published=True)
    manifest, size = archive.manifest, archive.file.stat().st_size
    nodes, relationships, summaries = (manifest.members[member].lines for member in MEMBERS)
    return ArchiveInfo(corpus, str(archive.file), manifest.documents, nodes, relationships, summaries, size)


def _write(perform: Perform, archive: Archive, mine: dict[str, str]) -> None:
    corpus = mine["corpus"]
    for member, statement, size in (
        (NODES, "archive/create_nodes", NODE_ROWS),
        (RELATIONSHIPS, "archive/create_relationships", ROWS),
        (SUMMARIES, "archive/remember", ROWS),
    ):
        for rows in _batches(archive.rows(member, corpus), size):
            _held(perform, Write(((statement, {"corpus": corpus, "rows": rows}),), ("archive/is_mine", mine)))


def _publish(perform: Perform, archive: Archive, mine: dict[str, str]) -> None:
    [made] = perform(Read("archive/imported", {"corpus": mine["corpus"]}))
    members = archive.manifest.members
    if (made["nodes"], made["relationships"]) != (members[NODES].lines, members[RELATIONSHIPS].lines):
        raise archive.damaged("relationships lead to nodes that it does not hold")
    _held(perform, Write((("archive/publish", mine),), ("archive/is_mine", mine)))


def _batches(rows: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while batch := list(islice(rows, size)):
        yield batch


def _held(perform: Perform, request: Write) -> None:
    if not perform(request):
        raise DatabaseError(
            "The import was interrupted for so long that another run ended it: nothing is left of it. Start it again."
        )


def _end(perform: Perform, mine: dict[str, str], *, published: bool) -> None:
    """Take the marks from what was imported, or else remove it; then give the corpus free."""
    some = {"corpus": mine["corpus"], "limit": NODE_ROWS}
    step = ("archive/unmark" if published else "archive/discard", some)
    while perform(Write((step,), ("archive/is_left", mine))):
        pass
    forget = () if published else (("index/forget_corpus", {"corpus": mine["corpus"]}),)
    perform(Write((*forget, ("archive/release", mine)), ("archive/is_mine", mine)))


def settle(perform: Perform) -> None:
    """End the imports whose run was killed: what was not visible yet goes."""
    for row in perform(Read("archive/reserved", {})):
        if row["at_work"]:
            continue
        before, by = {"corpus": row["corpus"], "run": row["run"]}, uuid4().hex
        perform(Write((("archive/take_over", {**before, "by": by}),), ("archive/is_mine", before)))
        _end(perform, {"corpus": row["corpus"], "run": by}, published=row["published"])
