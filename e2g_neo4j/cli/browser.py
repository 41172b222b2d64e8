"""Show the graph in Neo4j Browser: a guide, and the evidence of a question."""

from __future__ import annotations

import os
import sys
import webbrowser
from typing import Annotated
from urllib.parse import urlsplit

import typer

from e2g_neo4j.browser.guide import PORT, GuideServer, example_parameters
from e2g_neo4j.browser.statements import MOST_PASSAGES, edit_address, evidence_address
from e2g_neo4j.cli.options import ExistingCorpus, NoOpen, choose_corpus
from e2g_neo4j.cli.terminal import escape, out
from e2g_neo4j.client import E2G
from e2g_neo4j.graph.catalog import check_corpus
from e2g_neo4j.managed_neo4j import LocalServer
from e2g_neo4j.managed_neo4j.config import style_command
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.results import Evidence

BROWSER = "http://{host}:7474/browser/"
"""Default address of Neo4j Browser."""


def browser_url(settings: Settings) -> str:
    """Return the address of Neo4j Browser: of the managed server, or at the default port of the configured one."""
    if settings.neo4j_uri:
        return BROWSER.format(host=urlsplit(settings.neo4j_uri).hostname or "localhost")
    return LocalServer(settings).start().browser_url


def show_in_browser(evidence: Evidence, settings: Settings, *, no_open: bool) -> None:
    """Print and open the address of Neo4j Browser with a statement that shows the evidence."""
    out.print(f"[bold]{evidence.route}[/bold]: {escape(evidence.reason)}")
    if settings.neo4j_uri:  # the managed server sets the style at every log-in
        out.print("Captions and colours, once in every Neo4j Browser: log in, paste this line and run it:")
        out.print(style_command(), markup=False, soft_wrap=True)
    if (found := len(evidence.passages)) > MOST_PASSAGES:
        out.print(f"The graph shows the best {MOST_PASSAGES} of {found} passages.")
    _open(evidence_address(browser_url(settings), evidence), settings, no_open=no_open)


def guide(
    corpus: ExistingCorpus = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port of the guide; 0 for any free port.")
    ] = PORT,
    no_open: NoOpen = False,
) -> None:
    """Serve a guide to the graph for Neo4j Browser until Ctrl-C."""
    with E2G() as e2g:
        corpus = choose_corpus(e2g, corpus)
        e2g.runner.run(check_corpus(corpus))
        parameters = e2g.runner.run(example_parameters(corpus))
        browser = browser_url(e2g.settings)
    origins = frozenset({urlsplit(browser).hostname or "localhost"})
    with GuideServer(parameters, origins=origins, port=port) as server:
        _open(edit_address(browser, f":guide {server.address('guide.html')}"), e2g.settings, no_open=no_open)
        out.print(f"If Browser requires AsciiDoc, run this instead:\n  :guide {server.address('guide.adoc')}")
        out.print("Press Ctrl-C to stop serving the guide.")
        server.serve_forever()


def _open(address: str, settings: Settings, *, no_open: bool) -> None:
    """Print an address of Neo4j Browser that fills its editor, and open it if there is a display."""
    out.print("In Neo4j Browser, log in and run the command in the editor (Ctrl+Enter):")
    out.print(address, markup=False, soft_wrap=True)
    if not settings.neo4j_uri:
        out.print("The user is neo4j; the password: e2g db status --show-password")
    display = sys.platform in ("win32", "darwin") or any(os.environ.get(one) for one in ("DISPLAY", "WAYLAND_DISPLAY"))
    if display and not no_open:
        webbrowser.open(address)
