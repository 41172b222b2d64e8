"""`e2g mcp`: serve MCP over standard input and output."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.errors import ConfigurationError


def mcp(
    write: Annotated[
        bool, typer.Option("--mcp-write", help="Also offer the tools that index texts and delete documents.")
    ] = False,
) -> None:
    """Serve an MCP client, such as Claude Desktop or an editor, over standard input and output."""
    try:
        from e2g_neo4j.service.mcp import serve_stdio
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"`e2g mcp` needs packages that are not installed ({error.name}): run `pip install 'e2g-neo4j[serve]'`."
        ) from error

    async def serve() -> None:
        async with AsyncE2G() as client:
            await serve_stdio(client, write=write)

    asyncio.run(serve())
