"""No request costs more than its bound, and no client costs others: slow ones, greedy ones, web pages of others."""

from __future__ import annotations

import asyncio
import base64
import functools
import gc
import gzip
import http.server
import json
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import httpx
import pytest
from at_server import settings_of
from growing_requests import VALUES, Request, requests_of, tool_calls
from neo4j import Driver
from playwright.sync_api import sync_playwright
from real_browser import chromium_page
from running_service import running
from tiers import at_length, need

from e2g_neo4j import E2G, Settings
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.graph import keys
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.service import bookmarks, limits

HTTP = httpx.Client(timeout=120)
CORPUS = "bounds"
TEXT = "Ann Miller met Bob Stone in Port Hesk. Bob Stone kept the light on Gannet Head. Ann Miller wrote the ledger."
LOOP_SECONDS, LOOP_PARSES = 0.05, 3.5
"""What may run in the event loop at a time, as docs/service.md says: so long, or so many times what Python needs to
parse the largest body."""


class LoopWatch:
    """Measures how much of its thread's time the event loop of an application spends at a time.

    Attributes:
        longest: In seconds, since this was set to 0. A thread that waits for others needs no time, so that a busy
            machine makes no difference.
    """

    def __init__(self) -> None:
        self.longest = 0.0

    def __call__(self, app: Any) -> Any:
        async def watched(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "lifespan":
                watching = asyncio.create_task(self._watch())
                await app(scope, receive, send)
                watching.cancel()
            else:
                await app(scope, receive, send)

        return watched

    async def _watch(self) -> None:
        while True:
            before = time.thread_time()
            await asyncio.sleep(0.001)
            self.longest = max(self.longest, time.thread_time() - before)


@pytest.fixture(scope="module")
def settings(scratch: Connection) -> Settings:
    return settings_of(scratch, workers=1)


@pytest.fixture(scope="module")
def client(settings: Settings) -> Iterator[E2G]:
    with E2G(settings=settings) as client:
        client.migrate(["service"])
        client.index([from_text(TEXT, corpus=CORPUS, source="a", properties={"year": 1890})], corpus=CORPUS)
        yield client


@pytest.fixture(scope="module")
def watch() -> LoopWatch:
    return LoopWatch()


@pytest.fixture(scope="module")
def url(client: E2G, settings: Settings, watch: LoopWatch) -> Iterator[str]:
    gc.collect()
    gc.freeze()  # what other tests left in this process is not searched for garbage while the loop is watched
    with running(settings, watch, mcp_write=True) as url:
        until = time.monotonic() + 60
        while HTTP.get(f"{url}/readyz").status_code != 200:
            assert time.monotonic() < until
        yield url
    gc.unfreeze()


def key(client: E2G, name: str, *scopes: str) -> dict[str, str]:
    """The headers of a new key."""
    _, text = client.runner.run(keys.create(name, scopes or ("read", "ask", "write"), ["*"]))
    return {"Authorization": f"Bearer {text}"}


# --- web pages of others, while the service needs no key ---------------------------------------------

PAGE = """<!doctype html><iframe name="sink"></iframe><script>
const url = "%s";
const boundary = "xx", file = ["--xx", 'Content-Disposition: form-data; name="files"; filename="evil.txt"', "",
  "Evil was here.", "--xx--", ""].join("\\r\\n");
window.attack = async () => {
  const sent = [];
  const attempt = async (name, path, options) => {
    try { const reply = await fetch(url + path, options); sent.push(`${name} ${reply.type} ${reply.status}`); }
    catch (error) { sent.push(`${name} ${error.name}`); }
  };
  const json = {"Content-Type": "application/json"};
  const text = JSON.stringify({documents: [{source: "evil", text: "Evil was here."}]});
  for (const mode of ["no-cors", "cors"]) {
    const form = new FormData(); form.append("files", new File(["Evil was here."], "evil.txt"));
    await attempt("form data", "/v1/corpora/evil/documents", {method: "POST", mode, body: form});
    await attempt("enrich", "/v1/corpora/bounds/enrich", {method: "POST", mode});
    const archive = new FormData(); archive.append("file", new File(["PK"], "a.zip")); archive.append("corpus", "evil");
    await attempt("import", "/v1/imports", {method: "POST", mode, body: archive});
    await attempt("mcp", "/mcp", {method: "POST", mode, body: JSON.stringify({jsonrpc: "2.0", id: 1,
      method: "tools/call", params: {name: "index_text", arguments: {corpus: "evil", title: "x", text: "y"}}})});
    await attempt("openai", "/v1/chat/completions", {method: "POST", mode, body: "{}"});
    await attempt("delete", "/v1/corpora/bounds", {method: "DELETE", mode});
    await attempt("read", "/v1/corpora", {mode});
  }
  await attempt("json", "/v1/corpora/evil/documents", {method: "POST", headers: json, body: text});
  await attempt("beacon", "/livez", {mode: "no-cors"});
  navigator.sendBeacon(url + "/v1/corpora/bounds/enrich", new URLSearchParams());
  const html = document.createElement("form");
  html.method = "post"; html.action = url + "/v1/corpora/evil/documents"; html.enctype = "multipart/form-data";
  html.target = "sink"; html.innerHTML = '<input name="files" value="x">'; document.body.append(html); html.submit();
  const frame = document.querySelector("iframe");
  await new Promise(resolve => { frame.onload = resolve; });
  return sent;
};
</script>"""


ATTACKED = ("/v1/corpora", "/v1/corpora/evil/documents", "/v1/corpora/bounds/enrich", "/v1/imports", "/mcp")


@contextmanager
def elsewhere(page: str) -> Iterator[str]:
    """The address of a page on another port of this machine."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: Any) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def written(database: Driver) -> list[Any]:
    """Everything that a page can write: tasks, bytes of uploads and the graph. The usage and the conversations are
    those of the service's own page."""
    rows = database.execute_query(
        "MATCH (n) WHERE NOT n:E2GQueue|E2GUsage|E2GConversation RETURN labels(n) AS labels, count(*) AS n"
    ).records
    return sorted((row["labels"], row["n"]) for row in rows)


def test_a_web_page_elsewhere_changes_nothing(url: str, database: Driver) -> None:
    need("chromium")
    before = written(database)
    with sync_playwright() as playwright, elsewhere(PAGE % url) as other:
        for address in (other, other.replace("127.0.0.1", "localhost")):  # another port, and another site
            with chromium_page(playwright) as (page, _):
                replies: list[tuple[str, int]] = []
                page.on("response", functools.partial(_noted, replies, url))
                page.goto(f"http://{address}/")
                sent = page.evaluate("attack()")
                assert {one for one in replies if one[1] < 400} == set(), "everything is refused"
                refused = {
                    request.removeprefix("POST ").removeprefix("GET ") for request, status in replies if status == 403
                }
                assert refused >= {url + path for path in ATTACKED}
                assert not [one for one in sent if one.endswith(" 200")], "and nothing can be read"
                page.goto(f"http://{address}/")
                page.evaluate("url => { location.href = url }", f"{url}/ui/")  # a link may lead here
                page.locator("#corpora input").first.wait_for()
                assert page.locator("#corpora input").first.get_attribute("value") == CORPUS
                page.get_by_label("Question").fill("Who kept the light?")
                page.get_by_role("button", name="Ask", exact=True).click()
                page.get_by_text("kept the light on Gannet Head").first.wait_for()
    assert written(database) == before


def _noted(replies: list[tuple[str, int]], url: str, reply: Any) -> None:
    if reply.url.startswith(url) and not reply.url.startswith(f"{url}/ui"):
        replies.append((f"{reply.request.method} {reply.url}", reply.status))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://elsewhere.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "URL"}, 200),
        ({"Origin": "URL"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 403),
        ({"Host": "elsewhere.example"}, 400),
    ],
    ids=str,
)
def test_requests_of_pages_elsewhere_are_refused(url: str, headers: dict[str, str], status: int) -> None:
    headers = {name: url if value == "URL" else value for name, value in headers.items()}
    question = {"question": "Who kept the light?", "corpora": [CORPUS]}
    reply = HTTP.post(f"{url}/v1/retrieve", json=question, headers=headers)
    assert reply.status_code == status
    assert status == 200 or reply.json()["next"]
    for path in ("/mcp", "/v1/chat/completions", "/v1/imports"):
        refused = HTTP.post(url + path, headers=headers).status_code == status
        assert refused == (status != 200), path
    opened = status == 200 or (status == 403 and headers.get("Sec-Fetch-Dest") == "document")
    assert (HTTP.get(f"{url}/v1/corpora", headers=headers).status_code == 200) == opened
    for path in ("/readyz", "/metrics", "/livez"):
        assert (HTTP.get(url + path, headers=headers).status_code == 200) == opened, path


