"""Show the graph: a guide for Neo4j Browser, the evidence of a question in it, and in a page of its own."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated, Unpack
from urllib.parse import urlsplit

import typer

from e2g_neo4j.browser.drawing import page
from e2g_neo4j.browser.guide import PORT, STYLE, GuideServer, example_parameters
from e2g_neo4j.browser.statements import MOST_PASSAGES, evidence_address
from e2g_neo4j.cli.files import check_file, write_file
from e2g_neo4j.cli.options import (
    Corpora,
    ExistingCorpus,
    NoOpen,
    Overwrite,
    choose_corpora,
    choose_corpus,
    out,
    with_retrieval_options,
)
from e2g_neo4j.cli.terminal import escape
from e2g_neo4j.client import E2G
from e2g_neo4j.managed_neo4j import LocalServer
from e2g_neo4j.managed_neo4j.browser_style import style_command
from e2g_neo4j.retrieval.options import RetrievalKeywords
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.results import Evidence

EXAMPLES = 300
"""Number of entities from which examples are chosen. The last is rare enough to be some hops away from the first."""

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
    out.print("In Neo4j Browser, log in and run the statement in the editor (Ctrl+Enter):")
    _open(evidence_address(browser_url(settings), evidence), no_open=no_open)
    if not settings.neo4j_uri:
        out.print("The user is neo4j; the password: e2g db status --show-password")


@with_retrieval_options
def viz(
    question: str,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.", show_default=False)],
    corpora: Corpora = None,
    overwrite: Overwrite = False,
    **retrieval: Unpack[RetrievalKeywords],
) -> None:
    """Draw the evidence for a question in a standalone HTML page."""
    check_file(output, "-o", overwrite=overwrite)
    with E2G() as e2g:
        evidence = e2g.retrieve(question, corpora=choose_corpora(e2g, corpora), **retrieval)
        paths = e2g.paths(evidence)
    write_file(output, page(paths), "-o", overwrite=overwrite)
    out.print(f"[bold]{evidence.route}[/bold]: {escape(evidence.reason)}")
    out.print(f"Drawn into {escape(str(output))}: open it in any web browser.")


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
        parameters = example_parameters(corpus, e2g.documents(corpus), e2g.entities(corpus=corpus, limit=EXAMPLES))
        browser = browser_url(e2g.settings)
    origins = frozenset({urlsplit(browser).hostname or "localhost"})
    with GuideServer(parameters, origins=origins, port=port) as server:
        out.print("In Neo4j Browser, log in and run one after the other (Ctrl+Enter):")
        out.print(f"  :style {server.address(STYLE)}")
        out.print(f"  :guide {server.address('guide.html')}")
        out.print("If Browser requires AsciiDoc:")
        out.print(f"  :guide {server.address('guide.adoc')}")
        out.print("Press Ctrl-C to stop serving the guide. Browser:")
        _open(f"{browser}?cmd=guide&arg={server.address('guide.html')}", no_open=no_open)
        server.serve_forever()


def _open(address: str, *, no_open: bool) -> None:
    """Print an address, and open it if there is a display."""
    out.print(address, markup=False)
    display = sys.platform in ("win32", "darwin") or any(os.environ.get(one) for one in ("DISPLAY", "WAYLAND_DISPLAY"))
    if display and not no_open:
        webbrowser.open(address)
