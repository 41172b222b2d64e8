"""Tables, JSON, mail, notebooks, and texts with markup or front matter."""

from __future__ import annotations

import json
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from e2g_neo4j.documents.files import ReadingReport, read, read_all
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.errors import ReadingError
from e2g_neo4j.types.documents import SourceDocument

LIMITS = Limits(2**20)


def stored(path: Path, content: str | bytes) -> SourceDocument:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(path, "c", LIMITS)


def labels(document: SourceDocument) -> list[str]:
    """The headings, whose text starts where they say."""
    for one in document.sections:
        if one.kind == "heading":
            assert one.label.split()[0] in document.text[one.start :].partition("\n")[0]
    return [one.label for one in document.sections if one.kind == "heading"]


# --- tables ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'Port,Tide\n"Lantry, north",9\n'),
        ("a.csv", '\ufeffPort;Tide\r\n"Lantry, north";9\r\n'),
        ("a.csv", 'sep=;\nPort;Tide\n"Lantry, north";9\n'),
        ("a.csv", 'Port|Tide\n"Lantry, north"|9\n'),
        ("a.tsv", "Port\tTide\nLantry, north\t9\n"),
        ("a.csv", "Port;Tide\n\nLantry, north;9\n;\n"),
    ],
    ids=["comma", "semicolon", "declared", "bar", "tabulator", "empty"],
)
def test_a_table_is_read_whatever_its_delimiter(tmp_path: Path, name: str, content: str) -> None:
    document = stored(tmp_path / name, content)
    assert document.text == "| Port | Tide |\n| Lantry, north | 9 |"
    assert [(one.kind, one.start) for one in document.sections] == [("table", 0)]


def test_lines_before_a_table_are_no_header(tmp_path: Path) -> None:
    text = stored(tmp_path / "a.csv", "# by Ada\nTides of 1908,,\n,Port,Tide\n,Lantry,9\n").text
    assert text == "# by Ada\nTides of 1908\n\n| Port | Tide |\n| Lantry | 9 |"


# --- JSON ------------------------------------------------------------------------------------------------


def test_an_array_of_objects_with_text_is_several_documents(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"text": "One.", "id": "x", "year": 1908}, {"text": "Two.", "title": "T"}, {"n": 1}]))
    report = ReadingReport()
    first, second = read_all(path, "c", LIMITS, report)
    assert (first.text, first.source, dict(first.properties or {})) == ("One.", f"{path}#x", {"year": 1908})
    assert (second.text, second.title, second.source) == ("T\n\nTwo.", "T", f"{path}#2")
    assert list(report.failed) == [f"{path}, object 3"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([{"port": "Lantry", "tide": 9}, {"tide": 2.5, "port": None}], "| port | tide |\n| Lantry | 9 |\n|  | 2.5 |"),
        ([{"a": {"b": "x"}}, {"a": {"b": [1, 2]}}], "a.b: x\n\na.b: 1, 2"),
        ({"a": [{"b": "x"}, 3], "c": True, "d": None}, "a[1].b: x\na[2]: 3\nc: true"),
        (["fog", "rain"], "fog, rain"),
        ("fog", "fog"),
    ],
    ids=["records", "blocks", "object", "list", "text"],
)
def test_other_json_is_one_document(tmp_path: Path, value: Any, text: str) -> None:
    document = stored(tmp_path / "sea.json", json.dumps(value))
    assert (document.text, document.source, document.title) == (text, str(tmp_path / "sea.json"), "Sea")


def test_no_property_loses_a_document(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    row = {
        "text": "fog",
        "year": 1908,
        "none": None,
        "place": {"town": "Lantry", "at": {"lat": 1.5}},
        "mixed": [1, "a"],
        "kinds": ["a", None, "b"],
        "": "no name",
        "x" * 200: "long name",
        "long": "y" * 20_000,
        "big": 2**70,
        "properties": {"tags": ["sea"], "deep": [{"a": 1}]},
    }
    path.write_text(json.dumps(row))
    [document] = read_all(path, "c", LIMITS)
    assert dict(document.properties or {}) == {
        "year": 1908,
        "place.town": "Lantry",
        "place.at.lat": 1.5,
        "mixed": '[1, "a"]',
        "kinds": ("a", "b"),
        "tags": ("sea",),
        "deep": '[{"a": 1}]',
    }
    [loss] = document.losses
    assert loss.startswith("4 properties cannot be kept")


def test_properties_that_do_not_fit_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "fog"} | {f"n{number}": number for number in range(130)}))
    [document] = read_all(path, "c", LIMITS)
    assert len(document.properties or {}) == 100
    assert document.losses[0].startswith("30 properties")
    path.write_text(json.dumps({"text": "fog"} | {f"n{number}": "x" * 9_999 for number in range(8)}))
    [document] = read_all(path, "c", LIMITS)
    assert len(document.properties or {}) == 6


