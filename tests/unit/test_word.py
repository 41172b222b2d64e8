"""Word documents, with what Word shows of them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from e2g_neo4j.documents.files import read
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.types.documents import SourceDocument

MIB = 2**20

TRANSITIONAL = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"

STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

STYLES = """
<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:styleId="Klausel"><w:name w:val="Clause"/><w:basedOn w:val="berschrift2"/></w:style>
<w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>
<w:style w:styleId="Titre3"><w:name w:val="Titre 3"/></w:style>
<w:style w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:styleId="Caption"><w:name w:val="caption"/></w:style>
<w:style w:styleId="Note"><w:name w:val="footnote reference"/>
<w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>
"""


def level(number: int, kind: str, text: str) -> str:
    return f'<w:lvl w:ilvl="{number}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/></w:lvl>'


NUMBERING = (
    f'<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}{level(1, "decimal", "%1.%2")}'
    f"{level(2, 'lowerLetter', '(%3)')}</w:abstractNum>"
    f'<w:abstractNum w:abstractNumId="1">{level(0, "bullet", "")}</w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    '<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/>'
    '</w:lvlOverride></w:num><w:num w:numId="3"><w:abstractNumId w:val="1"/></w:num>'
)


def document(path: Path, body: str, namespace: str = TRANSITIONAL, **more: str) -> Path:
    """A document with these paragraphs and tables, and the parts that are given."""
    addresses = {part: more.pop(f"{part}_addresses", "") for part in ("document", "footnotes")}
    parts = {"styles": STYLES, "numbering": NUMBERING} | more
    relations = "".join(
        f'<Relationship Id="{name}" Type="{RELATIONS}/{name}" Target="{name}.xml"/>' for name in parts if name != "core"
    )
    package = (
        f'<Relationship Id="a" Type="{RELATIONS}/officeDocument" Target="word/document.xml"/>'
        f'<Relationship Id="b" Type="{RELATIONS}/metadata/core-properties" Target="docProps/core.xml"/>'
    )
    names = (
        f'xmlns:w="{namespace}" xmlns:m="math" xmlns:mc="compatibility" xmlns:wps="shapes" xmlns:v="vml" '
        'xmlns:wp="place" xmlns:a="drawing" xmlns:pic="picture"'
    )
    roots = {"footnotes": "footnotes", "endnotes": "endnotes", "styles": "styles", "numbering": "numbering"}
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("[Content_Types].xml", "<Types/>")
        made.writestr("_rels/.rels", f"<Relationships>{package}</Relationships>")
        for part, more_relations in addresses.items():
            whole = f"<Relationships>{relations if part == 'document' else ''}{more_relations}</Relationships>"
            made.writestr(f"word/_rels/{part}.xml.rels", whole)
        made.writestr("word/document.xml", f"<w:document {names}><w:body>{body}</w:body></w:document>")
        made.writestr("docProps/core.xml", more.get("core", "<c><title>Of the file</title></c>"))
        for name, root in roots.items():
            made.writestr(f"word/{name}.xml", f"<w:{root} {names}>{parts.get(name, '')}</w:{root}>")
    return path


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def par(content: str, properties: str = "") -> str:
    content = content if content.startswith("<") else run(content)
    return f"<w:p><w:pPr>{properties}</w:pPr>{content}</w:p>"


def styled(style: str, text: str) -> str:
    return par(text, f'<w:pStyle w:val="{style}"/>')


def item(text: str, number: int = 1, depth: int = 0) -> str:
    return par(text, f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>')


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{par(text)}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def field(code: str, result: str) -> str:
    marks = [f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")]
    return f"{marks[0]}<w:r><w:instrText>{code}</w:instrText></w:r>{marks[1]}{result}{marks[2]}"


@pytest.fixture
def word(tmp_path: Path):
    def made(body: str, namespace: str = TRANSITIONAL, **more: str) -> SourceDocument:
        return read(document(tmp_path / "a.docx", body, namespace, **more), "c", Limits(MIB))

    return made


@pytest.mark.parametrize("namespace", [TRANSITIONAL, STRICT], ids=["transitional", "strict"])
def test_headings_are_known_by_level_base_and_name(word, namespace: str) -> None:
    body = "".join(
        styled(*one)
        for one in (("Titel", "The Lamp"), ("berschrift1", "Fog"), ("Klausel", "Rain"), ("Titre3", "Sleet"))
    )
    found = word(body + par("Snow", '<w:outlineLvl w:val="3"/>') + par("Text"), namespace)
    assert found.text == "# The Lamp\n\n# Fog\n\n## Rain\n\n### Sleet\n\n#### Snow\n\nText"
    assert found.title == "The Lamp"


def test_the_file_names_the_title_where_the_text_does_not(word) -> None:
    assert word(par("Text")).title == "Of the file"


def test_lists_have_the_numbers_that_word_shows(word) -> None:
    body = (
        item("a") + item("b") + item("b1", depth=1) + item("x", depth=2) + item("b2", depth=1) + par("Between.")
        + item("c") + item("c1", depth=1) + item("seven", number=2) + item("dot", number=3) + item("eight", number=2)
    )  # fmt: skip
    assert word(body).text.split("\n") == [
        "1. a", "2. b", "  2.1 b1", "    (a) x", "  2.2 b2", "", "Between.", "",
        "3. c", "  3.1 c1", "7. seven", "- dot", "8. eight",
    ]  # fmt: skip


def test_headings_have_their_numbers(word) -> None:
    numbered = '<w:pStyle w:val="berschrift1"/><w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr>'
    body = "".join(par(f"t{depth}", numbered.format(depth)) for depth in (0, 0, 1, 1))
    assert word(body).text == "# 1. t0\n\n# 2. t0\n\n# 2.1 t1\n\n# 2.2 t1"


def test_merged_cells_captions_and_headers_of_tables(word) -> None:
    restart, continued = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    body = (
        styled("Caption", "Table 1: Ships")
        + "<w:tbl>"
        + row(cell("Name", '<w:gridSpan w:val="2"/>'), cell("City"), properties="<w:tblHeader/>")
        + row(cell("Ada", restart), cell("97"), cell("Lantry"))
        + row(cell("", continued), cell("98"), f"<w:sdt><w:sdtContent>{cell('Hesk')}</w:sdtContent></w:sdt>")
        + row(cell("gone"), cell("gone"), properties="<w:del/>")
        + "</w:tbl>"
    )
    found = word(body)
    assert found.text == ("Table 1: Ships\n| Name | Name | City |\n| Ada | 97 | Lantry |\n| Ada | 98 | Hesk |")
    assert [(one.kind, one.label) for one in found.sections] == [("table", "Table 1: Ships")]
    assert found.losses == ("1 deleted passage left out",)


def test_fields_keep_their_results(word) -> None:
    simple = f'<w:fldSimple w:instr="SEQ Figure">{run("4")}</w:fldSimple>'
    body = par(run("Figure ") + simple + run(", signed by ") + field("AUTHOR", run("Ada")))
    nested = par(run("See ") + field("REF " + "x", field("PAGEREF y", run("12"))))
    empty = par(run("Sum: ") + field("=SUM(ABOVE)", "") + '<w:fldSimple w:instr="TITLE"/>' + field("XE fog", ""))
    form = par(
        '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>'
        "</w:ffData></w:fldChar></w:r><w:r><w:instrText>FORMCHECKBOX</w:instrText></w:r><w:r><w:fldChar "
        'w:fldCharType="end"/></w:r>' + run(" agreed")
    )
    found = word(body + nested + empty + form)
    assert found.text == "Figure 4, signed by Ada\n\nSee 12\n\nSum:\n\n☒ agreed"
    assert found.losses == ("2 fields without a result; update the fields in Word",)


def test_changes_and_struck_and_hidden_text(word) -> None:
    deleted = "<w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
    body = par(
        run("for ") + deleted + f"<w:ins>{run('new ')}</w:ins>" + f"<w:moveFrom>{run('moved')}</w:moveFrom>"
        + f"<w:moveTo>{run('moved ')}</w:moveTo>" + run("12", "<w:strike/>") + run("00 ", "<w:strike/>")
        + run("800", '<w:strike w:val="0"/>')
        + run("secret", "<w:vanish/>") + '<w:r><w:commentReference w:id="1"/></w:r>'
    )  # fmt: skip
    found = word(body)
    assert found.text == "for new moved 800"
    assert found.losses == ("1 deleted passage left out", "1 struck passage left out", "1 comment left out")


def test_text_boxes_are_read_once(word) -> None:
    box = f"<w:txbxContent>{par('In a box')}</w:txbxContent>"
    drawing = f"<w:drawing><wps:txbx>{box}</wps:txbx></w:drawing>"
    old = f"<w:pict><v:textbox>{box}</v:textbox></w:pict>"
    both = (
        f"<mc:AlternateContent><mc:Choice>{drawing}</mc:Choice><mc:Fallback>{old}</mc:Fallback></mc:AlternateContent>"
    )
    assert word(par(run("Before") + f"<w:r>{both}</w:r>")).text == "Before\n\nIn a box"
    assert word(par(run("Before") + f"<w:r>{old}</w:r>")).text == "Before\n\nIn a box"


def test_notes_are_marked_and_follow_their_section(word) -> None:
    reference = '<w:r><w:rPr><w:rStyle w:val="Note"/></w:rPr><w:{}Reference w:id="{}"/></w:r>'
    body = (
        styled("berschrift1", "Fog")
        + par(run("Calloway") + reference.format("footnote", 2) + run(" wrote."))
        + styled("berschrift1", "Rain")
        + par(run("Iris") + reference.format("endnote", 2) + run(" read."))
    )
    found = word(
        body,
        footnotes=f'<w:footnote w:id="2">{par("<w:r><w:footnoteRef/></w:r>" + run(" In a letter."))}</w:footnote>',
        endnotes=f'<w:endnote w:id="2">{par("In a book.")}</w:endnote>',
    )
    assert (
        found.text == "# Fog\n\nCalloway [1] wrote.\n\n[1] In a letter.\n\n# Rain\n\nIris [2] read.\n\n[2] In a book."
    )


def math(content: str) -> str:
    return f"<m:oMath>{content}</m:oMath>"


def mrun(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (f"<m:f><m:num>{mrun('a')}</m:num><m:den>{mrun('b')}</m:den></m:f>", r"\frac{a}{b}"),
        (f"<m:sSup><m:e>{mrun('x')}</m:e><m:sup>{mrun('n+1')}</m:sup></m:sSup>", "x^{n+1}"),
        (f"<m:rad><m:radPr/><m:deg/><m:e>{mrun('x')}</m:e></m:rad>", r"\sqrt{x}"),
        (
            f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{mrun("i=1")}</m:sub><m:sup>{mrun("n")}</m:sup>'
            f"<m:e>{mrun('i')}</m:e></m:nary>",
            r"\sum_{i=1}^n i",
        ),
        (f"<m:nary><m:sub/><m:sup/><m:e>{mrun('f')}</m:e></m:nary>", r"\int f"),
        (
            f"<m:d><m:e><m:m><m:mr><m:e>{mrun('1')}</m:e><m:e>{mrun('2')}</m:e></m:mr><m:mr><m:e>{mrun('3')}</m:e>"
            f"<m:e>{mrun('4')}</m:e></m:mr></m:m></m:e></m:d>",
            r"(\begin{matrix} 1 & 2 \\ 3 & 4 \end{matrix})",
        ),
    ],
)
def test_formulas_stay_readable(word, formula: str, text: str) -> None:
    assert word(par(run("So ") + math(formula) + run(" holds."))).text == f"So {text} holds."


def test_raised_text_is_no_part_of_the_word_before(word) -> None:
    up, down = '<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>'
    body = par(run("10") + run("1", up) + run("2", up) + run(" H") + run("2", down) + run("O, Calloway") + run("3", up))
    assert word(body).text == "10^12 H2O, Calloway [3]"


def test_signs_of_symbol_fonts_are_known_or_left_out(word) -> None:
    signs = "".join(
        f'<w:r><w:sym w:font="{font}" w:char="{code}"/></w:r>'
        for font, code in (("Wingdings", "F0FE"), ("Symbol", "F061"), ("Symbol", "F0DA"), ("Arial", "0041"))
    )
    assert word(par(signs)).text == "☑α A"


def test_pictures_are_described_or_counted(word) -> None:
    picture = '<w:r><w:drawing><wp:docPr descr="{}"/><a:graphicData><pic:pic/></a:graphicData></w:drawing></w:r>'
    found = word(par(run("x") + picture.format("A quay in fog") + picture.format("") + picture.format("image1.png")))
    assert found.text == "x [Picture: A quay in fog]"
    assert found.losses == ("2 pictures without a description",)


def address(identifier: str, target: str) -> str:
    return f'<Relationship Id="{identifier}" Type="{RELATIONS}/hyperlink" Target="{target}" TargetMode="External"/>'


def link(attributes: str, content: str) -> str:
    return f"<w:hyperlink {attributes}>{content}</w:hyperlink>"


def test_links_lead_to_addresses_and_bookmarks(word) -> None:
    body = (
        styled("berschrift1", "Fog")
        + par(
            run("See ") + link('w:id="h1" w:anchor="Causes"', run("the ") + run("rain ", "<w:b/>"))
            + run("and") + link('w:anchor="_Toc1"', run(" page 2"))
            + link('w:id="h3"', run("mail")) + link('w:id="h9"', run(" nowhere "))
            + field('HYPERLINK "snow.docx" \\l "Deep snow" \\o "tip"', run("snow")) + run("2")
            + field('HYPERLINK \\o "tip"', run("tip")) + '<w:r><w:footnoteReference w:id="5"/></w:r>'
        )
        + f"<w:tbl>{row(cell('Port'), cell('Ships'))}"
        + row(cell("x").replace(run("x"), link('w:id="h1"', run("Hesk"))), cell("3"))
        + "</w:tbl>"
    )  # fmt: skip
    found = word(
        body,
        document_addresses=address("h1", "../rain%20one.docx") + address("h3", "mailto:ada@example.org"),
        footnotes='<w:footnote w:id="5">' + par(link('w:id="h1"', run("Source"))) + "</w:footnote>",
        footnotes_addresses=address("h1", "HTTPS://Example.org/a"),
    )
    assert found.text == (
        "# Fog\n\nSee the rain and page 2mail nowhere snow2tip [1]\n\n| Port | Ships |\n| Hesk | 3 |\n\n[1] Source"
    )
    folder = Path(found.source).parent
    assert [(found.text[one.start : one.end], one.target) for one in found.links] == [
        ("the rain", f"{folder.parent}/rain one.docx#Causes"),
        ("page 2", "#_Toc1"),
        ("snow", f"{folder}/snow.docx#Deep snow"),
        ("Hesk", f"{folder.parent}/rain one.docx"),
        ("Source", "https://example.org/a"),
    ]
