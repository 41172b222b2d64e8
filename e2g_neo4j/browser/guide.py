"""The guide for Neo4j Browser, and the HTTP server that serves it on loopback.

Neo4j Browser 5, which the managed server and Neo4j's packages contain, reads guides in HTML, its successor in AsciiDoc
(Neo4j Browser manual, "Custom guides"). The guide is written in AsciiDoc and converted to HTML.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from e2g_neo4j.browser.statements import params
from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.managed_neo4j.config import STYLE_FILE
from e2g_neo4j.runtime.cypher import load
from e2g_neo4j.runtime.requests import Operation, Read

HOST = "127.0.0.1"
PORT = 7475
HERE = Path(__file__).parent
STYLE = STYLE_FILE.name
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
NEIGHBOURS, HOPS = 12, 3


def example_parameters(corpus: str) -> Operation[dict[str, Any]]:
    """Choose parameters for the guide's statements. Those without a value, such as a second document, are omitted."""
    found: dict[str, Any] = {"corpus": corpus}
    for row in (yield Read("query/examples", {"corpus": corpus})):
        found |= {name: value for name, value in row.items() if value is not None}
        found |= {"first": row["title"], "limit": NEIGHBOURS, "hops": HOPS}
    return found


def asciidoc(parameters: Mapping[str, Any], style_address: str) -> str:
    """Render the guide in AsciiDoc, with the parameters of `example_parameters`. Sections whose statement needs a
    missing parameter are omitted."""
    commands = {
        "style": f":style {style_address}",
        "config": ":config autoComplete: false",
        "parameters": params(dict(parameters)),
    }

    def statement(found: re.Match[str]) -> str:
        return commands.get(found[1]) or load(f"explore/{found[1]}")

    sections = []
    for section in re.split(r"(?m)^(?=== )", (HERE / "guide.adoc").read_text(encoding="utf-8")):
        text = re.sub(r"(?m)^include::(\w+)\[\]$", statement, section)
        needed = {
            name for block in _blocks(text) if not block.startswith(":") for name in re.findall(r"\$(\w+)", block)
        }
        if needed <= parameters.keys():
            sections.append(text)
    return "".join(sections)


def html(text: str) -> str:
    """Convert the guide from AsciiDoc to HTML slides. Only sections, paragraphs and listings are supported."""
    slides = [_slide(*section.split("\n", 1)) for section in re.split(r"(?m)^== ", text)[1:]]
    deck = "\n".join(slides)
    return f'<article class="guide">\n<carousel class="deck container-fluid">\n{deck}\n</carousel>\n</article>\n'


def _slide(title: str, body: str) -> str:
    parts = re.split(r"(?ms)^\[source,cypher\]\n----\n(.*?)\n----$", body)
    shown = []
    for number, part in enumerate(parts):
        if number % 2:
            shown.append(f'<figure><pre class="pre-scrollable code runnable">{escape(part)}</pre></figure>')
        else:
            shown += [f"<p>{_inline(paragraph)}</p>" for paragraph in part.strip().split("\n\n") if paragraph]
    return (
        f'<slide class="row-fluid"><div class="col-sm-12"><h3>{escape(title)}</h3>\n'
        + "\n".join(shown)
        + "</div></slide>"
    )


def _inline(text: str) -> str:
    text = re.sub(r"`(.*?)`", r"<code>\1</code>", escape(text))
    return re.sub(r"\*(.*?)\*", r"<strong>\1</strong>", text)


def _blocks(text: str) -> list[str]:
    return re.findall(r"(?ms)^----\n(.*?)\n----$", text)


class GuideServer(ThreadingHTTPServer):
    """Serves the guide on loopback, to Neo4j Browser only: to pages of this machine and of `origins`. Raises
    ConfigurationError if the port is not available; 0 is any free port."""

    daemon_threads = True

    def __init__(
        self, parameters: Mapping[str, Any], *, origins: frozenset[str] = frozenset(), port: int = PORT
    ) -> None:
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise ConfigurationError(
                f"Cannot listen on port {port} of {HOST} ({error.strerror}): choose another one with --port."
            ) from error
        self.origins = LOOPBACK | origins
        text = asciidoc(parameters, self.address(STYLE))
        self.pages = {
            "/guide.html": ("text/html", html(text).encode()),
            "/guide.adoc": ("text/asciidoc", text.encode()),
            f"/{STYLE}": ("text/plain", STYLE_FILE.read_bytes()),
        }

    def address(self, name: str) -> str:
        """Return the address of a page, with the host name from which Browser loads guides by default."""
        return f"http://localhost:{self.server_port}/{name}"


class _Handler(BaseHTTPRequestHandler):
    server: GuideServer
    server_version = "e2g"
    sys_version = ""

    def do_OPTIONS(self) -> None:
        """Reply to the preflight request of Browser.

        Any header may be sent, as none is read: Browser asks for those of an uncached copy, and its error tracking adds
        one of its own to every request.
        """
        self._reply(HTTPStatus.NO_CONTENT)

    def do_GET(self) -> None:
        page = self.server.pages.get(urlsplit(self.path).path)
        self._reply(HTTPStatus.OK, page) if page else self._reply(HTTPStatus.NOT_FOUND)

    def _reply(self, status: HTTPStatus, page: tuple[str, bytes] | None = None) -> None:
        """Send a reply. Requests with another host name are rejected, to prevent DNS rebinding by other pages."""
        if _hostname(f"//{self.headers.get('Host', '')}") not in LOOPBACK:
            status, page = HTTPStatus.FORBIDDEN, None
        self.send_response(status)
        origin = self.headers.get("Origin", "")
        if _hostname(origin) in self.server.origins:
            self.send_header("Access-Control-Allow-Origin", origin)
            self.send_header("Access-Control-Allow-Methods", "GET")
            if wanted := self.headers.get("Access-Control-Request-Headers"):
                self.send_header("Access-Control-Allow-Headers", wanted)
            if self.headers.get("Access-Control-Request-Private-Network"):
                self.send_header("Access-Control-Allow-Private-Network", "true")
        self.send_header("Vary", "Origin")
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        kind, content = page or ("", b"")
        if kind:
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Do not log, to keep the printed address visible."""


def _hostname(address: str) -> str:
    try:
        name = urlsplit(address).hostname or ""
    except ValueError:
        return ""
    return f"[{name}]" if ":" in name else name
