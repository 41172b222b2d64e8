"""RTF: its text and its tables."""

from __future__ import annotations

import codecs
import re
from itertools import groupby
from pathlib import Path
from typing import Any

from striprtf import striprtf

from e2g_neo4j.documents.builder import Builder
from e2g_neo4j.documents.headings import chapters
from e2g_neo4j.documents.reading import Limits, Reading, count
from e2g_neo4j.documents.text import quote_path, read_bytes
from e2g_neo4j.errors import ReadingError

# These patterns of the library take quadratic time. Without the first, links keep their text and lose their address.
striprtf.HYPERLINKS = re.compile("(?!)()()()")
striprtf.FONTTABLE = re.compile(r"\\f(\d{1,6})(?!\d)[^;]{0,300}?\\fcharset(\d{1,6})()")

_TEXT: Any = striprtf.rtf_to_text  # it has no types

_TITLE = re.compile(r"\{\\title ([^{}]{1,400})\}")


def read(path: Path, limits: Limits) -> Reading:
    """Read a document in RTF."""
    data = read_bytes(path, limits.bytes)
    if not data.lstrip().startswith(b"{\\"):
        raise ReadingError(f"{quote_path(path)} is not RTF. Open it in its own program and save it again.")
    code = re.search(rb"\\ansicpg(\d{3,5})\b", data[:4096])
    page = f"cp{code[1].decode()}" if code else "cp1252"
    try:
        codecs.lookup(page)
    except LookupError:
        page = "cp1252"
    raw, builder = _without_binary(data).decode(page, "replace"), Builder(path, limits)
    # A paragraph that ends in a cell is not the end of a row, and `\*` inside of a group does not hide the group.
    raw = re.sub(r"\\par\b ?(?=[}\s]*+\\(?:nest)?cell\b)|(?<![{\s\\])\\\*", " ", raw)
    text = _TEXT(raw, page, errors="replace").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    for table, group in groupby(text.split("\n"), lambda line: line.rstrip().endswith("|")):
        if table:
            builder.table([line.rstrip().removesuffix("|").split("|") for line in group])
        else:
            builder.add("\n".join(group))
    pictures = raw.count(r"\pict") - raw.count(r"\nonshppict")
    builder.losses += count(max(pictures, 0), "picture", "not in the text")
    builder.losses += count(raw.count(r"\footnote"), "footnote", "not in the text")
    title = _TITLE.search(raw[: 2**16])
    reading = builder.build(_TEXT(f"{{{title[1]}}}", page, errors="replace") if title else None)
    builder.sections[:] = sorted([*chapters(reading.text), *builder.sections], key=lambda one: one.start)
    return reading


def _without_binary(data: bytes) -> bytes:
    kept, at = [], 0
    for found in re.finditer(rb"\\bin(\d{0,9}) ?", data):
        if found.start() >= at:
            kept.append(data[at : found.start()])
            at = found.end() + int(found[1] or 0)
    return b"".join([*kept, data[at:]])