def test_probes_address_a_container_by_its_ip_and_by_no_other_name(url: str) -> None:
    for host, status in (("10.1.2.3:8000", 200), ("[fd00::1]:8000", 200), ("elsewhere.example:8000", 400)):
        for path in ("/livez", "/readyz", "/metrics"):
            assert HTTP.get(url + path, headers={"Host": host}).status_code == status, (host, path)


def test_pages_have_a_policy(url: str) -> None:
    need("chromium")
    for path in ("/docs", "/ui/"):
        policy = HTTP.get(url + path).headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy.replace("style-src 'self' 'unsafe-inline'", ""), path
    with sync_playwright() as playwright, chromium_page(playwright) as (page, asked):
        errors: list[str] = []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(f"{url}/docs")
        page.get_by_text("/v1/retrieve", exact=True).first.wait_for()
        assert errors == []
        assert [one for one in asked if not one.startswith((url, "data:"))] == []


# --- growing input -----------------------------------------------------------------------------------

SECONDS = 4.0
"""What a request may cost of the processor's time, as docs/service.md says."""

FLOOR = 0.3
"""Cheaper requests are not compared."""

SIZE = 1_000_000
"""Nearly the maximum of a body that is no upload."""


@pytest.mark.timeout(900)
def test_no_field_costs_more_than_its_length(url: str, watch: LoopWatch) -> None:
    """Each field of each request gets long texts, long lists, deep lists and many digits, in all requests that there
    are, or in some of them. Costly ones are sent again in a quarter of the length."""
    with httpx.Client(base_url=url, timeout=120) as http:
        description = http.get("/openapi.json").json()
        listed = _mcp(http, "tools/list", {})["tools"]
        growing = [*requests_of(description, CORPUS), *tool_calls(listed, CORPUS)]
        assert len(growing) > 1000
        chosen = random.sample(growing, at_length(len(growing), 200))
        faults = [fault for one in chosen if (fault := _fault(http, one, watch))]
    assert not faults, "\n".join(faults)


