"""Read files as documents: text with exact character offsets, pages and headings.

Text and Markdown are not changed: `text` equals `Path(file).read_text(encoding="utf-8")` without a byte-order mark, so
line ends are single newlines. Other formats are converted to plain text or Markdown, and offsets count characters of
the result.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Any

from e2g_neo4j.errors import ConfigurationError, InputError, ReadingError
from e2g_neo4j.indexing.sources import json_lines
from e2g_neo4j.indexing.sources.formats import chapters, load
from e2g_neo4j.indexing.sources.text import shown, within
from e2g_neo4j.types.documents import UPLOAD, Section, SourceDocument
from e2g_neo4j.types.ids import document_id, utf8
from e2g_neo4j.types.properties import Properties

SUFFIXES = (".docx", ".epub", ".htm", ".html", ".jsonl", ".md", ".pdf", ".txt")

LONGEST_SOURCE = 6000
"""Maximum bytes of the source of a document: more than any path, and accepted by the indexes of Neo4j."""

KINDS = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"


MAX_BAD_LINES = 20
"""Lines of one JSON Lines file that are reported one by one. The others are counted."""

MAX_REASONS = 100
"""Reasons that the message of one error contains. The others are counted."""


@dataclass(slots=True)
class ReadingReport:
    """What could not be read, and what is odd about the rest.

    Attributes:
        failed: the reason, by path, by `upload:NAME`, or by path and number of the line of JSON Lines.
        warnings: what is odd, by path or `upload:NAME`.
    """

    failed: dict[str, str] = field(default_factory=dict)
    warnings: dict[str, str] = field(default_factory=dict)

    def check(self, *, strict: bool, read: bool) -> None:
        """Check whether to go on.

        Args:
            strict: whether everything must be readable.
            read: whether anything was read.

        Raises:
            ReadingError: it must, and something is not, or nothing was read. The message names all that failed.
        """
        if self.failed and (strict or not read):
            reasons = list(self.failed.values())
            if len(reasons) == 1:
                raise ReadingError(reasons[0])
            listed = " ".join(f"({number}) {reason}" for number, reason in enumerate(reasons[:MAX_REASONS], 1))
            more = f" And {len(reasons) - MAX_REASONS} more." if len(reasons) > MAX_REASONS else ""
            raise ReadingError(f"Nothing was indexed: {len(reasons)} sources cannot be read. {listed}{more}")


def find(paths: str | Path | Iterable[str | Path], failed: dict[str, str] | None = None) -> list[Path]:
    """Return the files that paths refer to: files, folders with subfolders, and globs (also `**`), with `~` expanded.

    In folders and globs, hidden files and files with an unknown suffix are skipped. In folders, JSON Lines are skipped
    too, because they often contain something else. The result is sorted and has no duplicates.

    Args:
        paths: the paths.
        failed: takes the reason for each path that refers to no readable file; None: the first one is raised.

    Raises:
        ReadingError: there is no path, or without `failed`, one refers to no readable file.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    if not given:
        raise ReadingError("There is nothing to read. Name files, folders or globs.")
    found: list[Path] = []
    for one in given:
        try:
            found += _expand(str(one), failed)
        except ReadingError as error:
            if failed is None:
                raise
            failed[shown(one)] = str(error)
    by_resolved: dict[Path, Path] = {}
    for path in sorted(found):
        by_resolved.setdefault(path.resolve(), path)
    return list(by_resolved.values())


def _expand(given: str, failed: dict[str, str] | None) -> list[Path]:
    if given.startswith(UPLOAD):
        raise ReadingError(
            f"{shown(given)} names an upload, not a file. Give the absolute path of a file of this name."
        )
    try:
        path = Path(given).expanduser()
        if given and path.is_dir():
            files = list(_below(path, failed))
        elif given and path.exists():
            files = [path]
        elif any(sign in given for sign in "*?["):
            hits = [Path(hit) for hit in glob.glob(str(path), recursive=True)]  # noqa: PTH207 (absolute ones too)
            below = (file for hit in hits for file in (_below(hit, failed) if hit.is_dir() else [hit]))
            files = [file for file in below if _known(file)]
        else:
            raise ReadingError(f"{shown(given)} does not exist. Check the path.")
        if not files:
            hint = " Name .jsonl files themselves." if path.is_dir() else ""
            raise ReadingError(f"{shown(given)} contains no documents. Supported files end in {KINDS}.{hint}")
        return list(_checked_files(files, failed))
    except (OSError, ValueError, RuntimeError) as error:  # too long a name, no such user, circular links
        raise ReadingError(f"{shown(given)} cannot be read: {error}.") from error


