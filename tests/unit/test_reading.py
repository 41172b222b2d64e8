"""Every kind of file that is read, everything that is wrong with files, and readers that meet noise."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import warnings
import zipfile
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any

import docx
import pytest
from fpdf import FPDF
from hostile_files import packed_page
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from e2g_neo4j.documents import files
from e2g_neo4j.documents.files import (
    MAX_BAD_PARTS,
    ReadingReport,
    find,
    from_text,
    read,
    read_all,
    read_files,
)
from e2g_neo4j.documents.formats import SUFFIXES
from e2g_neo4j.documents.processes import read_file
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.errors import ReadingError
from e2g_neo4j.types.documents import Section, SourceDocument

MIB = 2**20

ONE_MIB = Limits(MIB)


def written(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def refused(path: Path, *words: str, limit: int = MIB) -> str:
    """The message of the error that reading a file must end with; it names the file and each of `words`."""
    with pytest.raises(ReadingError) as caught:
        read_all(path, "c", Limits(limit))
    message = str(caught.value)
    for word in (path.name, *words):
        assert word in message
    assert "\n" not in message
    return message


def marks(document: SourceDocument, kind: str = "heading") -> list[tuple[str, str]]:
    """Label of each section, and the line that it begins at."""
    text = document.text
    return [(one.label, text[one.start :].split("\n", 1)[0]) for one in document.sections if one.kind == kind]


# --- which files -------------------------------------------------------------------------------------


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    for name in ("b.txt", "a.md", "deep/er/c.HTML", "deep/d.dat", ".hidden.txt", ".git/e.txt", "deep/rows.jsonl"):
        written(tmp_path / name, "text")
    return tmp_path


def names(files: list[Path], root: Path) -> list[str]:
    return [file.relative_to(root).as_posix() for file in files]


def test_a_folder_gives_the_known_files_below_it_in_order(shelf: Path) -> None:
    assert names(find([shelf]), shelf) == ["a.md", "b.txt", "deep/er/c.HTML"]


def test_a_glob_gives_files_and_what_is_below_folders(shelf: Path) -> None:
    assert names(find([f"{shelf}/*"]), shelf) == ["a.md", "b.txt", "deep/er/c.HTML"]
    assert names(find([f"{shelf}/*.txt"]), shelf) == ["b.txt"]
    assert names(find([f"{shelf}/**/*.HTML"]), shelf) == ["deep/er/c.HTML"]


def test_a_file_comes_once_however_it_is_reached(shelf: Path) -> None:
    (shelf / "link.txt").symlink_to(shelf / "b.txt")
    found = find([shelf / "b.txt", shelf, f"{shelf}/b*", shelf / "deep" / ".." / "b.txt"])
    assert sorted(file.resolve().name for file in found) == ["a.md", "b.txt", "c.HTML"]


def test_one_path_need_not_be_wrapped(shelf: Path) -> None:
    assert find(str(shelf / "b.txt")) == find(shelf / "b.txt") == [shelf / "b.txt"]


def test_home_is_expanded(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(shelf))
    monkeypatch.setenv("USERPROFILE", str(shelf))
    assert find(["~/b.txt", "~/*.md"]) == [shelf / "a.md", shelf / "b.txt"]


def test_a_name_with_signs_of_a_glob_is_a_name_first(tmp_path: Path) -> None:
    odd = written(tmp_path / "notes [1] `\"'*.txt", "text")
    assert find([odd]) == [odd]
    assert read(odd, "c", ONE_MIB).source == str(odd)


def test_json_lines_are_read_when_named_and_left_out_of_folders(shelf: Path) -> None:
    assert names(find([shelf / "deep" / "rows.jsonl"]), shelf) == ["deep/rows.jsonl"]
    with pytest.raises(ReadingError, match=r"rows contains no documents.*\.jsonl files themselves"):
        find([written(shelf / "rows" / "r.jsonl", "{}").parent])


@pytest.mark.parametrize(
    ("given_path", "message"),
    [
        ("missing.txt", r"missing\.txt does not exist"),
        ("", "'' does not exist"),
        ("bad\0name.txt", "does not exist|cannot be read"),
        ("x" * 5000, "does not exist|cannot be read"),
        ("deep/*.dat", r"\*\.dat contains no documents.*\.txt"),
        ("no/*/match", "match contains no documents"),
        ("deep/d.dat", r"d\.dat has an unsupported file type.*\.epub"),
        ("~nobody_of_this_name/x.txt", "nobody_of_this_name"),
        ("empty", "empty contains no documents"),
    ],
)
def test_a_path_that_gives_nothing_is_named(
    shelf: Path, monkeypatch: pytest.MonkeyPatch, given_path: str, message: str
) -> None:
    monkeypatch.chdir(shelf)
    (shelf / "empty").mkdir()
    with pytest.raises(ReadingError, match=message):
        find(["b.txt", given_path])


def test_no_path_at_all_is_an_error() -> None:
    with pytest.raises(ReadingError, match="nothing to read"):
        find([])


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(ReadingError, match=r"pipe\.txt is not a file"):
        find([tmp_path / "pipe.txt"])
    refused(tmp_path / "pipe.txt", "not a file")
    refused(tmp_path / "gone.txt", "does not exist")
    (tmp_path / "circle.txt").symlink_to(tmp_path / "circle.txt")
    with pytest.raises(ReadingError, match=r"circle\.txt"):
        find([tmp_path / "circle.txt"])


def test_a_file_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    try:
        with open(odd, "wb") as file:  # noqa: PTH123
            file.write(b"text")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    with pytest.raises(ReadingError, match="cannot be written as UTF-8") as caught:
        find([tmp_path])
    str(caught.value).encode("utf-8")


# --- good files beside bad ones ----------------------------------------------------------------------


def test_good_files_are_read_beside_bad_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad: dict[str, str | bytes] = {
        "empty.txt": "",
        "odd.md": bytes(range(128, 256)),
        "broken.pdf": "%PDF-1.4 broken",
        "gone.txt": "x",
        "secret.txt": "x",
        "line\nend.txt": " ",
    }
    for name, content in bad.items():
        written(tmp_path / name, content)
    written(tmp_path / "good.txt", "Good.")
    written(tmp_path / "deep/better.md", "Better.")
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "secret.txt" and access(path, mode))
    monkeypatch.setattr(files, "find", vanishing := Vanishing(tmp_path / "gone.txt"))
    report = ReadingReport()
    paths: list[str | Path] = [tmp_path, tmp_path / "no.txt", f"{tmp_path}/no*.md"]
    documents = read_files(paths, lambda path, noted: read_file(path, "c", ONE_MIB, report=noted), report)
    assert vanishing.done
    assert sorted(one.text for one in documents) == ["Better.", "Good."]
    assert sorted(report.failed) == sorted(
        [*(str(tmp_path / name) for name in bad if "\n" not in name), repr(str(tmp_path / "line\nend.txt")),
         str(tmp_path / "no.txt"), f"{tmp_path}/no*.md"]
    )  # fmt: skip
    assert all(what in why for what, why in report.failed.items())
    report.check(strict=False, read=True)
    for strict, read_some in ((True, True), (False, False)):
        with pytest.raises(ReadingError) as caught:
            report.check(strict=strict, read=read_some)
        assert all(why in str(caught.value) for why in report.failed.values())
        assert "\n" not in str(caught.value)


class Vanishing:
    """Find files, one of which is removed before it is read."""

    def __init__(self, file: Path) -> None:
        self.file, self.done = file, False

    def __call__(self, *arguments: Any) -> list[Path]:
        found = find(*arguments)
        self.file.unlink()
        self.done = True
        return found


def test_good_lines_are_read_beside_bad_ones(tmp_path: Path) -> None:
    good = '{"text": "One.", "author": "x", "year": 1}'
    long = '{"text": "' + "x" * 500_000 + '"}'
    path = written(
        tmp_path / "rows.jsonl", "\n".join([good, "nonsense", long, "", '{"text": "Two.", "id": "b"}', "[]"])
    )
    report = ReadingReport()
    documents = read_all(path, "c", Limits(1000), report)
    assert [one.source for one in documents] == [f"{path}#1", f"{path}#b"]
    assert list(report.failed) == [f"{path}, line {number}" for number in (2, 3, 6)]
    assert all(why.startswith(what) for what, why in report.failed.items())
    assert documents[0].properties == {"author": "x", "year": 1}


def test_bad_lines_are_counted_when_they_are_many(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.jsonl", "nonsense\n" * 5000 + '{"text": "One."}')
    report = ReadingReport()
    assert len(read_all(path, "c", ONE_MIB, report)) == 1
    assert len(report.failed) == MAX_BAD_PARTS + 1
    assert "4980 more documents" in list(report.failed.values())[-1]
    assert not report.warnings
    with pytest.raises(ReadingError, match=r"line 1 .*line 20 .*4980 more documents"):
        read_all(written(path, "nonsense\n" * 5000), "c", ONE_MIB, ReadingReport())


# --- text and Markdown -------------------------------------------------------------------------------

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\r\t #`"), max_size=300)


@pytest.mark.parametrize("suffix", [".txt", ".md", ".TXT"])
@given(text=WORDS)
@example("one\r\ntwo\rthree\n\u2028four\x85")
@example("\ufeff\ufeffmarks")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_text_is_taken_as_it_is(tmp_path: Path, suffix: str, text: str) -> None:
    path = written(tmp_path / f"text{suffix}", text)
    expected = path.read_text(encoding="utf-8").removeprefix("\ufeff")
    try:
        document = read(path, "c", ONE_MIB)
    except ReadingError as error:
        assert "empty" in str(error)  # noqa: PT017
        assert not any(one.isalnum() for one in expected)
        return
    assert document.text == expected
    assert document.links or document.sha256 == sha256(expected.encode("utf-8")).hexdigest()
    assert all(0 <= section.start < len(expected) for section in document.sections)


@given(text=WORDS.filter(lambda text: any(one.isalnum() for one in text)))
@settings(max_examples=60)
def test_text_of_the_caller_stays_as_it_is(text: str) -> None:
    document = from_text(text, corpus="c", source="mail:1")
    assert document.text == text
    assert document.title


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_byte_order_mark_names_the_encoding_and_is_dropped(tmp_path: Path, encoding: str) -> None:
    text = "Zoë said:\nnaïve \U0001f600"
    mark = "" if encoding in ("utf-8-sig", "utf-16") else "\ufeff"
    assert read(written(tmp_path / "a.txt", (mark + text).encode(encoding)), "c", ONE_MIB).text == text


def test_an_unknown_encoding_is_named_with_the_place_and_the_way_out(tmp_path: Path) -> None:
    path = written(tmp_path / "it's a café.txt", b"na" + bytes(range(239, 127, -1)))
    message = refused(path, "UTF-8", "0xef", "offset 2", "iconv -f", "-t UTF-8")
    assert str(path).replace("'", "'\"'\"'") in message  # quoted for a shell
    refused(written(tmp_path / "odd.txt", b"\xff\xfea\0b"), "UTF-16")


@pytest.mark.parametrize(
    "content",
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"MZ\x90\0\x03", b"text\0text", bytes(range(256)), b"\x01\x02\x03abc",
     "sixteen\0".encode("utf-16-le")],
)  # fmt: skip
@pytest.mark.parametrize("suffix", [".txt", ".md", ".html"])
def test_binary_content_is_called_so(tmp_path: Path, content: bytes, suffix: str) -> None:
    refused(written(tmp_path / f"a{suffix}", content), "binary")


@pytest.mark.parametrize("content", ["", " \n\t\r\n", "\ufeff", "\u200b\u200b\n"])
@pytest.mark.parametrize("suffix", [".txt", ".md", ".html"])
def test_a_file_without_text_is_called_empty(tmp_path: Path, content: str, suffix: str) -> None:
    refused(written(tmp_path / f"a{suffix}", content), "empty")


def test_a_large_text_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.truncate(5 * 2**40)  # sparse: five tebibytes that take no room
    refused(path, "5,242,880.0 MiB", "limit of 1", "E2G_MAX_DOCUMENT_MB")


def test_the_limit_itself_is_allowed(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", "é" * 50)
    assert len(read(path, "c", Limits(100)).text) == 50
    refused(path, "E2G_MAX_DOCUMENT_MB", limit=99)
    with pytest.raises(ReadingError, match="E2G_MAX_DOCUMENT_MB"):
        from_text("é" * 50, corpus="c", source="s", max_bytes=99)


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "secret.txt", "text")
    path.chmod(0)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read whatever its mode says
    refused(path, "permissions")


# --- who a document is -------------------------------------------------------------------------------


def test_identity_is_of_corpus_and_source(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", "one")
    first = read(path, "c", ONE_MIB)
    assert re.fullmatch("[0-9a-f]{16}", first.id)
    assert first.source == str(path.resolve())
    again = read(written(path, "two"), "c", ONE_MIB)
    assert (again.id, again.sha256 == first.sha256) == (first.id, False)
    assert read(path, "d", ONE_MIB).id != first.id
    joined = [from_text("t", corpus=corpus, source=source).id for corpus, source in (("a", "bc"), ("ab", "c"))]
    assert len(set(joined)) == 2


def test_a_link_is_its_target(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", "one")
    (tmp_path / "link.txt").symlink_to(path)
    assert read(tmp_path / "link.txt", "c", ONE_MIB).id == read(path, "c", ONE_MIB).id


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("345_dracula.txt", "Dracula"),
        ("1342_pride_and_prejudice.txt", "Pride and prejudice"),
        ("1984.txt", "1984"),
        ("2022_Q3_report.txt", "2022 Q3 report"),
        ("2024_05_01.txt", "2024 05 01"),
        ("Already Fine.txt", "Already Fine"),
        ("two-words.txt", "Two words"),
        ("iPhone.txt", "iPhone"),
        ("__.txt", "__.txt"),
    ],
)
def test_a_title_is_made_from_the_name(tmp_path: Path, name: str, title: str) -> None:
    assert read(written(tmp_path / name, "text"), "c", ONE_MIB).title == title


def test_half_a_surrogate_pair_goes_nowhere(tmp_path: Path) -> None:
    for text, source, title in (("a\ud800", "s", "t"), ("a", "s\udc80", "t"), ("a", "s", "t\ud800")):
        with pytest.raises(ReadingError, match="surrogate"):
            from_text(text, corpus="c", source=source, title=title)
    refused(written(tmp_path / "a.jsonl", '{"text": "a\\ud800"}'), "line 1", "surrogate")


# --- headings ----------------------------------------------------------------------------------------

MARKDOWN = """\
Before