def _fault(http: httpx.Client, request: Request, watch: LoopWatch) -> str | None:
    cost, held, status = _cost(http, request, SIZE, watch)
    if status >= 500 and status != 501:
        return f"{request}: status {status}"
    if cost > SECONDS:
        return f"{request}: {cost:.1f} s"
    if held > loop_seconds() and (held := min(held, _cost(http, request, SIZE, watch)[1])) > loop_seconds():
        return f"{request}: {1000 * held:.0f} ms in the event loop"
    if cost > FLOOR:
        quarter = max(_cost(http, request, SIZE // 4, watch)[0], FLOOR / 10)
        if cost > 10 * quarter:
            return f"{request}: {quarter:.2f} s for a quarter, {cost:.2f} s for the whole"
    return None


def _cost(http: httpx.Client, request: Request, size: int, watch: LoopWatch) -> tuple[float, float, int]:
    """Seconds of the processor, the longest time in the event loop, and the status."""
    sent = http.build_request(**request.of_size(size))
    watch.longest, before = 0.0, time.process_time()
    reply = http.send(sent)
    return time.process_time() - before, watch.longest, reply.status_code


@functools.cache
def loop_seconds() -> float:
    """What may run in the event loop at a time on this machine."""
    body, parses = VALUES["object"](SIZE), []
    for _ in range(9):
        before = time.thread_time()
        json.loads(body)
        parses.append(time.thread_time() - before)
    return max(LOOP_SECONDS, LOOP_PARSES * min(parses))


def _mcp(http: httpx.Client, method: str, params: dict[str, Any]) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"Accept": "application/json, text/event-stream"}
    reply = http.post("/mcp", json=message, headers=headers).raise_for_status()
    data = next(line.removeprefix("data:") for line in reply.text.splitlines() if line.startswith("data:"))
    return json.loads(data)["result"]


def test_the_event_loop_never_stands_still(url: str, watch: LoopWatch) -> None:
    texts = [{"source": str(n), "text": "Ann met Bob. " * 50, "properties": {"n": n}} for n in range(9_999)]
    many = json.dumps({"documents": [*texts, texts[0]]}).encode()  # refused when all was read: one is there twice
    question = {"question": "Who kept the light on Gannet Head? " * 50, "corpora": [CORPUS], "k": 1000}
    documents, form = f"/v1/corpora/{CORPUS}/documents", [("files", ("a.txt", b"x" * 5_000_000))]
    requests: list[tuple[int, dict[str, Any]]] = [
        (422, {"method": "POST", "url": documents, "content": many, "headers": {"Content-Type": "application/json"}}),
        (202, {"method": "POST", "url": documents, "files": form}),
        (200, {"method": "POST", "url": "/v1/explain", "json": question}),
        (200, {"method": "POST", "url": "/v1/retrieve", "json": question}),
        *(
            (200, {"method": "GET", "url": one})
            for one in ("/openapi.json", "/docs", "/metrics", "/v1/tasks", documents)
        ),
    ]

    def longest() -> float:
        watch.longest = 0.0
        with httpx.Client(base_url=url, timeout=240) as http, ThreadPoolExecutor(4) as pool:
            for (status, _), reply in zip(
                requests, pool.map(lambda one: http.request(**one[1]), requests), strict=True
            ):
                assert reply.status_code == status, reply.text
        return watch.longest

    assert min(longest(), longest()) < loop_seconds(), "the better of two, as the machine has other things to do"


# --- slow and greedy clients, with keys --------------------------------------------------------------


def socket_to(url: str, data: bytes) -> socket.socket:
    """A connection that has sent some bytes. The system keeps little for it that was not read."""
    host, _, port = url.removeprefix("http://").partition(":")
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**16)
    made.connect((host, int(port)))
    made.sendall(data)
    return made


