"""Files of the web: from public addresses alone, wherever names and redirects lead, and of a bounded size and time.

The servers are real ones of this machine, which `is_public` is told to take for public.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from e2g_neo4j.documents import fetching
from e2g_neo4j.documents.fetching import fetch_file, is_public
from e2g_neo4j.documents.files import ReadingReport
from e2g_neo4j.errors import ReadingError
from e2g_neo4j.service.task_handlers import Run, _read_page
from e2g_neo4j.settings import Settings

PAGE = b"<html><title>A page</title><p>Luke Farran stood at the helm.</p></html>"
MOST = 10_000


class Handler(BaseHTTPRequestHandler):
    asked: list[str]

    def do_GET(self) -> None:
        self.server.asked.append(self.headers["Host"] + self.path)  # type: ignore[attr-defined]
        kind, _, rest = self.path.strip("/").partition("/")
        self.send_response(302 if kind == "to" else 404 if kind == "missing" else 200)
        if kind == "to":
            self.send_header("Location", rest)
        if kind == "packed":
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        try:
            self.wfile.write(PAGE)
            while kind in ("endless", "slow"):
                self.wfile.write(b"x" * (1000 if kind == "endless" else 1))
                self.wfile.flush()
                time.sleep(0.05 if kind == "slow" else 0)
        except OSError:
            pass  # the client has had enough

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked = []  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def address(server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(fetching, "is_public", lambda address: str(address) == "127.0.0.1")
    return f"http://127.0.0.1:{server.server_port}"


def resolve(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Let every name have these addresses."""

    async def getaddrinfo(_: Any, host: str, port: int, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in addresses]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)


REFUSED = """127.0.0.1 127.8.8.8 0.0.0.0 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 192.0.2.1 224.0.0.1
240.0.0.1 255.255.255.255 :: ::1 fe80::1 fc00::1 fec0::1 ff02::1 2001:db8::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1
64:ff9b::7f00:1 64:ff9b::a00:1 2002:7f00:1:: 2002:c0a8:101::"""


def test_which_addresses_are_public() -> None:
    assert [one for one in REFUSED.split() if is_public(ip_address(one))] == []
    assert all(is_public(ip_address(one)) for one in ("93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822"))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"])
async def test_this_machine_is_refused_however_it_is_spelled(
    server: ThreadingHTTPServer, tmp_path: Path, host: str
) -> None:
    with pytest.raises(ReadingError, match=r"no address of the public internet|cannot be fetched"):
        await fetch_file(f"http://{host}:{server.server_port}/", tmp_path / "page", MOST)
    assert server.asked == []  # type: ignore[attr-defined]
    assert not (tmp_path / "page").exists()


async def test_a_page_is_fetched_and_its_name_is_asked_for(
    address: str, server: ThreadingHTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # a proxy would connect to anything
    assert await fetch_file(f"{address}/page", tmp_path / "page", MOST) == "text/html; charset=utf-8"
    assert (tmp_path / "page").read_bytes() == PAGE
    resolve(monkeypatch, "127.0.0.1")
    await fetch_file(f"http://pages.example:{server.server_port}/to//page", tmp_path / "page", MOST)
    host = f"pages.example:{server.server_port}"
    assert server.asked[1:] == [f"{host}/to//page", f"{host}/page"]  # type: ignore[attr-defined]


async def test_a_page_is_read_as_an_uploaded_file(address: str, tmp_path: Path) -> None:
    lease: Any = SimpleNamespace(task=SimpleNamespace(corpus="pages"), parameters={"page": f"{address}/page?a=b.c"})
    run = Run(cast(Any, SimpleNamespace(settings=Settings())), lease, tmp_path, lambda *_: None)
    [document] = await _read_page(run, ReadingReport())
    assert (document.source, document.title) == (f"{address}/page?a=b.c", "A page")
    assert document.text == "Luke Farran stood at the helm."


async def test_a_redirect_leads_to_public_addresses_only(
    address: str, server: ThreadingHTTPServer, tmp_path: Path
) -> None:
    for target in (f"http://127.0.0.2:{server.server_port}/", "http://169.254.169.254/latest", "http://[::1]/"):
        with pytest.raises(ReadingError, match="no address of the public internet"):
            await fetch_file(f"{address}/to/{target}", tmp_path / "page", MOST)
    for target in ("file:///etc/passwd", "ftp://127.0.0.1/", f"{address}/to/" * 8):
        with pytest.raises(ReadingError, match="cannot be fetched"):
            await fetch_file(f"{address}/to/{target}", tmp_path / "page", MOST)
    assert not (tmp_path / "page").exists()


async def test_each_address_of_a_name_is_checked_before_one_is_connected_to(
    address: str, server: ThreadingHTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve(monkeypatch, "127.0.0.1", "10.0.0.1")
    with pytest.raises(ReadingError, match=r"pages\.example is 10\.0\.0\.1, which is no address"):
        await fetch_file(f"http://pages.example:{server.server_port}/", tmp_path / "page", MOST)
    assert server.asked == []  # type: ignore[attr-defined]


async def test_size_and_time_are_bounded(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "SECONDS", 1)
    for path, why in (
        ("endless", "has more than"),
        ("slow", "took more than 1 s"),
        ("packed", "is sent compressed"),
        ("missing", "404"),
    ):
        with pytest.raises(ReadingError, match=why):
            await fetch_file(f"{address}/{path}", tmp_path / "page", MOST)


async def test_a_certificate_is_checked_against_the_name(
    server: ThreadingHTTPServer, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "x")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(1)
    )
    certificate = builder.sign(key, hashes.SHA256())
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    (tmp_path / "pem").write_bytes(key.private_bytes(pem, *plain) + certificate.public_bytes(pem))
    context, names = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), []
    context.load_cert_chain(tmp_path / "pem")
    context.sni_callback = lambda _, name, __: names.append(name)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    resolve(monkeypatch, "127.0.0.1")
    with pytest.raises(ReadingError, match=r"(?i)certificate"):
        await fetch_file(f"https://pages.example:{server.server_port}/", tmp_path / "page", MOST)
    assert names == ["pages.example"]
