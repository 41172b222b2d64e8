"""The commands that set up: demo, init, models, and db for the managed Neo4j server."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer

from e2g_neo4j.cli import show, show_evidence
from e2g_neo4j.cli.files import check_file, write_file
from e2g_neo4j.cli.options import Json, Overwrite
from e2g_neo4j.cli.terminal import escape, neutral, out, print_result
from e2g_neo4j.cli.waiting import progress as show_progress
from e2g_neo4j.client import E2G
from e2g_neo4j.errors import InputError
from e2g_neo4j.managed_neo4j import LocalServer
from e2g_neo4j.settings import NOT_OF_A_FOLDER, Settings, load_settings, variable_of

LIBRARY = Path(__file__).parent.parent / "sample" / "library"
CORPUS = "sample"
CHUNKS = {"chunk_tokens": 300, "chunk_overlap": 50}
"""Smaller than the default, so that each of the short papers has a summary tree."""
QUESTIONS = (
    "Who really made the chronometer that Luke Farran saved?",  # two entities: local
    "What became of Walter Crail?",  # one entity, no pair: global
    "What went wrong?",  # no entity: global
)

_DATABASE = """\
# Settings of e2g. Remove the # of a line to change a setting. Variables of the environment take precedence.

# Your Neo4j. Without an address, e2g starts a server of its own.
# NEO4J_URI=bolt://localhost:7687
# NEO4J_USERNAME=neo4j
# NEO4J_PASSWORD=
# NEO4J_DATABASE=neo4j
"""


def demo() -> None:
    """Index the sample library and ask it three questions."""
    settings = load_settings().model_copy(update=CHUNKS)
    with E2G(settings=settings) as e2g:
        out.rule("The sample library: twelve papers of an invented island")
        with show_progress(quiet=False) as progress:
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
        f'The evidence of the first question: e2g query "{QUESTIONS[0]}" --corpus {CORPUS} --browser', soft_wrap=True
    )


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


def models(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="With --fetch: which. (default: that of E2G_EMBEDDING_MODEL)", metavar="NAME…"),
    ] = None,
    fetch: Annotated[
        bool,
        typer.Option(
            "--fetch", help="Fetch their weights, and print the folders, to be copied to machines without a network."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """List the embedding models that this package fetches, the one that is set, and those of its server."""
    from e2g_neo4j.models.embedding.load import list_embedding_models
    from e2g_neo4j.models.embedding.weights import PUBLISHED

    if not fetch:
        if names:
            raise InputError("Without --fetch, all models are listed: leave out the names, or add it.")
        print_result(list_embedding_models(load_settings()), show.embedding_models, as_json=as_json)
        return
    for name in names or [load_settings().embedding_model]:
        if name not in PUBLISHED:
            raise InputError(f"The weights of {name} are not fetched by this command. It knows {', '.join(PUBLISHED)}.")
        out.print(f"{escape(name)}  {escape(str(PUBLISHED[name].fetch()))}")


# --- the managed server ---

db_app = typer.Typer(help="Manage the local Neo4j server, one per user.", no_args_is_help=True)


@db_app.command()
def start() -> None:
    """Start the server if it is not running. The first start downloads it."""
    connection = LocalServer(load_settings()).start()
    out.print(f"Neo4j is up at {connection.uri}, Browser at {connection.browser_url} (user {connection.username}).")
    out.print("The password: e2g db status --show-password")


@db_app.command()
def stop() -> None:
    """Stop the server."""
    out.print("Stopped." if LocalServer(load_settings()).stop() else "The server was not running.")


@db_app.command()
def status(
    show_password: Annotated[bool, typer.Option("--show-password", help="Also print the password.")] = False,
) -> None:
    """Print whether the server runs, and its addresses and files. Exit code 0 if it runs, otherwise 1."""
    found = LocalServer(load_settings()).status()
    rows = [
        ("state", f"running, pid {found.pid}" if found.running else "not running"),
        ("version", f"Neo4j {found.version} Community"),
        ("uri", found.connection.uri),
        ("browser", found.connection.browser_url),
        ("user", found.connection.username),
        ("password", found.connection.password.get_secret_value() if show_password else f"in {found.password_file}"),
        ("data", f"{found.home} ({found.megabytes:.0f} MiB)"),
    ]
    for name, value in rows:
        out.print(f"{name:<10}{value}", markup=False)
    raise typer.Exit(0 if found.running else 1)


@db_app.command()
def logs(
    lines: Annotated[int, typer.Option("-n", help="Number of lines.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep printing new lines.")] = False,
) -> None:
    """Print the end of the server's log."""
    server = LocalServer(load_settings())
    for line in server.logs(lines):
        print(neutral(line))
    if follow:
        for line in server.follow():
            print(neutral(line), flush=True)


@db_app.command()
def reset(yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False) -> None:
    """Stop the server and delete all of its data. The downloaded jars are kept."""
    server = LocalServer(load_settings())
    if not yes:
        typer.confirm(f"Delete all data in {server.home}?", abort=True)
    server.reset()
    out.print("Deleted.")
