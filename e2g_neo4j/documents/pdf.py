"""PDF: the text of each page as it is read, with tables, filled forms and notes.

pdfium says where each glyph stands. Lines, columns, paragraphs and tables are built from that by `layout`.
"""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from e2g_neo4j.documents.blocks import Table, read_block
from e2g_neo4j.documents.builder import Builder
from e2g_neo4j.documents.headings import chapters
from e2g_neo4j.documents.layout import Glyph, Line, is_rtl, read_lines, split_columns
from e2g_neo4j.documents.reading import Limits, Reading, count
from e2g_neo4j.documents.text import quote_path, within
from e2g_neo4j.errors import ReadingError

PAGE_CHARACTERS = 250_000
"""Maximum characters of a page."""

_HYPHENS = (0x2, 0xFFFE)  # what pdfium writes for a hyphen at the end of a line

_DIGITS = re.compile(r"\d+")

_WORD = re.compile(r"[^\W\d_]+")

_DIVIDED = re.compile(r"([^\W\d_]+)[-\u00ad\u2010]$")


def read(path: Path, limits: Limits) -> Reading:
    """Read a PDF."""
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise _unreadable(path, pdfium.FPDF_GetLastError()) from error
    with document:
        document.init_forms()
        pages = _Pages(path, limits, document)
        return pages.build()


def _unreadable(path: Path, code: int) -> ReadingError:
    if code == pdfium.FPDF_ERR_PASSWORD:
        return ReadingError(f"{quote_path(path)} is an encrypted PDF. Save a copy without a password and read that.")
    return ReadingError(
        f"{quote_path(path)} cannot be read as PDF: it is broken. Open it in a viewer and save it again."
    )


class _Pages:
    """The pages of a document, which are read twice: their lines, and what they say when running titles are out."""

    def __init__(self, path: Path, limits: Limits, document: pypdfium2.PdfDocument) -> None:
        self._path, self._limits, self._document = path, limits, document
        self._size = 0
        self._unmapped = 0

    def build(self) -> Reading:
        pages: list[list[list[Line]]] = []
        fields: list[list[str]] = []
        unread = []
        for number in range(1, len(self._document) + 1):
            try:
                page = self._document[number - 1]
            except pypdfium2.PdfiumError:
                unread.append(number)
                pages.append([])
                fields.append([])
                continue
            pages.append(self._lines(page, number))
            fields.append(list(_fields(page, self._document.formenv)))
            page.close()
        running = _find_running_titles(pages)
        words = Counter(_WORD.findall("\n".join(one.text for parts in pages for part in parts for one in part).lower()))
        builder = Builder(self._path, self._limits)
        empty = []
        for number, (parts, filled) in enumerate(zip(pages, fields, strict=True), 1):
            if not parts and not filled:
                empty.append(number)
                continue
            builder.page(str(number))
            for part in parts:
                lines = [line for line in part if id(line) not in running]
                for block in split_columns(lines):
                    for one in read_block(block):
                        if isinstance(one, Table):
                            builder.table(one.rows, one.caption, one.headers)
                        else:
                            builder.add(join_lines(one, words))
            for line in filled:
                builder.add(line)
        empty = [number for number in empty if number not in unread]
        if len(empty) + len(unread) == len(pages):
            raise ReadingError(
                f"{quote_path(self._path)} is a PDF without text. If its pages are scanned, pass --ocr, or set "
                "E2G_OCR=true."
            )
        for numbers, what in ((empty, "no text"), (unread, "faults and were not read")):
            if numbers:
                have = "has" if len(numbers) == 1 else "have"
                builder.losses.append(f"{len(numbers):,} of {len(pages):,} pages {have} {what} ({ranges(numbers)})")
        builder.losses += count(len(running), "running title", "left out")
        builder.losses += count(self._unmapped, "glyph", "without a character")
        reading = builder.build()
        sections = sorted([*reading.sections, *chapters(reading.text)], key=lambda one: one.start)
        return replace(reading, sections=sections)

    def _lines(self, page: pypdfium2.PdfPage, number: int) -> list[list[Line]]:
        """Return the lines of a page, one list for each direction that they run in."""
        by_angle: dict[int, list[Glyph]] = {}
        for angle, glyph in self._glyphs(page, number):
            by_angle.setdefault(angle, []).append(glyph)
        parts = []
        for glyphs in sorted(by_angle.values(), key=len, reverse=True):
            marks = sum(is_rtl(one.sign) for one in glyphs)
            rtl = marks > sum(one.sign.isalpha() for one in glyphs) / 2
            if rtl:
                glyphs = [Glyph(one.sign, -one.x1, -one.x0, one.y, one.size, one.gap) for one in glyphs]
            lines = read_lines(glyphs, rtl=rtl)
            self._size += sum(len(one.text.encode("utf-8", "replace")) for one in lines)
            within(self._size, 2 * self._limits.bytes, quote_path(self._path))
            if lines:
                parts.append(lines)
        return parts

    def _glyphs(self, page: pypdfium2.PdfPage, number: int) -> Iterator[tuple[int, Glyph]]:
        text = page.get_textpage()
        raw, total = text.raw, text.count_chars()
        if total > PAGE_CHARACTERS:
            raise ReadingError(
                f"{quote_path(self._path)} has a page of more than {PAGE_CHARACTERS:,} characters (page {number}). "
                "Save it with smaller pages, or as text, and read that."
            )
        box, x, y = pdfium.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
        gap = False
        high = 0
        for at in range(total):
            code = pdfium.FPDFText_GetUnicode(raw, at)
            if code in (32, 9, 10, 13, 160):
                gap = True
                continue
            if code == 0 or (code >= 0xFFFD and code not in _HYPHENS):
                self._unmapped += 1
                continue
            if 0xD800 <= code < 0xDC00:  # half of a character, as in UTF-16
                high = code
                continue
            if 0xDC00 <= code < 0xE000:
                code = 0x10000 + ((high - 0xD800) << 10) + code - 0xDC00 if high else 0xFFFD
            high = 0
            sign = "-" if code in _HYPHENS else chr(code)
            pdfium.FPDFText_GetLooseCharBox(raw, at, box)
            pdfium.FPDFText_GetCharOrigin(raw, at, x, y)
            angle = round(pdfium.FPDFText_GetCharAngle(raw, at) / 1.5707963) % 4
            left, right, bottom, top, height = box.left, box.right, box.bottom, box.top, 0.0
            if angle == 0:
                place = left, right, y.value, top - bottom
            elif angle == 3:  # upwards
                place = bottom, top, -x.value, right - left
            elif angle == 2:
                place = -right, -left, -y.value, top - bottom
            else:
                place = -top, -bottom, x.value, right - left
            height = place[3] if place[3] > 0.5 else max(pdfium.FPDFText_GetFontSize(raw, at), 1.0)
            if not unicodedata.category(sign[0]).startswith("Z"):
                yield angle, Glyph(_plain(sign), place[0], place[1], place[2], height, gap)
            gap = False
        text.close()


