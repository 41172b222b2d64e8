"""Documents of the page with a worker: what comes in, what is made of it, and what goes out as files."""

from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from at_server import settings_of
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, Playwright, expect
from real_browser import click, opened, tab_to
from running_service import RunningService, environment
from tiers import need

from e2g_neo4j import E2G
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.managed_neo4j import Connection

pytestmark = pytest.mark.timeout(900)

CORPUS, EVIL = "harbour", "evil"
LETTERS = "Edith Pelling never met Luke Farran."
LOG = "Luke Farran stood at the helm. Josiah Quill told Luke Farran about Port Hesk. " * 3
FORMULA = '=HYPERLINK("http://evil.example","Quill")'
DONE = 240_000
"""Milliseconds for a task."""


@pytest.fixture(scope="module")
def client(scratch: Connection) -> Iterator[E2G]:
    need("chromium")
    with E2G(settings=settings_of(scratch, workers=1)) as client:
        client.migrate(["service"])
        texts = [("memory:log", "The log", LOG), ("memory:letters", "Letters", LETTERS)]
        client.index(
            [from_text(text, corpus=CORPUS, source=source, title=title) for source, title, text in texts],
            corpus=CORPUS,
        )
        client.index([from_text(LOG, corpus=EVIL, source="-1+1", title=FORMULA)], corpus=EVIL)
        yield client


