"""Neo4j Browser itself, in a headless Chromium, on the managed server: what a person sees of the graph.

E2G_SCREENSHOTS names a folder for the screenshots.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from at_server import settings_of
from neo4j import Driver, Result
from playwright.sync_api import Locator, Playwright, sync_playwright
from real_browser import RealBrowser, chromium_page, neo4j_browser
from running_service import e2g, environment
from tiers import need

from e2g_neo4j import E2G
from e2g_neo4j.browser.drawing import page as drawn
from e2g_neo4j.browser.guide import example_parameters
from e2g_neo4j.browser.statements import params
from e2g_neo4j.cli.setup import CHUNKS, LIBRARY
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.runtime.cypher import load
from e2g_neo4j.types.results import Evidence

pytestmark = [pytest.mark.full, pytest.mark.by_turns(2), pytest.mark.timeout(900)]

CORPUS = "browser-sample"
QUESTION = "Who really made the chronometer that Luke Farran saved?"
NO_CAPTION = re.compile(r"object Object|\d,\d|^<id>$")
TABLES = ("corpora", "documents", "hubs", "mentions", "bridges", "communities")
PICTURES = ("tree", "branch", "neighbours", "between", "shared", "community", "cluster")


@pytest.fixture(scope="module", autouse=True)
def _has_chromium(neo4j_connection: Connection) -> None:
    need("chromium")
    if not neo4j_connection.browser_url:
        pytest.skip("Only the managed server is known to serve Browser.")


@pytest.fixture(scope="module")
def client(neo4j_connection: Connection) -> Iterator[E2G]:
    settings = settings_of(
        neo4j_connection, workers=1, chunk_tokens=CHUNKS["chunk_tokens"], chunk_overlap=CHUNKS["chunk_overlap"]
    )
    with E2G(settings=settings) as client:
        client.index([LIBRARY], corpus=CORPUS)
        client.enrich(corpus=CORPUS)
        yield client


@pytest.fixture(scope="module")
def examples(client: E2G) -> dict[str, Any]:
    return client.runner.run(example_parameters(CORPUS))


@pytest.fixture(scope="module")
def evidence(client: E2G) -> Evidence:
    return client.retrieve(QUESTION, corpus=CORPUS, k=4)


@pytest.fixture(scope="module")
def variables(neo4j_connection: Connection, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return environment(
        neo4j_connection, E2G_HOME=str(tmp_path_factory.mktemp("home")), COLUMNS="200", PYTHONUNBUFFERED="1"
    )


@pytest.fixture(scope="module")
def guide(client: E2G, variables: dict[str, str]) -> Iterator[str]:
    """The address that a running `e2g guide` prints."""
    started = [sys.executable, "-m", "e2g_neo4j.cli", "guide", "-c", CORPUS, "--port", "0", "--no-open"]
    with subprocess.Popen(started, env=variables, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        printed = ""
        while "Press Ctrl-C" not in printed:
            line = process.stdout.readline()
            assert line, "e2g guide has ended"
            printed += line
        yield printed_address(printed)
        process.terminate()


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def browser(
    playwright: Playwright, neo4j_connection: Connection, guide: str, examples: dict[str, Any]
) -> Iterator[RealBrowser]:
    """Opened by the address of the guide in a new profile, logged in, with the commands of the guide but its style."""
    with neo4j_browser(playwright, neo4j_connection, f"{neo4j_connection.browser_url}{guide}") as browser:
        assert "autoComplete" in browser.run(":config autoComplete: false").inner_text()
        assert CORPUS in browser.run(params(examples)).inner_text()
        yield browser


def printed_address(printed: str) -> str:
    """What a command prints of an address after the path of Browser, which is not that of the server under test."""
    [arguments] = re.findall(r"(?m)^http\S+/browser/(\?\S+)$", printed)
    return arguments


@pytest.fixture
def keep(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Where a screenshot goes."""
    folder = Path(os.environ.get("E2G_SCREENSHOTS", tmp_path))
    return lambda name: folder / f"{name}.png"


def graph_of(driver: Driver, name: str, parameters: dict[str, Any]) -> Any:
    return driver.execute_query(load(f"explore/{name}"), parameters, result_transformer_=Result.graph)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_read_as_it_stands(browser: RealBrowser, driver, examples, keep, name: str) -> None:
    frame = browser.run(load(f"explore/{name}"))
    frame.locator("table").first.wait_for()
    browser.screenshot(keep(name))
    told = frame.inner_text()
    [row, *_] = driver.execute_query(load(f"explore/{name}"), examples).records
    for column in row.keys():  # noqa: SIM118 a record iterates over its values
        assert column in told
    assert "embedding" not in told


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_shows_what_was_asked_for_and_no_more(
    browser: RealBrowser, driver, examples, keep, name: str
) -> None:
    frame = browser.run(load(f"explore/{name}"))
    browser.await_picture(frame)
    browser.screenshot(keep(name))
    asked = graph_of(driver, name, examples)
    assert frame.locator("g.node").count() == len(asked.nodes)
    assert frame.locator("g.relationship").count() == len(asked.relationships)
    captions = " ".join(frame.locator("g.node text").all_text_contents())
    for node in asked.nodes:
        if "Entity" in node.labels:
            assert node["name"][:4] in captions


