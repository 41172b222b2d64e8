"""Recognise the files of a corpus: a renamed one keeps its document, and those that are gone are told."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from e2g_neo4j.documents.files import file_of
from e2g_neo4j.errors import ReadingError
from e2g_neo4j.runtime.requests import Operation, Read, Rows
from e2g_neo4j.types.documents import SourceDocument
from e2g_neo4j.types.ids import document_id


def recognise(
    corpus: str, documents: Sequence[SourceDocument], paths: Iterable[str | Path]
) -> Operation[tuple[list[SourceDocument], dict[str, str], dict[str, str]]]:
    """Give documents the ids under which a corpus has their files.

    A file without a document that has the text of one whose file is gone, from a folder of the paths, is the same file
    with another name: the document keeps its id, and with it chunks and vectors.

    Args:
        paths: the files, folders and globs that were named.

    Returns:
        The documents, the new source of each renamed one, by its old source, and the ids of those in the folders that
        were named whose files are gone, by source.
    """
    given = [Path(path).expanduser() for path in paths]
    named = tuple(os.path.join(path.absolute(), "") for path in given if path.is_dir())  # noqa: PTH118 (ends in a slash)
    folders = {*named, *(os.path.join(path.absolute().parent, "") for path in given if path.is_file())}  # noqa: PTH118
    sources = {one.source for one in documents}
    parameters = {"sources": list(sources), "ids": [one.id for one in documents], "folders": sorted(folders)}
    rows: Rows = yield Read("index/known_files", {"corpus": corpus, **parameters})
    known = {row["source"]: row["id"] for row in rows}
    taken = {row["id"]: row["source"] for row in rows}
    lost = [row for row in rows if row["source"] not in sources and _is_gone(row["source"], tuple(folders))]
    with_text: defaultdict[str | None, list[str]] = defaultdict(list)
    for row in reversed(lost):
        with_text[row["sha256"]].append(row["source"])
    renamed: dict[str, str] = {}
    found = []
    for one in documents:
        id = one.id
        if id != document_id(corpus, one.source):
            pass  # it was given by the caller
        elif one.source in known:
            id = known[one.source]
        elif with_text[one.sha256]:
            before = with_text[one.sha256].pop()
            id, renamed[before] = known[before], one.source
        elif id in taken:  # by a document that had this source before
            id = document_id(corpus, f"{id}\0{one.source}")
        found.append(replace(one, id=id))
    gone = {row["source"]: row["id"] for row in lost if row["source"].startswith(named)}
    return found, renamed, {source: id for source, id in gone.items() if source not in renamed}


def _is_gone(source: str, folders: tuple[str, ...]) -> bool:
    """Return whether a source is a file below one of some folders that does not exist any more."""
    try:
        if source.startswith(folders):
            file_of(source).stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ReadingError):  # it cannot be seen, or is no file
        return False
    return False
