"""`e2g migrate`, with `info` and `validate`."""

from __future__ import annotations

from typing import Annotated

import typer

from e2g_neo4j.cli import show
from e2g_neo4j.cli.options import out
from e2g_neo4j.client import E2G
from e2g_neo4j.graph.schema import ALL_PARTS

app = typer.Typer(help="Apply pending schema migrations (without a subcommand), list or validate them.")


@app.callback(invoke_without_command=True)
def migrate(
    context: typer.Context,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Create all of the schema now, for users who may not: also what layers and the service need."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand:
        return
    with E2G() as e2g:
        applied = e2g.migrate(ALL_PARTS if everything else ())
    for one in applied:
        out.print(f"applied {one.version} {one.description} ({one.seconds:.2f} s)")
    if not applied:
        out.print("The schema is up to date.")


@app.command()
def info() -> None:
    """List the migrations and their state in the database."""
    with E2G() as e2g:
        found = e2g.migrations()
    rows = [[one.version, one.description, one.state, one.at or "", one.connected_as or ""] for one in found]
    show.table(out, ["version", "description", "state", "at", "by"], rows, "There are no migrations.")


@app.command()
def validate() -> None:
    """Check that the database was migrated with these files. Exit code 9 if it was not."""
    with E2G() as e2g:
        e2g.validate()
    out.print("The schema matches the migrations.")
