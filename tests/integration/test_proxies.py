"""A proxy in the environment is not asked for what is on this machine: real clients, and a server that answers 404."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from e2g_neo4j import RemoteE2G
from e2g_neo4j.errors import E2GError
from e2g_neo4j.models.chat.ollama import OllamaChat
from e2g_neo4j.models.embedding.ollama import OllamaEmbedder
from e2g_neo4j.runtime.loopback import without_proxy


class Unknown(BaseHTTPRequestHandler):
    """Answers 404."""

    def do_GET(self) -> None:
        self.send_error(404, "nothing here")

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """That of the server, while a proxy is configured that nobody serves."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Unknown) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_ollama_on_this_machine_is_reached(address: str) -> None:
    with pytest.raises(E2GError) as embedding:
        OllamaEmbedder("some-model", address)
    with pytest.raises(E2GError) as chat:
        OllamaChat("some-model", address).context  # noqa: B018 asks the server
    for failed in (embedding, chat):
        assert "ollama serve" not in str(failed.value)


def test_a_service_on_this_machine_is_reached(address: str) -> None:
    with RemoteE2G(address) as e2g, pytest.raises(E2GError, match="404"):
        e2g.corpora()


@pytest.mark.parametrize("address", ["localhost", "http://localhost:11434", "[::1]:11434", "0.0.0.0", "127.0.0.2:1"])
def test_addresses_of_this_machine(address: str) -> None:
    assert without_proxy(address) == {"trust_env": False}


@pytest.mark.parametrize(
    "address", ["example.org", "https://10.0.0.1:11434", "http://localhost.example.org", "http://["]
)
def test_addresses_elsewhere(address: str) -> None:
    assert without_proxy(address) == {}
