"""The formats of files: how each is recognised, and which module reads it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from types import ModuleType

from e2g_neo4j.documents.text import shown
from e2g_neo4j.errors import ReadingError


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files.

    Attributes:
        name: what it is called in messages and tables.
        module: the module of this package that reads it. It has `read(path, limits)`, which returns a `Reading`; or, if
            a file holds several documents, `read_each(path, limits)`, which yields the place and the `Reading` of each
            or the `ReadingError` that says why there is none.
        suffixes: the suffixes of its files.
        media_types: its content types.
        signature: how its files begin, whatever their suffix.
        here: whether reading it needs no process of its own: its time and memory grow with its size alone.
        in_folders: whether files are read that a folder holds, not only those that are named.
    """

    name: str
    module: str
    suffixes: tuple[str, ...]
    media_types: tuple[str, ...] = ()
    signature: bytes = b""
    here: bool = False
    in_folders: bool = True

    @property
    def reader(self) -> ModuleType:
        """The module that reads it."""
        return import_module(f"{__package__}.{self.module}")


FORMATS = (
    Format("PDF", "pdf", (".pdf",), ("application/pdf",), b"%PDF-"),
    Format(
        "Word",
        "docx",
        (".docx",),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document",),
    ),
    Format("EPUB", "epub", (".epub",), ("application/epub+zip",)),
    Format("HTML", "html", (".htm", ".html"), ("text/html", "application/xhtml+xml")),
    Format("Markdown", "markdown", (".md",), ("text/markdown",), here=True),
    Format("plain text", "plain", (".txt",), ("text/plain",), here=True),
    Format("JSON Lines", "json_lines", (".jsonl",), ("application/jsonl", "application/x-ndjson"), in_folders=False),
)

BY_SUFFIX = {suffix: one for one in FORMATS for suffix in one.suffixes}

BY_MEDIA_TYPE = {kind: one for one in FORMATS for kind in one.media_types}

SUFFIXES = tuple(sorted(BY_SUFFIX))

KINDS = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"


def format_of(path: PurePath) -> Format:
    """Return the format of a file by its suffix, or else raise ReadingError."""
    if (found := BY_SUFFIX.get(path.suffix.lower())) is None:
        raise ReadingError(f"{shown(path)} has an unsupported file type. Rename or convert it to {KINDS}.")
    return found


def signed_format(path: Path) -> Format:
    """Return the format of a file that is there: by how it begins, if that is a signature, or else by its suffix."""
    with path.open("rb") as file:
        head = file.read(16)
    return next((one for one in FORMATS if one.signature and head.startswith(one.signature)), format_of(path))
