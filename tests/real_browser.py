"""Neo4j Browser, and the page of the service, as a person uses them: in a headless Chromium, and nothing between."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, Playwright, expect
from tiers import CHROMIUM

from e2g_neo4j.managed_neo4j import Connection

if TYPE_CHECKING:
    from running_service import RunningService

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


# --- the page of the service ---

WATCH = """
window.violations = [];
window.hacked = () => violations.push("a script of a document ran");
document.addEventListener("securitypolicyviolation", event => {
  violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""
"""Notes what the policy of the page forbids, and whether a script of a document ran."""


@contextmanager
def opened(playwright: Playwright, service: RunningService, address: str = "") -> Iterator[Page]:
    """The page in a browser of its own. Afterwards: no error, no violation of the policy, no request to elsewhere."""
    errors: list[str] = []
    with chromium_page(playwright) as (page, asked):
        page.add_init_script(WATCH)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{service.url}/ui/{address}")
        yield page
        assert page.evaluate("window.violations") == []
        assert errors == []
        assert [url for url in asked if not url.startswith((f"{service.url}/", "data:"))] == []


def click(page: Page, name: str | re.Pattern[str], inside: str = "body") -> None:
    page.locator(inside).get_by_role("link", name=name, exact=isinstance(name, str)).first.click()


def tab_to(page: Page, target: Locator, most: int = 60) -> None:
    target.wait_for()
    for _ in range(most):
        page.keyboard.press("Tab")
        if target.evaluate("one => one === document.activeElement"):
            return
    raise AssertionError("the element is not reached with Tab")
