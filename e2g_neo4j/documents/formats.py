"""The formats of files: how each is recognised, and which module reads it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from types import ModuleType

from e2g_neo4j.documents.text import quote_path
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


_OFFICE = "application/vnd.openxmlformats-officedocument"

_OPEN = "application/vnd.oasis.opendocument"

FORMATS = (
    Format("PDF", "pdf", (".pdf",), ("application/pdf",), b"%PDF-"),
    Format("Word", "docx", (".docx", ".docm", ".dotx"), (f"{_OFFICE}.wordprocessingml.document",)),
    Format("PowerPoint", "pptx", (".pptx", ".pptm"), (f"{_OFFICE}.presentationml.presentation",)),
    Format(
        "Excel",
        "spreadsheet",
        (".xlsx", ".xlsm", ".xls"),
        (f"{_OFFICE}.spreadsheetml.sheet", "application/vnd.ms-excel"),
    ),
    Format("OpenDocument", "opendocument", (".odt", ".odp"), (f"{_OPEN}.text", f"{_OPEN}.presentation")),
    Format("sheets of OpenDocument", "spreadsheet", (".ods",), (f"{_OPEN}.spreadsheet",)),
    Format("RTF", "rtf", (".rtf",), ("application/rtf", "text/rtf"), rb"{\rtf"),
    Format("EPUB", "epub", (".epub",), ("application/epub+zip",)),
    Format("HTML", "html", (".htm", ".html"), ("text/html", "application/xhtml+xml")),
    Format("mails", "mail", (".eml",), ("message/rfc822",)),
    Format("mailboxes", "mail", (".mbox",), ("application/mbox",)),
    Format("CSV", "delimited", (".csv", ".tsv"), ("text/csv", "text/tab-separated-values")),
    Format("Jupyter notebooks", "notebook", (".ipynb",), ("application/x-ipynb+json",)),
    Format("Markdown", "markdown", (".md", ".markdown"), ("text/markdown",), here=True),
    Format("reStructuredText", "lightly_marked", (".rst",), ("text/x-rst", "text/prs.fallenstein.rst")),
    Format("Org", "lightly_marked", (".org",), ("text/org", "text/x-org")),
    Format("LaTeX", "tex", (".tex",), ("application/x-tex", "text/x-tex")),
    Format("plain text", "plain", (".txt", ".log"), ("text/plain",), here=True),
    Format("JSON Lines", "json_lines", (".jsonl",), ("application/jsonl", "application/x-ndjson"), in_folders=False),
    Format("JSON", "json_values", (".json",), ("application/json",), in_folders=False),
)

CONVERTED = {
    ".doc": ".docx", ".dot": ".docx", ".wpd": ".docx", ".pages": ".docx", ".ppt": ".pptx", ".key": ".pptx",
    ".xlsb": ".xlsx", ".numbers": ".xlsx", ".msg": ".eml", ".mobi": ".epub", ".azw3": ".epub", ".djvu": ".pdf",
    ".ps": ".pdf",
}  # fmt: skip
"""By the suffix of formats that are not read: a suffix to save such files with."""

BY_SUFFIX = {suffix: one for one in FORMATS for suffix in one.suffixes}

BY_MEDIA_TYPE = {kind: one for one in FORMATS for kind in one.media_types}

NAMES = f"{', '.join(one.name for one in FORMATS[:-1])} and {FORMATS[-1].name}"

SUFFIXES = tuple(sorted(BY_SUFFIX))

KINDS = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"


def format_of(path: PurePath) -> Format:
    """Return the format of a file by its suffix, or else raise ReadingError."""
    if (found := BY_SUFFIX.get(path.suffix.lower())) is None:
        other = CONVERTED.get(path.suffix.lower())
        advice = f"Save it as {other}" if other else f"Rename or convert it to {KINDS}"
        raise ReadingError(f"{quote_path(path)} has an unsupported file type. {advice}.")
    return found


def detect_format(path: Path) -> Format:
    """Return the format of a file that is there: by how it begins, if that is a signature, or else by its suffix."""
    with path.open("rb") as file:
        head = file.read(16)
    return next((one for one in FORMATS if one.signature and head.startswith(one.signature)), None) or format_of(path)
