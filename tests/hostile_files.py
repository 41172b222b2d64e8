"""Small files that make parsers work for long, or use much memory. Each grows with a number."""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections.abc import Sequence

from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

PAGES = [b"<</Type /Catalog /Pages 2 0 R>>", b"<</Type /Pages /Kids [3 0 R] /Count 1>>"]
FONT = b"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>"
CID_FONT = (
    b"/Type /Font /Subtype /CIDFontType2 /BaseFont /X /CIDSystemInfo <</Registry (A) /Ordering (I) /Supplement 0>>"
)


def pdf(content: bytes, *more: bytes, filters: str = "", resources: str = "", size: int = 20_000) -> bytes:
    """A PDF of one page with these instructions. Its font is object 5; `more` are the objects from 6 on."""
    page = (
        f"<</Type /Page /Parent 2 0 R /MediaBox [0 0 {size} {size}] /Contents 4 0 R /Resources <</Font <</F 5 0 R>> "
        f"{resources}>>>>"
    )
    objects = [*PAGES, page.encode(), stream(content, f"/Filter [{filters}]" if filters else ""), FONT, *more]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, one) for number, one in enumerate(objects, 1))
    return b"%PDF-1.7\n" + body + b"trailer\n<</Root 1 0 R>>\n%%EOF\n"


def stream(content: bytes, entries: str = "") -> bytes:
    return f"<</Length {len(content)} {entries}>>\nstream\n".encode() + content + b"\nendstream"


