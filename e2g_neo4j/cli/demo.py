"""`e2g demo`: index the sample library and ask it three questions."""

from __future__ import annotations

from pathlib import Path

from e2g_neo4j.cli import show, show_evidence
from e2g_neo4j.cli.options import out
from e2g_neo4j.client import E2G
from e2g_neo4j.managed_neo4j import LocalServer
from e2g_neo4j.settings import load_settings

LIBRARY = Path(__file__).parent.parent / "sample" / "library"
CORPUS = "sample"
CHUNKS = {"chunk_tokens": 300, "chunk_overlap": 50}
"""Smaller than the default, so that each of the short papers has a summary tree."""
QUESTIONS = (
    "Who really made the chronometer that Luke Farran saved?",  # two entities: local
    "What became of Walter Crail?",  # one entity, no pair: global
    "What went wrong?",  # no entity: global
)


def demo() -> None:
    """Index the sample library and ask it three questions."""
    settings = load_settings().model_copy(update=CHUNKS)
    with E2G(settings=settings) as e2g:
        out.rule("The sample library: twelve papers of an invented island")
        with show.progress(quiet=False) as progress:
            done = e2g.index([LIBRARY], corpus=CORPUS, progress=progress)
        show.report(out, done)
        for question in QUESTIONS:
            out.print()
            out.rule(question)
            show_evidence.evidence(out, e2g.retrieve(question, corpus=CORPUS, k=3))
    out.print()
    out.rule("See the graph")
    if settings.neo4j_uri:
        out.print(f"Open Neo4j Browser of {settings.neo4j_uri}.")
    else:
        connection = LocalServer(settings).start()
        out.print(f"Neo4j Browser: {connection.browser_url}  (user {connection.username})")
        out.print("The password: e2g db status --show-password")
    out.print(f"The graph, with prepared statements: e2g guide --corpus {CORPUS}")
    out.print(
        f'The evidence of the first question: e2g explain "{QUESTIONS[0]}" --corpus {CORPUS} --browser', soft_wrap=True
    )