def _checked_files(files: Iterable[Path], failed: dict[str, str] | None) -> Iterator[Path]:
    for file in files:
        try:
            yield _checked_file(file)
        except ReadingError as error:
            if failed is None:
                raise
            failed[shown(file)] = str(error)


def _below(folder: Path, failed: dict[str, str] | None) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        if failed is None:
            raise error
        failed[shown(error.filename)] = f"{shown(error.filename)} cannot be read: {error.strerror}."

    for place, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            file = Path(place, name)
            if not name.startswith(".") and _known(file) and file.suffix.lower() != ".jsonl" and file.is_file():
                yield file


def _known(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES


def _checked_file(path: Path) -> Path:
    if not path.exists():
        raise ReadingError(f"{shown(path)} does not exist. Check the path.")
    if not path.is_file():
        raise ReadingError(f"{shown(path)} is not a file. Name a file, a folder or a glob.")
    if not _known(path):
        raise ReadingError(f"{shown(path)} has an unsupported file type. Rename or convert it to {KINDS}.")
    if not os.access(path, os.R_OK):
        raise ReadingError(f"{shown(path)} is not readable for you. Change its permissions.")
    utf8(str(path.resolve()), f"The name of {shown(path)}")
    return path.absolute()


def read_files(
    paths: Iterable[str | Path], read: Callable[[Path, ReadingReport], list[SourceDocument]], report: ReadingReport
) -> list[SourceDocument]:
    """Read the documents of files, folders and globs, as far as they can be read.

    Args:
        paths: the paths.
        read: reads the documents of a file.
        report: takes what cannot be read.
    """
    documents: list[SourceDocument] = []
    for path in find(paths, report.failed):
        try:
            documents += read(path, report)
        except ReadingError as error:
            report.failed[shown(path)] = str(error)
    return documents


def read_all(path: Path, corpus: str, max_bytes: int, report: ReadingReport | None = None) -> list[SourceDocument]:
    """Read the documents of a file: one, or one per line of JSON Lines.

    A line of JSON Lines is an object with `text` and optionally `title`, `id` and `properties`, an object. The title is
    put before the text, so that passages that only say "he" or "the town" can be found by it; offsets include it. The
    `source` is the path of the file, `#`, and the id or else the number of the line.

    Args:
        path: the file.
        corpus: as `read`.
        max_bytes: as `read`.
        report: takes the lines of JSON Lines that cannot be read; None: the first one is raised.

    Raises:
        ReadingError: as `read`, or no line can be read; the message names those.
    """
    return list(read_each(path, corpus, max_bytes, report))


def read_each(path: Path, corpus: str, max_bytes: int, report: ReadingReport | None = None) -> Iterator[SourceDocument]:
    """Like `read_all`, one document after the other."""
    if path.suffix.lower() != ".jsonl":
        yield read(path, corpus, max_bytes)
        return
    path = _checked_file(path)
    sources: set[str] = set()
    bad: dict[str, str] = {}
    unread = 0
    fields: set[str] = set()
    try:
        for number, line in json_lines.lines(path, max_bytes):
            what = f"{shown(path)}, line {number}"
            try:
                row = json_lines.parse(line, what, max_bytes)
                document = _from_row(row, number, path, corpus, max_bytes, sources)
            except ReadingError as error:
                if report is None:
                    raise
                unread += 1
                if unread <= MAX_BAD_LINES:
                    bad[what] = str(error)
            else:
                sources.add(document.source)
                fields |= row.keys() if len(fields) < MAX_REASONS else set()
                yield document
    except OSError as error:
        raise ReadingError(f"{shown(path)} cannot be read: {error.strerror or error}.") from error
    if more := unread - len(bad):
        bad[f"{shown(path)}, other lines"] = f"{shown(path)}: {more} more lines cannot be read. Correct those first."
    if not sources and not bad:
        raise ReadingError(f"{shown(path)} is empty: it holds no text. Leave it out.")
    ReadingReport(bad).check(strict=False, read=bool(sources))
    if report is not None:
        report.failed |= bad
        if warning := json_lines.warn_of_unknown(fields, path):
            report.warnings[shown(path)] = warning


def _from_row(
    row: Mapping[str, Any], number: int, path: Path, corpus: str, max_bytes: int, before: Container[str]
) -> SourceDocument:
    what = f"{shown(path)}, line {number}"
    name = str(number if row.get("id") is None else row["id"])
    text = row["text"]
    if row.get("title") and text.strip():
        text = f"{row['title']}\n\n{text}"
    title = str(row.get("title") or f"{title_of(path)} {name}")
    document = _document(text, corpus, f"{path.resolve()}#{name}", title, chapters(text), max_bytes, what)
    if document.source in before:
        raise ReadingError(f"{what}: this id was there before. Make it unique.")
    try:
        return replace(document, properties=row.get("properties"))
    except InputError as error:
        raise ReadingError(f"{what}: {error}") from error


def read(path: Path, corpus: str, max_bytes: int) -> SourceDocument:
    """Read one file. Its `source` is the resolved path. The id is derived from corpus and source.

    Args:
        path: a file with one of SUFFIXES, except JSON Lines.
        corpus: the corpus that the document will belong to.
        max_bytes: the maximum size of the text in UTF-8, and of the unpacked markup of HTML, DOCX and EPUB.

    Raises:
        ReadingError: the file is missing, empty, binary, broken, encrypted, in an unknown encoding, too large or
            without text.
    """
    try:
        path = _checked_file(path)
        text, title, sections = load(path, max_bytes)
        source = str(path.resolve())
    except (ReadingError, MemoryError):
        raise
    except ConfigurationError as error:  # a parser is not installed
        raise ReadingError(str(error)) from error
    except Exception as error:  # parsers raise many kinds of exceptions for broken files
        if isinstance(error, OSError) and error.strerror:
            raise ReadingError(f"{shown(path)} cannot be read: {error.strerror}. Check the file.") from error
        what = " ".join(f"{type(error).__name__} {error}".split())[:200]
        raise ReadingError(
            f"{shown(path)} cannot be read as {path.suffix[1:].upper()} ({what}). "
            "Open it in its own program and save it again."
        ) from error
    return _document(text, corpus, source, title or title_of(path), sections, max_bytes, shown(path))


def file_of(source: str) -> Path:
    """Return the file of a source. In sources from JSON Lines, it precedes the `#`.

    Raises:
        ReadingError: the document was uploaded or fetched.
    """
    if source.startswith(UPLOAD):
        raise ReadingError(f"{shown(source)} was uploaded, so there is no file to read again. Upload it again.")
    if source.startswith(("http://", "https://")):
        raise ReadingError(f"{shown(source)} was fetched: index it again with --fetch.")
    path = Path(source)
    return path if path.is_file() or "#" not in source else Path(source.rpartition("#")[0])


class SourceGoneError(ReadingError):
    """A document is not in its file any more."""

    def __init__(self, source: str) -> None:
        super().__init__(f"{shown(source)} is not in its file any more. Delete the document, or index the file again.")


def from_text(
    text: str,
    *,
    corpus: str,
    source: str,
    title: str | None = None,
    max_bytes: int | None = None,
    properties: Properties | None = None,
) -> SourceDocument:
    """Create a document from a text. The text is not changed, including line ends.

    Args:
        text: the text.
        corpus: the corpus that the document will belong to.
        source: identifies the document in the corpus. Indexing the same source again replaces the document.
        title: the title; None: derived from the source.
        max_bytes: the maximum size of the text in UTF-8; None: no limit.
        properties: texts, numbers, booleans or lists of one of these, by name. Questions can be restricted by them.
            None: those that the document has, if it is indexed already.

    Raises:
        ReadingError: the text is empty or too large, or contains NUL characters or halves of surrogate pairs.
        InputError: a property is invalid.
    """
    title = title or title_of(Path(source.removeprefix(UPLOAD)))
    document = _document(text, corpus, source, title, chapters(text), max_bytes, f"The text of {shown(source)}")
    return replace(document, properties=properties)


def _document(
    text: str, corpus: str, source: str, title: str, sections: list[Section], max_bytes: int | None, what: str
) -> SourceDocument:
    # White space and format characters, such as zero-width spaces, are not tokens.
    if not any(character.isprintable() and not character.isspace() for character in text):
        raise ReadingError(f"{what} is empty: it holds no text. Leave it out.")
    if "\0" in text:
        raise ReadingError(f"{what} holds NUL characters, so it is binary, or UTF-16 without its mark. Convert it.")
    encoded = utf8(text, what)
    if max_bytes is not None:
        within(len(encoded), max_bytes, what)
    if len(utf8(source, f"The source of {what}")) > LONGEST_SOURCE:
        raise ReadingError(
            f"The source {shown(source[:60])}… has more than {LONGEST_SOURCE} bytes. Give a shorter one."
        )
    return SourceDocument(
        id=document_id(corpus, source),
        corpus=corpus,
        title=" ".join(utf8(title, f"The title of {what}").decode().split()) or source,
        source=source,
        text=text,
        sha256=sha256(encoded).hexdigest(),
        sections=tuple(sections),
    )


def title_of(path: PurePath) -> str:
    """Derive a title from a file name: "345_the_secret_garden" becomes "The secret garden"."""
    name = re.sub(r"^\d+_+(?=[^\W\d])", "", path.stem).replace("_", " ").strip()
    name = (name if " " in name else name.replace("-", " ")).strip()
    return name[:1].upper() + name[1:] if name.islower() else name or path.name
