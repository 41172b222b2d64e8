"""Files that commands read, or write their results to."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from e2g_neo4j.documents.files import find, from_text
from e2g_neo4j.documents.formats import BY_MEDIA_TYPE, BY_SUFFIX
from e2g_neo4j.documents.processes import LIBRARY, limits_of, read_file
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.documents.text import decode, within
from e2g_neo4j.errors import InputError, ReadingError
from e2g_neo4j.indexing.operations import Source
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.documents import SourceDocument
from e2g_neo4j.types.ids import utf8

WEB = ("http://", "https://")

_SECONDS = 30


def choose_sources(
    paths: Sequence[str],
    corpus: str,
    title: str | None,
    source: str | None,
    settings: Settings,
    *,
    fetch: bool = False,
    failed: dict[str, str] | None = None,
) -> Sequence[Source]:
    """Return what `e2g index` is to index: files, folders, globs and web addresses; or `-`, for standard input.

    `failed` takes the reason for each web address that cannot be read. Without it, or with a title, the first is
    raised.
    """
    if "-" in paths and len(paths) > 1:
        raise InputError("`-`, standard input, cannot be indexed together with files. Index them one after the other.")
    if source is not None and "-" not in paths:
        raise InputError(
            "--source names a text on standard input: pass `-` as the path. Files are named by their paths."
        )
    addresses = [path for path in paths if path.startswith(WEB)]
    if addresses and not fetch:
        raise InputError(f"{addresses[0]} is a web address. Pass --fetch to download and index it.")
    if title is None and "-" not in paths and not addresses:
        return paths
    if title is not None and not utf8(title, "The title").strip():
        raise InputError("The title is empty. Pass another, or omit --title.")
    limits = limits_of(settings, LIBRARY)
    if "-" in paths:
        data = sys.stdin.buffer.read(limits.bytes + 1)
        within(len(data), limits.bytes, "The text on standard input")
        text, losses = decode(data, Path("standard input"))
        document = from_text(text, corpus=corpus, source=source or "stdin", title=title, max_bytes=limits.bytes)
        return [replace(document, losses=tuple(losses))]
    fetched: list[SourceDocument] = []
    for address in addresses:
        try:
            fetched.append(fetch_document(address, corpus, limits))
        except ReadingError as error:
            if failed is None or title is not None:
                raise
            failed[address] = str(error)
    files = [path for path in paths if path not in addresses]
    if title is None:
        return [*files, *fetched]
    documents = [document for file in find(files) for document in read_file(file, corpus, limits)] if files else []
    documents += fetched
    if len(documents) > 1:
        raise InputError(f"--title is for one document, and there are {len(documents)}. Index one file, or omit it.")
    return [replace(documents[0], title=" ".join((title or "").split()))]


def fetch_document(address: str, corpus: str, limits: Limits) -> SourceDocument:
    """Download a document. Its source is the address. The reply has at most so many bytes as the text may have."""
    import httpx

    try:
        with httpx.stream("GET", address, follow_redirects=True, timeout=_SECONDS) as reply:
            reply.raise_for_status()
            path = PurePosixPath(unquote(urlsplit(address).path))
            kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
            found = BY_SUFFIX.get(path.suffix.lower()) or BY_MEDIA_TYPE.get(kind)
            if found is None or hasattr(found.reader, "read_each"):
                raise ReadingError(f"{address} is of the type {kind or 'unknown'}: download it, and convert it.")
            content = bytearray()
            for part in reply.iter_bytes():
                content += part
                within(len(content), limits.bytes, address)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ReadingError(f"{address} cannot be fetched ({error}): check the address and the network.") from error
    with tempfile.TemporaryDirectory(prefix="e2g-") as folder:
        name = re.sub(r"[^\w .-]", "_", path.stem)[:50]  # any file system takes it
        file = Path(folder, f"{name or urlsplit(address).hostname}{found.suffixes[0]}")
        file.write_bytes(content)
        try:
            [document] = read_file(file, corpus, limits, source=address)
        except ReadingError as error:
            raise ReadingError(str(error).replace(str(file), address)) from error
    return document


def check_file(file: Path, option: str, *, overwrite: bool = False) -> None:
    """Refuse a file that exists or cannot be written, before the work starts."""
    try:
        if file.is_dir():
            raise InputError(f"{file} is a folder: pass a file with {option}.")
        if file.is_file() and not overwrite:
            raise InputError(f"{file} exists already. Choose another file, or pass --overwrite.")
        if not file.absolute().parent.is_dir():
            raise InputError(f"The folder of {file} does not exist: create it, or pass another file with {option}.")
    except OSError as error:  # for example, the name is too long
        raise _cannot_write(file, error, option) from error


def write_file(file: Path, text: str, option: str, *, overwrite: bool = False) -> None:
    try:
        may_exist = overwrite or (file.exists() and not file.is_file())  # a device or a pipe
        with file.open("w" if may_exist else "x", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise _cannot_write(file, error, option) from error


def _cannot_write(file: Path, error: OSError, option: str) -> InputError:
    return InputError(f"Cannot write {file} ({error.strerror}): pass another file with {option}.")
