"""Read files as documents: text with exact character offsets, pages and headings.

Text and Markdown are not changed: `text` equals `Path(file).read_text(encoding="utf-8")` without a byte-order mark and
front matter, so line ends are single newlines. Other formats are converted to plain text or Markdown, and offsets count
characters of the result.
"""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path, PurePath

from e2g_neo4j.documents.formats import BY_SUFFIX, CONVERTED, KINDS, detect_format
from e2g_neo4j.documents.headings import chapters
from e2g_neo4j.documents.links import resolve_links
from e2g_neo4j.documents.reading import Limits, Reading
from e2g_neo4j.documents.text import quote_path, within
from e2g_neo4j.errors import InputError, ReadingError
from e2g_neo4j.types.documents import UPLOAD, SourceDocument
from e2g_neo4j.types.ids import document_id, utf8
from e2g_neo4j.types.properties import Properties

LONGEST_SOURCE = 6000
"""Maximum bytes of the source of a document: more than any path, and accepted by the indexes of Neo4j."""

MAX_BAD_PARTS = 20
"""Documents of one file that are reported one by one. The others are counted."""

MAX_REASONS = 100
"""Reasons that the message of one error contains. The others are counted."""


@dataclass(slots=True)
class ReadingReport:
    """What could not be read, and what is odd about the rest.

    Attributes:
        failed: the reason, by path, by `upload:NAME`, or by path and number of the line of JSON Lines.
        warnings: what is odd, by path or `upload:NAME`.
        passed_over: what folders and globs have and is not read, a sentence by suffix.
    """

    failed: dict[str, str] = field(default_factory=dict)
    warnings: dict[str, str] = field(default_factory=dict)
    passed_over: dict[str, str] = field(default_factory=dict)

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


