"""What a file has and its text has not is counted, stored, and told where something is said to be absent."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from fpdf import FPDF
from libraries import remove

CORPUS = "losses"

LOSS = "2 of 3 pages have no text (2-3)"


@pytest.fixture
def report_file(tmp_path: Path, driver) -> Path:
    """A PDF of three pages, of which two are pictures."""
    made = FPDF()
    made.set_font("helvetica", size=12)
    made.add_page()
    made.multi_cell(0, 8, "Captain Farran sailed the Cormorant to Lantry. He carried coal for the lighthouse.")
    for _ in range(2):
        made.add_page()
        made.line(10, 10, 90, 90)
    path = tmp_path / "annual_report.pdf"
    made.output(str(path))
    remove(driver, [CORPUS])
    return path


def test_losses_are_told_by_every_command_and_by_evidence_that_lacks_a_name(report_file, client, run) -> None:
    code, out, _ = run("index", str(report_file), "-c", CORPUS)
    assert code == 0
    assert f"Not in the text: {report_file}: {LOSS}" in out.replace("\n", "")
    [document] = client.documents(CORPUS)
    assert document.losses == (LOSS,)
    assert f"Not in the text of Annual report: {LOSS}" in run("documents", "-c", CORPUS)[1]
    known = client.retrieve("Captain Farran and the lighthouse", corpus=CORPUS)
    assert (known.unknown_entities, LOSS in known.reason) == ((), False)
    unknown = client.retrieve("Where did Admiral Zebulon Quartermaine sail?", corpus=CORPUS)
    assert f"Not read: Annual report: {LOSS}." in unknown.reason


def test_losses_go_when_the_document_is_replaced_by_a_whole_one(report_file, client) -> None:
    assert client.index([report_file], corpus=CORPUS).losses == {str(report_file): [LOSS]}
    made = FPDF()
    made.set_font("helvetica", size=12)
    made.add_page()
    made.multi_cell(0, 8, "Captain Farran sailed home.")
    made.output(str(report_file))
    assert client.index([report_file], corpus=CORPUS).losses == {}
    assert client.documents(CORPUS)[0].losses == ()


def test_scanned_pages_are_recognised_where_the_program_is_installed(report_file, run) -> None:
    code, out, err = run("index", str(report_file), "--ocr", "-c", CORPUS)
    if shutil.which("ocrmypdf"):
        assert (code, "Indexed into corpus" in out) == (0, True)
    else:
        assert code == 4
        assert "--ocr needs ocrmypdf. Install it (apt-get install ocrmypdf" in " ".join(err.split())
