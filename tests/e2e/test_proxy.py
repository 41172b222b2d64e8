"""The shipped configuration of the proxy, docker/nginx.conf, in a real nginx before the real service, under attack."""

from __future__ import annotations

import signal
import socket
import ssl
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from at_server import settings_of
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from running_service import RunningService, create_key, environment
from tiers import need

from e2g_neo4j import E2G
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.managed_neo4j import Connection

CONFIGURATION = Path(__file__).parents[2] / "docker" / "nginx.conf"
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
CORPUS = "harbour"
TEXT = "Ann Miller met Bob Stone in Port Hesk. Bob Stone kept the light on Gannet Head. Ann Miller wrote the ledger."
QUESTION = {"question": "Who kept the light?", "corpora": [CORPUS]}
HEADER_SECONDS, READ_SECONDS, OF_ADDRESS = 10, 3, 64
"""Of the configuration, but the time to read, which is shortened."""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def write_certificate(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "certificate.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *private))


@contextmanager
def nginx(folder: Path, port: int, service: str) -> Iterator[None]:
    """The shipped configuration, with other ports and paths."""
    text = CONFIGURATION.read_text(encoding="utf-8")
    for shipped, here in {
        "http://service:8000": service,
        "listen 8443": f"listen 127.0.0.1:{port}",
        "send_timeout 30s": f"send_timeout {READ_SECONDS}s",
        "/etc/nginx/": f"{folder}/",
        "/var/log/nginx/": f"{folder}/",
        "server_tokens off;": "".join(f"{name}_temp_path {folder}/{name};" for name in TEMPORARY),
    }.items():
        assert shipped in text, shipped
        text = text.replace(shipped, here)
    (folder / "nginx.conf").write_text(text, encoding="utf-8")
    command = ["nginx", "-p", str(folder), "-c", "nginx.conf", "-e", "error.log", "-g", "daemon off; pid nginx.pid;"]
    with subprocess.Popen(command) as process:
        try:
            until = time.monotonic() + 20
            while socket.socket().connect_ex(("127.0.0.1", port)):
                assert process.poll() is None, (folder / "error.log").read_text()
                assert time.monotonic() < until
                time.sleep(0.05)
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


class Proxied:
    """The service behind the proxy, and its keys."""

    def __init__(self, service: RunningService, port: int, folder: Path, keys: dict[str, str]) -> None:
        self.service, self.keys, self.port, self.folder = service, keys, port, folder
        self.url = f"https://localhost:{port}"
        self.tls = ssl.create_default_context(cafile=folder / "certificate.pem")

    def client(self, key: str, address: str = "127.0.0.1") -> httpx.Client:
        transport = httpx.HTTPTransport(verify=self.tls, local_address=address)
        headers = {"Authorization": f"Bearer {self.keys[key]}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, transport=transport)

    def connect(self, address: str, data: bytes | None) -> socket.socket:
        """A connection from an address of this machine that has sent some bytes; None: not even a handshake."""
        made = socket.socket()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**16)
        made.bind((address, 0))
        made.connect(("127.0.0.1", self.port))
        if data is not None:
            made = self.tls.wrap_socket(made, server_hostname="localhost")
            made.sendall(data)
        return made

    def head(self, method: str, path: str, key: str | None = None, length: int | None = None) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", f"Host: localhost:{self.port}", "Content-Type: application/json"]
        lines += [f"Authorization: Bearer {self.keys[key]}"] if key else []
        lines += [f"Content-Length: {length}"] if length is not None else []
        return "\r\n".join([*lines, "", ""]).encode()


@pytest.fixture(scope="module")
def proxied(scratch: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    need("nginx")
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    folder.chmod(0o755)  # nginx gives up root
    variables = environment(scratch, E2G_PUBLIC_URL=f"https://localhost:{port}")
    keys = {name: create_key(variables, scopes="read,ask,write", corpora="*") for name in ("attacker", "other")}
    write_certificate(folder)
    with E2G(settings=settings_of(scratch, workers=1)) as client:
        client.migrate(["service"])
        client.index([from_text(TEXT, corpus=CORPUS, source="a")], corpus=CORPUS)
    service = RunningService(variables, folder / "service.log", "--no-worker")
    try:
        until = time.monotonic() + 60
        while httpx.get(f"{service.url}/readyz", timeout=60).status_code != 200:
            assert time.monotonic() < until
        with nginx(folder, port, service.url):
            made = Proxied(service, port, folder, keys)
            with made.client("other") as http:  # the first question takes longer
                assert http.post("/v1/retrieve", json=QUESTION).status_code == 200
            yield made
    finally:
        service.stop()


def end_of(connection: socket.socket, seconds: float) -> bytes | None:
    """What a connection has sent when the proxy closes it; None if it does not within some seconds."""
    until, received = time.monotonic() + seconds, b""
    connection.settimeout(0.2)
    while time.monotonic() < until:
        with suppress(TimeoutError):
            try:
                piece = connection.recv(65_536)
            except (ConnectionError, ssl.SSLError):
                return received
            received += piece
            if not piece:
                return received
    return None


def statuses(connections: list[socket.socket], seconds: float) -> Counter[bytes]:
    """The statuses, or empty texts, with which connections end."""
    with ThreadPoolExecutor(len(connections)) as pool:
        ends = pool.map(lambda one: end_of(one, seconds), connections)
        return Counter(b"open" if end is None else end[9:12] for end in ends)


@contextmanager
def others_are_answered(proxied: Proxied) -> Iterator[None]:
    """Asks questions with another key from another address, as long as the context."""
    replies: list[tuple[int, float]] = []
    ended = threading.Event()

    def ask() -> None:
        with proxied.client("other") as http:
            while not ended.is_set():
                began = time.monotonic()
                status = http.post("/v1/retrieve", json=QUESTION).status_code
                replies.append((status, time.monotonic() - began))
                time.sleep(0.2)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield
    finally:
        ended.set()
        asking.join(60)
    assert len(replies) > 1
    assert {status for status, _ in replies} == {200}
    assert max(seconds for _, seconds in replies) < 20, "on a machine however busy"


def test_silent_connections_and_headers_that_do_not_end_are_closed(proxied: Proxied) -> None:
    begun = proxied.head("GET", "/v1/corpora", "attacker")[:-2]
    with ExitStack() as stack, others_are_answered(proxied):
        opened = [
            stack.enter_context(proxied.connect("127.0.0.2", data)) for data in (None, b"", begun) for _ in range(60)
        ]
        trickling = stack.enter_context(proxied.connect("127.0.0.2", begun + b"X-A: "))
        began = time.monotonic()
        with suppress(ConnectionError, ssl.SSLError):
            while time.monotonic() < began + 3 * HEADER_SECONDS:
                trickling.sendall(b"a")
                time.sleep(0.2)
        assert time.monotonic() - began < 2 * HEADER_SECONDS
        assert b"open" not in statuses(opened, HEADER_SECONDS)


def test_slow_bodies_end_and_strangers_may_send_none(proxied: Proxied) -> None:
    with ExitStack() as stack, others_are_answered(proxied):
        slow, strange = (
            [
                stack.enter_context(proxied.connect(address, proxied.head("POST", "/v1/retrieve", key, 1000) + b"{"))
                for _ in range(40)
            ]
            for address, key in (("127.0.0.2", "attacker"), ("127.0.0.3", None))
        )
        trickling = stack.enter_context(
            proxied.connect("127.0.0.2", proxied.head("POST", "/v1/retrieve", "attacker", 1000))
        )
        began = time.monotonic()
        with suppress(ConnectionError, ssl.SSLError):
            while time.monotonic() < began + 60:
                trickling.sendall(b" ")
                time.sleep(0.2)
        assert time.monotonic() - began < 30, "a byte at a time is not enough"
        assert statuses(strange, 1) == {b"401": 40}
        assert set(statuses(slow, 30)) <= {b"408", b"429"}


def test_a_client_that_does_not_read_loses_its_connection(proxied: Proxied) -> None:
    script = proxied.head("GET", "/swagger/swagger-ui-bundle.js")
    with proxied.client("other") as http:
        size = len(http.get("/swagger/swagger-ui-bundle.js").content)
    with ExitStack() as stack, others_are_answered(proxied):
        opened = [stack.enter_context(proxied.connect("127.0.0.2", 20 * script)) for _ in range(10)]
        time.sleep(READ_SECONDS + 3)
        for one in opened:
            assert len(end_of(one, 20) or b"" * 20 * size) < 20 * size


def test_one_address_has_so_many_requests_at_once(proxied: Proxied) -> None:
    with proxied.client("attacker") as http, ExitStack() as stack:
        slow = [
            stack.enter_context(proxied.connect("127.0.0.2", proxied.head("POST", "/mcp", key, 1000) + b"{"))
            for key in ("attacker", "other")
            for _ in range(OF_ADDRESS)
        ]
        assert http.get("/v1/corpora").status_code in (200, 429), "the key's own share, whatever its address"
        with others_are_answered(proxied):
            time.sleep(2)
        found = statuses(slow, 30)
        assert found[b"429"] >= OF_ADDRESS, found
        assert set(found) <= {b"408", b"429"}


def test_bodies_and_headers_have_a_maximum(proxied: Proxied) -> None:
    address = f"/v1/corpora/{CORPUS}/documents"
    with others_are_answered(proxied), ExitStack() as stack:
        large = stack.enter_context(
            proxied.connect("127.0.0.2", proxied.head("POST", address, "attacker", 101 * 2**20) + b"x" * 1000)
        )
        assert (end_of(large, 10) or b"")[9:12] == b"413", "before it is sent"
        for padding, status in ((b"a" * 20_000, 200), (b"a" * 200_000, 400)):
            connection = stack.enter_context(proxied.connect("127.0.0.2", b""))
            with suppress(ConnectionError, ssl.SSLError):
                connection.sendall(proxied.head("GET", "/v1/corpora", "attacker")[:-2])
                connection.sendall(b"Connection: close\r\nX-A: " + padding + b"\r\n\r\n")
            assert (end_of(connection, 10) or b"")[9:12] == str(status).encode()
        with proxied.client("other") as http:
            text = {"documents": [{"source": "large", "text": "Ann met Bob. " * 100_000}]}
            assert http.post(f"{address}?dry_run=true", json=text).status_code == 200


def test_events_come_as_they_are_sent_and_the_page_works(proxied: Proxied) -> None:
    with proxied.client("other") as http:
        task = http.post(f"/v1/corpora/{CORPUS}/enrich").json()["id"]  # no worker takes it
        with http.stream("GET", f"/v1/tasks/{task}/events") as reply:
            lines = reply.iter_lines()
            assert next(lines) == "event: task", "before there is another"
            assert http.post(f"/v1/tasks/{task}/cancel").status_code == 200
            assert "event: done" in list(lines)
        assert http.get("/ui/").status_code == 200
        assert 'src="/swagger' in http.get("/docs").text, "not by the scheme between proxy and service"
        assert http.get("/metrics").status_code == 403
        for path in ("/v1/corpora", "/v1/keys"):
            assert http.get(path, headers={"Authorization": "Bearer none"}).status_code == 401
    assert CORPUS not in (proxied.folder / "access.log").read_text()