def is_closed(connection: socket.socket, seconds: float) -> bool:
    """Whether the service closes a connection in some time. What it has sent is read."""
    until = time.monotonic() + seconds
    connection.settimeout(0.2)
    while time.monotonic() < until:
        with suppress(TimeoutError):
            try:
                if not connection.recv(65_536):
                    return True
            except ConnectionError:
                return True
    return False


@pytest.fixture(scope="module")
def two_keys(client: E2G, url: str) -> tuple[dict[str, str], dict[str, str]]:
    """From here on the service needs a key."""
    return key(client, "slow"), key(client, "other")


def test_headers_that_do_not_end_are_refused(url: str) -> None:
    for begun in (b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-A: ", b"GET /"):
        with socket_to(url, b"") as connection:
            with suppress(ConnectionError):
                connection.sendall(begun + b"a" * 500_000)
            assert is_closed(connection, 5)


def test_slow_bodies_cost_their_own_key_only(url: str, two_keys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODY_SECONDS", 8.0)
    slow, other = two_keys
    head = "POST {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nContent-Type: application/json\r\n"
    head += "Content-Length: 1000\r\n\r\n{{"
    with ExitStack() as stack:
        paths = ["/v1/retrieve", "/mcp", "/v1/chat/completions", f"/v1/corpora/{CORPUS}/documents"]
        opened = [
            stack.enter_context(socket_to(url, head.format(paths[n % 4], slow["Authorization"]).encode()))
            for n in range(80)
        ]
        time.sleep(1)
        assert HTTP.get(f"{url}/v1/corpora", headers=other).status_code == 200
        assert HTTP.post(f"{url}/mcp", headers=other).status_code == 400, "it is answered"
        question = {"question": "Who kept the light?", "corpora": [CORPUS]}
        assert HTTP.post(f"{url}/v1/retrieve", json=question, headers=other).status_code == 200
        until = time.monotonic() + 6  # a busy machine takes a while to refuse the bodies beyond the limit
        while (first := HTTP.post(f"{url}/v1/retrieve", json=question, headers=slow)).status_code == 429:
            assert time.monotonic() < until
        assert first.status_code == 200, "a body that has come is not waited for"
        assert all(is_closed(one, 20) for one in opened), "none stays for longer than its time"
    refused = socket_to(url, head.format("/v1/retrieve", slow["Authorization"]).encode())
    with refused:
        refused.settimeout(20)
        assert b" 408 " in refused.recv(4096)


@pytest.mark.parametrize(
    ("path", "status", "headers"),
    [
        ("/v1/retrieve", 401, {"Authorization": "Bearer none"}),
        ("/v1/none", 404, {}),
        ("/v1/retrieve", 415, {"Content-Encoding": "gzip"}),
        ("/v1/retrieve", 413, {"Content-Length": "9000000"}),
        ("/v1/corpora", 405, {}),
    ],
)
def test_an_answer_before_its_body_closes_the_connection(
    url: str, two_keys: Any, path: str, status: int, headers: dict[str, str]
) -> None:
    given = {"Host": "localhost", "Content-Type": "application/json", "Content-Length": "1000"}
    given |= two_keys[0] | headers
    head = f"POST {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in given.items())
    with socket_to(url, f"{head}\r\n{{".encode()) as connection:
        connection.settimeout(20)
        assert f" {status} ".encode() in connection.recv(4096)
        for _ in range(40):
            time.sleep(0.1)
            with suppress(OSError):
                connection.sendall(b" ")  # who goes on sending does not keep it
        assert is_closed(connection, 5)
    sent = {**two_keys[0], **headers, "Content-Length": "5000000"}
    whole = HTTP.post(f"{url}{path}", content=b" " * 5_000_000, headers=sent)
    assert whole.status_code in (status, 413), "who sends all of it reads the answer"


def test_keys_of_a_key_cost_their_maker_only(url: str, client: E2G, two_keys: Any) -> None:
    """20 keys that a key makes, with 16 bodies each that do not come: more than the service answers at once."""
    _, other = two_keys
    with httpx.Client(base_url=url, timeout=60) as http, ExitStack() as stack:
        maker = key(client, "maker", "read", "admin")
        new = {"name": "made", "scopes": ["read"], "corpora": [CORPUS]}
        made = [http.post("/v1/keys", json=new, headers=maker).json() for _ in range(20)]
        head = (
            "POST /v1/retrieve HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: 9\r\n\r\n{{"
        )
        for one in made:
            for _ in range(16):
                stack.enter_context(socket_to(url, head.format(one["key"]).encode()))
        for _ in range(8):
            assert http.get("/v1/corpora", headers=other).status_code == 200
            time.sleep(0.2)


def test_a_key_is_revoked_with_its_maker_and_ends_its_streams(url: str, client: E2G, two_keys: Any) -> None:
    with httpx.Client(base_url=url, timeout=60) as http:
        maker, _ = two_keys
        task = http.post(f"/v1/corpora/{CORPUS}/enrich", headers=maker).json()["id"]  # no worker takes it
        info, text = client.runner.run(keys.create("admin", ("read", "admin"), ["*"]))
        admin = {"Authorization": f"Bearer {text}"}
        new = {"name": "made", "scopes": ["read", "admin"], "corpora": ["*"]}
        made = http.post("/v1/keys", json=new, headers=admin).json()
        headers = {"Authorization": f"Bearer {made['key']}"}
        assert made["info"]["makers"] == [info.id]
        assert http.post("/v1/keys", json=new, headers=headers).status_code == 403, "no line of any length"
        with http.stream("GET", f"/v1/tasks/{task}/events", headers=headers) as reply:
            lines = reply.iter_lines()
            assert next(lines) == "event: task"
            client.runner.run(keys.revoke(info.id))
            began = time.monotonic()
            rest = list(lines)
        assert "event: error" in rest
        assert any("The key was revoked" in line for line in rest)
        assert time.monotonic() - began < 10
        assert http.get("/v1/corpora", headers=headers).status_code == 401
        http.post(f"/v1/tasks/{task}/cancel", headers=maker)


def test_a_connection_is_kept_between_requests(url: str, two_keys: Any) -> None:
    """For as long as its next headers may take, so that a client that sends again finds it open."""
    ask = (
        f"GET /v1/caller HTTP/1.1\r\nHost: localhost\r\nAuthorization: {two_keys[0]['Authorization']}\r\n\r\n".encode()
    )
    with socket_to(url, ask) as connection:
        connection.settimeout(20)
        assert b" 200 " in connection.recv(4096)
        time.sleep(7)
        connection.sendall(ask)
        assert b" 200 " in connection.recv(4096)


def test_compressed_bodies_and_halves_of_surrogate_pairs_are_refused(url: str, two_keys: Any) -> None:
    headers, _ = two_keys
    with httpx.Client(base_url=url, timeout=120, headers=headers) as http:
        for path in ("/v1/retrieve", "/v1/chat/completions", f"/v1/corpora/{CORPUS}/documents", "/mcp"):
            reply = http.post(path, content=gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"})
            assert (reply.status_code, reply.json()["detail"]) == (
                415,
                "The body is compressed: send it without Content-Encoding.",
            )
        halves = [
            one
            for one in requests_of(http.get("/openapi.json").json(), CORPUS)
            if one.kind == "halves of surrogate pairs"
        ]
        assert len(halves) > 50
        statuses = {str(one): http.send(http.build_request(**one.of_size(60))).status_code for one in halves}
        assert {one: status for one, status in statuses.items() if status >= 500 and status != 501} == {}


def test_a_body_may_take_long_if_it_arrives(url: str, two_keys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODY_SECONDS", 1.5)
    question = json.dumps({"question": "Who kept the light?", "corpora": [CORPUS]}) + " " * 30_000

    def pieces() -> Iterator[bytes]:
        for place in range(0, len(question), 5_000):
            time.sleep(0.4)
            yield question[place : place + 5_000].encode()

    headers = {**two_keys[0], "Content-Type": "application/json"}
    assert HTTP.post(f"{url}/v1/retrieve", content=pieces(), headers=headers).status_code == 200


def test_a_key_has_its_share_of_requests(url: str, two_keys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_REQUESTS_OF_KEY", 3)
    slow, other = two_keys
    task = HTTP.post(f"{url}/v1/corpora/{CORPUS}/enrich", headers=slow).json()["id"]
    with ThreadPoolExecutor(4) as pool, httpx.Client(base_url=url, timeout=60) as http:
        waiting = [pool.submit(http.get, f"/v1/tasks/{task}?wait=8", headers=slow) for _ in range(3)]
        time.sleep(1)
        assert http.get("/v1/corpora", headers=slow).status_code == 429
        assert http.get("/v1/corpora", headers=other).status_code == 200
        http.post(f"/v1/tasks/{task}/cancel", headers=other)
        assert {one.result().status_code for one in waiting} == {200}
        assert http.get("/v1/corpora", headers=slow).status_code == 200


# --- bookmarks ---------------------------------------------------------------------------------------


def later(database: Driver) -> str:
    """A bookmark of a transaction that nobody has written yet."""
    with database.session() as session:
        session.run("CREATE (n:Marker) DELETE n").consume()
        [one] = session.last_bookmarks().raw_values
    return "FB:" + base64.b64encode(base64.b64decode(one.removeprefix("FB:"))[:19] + b"\xc9\x7f\xff\x90").decode()


def test_a_bookmark_is_waited_for_shortly_whoever_made_it(
    url: str, client: E2G, two_keys: Any, database: Driver
) -> None:
    slow, other = two_keys
    reader = key(client, "reader", "read")
    with httpx.Client(base_url=url, timeout=60) as http:
        written = http.post(f"/v1/corpora/{CORPUS}/enrich", headers=slow)
        bookmark = written.headers["E2G-Bookmark"]
        assert http.get("/v1/corpora", headers={**other, "E2G-Bookmark": bookmark}).status_code == 200
        for wrong in ("x", ".", f"é.{bookmark}", "FB:AAAA", f"{bookmark[:-8]}", "FB:" + "A" * 9000):
            headers = {**other, "E2G-Bookmark": wrong.encode()}
            for reply in (http.get("/v1/corpora", headers=headers), http.post("/mcp", headers=headers)):
                assert reply.status_code == 422, (wrong, reply.text)
                assert "bookmark" in reply.json()["detail"]
        behind = {"E2G-Bookmark": later(database)}
        began = time.monotonic()
        assert http.delete(f"/v1/corpora/{CORPUS}", headers={**reader, **behind}).status_code == 403
        assert time.monotonic() - began < bookmarks.WAIT_SECONDS, "the scope is checked first"
        began = time.monotonic()
        with ThreadPoolExecutor(40) as pool:
            waiting = [pool.submit(http.get, "/v1/corpora", headers={**slow, **behind}) for _ in range(40)]
            time.sleep(0.5)
            assert http.get("/v1/corpora", headers=other).status_code == 200
            statuses = Counter(one.result().status_code for one in waiting)
        assert statuses == {503: bookmarks.MAX_WAITS, 429: 40 - bookmarks.MAX_WAITS}
        again = http.get("/v1/corpora", headers={**slow, **behind})
        assert (again.status_code, again.headers["Retry-After"]) == (429, "1"), "the database still waits"
        assert time.monotonic() - began < 20
        assert http.get("/v1/corpora", headers=slow).status_code == 200
