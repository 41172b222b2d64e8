"""`e2g db`: the managed Neo4j server."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from e2g_neo4j.cli import show
from e2g_neo4j.cli.terminal import neutral
from e2g_neo4j.local import LocalServer
from e2g_neo4j.settings import load_settings

app = typer.Typer(help="The managed Neo4j server: one for each user, on this machine only.", no_args_is_help=True)
out = Console(highlight=False, soft_wrap=True)


@app.command()
def start() -> None:
    """Start it, unless it runs; the first time it is downloaded."""
    with show.progress(quiet=False) as progress:
        connection = LocalServer(load_settings()).start(progress)
    out.print(f"Neo4j is up at {connection.uri}, Browser at {connection.browser_url} (user {connection.username}).")
    out.print("The password: e2g db status --show-password")


@app.command()
def stop() -> None:
    """Stop it."""
    out.print("Stopped." if LocalServer(load_settings()).stop() else "It was not running.")


@app.command()
def status(
    show_password: Annotated[bool, typer.Option("--show-password", help="Print the password too.")] = False,
) -> None:
    """Say whether it runs, and where everything is. Exit code 0 when it runs, 1 when it does not."""
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


@app.command()
def logs(
    lines: Annotated[int, typer.Option("-n", help="Lines to show.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what is written from now on.")] = False,
) -> None:
    """Show the end of its log."""
    server = LocalServer(load_settings())
    for line in server.logs(lines):
        print(neutral(line))
    if follow:
        for line in server.follow():
            print(neutral(line), flush=True)


@app.command()
def reset(yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False) -> None:
    """Stop it and remove all of its data; the downloaded jars stay."""
    server = LocalServer(load_settings())
    if not yes:
        typer.confirm(f"Remove everything in {server.home}?", abort=True)
    server.reset()
    out.print("Removed.")
