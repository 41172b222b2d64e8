"""Files that are made to cost much: each costs little or is refused at a limit, and no process is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer

import hostile_files as make
import psutil
import pytest

from e2g_neo4j import Settings
from e2g_neo4j.documents import parser_process, processes
from e2g_neo4j.documents.files import read_all
from e2g_neo4j.documents.processes import LIBRARY, SERVICE, limits_of, read_file
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.errors import ReadingError
from e2g_neo4j.types.documents import SourceDocument

MIB = 2**20

LIMITS = Limits(MIB, memory_mb=512, seconds=10)

ENDLESS = make.one_page_again_and_again(20_000)
"""With a large allowance, it takes longer than any limit here."""

PAGE = b"<html><body><h1>Fog</h1><p>Ada wrote.</p></body></html>"


@pytest.fixture(autouse=True)
def _no_process_left() -> Iterator[None]:
    processes.end_idle()
    yield
    processes.end_idle()
    assert children() == []


def children(process: psutil.Process | None = None) -> list[int]:
    """The processes that parse for a process."""
    found = (process or psutil.Process()).children(recursive=True)
    return [one.pid for one in found if parser_process.__file__ in one.cmdline()]


def stored(folder: Path, suffix: str, content: bytes) -> Path:
    path = folder / f"hostile{suffix}"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("suffix", "content", "message"),
    [
        (".pdf", make.forms_in_forms(60), "E2G_PARSE_(MEMORY_MB|SECONDS)"),
        (".pdf", make.runs_of_runs(4), "without text"),
        (".pdf", make.wide_font(10_000_000), "without text"),
        (".docx", make.nested_tables(20_000), "nested more than 256 deep"),
        (".docx", make.entities(800, "utf-16"), "XML entities"),
        (".epub", make.repeated_chapter(1, "utf-16", "<!DOCTYPE d [<!ENTITY a 'x'>]>"), "XML entities"),
        (".jsonl", make.empty_lists(2_000_000), "E2G_PARSE_MEMORY_MB"),
        (".txt", b"CHAPTER I\n\n" * 250_000, "more than 200,000 headings"),
        (".md", b"# Fog\n" * 250_000, "more than 200,000 headings"),
        (".xlsx", make.xlsx(" " * 40 * MIB), "The markup in .* is larger .*E2G_MAX_DOCUMENT_MB"),
        (".xlsx", make.xlsx(make.number_cell("A1") + make.number_cell("XFD1048576")), "E2G_PARSE_MEMORY_MB"),
        (".csv", b"x," * 14_000_000, "E2G_PARSE_MEMORY_MB"),
        (".json", b"[" * 100_000, "nested too deeply"),
        (".json", make.nested_values(500), "nested more than 100 deep"),
        (".eml", make.mails_in_mails(1000), "nested too deeply"),
        (".rst", b"fog\n===\n" * 250_000, "more than 200,000 headings"),
        (".rtf", b"{\\rtf1 " + b"{" * 4 * MIB, "E2G_PARSE_MEMORY_MB"),
    ],
    ids=[
        *("forms", "runs", "widths", "tables", "entities", "package", "lists", "chapters", "headings"),
        *("bomb", "claimed", "columns", "arrays", "objects", "mails", "titles", "groups"),
    ],
)
def test_a_small_file_that_grows_is_refused(tmp_path: Path, suffix: str, content: bytes, message: str) -> None:
    limits = Limits(MIB if suffix == ".pdf" else 32 * MIB, memory_mb=256, seconds=10)
    with pytest.raises(ReadingError, match=message):
        read_file(stored(tmp_path, suffix, content), "c", limits)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("zeros", [200 * MIB, 2000 * MIB])
def test_a_pdf_that_unpacks_to_gigabytes_costs_the_memory_of_its_process_at_most(
    tmp_path: Path, zeros: int, times: int
) -> None:
    packed = zlib.compress(bytes(zeros))
    content = zlib.compress(packed) if times == 2 else packed
    bomb = stored(tmp_path, ".pdf", make.packed_page(content, b"/FlateDecode " * times))
    with pytest.raises(ReadingError, match=r"without text|E2G_PARSE_(MEMORY_MB|SECONDS)"):
        read_file(bomb, "c", LIMITS)


def test_a_font_that_maps_millions_of_glyphs_is_read_within_its_limits(tmp_path: Path) -> None:
    assert read_file(stored(tmp_path, ".pdf", make.mapped_font(10_000_000)), "c", LIMITS)


@pytest.mark.parametrize(
    ("suffix", "grown", "number"),
    [
        (".pdf", make.separate_letters, 500),
        (".pdf", make.lines_in_one_place, 500),
        (".pdf", make.forms_in_forms, 16),  # 65,536 draws: all three sizes reach the bound
        (".docx", make.nested_tables, 5000),
        (".docx", lambda number: make.entities(number, "utf-16"), 800),
        (".epub", make.repeated_chapter, 15),
        (".html", make.deep_quotation, 60),
        (".html", make.long_list, 1000),
        (".html", make.spanning_cells, 500),
        (".html", make.nested_cells, 5000),
        (".html", make.nested_lists, 10_000),
        (".html", make.notes_of_a_page, 1500),
        (".docx", make.notes, 3000),
        (".docx", make.deep_formula, 200),
        (".docx", make.numbered, 1000),
        (".md", make.heading_signs, 100_000),
        (".txt", make.spaced_heading, 1000),
        (".jsonl", make.spaced_heading_row, 1000),
        (".xlsx", make.merged_cells, 1500),
        (".pptx", make.chart, 500),
        (".odt", make.long_paragraph, 1500),
        (".odt", make.repeated_cells, 5),
        (".rtf", make.font_table, 2000),
        (".rtf", make.fields, 2000),
        (".csv", make.wide_then_long, 4000),
        (".eml", make.parts, 1000),
        (".eml", make.addresses, 4000),
        (".mbox", make.messages, 150),
        (".ipynb", make.cells, 1000),
        (".tex", make.styles_of_tex, 1500),
        (".rst", make.open_titles, 8000),
        (".org", make.stars, 8000),
        (".json", make.flat_rows, 2000),
        (".jsonl", make.many_properties, 2000),
        (".md", make.front_matter, 2000),
    ],
    ids=[
        *("letters", "lines", "forms", "tables", "entities", "chapters", "quotation", "list"),
        *("spans", "cells of cells", "lists", "marks", "notes", "formula", "numbers", "signs", "spaces", "row"),
        *("merged", "chart", "paragraph", "repeated", "fonts", "fields"),
        *("wide", "parts", "addresses", "mailbox", "cells", "styles"),
        *("titles", "stars", "objects", "properties", "matter"),
    ],
)
def test_costs_do_not_grow_with_the_square(
    tmp_path: Path, suffix: str, grown: Callable[[int], bytes], number: int
) -> None:
    def cost(times: int) -> float:
        path = stored(tmp_path, suffix, grown(times * number))
        began = processor_seconds()
        try:
            read_file(path, "c", LIMITS)
        except ReadingError as error:
            assert "processor time" not in str(error), "refused for what it is, not for the time"  # noqa: PT017
        return processor_seconds() - began

    cost(1)  # parsers are imported
    costs = [max(0.05, cost(times)) for times in (1, 2, 4)]
    assert costs[2] <= 8 * costs[0], costs


def processor_seconds() -> float:
    """What this process and the one that parses have taken so far."""
    spent = [psutil.Process(pid).cpu_times() for pid in (os.getpid(), *children())]
    return sum(one.user + one.system for one in spent)


def test_a_broken_limit_costs_the_process_and_not_the_next_file(tmp_path: Path) -> None:
    good = stored(tmp_path, ".html", PAGE)
    endless = stored(tmp_path, ".pdf", ENDLESS)
    read_file(good, "c", LIMITS)
    [first] = children()
    with pytest.raises(ReadingError, match=r"hostile\.pdf takes more than 0.5 s of processor time.*E2G_PARSE_SECONDS"):
        read_file(endless, "c", Limits(1024 * MIB, memory_mb=512, seconds=0.5))
    assert children() == []
    assert read_file(good, "c", LIMITS) == read_all(good, "c", LIMITS)
    [second] = children()
    with pytest.raises(ReadingError, match="save it again"):  # an ordinary error costs no process
        read_file(stored(tmp_path, ".docx", b"PK"), "c", LIMITS)
    assert children() == [second]
    assert second != first


def test_a_process_that_was_killed_is_told_from_a_limit(tmp_path: Path) -> None:
    def kill() -> None:
        for pid in children():
            os.kill(pid, signal.SIGKILL)

    timer = Timer(0.3, kill)
    timer.start()
    with pytest.raises(ReadingError, match=r"hostile\.pdf ended the process that read it \(exit code -9\)"):
        read_file(stored(tmp_path, ".pdf", ENDLESS), "c", Limits(1024 * MIB, memory_mb=512, seconds=60))
    timer.join()


def test_a_process_that_is_about_to_end_costs_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "parser_process.py"
    elsewhere.write_text(
        "import os, runpy, time\n"
        f"names = runpy.run_path({parser_process.__file__!r}, run_name='parser')\n"
        "names['main'].__globals__['IDLE_SECONDS'] = 0.3\n"
        "names['main']()\n"
        "os.closerange(0, 100)\n"
        "time.sleep(1)\n"
        "os._exit(0)\n"
    )
    page = stored(tmp_path, ".html", PAGE)
    monkeypatch.setattr(parser_process, "__file__", str(elsewhere))
    read_file(page, "c", LIMITS)
    [process] = processes._idle
    monkeypatch.undo()
    while process.replies.empty():  # until its output is closed
        time.sleep(0.01)
    assert process.is_alive
    assert read_file(page, "c", LIMITS)[0].title == "Fog"


def test_memory_is_watched_where_the_system_does_not_limit_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "parser_process.py"
    elsewhere.write_text(
        "import runpy, sys\nsys.platform = 'freebsd'\n"
        f"runpy.run_path({parser_process.__file__!r}, run_name='__main__')\n"
    )
    rows = stored(tmp_path, ".jsonl", make.empty_lists(4_000_000))
    monkeypatch.setattr(parser_process, "__file__", str(elsewhere))
    with pytest.raises(ReadingError, match=r"more than 256 MiB of memory.*E2G_PARSE_MEMORY_MB"):
        read_file(rows, "c", Limits(32 * MIB, memory_mb=256, seconds=60))


class GivenUp(BaseException):
    """The caller does not wait any more."""


@pytest.mark.parametrize("error", [GivenUp, KeyboardInterrupt])
def test_nothing_goes_on_when_the_caller_gives_up(tmp_path: Path, error: type[BaseException]) -> None:
    def check() -> None:
        if children():
            raise error

    with pytest.raises(error):
        read_file(stored(tmp_path, ".pdf", ENDLESS), "c", Limits(1024 * MIB, memory_mb=512, seconds=10), check)
    assert children() == []
    assert read_file(stored(tmp_path, ".html", PAGE), "c", LIMITS)[0].title == "Fog"


def test_a_process_ends_with_the_one_that_started_it(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from e2g_neo4j.documents.processes import *; "
        "from e2g_neo4j.documents.reading import Limits; "
        "read_file(Path(sys.argv[1]), 'c', Limits(2**30, 512, 60))"
    )
    endless = stored(tmp_path, ".pdf", ENDLESS)
    with subprocess.Popen([sys.executable, "-c", code, str(endless)]) as parent:
        process = psutil.Process(parent.pid)
        while not children(process):
            time.sleep(0.05)
        [child] = children(process)
        time.sleep(1)  # until it draws forms
        parent.kill()
    _, alive = psutil.wait_procs([psutil.Process(child)] if psutil.pid_exists(child) else [], timeout=20)
    assert alive == []


def test_a_process_has_no_secrets_and_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", "Zerubbabel")
    read_file(stored(tmp_path, ".html", PAGE), "c", LIMITS)
    [child] = children()
    assert "Zerubbabel" not in str(psutil.Process(child).environ())
    assert psutil.Process(child).net_connections() == []
    with pytest.raises(PermissionError, match="getaddrinfo"):
        parser_process._refuse("socket.getaddrinfo", ())


def test_many_small_files_are_read_as_fast_as_in_this_process(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.html" for number in range(60)]
    for file in files:
        file.write_bytes(PAGE.replace(b"<p>Ada wrote.</p>", b"<p>Ada met Iris at the quay.</p>" * 20))
    read_all(files[0], "c", LIMITS)
    read_file(files[0], "c", LIMITS)
    times: list[float] = []
    found: list[list[SourceDocument]] = []
    for read in (lambda file: read_all(file, "c", LIMITS), lambda file: read_file(file, "c", LIMITS)):
        began = time.monotonic()
        found.append([document for file in files for document in read(file)])
        times.append(time.monotonic() - began)
    assert found[0] == found[1]
    assert len(children()) == 1
    assert times[1] < 3 * times[0], times


def test_the_service_has_narrower_limits_unless_the_settings_name_them() -> None:
    assert limits_of(Settings(), LIBRARY) == Limits(32 * MIB, *LIBRARY)
    assert limits_of(Settings(), SERVICE) == Limits(32 * MIB, *SERVICE)
    assert all(narrow < wide for narrow, wide in zip(SERVICE, LIBRARY, strict=True))
    named = Settings(parse_memory_mb=300, parse_seconds=7)
    assert limits_of(named, LIBRARY) == limits_of(named, SERVICE) == Limits(32 * MIB, 300, 7)
