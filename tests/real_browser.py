"""Neo4j Browser as a person uses it: the page that the server serves, in a headless Chromium, and nothing between."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, Playwright, expect
from tiers import CHROMIUM

from e2g_neo4j.managed_neo4j import Connection

WIDTH, HEIGHT = 1280, 860
MILLISECONDS = 90_000
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class RealBrowser:
    """Neo4j Browser, logged in."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.get_by_text("You are connected").first.wait_for()

    def run(self, statement: str) -> Locator:
        """Run a statement or command, and give back the frame of its result when that is there."""
        self._type(statement)
        return self.run_what_stands_in_the_editor()

    def run_what_stands_in_the_editor(self) -> Locator:
        self.page.evaluate("document.querySelectorAll('[data-testid=frame]').forEach(one => one.dataset.seen = '')")
        self._editor().click()
        self.page.keyboard.press("Control+Enter")
        self.page.locator("[data-testid=frame]:not([data-seen])").first.wait_for()  # or frames of the start too
        return self.page.get_by_test_id("frame").first

    def run_command_in_the_editor(self) -> None:
        """Run a command that shows its result elsewhere."""
        self._editor().click()
        self.page.keyboard.press("Control+Enter")

    def await_picture(self, frame: Locator) -> None:
        """Wait until the circles are there and stand still."""
        frame.locator("g.node").first.wait_for()
        places = None
        while places != (places := frame.locator("g.node").evaluate_all("all => all.map(one => one.outerHTML)")):
            self.page.wait_for_timeout(1000)

    def screenshot(self, file: Path) -> None:
        self.page.screenshot(path=file)

    def _type(self, text: str) -> None:
        self._editor().click()
        self.page.keyboard.press("Control+A")
        if "{" in text:
            self.page.evaluate("text => navigator.clipboard.writeText(text)", text)  # typed, it is given more brackets
            self.page.keyboard.press("Control+V")
        else:
            self.page.keyboard.type(text)

    def _editor(self) -> Locator:
        return self.page.locator('[data-testid="activeEditor"] .view-lines').first


@contextmanager
def chromium_page(playwright: Playwright) -> Iterator[tuple[Page, list[str]]]:
    """A page of a headless Chromium with a new profile, and the addresses that it asks for."""
    asked: list[str] = []
    chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
    page = chromium.new_page(
        viewport={"width": WIDTH, "height": HEIGHT}, permissions=["clipboard-read", "clipboard-write"]
    )
    page.set_default_timeout(MILLISECONDS)
    page.on("request", lambda request: asked.append(request.url))
    yield page, asked
    chromium.close()


@contextmanager
def neo4j_browser(playwright: Playwright, connection: Connection, address: str = "") -> Iterator[RealBrowser]:
    """Open the page that the server serves, or an address of it, and log in."""
    with chromium_page(playwright) as (page, _):
        page.goto(address or connection.browser_url)
        # The form is made anew when Browser has asked where Bolt is.
        expect(page.get_by_test_id("boltaddress")).to_have_value(urlsplit(connection.uri).netloc, timeout=MILLISECONDS)
        page.get_by_test_id("username").fill(connection.username)
        page.get_by_test_id("password").fill(connection.password.get_secret_value())
        page.get_by_test_id("connect").click()
        page.get_by_test_id("password").wait_for(state="detached")
        browser = RealBrowser(page)
        # Browser remembers the log-in and the style of the server a moment after they are there. Before, an
        # address asks for the log-in again, and the results of the server's commands come after those of a test.
        until = time.monotonic() + MILLISECONDS / 1000
        for name, text in (("connections", connection.password.get_secret_value()), ("grass", "node.Entity")):
            while text not in page.evaluate(f"localStorage['neo4j.{name}'] || ''"):
                assert time.monotonic() < until, f"Browser has not remembered neo4j.{name}"
                page.wait_for_timeout(100)
        yield browser
