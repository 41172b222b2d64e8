"""Word documents."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from e2g_neo4j.documents.archives import parse_xml, unpack_markup
from e2g_neo4j.documents.builder import Builder
from e2g_neo4j.documents.formulas import local, write_formula
from e2g_neo4j.documents.inline import is_described, mark_superscript
from e2g_neo4j.documents.links import length, without_marks
from e2g_neo4j.documents.numbering import SIGNS, WINGDINGS, Numbering, Styles, child, integer, is_on, value
from e2g_neo4j.documents.reading import Limits, Reading, count
from e2g_neo4j.documents.tables import LONGEST_REPEATED, Cell, fill_grid, header_rows
from e2g_neo4j.documents.text import quote_path
from e2g_neo4j.errors import ReadingError

_THROUGH = frozenset(
    """
    ins moveTo smartTag sdtContent customXml hyperlink bdo dir rubyBase fldSimple Choice Fallback
    """.split()  # noqa: SIM905
)
"""Elements whose content is read as if they were not there."""

_SILENT = frozenset(("ASK", "INDEX", "MACROBUTTON", "PRINT", "PRIVATE", "RD", "SET", "TA", "TC", "XE", "HYPERLINK"))
"""Fields that need not show a text."""

_LINK_FIELD = re.compile(r'\s*HYPERLINK(?=\s+(?:"|\\))(?:\s+"([^"]*)")?(?:.*?\\l\s+"([^"]*)")?', re.I | re.S)

_LONGEST_CODE = 10_000
"""Characters of the code of a field that is read for a link."""


def read(path: Path, limits: Limits) -> Reading:
    """Read a Word document."""
    with zipfile.ZipFile(unpack_markup(path, limits.bytes)) as packed:
        parts = {name.lower(): name for name in packed.namelist()}

        def load(name: str | None) -> Any:
            return parse_xml(packed.read(parts[name.lower()])) if name and name.lower() in parts else None

        main = next(_targets(load("_rels/.rels"), "", "officeDocument"), "word/document.xml")
        tree = load(main)
        if tree is None or local(tree) != "document" or (body := child(tree, "body")) is None:
            raise ReadingError(
                f"{quote_path(path)} is no DOCX file: it has no text of one. Open it in Word and save it again."
            )
        relations = load(_relations_of(main))
        styles, numbers, notes, ends = (
            next(_targets(relations, posixpath.dirname(main), kind), "")
            for kind in ("styles", "numbering", "footnotes", "endnotes")
        )
        addresses = {
            kind: _addresses(load(_relations_of(part)))
            for kind, part in (("", main), ("footnoteReference", notes), ("endnoteReference", ends))
        }
        styles, numbers, notes, ends = map(load, (styles, numbers, notes, ends))
        core = load(next(_targets(load("_rels/.rels"), "", "core-properties"), None))
    builder = Builder(path, limits)
    notes_by_kind = {"footnoteReference": notes, "endnoteReference": ends}
    _Document(builder, Styles(styles), numbers, notes_by_kind, addresses).read(body)
    title = next(("".join(one.itertext()) for one in (() if core is None else core) if local(one) == "title"), "")
    return builder.build(builder.first_heading or title)


def _targets(relations: Any, folder: str, kind: str) -> Iterator[str]:
    """Yield the parts of the archive that relations of a kind lead to."""
    for one in () if relations is None else relations:
        if (value(one, "Type") or "").endswith(f"/{kind}"):
            yield posixpath.normpath(posixpath.join("/", folder, value(one, "Target") or ""))[1:]


def _relations_of(part: str) -> str:
    """Return the part of the archive that has the relations of another one."""
    folder, name = posixpath.split(part)
    return f"{folder}/_rels/{name}.rels"


def _addresses(relations: Any) -> dict[str | None, str]:
    """Return the targets of hyperlinks by the ids of their relations."""
    return {
        value(one, "Id"): value(one, "Target") or ""
        for one in (() if relations is None else relations)
        if (value(one, "Type") or "").endswith("/hyperlink")
    }


class _Document:
    """The state of reading: what belongs to a list, table or section that is not complete, and what is lost."""

    def __init__(
        self,
        builder: Builder,
        styles: Styles,
        numbers: Any,
        notes: dict[str, Any],
        addresses: dict[str, dict[str | None, str]],
    ) -> None:
        self.builder, self.styles, self.numbering = builder, styles, Numbering(numbers, styles)
        self.note_texts = {
            (kind, value(one, "id")): one for kind, tree in notes.items() for one in (() if tree is None else tree)
        }
        self.addresses_by_part = addresses
        self.addresses = addresses[""]
        self.noted: list[tuple[int, tuple[str, str | None]]] = []
        self.notes = 0
        self.lines: list[str] = []
        self.caption = ""
        self.cell: list[str] | None = None
        self.fields: list[dict[str, Any]] = []
        self.boxes: list[Any] = []
        self.pieces: list[str] = []
        self.raised: list[str] = []
        self.raising: str | None = None
        self.puts = 0
        self.in_struck = False
        self.lost: dict[str, int] = dict.fromkeys(("deleted", "struck", "field", "comment", "picture", "object"), 0)

    def read(self, body: Any) -> None:
        self._blocks(body)
        self._end_section()
        for what, one, rest in (
            ("deleted", "deleted passage", "left out"),
            ("struck", "struck passage", "left out"),
            ("field", "field", "without a result; update the fields in Word"),
            ("comment", "comment", "left out"),
            ("picture", "picture", "without a description"),
            ("object", "chart or embedded object", "left out"),
        ):
            many = "charts or embedded objects" if what == "object" else None
            self.builder.losses += count(self.lost[what], one, rest, many)

    # --- blocks ---

    def _blocks(self, container: Any) -> None:
        for element in container:
            name = local(element)
            if name == "p":
                self._paragraph(element)
            elif name == "tbl":
                self._table(element)
            elif name == "oMathPara":
                self._emit(write_formula(element))
            elif name == "sdt":
                self._blocks(_content(element))
            elif name == "AlternateContent":
                self._blocks(_choice(element))
            elif name in _THROUGH:
                self._blocks(element)
            elif name == "altChunk":
                self.lost["object"] += 1

    def _paragraph(self, element: Any) -> None:
        properties = child(element, "pPr")
        outer, self.pieces = self.pieces, []
        boxes, self.boxes = self.boxes, []
        self._inline(element)
        self._lower()
        lines = [" ".join(one.split()) for one in "".join(self.pieces).split("\n")]
        text = "\n".join(filter(None, lines))
        self.pieces, boxes, self.boxes = outer, self.boxes, boxes
        if text:
            label = self.numbering.label(properties)
            level = self.styles.level(properties) if self.cell is None else None
            if level is not None:
                self._end_section()
                heading = " ".join(text.split("\n"))
                self.builder.heading(f"{label[0]} {heading}" if label and label[0] != "-" else heading, max(level, 1))
            elif label is not None and label[0]:
                self._emit(text, f"{'  ' * label[1]}{label[0]} ")
            elif self.cell is None and self.styles.is_caption(properties):
                self._end_lines()
                self.caption = text
            else:
                self._emit(text)
        for box in boxes:
            self._blocks(box)

    def _emit(self, text: str, mark: str = "") -> None:
        if self.cell is not None:
            self.cell.append(f"{mark.strip()} {text}".strip(" -").replace("\n", " "))
        elif mark:
            self._end_caption()
            self.lines.append(mark + text.replace("\n", f"\n{' ' * len(mark)}"))
        else:
            self._end_lines()
            self.builder.add(text)

    def _end_caption(self) -> None:
        caption, self.caption = self.caption, ""
        self.builder.add(caption)

    def _end_lines(self) -> None:
        self._end_caption()
        lines, self.lines = self.lines, []
        self.builder.add("\n".join(lines))

    def _end_section(self) -> None:
        """End what is before a heading, with the notes to it."""
        self._end_lines()
        while self.noted and self.cell is None:
            noted, self.noted = self.noted, []
            for number, key in noted:
                self.cell, self.addresses = [], self.addresses_by_part[key[0]]
                self._blocks(self.note_texts.get(key, ()))
                paragraphs, self.cell = self.cell, None
                self.addresses = self.addresses_by_part[""]
                self.builder.add(f"[{number}] {' '.join(paragraphs)}")

    # --- tables ---

    def _table(self, element: Any) -> None:
        rows = list(_within(element, "tr"))
        widest = max((sum(1 for _ in _within(row, "tc")) for row in rows), default=0)
        if self.cell is not None or widest <= 1:  # in another table, or for the layout
            for cell in (cell for row in rows for cell in _within(row, "tc")):
                self._blocks(cell)
            return
        caption, self.caption = self.caption, ""
        self._end_lines()
        found: list[list[Cell]] = []
        marked: list[bool] = []
        above: dict[int, str] = {}
        for row in rows:
            properties = child(row, "trPr")
            if child(properties, "del") is not None:
                self.lost["deleted"] += 1
                continue
            marked.append(is_on(child(properties, "tblHeader")))
            found.append(list(self._cells(row, integer(child(properties, "gridBefore")), above)))
        headers = header_rows([[text for text, *_ in row] for row in found], marked)
        self.builder.table(fill_grid(found), caption, headers)

    def _cells(self, row: Any, before: int, above: dict[int, str]) -> Iterator[Cell]:
        """Yield the cells of a row. `above` has the texts of merged cells above, by column."""
        if before > 0:
            yield "", before, 1
        column = before
        for element in _within(row, "tc"):
            properties = child(element, "tcPr")
            across = max(1, integer(child(properties, "gridSpan"), default=1))
            merged = child(properties, "vMerge")
            self.cell = []
            self._blocks(element)
            text, self.cell = "; ".join(filter(None, self.cell)), None
            if merged is None:
                above.pop(column, None)
            elif value(merged) == "restart":
                above[column] = text if length(text) <= LONGEST_REPEATED else ""
            else:
                text = text or above.get(column, "")
            yield text, across, 1
            column += across

    # --- runs ---

    def _inline(self, container: Any) -> None:
        for element in container:
            name = local(element)
            if name == "r":
                self._run(element)
            elif name == "fldSimple":
                before = self.puts
                self._inline(element)
                if before == self.puts:
                    self._miss_field(value(element, "instr") or "")
            elif name == "hyperlink":
                begin = self._begin_link()
                self._inline(element)
                anchor = value(element, "anchor")
                address = self.addresses.get(value(element, "id"), "")
                self._end_link(begin, f"{address}#{anchor}" if anchor else address)
            elif name in _THROUGH:
                self._inline(element)
            elif name == "sdt":
                self._inline(_content(element))
            elif name in ("oMath", "oMathPara"):
                self._put(f" {write_formula(element)} ")
            elif name == "del":
                self.lost["deleted"] += any(
                    (one.text or "").strip() for one in element.iter() if local(one) == "delText"
                )
            elif name == "AlternateContent":
                self._inline(_choice(element))

    def _begin_link(self) -> int | None:
        """Return where the text of a link begins in the paragraph; None if that is raised, as the mark of a note is."""
        return None if self.raised else len(self.pieces)

    def _end_link(self, begin: int | None, target: str) -> None:
        if begin is not None and not self.raised:
            self.pieces[begin:] = self.builder.links.mark_pieces(self.pieces[begin:], target)

    def _run(self, run: Any) -> None:
        properties = child(run, "rPr")
        style = value(child(properties, "rStyle"))

        def find(key: str) -> Any:
            return self.styles.find(properties, "rPr", style, key)

        if is_on(find("vanish")):
            return
        if is_on(find("strike")) or is_on(find("dstrike")):
            is_struck = any((one.text or "").strip() for one in run if local(one) == "t")
            self.lost["struck"] += is_struck and not self.in_struck  # runs that follow each other are one passage
            self.in_struck |= is_struck
            return
        self.in_struck = False
        raising = value(find("vertAlign"))
        for element in run:
            self._piece(element, raising)

    def _piece(self, element: Any, raising: str | None) -> None:
        name = local(element)
        if name == "fldChar":
            self._field(element)
        elif name == "instrText":
            if self.fields:
                self.fields[-1]["code"] += element.text or ""
        elif any(not one["shown"] for one in self.fields):
            pass  # the code of a field
        elif name == "t":
            self._put(element.text or "", raising)
        elif name in ("tab", "ptab"):
            self._put(" ")
        elif name in ("br", "cr"):
            self._put("\n")
        elif name == "noBreakHyphen":
            self._put("-", raising)
        elif name == "sym":
            code = int(value(element, "char") or "20", 16) % 0xF000
            font = (value(element, "font") or "").lower()
            if font in SIGNS or font.startswith("wingdings"):
                self._put(SIGNS.get(font, WINGDINGS).get(code, " "))
            else:
                self._put(chr(code) if 32 <= code < 0xD800 else " ")
        elif name in ("footnoteReference", "endnoteReference"):
            self.notes += 1
            self.noted.append((self.notes, (name, value(element, "id"))))
            self._put(f" [{self.notes}]")
        elif name == "commentReference":
            self.lost["comment"] += 1
        elif name == "ruby":
            for one in element:
                self._inline(one)
        elif name == "AlternateContent":
            for one in _choice(element):
                self._piece(one, raising)
        elif name in ("drawing", "pict", "object"):
            self._take_drawing(element, name)

    def _take_drawing(self, element: Any, name: str) -> None:
        """Take the texts of a drawing, and the description of a picture. Nothing in a text box is looked at twice."""
        boxes = len(self.boxes)
        described, pictures, objects = "", 0, int(name == "object")
        todo = [element]
        while todo:
            one = todo.pop()
            kind = local(one)
            if kind == "txbxContent":
                self.boxes.append(one)
                continue
            if kind in ("docPr", "shape", "cNvPr") and not described:
                described = value(one, "descr") or value(one, "alt") or ""
            pictures += kind in ("pic", "imagedata")
            objects += kind == "graphicData" and (value(one, "uri") or "").endswith(("/chart", "/diagram", "/chartex"))
            todo += reversed(_choice(one) if kind == "AlternateContent" else list(one))
        self.puts += 1
        described = " ".join(described.split())
        if is_described(described):
            self._put(f" [Picture: {described[:500]}] ")
        elif objects:
            self.lost["object"] += 1
        elif pictures and boxes == len(self.boxes):
            self.lost["picture"] += 1

    def _field(self, element: Any) -> None:
        kind = value(element, "fldCharType")
        if kind == "begin":
            self.fields.append({"code": "", "shown": False, "at": 0, "form": child(element, "ffData")})
        elif kind == "separate" and self.fields:
            self.fields[-1] |= {"shown": True, "at": self.puts, "of": self.pieces, "begin": self._begin_link()}
        elif kind == "end" and self.fields:
            one = self.fields.pop()
            if one.get("of") is self.pieces and (link := _LINK_FIELD.match(one["code"][:_LONGEST_CODE])):
                self._end_link(one["begin"], f"{link[1] or ''}#{link[2]}" if link[2] else link[1] or "")
            if all(outer["shown"] for outer in self.fields) and not (one["shown"] and one["at"] != self.puts):
                self._miss_field(one["code"], one["form"])

    def _miss_field(self, code: str, form: Any = None) -> None:
        if (box := child(form, "checkBox")) is not None:
            checked = child(box, "checked")
            self._put("☒" if is_on(checked if checked is not None else child(box, "default")) else "☐")
        elif (entries := child(form, "ddList")) is not None:
            texts = [value(one) or "" for one in entries if local(one) == "listEntry"]
            chosen = integer(child(entries, "result"), default=integer(child(entries, "default")))
            self._put(texts[chosen] if 0 <= chosen < len(texts) else "")
        elif code.split() and code.split()[0].upper() not in _SILENT | {"FORMTEXT", "FORMCHECKBOX", "FORMDROPDOWN"}:
            self.lost["field"] += 1

    def _put(self, text: str, raising: str | None = None) -> None:
        self.puts += bool(text.strip())
        raising = raising if raising in ("superscript", "subscript") else None
        if raising != self.raising:
            self._lower()
            self.raising = raising
        (self.raised if raising else self.pieces).append(text.replace("\xad", ""))

    def _lower(self) -> None:
        """End raised or lowered text."""
        text, self.raised = "".join(self.raised), []
        if text:
            before = without_marks("".join(self.pieces[-4:]))[-20:]
            is_index = self.raising == "subscript" and not text.strip().isdigit() and text.strip()
            self.pieces.append(
                mark_superscript(text, before)
                if self.raising == "superscript"
                else f"_{text.strip()}"
                if is_index
                else text
            )
        self.raising = None


def _content(control: Any) -> Any:
    """Return what a content control holds, unless that only says what to fill in."""
    if is_on(child(control, "sdtPr", "showingPlcHdr")):
        return ()
    return child(control, "sdtContent") if child(control, "sdtContent") is not None else ()


def _choice(alternatives: Any) -> list[Any]:
    """Return the content of the first of several alternatives."""
    found = child(alternatives, "Choice")
    found = child(alternatives, "Fallback") if found is None else found
    return [] if found is None else list(found)


def _within(container: Any, name: str) -> Iterator[Any]:
    """Yield the rows of a table, or the cells of a row, also those in content controls."""
    for element in container:
        if local(element) == name:
            yield element
        elif local(element) == "sdt":
            yield from _within(child(element, "sdtContent") if child(element, "sdtContent") is not None else (), name)
        elif local(element) in _THROUGH:
            yield from _within(element, name)
