"""What shows the graph: `e2g guide`, `e2g explain --browser` and `e2g viz`."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console

from e2g_neo4j.cli.terminal import escape
from e2g_neo4j.client import E2G
from e2g_neo4j.errors import InputError
from e2g_neo4j.explore.guide import GuideServer, example_parameters
from e2g_neo4j.explore.statements import evidence_address
from e2g_neo4j.local import LocalServer
from e2g_neo4j.model import Evidence
from e2g_neo4j.retrieval import Mode
from e2g_neo4j.settings import Settings

EXAMPLES = 300
"""Entities that examples are taken from: the last is rare enough to be some steps away from the first."""

BROWSER = "http://{host}:7474/browser/"
"""Where Neo4j serves Browser unless it is told otherwise."""


def browser_url(settings: Settings) -> str:
    """Where Neo4j Browser is: that of the managed server, or at the usual port of the configured one."""
    if settings.neo4j_uri:
        return BROWSER.format(host=urlsplit(settings.neo4j_uri).hostname or "localhost")
    return LocalServer(settings).start().browser_url


def show_in_browser(out: Console, evidence: Evidence, settings: Settings, *, no_open: bool) -> None:
    """Print the address of Neo4j Browser with a statement that shows the evidence, and open it."""
    out.print(f"[bold]{evidence.route}[/bold]: {escape(evidence.reason)}")
    out.print("In Neo4j Browser, log in and run the statement that is in the editor:")
    _open(out, evidence_address(browser_url(settings), evidence), no_open=no_open)
    if not settings.neo4j_uri:
        out.print("The user is neo4j; the password: e2g db status --show-password")


def draw(
    out: Console, question: str, output: Path, *, corpora: Sequence[str], k: int | None, hops: int | None, mode: Mode
) -> None:
    """Write a page that shows the evidence of a question. Raises InputError for a file that cannot be written."""
    from e2g_neo4j.explore.drawing import page

    with E2G() as e2g:
        evidence = e2g.retrieve(question, corpora=corpora, k=k, hops=hops, mode=mode)
        paths = e2g.paths(evidence)
    drawn = page(paths)
    try:
        output.write_text(drawn, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{output} cannot be written ({error.strerror}): name another file with -o.") from error
    out.print(f"[bold]{evidence.route}[/bold]: {escape(evidence.reason)}")
    out.print(f"Drawn into {escape(str(output))}: open it in any web browser.")


def serve_guide(out: Console, corpus: str, port: int, *, no_open: bool) -> None:
    """Serve the guide until it is interrupted, and say how Neo4j Browser gets it."""
    with E2G() as e2g:
        parameters = example_parameters(corpus, e2g.documents(corpus), e2g.entities(corpus=corpus, limit=EXAMPLES))
        browser = browser_url(e2g.settings)
    origins = frozenset({urlsplit(browser).hostname or "localhost"})
    with GuideServer(parameters, origins=origins, port=port) as server:
        out.print("In Neo4j Browser, log in and run:")
        out.print(f"  :guide {server.address('guide.html')}")
        out.print("Where Browser says that it wants AsciiDoc:")
        out.print(f"  :guide {server.address('guide.adoc')}")
        out.print("The guide is served until Ctrl-C. Browser is here:")
        _open(out, f"{browser}?cmd=guide&arg={server.address('guide.html')}", no_open=no_open)
        server.serve_forever()


def _open(out: Console, address: str, *, no_open: bool) -> None:
    """Print an address, and open it where there is a screen."""
    out.print(address, markup=False)
    screen = sys.platform in ("win32", "darwin") or any(os.environ.get(one) for one in ("DISPLAY", "WAYLAND_DISPLAY"))
    if screen and not no_open:
        webbrowser.open(address)
