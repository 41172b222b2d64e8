"""Web addresses among what `e2g index` reads: fetched from a real server if --fetch says so."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from e2g_neo4j.cli.files import choose_sources
from e2g_neo4j.errors import InputError, ReadingError
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.documents import SourceDocument

NO_FILE_NAME = f"/%00{'%C3%A4' * 300}.txt"
PAGES = {
    "/log": ("text/html; charset=utf-8", b"<title>The log</title><p>Josiah Quill sailed to Hesk.</p>"),
    "/a%20note.txt": ("application/octet-stream", b"Luke Farran was at the helm."),
    "/picture": ("image/png", b"\x89PNG"),
    "/empty.txt": ("text/plain", b" "),
    NO_FILE_NAME: ("text/plain", b"Otto Vinge was the cook."),
    "/large.txt": ("text/plain", b"x" * 3_000_000),
}


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/log")
            self.end_headers()
        elif self.path in PAGES:
            kind, content = PAGES[self.path]
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(content)
        else:
            self.send_error(404)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Pages) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("path", "title", "text"),
    [
        ("/log", "The log", "Josiah Quill sailed to Hesk."),
        ("/moved", "The log", "Josiah Quill sailed to Hesk."),
        ("/a%20note.txt", "A note", "Luke Farran was at the helm."),
    ],
)
def test_a_document_is_fetched_and_has_the_address_as_its_source(site: str, path: str, title: str, text: str) -> None:
    file, found = choose_sources(["file.txt", site + path], "ships", None, None, Settings(), fetch=True)
    assert file == "file.txt"
    assert isinstance(found, SourceDocument)
    assert (found.source, found.title, found.corpus) == (site + path, title, "ships")
    assert text in found.text
    [named] = choose_sources([site + path], "ships", "Another  title", None, Settings(), fetch=True)
    assert isinstance(named, SourceDocument)
    assert (named.title, named.id) == ("Another title", found.id)


def test_what_cannot_be_fetched_is_named(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("E2G_MAX_DOCUMENT_MB", "1")
    for path, told in (
        ("/nothing", "cannot be fetched .*404"),
        ("/picture", "is of the type image/png: download it"),
        ("/empty.txt", f"{site}/empty.txt is empty"),
        ("/large.txt", f"{site}/large.txt"),
    ):
        with pytest.raises(ReadingError, match=told):
            choose_sources([site + path], "ships", None, None, Settings(), fetch=True)
    with pytest.raises(ReadingError, match="cannot be fetched"):
        choose_sources(["http://127.0.0.1:1/x.txt"], "ships", None, None, Settings(), fetch=True)


def test_the_others_are_indexed_if_told_so(site: str) -> None:
    failed: dict[str, str] = {}
    paths = [f"{site}{path}" for path in ("/nothing", "/log", "/picture", NO_FILE_NAME)]
    found = choose_sources(paths, "ships", None, None, Settings(), fetch=True, failed=failed)
    assert [one.source for one in found if isinstance(one, SourceDocument)] == [paths[1], paths[3]]
    assert list(failed) == [paths[0], paths[2]]


def test_an_address_is_fetched_only_if_told_so(site: str) -> None:
    with pytest.raises(InputError, match="--fetch"):
        choose_sources([f"{site}/log"], "ships", None, None, Settings())