@pytest.fixture(scope="module")
def service(scratch: Connection, client: E2G, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("service")
    variables = environment(scratch, E2G_HOME=str(folder), E2G_FETCH_PAGES="true")
    running = RunningService(variables, folder / "log")
    yield running
    running.stop()


@pytest.fixture
def page(playwright: Playwright, service: RunningService) -> Iterator[Page]:
    with opened(playwright, service, f"#documents?corpus={CORPUS}") as page:
        page.locator("#documents tbody tr").first.wait_for()
        yield page


def uploads(page: Page, name: str) -> Locator:
    return page.get_by_role("list", name="Uploads").get_by_role("listitem").filter(has_text=name)


def downloaded(page: Page, name: str) -> str:
    with page.expect_download() as saved:
        page.get_by_role("button", name=name, exact=True).click()
    return saved.value.path().read_text("utf-8-sig")


def test_the_table_tells_language_size_and_last_change(page: Page) -> None:
    heads = page.locator("#documents thead th").all_inner_texts()
    row = page.locator("#documents tbody tr", has_text="The log")
    cells = dict(zip(heads, row.locator("> *").all_inner_texts(), strict=True))
    assert (cells["Language"], cells["Characters"]) == ("en", str(len(LOG)))
    assert "ready" in cells["State"]
    assert "202" in cells["Last change"]


def test_a_folder_a_text_and_an_address_come_in(page: Page, service: RunningService, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    (folder / "inner").mkdir(parents=True)
    for name, text in (("a.txt", "Ann Harper met Bob Miller."), ("inner/a.txt", "Bob Miller sailed."), ("x.png", "")):
        (folder / name).write_text(text)
    page.get_by_label("Into corpus").fill("incoming")
    page.get_by_label("Folder, with all folders in it").set_input_files(folder)
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("#upload-left")).to_contain_text("1 file of folders left out")
    expect(uploads(page, "papers/a.txt")).to_contain_text("succeeded", timeout=DONE)
    page.get_by_text("Paste a text", exact=True).click()
    page.get_by_label("Title of the text").fill("A note")
    page.get_by_role("textbox", name="Text", exact=True).fill("Dora Finch sold the letter to Ann Harper.")
    page.get_by_role("button", name="Add the text").click()
    expect(uploads(page, "A note")).to_contain_text("succeeded", timeout=DONE)
    with service.client() as http:
        documents = http.get("/v1/corpora/incoming/documents").json()["documents"]
    assert {one["source"] for one in documents} == {
        "upload:papers/a.txt",
        "upload:papers/inner/a.txt",
        "upload:A note",
    }


def test_what_is_dropped_comes_in(page: Page) -> None:
    page.get_by_label("Into corpus").fill("dropped")
    files = page.evaluate_handle(
        """() => {
          const data = new DataTransfer();
          for (const name of ["one.txt", "two.txt"]) data.items.add(new File([`Ann Harper read ${name}.`], name));
          return data;
        }"""
    )
    page.locator("#drop").dispatch_event("drop", {"dataTransfer": files})
    expect(page.locator("#dropped")).to_have_text("2 files dropped.")
    page.get_by_role("button", name="Upload").click()
    expect(uploads(page, "one.txt, two.txt")).to_contain_text("succeeded", timeout=DONE)
    expect(page.locator("#dropped")).to_be_empty()


def test_an_address_of_this_machine_is_not_fetched(page: Page) -> None:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://localhost:{server.server_port}/secret.html"
    page.get_by_label("Address of a web page or file").fill(address)
    page.get_by_role("button", name="Fetch").click()
    expect(uploads(page, address)).to_contain_text("no address of the public internet", timeout=DONE)
    server.shutdown()
    server.server_close()
    assert asked == []


def test_without_the_setting_nothing_is_fetched(service: RunningService, scratch: Connection, tmp_path: Path) -> None:
    body = {"url": "http://example.com/"}
    with service.client() as http:
        for wrong in ("file:///etc/passwd", "ftp://a/", "http://user:word@a/", "//a", "http://"):
            reply = http.post(f"/v1/corpora/{CORPUS}/documents/fetch", json={"url": wrong})
            assert (reply.status_code, reply.json()["code"]) == (422, "invalid")
    closed = RunningService(environment(scratch, E2G_HOME=str(tmp_path)), tmp_path / "log", "--no-worker")
    try:
        with closed.client() as http:
            reply = http.post(f"/v1/corpora/{CORPUS}/documents/fetch", json=body)
            assert (reply.status_code, reply.json()["code"]) == (403, "no_pages")
            assert http.get("/v1/caller").json()["pages"] is False
    finally:
        closed.stop()


def test_layers_are_made_and_seen_in_explore(page: Page) -> None:
    page.locator("#layers summary").click()
    expect(page.locator("#layers-note")).to_contain_text("Communities: 0,")
    for layer in ("vectors of sentences", "clusters of text", "descriptions of names"):
        page.get_by_label(layer).uncheck()
    page.get_by_role("button", name="Make layers").click()
    expect(page.locator("#layers-task")).to_contain_text("succeeded", timeout=DONE)
    expect(page.locator("#layers-note")).not_to_contain_text("Communities: 0,")
    click(page, "Explore")
    page.get_by_label("In the corpus").select_option(CORPUS)
    click(page, "Luke Farran", "#found")
    page.get_by_label("Colours").select_option("by community")
    expect(page.locator("#legend a").first).to_be_visible()


def test_a_name_is_somebody_else_in_one_document(page: Page, client: E2G) -> None:
    page.locator("#names summary").click()
    page.get_by_label("Keep apart", exact=True).fill("Luke Farran")
    page.get_by_label("in", exact=True).select_option("Letters")
    page.get_by_role("button", name="Split", exact=True).click()
    expect(page.locator("#names-list")).to_contain_text("Luke Farran, Letters")
    [split] = client.merges("luke farran", corpus=CORPUS)
    assert (split.title, split.entity_name, split.why) == ("Letters", "Luke Farran, Letters", "by hand")
    page.get_by_role("button", name="Undo: Luke Farran").click()
    expect(page.locator("#names-list")).not_to_contain_text("Luke Farran, Letters")


def test_every_table_can_be_saved_and_no_cell_is_a_formula(page: Page, service: RunningService) -> None:
    with service.client() as http:
        reply = http.get(f"/v1/corpora/{CORPUS}/documents").json()["documents"]
    assert json.loads(downloaded(page, "Documents as JSON")) == reply
    rows = list(csv.DictReader(io.StringIO(downloaded(page, "Documents as CSV"))))
    assert [row["title"] for row in rows] == [one["title"] for one in reply]
    page.locator("#names summary").click()
    page.locator("#names-list li").first.wait_for()
    assert "Luke Farran" in downloaded(page, "Names as CSV")
    page.goto(f"{service.url}/ui/#tasks")
    page.locator("#tasks tbody tr").first.wait_for()
    assert "index" in [row["kind"] for row in csv.DictReader(io.StringIO(downloaded(page, "Tasks as CSV")))]
    page.goto(f"{service.url}/ui/#/corpora/{CORPUS}/entities/Luke%20Farran?with=josiah%20quill")
    page.locator("#pair-sentences li").first.wait_for()
    assert "Luke Farran" in json.loads(downloaded(page, "Sentences as JSON"))[0]["text"]
    [first, *_] = csv.DictReader(io.StringIO(downloaded(page, "Neighbours as CSV")))
    assert (first["a"], float(first["weight"]) > 0) == ("Luke Farran", True)
    page.goto(f"{service.url}/ui/#documents?corpus={EVIL}")
    expect(page.locator("#documents")).to_contain_text(FORMULA)
    [row] = csv.DictReader(io.StringIO(downloaded(page, "Documents as CSV")))
    assert (row["title"], row["source"]) == (f"'{FORMULA}", "'-1+1")
    table = page.evaluate(
        """async cells => (await import("/ui/downloads.js")).csvOf(cells.map(a => ({ a, "=b": -1.5 })))""",
        ["=1", "+1", "-1", "@a", "\t=1", "\r=1", "\n=1", "＝1", 'a"b', "a\nb", None, ["=1", "b"], "plain"],
    )
    cells = [cell for row in csv.reader(io.StringIO(table, newline="")) for cell in row]
    assert [cell for cell in cells if cell[:1] in tuple("=+-@\t\r\n＝") and cell != "-1.5"] == []
    assert {"plain", 'a"b', "a\nb", "", "'=1; b", "-1.5"} <= set(cells)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 320)])
def test_documents_are_accessible_and_fit(
    page: Page,
    scheme: Any,
    width: int,
    keep: Callable[[str], Path],
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 860})
    for summary in ("#layers summary", "#names summary", "#upload summary"):
        page.locator(summary).click()
    page.locator("#names-list li").first.wait_for()
    expect(page.locator("#layers-note")).to_contain_text("vectors of names:")
    page.screenshot(path=keep(f"documents-{scheme}-{width}"), full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    violations = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in violations] == []


def test_documents_need_no_mouse(page: Page) -> None:
    for name in ("The log", "Letters"):
        tab_to(page, page.get_by_role("checkbox", name=f"Compare {name}"))
        page.keyboard.press("Space")
    tab_to(page, page.get_by_role("button", name="What do they share?"))
    page.keyboard.press("Enter")
    expect(page.locator("#sharing-title")).to_be_focused()
    tab_to(page, page.locator("#sharing a").first)
    page.keyboard.press("Enter")
    expect(page.locator("#entity-name")).to_be_focused()
