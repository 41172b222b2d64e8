"""Embedding models of a server with the API of OpenAI, over HTTP, by LangChain: faults, keys, and a corpus of them."""

from __future__ import annotations

import json
import threading
import zlib
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from at_server import settings_of
from libraries import remove

from e2g_neo4j import E2G
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import BudgetError, ConfigurationError, ModelError
from e2g_neo4j.models.chat import retry
from e2g_neo4j.models.embedding.load import load_embedder
from e2g_neo4j.models.embedding.remote import BATCH

NAME, KEY = "openai:words-8", "sk-secret-0123456789"


class EmbeddingServer:
    """Embeds a text by the words that it has.

    Attributes:
        dimensions: The length of the vectors.
        faults: What happens to the next requests: a status with headers, None for a lost connection, or 0 for a reply.
        embedded: How often each text was embedded.
        batches: How many texts each request had.
    """

    def __init__(self) -> None:
        self.dimensions = 8
        self.faults: list[tuple[int, dict[str, str]] | int | None] = []
        self.embedded: Counter[str] = Counter()
        self.batches: list[int] = []
        self.keys: set[str] = set()
        self.change: Any = lambda vectors: vectors
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                fault = outer.faults.pop(0) if outer.faults else 0
                if fault is None:
                    self.connection.close()
                    return
                outer.keys.add(self.headers["Authorization"])
                status, headers = fault if isinstance(fault, tuple) else (200, {})
                texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
                if status == 200:
                    outer.embedded.update(texts)
                    outer.batches.append(len(texts))
                vectors = outer.change([outer.vector(text) for text in texts])
                data = [{"object": "embedding", "index": n, "embedding": one} for n, one in enumerate(vectors)]
                ready = {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}
                refused = {"error": {"message": f"Incorrect API key provided: {KEY}.", "type": "invalid_request_error"}}
                content = json.dumps(ready if status == 200 else refused).encode()
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}/v1"

    def vector(self, text: str) -> list[float]:
        found = [0.1] * self.dimensions
        for word in text.lower().split():
            found[zlib.crc32(word.strip(".,?").encode()) % self.dimensions] += 1
        return found


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(retry, "LONGEST_WAIT", 0.02)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    found = EmbeddingServer()
    yield found
    found.http.shutdown()
    found.http.server_close()


def test_nothing_is_lost_and_nothing_embedded_twice_while_a_server_fails_now_and_then(server: EmbeddingServer) -> None:
    embedder = load_embedder(NAME, url=server.url)
    assert (embedder.dimensions, embedder.window_tokens) == (8, 512)
    server.embedded.clear()
    server.batches.clear()
    texts = [f"Window {number} is about ship {number * 7}." for number in range(1000)]
    server.faults = [(429, {"Retry-After": "0"}), 0, (500, {}), None, 0, (503, {}), (429, {}), 0] * 8
    vectors = embedder.embed(texts)
    assert set(server.embedded) == set(texts)
    assert set(server.embedded.values()) == {1}
    assert max(server.batches) == BATCH
    expected = np.array([server.vector(text) for text in texts])
    assert np.allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-5)


def test_a_wrong_key_is_told_without_the_key(server: EmbeddingServer) -> None:
    server.faults = [(401, {})]
    with pytest.raises(ModelError, match="Incorrect API key") as caught:
        load_embedder(NAME, url=server.url)
    assert KEY not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_server_of_ones_own_needs_no_key(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert load_embedder(NAME, url=server.url).dimensions == 8
    with pytest.raises(ConfigurationError, match=r"E2G_EMBEDDING_MODEL.*api_key"):
        load_embedder(NAME)


def test_an_unknown_provider_is_told() -> None:
    with pytest.raises(ConfigurationError, match=r"nobody:model.*provider:NAME"):
        load_embedder("nobody:model")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda vectors: vectors[:-1], "1 vectors for 2 texts"),
        (lambda vectors: [[None, *one[1:]] for one in vectors], "without values"),
        (lambda vectors: [[], *vectors[1:]], "without values"),
        (lambda vectors: [*vectors[:-1], [0.0 for _ in vectors[-1]]], "of zeros"),
        (lambda vectors: [one[:-1] for one in vectors], "a length other than 8"),
        (lambda vectors: [[float("nan")] * 8 for _ in vectors], "not finite"),
    ],
    ids=["fewer", "null", "empty", "zeros", "shorter", "nan"],
)
def test_a_reply_without_the_vectors_is_refused(server: EmbeddingServer, change: Any, message: str) -> None:
    embedder = load_embedder(NAME, url=server.url)
    server.change = change
    with pytest.raises(ModelError, match=message):
        embedder.embed(["A ship.", "A boat."])


TEXTS = {
    "Boats": "Luke Farran built boats in Port Hesk. His daughter Sarah sold them.",
    "Bread": "Anna Bell baked bread in Ohio. Nobody bought as much bread as Tom Reed.",
}


def test_a_corpus_is_indexed_and_asked_with_vectors_of_a_server(server: EmbeddingServer, driver, request) -> None:
    corpus = f"hosted-{request.node.name[:8]}"
    settings = settings_of(request.getfixturevalue("neo4j_connection"))
    settings = settings.model_copy(update={"embedding_model": NAME, "embedding_url": server.url})
    texts = [from_text(text, corpus=corpus, source=title, title=title) for title, text in TEXTS.items()]
    try:
        with E2G(settings=settings) as e2g:
            e2g.index(texts[:1], corpus=corpus)
            e2g.index(texts, corpus=corpus)
            assert set(TEXTS.values()) <= server.embedded.keys()
            assert "Nobody bought as much bread as Tom Reed." not in server.embedded, "no summary needs the sentences"
            [best, *_] = e2g.retrieve(TEXTS["Bread"], corpus=corpus, mode="dense").passages
            assert best.document == "Bread"
            requests = len(server.batches)
            with pytest.raises(BudgetError, match="0 of the budget of 20 are used"):
                e2g.index(
                    [from_text(TEXTS["Bread"] * 2, corpus=corpus, source="Long")], corpus=corpus, budget_tokens=20
                )
            assert len(server.batches) == requests
            assert e2g.index([texts[0]], corpus=corpus, budget_tokens=1).unchanged == 1
            server.faults = [(401, {})] * 20
            more = from_text("A third text of Luke Farran.", corpus=corpus, source="More", title="More")
            report = None
            with pytest.raises(ModelError, match="Incorrect API key"):
                report = e2g.index([more], corpus=corpus)
            assert report is None
            assert [one.title for one in e2g.documents(corpus) if one.state == "ready"] == ["Boats", "Bread"]
    finally:
        remove(driver, [corpus])
