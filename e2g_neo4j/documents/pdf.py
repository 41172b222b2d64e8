"""PDF: the text of each page, with a limit for unpacked data."""

from __future__ import annotations

import io
import logging
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

from pdfminer import pdffont
from pdfminer.cmapdb import FileUnicodeMap
from pdfminer.converter import PDFPageAggregator
from pdfminer.layout import (
    LAParams,
    LTComponent,
    LTContainer,
    LTFigure,
    LTLayoutContainer,
    LTPage,
    LTTextBox,
    LTTextBoxHorizontal,
    LTTextContainer,
    LTTextGroup,
    LTTextGroupLRTB,
    LTTextLine,
)
from pdfminer.lzw import LZWDecoder
from pdfminer.pdfdocument import PDFDocument, PDFPasswordIncorrect
from pdfminer.pdfinterp import PDFPageInterpreter, PDFResourceManager
from pdfminer.pdfpage import PDFPage
from pdfminer.pdfparser import PDFParser, PDFSyntaxError
from pdfminer.pdftypes import (
    LITERALS_FLATE_DECODE,
    LITERALS_LZW_DECODE,
    LITERALS_RUNLENGTH_DECODE,
    PDFObjRef,
    PDFStream,
    resolve1,
)
from pdfminer.psparser import PSKeyword
from pdfminer.utils import mult_matrix

from e2g_neo4j.documents.headings import chapters
from e2g_neo4j.documents.reading import Limits, Reading
from e2g_neo4j.documents.text import clean, shown, within
from e2g_neo4j.errors import ReadingError
from e2g_neo4j.types.documents import Section

__all__ = ["PDFPasswordIncorrect", "pages"]

logging.getLogger("pdfminer").setLevel(logging.CRITICAL)  # it warns about every odd object

UNPACKED = 8
"""Maximum ratio of unpacked data and text, and of executed instructions and text. Unpacked data has positions and
fonts, but no pictures. The instructions of a form are executed each time that a page shows it."""

FORM_BYTES = 1000
"""What a stream counts at least each time it is used: as so many bytes of instructions."""

PAGE_LINES = 2000
"""Maximum lines on a page that are joined to boxes. If there are more, each is a box."""

PAGE_PAIRS = 250_000
"""Maximum pairs of lines in the same place that are joined to boxes. Each is compared with all of the others there."""

PAGE_BOXES = 400
"""Maximum boxes of text on a page that are ordered by how near they are to each other, in quadratic time and memory.
More are ordered from top to bottom."""

PAGE_CELLS = 5_000_000
"""Maximum product of boxes and size of the page, in cells of the grid that pdfminer orders them with."""

FONT_GLYPHS = 2**17
"""Maximum glyphs that a font gives a width or a character to: twice as many as a font can have."""

PAGE_CHARACTERS = 250_000
"""Maximum characters of a page. Each takes kilobytes of memory until the layout of the page is done."""

_PIECE = 2**16

_CELL = 50
"""The size of a cell of this grid, in points."""


def pages(path: Path, max_bytes: int) -> Iterator[str]:
    """Yield the text of each page, empty if it has none.

    Raises exceptions of pdfminer, such as PDFPasswordIncorrect, and ReadingError if a page has more than
    PAGE_CHARACTERS characters, a font has more than FONT_GLYPHS glyphs, or the streams of the file are unpacked or
    executed to more than UNPACKED times `max_bytes`.
    """
    with path.open("rb") as file:
        shared = _Fonts()
        shared.name = shown(path)
        device = _TextOnly(shared, laparams=LAParams(all_texts=True))
        device.name = shown(path)
        interpreter = PDFPageInterpreter(shared, device)
        unpacking = _Allowance(f"{shown(path)} unpacks to", UNPACKED * max_bytes)
        executing = _Allowance(
            f"{shown(path)} uses its streams again and again, which amounts to", UNPACKED * max_bytes
        )
        for page in PDFPage.create_pages(_Document(_Parser(file, unpacking, executing))):
            device.characters = 0
            interpreter.process_page(page)
            yield "\n".join(_boxes(device.get_result()))


def _boxes(item: Any) -> Iterator[str]:
    if isinstance(item, LTTextContainer):
        yield item.get_text()
    elif isinstance(item, LTContainer):
        for inner in item:
            yield from _boxes(inner)


class _Document(PDFDocument):  # type: ignore[misc,unused-ignore]
    """A PDF in which an object that refers to itself is an error. pdfminer would loop forever."""

    def getobj(self, objid: int) -> object:
        found, seen = super().getobj(objid), {objid}
        while isinstance(found, PDFObjRef):
            if found.objid in seen:
                raise PDFSyntaxError(f"object {objid} refers to itself")
            seen.add(found.objid)
            found = super().getobj(found.objid)
        return found


