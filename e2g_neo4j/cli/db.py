"""`e2g db`: the managed Neo4j server."""

from __future__ import annotations

from typing import Annotated

import typer

from e2g_neo4j.cli.options import out
from e2g_neo4j.cli.terminal import neutral
from e2g_neo4j.managed_neo4j import LocalServer
from e2g_neo4j.settings import load_settings

app = typer.Typer(help="Manage the local Neo4j server, one per user.", no_args_is_help=True)


@app.command()
def start() -> None:
    """Start the server if it is not running. The first start downloads it."""
    connection = LocalServer(load_settings()).start()
    out.print(f"Neo4j is up at {connection.uri}, Browser at {connection.browser_url} (user {connection.username}).")
    out.print("The password: e2g db status --show-password")


@app.command()
def stop() -> None:
    """Stop the server."""
    out.print("Stopped." if LocalServer(load_settings()).stop() else "The server was not running.")


@app.command()
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


@app.command()
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


@app.command()
def reset(yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False) -> None:
    """Stop the server and delete all of its data. The downloaded jars are kept."""
    server = LocalServer(load_settings())
    if not yes:
        typer.confirm(f"Delete all data in {server.home}?", abort=True)
    server.reset()
    out.print("Deleted.")