def _plain(sign: str) -> str:
    """Return a character without ligatures and forms that only a printed page needs."""
    if "\ufb00" <= sign <= "\ufdff" or "\ufe70" <= sign <= "\ufeff":
        return unicodedata.normalize("NFKC", sign)
    return sign


def _find_running_titles(pages: Sequence[Sequence[Sequence[Line]]]) -> set[int]:
    """Return the identities of lines that are at the same place of many pages, but for their numbers."""
    places: dict[tuple[str, int], list[Line]] = {}
    for parts in pages:
        lines = parts[0] if parts else []
        ends = {id(one): one for one in (*lines[:2], *lines[-2:])} if len(lines) > 4 else {}
        for line in ends.values():
            places.setdefault((_DIGITS.sub("#", line.text.lower()), round(line.y / 12)), []).append(line)
    fewest = max(3, 0.2 * len(pages))
    return {id(line) for found in places.values() if len(found) >= fewest for line in found}


def join_lines(lines: Sequence[str], words: Counter[str]) -> str:
    """Join the lines of a paragraph. A hyphen at the end of a line goes if it divides a word.

    It does if the whole word occurs in the document, or if its halves do not.

    Args:
        words: the words of the document, in lower case, with how often they occur.
    """
    text = lines[0]
    for line in lines[1:]:
        head, tail = _DIVIDED.search(text), _WORD.match(line)
        if not head or not tail or not tail[0][0].islower():
            text += f" {line}"
        elif words[f"{head[1]}{tail[0]}".lower()] or min(words[head[1].lower()], words[tail[0].lower()]) < 2:
            text = text[:-1] + line
        else:
            text += line
    return text


def ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers as ranges, such as "1, 3-5": at most ten of them."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    listed = [f"{first}" if first == last else f"{first}-{last}" for first, last in found]
    return ", ".join(listed[:10]) + (" …" if len(listed) > 10 else "")


def _fields(page: pypdfium2.PdfPage, form: Any) -> Iterator[str]:
    """Yield the filled fields of a page and its notes, as "label: value"."""
    for at in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, at)
        if not annotation:
            continue
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        if kind == pdfium.FPDF_ANNOT_WIDGET and form:
            label = _string(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, annotation) or _string(
                pdfium.FPDFAnnot_GetFormFieldName, form, annotation
            )
            value = _string(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
            if pdfium.FPDFAnnot_GetFormFieldType(form, annotation) in (
                pdfium.FPDF_FORMFIELD_CHECKBOX,
                pdfium.FPDF_FORMFIELD_RADIOBUTTON,
            ):
                value = "yes" if pdfium.FPDFAnnot_IsChecked(form, annotation) else ""
            if value.strip():
                yield f"{label}: {value}"
        elif kind in (pdfium.FPDF_ANNOT_TEXT, pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_HIGHLIGHT):
            note = _string(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")
            if note.strip():
                yield f"Note: {note}"
        pdfium.FPDFPage_CloseAnnot(annotation)


def _string(get: Any, *of: Any) -> str:
    """Return a string of pdfium, which writes it in UTF-16 into a buffer of the size that it asks for."""
    size = get(*of, None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    get(*of, ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace")