# --- front matter ----------------------------------------------------------------------------------------


def test_front_matter_is_title_and_properties_and_no_text(tmp_path: Path) -> None:
    front = "---\ntitle: The fog bank\ntags: [sea, trade]\ndate: 1908-02-01\nyear: 1908\nby:\n  name: Ada\n---\n"
    document = stored(tmp_path / "a.markdown", f"{front}\n# Fog\n\nAda wrote.\n")
    assert (document.title, document.text) == ("The fog bank", "# Fog\n\nAda wrote.\n")
    assert dict(document.properties or {}) == {
        "tags": ("sea", "trade"),
        "date": "1908-02-01",
        "year": 1908,
        "by.name": "Ada",
    }
    assert labels(document) == ["Fog"]


@pytest.mark.parametrize(
    "text",
    [
        "---\na: [\n---\nfog\n",
        "---\nJust a line.\n---\nfog\n",
        "---\na: &x [fog]\nb: [*x, *x]\n---\nfog\n",
        "---\na: 2024-13-45\n---\nfog\n",
        "---\nfog: never ends\n",
        "---\na: " + "[" * 5000 + "\n---\nfog\n",
        "---\na: " + "x" * 70_000 + "\n---\nfog\n",
        "---\na: !!timestamp fog\n---\nfog\n",
        "---\na: 1" + ":1" * 5000 + ".5\n---\nfog\n",
        "fog\n---\na: b\n---\n",
        "----\na: b\n---\n",
    ],
    ids=["broken", "line", "aliases", "date", "endless", "nested", "long", "instant", "sixties", "later", "rule"],
)
def test_what_is_no_front_matter_stays_text(tmp_path: Path, text: str) -> None:
    document = stored(tmp_path / "a.md", text)
    assert (document.text, document.properties) == (text, None)


def test_a_log_is_text(tmp_path: Path) -> None:
    assert stored(tmp_path / "a.log", "fog\n").text == "fog\n"


# --- mail ------------------------------------------------------------------------------------------------


def mail(
    text: str | None = "Ada wrote.", html: str | None = None, subject: str = "Der Nebel über Lantry"
) -> EmailMessage:
    message = EmailMessage()
    message["Subject"] = subject
    message["From"] = "Ada Özil <ada@example.org>"
    message["To"] = '"Quill, Theodora" <theo@example.org>, luke@example.org'
    message["Date"] = "Sat, 01 Feb 1908 12:00:00 +0100"
    message["Message-ID"] = "<a7@example.org>"
    if text is not None:
        message.set_content(text, cte="quoted-printable")
    if html is not None:
        (message.set_content if text is None else message.add_alternative)(html, subtype="html", charset="iso-8859-1")
    return message


def test_a_mail_says_who_wrote_to_whom(tmp_path: Path) -> None:
    message = mail("Grüße aus Lantry.\n")
    message.add_attachment(b"x", maintype="image", subtype="png", filename="Küste.png")
    document = stored(tmp_path / "a.eml", message.as_bytes())
    assert document.title == "Der Nebel über Lantry"
    assert document.source == str(tmp_path / "a.eml")
    assert document.text == (
        "# Der Nebel über Lantry\n\nFrom: Ada Özil <ada@example.org>\n"
        'To: "Quill, Theodora" <theo@example.org>, luke@example.org\nDate: Sat, 01 Feb 1908 12:00:00 +0100\n\n'
        "Grüße aus Lantry."
    )
    assert dict(document.properties or {}) == {
        "from": "Ada Özil <ada@example.org>",
        "to": ("Quill, Theodora <theo@example.org>", "luke@example.org"),
        "date": "1908-02-01T12:00:00+01:00",
    }
    assert document.losses == ("1 attachment not read (Küste.png)",)


def test_text_is_preferred_to_html_which_is_read_if_it_is_alone(tmp_path: Path) -> None:
    html = "<html><body><p>Caf\xe9 am <b>Quai</b></p></body></html>"
    assert stored(tmp_path / "a.eml", mail("Am Quai.", html).as_bytes()).text.endswith("\n\nAm Quai.")
    assert stored(tmp_path / "b.eml", mail(None, html).as_bytes()).text.endswith("\n\nCafé am Quai")


def test_forwarded_and_raw_mails_are_read(tmp_path: Path) -> None:
    outer = mail("See below.", subject="Fwd")
    outer.add_attachment(mail("The first one.", subject="Tides"))
    text = stored(tmp_path / "a.eml", outer.as_bytes()).text
    assert text.index("See below.") < text.index("Forwarded message:") < text.index("# Tides")
    assert text.endswith("The first one.")
    raw = "Subject: Über\nContent-Type: text/plain; charset=unknown-9\n\nÖl\n".encode()
    assert stored(tmp_path / "b.eml", raw).text == "# Über\n\nÖl"