@pytest.mark.parametrize("address", ["", "guide"])
def test_a_printed_address_shows_names_in_the_first_picture(
    playwright, neo4j_connection, client: E2G, guide: str, keep, address: str
) -> None:
    """In a new profile, and in a second window in which the log-in is remembered."""
    opened = neo4j_connection.browser_url + (guide if address else "")
    statement = f"MATCH path = (:Entity {{corpus: '{CORPUS}', key: 'luke farran'}})-->(:Chunk)-->() RETURN path LIMIT 9"
    with neo4j_browser(playwright, neo4j_connection, opened) as browser:
        assert_captions(browser, statement)
        browser.screenshot(keep(f"first-{address or 'plain'}"))
        profile = browser.page.context.storage_state()
        chromium = browser.page.context.browser
        assert chromium is not None
        page = chromium.new_page(storage_state=profile, permissions=["clipboard-write"])
        page.goto(opened)
        assert_captions(RealBrowser(page), statement)


def assert_captions(browser: RealBrowser, statement: str) -> None:
    frame = browser.run(statement)
    browser.await_picture(frame)
    shown = captions(frame)
    assert "Luke Farran" in shown
    assert [one for one in shown if re.match(r"\d+ [A-Z]", one)], "chunks by number and heading"
    assert not [one for one in shown if NO_CAPTION.search(one)]


def test_a_node_tells_its_text_and_its_vector_is_cut(browser: RealBrowser, keep) -> None:
    frame = browser.run(load("explore/branch"))
    browser.await_picture(frame)
    panel = frame.get_by_test_id("vizInspector")
    for node in frame.locator("g.node").all():
        node.click(force=True)
        panel.get_by_text("Node properties").wait_for()
        if panel.get_by_text("embedding").count():
            break
    browser.screenshot(keep("panel"))
    assert "Show all" in panel.inner_text()
    assert "text" in panel.inner_text()
    assert len(panel.inner_text()) < 3000


def test_the_guide_opens_beside_the_results(playwright, neo4j_connection, client: E2G, guide: str, keep) -> None:
    with neo4j_browser(playwright, neo4j_connection, f"{neo4j_connection.browser_url}{guide}") as browser:
        browser.run_command_in_the_editor()
        browser.page.get_by_text("What is here").first.wait_for()
        browser.screenshot(keep("guide"))
        for title in ("Parameters", "Corpora", "Documents"):
            browser.page.get_by_text("Next", exact=True).click()
            browser.page.get_by_role("heading", name=title).last.wait_for()
            if title == "Parameters":
                browser.page.locator("pre.runnable, pre.code").last.click()
                browser.run_what_stands_in_the_editor()
        browser.page.locator("pre.runnable, pre.code").last.click()
        frame = browser.run_what_stands_in_the_editor()
        frame.locator("table").first.wait_for()
        assert all(one.title in frame.inner_text() for one in client.documents(CORPUS))


def captions(frame: Locator) -> list[str]:
    return [caption.strip() for caption in frame.locator("g.node").all_text_contents()]


def test_explain_opens_a_picture_that_can_be_read(playwright, neo4j_connection, variables, evidence, keep) -> None:
    """In a new profile, with the address alone; and with the style pasted, where the server does not set it."""
    told = e2g(variables, "query", QUESTION, "-c", CORPUS, "-k", "4", "--browser", "--no-open")
    assert told.returncode == 0, told.stderr
    [style] = re.findall(r"(?m)^:style .*$", told.stdout)
    address = neo4j_connection.browser_url + printed_address(told.stdout)
    with neo4j_browser(playwright, neo4j_connection, address) as browser:
        frame = browser.run_what_stands_in_the_editor()
        browser.await_picture(frame)
        browser.screenshot(keep("explain"))
        assert frame.locator("g.node").count() > len(evidence.passages)
        shown = captions(frame)
        assert {"Luke Farran", "chronometer"} <= set(shown)
        starts = [passage.heading for passage in evidence.passages if passage.heading]
        assert any(start[:12] in caption for start in starts for caption in shown)
        assert not [one for one in shown if NO_CAPTION.search(one)]
        browser.run(":style reset")
        assert "node.Entity" in browser.run(style).inner_text()


def test_a_picture_without_browser_asks_nobody(
    playwright, client: E2G, evidence: Evidence, tmp_path: Path, keep
) -> None:
    file = tmp_path / "evidence.html"
    file.write_text(drawn(client.paths(evidence)), encoding="utf-8")
    with chromium_page(playwright) as (page, asked):
        page.goto(file.as_uri())
        page.locator("canvas").first.wait_for()
        page.wait_for_timeout(3000)
        page.screenshot(path=keep("viz"))
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
