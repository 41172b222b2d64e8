"""The page at /ui in a headless Chromium, on a real service with a real Neo4j and a scripted model of a real Ollama.

E2G_SCREENSHOTS names a folder for the screenshots.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from at_server import settings_of
from axe_playwright_python.sync_playwright import Axe
from neo4j import Driver
from playwright.sync_api import Locator, Page, Playwright, Route, expect
from real_browser import MILLISECONDS, chromium_page
from real_ollama import RealOllama
from running_service import RunningService, create_key, e2g, environment
from scripted_models import Says
from tiers import need

from e2g_neo4j import E2G
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.evaluation import read_questions
from e2g_neo4j.managed_neo4j import Connection

pytestmark = pytest.mark.timeout(600)

CORPUS, HOSTILE, MANY = "voyages", "hostile", "many"
QUESTION = "Who was at the helm of the Averil when Luke Farran met Josiah Quill?"
ANSWER = "**Luke Farran** was at the helm [1].\n\n- <b>Josiah Quill</b> kept `the log` [2, 99].\n  1. *Nobody* slept."
ENDLESS = "Tell of the voyage of Luke Farran and Josiah Quill!"
PIECE = "".join(f"and after {leagues} leagues the wind was in the north " for leagues in range(100, 110))
"""What an answer without an end repeats: too long for a reply that is stopped because it repeats itself."""
WORK = ("baked bread", "mended a sail", "painted the boats", "counted the barrels", "washed the deck", "caught fish")
LOG = "\n\n".join(
    f"On day {day} of the voyage Luke Farran stood at the helm of the Averil 🚢. The wind was in the north and the "
    f"mate, Josiah Quill, counted {day + 3} sails. They spoke of Port Hesk and of the gale."
    if day % 12 == 5
    else f"Number {day}. The crew {WORK[day % 6]} in the morning and {WORK[(day + day // 6) % 6]} after dinner. "
    f"The rain came and went, the pumps were manned for an hour, and nobody saw land. Supper was biscuit and cold tea."
    for day in range(90)
)
TITLE = "The <img src=x onerror=hacked()> log"
SCRIPT = "<script>hacked()</script> <img src=x onerror=hacked()>"
PER_PAGE = 25

WATCH = """
window.violations = []; window.lengths = []; window.said = [];
window.hacked = () => violations.push("a script of a document ran");
document.addEventListener("securitypolicyviolation", event => {
  violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
document.addEventListener("DOMContentLoaded", () => {
  const watch = (id, into, of) => new MutationObserver(() => into.push(of(document.getElementById(id).textContent)))
    .observe(document.getElementById(id), {childList: true, characterData: true, subtree: true});
  watch("answer-text", lengths, text => text.length);
  watch("announce", said, text => text);
});
"""


@dataclass
class Seen:
    """What the browser complained about."""

    errors: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def variables(
    scratch: Connection, ollama_server: RealOllama, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    need("chromium")
    ollama_server.create("ui-writer", {"": Says("Nothing."), "?": Says(ANSWER), "!": Says(PIECE, endless=True)})
    return environment(
        scratch,
        E2G_HOME=str(tmp_path_factory.mktemp("home")),
        E2G_OLLAMA_HOST=ollama_server.host,
        E2G_CHAT_MODEL="ollama:ui-writer",
        E2G_ANSWER_TOKENS="15000",
        E2G_EVIDENCE_TOKENS="1600",  # so that the chat model reads some of the passages only
    )


@pytest.fixture(scope="module")
def client(scratch: Connection, variables: dict[str, str]) -> Iterator[E2G]:
    settings = settings_of(scratch, chunk_tokens=120, chunk_overlap=20, group_size=3, workers=1)
    with E2G(settings=settings) as client:
        client.migrate(["service"])
        client.index([from_text(LOG, corpus=CORPUS, source="memory:log", title="The log")], corpus=CORPUS)
        hostile = LOG.replace("They spoke", f"{SCRIPT} They spoke")
        client.index([from_text(hostile, corpus=HOSTILE, source="memory:<b>", title=TITLE)], corpus=HOSTILE)
        few = [
            from_text(
                f"Paper {number} of the society.", corpus=MANY, source=f"memory:{number}", title=f"Paper {number:02}"
            )
            for number in range(PER_PAGE + 2)
        ]
        client.index(few, corpus=MANY)
        yield client


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
def page(playwright: Playwright, service: RunningService, seen: Seen) -> Iterator[Page]:
    """The page, opened. Afterwards: no error, no violation of the policy, and no request to another host."""
    with chromium_page(playwright) as (page, asked):
        page.add_init_script(WATCH)
        page.on("console", lambda message: seen.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.goto(f"{service.url}/ui")
        yield page
        assert page.evaluate("window.violations") == []
        assert [error for error in seen.errors if not any(part in error for part in seen.expected)] == []
        assert [url for url in asked if not url.startswith((f"{service.url}/", "data:"))] == []


@pytest.fixture
def keep(tmp_path: Path) -> Callable[[str], Path]:
    """Where a screenshot goes."""
    folder = Path(os.environ.get("E2G_SCREENSHOTS", tmp_path))
    return lambda name: folder / f"ui-{name}.png"


def choose(page: Page, corpus: str) -> None:
    page.locator("#corpora input").first.wait_for()
    for box in page.locator("#corpora input").all():
        box.set_checked(box.get_attribute("value") == corpus)


def ask(page: Page, question: str = QUESTION, corpus: str = CORPUS) -> None:
    """Ask, and wait for the whole answer and the drawings."""
    choose(page, corpus)
    page.get_by_label("Question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#result")).not_to_have_attribute("aria-busy", "true")
    page.locator("#panel-graph canvas").first.wait_for(state="attached")


def drawn(page: Page, what: str) -> Any:
    """What Cytoscape.js draws of the evidence."""
    return page.evaluate(f"document.querySelector('#panel-graph .canvas')._cyreg.cy.{what}")


def answer(service: RunningService, corpus: str = CORPUS) -> dict[str, Any]:
    """What the page should show."""
    question = {"question": QUESTION, "corpora": [corpus], "k": 10, "hops": 3}
    with service.client() as client:
        reply: dict[str, Any] = client.post("/v1/ask", json=question).raise_for_status().json()
    return reply


def active(page: Page, attribute: str = "id") -> str | None:
    found: str | None = page.evaluate("name => document.activeElement.getAttribute(name)", attribute)
    return found


def tab_to(page: Page, target: Locator, most: int = 60) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if target.evaluate("one => one === document.activeElement"):
            return
    raise AssertionError("the element is not reached with Tab")


# --- the files ---------------------------------------------------------------------------------------


def test_the_files_keep_foreign_scripts_out(service: RunningService) -> None:
    assert f"Page: {service.url}/ui\n" in service.log()
    page = httpx.get(service.url, follow_redirects=True)
    assert page.url.path == httpx.get(f"{service.url}/ui", follow_redirects=True).url.path == "/ui/"
    policy = dict(part.split(" ", 1) for part in page.headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "<style" not in page.text
    assert not re.search(r"<script(?![^>]* src=)| on\w+=| style=", page.text)
    files = ["", *re.findall(r'(?:src|href)="([\w.]+)"', page.text)]
    assert len(files) == 3
    for name in files:
        headers = httpx.get(f"{service.url}/ui/{name}").headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "Content-Security-Policy" in headers
    assert httpx.get(f"{service.url}/ui/app.js").headers["Content-Type"].startswith("text/javascript")
    assert httpx.get(f"{service.url}/ui/..%2fapp.py").status_code == 404


MARKED = {
    "open": ["**a ", "*a ", "__a ", "_a ", "`a ``b ", "**a *b __c _d `e ", "*", "_", "`"],
    "closed": ["**a** *b* ", "`a` ", "- ", "> ", "```\nx\n", "```\nx\n~~~\n", "[1, 1, "],
    "once": ["- {}x\u2028y", "# {}x"],
}


def test_the_time_to_show_an_answer_grows_with_its_length_only(page: Page) -> None:
    texts = [(part * 65_536)[:65_536] for part in MARKED["open"] + MARKED["closed"]]
    texts += [part.format(" " * 65_536) for part in MARKED["once"]]
    slow = page.evaluate(
        """async texts => {
          const { renderMarkdown } = await import("/ui/markdown.js");
          const took = text => {
            const began = performance.now();
            renderMarkdown(text, part => [part]);
            return performance.now() - began;
          };
          return texts.map(text => [text.slice(0, 20), Math.min(took(text), took(text))]).filter(([, ms]) => ms > 500);
        }""",
        texts,
    )
    assert slow == []


def test_a_port_that_is_used_is_said_in_one_line(service: RunningService, variables: dict[str, str]) -> None:
    port = service.url.rsplit(":", 1)[1]
    ended = e2g(variables, "serve", "--port", port, "--no-worker")
    assert ended.returncode == 3
    error = ended.stderr.strip().splitlines()[-1]
    assert error == f"Error: Port {port} of 127.0.0.1 is used; choose another one with --port."


# --- asking ------------------------------------------------------------------------------------------


def test_an_answer_is_streamed_and_read_out_in_sentences(page: Page, service: RunningService) -> None:
    ask(page)
    text = page.locator("#answer-text")
    expect(text).to_have_text("Luke Farran was at the helm [1].<b>Josiah Quill</b> kept the log [2].Nobody slept.")
    for part, shown in (
        ("p strong", "Luke Farran"),
        ("ul > li > code", "the log"),
        ("ul > li > ol > li > em", "Nobody"),
    ):
        expect(text.locator(part)).to_have_text(shown)
    assert text.locator("b").count() == 0
    expect(page.locator("#announce")).to_contain_text("The answer is complete.")  # said after the text is complete
    lengths = page.evaluate("window.lengths")  # it is drawn every 150 ms at most, so how often depends on the machine
    assert lengths
    assert all(later >= earlier - 2 for earlier, later in pairwise(lengths)), "the signs of an open emphasis are shown"
    assert lengths[-1] == len(text.text_content() or "")
    said = page.evaluate("window.said")
    assert len(said) < 6
    assert "The answer is complete." in said[-1]
    assert "Josiah Quill" in " ".join(said)


def test_a_citation_opens_the_very_passage_and_escape_leads_back(
    page: Page, service: RunningService, client: E2G
) -> None:
    ask(page)
    first = answer(service)["citations"][0]["passage"]
    citation = page.get_by_role("button", name=re.compile("^Citation 1:"))
    citation.click()
    mark = page.locator("#panel-text mark")
    expect(mark).to_be_focused()
    assert mark.text_content() == first["text"] == LOG[first["start"] : first["end"]]
    expect(page.locator("#panel-text")).to_contain_text(f"characters {first['start']:,}–{first['end']:,}")
    page.keyboard.press("Escape")
    expect(citation).to_be_focused()
    for name in ("Show more before", "Show more after"):
        button = page.get_by_role("button", name=name)
        while button.is_visible():
            before = page.locator(".text .prose").text_content()
            button.click()
            expect(page.locator(".text .prose")).not_to_have_text(before or "")
    assert page.locator(".text .prose").text_content() == LOG
    assert mark.text_content() == first["text"]


def test_what_the_model_read_is_apart_from_what_else_was_found(page: Page, service: RunningService) -> None:
    ask(page)
    reply = answer(service)
    read, also = page.locator("#evidence li"), page.locator("#also li")
    expect(read).to_have_count(len(reply["given"]))
    expect(also).to_have_count(len(reply["evidence"]["passages"]) - len(reply["given"]))
    assert also.count()
    numbers = page.locator("#evidence .badge").all_inner_texts()
    assert [text.split()[-1] for text in numbers] == [str(place + 1) for place in range(len(numbers))]
    for place, passage in enumerate(reply["given"]):
        expect(read.nth(place).get_by_role("heading")).to_contain_text(passage["document"])
        excerpt = passage["excerpt"]
        expect(read.nth(place)).to_contain_text(f"characters {excerpt['start']:,}–{excerpt['end']:,}")
    expect(also.first.locator(".badge")).to_have_text("Passage a")
    names = drawn(page, "nodes('.chunk').map(one => one.data('label'))")
    assert {"1", "a"} <= set(names)
    assert all(re.fullmatch(r"\w+(, \w+)*", name) for name in names)
    expect(page.locator("#evidence .excerpt mark").filter(has_text="Luke Farran").first).to_be_visible()


def test_an_address_opens_a_text_at_its_place(page: Page, service: RunningService) -> None:
    reply = answer(service)
    first, excerpt = reply["citations"][0]["passage"], reply["given"][0]["excerpt"]
    at = LOG.index("Josiah Quill", first["start"] + len(LOG) // 2)
    page.goto(f"{service.url}/ui/#/corpora/{CORPUS}/documents/{first['document_id']}?at={at}")
    mark = page.locator("#place mark")
    expect(mark).to_be_in_viewport()
    sentence = mark.text_content() or ""
    assert LOG.rindex("The wind was", 0, at) == LOG.index(sentence, at - len(sentence))
    assert sentence.endswith("sails.")
    ask_again = page.get_by_role("link", name="Ask", exact=True)
    ask_again.click()
    ask(page)
    page.locator("#evidence button").first.click()
    strong = page.locator("#panel-text mark strong")
    expect(strong).to_have_text(LOG[excerpt["start"] : excerpt["end"]])
    assert len(strong.text_content() or "") < len(page.locator("#panel-text mark").text_content() or "")
    page.get_by_role("link", name="Link to this place").click()
    expect(page.locator("#place h3")).to_have_text("The log")


def test_examples_and_filter(page: Page, seen: Seen) -> None:
    choose(page, CORPUS)
    example = page.locator("#examples button", has_text="Luke Farran").first
    example.click()
    question = page.get_by_label("Question").input_value()
    assert question == example.text_content()
    ask(page, question)
    expect(example).to_be_hidden()
    page.get_by_text("Options", exact=True).click()
    page.get_by_label("Only documents with these properties").fill("year>=1890; author=Nobody")
    seen.expected.append("422")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("has a property 'year'")


def test_a_conversation_is_shown_and_sent(page: Page, service: RunningService) -> None:
    """The model rewrites nothing here, so that names are carried over."""
    first = answer(service)["text"]
    ask(page)
    assert page.locator("#turns > li").count() == 0
    with page.expect_request(lambda request: request.url.endswith("/v1/ask")) as sent:
        ask(page, "What did he count?")
    assert json.loads(sent.value.post_data or "")["history"] == [{"question": QUESTION, "answer": first}]
    expect(page.locator("#turns > li")).to_have_count(1)
    expect(page.locator("#turns > li")).to_contain_text(QUESTION)
    expect(page.locator("#turns > li")).to_contain_text("Luke Farran was at the helm")
    expect(page.locator("#evidence-note")).to_contain_text("Searched as: What did he count? (Luke Farran")
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator("#conversation")).to_be_hidden()
    with page.expect_request(lambda request: request.url.endswith("/v1/ask")) as sent:
        ask(page, "What did he count?")
    assert json.loads(sent.value.post_data or "")["history"] == []


def test_graph_and_tree_show_the_evidence(page: Page, service: RunningService) -> None:
    ask(page)
    with service.client() as client:
        question = {"question": QUESTION, "corpora": [CORPUS], "k": 10, "hops": 3}
        explained = client.post("/v1/explain", json=question).raise_for_status().json()
    chunks = {node for passage in explained["evidence"]["passages"] for node in passage["nodes"]}
    entities = [node for node in explained["nodes"] if "Entity" in node["labels"]]
    shown = {one["id"]: one["id"] for one in entities}
    for node in explained["nodes"]:  # a passage of several chunks is shown once
        if node["properties"].get("id") in chunks:
            shown[node["id"]] = str(
                [node["properties"]["id"] in passage["nodes"] for passage in explained["evidence"]["passages"]]
            )
    edges = {
        (one["type"], shown[one["start"]], shown[one["end"]])
        for one in explained["relationships"]
        if one["type"] != "CHILD_OF"
    }
    assert entities
    assert edges
    assert drawn(page, "nodes('.entity').length") == len(entities)
    assert drawn(page, "nodes('.chunk').length") == len(set(shown.values())) - len(entities)
    assert drawn(page, "edges().length") == len(edges)
    page.get_by_text("Show as a table").click()
    assert page.locator("#panel-graph tbody tr").count() >= len(edges)
    page.get_by_role("tab", name="Tree").click()
    expect(page.locator("#panel-tree rect.evidence")).to_have_count(len(chunks))
    assert page.locator("#panel-tree rect.cover").count() > 0
    page.get_by_text("Show as a list").click()
    page.locator("#panel-tree li button").first.click()
    expect(page.locator("#panel-text mark")).to_be_focused()
    assert page.locator("#panel-text mark").text_content() in [one["text"] for one in explained["evidence"]["passages"]]


def test_the_keyboard_is_enough(page: Page) -> None:
    page.locator("#corpora input").first.wait_for()
    page.keyboard.press("Tab")
    assert active(page, "class") == "skip"
    tab_to(page, page.get_by_label("Question"))
    page.keyboard.type(QUESTION)
    for box in page.locator("#corpora input").all():
        tab_to(page, box)
        if box.is_checked() != (box.get_attribute("value") == CORPUS):
            page.keyboard.press("Space")
    tab_to(page, page.locator("#ask-button"))
    page.keyboard.press("Enter")
    citation = page.get_by_role("button", name=re.compile("^Citation 1:"))
    citation.wait_for()
    tab_to(page, citation)
    page.keyboard.press("Enter")
    expect(page.locator("#panel-text mark")).to_be_focused()
    page.keyboard.press("Escape")
    expect(citation).to_be_focused()
    tab_to(page, page.get_by_role("tab", name="Text"))
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Graph")).to_be_focused()
    expect(page.locator("#panel-graph")).to_be_visible()
    page.keyboard.press("End")
    expect(page.get_by_role("tab", name="Tree")).to_have_attribute("aria-selected", "true")


def test_stop_ends_the_answer(page: Page) -> None:
    choose(page, CORPUS)
    page.get_by_label("Question").fill(ENDLESS)
    page.keyboard.press("Enter")
    expect(page.locator("#answer-text")).to_contain_text(PIECE.strip())
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#answer-state")).to_have_text("Stopped.")
    length = len(page.locator("#answer-text").text_content() or "")
    page.wait_for_timeout(500)
    assert len(page.locator("#answer-text").text_content() or "") == length
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()


@pytest.mark.full
def test_without_a_chat_model_the_evidence_and_counts_are_shown(
    playwright: Playwright, client: E2G, variables: dict[str, str], tmp_path: Path
) -> None:
    plain = {name: value for name, value in variables.items() if name != "E2G_CHAT_MODEL"}
    running = RunningService(plain, tmp_path / "log", "--no-worker")
    try:
        with chromium_page(playwright) as (page, _):
            page.goto(f"{running.url}/ui")
            ask(page)
            expect(page.locator("#evidence-note")).to_contain_text("This service has no chat model")
            expect(page.locator("#evidence-note")).to_contain_text("set E2G_CHAT_MODEL")
            expect(page.locator("#answer")).to_be_hidden()
            page.get_by_role("button", name="Open passage 1 in The log").click()
            shown = page.locator("#panel-text mark").text_content()
            assert shown == client.retrieve(QUESTION, corpus=CORPUS, k=10, hops=3).passages[0].text
    finally:
        running.stop()


def test_an_error_says_what_to_do(page: Page, seen: Seen) -> None:
    seen.expected.append("422")
    choose(page, CORPUS)
    page.get_by_label("Question").fill("   ")
    page.get_by_role("button", name="Ask", exact=True).click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The question is empty")
    expect(alert).to_contain_text("Correct the request.")
    alert.get_by_role("button", name="Dismiss").click()
    expect(alert).to_be_empty()


def test_documents_are_shown_as_text(page: Page, client: E2G) -> None:
    ask(page, corpus=HOSTILE)
    expect(page.locator("#evidence h4").first).to_contain_text(TITLE)
    page.locator("#evidence button").first.click()
    expect(page.locator("#panel-text mark")).to_contain_text(SCRIPT)
    page.get_by_role("tab", name="Tree").click()
    expect(page.locator("#panel-tree h4")).to_have_text(TITLE)
    page.get_by_role("link", name="Documents").click()
    page.get_by_label("Corpus", exact=True).select_option(HOSTILE)
    expect(page.locator("#documents")).to_contain_text(TITLE)
    page.get_by_role("button", name=f"Delete {TITLE}").click()
    expect(page.get_by_role("dialog")).to_contain_text(TITLE)
    assert page.locator("img").count() == page.locator("body script").count() == 0


# --- documents and tasks -----------------------------------------------------------------------------


def set_task(database: Driver, corpus: str, **properties: Any) -> None:
    """Change the tasks of a corpus, as a worker does."""
    database.execute_query("MATCH (t:E2GTask {corpus_name: $corpus}) SET t += $new", corpus=corpus, new=properties)


def open_documents(page: Page, corpus: str) -> None:
    page.get_by_role("link", name="Documents").click()
    page.get_by_label("Corpus", exact=True).select_option(corpus)


def test_names_are_merged_split_and_taken_back(page: Page, client: E2G, seen: Seen) -> None:
    open_documents(page, CORPUS)
    page.locator("#names summary").click()
    names = page.get_by_role("list", name="Names of the corpus").get_by_role("listitem")
    merges = page.get_by_role("list", name="Merged names").get_by_role("listitem")
    expect(names.filter(has_text="Luke Farran")).to_have_count(1)
    page.get_by_label("Contains").fill("farran")
    page.get_by_role("button", name="Search names").click()
    expect(names).to_have_count(1)
    page.get_by_label("Name", exact=True).fill("Luke Farran")
    page.get_by_label("means").fill("Josiah Quill")
    page.get_by_role("button", name="Merge", exact=True).click()
    expect(merges.filter(has_text="by hand")).to_contain_text("Luke Farran → Josiah Quill")
    expect(names).to_contain_text(re.compile(r"Josiah Quill.*also luke farran", re.IGNORECASE))
    assert {(one.entity_name, one.why) for one in client.merges("luke farran", corpus=CORPUS)} == {
        ("Josiah Quill", "by hand")
    }
    page.get_by_role("button", name="Undo: Luke Farran").click()
    expect(merges.filter(has_text="by hand")).to_have_count(0)
    expect(names).not_to_contain_text("also")
    seen.expected.append("404")
    page.get_by_label("Name", exact=True).fill("Nobody")
    page.get_by_label("means").fill("Nobody")
    page.get_by_role("button", name="Merge", exact=True).click()
    expect(page.get_by_role("alert")).not_to_be_empty()


def test_a_list_that_comes_late_does_not_replace_a_newer_one(page: Page) -> None:
    late, newer = (re.compile(rf"/v1/corpora/{corpus}/documents") for corpus in (CORPUS, MANY))
    open_documents(page, MANY)
    rows = page.locator("#documents tbody tr")
    expect(rows).to_have_count(PER_PAGE)
    held: list[Route] = []
    page.route(late, lambda route: held.append(route))
    with page.expect_request(late):
        page.get_by_label("Corpus", exact=True).select_option(CORPUS)
    with page.expect_response(newer):
        page.get_by_label("Corpus", exact=True).select_option(MANY)
    with page.expect_response(late):
        held[0].continue_()
    page.wait_for_timeout(300)  # to draw what came
    expect(rows).to_have_count(PER_PAGE)


def test_documents_are_listed_by_pages_and_state(page: Page) -> None:
    open_documents(page, MANY)
    rows = page.locator("#documents tbody tr")
    expect(rows).to_have_count(PER_PAGE)
    page.get_by_role("button", name="Next page").click()
    expect(rows).to_have_count(2)
    expect(rows.last).to_contain_text(f"Paper {PER_PAGE + 1}")
    expect(page.get_by_role("button", name="Next page")).to_be_disabled()
    page.get_by_role("button", name="Previous page").click()
    expect(rows.first).to_contain_text("Paper 00")
    page.get_by_label("State", exact=True).select_option("failed")
    expect(page.locator("#documents-note")).to_have_text("No documents.")


def test_an_upload_shows_its_progress_and_its_task(page: Page, database: Driver, tmp_path: Path) -> None:
    open_documents(page, CORPUS)
    corpus = "uploaded b"
    files = [tmp_path / name for name in ("one.txt", "two.md")]
    for file in files:
        file.write_text("A text.", encoding="utf-8")
    page.get_by_label("Into corpus").fill(corpus)
    page.get_by_label("Files: choose them").set_input_files(files)
    page.get_by_role("button", name="Upload").click()
    item = page.get_by_role("list", name="Uploads").get_by_role("listitem")
    expect(item).to_contain_text("one.txt, two.md")
    expect(item).to_contain_text("queued")
    found = database.execute_query(
        "MATCH (t:E2GTask {corpus_name: $corpus}) MATCH (b:E2GBlob {task: t.id}) RETURN b.name AS name", corpus=corpus
    )
    assert sorted(record["name"] for record in found.records) == ["one.txt", "two.md"]
    set_task(database, corpus, state="running", stage="reading", done=1, total=2)
    expect(item).to_contain_text("reading, 1 of 2")
    expect(item.get_by_role("progressbar")).to_have_attribute("value", "1")
    set_task(database, corpus, state="failed", error='{"code": "reading", "detail": "The file is damaged."}')
    expect(item).to_contain_text("The file is damaged.")
    item.get_by_role("button", name="Retry").click()
    expect(item).to_contain_text("queued")
    item.get_by_role("button", name="Cancel").click()
    expect(item).to_contain_text("cancelled")


def test_tasks_are_listed_and_followed(page: Page, database: Driver, service: RunningService) -> None:
    corpus = "listed"
    with service.client() as client:
        body = {"documents": [{"source": "a", "text": "A text."}]}
        client.post(f"/v1/corpora/{corpus}/documents", json=body).raise_for_status()
    page.get_by_role("link", name="Tasks").click()
    row = page.locator("#tasks tbody tr", has_text=corpus)
    expect(row).to_contain_text("queued")
    set_task(database, corpus, state="running", stage="writing", done=3, total=4)
    expect(row).to_contain_text("writing, 3 of 4")
    row.get_by_role("button", name="Cancel").focus()
    set_task(database, corpus, state="cancelled")
    expect(row).to_contain_text("cancelled")
    expect(row.get_by_role("button", name="Retry")).to_be_focused()
    set_task(database, corpus, state="succeeded", result='{"documents": 1}')
    page.get_by_role("button", name="Refresh").click()
    row.get_by_role("button", name="Result").click()
    expect(row).to_contain_text("1 document")
    expect(row.get_by_role("button")).to_have_count(0)


def test_a_deletion_is_confirmed(page: Page, database: Driver, service: RunningService) -> None:
    open_documents(page, MANY)
    delete = page.get_by_role("button", name="Delete Paper 03")
    delete.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Paper 03")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(delete).to_be_focused()
    with service.client() as client:
        assert [task for task in client.get("/v1/tasks").json()["tasks"] if task["corpus"] == MANY] == []
    delete.click()
    dialog.get_by_role("button", name="Delete").click()
    row = page.locator("#documents tbody tr", has_text="Paper 03")
    expect(row).to_contain_text("queued")
    with service.client() as client:
        [task] = [task for task in client.get("/v1/tasks").json()["tasks"] if task["corpus"] == MANY]
    assert task["kind"] == "delete"
    set_task(database, MANY, state="succeeded")
    expect(page.locator("#documents-title")).to_be_focused()
    expect(delete).to_be_enabled()


def test_a_corpus_is_deleted_after_a_confirmation(page: Page, database: Driver, service: RunningService) -> None:
    open_documents(page, HOSTILE)
    page.get_by_role("button", name="Delete corpus").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(HOSTILE)
    dialog.get_by_role("button", name="Delete").click()
    expect(page.locator("#corpus-action")).to_contain_text("queued")
    with service.client() as client:
        [task] = [task for task in client.get("/v1/tasks").json()["tasks"] if task["corpus"] == HOSTILE]
    assert task["kind"] == "delete_corpus"
    set_task(database, HOSTILE, state="succeeded")
    expect(page.get_by_role("button", name="Delete corpus")).to_be_visible()
    expect(page.locator("#documents-title")).to_be_focused()


# --- conversations -----------------------------------------------------------------------------------


FOLLOW_UP = "What did he count?"


def requests_to(page: Page, path: str) -> list[str]:
    """The addresses under a path that the page asks for from now on."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if path in request.url else None)
    return asked


def kept(service: RunningService, key: str | None = None) -> list[dict[str, Any]]:
    with service.client(key) as http:
        found: list[dict[str, Any]] = http.get("/v1/conversations").raise_for_status().json()
    return found


def reload(page: Page) -> None:
    page.reload()
    expect(page.locator("#result")).not_to_have_attribute("aria-busy", "true")
    page.locator("#panel-graph canvas").first.wait_for(state="attached")


def wait_until_kept(page: Page, turn: int) -> None:
    """Wait until the service has the turn with a number. The policy of the page forbids `wait_for_function`."""
    until = time.monotonic() + MILLISECONDS / 1000
    while page.evaluate("history.state?.turn") != turn:
        assert time.monotonic() < until, page.locator("#kept-note").text_content()
        page.wait_for_timeout(50)


def keep_two_turns(page: Page) -> None:
    ask(page)
    ask(page, FOLLOW_UP)
    expect(page.locator("#answer-actions")).to_be_visible()
    wait_until_kept(page, 1)


def test_nothing_is_lost_at_a_reload_and_follow_ups_go_on(page: Page, service: RunningService) -> None:
    keep_two_turns(page)
    text = page.locator("#answer-text").text_content()
    again = requests_to(page, "/v1/ask")
    reload(page)
    expect(page.locator("#turns > li")).to_have_count(1)
    expect(page.locator("#turns > li")).to_contain_text(QUESTION)
    expect(page.get_by_label("Question")).to_have_value(FOLLOW_UP)
    expect(page.locator("#answer-text")).to_have_text(str(text))
    expect(page.locator("#evidence-note")).to_contain_text("searched again")
    assert again == [], "the answer is not made again"
    page.locator("#turns a").click()
    page.get_by_role("button", name=re.compile("^Citation 1:")).click()
    expect(page.locator("#panel-text mark")).to_be_focused()
    with page.expect_request(lambda request: request.url.endswith("/v1/ask")) as sent:
        ask(page, "And then?")
    assert [one["question"][: len(FOLLOW_UP)] for one in json.loads(sent.value.post_data or "")["history"]] == [
        QUESTION[: len(FOLLOW_UP)],
        FOLLOW_UP,
    ]
    wait_until_kept(page, 2)
    assert kept(service)[0]["turns"] == 3


def test_an_address_opens_a_conversation(page: Page, service: RunningService) -> None:
    keep_two_turns(page)
    [first, *_] = kept(service)
    page.goto(f"{service.url}/ui/#/conversations/{first['id']}")
    page.reload()
    expect(page.locator("#turns > li")).to_have_count(1)
    expect(page.get_by_label("Question")).to_have_value(FOLLOW_UP)
    page.locator("#turns a").click()
    expect(page.get_by_label("Question")).to_have_value(QUESTION)
    expect(page.locator("#answer-text")).to_contain_text("Luke Farran was at the helm")
    expect(page.locator("#turns > li")).to_have_count(2)
    expect(page.locator("#turns a[aria-current]")).to_have_text(QUESTION)
    page.go_back()
    expect(page.get_by_label("Question")).to_have_value(FOLLOW_UP)


def test_a_conversation_that_is_gone_is_told_with_a_way_on(page: Page, service: RunningService, seen: Seen) -> None:
    seen.expected.append("404")
    page.goto(f"{service.url}/ui/#/conversations/{'0' * 32}")
    expect(page.get_by_role("alert")).to_contain_text("There is no such conversation")
    expect(page.get_by_role("alert")).to_contain_text("Open Conversations")
    ask(page)
    expect(page.locator("#answer-actions")).to_be_visible()


def test_conversations_are_listed_renamed_exported_and_deleted(
    page: Page, service: RunningService, tmp_path: Path
) -> None:
    ask(page, "Who wrote the log?")
    page.get_by_text("Conversations", exact=True).click()
    item = page.locator("#kept > li").first
    expect(item).to_contain_text("Who wrote the log?")
    item.get_by_role("button", name="Rename").click()
    page.get_by_label("Title", exact=True).fill("About the <b>log")
    page.keyboard.press("Enter")
    expect(item.locator("a")).to_have_text("About the <b>log")
    expect(item.locator("a")).to_be_focused()
    item.get_by_role("button", name="Rename").click()
    page.keyboard.press("Escape")
    expect(item.locator("a")).to_be_focused()
    with page.expect_download() as loading:
        item.get_by_role("button", name="Export").click()
    loading.value.save_as(tmp_path / "kept.md")
    text = (tmp_path / "kept.md").read_text(encoding="utf-8")
    assert text.startswith("# About the <b>log\n\n## Who wrote the log?\n\n**Luke Farran** was at the helm [1].")
    assert "1. The log, characters" in text
    count = len(kept(service))
    item.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator("#kept > li")).to_have_count(count - 1)
    expect(page.locator("#result")).to_be_hidden()
    assert "About the <b>log" not in [one["title"] for one in kept(service)]


def test_thumbs_are_kept_and_exported(page: Page, service: RunningService, tmp_path: Path) -> None:
    ask(page)
    page.get_by_role("button", name="Bad", exact=True).click()
    page.get_by_role("button", name="Good", exact=True).click()
    expect(page.locator("#announce")).to_have_text("Rated good.")
    wait_until_kept(page, 0)
    reload(page)
    expect(page.locator("#rate-up")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#rate-down")).to_have_attribute("aria-pressed", "false")
    page.get_by_text("Conversations", exact=True).click()
    with page.expect_download() as loading:
        page.get_by_role("button", name="Export good ones").click()
    loading.value.save_as(tmp_path / "good.jsonl")
    assert loading.value.suggested_filename == f"{CORPUS}-up.jsonl"
    [question] = read_questions(tmp_path / "good.jsonl")
    cited = answer(service)["citations"]
    assert (question.question, question.answer) == (QUESTION, ANSWER.replace("[2, 99]", "[2]"))
    assert [(start, end) for _, start, end in question.spans] == [
        (one["passage"]["excerpt"]["start"], one["passage"]["excerpt"]["end"]) for one in cited
    ]
    page.get_by_role("button", name="Good", exact=True).click()
    expect(page.locator("#announce")).to_have_text("Rating removed.")


def test_an_answer_is_made_again_and_copied_and_says_how_it_was_made(page: Page, service: RunningService) -> None:
    page.get_by_text("Options", exact=True).click()
    page.get_by_label("Mode").select_option("dense")
    page.locator("#k").fill("4")
    ask(page)
    expect(page.locator("#answer-options")).to_have_text(f"Mode dense · k 4 · hops 3 · {CORPUS}")
    page.get_by_role("button", name="Copy answer").click()
    expect(page.locator("#announce")).to_have_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"## {QUESTION}\n\n**Luke Farran** was at the helm [1].")
    assert re.search(r"\n1\. The log, characters \d+–\d+\n2\. The log", copied)
    wait_until_kept(page, 0)
    page.get_by_label("Mode").select_option("auto")
    page.get_by_label("Question").fill("Something else?")
    with page.expect_request(lambda request: request.url.endswith("/v1/ask")) as sent:
        page.get_by_role("button", name="Regenerate").click()
    body = json.loads(sent.value.post_data or "")
    assert (body["question"], body["mode"], body["k"], body["history"]) == (QUESTION, "dense", 4, [])
    expect(page.locator("#answer-actions")).to_be_visible()
    wait_until_kept(page, 0)
    expect(page.get_by_label("Question")).to_have_value("Something else?")
    assert kept(service)[0]["turns"] == 1


def test_what_was_typed_survives_a_reload(page: Page) -> None:
    ask(page)
    page.get_by_label("Question").fill("Half of a ques")
    reload(page)
    expect(page.get_by_label("Question")).to_have_value("Half of a ques")
    ask(page, FOLLOW_UP)
    assert page.evaluate("sessionStorage.length") == 0


@pytest.mark.full
def test_a_restart_of_the_service_loses_nothing(
    playwright: Playwright, client: E2G, variables: dict[str, str], tmp_path: Path
) -> None:
    running = RunningService(variables, tmp_path / "log", "--no-worker")
    port = running.url.rsplit(":", 1)[1]
    try:
        with chromium_page(playwright) as (page, _):
            page.goto(f"{running.url}/ui")
            ask(page)
            wait_until_kept(page, 0)
            running.kill()
            page.get_by_role("button", name="Good", exact=True).click()
            expect(page.locator("#kept-note")).to_contain_text("This turn is not kept. The service cannot be reached.")
            page.get_by_label("Question").fill(FOLLOW_UP)
            page.get_by_role("button", name="Ask", exact=True).click()
            expect(page.get_by_role("alert")).to_contain_text("The service cannot be reached.")
            expect(page.get_by_label("Question")).to_have_value(FOLLOW_UP)
            running = RunningService(variables, tmp_path / "log", "--no-worker", "--port", port)
            ask(page, FOLLOW_UP)
            wait_until_kept(page, 1)
            with running.client() as http:
                one = page.evaluate("history.state.conversation")
                turns = http.get(f"/v1/conversations/{one}").json()["turns"]
            assert [(one["question"], one["rating"]) for one in turns] == [(QUESTION, "up"), (FOLLOW_UP, None)]
    finally:
        running.stop()


# --- comparing ---------------------------------------------------------------------------------------


def compare(page: Page) -> None:
    """Compare auto with dense, and wait for both."""
    page.get_by_role("link", name="Compare").click()
    page.locator("#mode-a").wait_for()
    for box in page.locator("#compare-corpora input").all():
        box.set_checked(box.get_attribute("value") == CORPUS)
    page.locator("#compare-question").fill(QUESTION)
    page.locator("#k-b").fill("3")
    page.locator("#compare-button").click()
    expect(page.locator("#compare-stop")).to_be_hidden()


def test_two_modes_are_compared(page: Page, service: RunningService, client: E2G) -> None:
    compare(page)
    found = [client.retrieve(QUESTION, corpus=CORPUS, mode=mode, k=k) for mode, k in (("auto", 10), ("dense", 3))]
    for side, evidence, others in zip("ab", found, found[::-1], strict=True):
        cards = page.locator(f"#evidence-{side} > li")
        expect(cards).to_have_count(len(evidence.passages))
        both = [
            any(one.start < other.end and other.start < one.end for other in others.passages)
            for one in evidence.passages
        ]
        assert [card.locator(".shared").count() == 1 for card in cards.all()] == both
        assert page.locator(f"#evidence-{side} mark").count() > 0
        expect(cards.first).to_contain_text("Score ")
        expect(page.locator(f"#answer-{side}")).to_contain_text("Luke Farran was at the helm [1]")
        expect(page.locator(f"#note-{side}")).to_contain_text(evidence.reason)
    expect(page.locator("#title-b")).to_have_text("Mode dense · k 3 · hops 3")
    expect(page.locator("#compare-note")).to_contain_text(f"of {len(found[0].passages)} passages of the first mode")
    address = page.url
    page.reload()
    expect(page.locator("#evidence-b > li")).to_have_count(3)
    assert (page.url, page.locator("#k-b").input_value()) == (address, "3")
    page.locator("#answer-a .citation").first.click()
    expect(page.locator("#place mark")).to_be_focused()
    page.go_back()
    expect(page.locator("#evidence-b > li")).to_have_count(3)


def test_a_comparison_is_stopped_and_says_what_fails(page: Page, seen: Seen) -> None:
    compare(page)
    page.locator("#compare-question").fill(ENDLESS)
    page.keyboard.press("Enter")
    expect(page.locator("#answer-a")).to_contain_text(PIECE.strip())
    page.locator("#compare-stop").click()
    expect(page.locator("#compare-note")).to_contain_text("Stopped")
    seen.expected.append("422")
    page.locator("#options-b .wide").fill("year>1")
    page.locator("#compare-question").fill(QUESTION)
    page.keyboard.press("Tab")
    page.locator("#compare-button").click()
    expect(page.locator("#note-b")).to_contain_text("property 'year'")
    expect(page.locator("#answer-a")).to_contain_text("Luke Farran was at the helm [1]")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 320)])
