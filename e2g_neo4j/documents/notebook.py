"""Notebooks of Jupyter, as Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from e2g_neo4j.documents.headings import markdown_headings
from e2g_neo4j.documents.markdown_links import find_links
from e2g_neo4j.documents.reading import Limits, Reading, count
from e2g_neo4j.documents.text import clean, decode, quote_path, read_bytes
from e2g_neo4j.errors import ReadingError
from e2g_neo4j.types.documents import Span

_COLOURS = re.compile(r"\x1b\[[\d;]*m")

_INLINE = re.compile(r"\(data:image/[^)\s]*|\(attachment:[^)\s]*")


def read(path: Path, limits: Limits) -> Reading:
    """Read a notebook: its texts, its code, and what the code printed."""
    pictures: list[str] = []
    source, uncertain = decode(read_bytes(path, limits.bytes), path)
    try:
        notebook = json.loads(source)
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
        language = notebook.get("metadata", {}).get("language_info", {}).get("name", "")
        text = clean("\n\n".join(part for cell in cells for part in _parts(cell, str(language), pictures)))
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise ReadingError(f"{quote_path(path)} is no notebook of Jupyter. Open it there and save it again.") from error
    fenced: list[Span] = []
    title, sections = markdown_headings(text, fenced)
    links = find_links(text, fenced)
    losses = [*count(len(pictures), "picture", "not in the text"), *uncertain, *links.losses]
    return Reading(text, title, sections, losses=losses, links=links.found)


def _parts(cell: dict[str, Any], language: str, pictures: list[str]) -> Iterator[str]:
    text = _join_lines(cell.get("source", cell.get("input", "")))
    match cell.get("cell_type"):
        case "code":
            yield _fence_text(text, language)
        case "heading":  # of older notebooks
            yield f"{'#' * int(cell.get('level', 1))} {text}"
        case "markdown":
            pictures += _INLINE.findall(text)
            yield _INLINE.sub("(", text)
        case _:
            yield text
    for output in cell.get("outputs", ()):
        data = output.get("data", output)
        pictures += [kind for kind in data if kind.startswith("image/") or kind in ("png", "jpeg", "svg")][:1]
        if "text/markdown" in data:
            yield _join_lines(data["text/markdown"])
        elif output.get("output_type") in ("error", "pyerr"):
            yield _fence_text(f"{output.get('ename')}: {output.get('evalue')}")
        else:
            yield _fence_text(_join_lines(data.get("text/plain", data.get("text", ""))))


def _join_lines(text: Any) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text)


def _fence_text(text: str, language: str = "") -> str:
    text = _COLOURS.sub("", text).strip("\n")
    fence = "~~~~" if "```" in text else "```"
    return f"{fence}{language}\n{text}\n{fence}" if text.strip() else ""