def find(
    paths: str | Path | Iterable[str | Path],
    failed: dict[str, str] | None = None,
    skipped: set[Path] | None = None,
) -> list[Path]:
    """Return the files that paths refer to: files, folders with subfolders, and globs (also `**`), with `~` expanded.

    In folders and globs, hidden files and files with an unknown suffix are skipped. In folders, JSON and JSON Lines are
    skipped too, because they often contain something else. The result is sorted and has no duplicates.

    Args:
        failed: takes the reason for each path that refers to no readable file; None: the first one is raised.
        skipped: takes the files that are skipped and not hidden, for `explain`.

    Raises:
        ReadingError: there is no path, or without `failed`, one refers to no readable file.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    if not given:
        raise ReadingError("There is nothing to read. Name files, folders or globs.")
    found: list[Path] = []
    for one in given:
        try:
            found += _expand(str(one), failed, skipped)
        except ReadingError as error:
            if failed is None:
                raise
            failed[quote_path(one)] = str(error)
    by_resolved: dict[Path, Path] = {}
    for path in sorted(found):
        by_resolved.setdefault(path.resolve(), path)
    return list(by_resolved.values())


def explain(skipped: Iterable[Path]) -> dict[str, str]:
    """Return a sentence for each suffix of files that were skipped: how many, why, and what to do."""
    sentences = {}
    for suffix, number in sorted(Counter(path.suffix.lower() for path in skipped).items()):
        files, are, them = ("file", "is", "it") if number == 1 else ("files", "are", "them")
        if suffix in BY_SUFFIX:
            why = f"read only if you name {them}"
        elif suffix in CONVERTED:
            why = f"not read. Save {them} as {CONVERTED[suffix]}"
        else:
            why = "not read" if suffix else f"not read. Rename {them} to end in .txt if there is text in {them}"
        ending = f"ending in {quote_path(suffix)}" if suffix else "without a suffix"
        sentences[suffix] = f"{number:,} {files} {ending} {are} {why}."
    return sentences


def _expand(given: str, failed: dict[str, str] | None, skipped: set[Path] | None) -> list[Path]:
    if given.startswith(UPLOAD):
        raise ReadingError(
            f"{quote_path(given)} names an upload, not a file. Give the absolute path of a file of this name."
        )
    try:
        path = Path(given).expanduser()
        if given and path.is_dir():
            files = list(_below(path, failed, skipped))
        elif given and path.exists():
            files = [path]
        elif any(sign in given for sign in "*?["):
            hits = [Path(hit) for hit in glob.glob(str(path), recursive=True)]  # noqa: PTH207 (absolute ones too)
            below = (file for hit in hits for file in (_below(hit, failed, skipped) if hit.is_dir() else [hit]))
            files = [file for file in below if _is_known(file, skipped)]
        else:
            raise ReadingError(f"{quote_path(given)} does not exist. Check the path.")
        if not files:
            hint = " Name .json and .jsonl files themselves." if path.is_dir() else ""
            raise ReadingError(f"{quote_path(given)} contains no documents. Supported files end in {KINDS}.{hint}")
        return list(_check_files(files, failed))
    except (OSError, ValueError, RuntimeError) as error:  # too long a name, no such user, circular links
        raise ReadingError(f"{quote_path(given)} cannot be read: {error}.") from error


def _check_files(files: Iterable[Path], failed: dict[str, str] | None) -> Iterator[Path]:
    for file in files:
        try:
            yield _check_file(file)
        except ReadingError as error:
            if failed is None:
                raise
            failed[quote_path(file)] = str(error)


def _below(folder: Path, failed: dict[str, str] | None, skipped: set[Path] | None) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        if failed is None:
            raise error
        failed[quote_path(error.filename)] = f"{quote_path(error.filename)} cannot be read: {error.strerror}."

    for place, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            file = Path(place, name)
            if not name.startswith(".") and file.is_file() and _is_known(file, skipped, in_folder=True):
                yield file


def _is_known(path: Path, skipped: set[Path] | None, *, in_folder: bool = False) -> bool:
    known = BY_SUFFIX.get(path.suffix.lower())
    if known is None and path.suffix.lower() in CONVERTED:  # a .doc may be RTF
        with suppress(OSError, ReadingError):
            known = detect_format(path)
    if known is not None and (known.in_folders or not in_folder):
        return True
    if skipped is not None:
        skipped.add(path.absolute())
    return False


def _check_file(path: Path) -> Path:
    if not path.exists():
        raise ReadingError(f"{quote_path(path)} does not exist. Check the path.")
    if not path.is_file():
        raise ReadingError(f"{quote_path(path)} is not a file. Name a file, a folder or a glob.")
    if not os.access(path, os.R_OK):
        raise ReadingError(f"{quote_path(path)} is not readable for you. Change its permissions.")
    detect_format(path)
    utf8(str(path.resolve()), f"The name of {quote_path(path)}")
    return path.absolute()


def read_files(
    paths: Iterable[str | Path], read: Callable[[Path, ReadingReport], list[SourceDocument]], report: ReadingReport
) -> list[SourceDocument]:
    """Read the documents of files, folders and globs, as far as they can be read."""
    documents: list[SourceDocument] = []
    skipped: set[Path] = set()
    found = find(paths, report.failed, skipped)
    report.passed_over = explain(skipped)
    for path in found:
        try:
            documents += read(path, report)
        except ReadingError as error:
            report.failed[quote_path(path)] = str(error)
    return documents


def read_all(
    path: Path, corpus: str, limits: Limits, report: ReadingReport | None = None, source: str | None = None
) -> list[SourceDocument]:
    """Read the documents of a file. For arguments and errors see `read_each`."""
    return list(read_each(path, corpus, limits, report, source))


def read_each(
    path: Path, corpus: str, limits: Limits, report: ReadingReport | None = None, source: str | None = None
) -> Iterator[SourceDocument]:
    """Read the documents of a file, one after the other.

    The `source` of a document is that of the file; if it holds several, also `#` and what tells them apart. The id is
    derived from corpus and source.

    Args:
        path: a file of one of FORMATS.
        corpus: the corpus that the documents will belong to.
        report: takes the documents of a file that cannot be read beside others; None: the first one is raised.
        source: the source of the file; None: its resolved path.

    Raises:
        ReadingError: the file is missing, empty, binary, broken, encrypted, too large or without text, or none of its
            documents can be read; the message names those.
    """
    try:
        path = _check_file(path)
        source, kind = source or str(path.resolve()), detect_format(path)
        if hasattr(kind.reader, "read_each"):
            yield from _several(kind.reader.read_each(path, limits), path, corpus, limits, report, source)
            return
        yield _document(kind.reader.read(path, limits), corpus, source, path, limits, quote_path(path))
    except (ReadingError, MemoryError):
        raise
    except Exception as error:  # parsers raise many kinds of exceptions for broken files
        if isinstance(error, OSError) and error.strerror:
            raise ReadingError(f"{quote_path(path)} cannot be read: {error.strerror}. Check the file.") from error
        what = " ".join(f"{type(error).__name__} {error}".split())[:200]
        raise ReadingError(
            f"{quote_path(path)} cannot be read as {path.suffix[1:].upper()} ({what}). "
            "Open it in its own program and save it again."
        ) from error


def _several(
    readings: Iterator[tuple[str, Reading | ReadingError]],
    path: Path,
    corpus: str,
    limits: Limits,
    report: ReadingReport | None,
    source: str,
) -> Iterator[SourceDocument]:
    sources: set[str] = set()
    bad: dict[str, str] = {}
    unread = 0
    for place, reading in readings:
        what = f"{quote_path(path)}, {place}"
        try:
            document = _part(reading, path, corpus, limits, what, source, sources)
        except ReadingError as error:
            if report is None:
                raise
            unread += 1
            if unread <= MAX_BAD_PARTS:
                bad[what] = str(error)
        else:
            sources.add(document.source)
            yield document
    if more := unread - len(bad):
        bad[f"{quote_path(path)}, others"] = (
            f"{quote_path(path)}: {more} more documents cannot be read. Correct those first."
        )
    if not sources and not bad:
        raise ReadingError(f"{quote_path(path)} is empty: it holds no text. Leave it out.")
    ReadingReport(bad).check(strict=False, read=bool(sources))
    if report is not None:
        report.failed |= bad


def _part(
    reading: Reading | ReadingError,
    path: Path,
    corpus: str,
    limits: Limits,
    what: str,
    source: str,
    before: Container[str],
) -> SourceDocument:
    if isinstance(reading, ReadingError):
        raise reading
    source = source if reading.key is None else f"{source}#{reading.key}"
    if source in before:
        raise ReadingError(f"{what}: this id was there before. Make it unique.")
    return _document(reading, corpus, source, path, limits, what)


def read(path: Path, corpus: str, limits: Limits) -> SourceDocument:
    """Read a file that holds one document. For arguments and errors see `read_each`."""
    [document] = read_each(path, corpus, limits)
    return document


def file_of(source: str) -> Path:
    """Return the file of a source. In sources from JSON Lines, it precedes the `#`.

    Raises:
        ReadingError: the document was uploaded or fetched.
    """
    if source.startswith(UPLOAD):
        raise ReadingError(f"{quote_path(source)} was uploaded, so there is no file to read again. Upload it again.")
    if source.startswith(("http://", "https://")):
        raise ReadingError(f"{quote_path(source)} was fetched: index it again with --fetch.")
    path = Path(source)
    return path if path.is_file() or "#" not in source else Path(source.rpartition("#")[0])


class SourceGoneError(ReadingError):
    """A document is not in its file any more."""

    def __init__(self, source: str) -> None:
        super().__init__(
            f"{quote_path(source)} is not in its file any more. Delete the document, or index the file again."
        )


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
    reading = Reading(text, title, chapters(text), properties)
    limits = None if max_bytes is None else Limits(max_bytes)
    return _document(
        reading, corpus, source, Path(source.removeprefix(UPLOAD)), limits, f"The text of {quote_path(source)}"
    )


def _document(
    reading: Reading, corpus: str, source: str, path: Path, limits: Limits | None, what: str
) -> SourceDocument:
    text, title = reading.text, reading.title
    if not title:
        title = title_of(path) if reading.key is None else f"{title_of(path)} {reading.key}"
    # White space and format characters, such as zero-width spaces, are not tokens.
    if not any(character.isprintable() and not character.isspace() for character in text):
        raise ReadingError(f"{what} is empty: it holds no text. Leave it out.")
    if "\0" in text:
        raise ReadingError(f"{what} holds NUL characters, so it is binary, or UTF-16 without its mark. Convert it.")
    encoded = utf8(text, what)
    if limits is not None:
        within(len(encoded), limits.bytes, what)
    if len(utf8(source, f"The source of {what}")) > LONGEST_SOURCE:
        raise ReadingError(
            f"The source {quote_path(source[:60])}… has more than {LONGEST_SOURCE} bytes. Give a shorter one."
        )
    of_file = source if reading.key is None else source.removesuffix(f"#{reading.key}")
    links, lost = resolve_links(reading.links, of_file)
    hashed = sha256(encoded)
    if links:
        hashed.update("\n".join(f"{link.start} {link.end} {link.target}" for link in links).encode())
    try:
        return SourceDocument(
            id=document_id(corpus, source),
            corpus=corpus,
            title=" ".join(utf8(title, f"The title of {what}").decode().split()) or source,
            source=source,
            text=text,
            sha256=hashed.hexdigest(),
            sections=tuple(reading.sections),
            properties=reading.properties,
            losses=(*reading.losses, *lost),
            links=tuple(links),
        )
    except InputError as error:  # a property is invalid
        raise ReadingError(f"{what}: {error}") from error


def title_of(path: PurePath) -> str:
    """Derive a title from a file name: "345_the_secret_garden" becomes "The secret garden". Years stay."""
    name = re.sub(r"^(?!(?:19|20)\d\d_)\d+_+(?=[^\W\d])", "", path.stem).replace("_", " ").strip()
    name = (name if " " in name else name.replace("-", " ")).strip()
    return name[:1].upper() + name[1:] if name.islower() else name or path.name
