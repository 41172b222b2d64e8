"""Presentations of PowerPoint: each slide a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pptx import Presentation

from e2g_neo4j.documents.archives import unpack_markup
from e2g_neo4j.documents.builder import Builder
from e2g_neo4j.documents.cells import repeat_merged, write_value
from e2g_neo4j.documents.reading import Limits, Reading, count

_EMBEDDED = {"diagram": "diagram", "ole": "embedded object", "media": "recording", "chartex": "chart"}
"""What is lost, by a part of the address of its kind."""

_FIRST_DAY = datetime(1899, 12, 30)

_FILE = re.compile(r"\S*\.(?:png|jpe?g|gif|emf|wmf|svg|bmp|tiff?)", re.I)


def read(path: Path, limits: Limits) -> Reading:
    """Read a presentation: titles, texts, tables, data of charts, notes."""
    builder = Builder(path, limits)
    deck = Presentation(unpack_markup(path, limits.bytes))
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
    return builder.build()  # the title that a file declares is that of its template as a rule


def _shapes(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        yield from _shapes(shape.shapes) if hasattr(shape, "shapes") else [shape]


def _add(builder: Builder, shape: Any, lost: Counter[str]) -> None:
    if shape.has_text_frame:
        builder.add("\n".join(paragraph.text for paragraph in shape.text_frame.paragraphs if paragraph.text.strip()))
    elif getattr(shape, "has_table", False):
        _add_table(builder, shape.table)
    elif getattr(shape, "has_chart", False):
        _add_chart(builder, shape.chart)
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


def _add_chart(builder: Builder, chart: Any) -> None:
    """Add the data of a chart: a column for each series. The library takes quadratic time for them."""
    for plot in chart._chartSpace.xpath(".//c:plotArea/*[c:ser]"):
        series = plot.xpath("c:ser")
        columns = [_points(one, "c:val|c:yVal") for one in series]
        labels = {place: text for one in series for place, text in _points(one, "c:cat|c:xVal").items()}
        header = ["", *("".join(one.xpath("c:tx//c:v/text()")) for one in series)]
        places = dict.fromkeys(place for one in (labels, *columns) for place in one)
        rows = ([one.get(place, "") for one in (labels, *columns)] for place in places)
        builder.table([header, *rows], "".join(chart._chartSpace.xpath("c:chart/c:title//a:t/text()")) or "Chart")


def _points(series: Any, path: str) -> dict[str, str]:
    """Return the points of a series by their places, as a person sees them."""
    found: dict[str, str] = {}
    for part in series.xpath(path):
        days = re.search("[ymd]", "".join(part.xpath(".//c:formatCode/text()")).replace("General", ""))
        for one in part.xpath(".//c:pt"):
            found[one.get("idx")] = text = one.findtext("{*}v", "")
            if not part.xpath("c:strRef|c:strLit|c:multiLvlStrRef"):
                with suppress(ValueError, OverflowError):
                    found[one.get("idx")] = write_value(_FIRST_DAY + timedelta(float(text)) if days else float(text))
    return found
