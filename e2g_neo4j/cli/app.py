"""All commands, in the order of `e2g --help`."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated

import typer

from e2g_neo4j.cli import asking, browser, corpora, cypher, service, setup
from e2g_neo4j.cli.evaluation import evaluate_command
from e2g_neo4j.cli.terminal import out

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="E²GraphRAG in Neo4j: index documents and find cited evidence. `--debug` adds the traceback to an error.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        out.print(f"e2g-neo4j {version('e2g-neo4j')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options before the command."""


COMMANDS: dict[str, dict[str, Callable[..., None]]] = {
    "Index": {
        "index": corpora.index,
        "enrich": corpora.enrich,
        "reindex": corpora.reindex,
        "delete": corpora.delete,
    },
    "Ask": {
        "query": asking.query,
        "ask": asking.ask,
        "chat": asking.chat,
        "modes": asking.modes,
        "template": cypher.template,
        "cypher": cypher.cypher,
    },
    "Look at a corpus": {
        "corpora": corpora.corpora,
        "documents": corpora.documents,
        "read": asking.read,
        "entities": corpora.entities,
        "references": corpora.references,
        "guide": browser.guide,
    },
    "Your own graph": {
        "doctor": corpora.doctor,
        "link": corpora.link,
        "unlink": corpora.unlink,
        "adopt": corpora.adopt,
        "unadopt": corpora.unadopt,
    },
    "Service": {"serve": service.serve, "worker": service.worker, "mcp": service.mcp},
    "Evaluate": {"eval": evaluate_command},
    "Set up": {
        "demo": setup.demo,
        "init": setup.init,
        "export": corpora.export_command,
        "import": corpora.import_command,
        "models": setup.models,
    },
}
"""The commands, by the group in `e2g --help`."""

for group, commands in COMMANDS.items():
    for name, command in commands.items():
        app.command(name, rich_help_panel=group)(command)
app.add_typer(service.app, name="keys", rich_help_panel="Service")
app.add_typer(setup.db_app, name="db", rich_help_panel="Set up")
