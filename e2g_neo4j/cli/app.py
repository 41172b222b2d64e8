"""All commands, in the order of `e2g --help`."""

from __future__ import annotations

from collections.abc import Callable

import typer

from e2g_neo4j.cli import asking, corpora, existing_graphs, service, statements
from e2g_neo4j.cli.compare import compare_command
from e2g_neo4j.cli.db import app as db_app
from e2g_neo4j.cli.evaluation import convert_command, evaluate_command
from e2g_neo4j.cli.mcp import mcp
from e2g_neo4j.cli.migrations import app as migrate_app
from e2g_neo4j.cli.options import out

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="E²GraphRAG in Neo4j: index documents and find cited evidence. `--debug` adds the traceback to an error.",
)
app.add_typer(db_app, name="db")
app.add_typer(migrate_app, name="migrate")
app.add_typer(service.app, name="keys")


def demo() -> None:
    """Index the sample library and ask it three questions."""
    from e2g_neo4j.cli.demo import run

    run(out)


COMMANDS: dict[str, Callable[..., None]] = {
    "index": corpora.index,
    "query": asking.query,
    "ask": asking.ask,
    "explain": asking.explain,
    "compare": compare_command,
    "viz": asking.viz,
    "template": statements.template,
    "templates": statements.templates,
    "cypher": statements.cypher,
    "guide": asking.guide,
    "corpora": corpora.corpora,
    "documents": corpora.documents,
    "read": asking.read,
    "entities": corpora.entities,
    "status": corpora.status,
    "resume": corpora.resume,
    "delete": corpora.delete,
    "enrich": corpora.enrich,
    "link": existing_graphs.link,
    "unlink": existing_graphs.unlink,
    "adopt": existing_graphs.adopt,
    "unadopt": existing_graphs.unadopt,
    "doctor": existing_graphs.doctor,
    "stats": corpora.stats,
    "export": corpora.export_command,
    "import": corpora.import_command,
    "eval": evaluate_command,
    "eval-convert": convert_command,
    "serve": service.serve,
    "worker": service.worker,
    "mcp": mcp,
    "demo": demo,
}

for name, command in COMMANDS.items():
    app.command(name)(command)
