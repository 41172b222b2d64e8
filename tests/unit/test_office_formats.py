"""Office files: presentations, spreadsheets, OpenDocument and RTF."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import hostile_files as make
import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches
from rich.console import Console

from e2g_neo4j.cli.show import remarks
from e2g_neo4j.documents.files import ReadingReport, find, read, read_each, read_files
from e2g_neo4j.documents.formats import BY_MEDIA_TYPE, CONVERTED, FORMATS, SUFFIXES
from e2g_neo4j.documents.processes import read_file
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.documents.uploads import suffix_of
from e2g_neo4j.errors import ReadingError
from e2g_neo4j.remote_client import batches
from e2g_neo4j.types.documents import SourceDocument
from e2g_neo4j.types.reports import IndexReport

LIMITS = Limits(2**20)

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000000000500"
    "01a5f645400000000049454e44ae426082"
)


def stored(path: Path, content: bytes) -> SourceDocument:
    path.write_bytes(content)
    return read(path, "c", LIMITS)


def headings(document: SourceDocument) -> list[tuple[str, str, str]]:
    """The sections of a document, with what stands where they start."""
    return [(one.kind, one.label, document.text[one.start :].partition("\n")[0]) for one in document.sections]


# --- presentations ---------------------------------------------------------------------------------------


def slide(deck: Any, title: str | None = None) -> Any:
    made = deck.slides.add_slide(deck.slide_layouts[5])
    if title is not None:
        made.shapes.title.text = title
    return made


def saved(deck: Any, path: Path) -> SourceDocument:
    deck.save(path)
    return read(path, "c", LIMITS)


def test_slides_are_pages_with_their_titles_texts_and_notes(tmp_path: Path) -> None:
    deck = Presentation()
    first = slide(deck, "The fog bank")
    box = first.shapes.add_textbox(0, 0, 1, 1).text_frame
    box.text = "Ada wrote."
    box.add_paragraph().text = "Iris read."
    first.notes_slide.notes_text_frame.text = "Mention the quay."
    group = slide(deck, "Lamps").shapes.add_group_shape()
    group.shapes.add_group_shape().shapes.add_textbox(0, 0, 1, 1).text_frame.text = "Lit at six."
    document = saved(deck, tmp_path / "talk.pptx")
    assert document.title == "The fog bank"
    assert document.text == (
        "# The fog bank\n\nAda wrote.\nIris read.\n\nNotes: Mention the quay.\n\n# Lamps\n\nLit at six."
    )
    assert headings(document) == [
        ("page", "1", "# The fog bank"),
        ("heading", "The fog bank", "# The fog bank"),
        ("page", "2", "# Lamps"),
        ("heading", "Lamps", "# Lamps"),
    ]
    assert document.losses == ()


def test_tables_of_slides_repeat_merged_cells(tmp_path: Path) -> None:
    deck = Presentation()
    table = slide(deck, "Tides").shapes.add_table(3, 3, 0, 0, Inches(3), Inches(3)).table
    for row, values in enumerate([("Harbour", "Tide", ""), ("", "low", "high"), ("Lantry", "2", "9")]):
        for column, value in enumerate(values):
            table.cell(row, column).text = value
    table.cell(0, 0).merge(table.cell(1, 0))
    table.cell(0, 1).merge(table.cell(0, 2))
    text = saved(deck, tmp_path / "tides.pptx").text
    assert "| Harbour | Tide | Tide |\n| Harbour | low | high |\n| Lantry | 2 | 9 |" in text


def test_charts_are_tables_and_pictures_without_a_description_are_lost(tmp_path: Path) -> None:
    deck = Presentation()
    data = CategoryChartData()
    data.categories = ["May", "June"]
    data.add_series("Ships", (4, 7.5))
    data.add_series("Ships", (1, 0.1 + 0.2))
    made = slide(deck, "Traffic").shapes
    made.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(2), Inches(2), data)
    for described in ("a lighthouse", "", "image1.png"):
        picture = made.add_picture(io.BytesIO(PICTURE), 0, 0)
        picture._element.nvPicPr.cNvPr.set("descr", described)
    document = saved(deck, tmp_path / "traffic.pptx")
    assert "|  | Ships | Ships |\n| May | 4 | 1 |\n| June | 7.5 | 0.3 |" in document.text
    assert "Picture: a lighthouse" in document.text
    assert "image1.png" not in document.text
    assert document.losses == ("2 pictures without a description",)


# --- spreadsheets ----------------------------------------------------------------------------------------


def rows(*lines: tuple[Any, ...], first: int = 1) -> str:
    """Rows of a sheet: numbers and texts. None: no cell."""
    made = []
    for number, line in enumerate(lines, first):
        cells = "".join(cell(f"{'ABCDEFGH'[column]}{number}", value) for column, value in enumerate(line))
        made.append(f'<row r="{number}">{cells}</row>')
    return "".join(made)


def cell(place: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{value:d}</v></c>'
    return f'<c r="{place}"><v>{value!r}</v></c>'


def test_a_sheet_is_a_heading_and_a_table(tmp_path: Path) -> None:
    lines = rows(
        ("Name", None, "Tide"), ("Lantry", None, 3.0), ("Quay", None, 0.1 + 0.2), ("Open", None, True), first=3
    )
    document = stored(tmp_path / "sea_notes.xlsx", make.xlsx(lines))
    assert document.text == "## Fog\n\n| Name | Tide |\n| Lantry | 3 |\n| Quay | 0.3 |\n| Open | TRUE |"
    assert document.title == "Sea notes"
    assert headings(document) == [("heading", "Fog", "## Fog"), ("table", "table 1", "| Name | Tide |")]


def test_a_sheet_of_several_blocks_is_several_tables_with_the_lines_above_them(tmp_path: Path) -> None:
    lines = rows(("Tides of 1908", None), ("Port", "High"), ("Lantry", 9), (None, None), ("Port", "Low"), ("Lantry", 2))
    document = stored(tmp_path / "tides.xlsx", make.xlsx(lines, '<mergeCells><mergeCell ref="A1:B1"/></mergeCells>'))
    assert document.text == (
        "## Fog\n\nTides of 1908\n\n| Port | High |\n| Lantry | 9 |\n\n| Port | Low |\n| Lantry | 2 |"
    )


def test_merged_cells_are_in_every_row_and_column_that_they_cover(tmp_path: Path) -> None:
    lines = rows(("Port", "Tide", None), (None, "low", "high"), ("Lantry", 2, 9))
    merged = '<mergeCells><mergeCell ref="A1:A2"/><mergeCell ref="B1:C1"/></mergeCells>'
    text = stored(tmp_path / "tides.xlsx", make.xlsx(lines, merged)).text
    assert "| Port | Tide | Tide |\n| Port | low | high |\n| Lantry | 2 | 9 |" in text


def test_long_tables_repeat_their_header(tmp_path: Path) -> None:
    lines = rows(("Port", "Tide"), *((f"Harbour {number}", number) for number in range(200)))
    assert stored(tmp_path / "ports.xlsx", make.xlsx(lines)).text.count("| Port | Tide |") > 3


def ods(body: str) -> bytes:
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    names = " ".join(f'xmlns:{name}="{make.ODF}:{name}:1.0"' for name in ("office", "text", "table"))
    content = (
        f"<office:document-content {names}><office:body><office:spreadsheet>{body}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    return make._zipped({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": make.MANIFEST})


def test_sheets_of_opendocument_are_read(tmp_path: Path) -> None:
    day = '<table:table-cell office:value-type="date" office:date-value="1908-02-01"><text:p>1 Feb</text:p>'
    body = (
        '<table:table table:name="Log"><table:table-row><table:table-cell office:value-type="string">'
        '<text:p>Day</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>Ships</text:p>'
        "</table:table-cell>"
        f'</table:table-row><table:table-row>{day}</table:table-cell><table:table-cell office:value-type="float" '
        'office:value="4"><text:p>4</text:p></table:table-cell></table:table-row></table:table>'
    )
    assert stored(tmp_path / "log.ods", ods(body)).text == "## Log\n\n| Day | Ships |\n| 1908-02-01 | 4 |"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html><table><tr><td>fog</td></tr></table></html>", r"is a web page.*Rename it to report\.html"),
        (b"port;tide\nLantry;9\n", r"is text.*Rename it to report\.csv"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), r"cannot be read as a spreadsheet.*save it again as \.xlsx"),
        (b"PK\x03\x04", "not a XLS file: it is broken"),
    ],
    ids=["html", "csv", "broken", "archive"],
)
def test_what_is_no_spreadsheet_is_told(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(ReadingError, match=message):
        stored(tmp_path / "report.xls", content)


# --- OpenDocument ----------------------------------------------------------------------------------------


def test_headings_lists_tables_and_notes_of_opendocument(tmp_path: Path) -> None:
    item = "<text:list-item><text:p>{}</text:p>{}</text:list-item>"
    inner = f"<text:list>{item.format('wicks', '')}</text:list>"
    body = (
        '<text:h text:outline-level="1">The fog bank</text:h><text:p>Ada<text:s text:c="900000000"/>wrote'
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>In May.</text:p></text:note-body>"
        "</text:note>.</text:p>"
        f"<text:list>{item.format('lamps', inner)}{item.format('oil', '')}</text:list>"
        '<text:h text:outline-level="2">Tides</text:h>'
        '<table:table><table:table-row><table:table-cell table:number-columns-spanned="2"><text:p>Tide</text:p>'
        "</table:table-cell><table:covered-table-cell/></table:table-row><table:table-row><table:table-cell>"
        "<text:p>low</text:p></table:table-cell><table:table-cell><text:p>high</text:p></table:table-cell>"
        "</table:table-row><table:table-row><table:table-cell><text:p>2</text:p></table:table-cell><table:table-cell>"
        "<text:p>9</text:p></table:table-cell></table:table-row></table:table>"
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:p>The end.</text:p>"
    )
    document = stored(tmp_path / "notes.odt", make.odt(body))
    assert document.text == (
        "# The fog bank\n\nAda wrote [In May.].\n\n- lamps\n  - wicks\n- oil\n\n## Tides\n\n"
        "| Tide | Tide |\n| low | high |\n| 2 | 9 |\n\nThe end."
    )
    assert [kind for kind, _, _ in headings(document)] == ["heading", "heading", "table"]


def test_pictures_of_opendocument_are_counted_unless_they_are_described(tmp_path: Path) -> None:
    frames = (
        '<text:p xmlns:d="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:s="urn:x:svg">Fog '
        "<d:frame><d:image/><s:desc>a lighthouse</s:desc></d:frame><d:frame><d:image/></d:frame></text:p>"
    )
    document = stored(tmp_path / "a.odt", make.odt(frames))
    assert document.text == "Fog Picture: a lighthouse"
    assert document.losses == ("1 picture without a description",)


def test_slides_of_opendocument_are_pages(tmp_path: Path) -> None:
    drawing, shown = f"{make.ODF}:drawing:1.0", f"{make.ODF}:presentation:1.0"
    page = (
        f'<d:page xmlns:d="{drawing}" xmlns:p="{shown}"><d:frame p:class="title"><d:text-box><text:p>Lamps</text:p>'
        "</d:text-box></d:frame><d:frame><d:text-box><text:p>Lit at six.</text:p></d:text-box></d:frame>"
        "<p:notes><d:frame><d:text-box><text:p>Point north.</text:p></d:text-box></d:frame></p:notes></d:page>"
    )
    document = stored(tmp_path / "talk.odp", make.odt(page * 2))
    assert document.text == "\n\n".join(["# Lamps\n\nLit at six.\n\nNotes: Point north."] * 2)
    assert [label for kind, label, _ in headings(document) if kind == "page"] == ["1", "2"]


def test_an_encrypted_file_of_opendocument_is_told(tmp_path: Path) -> None:
    manifest = make.MANIFEST.replace("/>", "><m:encryption-data/></m:manifest>")
    locked = make._zipped({"content.xml": b"\x8a\x01", "META-INF/manifest.xml": manifest})
    with pytest.raises(ReadingError, match=r"a\.odt is protected with a password\. Save it without one"):
        stored(tmp_path / "a.odt", locked)


# --- RTF -------------------------------------------------------------------------------------------------

RTF = (
    rb"{\rtf1\ansi\ansicpg1251{\fonttbl{\f0\fcharset204 Arial;}}{\info{\title \'cf\'f0\'e8\'e2\'e5\'f2}}\f0 "
    rb"\'cf\'f0\'e8\'e2\'e5\'f2 {\field{\*\fldinst{HYPERLINK \"https://example.org\"}}{\fldrslt{fog}}}.\par "
    rb"\trowd Port\cell Tide\cell\row\trowd Lantry\par}\cell 9\cell\row\pard The end \u-10179?\u-8704?.\par "
    rb"{\pict\bin5 {}{}}}x}"
)


def test_rtf_gives_text_tables_and_title_in_its_code_page(tmp_path: Path) -> None:
    document = stored(tmp_path / "a.rtf", RTF.replace(rb"Lantry\par}", rb"{Lantry\par}"))
    assert document.title == "Привет"
    assert document.text == "Привет fog.\n\n| Port | Tide |\n| Lantry | 9 |\n\nThe end 😀.\nx"
    assert document.losses == ("1 picture not in the text",)


def test_rtf_loses_no_group_for_a_word_in_it(tmp_path: Path) -> None:
    document = stored(tmp_path / "a.rtf", rb"{\rtf1 {\b0\*\cs7 fog}{\*\hidden no}{\footnote In May.} \\*}")
    assert document.text == "fog \\*"
    assert document.losses == ("1 footnote not in the text",)


def test_a_doc_that_is_rtf_is_read_where_others_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "letter.doc").write_bytes(rb"{\rtf1 fog}")
    (tmp_path / "old.doc").write_bytes(b"\xd0\xcf\x11\xe0")
    assert read(tmp_path / "letter.doc", "c", LIMITS).text == "fog"
    skipped: set[Path] = set()
    assert [one.name for one in find([tmp_path], None, skipped)] == ["letter.doc"]
    assert [one.name for one in skipped] == ["old.doc"]
    with pytest.raises(ReadingError, match=r"old\.doc has an unsupported file type\. Save it as \.docx\."):
        read(tmp_path / "old.doc", "c", LIMITS)


# --- what is not read ------------------------------------------------------------------------------------


def test_what_a_folder_holds_and_is_not_read_is_listed_once_a_kind(tmp_path: Path) -> None:
    for name in ("a.txt", "b.doc", "c.DOC", "deep/d.png", "README", "rows.jsonl", ".hidden.png", ".git/e.png"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("fog")
    report = ReadingReport()
    documents = read_files([tmp_path], lambda path, _: list(read_each(path, "c", LIMITS)), report)
    assert [one.title for one in documents] == ["A"]
    assert report.passed_over == {
        "": "1 file without a suffix is not read. Rename it to end in .txt if there is text in it.",
        ".doc": "2 files ending in .doc are not read. Save them as .docx.",
        ".jsonl": "1 file ending in .jsonl is read only if you name it.",
        ".png": "1 file ending in .png is not read.",
    }
    named = ReadingReport()
    read_files([tmp_path / "*.jsonl", tmp_path / "a.txt"], lambda *_: [], named)
    assert named.passed_over == {}


def test_formats_have_suffixes_and_media_types_of_their_own() -> None:
    assert all(one.media_types for one in FORMATS)
    assert len(BY_MEDIA_TYPE) == sum(len(one.media_types) for one in FORMATS)
    assert len(SUFFIXES) == sum(len(one.suffixes) for one in FORMATS)
    assert not set(CONVERTED) & set(SUFFIXES)
    assert set(CONVERTED.values()) <= set(SUFFIXES)
    assert all(suffix_of("upload", media) in SUFFIXES for media in BY_MEDIA_TYPE)


def test_the_page_offers_all_formats_for_upload() -> None:
    page = Path(__file__).parents[2] / "e2g_neo4j" / "service" / "ui" / "index.html"
    assert f'accept="{",".join(SUFFIXES)}"' in page.read_text(encoding="utf-8")


def test_other_processes_read_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.rtf"
    path.write_bytes(rb"{\rtf1 fog {\pict 00}}")
    assert read_file(path, "c", LIMITS) == [read(path, "c", LIMITS)]


def test_the_client_of_the_service_lists_what_its_folders_hold_too(tmp_path: Path) -> None:
    for name in ("one/a.txt", "one/b.png", "two/c.txt", "two/d.PNG"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("fog")
    reading = ReadingReport()
    assert len(list(batches([tmp_path / "one", tmp_path / "two", tmp_path / "one"], reading))) == 1
    assert reading.passed_over == {".png": "2 files ending in .png are not read."}


def test_what_was_passed_over_is_printed() -> None:
    printed = io.StringIO()
    skipped = {f".{number}": f"1 file ending in .{number} is not read." for number in range(25)}
    remarks(Console(file=printed, width=200), IndexReport("c", passed_over=skipped))
    lines = printed.getvalue().splitlines()
    assert lines[0] == "Passed over: 1 file ending in .0 is not read."
    assert lines[20:] == ["And 5 more endings: --json lists all."]