## Early
# The _Lamp_ Keeper #
text # not this
#nor this
    # nor this, indented as code
```python
# a comment
~~~
# still a comment
```
~~~ text
# quoted
~~~~
```inline``` is no fence
###### In C#
"""


def test_markdown_headings_become_sections(tmp_path: Path) -> None:
    document = read(written(tmp_path / "a.md", MARKDOWN), "c", ONE_MIB)
    assert marks(document) == [
        ("Early", "## Early"),
        ("The _Lamp_ Keeper", "# The _Lamp_ Keeper #"),
        ("In C#", "###### In C#"),
    ]
    assert document.title == "The _Lamp_ Keeper"


def test_a_first_chapter_is_no_title(tmp_path: Path) -> None:
    text = "# Chapter 1\n\ntext\n\n# Chapter 2\n\nmore"
    assert read(written(tmp_path / "my_book.md", text), "c", ONE_MIB).title == "My book"


@pytest.mark.parametrize(
    "line",
    ["CHAPTER IV", "Chapter 1", "CHAPTER I.", "Chapter 1. A Title", "CHAPTER XII--The Storm", "  CHAPTER TWENTY-ONE",
     "BOOK ONE", "Part 2: Home", "VOLUME II", "LETTER 3", "CHAP. IX.", "IX", "XIV.", "II. The Return",
     "CHAPTER II THE STORM"],
)  # fmt: skip
def test_chapters_of_plain_text_are_headings(tmp_path: Path, line: str) -> None:
    document = read(written(tmp_path / "a.txt", f"Before.\n\n{line}\n\nAfter."), "c", ONE_MIB)
    assert marks(document) == [(line.strip(), line.strip())]
    first = read(written(tmp_path / "b.txt", f"{line}\n\n\nAfter."), "c", ONE_MIB)
    assert [one.label for one in first.sections] == [line.strip()]


@pytest.mark.parametrize(
    "text",
    ["See\nChapter 4\n\nfor more", "Chapter 4\nis the one",
     "\n\nPart of the house fell.\n\n", "\n\nChapter and verse\n\n",
     "\n\nI had seen him\n\n", "\n\nChapter 3 was read to us by the fire\n\n", "Contents\nCHAPTER I\nCHAPTER II\n\n",
     "\n\n# no Markdown here\n\n", "\n\nParting 3\n\n", f"\n\nChapter 1. {'long ' * 30}\n\n"],
)  # fmt: skip
def test_sentences_of_plain_text_are_no_headings(tmp_path: Path, text: str) -> None:
    document = read(written(tmp_path / "a.txt", text + "words"), "c", ONE_MIB)
    labels = [one.label for one in document.sections]
    assert labels in ([], ["CHAPTER II"]) if "Contents" in text else labels == []


# --- HTML --------------------------------------------------------------------------------------------

PAGE = """<!doctype html><html><head><title>Lamps | Harbour Museum</title><style>p {{}}</style>{head}</head>
<body><h1>The Lamp</h1><p>Zoë met <b>Ada</b> at <a href="http://example.org/x">the_quay</a>.</p>
<script>track()</script><img src="data:image/png;base64,AAAA" alt="x"><h2>Later</h2><p>Rain &amp; fog.</p></body>
</html>"""


def test_html_becomes_markdown(tmp_path: Path) -> None:
    document = read(written(tmp_path / "a.html", PAGE.format(head="")), "c", ONE_MIB)
    assert marks(document) == [("The Lamp", "# The Lamp"), ("Later", "## Later")]
    assert "Zoë met Ada at the_quay." in document.text
    assert "Rain & fog." in document.text
    assert not re.search("track|base64|example.org", document.text)
    assert document.title == "The Lamp"
    bare = read(written(tmp_path / "b.htm", "<head><title>A\n page</title></head><body><p>words</body>"), "c", ONE_MIB)
    assert (bare.title, bare.text) == ("A page", "words")


def test_html_is_read_in_the_encoding_that_it_declares(tmp_path: Path) -> None:
    page = PAGE.format(head='<meta charset="iso-8859-1">').encode("latin-1")
    assert "Zoë" in read(written(tmp_path / "a.html", page), "c", ONE_MIB).text
    for head in ("", '<meta charset="utf-8">', '<meta charset="klingon">'):
        document = read(written(tmp_path / "b.html", PAGE.format(head=head).encode("latin-1")), "c", ONE_MIB)
        assert "Zoë" in document.text
        assert "windows-1252, which is a guess" in document.losses[0]


def test_html_with_open_tags_keeps_its_shape(tmp_path: Path) -> None:
    page = "<ul><li>one<li>two</ul><table><tr><td>left<td>right</table><p>a<p>b &lt; c"
    text = read_all(written(tmp_path / "open.html", page.encode()), "c", ONE_MIB)[0].text
    assert text.startswith("- one\n- two\n")
    assert "| left | right |" in text
    assert text.endswith("a\n\nb < c")


@pytest.mark.timeout(60)
def test_broken_markup_takes_no_square_of_the_time(tmp_path: Path) -> None:
    page = written(tmp_path / "broken.html", b"<p>Ada wrote.</p>" + b"<![CDATA[" * 100_000)
    assert read_all(page, "c", ONE_MIB)[0].text == "Ada wrote."


def test_html_nested_too_deep_for_markdown_is_read_still(tmp_path: Path) -> None:
    page = "<div>" * 3000 + "deep water" + "</div>" * 3000
    assert read(written(tmp_path / "a.html", page), "c", ONE_MIB).text == "deep water"


# --- PDF ---------------------------------------------------------------------------------------------


def pdf(path: Path, pages: list[str], password: str | None = None) -> Path:
    made = FPDF()
    made.set_font("helvetica", size=12)
    for page in pages:
        made.add_page()
        if page:
            made.multi_cell(0, 8, page)
        else:
            made.line(10, 10, 90, 90)
    if password:
        made.set_encryption("owner", password)
    made.output(str(path))
    return path


def test_pdf_pages_become_sections(tmp_path: Path) -> None:
    document = read(pdf(tmp_path / "a.pdf", ["Ada wrote.", "", "Chapter 2. Fog\n\nIris read."]), "c", ONE_MIB)
    assert marks(document, "page") == [("1", "Ada wrote."), ("3", "Chapter 2. Fog")]
    assert marks(document) == [("Chapter 2. Fog", "Chapter 2. Fog")]
    assert document.text.split() == ["Ada", "wrote.", "Chapter", "2.", "Fog", "Iris", "read."]
    assert [one.start for one in document.sections] == sorted(one.start for one in document.sections)


def test_a_pdf_of_pictures_points_to_ocr(tmp_path: Path) -> None:
    refused(pdf(tmp_path / "scan.pdf", ["", ""]), "PDF without text", "OCR")


def test_an_encrypted_pdf_is_called_so(tmp_path: Path) -> None:
    refused(pdf(tmp_path / "locked.pdf", ["secret"], password="word"), "encrypted PDF", "password")


def test_a_broken_pdf_is_called_so(tmp_path: Path) -> None:
    whole = pdf(tmp_path / "a.pdf", ["text"]).read_bytes()
    refused(written(tmp_path / "empty.pdf", b""), "PDF")
    refused(written(tmp_path / "noise.pdf", b"%PDF-1.4\nnonsense"), "PDF")
    refused(written(tmp_path / "half.pdf", whole[: len(whole) // 3]), "PDF")


@pytest.mark.timeout(60)
def test_a_pdf_whose_objects_refer_to_themselves_is_called_broken(tmp_path: Path) -> None:
    circle = b"%PDF-1.4\n1 0 obj\n2 0 R\nendobj\n2 0 obj\n1 0 R\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n"
    refused(written(tmp_path / "circle.pdf", circle), "PDF", "broken")


def test_the_text_of_a_pdf_is_held_to_the_limit(tmp_path: Path) -> None:
    refused(pdf(tmp_path / "long.pdf", ["words " * 200] * 3), "E2G_MAX_DOCUMENT_MB", limit=2000)


def packed_pdf(path: Path, content: bytes, filters: bytes = b"/FlateDecode") -> Path:
    return written(path, packed_page(content, filters))


def packed_text(number: int) -> bytes:
    return zlib.compress(b"BT /F 12 Tf 9 9 Td " + b"(fog) Tj " * number + b" ET")


def test_a_packed_pdf_is_read(tmp_path: Path) -> None:
    assert read(packed_pdf(tmp_path / "a.pdf", packed_text(2)), "c", ONE_MIB).text.strip() == "fogfog"
    twice = packed_pdf(tmp_path / "b.pdf", zlib.compress(packed_text(2)), b"/FlateDecode /FlateDecode")
    assert read(twice, "c", ONE_MIB).text.strip() == "fogfog"


def test_a_page_of_too_many_characters_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from e2g_neo4j.documents import pdf

    monkeypatch.setattr(pdf, "PAGE_CHARACTERS", 100)
    assert read(packed_pdf(tmp_path / "a.pdf", packed_text(33)), "c", ONE_MIB).text.strip() == "fog" * 33
    with pytest.raises(ReadingError, match=r"b\.pdf has a page of more than 100 characters"):
        read(packed_pdf(tmp_path / "b.pdf", packed_text(34)), "c", ONE_MIB)


# --- DOCX and EPUB -----------------------------------------------------------------------------------


def word(path: Path, title: str | None = "The Lamp") -> Path:
    made = docx.Document()
    if title:
        made.add_heading(title, 0)
    made.add_heading("Fog", 1)
    made.add_paragraph("Ada met ").add_run("Zoë").bold = True
    made.add_table(1, 2).cell(0, 1).text = "42 lamps"
    made.save(str(path))
    return path


def test_docx_keeps_headings_and_tables(tmp_path: Path) -> None:
    document = read(word(tmp_path / "a.docx"), "c", ONE_MIB)
    assert marks(document) == [("The Lamp", "# The Lamp"), ("Fog", "# Fog")]
    assert document.title == "The Lamp"
    assert "Ada met Zoë" in document.text
    assert "42 lamps" in document.text
    assert read(word(tmp_path / "b.docx", None), "c", ONE_MIB).title == "Fog"


CONTAINER = """<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">
<rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""
PACKAGE = """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata
xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Keeper</dc:title><dc:creator>A. Writer</dc:creator>
<dc:identifier>urn:isbn:1</dc:identifier></metadata>
<manifest><item id="two" href="two.xhtml" media-type="application/xhtml+xml"/><item id="one" href="one.xhtml"
media-type="application/xhtml+xml"/></manifest><spine><itemref idref="one"/><itemref idref="two"/></spine></package>"""
CHAPTER = """<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head>
<body><h1>{0}</h1><p>Text of {0}.</p></body></html>"""


