"""Modes compared for one question on the sample library, by the command, and its page in a browser."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from at_server import set_variables
from axe_playwright_python.sync_playwright import Axe
from neo4j import Driver
from playwright.sync_api import sync_playwright
from real_browser import chromium_page
from tiers import need

from e2g_neo4j import E2G
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.retrieval.strategies import STRATEGIES

pytestmark = pytest.mark.by_turns(3)

QUESTION = "Who really made the chronometer that Luke Farran saved?"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(neo4j_connection: Connection, run: Run, monkeypatch, tmp_path) -> Run:
    """Run `e2g query` in an empty folder: its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    set_variables(monkeypatch, neo4j_connection)
    return partial(run, "query")


def characters(passages: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
    """Each character of the passages, one by one."""
    found: set[tuple[Any, ...]] = set()
    for one in passages:
        if one["level"]:
            found |= {(one["nodes"][0], at) for at in range(len(one["text"]))}
        else:
            found |= {(one["source"], at) for at in range(one["start"], one["end"])}
    return found


def test_all_modes_as_json_are_what_they_find_alone(run: Run, e2g: E2G, sample: str) -> None:
    code, printed, _ = run(QUESTION, "-c", sample, "--compare", "all", "-k", "3", "--json")
    assert code == 0
    found = json.loads(printed)
    modes = found["modes"]
    assert (found["question"], found["corpus"], found["failed"]) == (QUESTION, sample, {})
    assert list(modes) == list(STRATEGIES)
    shown = {mode: characters(one["passages"]) for mode, one in modes.items()}
    for mode, one in modes.items():
        alone = e2g.retrieve(QUESTION, corpus=sample, mode=mode, k=3)
        assert [passage["text"] for passage in one["passages"]] == [passage.text for passage in alone.passages]
        assert (one["route"], one["round_trips"]) == (alone.route, alone.round_trips)
        spans = e2g.models.embedder.token_spans
        assert one["tokens"] == sum(len(spans(passage.text)) for passage in alone.passages)
        assert one["milliseconds"] > 0
        others = set().union(*(theirs for other, theirs in shown.items() if other != mode))
        unique = [not characters([passage]) & others for passage in one["passages"]]
        assert [passage["unique"] for passage in one["passages"]] == unique
    for a, b in permutations(modes, 2):
        expected = len(shown[a] & shown[b]) / len(shown[a] | shown[b])
        assert modes[a]["overlap"][b] == pytest.approx(expected)
    assert 0 < modes["auto"]["overlap"]["dense"] < 1


def test_the_tables_and_passages_are_printed_and_the_page_written(run: Run, sample: str) -> None:
    code, printed, _ = run(
        QUESTION, "-c", sample, "--compare", "auto,dense,hybrid", "--tokens", "300", "--html", "modes.html"
    )
    assert code == 0
    lines = [line.split() for line in printed.splitlines()]
    assert ["mode", "route", "passages", "tokens", "ms", "round", "trips", "calls", "prompt", "tokens"] in lines
    rows = [line for line in lines if len(line) == 8 and line[1] in ("local", "global")]
    assert [row[0] for row in rows] == ["auto", "dense", "hybrid"]
    assert all(0 < int(row[3]) <= 300 for row in rows)
    assert ["mode", "auto", "dense", "hybrid"] in lines
    assert [line[1] for line in lines if line[:1] == ["auto"] and len(line) == 4] == ["100"]
    assert printed.count("\n[1") == 3
    assert "\n    " in printed
    written = Path("modes.html").read_text(encoding="utf-8")
    assert f'<h1 dir="auto">{QUESTION}</h1>' in written

    code, _, error = run(QUESTION, "-c", sample, "--html", "modes.html")
    assert code == 4
    assert error == "Error: modes.html exists already. Choose another file, or pass --overwrite.\n"
    assert Path("modes.html").read_text(encoding="utf-8") == written


def test_a_page_that_cannot_be_written_is_said(run: Run, sample: str) -> None:
    # no corpus is read: this one does not exist, which would be another error
    code, _, error = run(QUESTION, "-c", "no-such-corpus", "--html", "no/such/folder.html")
    assert (code, error) == (
        4,
        "Error: The folder of no/such/folder.html does not exist: create it, or pass another file with --html.\n",
    )
    Path("dangling.html").symlink_to("absent/absent.html")  # does not exist, and cannot be created
    code, printed, error = run(QUESTION, "-c", sample, "--compare", "dense", "--html", "dangling.html")
    assert (code, error) == (4, "Error: Cannot write dangling.html (File exists): pass another file with --html.\n")
    assert "\n[1]" in printed
    assert "Written to" not in printed
    code, printed, _ = run(QUESTION, "-c", sample, "--compare", "dense", "--html", "dangling.html", "--json")
    assert (code, json.loads(printed)["question"]) == (4, QUESTION)


def test_an_adopted_corpus_leaves_out_the_modes_with_full_text(run: Run, e2g: E2G, driver: Driver) -> None:
    corpus = f"compare-{uuid4().hex[:8]}"
    label = f"Text {corpus}"
    text = "Luke Farran carried the chronometer to Theodora Quill."
    driver.execute_query("CREATE (:$($label) {id: 1, text: $text})", label=label, text=text)
    e2g.adopt(corpus=corpus, label=label)
    code, printed, _ = run(QUESTION, "-c", corpus, "--compare", "fulltext,dense,hybrid", "--html", "adopted.html")
    assert code == 0
    reasons = [line for line in printed.splitlines() if line.startswith("Left out: ")]
    assert [line.split()[2] for line in reasons] == ["fulltext.", "hybrid."]
    assert all("is adopted, so its texts are not in the full-text index" in line for line in reasons)
    assert text in printed
    assert "Overlap" not in printed, "one mode alone"
    assert Path("adopted.html").read_text(encoding="utf-8").count("is adopted") == 2
    code, printed, error = run(QUESTION, "-c", corpus, "--compare", "fulltext,hybrid")
    assert (code, printed) == (4, "")
    assert "which mode fulltext needs" in error
    e2g.unadopt(corpus=corpus)
    driver.execute_query("MATCH (n:$($label)) DELETE n", label=label)


def test_what_cannot_be_asked_is_said(run: Run, sample: str) -> None:
    for arguments, code, message in (
        (["--compare", "auto,best"], 4, "There is no mode 'best'. Modes: auto, e2g"),
        (["--compare", ","], 4, "at least one mode"),
        (["--compare", "dense", "-k", "0"], 4, "k is 0"),
        (["--compare", "dense", "-c", "no-such-corpus"], 4, "one --corpus"),
        (["--compare", "dense", "--explain"], 4, "without --explain"),
    ):
        found, printed, error = run(QUESTION, "-c", sample, *arguments)
        assert (found, printed) == (code, "")
        assert message in error


@pytest.mark.timeout(600)
def test_the_page_in_a_browser(run: Run, sample: str, tmp_path: Path) -> None:
    """Wide and narrow, light and dark. E2G_SCREENSHOTS names a folder for the screenshots."""
    need("chromium")
    code, _, _ = run(QUESTION, "-c", sample, "--compare", "auto,e2g,tree", "-k", "3", "--html", "modes.html")
    assert code == 0
    folder = Path(os.environ.get("E2G_SCREENSHOTS", tmp_path))
    with sync_playwright() as playwright, chromium_page(playwright) as (page, asked):
        page.goto((tmp_path / "modes.html").as_uri())
        columns = page.locator(".modes > section")
        for width, scheme in ((1280, "light"), (360, "dark")):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            boxes = [columns.nth(at).bounding_box() for at in range(3)]
            tops = {box["y"] for box in boxes if box}
            assert len(tops) == (1 if width == 1280 else 3), "side by side, or one below the other"
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.locator("summary").first.click()
            page.screenshot(path=folder / f"compare-{width}-{scheme}.png", full_page=True)
            violations = Axe().run(page).response["violations"]
            assert not violations, [(one["id"], [node["html"] for node in one["nodes"]]) for one in violations]
        assert asked == [(tmp_path / "modes.html").as_uri()], "nothing is loaded from elsewhere"