def test_compare_and_conversations_are_accessible_and_fit(
    page: Page, scheme: Any, width: int, keep: Callable[[str], Path]
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 860})

    def check(state: str) -> None:
        page.screenshot(path=keep(f"{state}-{scheme}-{width}"), full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        violations = Axe().run(page).response["violations"]
        assert [(state, one["id"], one["nodes"][0]["html"]) for one in violations] == []

    keep_two_turns(page)
    page.get_by_role("button", name="Good", exact=True).click()
    page.get_by_text("Conversations", exact=True).click()
    page.locator("#kept > li").first.wait_for()
    check("conversation")
    page.locator("#kept button").first.click()
    check("rename")
    compare(page)
    check("compare")


def test_the_keyboard_compares(page: Page) -> None:
    page.locator("#corpora input").first.wait_for()
    tab_to(page, page.get_by_role("link", name="Compare"))
    page.keyboard.press("Enter")
    expect(page.locator("#compare-title")).to_be_focused()
    tab_to(page, page.locator("#compare-question"))
    page.keyboard.type(QUESTION)
    for box in page.locator("#compare-corpora input").all():
        tab_to(page, box)
        if box.is_checked() != (box.get_attribute("value") == CORPUS):
            page.keyboard.press("Space")
    tab_to(page, page.locator("#mode-b"))
    tab_to(page, page.locator("#compare-question"), most=200)
    page.keyboard.press("Enter")
    expect(page.locator("#compare-stop")).to_be_hidden()
    tab_to(page, page.locator("#answer-b .citation").first, most=200)
    page.keyboard.press("Enter")
    expect(page.locator("#place mark")).to_be_focused()


# --- access ------------------------------------------------------------------------------------------


@pytest.fixture
def key(variables: dict[str, str], client: E2G, database: Driver) -> Iterator[str]:
    """A key. While it is there, every request needs one."""
    yield create_key(variables, scopes="read", corpora=CORPUS)
    database.execute_query("MATCH (k:E2GKey) DETACH DELETE k")


def test_the_key_is_asked_for_and_kept_in_memory_only(page: Page, key: str, seen: Seen) -> None:
    seen.expected += ["401", "403"]
    page.reload()
    entry = page.get_by_label("Key", exact=True)
    expect(entry).to_be_focused()
    expect(page.locator("#key-note")).to_contain_text("needs an API key")
    entry.fill(f"{key[:-1]}!")
    page.keyboard.press("Enter")
    expect(page.locator("#key-note")).to_contain_text("refuses this key")
    expect(entry).to_be_focused()
    entry.fill(key)
    page.keyboard.press("Enter")
    expect(page.locator("#corpora")).to_have_text(re.compile(CORPUS))
    expect(page.locator("#corpora input")).to_have_count(1)
    expect(page.locator("#key-panel")).to_be_hidden()
    expect(entry).to_have_value("")
    ask(page)
    expect(page.locator("#evidence-note")).to_contain_text("This key may not use the chat model")
    open_documents(page, CORPUS)
    expect(page.locator("#documents tbody tr")).to_have_count(1)
    expect(page.get_by_role("heading", name="Upload")).to_be_hidden()
    assert page.get_by_role("button", name="Delete").count() == 0
    kept = page.evaluate("[localStorage.length, sessionStorage.length, document.cookie, location.href]")
    assert kept[:3] == [0, 0, ""]
    assert key not in kept[3]
    page.reload()
    expect(page.locator("#key-note")).to_contain_text("needs an API key")


def test_a_key_that_is_revoked_while_the_page_is_open(
    page: Page, key: str, variables: dict[str, str], service: RunningService, seen: Seen
) -> None:
    seen.expected += ["401", "403", "404"]
    page.reload()
    page.get_by_label("Key", exact=True).fill(key)
    page.keyboard.press("Enter")
    ask(page)
    wait_until_kept(page, 0)
    assert [one["turns"] for one in kept(service, key)] == [1]
    other = create_key(variables, scopes="read", corpora=CORPUS)
    assert e2g(variables, "keys", "revoke", key.split("_")[1]).returncode == 0
    page.get_by_label("Question").fill(FOLLOW_UP)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#key-note")).to_contain_text("expired or revoked. Enter another one")
    page.get_by_label("Key", exact=True).fill(other)
    page.keyboard.press("Enter")
    expect(page.locator("#key-panel")).to_be_hidden()
    expect(page.get_by_label("Question")).to_have_value(FOLLOW_UP)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#kept-note")).to_contain_text("another key's: this turn begins a new one")
    assert [(one["title"], one["turns"]) for one in kept(service, other)] == [(FOLLOW_UP, 1)]


# --- for everybody -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_state_is_accessible(page: Page, scheme: Any, keep: Callable[[str], Path]) -> None:
    def check(state: str) -> None:
        page.screenshot(path=keep(f"{state}-{scheme}"))
        results = Axe().run(page).response
        assert len(results["passes"]) > 10
        assert [(state, one["id"], one["nodes"][0]["html"]) for one in results["violations"]] == []

    page.emulate_media(color_scheme=scheme)
    page.locator("#corpora input").first.wait_for()
    check("start")
    page.get_by_role("button", name="API key").click()
    check("key")
    page.keyboard.press("Escape")
    ask(page)
    page.get_by_text("Options", exact=True).click()
    page.get_by_text("Conversations", exact=True).click()
    page.locator("#kept li").first.wait_for()
    page.get_by_text("Show as a table").click()
    check("answer")
    page.get_by_role("tab", name="Tree").click()
    page.get_by_text("Show as a list").click()
    check("tree")
    page.locator("#evidence button").first.click()
    page.locator("#panel-text mark").wait_for()
    check("passage")
    open_documents(page, MANY)
    page.locator("#documents tbody tr").first.wait_for()
    page.locator("#names summary").click()
    page.locator("#names-list li").first.wait_for()
    check("documents")
    page.get_by_role("button", name="Delete Paper 00").click()
    check("dialog")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Tasks").click()
    page.locator("#tasks-note").wait_for(state="attached")
    check("tasks")


def test_nothing_is_cut_off_on_a_narrow_screen(page: Page, service: RunningService, client: E2G) -> None:
    page.set_viewport_size({"width": 320, "height": 640})

    def check() -> None:
        assert page.evaluate("document.documentElement.scrollWidth") <= 320

    ask(page)
    page.get_by_text("Options", exact=True).click()
    check()
    page.get_by_role("tab", name="Tree").click()
    check()
    page.get_by_role("button", name=re.compile("^Citation 1:")).click()
    expect(page.locator("#panel-text mark")).to_be_in_viewport()
    check()
    open_documents(page, HOSTILE)
    page.locator("#documents tbody tr").first.wait_for()
    page.locator("#names summary").click()
    page.locator("#names-list li").first.wait_for()
    check()
    page.get_by_role("link", name="Tasks").click()
    check()
    [document] = client.documents(HOSTILE)
    page.goto(f"{service.url}/ui/#/corpora/{HOSTILE}/documents/{document.id}?at=3000")
    expect(page.locator("#place mark")).to_be_in_viewport()
    check()


@pytest.mark.full
def test_an_uploaded_file_is_indexed_and_can_be_asked(
    playwright: Playwright, client: E2G, variables: dict[str, str], tmp_path: Path
) -> None:
    """With a worker, from the choice of the file to the evidence."""
    file = tmp_path / "voyage.txt"
    file.write_text("Hester Pendry took the schooner Lantern from Port Hesk to the islet of Osmay.", encoding="utf-8")
    running = RunningService(variables, tmp_path / "log")
    try:
        with chromium_page(playwright) as (page, _):
            page.goto(f"{running.url}/ui")
            open_documents(page, CORPUS)
            page.get_by_label("Into corpus").fill("uploads")
            (tmp_path / "<b>blank.txt").write_text(" \n")
            page.get_by_label("Files: choose them").set_input_files([file, tmp_path / "<b>blank.txt"])
            page.get_by_role("button", name="Upload").click()
            item = page.get_by_role("list", name="Uploads").locator("> li")
            expect(item).to_contain_text("succeeded", timeout=120_000)
            expect(item.get_by_text("1 source left out")).to_be_visible()
            expect(item.get_by_text("<b>blank.txt is empty")).to_be_visible()
            page.goto(f"{running.url}/ui")
            ask(page, "Where did Hester Pendry take the Lantern?", "uploads")
            expect(page.locator("#result")).to_contain_text("Hester Pendry took the schooner")
    finally:
        running.stop()
