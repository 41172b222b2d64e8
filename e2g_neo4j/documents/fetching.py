"""Fetch a file of the web for somebody who may not reach what this machine can: only from public addresses."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from pathlib import Path

import httpx

from e2g_neo4j.errors import ReadingError

SECONDS = 60
"""How long fetching a file may take, redirects included."""

MOST_REDIRECTS = 5

_WITH_IPV4 = IPv6Network("64:ff9b::/96")
"""Addresses whose last 32 bits are an IPv4 address that a gateway connects to."""


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address, and the IPv4 address in it, is one of the public internet."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _WITH_IPV4:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if address.is_site_local:
            return False
    return address.is_global and not address.is_multicast


class PublicTransport(httpx.AsyncHTTPTransport):
    """Connects to public addresses only. A name is resolved once, each of its addresses is checked, and these are what
    it connects to: a name that changes meanwhile leads nowhere else. Redirects come here again."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host = request.url.raw_host.decode("ascii")
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
        if refused := [one for one in addresses if not is_public(ip_address(one))]:
            raise ReadingError(
                f"{host} is {refused[0]}, which is no address of the public internet, and the service fetches from no "
                "other: download the file, and upload it."
            )
        for number, address in enumerate(addresses, 1):
            direct = httpx.Request(
                request.method,
                request.url.copy_with(host=address),
                headers=request.headers,  # among them the host
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": host},
            )
            try:
                return await super().handle_async_request(direct)
            except httpx.ConnectError:
                if number == len(addresses):
                    raise
        raise httpx.ConnectError(f"{host} has no address", request=request)


async def fetch_file(address: str, file: Path, most: int) -> str:
    """Download a file of at most `most` bytes, and return its media type. Nothing else of this machine is used: no
    proxy, cookie or password. Raises ReadingError if that fails."""
    transport = PublicTransport(trust_env=False)
    headers = {"Accept-Encoding": "identity"}
    size = 0
    try:
        async with (
            asyncio.timeout(SECONDS),
            httpx.AsyncClient(
                transport=transport,
                trust_env=False,
                follow_redirects=True,
                max_redirects=MOST_REDIRECTS,
                timeout=SECONDS,
            ) as client,
            client.stream("GET", address, headers=headers) as reply,
        ):
            reply.raise_for_status()
            if reply.headers.get("content-encoding", "identity") != "identity":
                raise ReadingError(f"{address} is sent compressed, although it was asked for as it is: upload it.")
            with file.open("wb") as target:
                async for part in reply.aiter_raw():
                    size += len(part)
                    if size > most:
                        raise ReadingError(
                            f"{address} has more than {most / 2**20:,.4g} MiB: raise E2G_UPLOAD_MB, or split it."
                        )
                    target.write(part)
    except TimeoutError:
        raise ReadingError(f"{address} took more than {SECONDS} s: try again, or download and upload it.") from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
        raise ReadingError(f"{address} cannot be fetched ({error}): check the address.") from None
    return str(reply.headers.get("content-type", ""))