class _TextOnly(PDFPageAggregator):  # type: ignore[misc,unused-ignore]
    """Keeps the characters of a page, at most PAGE_CHARACTERS, but not its lines and pictures."""

    name = ""
    characters = 0

    def render_char(self, *args: Any, **options: Any) -> float:
        self.characters += 1
        if self.characters > PAGE_CHARACTERS:
            raise ReadingError(
                f"{self.name} has a page of more than {PAGE_CHARACTERS:,} characters. Save it with smaller pages, or "
                "as text, and read that."
            )
        return super().render_char(*args, **options)

    def begin_page(self, page: PDFPage, ctm: Any) -> None:
        super().begin_page(page, ctm)
        self.cur_item = _Page(self.pageno, self.cur_item.bbox)

    def begin_figure(self, name: str, bbox: Any, matrix: Any) -> None:
        self._stack.append(self.cur_item)
        self.cur_item = _Figure(name, bbox, mult_matrix(matrix, self.ctm))

    def paint_path(self, *args: Any) -> None:
        pass

    def render_image(self, *args: Any) -> None:
        pass


class _Layout(LTLayoutContainer):  # type: ignore[misc,unused-ignore]
    """Orders its text within bounds."""

    def group_textlines(self, laparams: LAParams, lines: Iterable[LTTextLine]) -> Iterator[LTTextBox]:
        lines = list(lines)
        if len(lines) <= PAGE_LINES and self._pairs(lines) <= PAGE_PAIRS:
            yield from super().group_textlines(laparams, lines)
            return
        for line in lines:
            box = LTTextBoxHorizontal()
            box.add(line)
            if not box.is_empty():
                yield box

    def group_textboxes(self, laparams: LAParams, boxes: Sequence[LTTextBox]) -> list[LTTextGroup]:
        if len(boxes) <= PAGE_BOXES and len(boxes) * prod(map(len, self._cells(self))) <= PAGE_CELLS:
            groups: list[LTTextGroup] = super().group_textboxes(laparams, boxes)
            return groups
        return [LTTextGroupLRTB([box]) for box in sorted(boxes, key=lambda box: (-box.y1, box.x0))]

    def _pairs(self, lines: Sequence[LTTextLine]) -> int:
        """Estimate how many pairs of lines are in the same place."""
        places: Counter[tuple[int, int]] = Counter()
        for line in lines:
            columns, rows = self._cells(line)
            if len(columns) * len(rows) > PAGE_LINES:
                return PAGE_PAIRS + 1
            places.update(product(columns, rows))
        return sum(number**2 for number in places.values())

    def _cells(self, item: LTComponent) -> tuple[range, range]:
        """Return the columns and rows of the grid that an item covers."""
        left, right = max(self.x0, item.x0), min(self.x1, item.x1)
        bottom, top = max(self.y0, item.y0), min(self.y1, item.y1)
        return (
            range(int(left // _CELL), int(right // _CELL) + 1),
            range(int(bottom // _CELL), int(top // _CELL) + 1),
        )


class _Page(_Layout, LTPage):  # type: ignore[misc,unused-ignore]
    pass


class _Figure(_Layout, LTFigure):  # type: ignore[misc,unused-ignore]
    pass


# --- fonts -------------------------------------------------------------------------------------------


class _GlyphsError(Exception):
    """A font has more than FONT_GLYPHS glyphs."""


class _Fonts(PDFResourceManager):  # type: ignore[misc,unused-ignore]
    """Creates fonts with at most FONT_GLYPHS glyphs. A range of them takes only a few bytes in the file."""

    name = ""

    def get_font(self, objid: object, spec: Mapping[str, object]) -> pdffont.PDFFont:
        try:
            _check_glyphs(_glyphs(spec.get("W"), 3) + _glyphs(spec.get("W2"), 5))
            return super().get_font(objid, spec)
        except _GlyphsError:
            raise ReadingError(
                f"{self.name} has a font with more than {FONT_GLYPHS:,} glyphs, so it is broken. Open it in its own "
                "program and save it again."
            ) from None


def _check_glyphs(number: int) -> None:
    if number > FONT_GLYPHS:
        raise _GlyphsError


def _glyphs(widths: object, length: int) -> int:
    """Return how many glyphs have widths. A range is `length` numbers, of which two are the first and last glyph."""
    count = 0
    numbers: list[float] = []
    found = resolve1(widths)
    for one in map(resolve1, found if isinstance(found, list) else ()):
        if isinstance(one, list):
            count += len(one)
            numbers = []
        elif isinstance(one, int | float):
            numbers.append(one)
            if len(numbers) == length:
                count += max(0, int(numbers[1]) - int(numbers[0]) + 1)
                numbers = []
    return count


class _UnicodeMap(FileUnicodeMap):  # type: ignore[misc,unused-ignore]
    _added = 0

    def add_cid2unichr(self, *args: Any) -> None:
        self._added += 1
        _check_glyphs(self._added)
        super().add_cid2unichr(*args)


vars(pdffont)["FileUnicodeMap"] = _UnicodeMap  # fonts create it themselves


# --- packed streams ----------------------------------------------------------------------------------


class _Allowance:
    """The remaining number of bytes that the streams of a file may amount to. `what` begins the error message."""

    def __init__(self, what: str, limit: int) -> None:
        self._what, self._limit, self._left = what, limit, limit

    def spend(self, sizes: Iterable[int]) -> None:
        """Subtract sizes. Raises ReadingError as soon as the limit is exceeded."""
        for size in sizes:
            self._left -= size
            if self._left < 0:
                raise ReadingError(
                    f"{self._what} more than {self._limit / 2**20:,.4g} MiB. Split it, or raise E2G_MAX_DOCUMENT_MB."
                )


class _Parser(PDFParser):  # type: ignore[misc,unused-ignore]
    """Creates streams that are unpacked and used within allowances."""

    def __init__(self, file: BinaryIO, unpacking: _Allowance, executing: _Allowance) -> None:
        super().__init__(file)
        self._allowances = unpacking, executing

    def do_keyword(self, pos: int, token: PSKeyword) -> None:
        super().do_keyword(pos, token)
        if token is self.KEYWORD_STREAM and self.curstack:
            place, made = self.curstack[-1]
            if isinstance(made, PDFStream):
                self.curstack[-1] = place, _Stream(made, *self._allowances)


class _Stream(PDFStream):  # type: ignore[misc,unused-ignore]
    """A stream that is measured piece by piece before pdfminer unpacks all of it."""

    def __init__(self, made: PDFStream, unpacking: _Allowance, executing: _Allowance) -> None:
        super().__init__(made.attrs, made.rawdata or b"", made.decipher)
        self._allowance, self._executing = unpacking, executing

    def get_data(self) -> bytes:
        data: bytes = super().get_data()
        self._executing.spend((max(len(data), FORM_BYTES),))
        return data

    def decode(self) -> None:
        data = self.rawdata or b""
        if self.decipher and self.objid is not None and self.genno is not None:
            data = self.decipher(self.objid, self.genno, data, self.attrs)
        for kind, parameters in self.get_filters():  # one after the other, as each may unpack what the last one left
            if kind in LITERALS_FLATE_DECODE:
                self._allowance.spend(_inflated(data))
            elif kind in LITERALS_LZW_DECODE:
                self._allowance.spend(len(piece) for piece in LZWDecoder(io.BytesIO(data)).run())
            elif kind in LITERALS_RUNLENGTH_DECODE:
                data = self._expanded(data)
                continue
            step = PDFStream({"Filter": kind, "DecodeParms": parameters or {}}, data)
            data = step.get_data()
        self.data, self.rawdata = data, None

    def _expanded(self, data: bytes) -> bytes:
        """Return run-length encoded data as it was before."""
        expanded, place = bytearray(), 0
        while place < len(data) and (length := data[place]) != 128:
            run = data[place + 1 : place + length + 2] if length < 128 else data[place + 1 : place + 2] * (257 - length)
            self._allowance.spend((len(run),))
            expanded += run
            place += length + 2 if length < 128 else 2
        return bytes(expanded)


def _inflated(data: bytes) -> Iterator[int]:
    """Yield the sizes of the pieces of inflated data, up to where it is broken."""
    unpacking = zlib.decompressobj()
    try:
        while data and not unpacking.eof:
            yield len(unpacking.decompress(data, _PIECE))
            data = unpacking.unconsumed_tail
    except zlib.error:
        return


_UNMAPPED = re.compile(r"\(cid:\d+\)")  # what pdfminer writes for a glyph without a known character

_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})


def read(path: Path, limits: Limits) -> Reading:
    """Read a PDF."""
    parts: list[str] = []
    sections: list[Section] = []
    length = size = 0
    try:
        for number, raw in enumerate(pages(path, limits.bytes), 1):
            page = clean(_UNMAPPED.sub("", raw).translate(_LIGATURES))
            if page:
                sections.append(Section("page", str(number), length))
                parts.append(page + "\n\n")
                length += len(parts[-1])
                size += len(parts[-1].encode())
                within(size, limits.bytes, shown(path))
    except PDFPasswordIncorrect as error:
        raise ReadingError(
            f"{shown(path)} is an encrypted PDF. Save a copy without a password and read that."
        ) from error
    if not parts:
        raise ReadingError(f"{shown(path)} is a PDF without text. If its pages are scanned, run OCR first (ocrmypdf).")
    text = "".join(parts)
    return Reading(text, sections=sorted(sections + chapters(text), key=lambda section: section.start))
