"""CSV and TSV: one table."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path

from e2g_neo4j.documents.builder import Builder
from e2g_neo4j.documents.cells import add_tables
from e2g_neo4j.documents.reading import Limits, Reading
from e2g_neo4j.documents.text import decode, read_bytes

_DELIMITERS = ",;\t|"

_SAMPLE = 2**14


def read(path: Path, limits: Limits) -> Reading:
    """Read a table whose first row says what its columns are."""
    text, losses = decode(read_bytes(path, limits.bytes), path)
    builder, delimiter = Builder(path, limits), "\t" if path.suffix.lower() == ".tsv" else _find_delimiter(text)
    if text[:4].lower() == "sep=":  # Excel
        delimiter, (_, _, text) = text[4:5].strip() or delimiter, text.partition("\n")
    builder.losses += losses
    csv.field_size_limit(2**31 - 1)
    add_tables(builder, (row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(row)))
    return builder.build()


def _find_delimiter(text: str) -> str:
    """Return the sign that cuts most of the first lines into equally many cells."""
    lines = text[:_SAMPLE].split("\n")
    lines = lines[:-1] if len(lines) > 2 else lines

    def score(delimiter: str) -> tuple[int, int]:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter) if len(row) > 1)
        [(width, rows)] = widths.most_common(1) or [(1, 0)]
        return rows, width

    return max(_DELIMITERS, key=score)
