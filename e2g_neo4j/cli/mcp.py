"""`e2g mcp`: serve MCP over standard input and output."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.runtime.lazy_imports import needs
from e2g_neo4j.settings import load_settings


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
