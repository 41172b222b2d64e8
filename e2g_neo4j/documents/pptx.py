"""Presentations of PowerPoint: each slide a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pptx import Presentation

from e2g_neo4j.documents.archives import unpacked
from e2g_neo4j.documents.builder import Builder
from e2g_neo4j.documents.cells import repeat_merged, write_value
from e2g_neo4j.documents.reading import Limits, Reading, count

_EMBEDDED = {"diagram": "diagram", "ole": "embedded object", "media": "recording", "chartex": "chart"}
"""What is lost, by a part of the address of its kind."""

_FILE = re.compile(r"\S*\.(?:png|jpe?g|gif|emf|wmf|svg|bmp|tiff?)", re.I)


def read(path: Path, limits: Limits) -> Reading:
    """Read a presentation: titles, texts, tables, data of charts, notes."""
    builder = Builder(path, limits)
    deck = Presentation(unpacked(path, limits.bytes))
    lost = Counter[str]()
    slides = {slide.part.partname: slide for slide in deck.slides}  # one that is named twice is read once
    for number, slide in enumerate(slides.values(), 1):
        builder.page(str(number))
        title = slide.shapes.title
        if title is not None:
            builder.heading(title.text_frame.text)
        for shape in _shapes(slide.shapes):
            if title is None or shape.shape_id != title.shape_id:
                _add(builder, shape, lost)
        if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) and notes.text.strip():
            builder.add(f"Notes: {notes.text}")
    for what, number in lost.items():
        builder.losses += count(number, what, "without a description" if what == "picture" else "not read")
    # The title that a file declares is that of its template as a rule.
    return builder.reading(builder.first_heading or None)


def _shapes(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        yield from _shapes(shape.shapes) if hasattr(shape, "shapes") else [shape]


def _add(builder: Builder, shape: Any, lost: Counter[str]) -> None:
    if shape.has_text_frame:
        builder.add("\n".join(paragraph.text for paragraph in shape.text_frame.paragraphs if paragraph.text.strip()))
    elif getattr(shape, "has_table", False):
        _add_table(builder, shape.table)
    elif getattr(shape, "has_chart", False):
        _add_chart(builder, shape.chart, lost)
    elif shape._element.tag.endswith("}pic"):
        described = "".join(shape._element.xpath(".//p:cNvPr/@descr"))
        described = "" if _FILE.fullmatch(described) else described.strip()
        builder.add(f"Picture: {described}" if described else "")
        lost["picture"] += not described
    elif kinds := shape._element.xpath(".//a:graphicData/@uri"):
        what = next((name for part, name in _EMBEDDED.items() if part in kinds[0]), "object")
        lost[what] += 1


def _add_table(builder: Builder, table: Any) -> None:
    cells = [list(row.cells) for row in table.rows]
    rows = [[cell.text for cell in row] for row in cells]
    merged = [
        ((top, start), (top + cell.span_height - 1, start + cell.span_width - 1))
        for top, row in enumerate(cells)
        for start, cell in enumerate(row)
        if cell.is_merge_origin
    ]
    repeat_merged(rows, merged)
    builder.table(rows)


def _add_chart(builder: Builder, chart: Any, lost: Counter[str]) -> None:
    title = chart.chart_title.text_frame.text if chart.has_title and chart.chart_title.has_text_frame else ""
    try:
        for plot in chart.plots:
            labels = [str(one) for one in plot.categories] or plot._element.xpath("c:ser[1]/c:xVal//c:v/text()")
            columns = [labels, *(map(write_value, one.values) for one in plot.series)]
            header = ["", *(one.name for one in plot.series)]
            builder.table([header, *zip_longest(*columns, fillvalue="")], title or "Chart")
    except (ValueError, KeyError, AttributeError, NotImplementedError):  # of a kind that the library does not know
        lost["chart"] += 1
