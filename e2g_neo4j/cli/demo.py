"""`e2g demo`: from nothing to cited evidence."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from e2g_neo4j.cli import show
from e2g_neo4j.client import E2G
from e2g_neo4j.local import LocalServer
from e2g_neo4j.settings import load_settings

LIBRARY = Path(__file__).parent.parent / "sample" / "library"
CORPUS = "sample"
CHUNKS = {"chunk_tokens": 300, "chunk_overlap": 50}
"""The papers are short: smaller chunks than usual let a tree grow over each."""
QUESTIONS = (
    "Who really made the chronometer that Luke Farran saved?",  # two entities: local
    "What became of Walter Crail?",  # one entity makes no pair: global
    "What went wrong?",  # none at all: global
)


def run(out: Console) -> None:
    """Index the sample library and ask it three questions, one for each way to an answer."""
    settings = load_settings().model_copy(update=CHUNKS)
    with E2G(settings=settings) as e2g:
        out.rule("The sample library: twelve papers of an invented island")
        with show.progress(quiet=False) as progress:
            done = e2g.index([LIBRARY], corpus=CORPUS, progress=progress)
        show.report(out, done)
        for question in QUESTIONS:
            out.print()
            out.rule(question)
            show.evidence(out, e2g.retrieve(question, corpus=CORPUS, k=3))
    out.print()
    out.rule("See the graph")
    if settings.neo4j_uri:
        out.print(
            f"Open Neo4j Browser of {settings.neo4j_uri} and run: MATCH (n:Summary {{corpus: 'sample'}}) RETURN n"
        )
        return
    connection = LocalServer(settings).start()
    out.print(f"Neo4j Browser: {connection.browser_url}  (user {connection.username})")
    out.print("The password: e2g db status --show-password")
    out.print("Paste there what `e2g explain QUESTION --corpus sample` prints.")
