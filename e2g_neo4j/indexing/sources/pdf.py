"""Extract the text of a PDF page by page with pdfminer, with a limit for unpacked data."""

from __future__ import annotations

import io
import logging
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from pdfminer.converter import PDFPageAggregator
from pdfminer.layout import LAParams, LTContainer, LTTextContainer
from pdfminer.lzw import LZWDecoder
from pdfminer.pdfdocument import PDFDocument, PDFPasswordIncorrect
from pdfminer.pdfinterp import PDFPageInterpreter, PDFResourceManager
from pdfminer.pdfpage import PDFPage
from pdfminer.pdfparser import PDFParser, PDFSyntaxError
from pdfminer.pdftypes import LITERALS_FLATE_DECODE, LITERALS_LZW_DECODE, PDFObjRef, PDFStream
from pdfminer.psparser import PSKeyword

from e2g_neo4j.errors import ReadingError
from e2g_neo4j.indexing.sources.text import shown

__all__ = ["PDFPasswordIncorrect", "pages"]

logging.getLogger("pdfminer").setLevel(logging.CRITICAL)  # it warns about every odd object

UNPACKED = 8
"""Maximum ratio of unpacked data and text. Unpacked data has positions and fonts, but no pictures."""

PAGE_CHARACTERS = 250_000
"""Maximum characters of a page. Each takes kilobytes of memory until the layout of the page is done."""

_PIECE = 2**16


def pages(path: Path, max_bytes: int) -> Iterator[str]:
    """Yield the text of each page, empty if it has none.

    Raises exceptions of pdfminer, such as PDFPasswordIncorrect, and ReadingError if a page has more than
    PAGE_CHARACTERS characters, or the streams of the file unpack to more than UNPACKED times `max_bytes`.
    """
    with path.open("rb") as file:
        shared = PDFResourceManager()
        device = _TextOnly(shared, laparams=LAParams(all_texts=True))
        device.name = shown(path)
        interpreter = PDFPageInterpreter(shared, device)
        for page in PDFPage.create_pages(_Document(_Parser(file, _Allowance(shown(path), UNPACKED * max_bytes)))):
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

    def paint_path(self, *args: Any) -> None:
        pass

    def render_image(self, *args: Any) -> None:
        pass


# --- packed streams ----------------------------------------------------------------------------------


class _Allowance:
    """The remaining number of bytes that the streams of a file may unpack to."""

    def __init__(self, name: str, limit: int) -> None:
        self._name, self._limit, self._left = name, limit, limit

    def spend(self, sizes: Iterable[int]) -> None:
        """Subtract sizes. Raises ReadingError as soon as the limit is exceeded."""
        for size in sizes:
            self._left -= size
            if self._left < 0:
                raise ReadingError(
                    f"{self._name} unpacks to more than {self._limit / 2**20:,.4g} MiB. Split it, or raise "
                    "E2G_MAX_DOCUMENT_MB."
                )


class _Parser(PDFParser):  # type: ignore[misc,unused-ignore]
    """Creates streams that unpack within an allowance."""

    def __init__(self, file: BinaryIO, allowance: _Allowance) -> None:
        super().__init__(file)
        self._allowance = allowance

    def do_keyword(self, pos: int, token: PSKeyword) -> None:
        super().do_keyword(pos, token)
        if token is self.KEYWORD_STREAM and self.curstack:
            place, made = self.curstack[-1]
            if isinstance(made, PDFStream):
                self.curstack[-1] = place, _Stream(made, self._allowance)


class _Stream(PDFStream):  # type: ignore[misc,unused-ignore]
    """A stream that is measured piece by piece before pdfminer unpacks all of it."""

    def __init__(self, made: PDFStream, allowance: _Allowance) -> None:
        super().__init__(made.attrs, made.rawdata or b"", made.decipher)
        self._allowance = allowance

    def decode(self) -> None:
        data = self.rawdata or b""
        if self.decipher and self.objid is not None and self.genno is not None:
            data = self.decipher(self.objid, self.genno, data, self.attrs)
        for kind, parameters in self.get_filters():  # one after the other, as each may unpack what the last one left
            if kind in LITERALS_FLATE_DECODE:
                self._allowance.spend(_inflated(data))
            elif kind in LITERALS_LZW_DECODE:
                self._allowance.spend(len(piece) for piece in LZWDecoder(io.BytesIO(data)).run())
            step = PDFStream({"Filter": kind, "DecodeParms": parameters or {}}, data)
            data = step.get_data()
        self.data, self.rawdata = data, None


def _inflated(data: bytes) -> Iterator[int]:
    """Yield the sizes of the pieces of inflated data, up to where it is broken."""
    unpacking = zlib.decompressobj()
    try:
        while data and not unpacking.eof:
            yield len(unpacking.decompress(data, _PIECE))
            data = unpacking.unconsumed_tail
    except zlib.error:
        return
