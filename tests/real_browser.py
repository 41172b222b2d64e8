"""Neo4j Browser as a person uses it: the page that the server serves, in a headless Chromium."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, Playwright, Route, expect
from tiers import CHROMIUM

from e2g_neo4j.managed_neo4j import Connection

WIDTH, HEIGHT = 1280, 860
MILLISECONDS = 90_000


class RealBrowser:
    """Neo4j Browser, logged in."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._arrived()

    def _arrived(self) -> None:
        self.page.get_by_text("You are connected").first.wait_for()

    def open(self, address: str) -> None:
        """Go to an address of Browser, where one is still logged in."""
        self.page.goto(address)
        self._arrived()

    def run(self, statement: str) -> Locator:
        """Run a statement or command, and give back the frame of its result when that is there."""
        self._type(statement)
        return self.run_what_stands_in_the_editor()

    def run_what_stands_in_the_editor(self) -> Locator:
        self.page.evaluate("document.querySelectorAll('[data-testid=frame]').forEach(one => one.dataset.seen = '')")
        self.page.get_by_test_id("editor-Run").click()
        self.page.locator("[data-testid=frame]:not([data-seen])").wait_for()
        return self.page.get_by_test_id("frame").first

    def command(self, command: str) -> None:
        """Run a command that shows its result elsewhere."""
        self._type(command)
        self.page.get_by_test_id("editor-Run").click()

    def await_picture(self, frame: Locator) -> None:
        """Wait until the circles are there and stand still."""
        frame.locator("g.node").first.wait_for()
        places = None
        while places != (places := frame.locator("g.node").evaluate_all("all => all.map(one => one.outerHTML)")):
            self.page.wait_for_timeout(1000)

    def screenshot(self, file: Path) -> None:
        self.page.screenshot(path=file)

    def _type(self, text: str) -> None:
        self.page.locator('[data-testid="activeEditor"] textarea').first.focus()
        self.page.keyboard.press("Control+A")
        self.page.evaluate("text => navigator.clipboard.writeText(text)", text)  # typed, it is given further brackets
        self.page.keyboard.press("Control+V")


@contextmanager
def chromium_page(playwright: Playwright) -> Iterator[tuple[Page, list[str]]]:
    """A page of a headless Chromium, and the addresses that it asks for. Nothing but loopback and files is reached."""
    asked: list[str] = []

    def look(route: Route) -> None:
        asked.append(route.request.url)
        there = urlsplit(route.request.url)
        if there.scheme == "file" or there.hostname in ("127.0.0.1", "localhost"):
            route.continue_()
        else:
            route.abort()

    chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    context = chromium.new_context(
        viewport={"width": WIDTH, "height": HEIGHT}, permissions=["clipboard-read", "clipboard-write"]
    )
    page = context.new_page()
    page.set_default_timeout(MILLISECONDS)
    page.route("**/*", look)
    yield page, asked
    chromium.close()


@contextmanager
def neo4j_browser(playwright: Playwright, connection: Connection) -> Iterator[RealBrowser]:
    """Open the page that the server serves, and log in."""
    with chromium_page(playwright) as (page, _):
        page.goto(connection.browser_url)
        # The form is made anew when Browser has asked where Bolt is.
        expect(page.get_by_test_id("boltaddress")).to_have_value(urlsplit(connection.uri).netloc, timeout=MILLISECONDS)
        page.get_by_test_id("username").fill(connection.username)
        page.get_by_test_id("password").fill(connection.password.get_secret_value())
        page.get_by_test_id("connect").click()
        page.get_by_test_id("password").wait_for(state="detached")
        browser = RealBrowser(page)
        # Browser remembers the log-in a moment after it is done; an address opened before would ask for it again.
        until = time.monotonic() + MILLISECONDS / 1000
        while connection.password.get_secret_value() not in page.evaluate("localStorage['neo4j.connections'] || ''"):
            assert time.monotonic() < until, "Browser has not remembered the log-in"
            page.wait_for_timeout(100)
        yield browser
