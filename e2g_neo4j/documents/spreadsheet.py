"""Spreadsheets: each sheet a heading, each of its blocks of cells a table."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum

from e2g_neo4j.documents.archives import unpack_markup
from e2g_neo4j.documents.builder import Builder
from e2g_neo4j.documents.cells import Place, add_tables, repeat_merged, write_value
from e2g_neo4j.documents.reading import Limits, Reading, count
from e2g_neo4j.documents.text import decode, quote_path, read_bytes
from e2g_neo4j.errors import ReadingError

_LOST = {
    "picture": r"xl/media/.+|Pictures/.+",
    "chart": r"xl/charts/chart\d+\.xml|Object \d+/content\.xml",
    "list of comments": r"xl/comments\d+\.xml",
}
"""What is lost, by the names of parts of the file."""


def read(path: Path, limits: Limits) -> Reading:
    """Read a spreadsheet of Excel or LibreOffice."""
    builder = Builder(path, limits)
    with path.open("rb") as file:
        packed = file.read(2) == b"PK"
    data = unpack_markup(path, limits.bytes) if packed else io.BytesIO(read_bytes(path, limits.bytes))
    try:
        # By the suffix, errors are told and older files are read that are not recognised by what they begin with.
        old = path.suffix.lower() == ".xls" and not packed
        book = CalamineWorkbook.from_path(path) if old else CalamineWorkbook.from_filelike(data)
        for number, one in enumerate(book.sheets_metadata):
            if one.typ != SheetTypeEnum.WorkSheet:
                continue
            sheet = book.get_sheet_by_index(number)
            rows = [[write_value(cell) for cell in row] for row in sheet.iter_rows()]
            # A cell that is merged from the first column to the last one is a line above a table.
            repeat_merged(rows, (at for at in sheet.merged_cell_ranges or () if at[0][1] or any(_right_of(at, rows))))
            if any(map(any, rows)):
                builder.heading(one.name, 2)
                add_tables(builder, rows)
    except CalamineError as error:
        raise ReadingError(f"{quote_path(path)} {_advice(data.getvalue(), path, error)}") from error
    names = zipfile.ZipFile(data).namelist() if packed else []
    for what, pattern in _LOST.items():
        builder.losses += count(sum(map(bool, map(re.compile(pattern).fullmatch, names))), what, "not read")
    return builder.build()


def _right_of(merged: tuple[Place, Place], rows: Sequence[list[str]]) -> list[str]:
    (top, _), (_, end) = merged
    return rows[top][end + 1 :] if top < len(rows) else []


def _advice(data: bytes, path: Path, error: Exception) -> str:
    if isinstance(error, PasswordError) or b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e" in data:
        return "is protected with a password. Save it without one."
    try:
        text = decode(data, path)[0].lstrip()
    except ReadingError:
        what = " ".join(str(error).split())[:200]
        return f"cannot be read as a spreadsheet ({what}). Open it in its own program and save it again as .xlsx."
    kind, suffix = ("a web page", ".html") if text.startswith("<") else ("text", ".csv")
    return f"is {kind}, not a spreadsheet. Rename it to {quote_path(path.stem + suffix)}."
