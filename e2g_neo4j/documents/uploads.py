"""Read uploaded files. A client's name of a file is a label: it is never looked up on this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from e2g_neo4j.documents.files import (
    LONGEST_SOURCE,
    ReadingReport,
    from_text,
    title_of,
)
from e2g_neo4j.documents.formats import BY_MEDIA_TYPE, BY_SUFFIX, KINDS
from e2g_neo4j.documents.processes import read_file
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.documents.text import quote_path
from e2g_neo4j.errors import ReadingError
from e2g_neo4j.types.documents import UPLOAD, SourceDocument
from e2g_neo4j.types.ids import utf8


def suffix_of(name: str, content_type: str | None) -> str:
    """Return the suffix to read an uploaded file by: that of its name, or else that of its content type.

    Raises:
        ReadingError: neither is one that can be read.
    """
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in BY_SUFFIX:
        return suffix
    media_type = (content_type or "").partition(";")[0].strip().lower()
    if media_type in BY_MEDIA_TYPE:
        return BY_MEDIA_TYPE[media_type].suffixes[0]
    raise ReadingError(f"{quote_path(name)} has an unsupported file type. Rename or convert it to {KINDS}.")


def read_upload(
    path: Path,
    name: str,
    corpus: str,
    limits: Limits,
    check: Callable[[], object] = lambda: None,
    *,
    title: str | None = None,
    source: str | None = None,
    report: ReadingReport | None = None,
) -> list[SourceDocument]:
    """Read the documents of an uploaded file. The source is `upload:NAME`, of JSON Lines `upload:NAME#ID`.

    Args:
        path: where the file was stored, with a suffix of `suffix_of`.
        name: what the client calls it; it stands for the path in titles and messages.
        corpus: the corpus that the documents will belong to.
        title: the title of the document; None: the one that the file has, or else its name.
        source: what to use instead of `upload:NAME`.

    Raises:
        ReadingError: the file cannot be read.
    """
    path = path.resolve()

    def rename_file(message: str) -> str:
        return message.replace(str(path), quote_path(name)).replace(str(path.parent), "")

    source = source or f"{UPLOAD}{name}"
    if len(utf8(source, "The name of the file")) > LONGEST_SOURCE:
        raise ReadingError(
            f"The name {quote_path(source[:60])}… has more than {LONGEST_SOURCE} bytes. Give a shorter one."
        )
    noted = None if report is None else ReadingReport()
    try:
        documents = read_file(path, corpus, limits, check, noted, source)
    except ReadingError as error:
        raise ReadingError(rename_file(str(error))) from None  # the original names the path
    if report is not None and noted is not None:
        report.failed |= {UPLOAD + rename_file(what): rename_file(why) for what, why in noted.failed.items()}
        report.warnings |= {UPLOAD + rename_file(what): rename_file(why) for what, why in noted.warnings.items()}
    stored, given = title_of(path), title_of(PurePosixPath(name))
    uploaded = []
    for document in documents:
        old = document.title
        called = given + old.removeprefix(stored) if old == stored or old.startswith(f"{stored} ") else old
        called = title if title and len(documents) == 1 else called
        called = (
            " ".join(utf8(called, f"The title of {quote_path(document.source)}").decode().split()) or document.source
        )
        uploaded.append(replace(document, title=called))
    return uploaded


def read_text(text: bytes, name: str, corpus: str, limits: Limits, *, title: str | None = None) -> SourceDocument:
    """Return the document of an uploaded text in UTF-8. For arguments and errors see `read_upload`."""
    try:
        decoded = text.decode()
    except UnicodeDecodeError as error:
        raise ReadingError(f"The text of {quote_path(name)} is not UTF-8. Convert it.") from error
    title = title or title_of(PurePosixPath(name)) or name
    return from_text(decoded, corpus=corpus, source=f"{UPLOAD}{name}", title=title, max_bytes=limits.bytes)
