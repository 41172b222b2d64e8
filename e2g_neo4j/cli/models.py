"""`e2g models`: weights of embedding models that are fetched."""

from __future__ import annotations

from typing import Annotated

import typer

from e2g_neo4j.cli.options import out
from e2g_neo4j.cli.terminal import escape
from e2g_neo4j.errors import InputError
from e2g_neo4j.settings import load_settings

app = typer.Typer(help="Fetch the weights of embedding models ahead of their first use.", no_args_is_help=True)


@app.command()
def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Names of models. (default: that of E2G_EMBEDDING_MODEL)", metavar="[NAME]..."),
    ] = None,
) -> None:
    """Fetch weights, and print the folder of each model. Copy it to use the model on a machine without a network."""
    from e2g_neo4j.models.embedding.weights import PUBLISHED

    for name in names or [load_settings().embedding_model]:
        if name not in PUBLISHED:
            raise InputError(f"The weights of {name} are not fetched by this command. It knows {', '.join(PUBLISHED)}.")
        out.print(f"{escape(name)}  {escape(str(PUBLISHED[name].fetch()))}")