def separate_letters(number: int) -> bytes:
    side = math.isqrt(number - 1) + 1
    places = ((60 * (one % side) + 20, 60 * (one // side) + 20) for one in range(number))
    return pdf(zlib.compress(shown(*(f"1 0 0 1 {x} {y} Tm (x) Tj" for x, y in places))), filters="/FlateDecode")


def lines_in_one_place(number: int) -> bytes:
    return pdf(
        zlib.compress(shown(*["1 0 0 1 20 20 Tm (hello world, hello fog) Tj"] * number)),
        filters="/FlateDecode",
        size=600,
    )


def shown(*instructions: str) -> bytes:
    return "\n".join(["BT /F 8 Tf", *instructions, "ET"]).encode()


def forms_in_forms(depth: int, times: int = 2) -> bytes:
    """The innermost form is drawn `times ** depth` times."""
    kind = "/Type /XObject /Subtype /Form /BBox [0 0 1 1]"
    outer = [
        stream(b"/X Do " * times, f"{kind} /Resources <</XObject <</X {number} 0 R>>>>")
        for number in range(7, 6 + depth)
    ]
    return pdf(b"/X Do " + shown("(fog) Tj"), *outer, stream(b"q Q", kind), resources="/XObject <</X 6 0 R>>")


def one_page_again_and_again(number: int) -> bytes:
    """Pages that show the same 20,000 letters, all at one place, so that much is drawn and little is read."""
    page = pdf(zlib.compress(shown(*["1 0 0 1 20 20 Tm (x) Tj"] * 20_000)), filters="/FlateDecode", size=600)
    return page.replace(PAGES[1], b"<</Type /Pages /Kids [%s] /Count %d>>" % (b"3 0 R " * number, number))


def packed_page(content: bytes, filters: bytes) -> bytes:
    """A PDF of one page with this packed content."""
    return pdf(content, filters=filters.decode(), size=600)


def runs_of_runs(times: int) -> bytes:
    return pdf(b"\x81" * 1000 + b"\x80", filters="/RunLengthDecode " * times)


def wide_font(last: int) -> bytes:
    font = b"<<%s /W [0 %d 500] /FontDescriptor <</Type /FontDescriptor /FontName /X /Flags 4>>>>" % (CID_FONT, last)
    return _with_font(font)


def mapped_font(last: int) -> bytes:
    mapping = b"begincmap 1 beginbfrange <00000000> <%08X> <0041> endbfrange endcmap" % last
    font = b"<<%s /FontDescriptor <</Type /FontDescriptor /FontName /X /Flags 4>>>>" % CID_FONT
    return _with_font(font, stream(mapping), entries=b"/ToUnicode 7 0 R")


def _with_font(font: bytes, *more: bytes, entries: bytes = b"") -> bytes:
    kind = b"<</Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [6 0 R] %s>>" % entries
    return pdf(shown("<0001> Tj"), font, *more).replace(FONT, kind)


WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"


def docx(body: str, doctype: str = "", encoding: str = "utf-8") -> bytes:
    document = (
        f'<?xml version="1.0" encoding="{encoding}"?>{doctype}<w:document {WORD}><w:body>{body}</w:body></w:document>'
    )
    return _zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" '
            f'ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="{CONTENT_TYPE}"/>'
            "</Types>",
            "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="a" Type="{RELATION}" '
            'Target="word/document.xml"/></Relationships>',
            "word/document.xml": document.encode(encoding),
        }
    )


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def nested_tables(number: int) -> bytes:
    return docx("<w:tbl><w:tr><w:tc>" * number + paragraph("fog") + "</w:tc></w:tr></w:tbl>" * number)


def entities(times: int, encoding: str) -> bytes:
    return docx(paragraph("&a;" * times), f'<!DOCTYPE d [<!ENTITY a "{"x" * times}">]>', encoding)


CONTAINER = """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile
full-path="a.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""


def repeated_chapter(number: int, encoding: str = "utf-8", doctype: str = "") -> bytes:
    """A book of one chapter, which grows with the number, as often."""
    named = '<itemref idref="a"/>' * number
    package = (
        f'<?xml version="1.0" encoding="{encoding}"?>{doctype}<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
        f'<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine>'
        f"{named}</spine></package>"
    )
    chapter = f"<html><body>{'<p>Ada wrote.</p>' * 20 * number}</body></html>"
    return _zipped({"META-INF/container.xml": CONTAINER, "a.opf": package.encode(encoding), "a.xhtml": chapter})


def _zipped(parts: dict[str, str | bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return packed.getvalue()


def nested(tags: Sequence[str], number: int, inner: str) -> bytes:
    opened, closed = "".join(f"<{tag}>" for tag in tags), "".join(f"</{tag}>" for tag in reversed(tags))
    return f"<html><body>{opened * number}{inner}{closed * number}</body></html>".encode()


def deep_quotation(number: int) -> bytes:
    return nested(["blockquote"], number, "fog<br>" * 60 * number)


def spanning_cells(number: int) -> bytes:
    """A table whose cells cover all that they can, and so much that only the limit of the text ends it."""
    return nested(["table"], 1, f"<tr><td colspan=1000 rowspan=65534>{'fog ' * 40}<td>x" * number)


def nested_cells(number: int) -> bytes:
    return nested(["table", "tr", "td"], number, "fog")


def nested_lists(number: int) -> bytes:
    return nested(["ul", "li"], number, "fog")


def notes_of_a_page(number: int) -> bytes:
    return nested(["p"], 1, '<a href="#x">fog</a><sup><a href="#n">1</a></sup> ' * number)


def notes(number: int) -> bytes:
    """As many references to one footnote."""
    reference = '<w:r><w:footnoteReference w:id="1"/></w:r>'
    return docx(f"<w:p>{reference * number}</w:p>" * 2)


def deep_formula(number: int) -> bytes:
    inner = "<w:r><w:t>fog</w:t></w:r>" * number
    return docx(f"<w:p><w:oMath>{'<w:f><w:num>' * 100}{inner}{'</w:num></w:f>' * 100}</w:oMath></w:p>" * 4)


def numbered(number: int) -> bytes:
    """Items of a list that has no definition, nine levels deep."""
    properties = '<w:pPr><w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr></w:pPr>'
    item = f"<w:p>{properties}<w:r><w:t>x</w:t></w:r></w:p>"
    return docx("".join(item.format(at % 9) for at in range(number)))


def long_list(number: int) -> bytes:
    return nested(["ol"], 1, "<li>fog" * number)


def spaced_heading(number: int) -> bytes:
    return b"Ada wrote.\n\nChapter 1" + b" " * number + b"x"


def heading_signs(number: int) -> bytes:
    return b"# Fog" + b" #" * number + b"x\n" + b"`" * number + b"x`\n"


def spaced_heading_row(number: int) -> bytes:
    return b'{"text": "%s"}\n' % spaced_heading(number).replace(b"\n", b"\\n")


def empty_lists(number: int) -> bytes:
    return b'{"text": "fog", "more": [%s[]]}\n' % (b"[]," * number)


SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = RELATION.removesuffix("/officeDocument")


def xlsx(rows: str, rest: str = "") -> bytes:
    """A spreadsheet of one sheet with these rows."""
    return _zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" '
            'ContentType="application/xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="a" Type="{RELATION}" '
            'Target="xl/workbook.xml"/></Relationships>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="a" '
            f'Type="{RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{RELATIONS}"><sheets><sheet name="Fog" sheetId="1" '
            'r:id="a"/></sheets></workbook>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{SHEET}"><sheetData>{rows}</sheetData>{rest}</worksheet>',
        }
    )


def number_cell(place: str, value: int = 1) -> str:
    row = place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return f'<row r="{row}"><c r="{place}"><v>{value}</v></c></row>'


def merged_cells(number: int) -> bytes:
    """Every row has a value, and each of as many merged cells covers all rows."""
    rows = "".join(number_cell(f"A{row}") for row in range(1, number + 1))
    merged = f'<mergeCell ref="A1:C{number}"/>' * number
    return xlsx(rows, f"<mergeCells>{merged}</mergeCells>")


def chart(number: int) -> bytes:
    """A presentation with a chart of so many points."""
    data = CategoryChartData()
    data.categories = [str(one) for one in range(number)]
    data.add_series("Fog", range(number))
    deck, saved = Presentation(), io.BytesIO()
    shapes = deck.slides.add_slide(deck.slide_layouts[5]).shapes
    shapes.add_chart(XL_CHART_TYPE.LINE, 0, 0, 9, 9, data)
    shapes.add_table(number // 8, 2, 0, 0, 9, 9)
    deck.save(saved)
    return saved.getvalue()


ODF = "urn:oasis:names:tc:opendocument:xmlns"
MANIFEST = f'<m:manifest xmlns:m="{ODF}:manifest:1.0"/>'


def odt(body: str) -> bytes:
    names = " ".join(f'xmlns:{name}="{ODF}:{name}:1.0"' for name in ("office", "text", "table"))
    content = (
        f"<office:document-content {names}><office:body><office:text>{body}</office:text></office:body>"
        "</office:document-content>"
    )
    return _zipped({"content.xml": content, "META-INF/manifest.xml": MANIFEST})


def repeated_cells(number: int) -> bytes:
    """Each row and each cell claims to be there a billion times."""
    cell = '<table:table-cell table:number-columns-repeated="999999999"><text:p>fog</text:p></table:table-cell>'
    row = f'<table:table-row table:number-rows-repeated="999999999">{cell}</table:table-row>'
    return odt(f"<table:table>{row * number}</table:table>")


def long_paragraph(number: int) -> bytes:
    return odt(f"<text:p>{'fog<text:s/><text:span>Ada</text:span>' * number}</text:p>")


def font_table(number: int) -> bytes:
    return rb"{\rtf1{\fonttbl" + rb"\f1\fcharset0 " * number + rb"}fog}"


def fields(number: int) -> bytes:
    return rb"{\rtf1 " + rb"{\field{\*\fldinst{HYPERLINK " * number + b"fog}"


def wide_then_long(number: int) -> bytes:
    return b"x," * number + b"x\n" + b"a,b\n" * number


def parts(number: int) -> bytes:
    part = b"--b\nContent-Type: text/plain\n\nfog\n"
    return b"Subject: Fog\nContent-Type: multipart/mixed; boundary=b\n\n" + part * number + b"--b--\n"


def mails_in_mails(number: int) -> bytes:
    return b"Content-Type: message/rfc822\n\n" * number + b"Subject: Fog\n\nfog\n"


def addresses(number: int) -> bytes:
    return b"Subject: " + b"=?utf-8?q?fog?= " * number + b"\nTo: " + b"(a <a@example.org>, " * number + b"\n\nfog\n"


def messages(number: int) -> bytes:
    return b"From ada@example.org Mon Jun 01 04:28:28 2009\nSubject: Fog\n\nfog\n\n" * number


def cells(number: int) -> bytes:
    cell = '{"cell_type": "code", "source": ["fog"], "outputs": [{"output_type": "stream", "text": ["```"]}]}'
    return f'{{"cells": [{", ".join([cell] * number)}]}}'.encode()


def styles_of_tex(number: int) -> bytes:
    return rb"\emph{\section[\href{\label[\begin{itemize}[ " * number + rb"\index{fog} " * number


def open_titles(number: int) -> bytes:
    return b"fog\n===\n=== " * number + b"[[fog][" * number + b"=" * number + b" " * number


def stars(number: int) -> bytes:
    return b"* " * number + b"\n" + b"* TODO [[fog] :a:" * number + b" " * number


def nested_values(number: int) -> bytes:
    return b'{"a":' * number + b"1" + b"}" * number


def flat_rows(number: int) -> bytes:
    """An array of objects, each with a name of its own."""
    return json.dumps([{f"n{one}": 1} for one in range(number)]).encode()


def many_properties(number: int) -> bytes:
    return json.dumps({"text": "fog", "a": {f"n{one}": [1, "a"] for one in range(number)}}).encode()


def front_matter(number: int) -> bytes:
    return b"---\n" + b"a: [" * number + b"\n---\nfog\n"
