"""Show the graph: `e2g guide`, `e2g explain --browser` and `e2g viz`."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Unpack
from urllib.parse import urlsplit

from rich.console import Console

from e2g_neo4j.browser.guide import STYLE, GuideServer, example_parameters
from e2g_neo4j.browser.statements import MOST_PASSAGES, evidence_address
from e2g_neo4j.cli.files import check_file, write_file
from e2g_neo4j.cli.options import choose_corpora, choose_corpus
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


def show_in_browser(out: Console, evidence: Evidence, settings: Settings, *, no_open: bool) -> None:
    """Print and open the address of Neo4j Browser with a statement that shows the evidence."""
    out.print(f"[bold]{evidence.route}[/bold]: {escape(evidence.reason)}")
    if settings.neo4j_uri:  # the managed server sets the style at every log-in
        out.print("Captions and colours, once in every Neo4j Browser: log in, paste this line and run it:")
        out.print(style_command(), markup=False, soft_wrap=True)
    if (found := len(evidence.passages)) > MOST_PASSAGES:
        out.print(f"The graph shows the best {MOST_PASSAGES} of {found} passages.")
    out.print("In Neo4j Browser, log in and run the statement in the editor (Ctrl+Enter):")
    _open(out, evidence_address(browser_url(settings), evidence), no_open=no_open)
    if not settings.neo4j_uri:
        out.print("The user is neo4j; the password: e2g db status --show-password")


def draw(
    out: Console,
    question: str,
    output: Path,
    *,
    corpora: Sequence[str],
    overwrite: bool = False,
    **retrieval: Unpack[RetrievalKeywords],
) -> None:
    """Write a page that draws the evidence of a question.

    Args:
        out: Where to print.
        question: The question.
        output: The file to write.
        corpora: The corpora to search.
        overwrite: Whether the file may exist.
        **retrieval: The retrieval options.

    Raises:
        InputError: The file cannot be written.
    """
    from e2g_neo4j.browser.drawing import page

    check_file(output, "-o", overwrite=overwrite)
    with E2G() as e2g:
        evidence = e2g.retrieve(question, corpora=choose_corpora(e2g, corpora), **retrieval)
        paths = e2g.paths(evidence)
    write_file(output, page(paths), "-o", overwrite=overwrite)
    out.print(f"[bold]{evidence.route}[/bold]: {escape(evidence.reason)}")
    out.print(f"Drawn into {escape(str(output))}: open it in any web browser.")


def serve_guide(out: Console, corpus: str | None, port: int, *, no_open: bool) -> None:
    """Serve the guide until interrupted, and print how to open it in Neo4j Browser."""
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
        _open(out, f"{browser}?cmd=guide&arg={server.address('guide.html')}", no_open=no_open)
        server.serve_forever()


def _open(out: Console, address: str, *, no_open: bool) -> None:
    """Print an address, and open it if there is a display."""
    out.print(address, markup=False)
    display = sys.platform in ("win32", "darwin") or any(os.environ.get(one) for one in ("DISPLAY", "WAYLAND_DISPLAY"))
    if display and not no_open:
        webbrowser.open(address)
