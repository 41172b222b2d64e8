"""The commands of the service: serve, worker, mcp, keys."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import Annotated

import typer

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.cli.options import Json
from e2g_neo4j.cli.terminal import out, print_json, table
from e2g_neo4j.client import E2G
from e2g_neo4j.errors import ConfigurationError, InputError
from e2g_neo4j.graph import keys
from e2g_neo4j.runtime.lazy_imports import needs
from e2g_neo4j.settings import load_settings
from e2g_neo4j.types.service import KeyInfo

DAY_MILLISECONDS = 86_400_000

app = typer.Typer(help="List the API keys of the service, without their secrets; create and revoke them.")


def serve(
    host: Annotated[str, typer.Option("--host", help="Address to listen on. Others than this machine need keys.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 for any.")] = 8000,
    no_worker: Annotated[
        bool,
        typer.Option(
            "--no-worker", help="Only answer; `e2g worker` does the tasks, `e2g doctor --migrate` the schema."
        ),
    ] = False,
    mcp_write: Annotated[
        bool, typer.Option("--mcp-write", help="Also offer the MCP tools that index texts and delete documents.")
    ] = False,
) -> None:
    """Serve HTTP, MCP and a page until Ctrl-C."""
    with needs("`e2g serve`", "serve"):
        from e2g_neo4j.service.server import serve as run

    run(load_settings(), host=host, port=port, worker=not no_worker, mcp_write=mcp_write)


def worker(
    stop_with_stdin: Annotated[
        bool, typer.Option("--stop-with-stdin", hidden=True, help="Also stop when standard input ends.")
    ] = False,
    log_json: Annotated[bool, typer.Option("--log-json", help="Log as JSON lines.")] = False,
) -> None:
    """Run the tasks of the service until Ctrl-C."""
    from e2g_neo4j.service.worker import main

    if log_json:
        with needs("The option --log-json", "serve"):
            from e2g_neo4j.service.observability import log_json as log_as_json

        log_as_json()
    logging.getLogger("e2g_neo4j").setLevel(logging.INFO)
    asyncio.run(main(stop_with_stdin=stop_with_stdin))


def mcp(
    write: Annotated[
        bool, typer.Option("--mcp-write", help="Also offer the tools that index texts and delete documents.")
    ] = False,
    env_file: Annotated[
        Path | None, typer.Option("--env-file", help="File with settings. Unlike others, this command reads no .env.")
    ] = None,
) -> None:
    """Serve an MCP client, such as Claude Desktop or an editor, over standard input and output."""
    if env_file is not None and not env_file.is_file():
        raise ConfigurationError(f"There is no file {str(env_file)!r}: name the file with the settings.")
    if env_file is None and Path(".env").is_file():
        # the folder may be somebody else's, and the file could send passages to their server
        typer.echo("The file .env of this folder was not read: name it with --env-file if it is yours.", err=True)
    with needs("`e2g mcp`", "serve"):
        from e2g_neo4j.service.mcp import serve_stdio

    async def serve() -> None:
        async with AsyncE2G(settings=load_settings(env_file)) as client:
            await serve_stdio(client, write=write)

    asyncio.run(serve())


@app.callback(invoke_without_command=True)
def list_keys(context: typer.Context, as_json: Json = False) -> None:
    if context.invoked_subcommand:
        return
    with E2G() as e2g:
        found = e2g.runner.run(keys.list_keys())
    if as_json:
        print_json(found)
    else:
        table(out, ["id", "name", "scopes", "corpora", "state"], [_row(one) for one in found], "No key yet.")


@app.command("create")
def create_key(
    name: Annotated[str, typer.Option("--name", help="What the key is for.")] = "unnamed",
    scopes: Annotated[str, typer.Option("--scopes", help="Any of read, ask, write, admin, with commas.")] = "read,ask",
    corpora: Annotated[str, typer.Option("--corpora", help="Names, prefixes such as team-*, or *, with commas.")] = "*",
    days: Annotated[int | None, typer.Option("--days", min=1, help="Days until it expires. (default: never)")] = None,
    requests_per_minute: Annotated[int | None, typer.Option("--requests-per-minute", min=1)] = None,
    requests_per_day: Annotated[int | None, typer.Option("--requests-per-day", min=1)] = None,
    tokens_per_minute: Annotated[int | None, typer.Option("--tokens-per-minute", min=1)] = None,
    tokens_per_day: Annotated[int | None, typer.Option("--tokens-per-day", min=1)] = None,
    as_json: Json = False,
) -> None:
    """Create a key and print it. It is not shown again."""
    expires = None if days is None else int(1000 * time.time()) + days * DAY_MILLISECONDS
    with E2G() as e2g:
        e2g.migrate(["service"])
        info, key = e2g.runner.run(
            keys.create(
                name,
                [one.strip() for one in scopes.split(",")],
                [one.strip() for one in corpora.split(",")],
                expires=expires,
                requests_per_minute=requests_per_minute,
                requests_per_day=requests_per_day,
                tokens_per_minute=tokens_per_minute,
                tokens_per_day=tokens_per_day,
            )
        )
    if as_json:
        print_json({"id": info.id, "key": key, "info": info})
    else:
        out.print(key, markup=False)


@app.command("revoke")
def revoke_key(id: Annotated[str, typer.Argument(help="The id of the key.", show_default=False)]) -> None:
    """Revoke a key. It is refused from then on."""
    with E2G() as e2g:
        if not e2g.runner.run(keys.revoke(id)):
            raise InputError(f"There is no key with the id {id!r}: `e2g keys` lists them.")
        left = e2g.runner.run(keys.any_key())
    out.print(f"Revoked {id}.", markup=False)
    if not left:
        out.print("No key is left: the service answers this machine without one. `e2g keys create` makes one.")


def _row(key: KeyInfo) -> list[str]:
    now = 1000 * time.time()
    state = "revoked" if key.revoked else "expired" if key.expires and key.expires < now else "valid"
    return [key.id, key.name, ",".join(key.scopes), ",".join(key.corpora), state]
