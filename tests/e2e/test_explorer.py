"""Explore and the addresses of the page, in a headless Chromium on a real service."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from at_server import settings_of
from axe_playwright_python.sync_playwright import Axe
from neo4j import Driver
from playwright.sync_api import Page, Playwright, expect
from real_browser import click, opened, tab_to
from running_service import RunningService, environment
from tiers import need

from e2g_neo4j import E2G
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.managed_neo4j import Connection

pytestmark = pytest.mark.timeout(600)

CORPUS = "voyages and more"
"""A name that an address has to encode."""
PLAIN = "without layers"

LOG = "\n\n".join(
    f"On day {day} Luke Farran stood at the helm of the Averil. Josiah Quill had told Luke Farran about Port Hesk and "
    f"its {day + 3} lamps. Theodora Quill wrote to Josiah Quill from Port Hesk. The rain came and went."
    for day in range(12)
)
LETTERS = "Theodora Quill kept the lamps of Port Hesk. Edith Pelling never met Luke Farran. Edith Pelling sang."
TITLE = "Letters <img src=x onerror=hacked()>"
SENTENCE = "Edith Pelling never met Luke Farran."


@pytest.fixture(scope="module")
def client(scratch: Connection) -> Iterator[E2G]:
    need("chromium")
    with E2G(settings=settings_of(scratch, chunk_tokens=120, chunk_overlap=20, group_size=3, workers=1)) as client:
        client.migrate(["service"])
        texts = [("memory:log", "The log", LOG), ("memory:letters", TITLE, LETTERS)]
        client.index(
            [from_text(text, corpus=CORPUS, source=source, title=title) for source, title, text in texts],
            corpus=CORPUS,
        )
        client.enrich(corpus=CORPUS, layers=["communities", "descriptions"])
        client.index([from_text(LETTERS, corpus=PLAIN, source="memory:plain", title="Letters")], corpus=PLAIN)
        yield client


@pytest.fixture(scope="module")
def service(scratch: Connection, client: E2G, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("service")
    running = RunningService(environment(scratch, E2G_HOME=str(folder)), folder / "log", "--no-worker")
    yield running
    running.stop()


@pytest.fixture
def page(playwright: Playwright, service: RunningService) -> Iterator[Page]:
    with opened(playwright, service) as page:
        yield page


def entity(name: str, more: str = "") -> str:
    return f"#/corpora/{quote(CORPUS, safe='')}/entities/{quote(name, safe='')}{more}"


def click_on_graph(page: Page, what: str, **how: Any) -> None:
    """Click where Cytoscape draws a node or an edge."""
    place = page.evaluate(
        """async what => {
          const canvas = document.getElementById("canvas");
          const found = canvas._cyreg.cy.$(what).first();
          const at = found.isNode() ? found.renderedPosition() : found.renderedMidpoint();
          canvas.scrollIntoView({ block: "center" });
          for (const _ of "12") await new Promise(requestAnimationFrame); // Cytoscape hears that the page scrolled
          const box = canvas.getBoundingClientRect();
          return { x: box.x + at.x, y: box.y + at.y };
        }""",
        what,
    )
    for key in how.get("keys", []):
        page.keyboard.down(key)
    page.mouse.click(place["x"], place["y"])
    for key in how.get("keys", []):
        page.keyboard.up(key)


# --- what readers want: each in at most four clicks ------------------------------------------------------


def test_who_is_somebody(page: Page) -> None:
    click(page, "Explore")
    click(page, "Luke Farran", "#found")
    card = page.locator("#entity-card")
    expect(card.get_by_role("heading", name="Luke Farran")).to_be_focused()
    expect(card).to_contain_text(re.compile(r"person · mentioned \d+ × in 2 documents"))
    expect(card.locator(".mentions li")).to_have_text([re.compile(r"^The log\d+$"), re.compile("^Letters <img.*1$")])


def test_how_two_are_related_and_where_that_is_said(
    page: Page, playwright: Playwright, service: RunningService
) -> None:
    click(page, "Explore")
    click(page, "Luke Farran", "#found")
    click(page, "1 sentence with Edith", "#neighbours")
    expect(page.locator("#pair-title")).to_be_focused()
    expect(page.locator("#pair-sentences blockquote")).to_have_text([SENTENCE])
    address = page.url
    click(page, re.compile("^Open in the text"), "#pair-sentences")
    expect(page.locator("#place h3")).to_have_text(TITLE)
    expect(page.locator("#place mark")).to_have_text(SENTENCE)
    place = page.url
    with opened(playwright, service, f"#{address.partition('#')[2]}") as other:  # a colleague opens both
        expect(other.locator("#pair-sentences blockquote")).to_have_text([SENTENCE])
        other.goto(place)
        expect(other.locator("#place mark")).to_have_text(SENTENCE)


def test_a_question_is_sent_to_a_colleague(page: Page, playwright: Playwright, service: RunningService) -> None:
    question = "Who kept the lamps of Port Hesk?"
    page.locator("#corpora input").first.wait_for()
    page.get_by_label("Question").fill(question)
    page.get_by_text("Options", exact=True).click()
    page.get_by_label("Mode").select_option("dense")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#evidence li").first).to_contain_text("Theodora Quill")
    with opened(playwright, service, f"#{page.url.partition('#')[2]}") as other:
        expect(other.locator("#evidence li").first).to_contain_text("Theodora Quill")
        expect(other.get_by_label("Question")).to_have_value(question)
        expect(other.locator("#mode")).to_have_value("dense")
    page.reload()
    expect(page.locator("#evidence li").first).to_contain_text("Theodora Quill")
    expect(page.get_by_label("Question")).to_have_value(question)


def test_what_is_new_since_the_upload(page: Page, keep: Callable[[str], Path]) -> None:
    click(page, "Documents")
    page.get_by_label("Order").select_option("last change first")
    rows = page.locator("#documents tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.locator("time")).to_have_count(2)
    times = rows.locator("time").evaluate_all("all => all.map(one => one.dateTime)")
    assert times == sorted(times, reverse=True)
    click(page, f"What is new with {TITLE}", "#documents")
    sharing = page.locator("#sharing")
    expect(page.locator("#sharing-title")).to_be_focused()
    expect(sharing).to_contain_text(f"New with “{TITLE}”")
    expect(sharing).to_contain_text("Last change: ")
    expect(sharing.get_by_role("link", name="Edith", exact=True)).to_be_visible()
    assert sharing.get_by_role("link", name="Luke Farran").count() == 0  # the log has him too
    page.screenshot(path=keep("explore-new"), full_page=True)


def test_what_two_documents_share(
    page: Page, playwright: Playwright, service: RunningService, keep: Callable[[str], Path]
) -> None:
    click(page, "Documents")
    page.locator("#documents tbody tr").first.wait_for()
    for box in page.locator("#documents tbody").get_by_role("checkbox").all():
        box.check()
    page.get_by_role("button", name="What do they share?").click()
    sharing = page.locator("#sharing")
    expect(sharing.locator("#sharing-text > ul > li").first).to_be_visible()
    names = sharing.locator("#sharing-text > ul > li > a").all_inner_texts()
    assert {"Luke Farran", "Theodora Quill", "Port Hesk"} <= set(names)
    assert "Edith" not in names
    first = sharing.locator("#sharing-text > ul > li").first
    expect(first.locator("blockquote").first).to_contain_text(names[0])
    documents = " ".join(first.locator(".card > .note").all_inner_texts())
    assert "The log" in documents
    assert TITLE in documents
    page.screenshot(path=keep("explore-shared"), full_page=True)
    with opened(playwright, service, f"#{page.url.partition('#')[2]}") as other:
        expect(other.locator("#sharing blockquote").first).to_contain_text(names[0])
    click(page, "Luke Farran", "#sharing")
    expect(page.locator("#entity-name")).to_have_text("Luke Farran")


# --- communities -----------------------------------------------------------------------------------------


def test_communities_have_colours_and_addresses(page: Page, playwright: Playwright, service: RunningService) -> None:
    page.goto(f"{service.url}/ui/{entity('Luke Farran')}")
    page.get_by_label("Colours").select_option("by community")
    link = page.locator("#legend a").first
    title = link.inner_text()
    expect(page).to_have_url(re.compile("colours=communities"))
    with service.client() as http:
        path = f"/v1/corpora/{quote(CORPUS, safe='')}/neighbourhood/Luke%20Farran"
        found = http.get(path).raise_for_status().json()["communities"]
    colours = page.evaluate("Object.fromEntries(canvas._cyreg.cy.nodes().map(one => [one.id(), one.data('colour')]))")
    shown = page.locator("#legend a").evaluate_all("all => all.map(one => one.hash.split('/').at(-1))")
    coloured = [{colours[key] for key in one["keys"]} for one in found if one["id"] in shown]
    assert len(coloured) == len(shown) > 1
    assert len(set.union(*coloured)) == len(coloured)
    assert all(len(one) == 1 for one in coloured)
    page.reload()
    expect(page.locator("#legend a").first).to_have_text(title)
    link.click()
    expect(page.locator("#community-title")).to_have_text(title)
    expect(page.locator("#community-title")).to_be_focused()
    expect(page.locator("#community .prose")).not_to_be_empty()
    with opened(playwright, service, f"#{page.url.partition('#')[2]}") as other:
        expect(other.locator("#community-title")).to_have_text(title)
        name = other.locator("#community .found a").first.inner_text()
        other.locator("#community .found a").first.click()
        expect(other.locator("#entity-name")).to_have_text(name)
        click(other, title, "#entity-card")
        expect(other.locator("#community-title")).to_have_text(title)


def test_a_corpus_without_communities_says_how_to_make_them(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/ui/#/corpora/{quote(PLAIN)}/entities/Port%20Hesk?colours=communities")
    command = f"e2g enrich --corpus '{PLAIN}' --with communities"
    expect(page.locator("#legend")).to_contain_text(command)
    page.goto(f"{service.url}/ui/#/corpora/{quote(PLAIN)}/communities/gone")
    expect(page.locator("#explore-note")).to_contain_text("is not there, or not any more")


# --- addresses -------------------------------------------------------------------------------------------


def test_back_and_forward_walk_through_all_views(page: Page) -> None:
    page.locator("#corpora input").first.wait_for()
    page.get_by_label("Question").fill("Who is Luke Farran?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#evidence li").first).to_be_visible()
    click(page, re.compile("luke farran", re.IGNORECASE), "#evidence-note")
    expect(page.locator("#entity-name")).to_have_text("Luke Farran")
    click(page, "Josiah Quill", "#neighbours")
    expect(page.locator("#entity-name")).to_have_text("Josiah Quill")
    click(page, "Documents")
    click(page, "The log", "#documents")
    expect(page.locator("#place h3")).to_have_text("The log")
    for _ in range(2):
        page.go_back()
    expect(page.locator("#entity-name")).to_have_text("Josiah Quill")
    page.go_back()
    expect(page.locator("#entity-name")).to_have_text("Luke Farran")
    page.go_back()
    expect(page.locator("#evidence li").first).to_be_visible()
    expect(page.get_by_label("Question")).to_have_value("Who is Luke Farran?")
    page.go_back()
    expect(page.get_by_label("Question")).to_have_value("")
    expect(page.locator("#result")).to_be_hidden()
    for _ in range(3):
        page.go_forward()
    expect(page.locator("#entity-name")).to_have_text("Josiah Quill")
    page.reload()
    expect(page.locator("#entity-name")).to_have_text("Josiah Quill")


def test_what_is_gone_is_said_with_a_way_on(page: Page, service: RunningService) -> None:
    def go(address: str) -> None:
        page.goto(f"{service.url}/ui/{address}")

    corpus = quote(CORPUS, safe="")
    go(entity("Josia Quil"))
    expect(page.locator("#explore-note")).to_contain_text("is called “Josia Quil”. Did you mean")
    click(page, "Josiah Quill", "#found")
    expect(page.locator("#entity-name")).to_have_text("Josiah Quill")
    go(entity("Luke Farran", "?with=nobody"))
    expect(page.locator("#pair-note")).to_contain_text("is called “nobody”")
    go("#/corpora/gone/entities/x")
    expect(page.locator("#explore-note")).to_contain_text("no corpus “gone”")
    go(f"#/corpora/{corpus}/documents/gone?at=7")
    expect(page.locator("#place")).to_contain_text("This document is not there")
    click(page, f"See the documents of {CORPUS}.")
    expect(page.locator("#documents tbody tr")).to_have_count(2)
    go("#documents?corpus=gone")
    expect(page.get_by_role("alert")).to_contain_text("no corpus “gone”")
    go("#ask?q=Who%3F&corpus=gone")
    expect(page.get_by_role("alert")).to_contain_text("no corpus “gone”")
    expect(page.get_by_label("Question")).to_have_value("Who?")
    go("#nowhere")
    expect(page.get_by_role("alert")).to_contain_text("Nothing has this address.")
    go("#/corpora/%E0%A4%A/entities/%E0%A4%A")
    expect(page.locator("#explore-note")).to_contain_text("no corpus")


# --- the graph -------------------------------------------------------------------------------------------


def test_the_graph_leads_on(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/ui/{entity('Luke Farran')}")
    page.locator("#canvas canvas").first.wait_for()
    shown = page.evaluate("canvas._cyreg.cy.nodes().map(one => one.data('name')).sort()")
    with service.client() as http:
        path = f"/v1/corpora/{quote(CORPUS, safe='')}/neighbourhood/Luke%20Farran"
        reply = http.get(path).raise_for_status().json()
    assert shown == sorted(["Luke Farran", *(one["name"] for one in reply["neighbours"])])
    click_on_graph(page, "edge[source='luke farran'][target='josiah quill'], edge[target='luke farran']")
    expect(page.locator("#pair-sentences li").first).to_contain_text("Luke Farran")
    links = page.locator("#neighbours tbody tr")
    before = links.count()
    click_on_graph(page, "node[id='port hesk']", keys=["Shift"])
    expect(page).to_have_url(re.compile("more=port"))
    links.nth(before).wait_for(state="attached")  # there are more
    expect(page.locator("#neighbours")).to_contain_text("Theodora Quill")
    page.locator("#weight").press("End")
    expect(page).to_have_url(re.compile("weight="))
    page.reload()
    page.locator("#canvas canvas").first.wait_for()
    weights = page.evaluate("canvas._cyreg.cy.edges(':visible').map(one => one.data('weight'))")
    assert set(weights) == {max(page.evaluate("canvas._cyreg.cy.edges().map(one => one.data('weight'))"))}
    page.goto("about:blank")  # so that the graph is drawn anew
    page.goto(f"{service.url}/ui/{entity('Luke Farran')}")
    page.locator("#canvas canvas").first.wait_for()
    click_on_graph(page, "node[id='josiah quill']")
    expect(page.locator("#entity-name")).to_have_text("Josiah Quill")


def test_the_statement_shows_the_neighbourhood(page: Page, service: RunningService, database: Driver) -> None:
    page.goto(f"{service.url}/ui/{entity('Luke Farran')}")
    page.get_by_text("Show in Neo4j Browser").click()
    page.get_by_role("button", name="Copy").click()
    statement = page.evaluate("navigator.clipboard.readText()")
    assert "$" not in statement
    assert len(database.execute_query(statement).records) == page.locator("#neighbours > table tbody tr").count()


# --- for everybody ---------------------------------------------------------------------------------------


def test_the_keyboard_is_enough(page: Page) -> None:
    tab_to(page, page.get_by_role("link", name="Explore"))
    page.keyboard.press("Enter")
    expect(page.locator("#explore-title")).to_be_focused()
    tab_to(page, page.locator("#explore-name"))
    page.keyboard.type("farran")
    page.keyboard.press("Enter")
    tab_to(page, page.locator("#found a").first)
    page.keyboard.press("Enter")
    expect(page.locator("#entity-name")).to_be_focused()
    tab_to(page, page.get_by_role("link", name="1 sentence with Edith"))
    page.keyboard.press("Enter")
    expect(page.locator("#pair-title")).to_be_focused()
    tab_to(page, page.locator("#pair-sentences a").first)
    page.keyboard.press("Enter")
    expect(page.locator("#place mark")).to_be_focused()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 320)])
def test_explore_is_accessible_and_fits(
    page: Page, service: RunningService, scheme: Any, width: int, keep: Callable[[str], Path]
) -> None:
    with service.client() as http:
        path = f"/v1/corpora/{quote(CORPUS, safe='')}"
        documents = [one["id"] for one in http.get(f"{path}/documents").json()["documents"]]
        near = http.get(f"{path}/neighbourhood/Luke%20Farran").json()["communities"]
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 860})
    for name, address in (
        ("names", "#explore"),
        ("entity", entity("Luke Farran")),
        ("pair", entity("Luke Farran", "?with=josiah%20quill&more=port%20hesk")),
        ("coloured", entity("Luke Farran", "?colours=communities")),
        ("community", f"#/corpora/{quote(CORPUS, safe='')}/communities/{near[0]['id']}"),
        ("new", f"#documents?corpus={quote(CORPUS)}&new={documents[0]}"),
        ("shared", f"#documents?corpus={quote(CORPUS)}&both={documents[0]}&both={documents[1]}"),
        ("gone", entity("Josia Quil")),
    ):
        page.goto(f"{service.url}/ui/{address}")
        ready = {"pair": "#pair-sentences li", "entity": "#canvas canvas", "coloured": "#legend a"}
        ready |= {"community": "#community li", "new": "#sharing li", "shared": "#sharing blockquote"}
        page.locator(ready.get(name, "#found li")).first.wait_for()
        page.screenshot(path=keep(f"explore-{name}-{scheme}-{width}"), full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        violations = Axe().run(page).response["violations"]
        assert [(name, one["id"], one["nodes"][0]["html"]) for one in violations] == []


def test_the_page_is_light(service: RunningService) -> None:
    files = [one.name for one in (Path(__file__).parents[2] / "e2g_neo4j/service/ui").iterdir()]
    with service.client() as http:
        assert sum(len(gzip.compress(http.get(f"/ui/{name}").content)) for name in files) < 500_000