def epub(path: Path, **more: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", CONTAINER)
        book.writestr("OEBPS/book.opf", PACKAGE)
        book.writestr("OEBPS/one.xhtml", CHAPTER.format("Fog"))
        book.writestr("OEBPS/two.xhtml", CHAPTER.format("Rain"))
        for name, content in more.items():
            book.writestr(name.replace("__", "/").replace("_", "."), content)
    return path


def test_epub_is_read_in_the_order_of_its_spine(tmp_path: Path) -> None:
    document = read(epub(tmp_path / "a.epub"), "c", ONE_MIB)
    assert document.title == "The Keeper"
    assert marks(document) == [("Fog", "# Fog"), ("Rain", "# Rain")]
    assert document.text.index("Text of Fog.") < document.text.index("Text of Rain.")


def test_epub_begins_with_its_title_and_without_its_number(tmp_path: Path) -> None:
    text = read(epub(tmp_path / "a.epub"), "c", ONE_MIB).text
    assert text.startswith("Title: The Keeper\n")
    assert "*" not in text
    assert "Identifier" not in text


def test_pictures_do_not_count_and_markup_does(tmp_path: Path) -> None:
    zeros = bytes(20 * MIB)
    assert "Fog" in read(epub(tmp_path / "pictures.epub", OEBPS__cover_jpg=zeros), "c", ONE_MIB).text
    bomb = epub(tmp_path / "bomb.epub", OEBPS__three_xhtml=zeros)
    assert bomb.stat().st_size < MIB // 8
    refused(bomb, "MiB", "E2G_MAX_DOCUMENT_MB")


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    laughs = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><a>&b;</a>'
    refused(epub(tmp_path / "a.epub", OEBPS__x_xml=laughs), "entities")


def test_a_locked_book_is_called_so(tmp_path: Path) -> None:
    path = tmp_path / "a.epub"
    locked = b'<encryption><CipherReference URI="OEBPS/one.xhtml"/></encryption>'
    refused(epub(path, **{"META-INF__encryption_xml": locked}), "protected")
    font = b'<encryption><CipherReference URI="OEBPS/font.otf"/></encryption>'
    assert read(epub(path, **{"META-INF__encryption_xml": font}), "c", ONE_MIB).title == "The Keeper"


@pytest.mark.parametrize("suffix", [".docx", ".epub"])
def test_broken_archives_are_called_so(tmp_path: Path, suffix: str) -> None:
    kind = suffix[1:].upper()
    whole = (word if suffix == ".docx" else epub)(tmp_path / f"a{suffix}").read_bytes()
    refused(written(tmp_path / f"text{suffix}", "just text"), kind, "save it again")
    refused(written(tmp_path / f"half{suffix}", whole[: len(whole) // 2]), kind, "save it again")
    refused(written(tmp_path / f"empty{suffix}", b""), kind)
    spoilt = whole[:60] + bytes(40) + whole[100:]
    refused(written(tmp_path / f"spoilt{suffix}", spoilt), kind)
    with zipfile.ZipFile(tmp_path / f"other{suffix}", "w") as other:
        other.writestr("readme.xml", "<a/>")
    refused(tmp_path / f"other{suffix}", kind)


# --- JSON Lines --------------------------------------------------------------------------------------


def test_json_lines_hold_a_document_a_line(tmp_path: Path) -> None:
    rows = [
        {"id": "a7", "title": "Fog\nbank", "text": "One.\u2028Two."},
        {"text": "Three.", "id": None},
        {"id": 9, "text": "4"},
    ]
    lines = "\ufeff" + "\r\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    path = written(tmp_path / "12_sea_notes.jsonl", lines)
    documents = read_all(path, "c", ONE_MIB)
    assert [one.text for one in documents] == ["Fog\nbank\n\nOne.\u2028Two.", "Three.", "4"], "a title heads the text"
    assert [one.source for one in documents] == [f"{path}#a7", f"{path}#3", f"{path}#9"]
    assert [one.title for one in documents] == ["Fog bank", "Sea notes 3", "Sea notes 9"]
    assert len({one.id for one in documents}) == 3


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("{", "not JSON"),
        ("[" * 50_000, "not JSON"),
        (b'{"text": "na\xefve"}', "UTF-8"),
        ('["text"]', '"text"'),
        ('{"body": "x"}', '"text"'),
        ('{"text": 5}', '"text"'),
        ('{"text": " "}', "empty"),
        ('{"text": "a\\u0000b"}', "binary"),
        ('{"text": "again", "id": "first"}', "id"),
        ('{"text": "' + "x" * 2000 + '"}', "E2G_MAX_DOCUMENT_MB"),
        ('{"text": "' + "x" * 200_000 + '"}', "E2G_MAX_DOCUMENT_MB"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str | bytes, word: str) -> None:
    encoded = line if isinstance(line, bytes) else line.encode()
    path = written(tmp_path / "a.jsonl", b'{"text": "fine", "id": "first"}\n' + encoded + b'\n{"text": "fine"}\n')
    refused(path, "line 2", word, limit=1000)


def test_json_lines_without_a_document_are_empty(tmp_path: Path) -> None:
    refused(written(tmp_path / "a.jsonl", "\n\n"), "empty")


# --- noise -------------------------------------------------------------------------------------------

STARTS = st.sampled_from(
    [b"", b"%PDF-1.7\n1 0 obj\n<<", b"PK\x03\x04", b"<html>", b"\xff\xfe", b"\xef\xbb\xbf", b'{"text": "']
)


@given(suffix=st.sampled_from(SUFFIXES), start=STARTS, noise=st.binary(max_size=400))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, deadline=None)
def test_noise_is_read_or_refused(tmp_path: Path, suffix: str, start: bytes, noise: bytes) -> None:
    check_whole(written(tmp_path / f"noise{suffix}", start + noise))


@pytest.mark.parametrize("suffix", [".pdf", ".docx", ".epub"])
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
def test_spoilt_files_are_read_or_refused(tmp_path: Path, suffix: str, data: st.DataObject) -> None:
    sample = tmp_path / f"sample{suffix}"
    if not sample.exists():
        {".pdf": lambda: pdf(sample, ["Ada wrote."]), ".docx": lambda: word(sample), ".epub": lambda: epub(sample)}[
            suffix
        ]()
    content = bytearray(sample.read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    check_whole(written(tmp_path / f"spoilt{suffix}", bytes(content)))


def check_whole(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nobody is bothered with warnings of a parser
        try:
            documents = read_all(path, "c", ONE_MIB)
        except ReadingError as error:
            assert path.name in str(error)  # noqa: PT017
            return
    for document in documents:
        assert document.text.strip()
        document.text.encode("utf-8")
        document.title.encode("utf-8")
        assert all(0 <= section.start < len(document.text) for section in document.sections)


def test_importing_the_reader_loads_no_parser() -> None:
    code = "import sys, e2g_neo4j.documents.files"
    code += "\nprint([m for m in ('charset_normalizer', 'lxml', 'pypdfium2', 'trafilatura') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *address, **_: asked.append(address))
    page = '<link rel="stylesheet" href="http://example.org/a.css"><img src="http://example.org/a.png"><p>words'
    assert "words" in read(written(tmp_path / "a.html", page), "c", ONE_MIB).text
    assert asked == []


def test_sections_are_values() -> None:
    document = from_text("CHAPTER I\n\nText", corpus="c", source="notes/12_sea.txt")
    assert document.sections == (Section("heading", "CHAPTER I", 0),)
    assert document.title == "Sea"
