"""`e2g models`: which embedding models there are, and weights that are fetched."""

from __future__ import annotations

from typing import Annotated

import typer

from e2g_neo4j.cli import show
from e2g_neo4j.cli.json_output import print_result
from e2g_neo4j.cli.options import Json, out
from e2g_neo4j.cli.terminal import escape
from e2g_neo4j.errors import InputError
from e2g_neo4j.settings import load_settings

app = typer.Typer(help="List embedding models, or fetch their weights ahead of their first use.", no_args_is_help=True)


@app.command("list")
def list_models(as_json: Json = False) -> None:
    """List the embedding models that this package fetches, the one that is set, and those of its server."""
    from e2g_neo4j.models.embedding.load import list_embedding_models

    print_result(list_embedding_models(load_settings()), show.embedding_models, as_json=as_json)


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
