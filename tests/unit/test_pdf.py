"""PDFs as a reader sees them: rows, columns, paragraphs, directions, forms, and what has no text."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from fpdf import FPDF
from hostile_files import CID_FONT, stream

from e2g_neo4j.documents.files import read
from e2g_neo4j.documents.pdf import join_lines, ranges
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.types.documents import SourceDocument

LIMITS = Limits(2**20)


def read_pages(folder: Path, *pages: Callable[[FPDF], object]) -> SourceDocument:
    """The document that a PDF becomes whose pages these functions write."""
    made = FPDF(unit="pt")
    made.set_margin(40)
    for page in pages:
        made.add_page()
        made.set_font("helvetica", size=10)
        page(made)
    path = folder / "a.pdf"
    made.output(str(path))
    return read(path, "c", LIMITS)


def at(made: FPDF, y: float, *cells: tuple[float, str], right: bool = True) -> None:
    """Write cells on a line: the first to the right of its place, the others to the left of theirs."""
    for number, (x, text) in enumerate(cells):
        made.text(x - (made.get_string_width(text) if number and right else 0), y, text)


def statement(made: FPDF) -> None:
    at(made, 60, (40, "Consolidated statement of the lighthouse"))
    made.text(372, 84, "Three Months Ended")
    at(made, 98, (40, ""), (390, "June 25,"), (490, "June 26,"))
    at(made, 110, (40, ""), (390, "2022"), (490, "2021"))
    at(made, 130, (40, "Net sales:"))
    at(made, 144, (50, "Oil"), (345, "$"), (390, "63,355"), (445, "$"), (490, "63,948"))
    at(made, 158, (50, "Lamps and the glass that was bought for them in"))
    at(made, 170, (60, "earlier years"), (390, "19,604"), (490, "(17,486)"))
    at(made, 184, (50, "Total net sales"), (390, "82,959"), (490, "46,462"))


def test_rows_of_a_table_are_lines_with_the_headers_of_their_columns(tmp_path: Path) -> None:
    document = read_pages(tmp_path, statement)
    assert document.text.split("\n") == [
        "Consolidated statement of the lighthouse",
        "|  | Three Months Ended June 25, 2022 | Three Months Ended June 26, 2021 |",
        "| Net sales: |",
        "| Oil | $63,355 | $63,948 |",
        "| Lamps and the glass that was bought for them in earlier years | 19,604 | (17,486) |",
        "| Total net sales | 82,959 | 46,462 |",
    ]
    assert [(one.kind, one.label) for one in document.sections] == [
        ("page", "1"),
        ("table", "Consolidated statement of the lighthouse"),
    ]


def test_a_long_table_repeats_its_header(tmp_path: Path) -> None:
    def page(made: FPDF) -> None:
        at(made, 50, (40, "Lamp"), (300, "Oil in litres"), (420, "Nights"))
        for row in range(50):
            at(
                made,
                64 + 14 * row,
                (40, f"Lamp of the tower at number {row}"),
                (300, f"{row},250"),
                (420, f"{row * 7}"),
            )

    lines = read_pages(tmp_path, page).text.split("\n")
    headers = [place for place, line in enumerate(lines) if line == "| Lamp | Oil in litres | Nights |"]
    assert len(lines) == 50 + len(headers)
    assert len(headers) > 2
    assert headers[0] == 0
    assert max(later - earlier for earlier, later in pairwise(headers)) < 30


def column(made: FPDF, x: float, words: str) -> None:
    for row in range(12):
        made.text(x, 80 + 14 * row + (3 if x > 200 else 0), f"{words} of the line with number {row}")


def test_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    def page(made: FPDF) -> None:
        made.text(60, 50, "A heading that is as wide as both of the columns below it, and wider than each of them")
        column(made, 40, "The left side speaks")
        column(made, 310, "The right side answers")

    text = read_pages(tmp_path, page).text
    assert text.index("left side speaks of the line with number 11") < text.index("right side answers of the line with")
    assert "|" not in text


@pytest.mark.parametrize("spacing", [12, 15, 24])
def test_lines_of_a_paragraph_are_joined_whatever_their_spacing(tmp_path: Path, spacing: float) -> None:
    def page(made: FPDF) -> None:
        for number, line in enumerate(
            [
                "The old keeper of the lamp was Augustin",
                "Fernhollow, who kept it for the insur-",
                "ance of the sailors. He wrote of it.",
            ]
        ):
            made.text(40, 60 + spacing * number, line)

    assert read_pages(tmp_path, page).text == (
        "The old keeper of the lamp was Augustin Fernhollow, who kept it for the insurance of the sailors. "
        "He wrote of it."
    )


@pytest.mark.parametrize(
    ("lines", "words", "joined"),
    [
        (["the insur-", "ance of"], {}, "the insurance of"),
        (["the well-", "known keeper"], {"well": 3, "known": 2}, "the well-known keeper"),
        (["the well-", "being of"], {"well": 3, "being": 2, "wellbeing": 1}, "the wellbeing of"),
        (["from Augustin-", "Fernhollow on"], {}, "from Augustin- Fernhollow on"),
        (["pages 3-", "7 of it"], {}, "pages 3- 7 of it"),
    ],
)
def test_a_hyphen_goes_where_it_divides_a_word(lines: list[str], words: dict[str, int], joined: str) -> None:
    assert join_lines(lines, Counter(words)) == joined


def test_running_titles_are_left_out_and_counted(tmp_path: Path) -> None:
    def page(made: FPDF) -> None:
        made.text(40, 30, "The annals of the lighthouse")
        for row in range(5):
            made.text(40, 80 + 14 * row, f"{'abcd'[made.page - 1] * 4}: the keeper wrote line {row} of his story")
        made.text(300, 800, f"{made.page}")

    document = read_pages(tmp_path, *[page] * 4)
    assert "annals" not in document.text
    assert document.text.count("the keeper wrote line") == 20
    assert document.losses == ("8 running titles left out",)


def test_a_page_without_text_is_named(tmp_path: Path) -> None:
    def page(made: FPDF) -> None:
        made.text(40, 60, "The keeper wrote.")

    def nothing(made: FPDF) -> None:
        made.rect(40, 40, 100, 100)

    document = read_pages(tmp_path, page, nothing, nothing, page, nothing)
    assert document.losses == ("3 of 5 pages have no text (2-3, 5)",)
    assert [one.label for one in document.sections] == ["1", "4"]


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_text_is_read_in_the_direction_that_it_runs_in(tmp_path: Path, angle: int) -> None:
    def page(made: FPDF) -> None:
        with made.rotation(angle, 300, 400):
            made.text(200, 400, "The keeper wrote a letter")
            made.text(200, 414, "and sent it to the island.")

    assert read_pages(tmp_path, page).text == "The keeper wrote a letter and sent it to the island."


def test_powers_and_notes_are_told_from_what_they_stand_at(tmp_path: Path) -> None:
    def page(made: FPDF) -> None:
        made.set_xy(40, 60)
        for text, place in (("It burns 10", "LINE"), ("6", "SUP"), (" drops, Calloway", "LINE"), ("1", "SUP")):
            made.char_vpos = place
            made.write(text=text)

    assert read_pages(tmp_path, page).text == "It burns 10^6 drops, Calloway 1"


def one_page(content: bytes, fonts: bytes, entries: bytes, *more: bytes) -> bytes:
    """A PDF of one page, by hand. `more` are the objects from 5 on."""
    objects = [
        b"<</Type /Catalog /Pages 2 0 R /AcroForm <</Fields [5 0 R 6 0 R]>>>>",
        b"<</Type /Pages /Kids [3 0 R] /Count 1>>",
        b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources <</Font <<%s>>>> %s>>"
        % (fonts, entries),
        stream(zlib.compress(content), "/Filter /FlateDecode"),
        *more,
    ]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, one) for number, one in enumerate(objects, 1))
    return b"%PDF-1.7\n" + body + b"trailer\n<</Root 1 0 R>>\n%%EOF\n"


def test_filled_fields_are_read_with_their_labels(tmp_path: Path) -> None:
    widget = b"<</Type /Annot /Subtype /Widget /Rect [%s] /T (%s) %s>>"
    made = one_page(
        b"BT /F 12 Tf 40 700 Td (Application of a keeper) Tj ET",
        b"/F <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>",
        b"/Annots [5 0 R 6 0 R 7 0 R]",
        widget % (b"40 600 200 620", b"name", b"/TU (Name of the keeper) /FT /Tx /V (Ada Fernhollow)"),
        widget % (b"40 560 200 580", b"island", b"/FT /Tx"),
        b"<</Type /Annot /Subtype /Text /Rect [300 600 320 620] /Contents (Accepted in May)>>",
    )
    (tmp_path / "form.pdf").write_bytes(made)
    document = read(tmp_path / "form.pdf", "c", LIMITS)
    assert document.text.split("\n\n") == [
        "Application of a keeper",
        "Name of the keeper: Ada Fernhollow",
        "Note: Accepted in May",
    ]


def test_right_to_left_text_is_in_logical_order(tmp_path: Path) -> None:
    """The glyphs of "שלום 42" stand from right to left, those of the number from left to right."""
    spans = b"<05D0> <05EA> <05D0>", b"<0030> <0039> <0030>"
    mapping = b"begincmap %s endcmap" % b" ".join(b"1 beginbfrange %s endbfrange" % one for one in spans)
    word, number = "שלום"[::-1].encode("utf-16-be").hex(), "42".encode("utf-16-be").hex()
    made = one_page(
        f"BT /F 12 Tf 140 700 Td <{word}> Tj ET BT /F 12 Tf 100 700 Td <{number}> Tj ET".encode(),
        b"/F <</Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [6 0 R]"
        b" /ToUnicode 5 0 R>>",
        b"",
        stream(mapping),
        b"<<%s /DW 600>>" % CID_FONT,
    )
    (tmp_path / "rtl.pdf").write_bytes(made)
    assert read(tmp_path / "rtl.pdf", "c", LIMITS).text == "שלום 42"


def test_numbers_of_pages_are_told_as_ranges() -> None:
    assert ranges([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"
    assert ranges(list(range(1, 100, 2))).endswith("19 …")
