"""`e2g init`: a commented `.env` file."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer

from e2g_neo4j.cli.files import check_file, write_file
from e2g_neo4j.cli.options import Overwrite, out
from e2g_neo4j.cli.terminal import escape
from e2g_neo4j.settings import NOT_OF_A_FOLDER, Settings, variable_of

_DATABASE = """\
# Settings of e2g. Remove the # of a line to change a setting. Variables of the environment take precedence.

# Your Neo4j. Without an address, e2g starts a server of its own.
# NEO4J_URI=bolt://localhost:7687
# NEO4J_USERNAME=neo4j
# NEO4J_PASSWORD=
# NEO4J_DATABASE=neo4j
"""


def init(
    file: Annotated[Path, typer.Argument(help="The file to write.")] = Path(".env"),
    overwrite: Overwrite = False,
) -> None:
    """Write a `.env` file with all settings as comments, in the current folder."""
    check_file(file, "FILE", overwrite=overwrite)
    write_file(file, env_file(), "FILE", overwrite=overwrite)
    out.print(f"Written to {escape(str(file))}. Commands that run in this folder read it if it is named .env.")


def env_file() -> str:
    """Return all settings as comments, each with its description and default."""
    lines = [_DATABASE]
    for name, field in Settings.model_fields.items():
        if field.description and not name.startswith("neo4j_"):
            value = "" if field.default_factory is not None or field.default is None else field.default
            shown = str(value).lower() if isinstance(value, bool) else value
            comment = fill(field.description, 100, initial_indent="# ", subsequent_indent="# ")
            setting = f"{variable_of(name)}={shown}"
            if name in NOT_OF_A_FOLDER:
                setting = f"Only in the environment: {variable_of(name)}"
            lines.append(f"{comment}\n# {setting}\n")
    return "\n".join(lines)
