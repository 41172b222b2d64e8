"""The server that hands out the guide: to Neo4j Browser on this machine, and to nobody else."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse

import psutil
import pytest

from e2g_neo4j.browser.guide import GuideServer
from e2g_neo4j.errors import ConfigurationError

PARAMETERS = {"corpus": "novels"}


@pytest.fixture(scope="module")
def server() -> Iterator[GuideServer]:
    with GuideServer(PARAMETERS, origins=frozenset({"neo4j.example"}), port=0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)


def ask(server: GuideServer, path: str, method: str = "GET", **headers: str) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


def test_it_listens_on_loopback_only(server: GuideServer) -> None:
    mine = [one for one in psutil.Process().net_connections("inet") if one.laddr.port == server.server_port]
    assert {one.laddr.ip for one in mine if one.status == psutil.CONN_LISTEN} == {"127.0.0.1"}


@pytest.mark.parametrize(
    ("path", "kind", "has"),
    [
        ("/guide.html", "text/html; charset=utf-8", b"<carousel"),
        ("/guide.adoc", "text/asciidoc; charset=utf-8", b"== Hubs"),
        ("/guide.adoc?again", "text/asciidoc; charset=utf-8", b"== Hubs"),
        ("/e2g.grass", "text/plain; charset=utf-8", b"node.Entity"),
    ],
)
def test_it_serves_guide_and_style(server: GuideServer, path: str, kind: str, has: bytes) -> None:
    response, content = ask(server, path, Origin="http://127.0.0.1:7474")
    assert response.status == 200
    assert response.headers["Content-Type"] == kind
    assert response.headers["Access-Control-Allow-Origin"] == "http://127.0.0.1:7474"
    assert response.headers["Cache-Control"] == "no-store"
    assert has in content


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/guide.py",
        "/../guide.py",
        "/..%2f..%2fsettings.py",
        "//etc/passwd",
        "/guide.html/../guide.py",
        "/%00",
        "/e2g",
    ],
)
def test_it_serves_nothing_else(server: GuideServer, path: str) -> None:
    response, content = ask(server, path)
    assert (response.status, content) == (404, b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_it_is_only_read(server: GuideServer, method: str) -> None:
    assert ask(server, "/guide.html", method)[0].status == 501


def test_browser_may_ask_for_a_fresh_copy(server: GuideServer) -> None:
    response, _ = ask(
        server,
        "/guide.html",
        "OPTIONS",
        Origin="http://localhost:7474",
        Access_Control_Request_Method="GET",
        Access_Control_Request_Headers="cache-control,pragma,sentry-trace",
        Access_Control_Request_Private_Network="true",
    )
    assert response.status == 204
    assert response.headers["Access-Control-Allow-Origin"] == "http://localhost:7474"
    assert response.headers["Access-Control-Allow-Headers"] == "cache-control,pragma,sentry-trace"
    assert response.headers["Access-Control-Allow-Private-Network"] == "true"
    assert response.headers["Access-Control-Allow-Methods"] == "GET"


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("http://localhost:7474", True),
        ("http://[::1]:7474", True),
        ("https://neo4j.example", True),
        ("https://evil.example", False),
        ("https://neo4j.example.evil.example", False),
        ("https://localhost.evil.example", False),
        ("null", False),
        ("http://[", False),
    ],
)
def test_pages_of_other_places_may_not_read_it(server: GuideServer, origin: str, allowed: bool) -> None:
    response, _ = ask(server, "/guide.html", Origin=origin)
    assert response.headers["Access-Control-Allow-Origin"] == (origin if allowed else None)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "[", "127.0.0.1.evil.example"])
def test_a_foreign_name_for_loopback_gets_nothing(server: GuideServer, host: str) -> None:
    response, content = ask(server, "/guide.html", Host=host)
    assert (response.status, content) == (403, b"")


def test_a_port_that_is_taken_is_said(server: GuideServer) -> None:
    with pytest.raises(ConfigurationError, match=rf"{server.server_port}.*--port"):
        GuideServer(PARAMETERS, port=server.server_port)