def test_links_of_mails_lead_to_addresses(tmp_path: Path) -> None:
    html = '<p>See <a href="https://Example.org/fog">the fog</a> or <a href="mailto:ada@example.org">write</a>.</p>'
    document = stored(tmp_path / "a.eml", mail(None, html).as_bytes())
    found = [(document.text[one.start : one.end], one.target) for one in document.links]
    assert found == [("the fog", "https://example.org/fog")]


def test_each_message_of_a_mailbox_is_a_document(tmp_path: Path) -> None:
    path = tmp_path / "a.mbox"
    one = b"From ada@example.org Mon Jun 01 04:28:28 2009\n" + mail().as_bytes() + b"\n"
    empty = b"From ada@example.org Mon Jun 01 04:28:28 2009\n\n\n"
    path.write_bytes(one + one + empty)
    report = ReadingReport()
    documents = read_all(path, "c", LIMITS, report)
    assert [one.source for one in documents] == [f"{path}#a7@example.org", f"{path}#2"]
    assert list(report.failed) == [f"{path}, message 3"]
    assert {one.title for one in documents} == {"Der Nebel über Lantry"}


# --- notebooks -------------------------------------------------------------------------------------------


def test_a_notebook_is_its_text_its_code_and_what_it_printed(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Tides\n", "![](data:image/png;base64,AAAA) The [sea](sea.ipynb)."]},
        {
            "cell_type": "code",
            "source": "# no heading\nprint('fog')  # [x](y)",
            "outputs": [
                {"output_type": "stream", "text": ["\x1b[31mfog\x1b[0m\n"]},
                {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<Figure>"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "no tide"},
            ],
        },
    ]
    notebook = {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4}
    document = stored(tmp_path / "a.ipynb", json.dumps(notebook))
    assert document.title == "Tides"
    assert document.text == (
        "# Tides\n![]() The [sea](sea.ipynb).\n\n```python\n# no heading\nprint('fog')  # [x](y)\n```\n\n"
        "```\nfog\n```\n\n```\n<Figure>\n```\n\n```\nValueError: no tide\n```"
    )
    assert labels(document) == ["Tides"]
    assert document.losses == ("2 pictures not in the text",)
    assert [(document.text[one.start : one.end], one.target) for one in document.links] == [
        ("sea", str(tmp_path / "sea.ipynb"))
    ]


@pytest.mark.parametrize("content", ["[1]", '{"cells": 3}', '{"cells": [3]}', "fog", "{}"])
def test_what_is_no_notebook_is_told(tmp_path: Path, content: str) -> None:
    with pytest.raises(ReadingError, match=r"a\.ipynb is no notebook of Jupyter"):
        stored(tmp_path / "a.ipynb", content)


# --- texts with markup -----------------------------------------------------------------------------------


def test_titles_of_restructuredtext_are_headings(tmp_path: Path) -> None:
    text = (
        "=========\n The fog\n=========\n\nAda wrote.\n\n``Tides``\n---------\n\nLow ::\n\n  code\n  ----\n\n"
        "====  ====\nA     B\n"
    )
    document = stored(tmp_path / "a.rst", text)
    assert document.text == text
    assert labels(document) == ["The fog", "Tides"]
    assert document.title == "The fog"


def test_headlines_of_org_are_headings(tmp_path: Path) -> None:
    text = "#+TITLE: The fog bank\n* TODO Tides :sea:\nLow.\n** See [[https://example.org][the quay]]\n*bold* text\n"
    document = stored(tmp_path / "a.org", text)
    assert (document.text, document.title) == (text, "The fog bank")
    assert labels(document) == ["Tides", "See the quay"]


def test_latex_keeps_text_and_formulas(tmp_path: Path) -> None:
    source = r"""\documentclass{article}
\title{The \emph{fog} bank}
\begin{document}
\maketitle
\section{Tides \label{s}}
\label{sec:tides}
% a comment
The caf\'e of M\"uller~\& Co.\ is 50\% \textbf{open \emph{late}} % another
at $x^2 \le 3$.
\begin{itemize}
\item Lamps
\end{itemize}
\includegraphics[width=3cm]{a.png}
\input{b}
\end{document}
not read
"""
    document = stored(tmp_path / "a.tex", source)
    assert document.title == "The fog bank"
    assert document.text == (
        "## Tides\n\nThe café of Müller & Co.\\ is 50% open late\nat $x^2 \\le 3$.\n- Lamps\n\\input{b}"
    )
    assert labels(document) == ["Tides"]
    assert document.losses == ("1 picture not in the text", "1 included file not in the text")
