"""Access tokens of an OpenID Connect issuer: a real issuer on this machine, the real app, and a real Neo4j."""

from __future__ import annotations

import hmac
import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import jwt
import pytest
from at_server import settings_of
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from running_service import e2g, environment, running

from e2g_neo4j import E2G, Settings
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.graph import keys
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.service import oidc
from e2g_neo4j.settings import load_settings

pytestmark = pytest.mark.by_turns(3)

AUDIENCE = "e2g"
QUESTION = {"question": "Who keeps the ledger?", "corpora": ["team-a"]}


class IssuerServer:
    """An issuer with one key, which can be replaced, and which can be away."""

    def __init__(self) -> None:
        self.away, self.requests = False, 0
        self.rotate()
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.requests += 1
                body = json.dumps(issuer.pages().get(self.path, {})).encode()
                self.send_response(503 if issuer.away else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/realm"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def rotate(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.kid = f"key-{time.monotonic_ns()}"
        public = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        self.served: dict[str, Any] = {"keys": [{**public, "kid": self.kid, "use": "sig", "alg": "RS256"}]}

    def pages(self) -> dict[str, Any]:
        configuration = {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}
        return {"/realm/.well-known/openid-configuration": configuration, "/realm/keys": self.served}

    def token(self, signed_with: Any = None, algorithm: str = "RS256", kid: str | None = None, **claims: Any) -> str:
        values = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "anna",
            "exp": int(time.time()) + 300,
            "scope": "openid e2g:read ask",
            "e2g_corpora": ["team-*"],
        }
        values = {name: value for name, value in (values | claims).items() if value is not None}
        return jwt.encode(values, signed_with or self.key, algorithm, headers={"kid": kid or self.kid})


@pytest.fixture(scope="module")
def issuer() -> Iterator[IssuerServer]:
    server = IssuerServer()
    yield server
    server.server.shutdown()


@pytest.fixture(scope="module")
def settings(scratch: Connection, issuer: IssuerServer) -> Settings:
    return settings_of(scratch, workers=1, oidc_issuer=issuer.url, oidc_audience=AUDIENCE)


@pytest.fixture(scope="module")
def url(settings: Settings) -> Iterator[str]:
    with E2G(settings=settings) as client:
        client.migrate(["service"])
        for corpus in ("team-a", "vault"):
            text = f"Zerubbabel of {corpus} keeps the third ledger."
            client.index([from_text(text, corpus=corpus, source="ledger")], corpus=corpus)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oidc, "REFETCH_SECONDS", 0.0)
        patch.setattr(oidc, "RETRY_SECONDS", 0)
        with running(settings) as address:
            yield address


def get(url: str, path: str, token: str | None) -> httpx.Response:
    headers = {} if token is None else {b"Authorization": f"Bearer {token}".encode()}
    return httpx.get(f"{url}{path}", headers=headers, timeout=60)


def test_a_token_sees_its_corpora_and_does_what_its_scopes_allow(url: str, issuer: IssuerServer) -> None:
    token = issuer.token()
    assert [one["corpus"] for one in get(url, "/v1/corpora", token).json()] == ["team-a"]
    foreign, missing = (get(url, f"/v1/corpora/{name}", token) for name in ("vault", "nobody"))
    assert foreign.status_code == missing.status_code == 404
    told = [{**one.json(), "request_id": ""} for one in (foreign, missing)]
    assert json.dumps(told[0]).replace("vault", "nobody") == json.dumps(told[1])
    headers = {"Authorization": f"Bearer {token}"}
    found = httpx.post(f"{url}/v1/retrieve", json=QUESTION, headers=headers, timeout=60)
    assert "Zerubbabel" in found.text
    denied = httpx.delete(f"{url}/v1/corpora/team-a", headers=headers)
    assert (denied.status_code, denied.json()["code"]) == (403, "scope")
    assert get(url, "/v1/corpora", issuer.token(scope="e2g:write")).status_code == 403
    assert get(url, "/v1/corpora", issuer.token(scope=None)).status_code == 403


def test_usage_names_the_subject(url: str, issuer: IssuerServer) -> None:
    boss = issuer.token(sub="boss", scope="read write admin", e2g_corpora=["*"])
    httpx.delete(f"{url}/v1/keys/{'0' * 12}", headers={"Authorization": f"Bearer {boss}"})
    until = time.monotonic() + 30
    while time.monotonic() < until:
        used = {one["key"] for one in get(url, "/v1/usage", boss).json()}
        if "oidc:boss" in used:
            return
        time.sleep(0.2)
    raise AssertionError("It is not recorded.")


@pytest.mark.parametrize("claim", [None, "team-a", {"team-a": True}, [], [1, "", "te*m"]])
def test_without_the_claim_there_are_no_corpora(url: str, issuer: IssuerServer, claim: Any) -> None:
    assert get(url, "/v1/corpora", issuer.token(e2g_corpora=claim)).json() == []
    assert get(url, "/v1/corpora/team-a", issuer.token(e2g_corpora=claim)).status_code == 404


def signed_with_public_key(issuer: IssuerServer) -> str:
    """A token whose signature is right if its algorithm is believed. PyJWT refuses to make one."""
    public = issuer.key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    header = encoded(json.dumps({"alg": "HS256", "kid": issuer.kid}).encode())
    signed = f"{header}.{issuer.token().split('.')[1]}"
    return f"{signed}.{encoded(hmac.digest(public, signed.encode(), 'sha256'))}"


def encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def test_every_bad_token_gets_the_reply_of_a_wrong_key(url: str, issuer: IssuerServer) -> None:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    now = int(time.time())
    head, body, signature = issuer.token().split(".")
    bad = {
        "another key": issuer.token(other),
        "unknown key": issuer.token(other, kid="unknown"),
        "no signature": jwt.encode({"iss": issuer.url, "aud": AUDIENCE, "sub": "a", "exp": now + 300}, "", "none"),
        "cut off": f"{head}.{body}.",
        "changed": f"{head}.{issuer.token(sub='eve').split('.')[1]}.{signature}",
        "public key as secret": signed_with_public_key(issuer),
        "expired": issuer.token(exp=now - 60),
        "not yet": issuer.token(nbf=now + 120),
        "without an end": issuer.token(exp=None),
        "other audience": issuer.token(aud="other"),
        "no audience": issuer.token(aud=None),
        "other issuer": issuer.token(iss="https://issuer.example"),
        "no issuer": issuer.token(iss=None),
        "no subject": issuer.token(sub=None),
        "empty subject": issuer.token(sub=""),
        "long subject": issuer.token(sub="x" * 201),
        "strange subject": issuer.token(sub="a\nb"),
        "too long": issuer.token(note="x" * 20_000),
        "nonsense": "a.b.c",
        "not ascii": "ä.ö.ü",
        "a key": "e2g_" + "0" * 12 + "_" + "A" * 43,
        "nothing": None,
    }
    bodies = {}
    for name, token in bad.items():
        reply = get(url, "/v1/corpora", token)
        assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer"), name
        bodies[name] = json.dumps({**reply.json(), "request_id": ""})
    assert len(set(bodies.values())) == 1


def test_keys_of_the_service_are_accepted_too(url: str, settings: Settings) -> None:
    with E2G(settings=settings) as client:
        _, key = client.runner.run(keys.create("beside", ["read"], ["vault"]))
    assert [one["corpus"] for one in get(url, "/v1/corpora", key).json()] == ["vault"]


def test_a_new_key_of_the_issuer_is_found_and_the_old_one_refused(url: str, issuer: IssuerServer) -> None:
    before = issuer.token()
    assert get(url, "/v1/corpora", before).status_code == 200
    issuer.rotate()
    assert get(url, "/v1/corpora", issuer.token()).status_code == 200
    assert get(url, "/v1/corpora", before).status_code == 401


def test_unknown_keys_do_not_make_it_ask_the_issuer_again_and_again(
    url: str, issuer: IssuerServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert get(url, "/v1/corpora", issuer.token()).status_code == 200
    monkeypatch.setattr(oidc, "REFETCH_SECONDS", 3600.0)
    asked = issuer.requests
    for number in range(5):
        assert get(url, "/v1/corpora", issuer.token(kid=f"unknown-{number}")).status_code == 401
    assert issuer.requests == asked


def test_while_the_issuer_is_away_known_keys_are_used(url: str, issuer: IssuerServer) -> None:
    known = issuer.token()
    assert get(url, "/v1/corpora", known).status_code == 200
    issuer.away = True
    try:
        assert get(url, "/v1/corpora", known).status_code == 200
        reply = get(url, "/v1/corpora", issuer.token(kid="new"))
        assert (reply.status_code, reply.json()["code"]) == (503, "issuer_unreachable")
        assert "retry-after" in reply.headers
    finally:
        issuer.away = False
    assert get(url, "/v1/corpora", known).status_code == 200


def test_retrieval_has_spans_without_texts(url: str, issuer: IssuerServer, monkeypatch: pytest.MonkeyPatch) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    headers = {"Authorization": f"Bearer {issuer.token()}"}
    found = httpx.post(f"{url}/v1/retrieve", json={**QUESTION, "k": 2}, headers=headers, timeout=60).json()
    spans = {one.name: one for one in exporter.get_finished_spans()}
    assert set(spans) == {"e2g.retrieve", "e2g.embed"}
    assert dict(spans["e2g.retrieve"].attributes or {}) == {
        "e2g.mode": "auto",
        "e2g.k": 2,
        "e2g.route": found["route"],
        "e2g.passages": len(found["passages"]),
    }
    for one in spans.values():
        assert "ledger" not in one.to_json()
        assert "team-a" not in one.to_json()


def test_a_configured_issuer_stands_for_keys(
    scratch: Connection, issuer: IssuerServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = environment(scratch, E2G_OIDC_ISSUER=issuer.url)
    refused = e2g(variables, "serve", "--port", "0")
    assert refused.returncode == 3
    assert "E2G_OIDC_AUDIENCE" in refused.stderr
    for address in ("http://issuer.example", "http://localhost.example/", "ftp://localhost", "https://a:b@c"):
        monkeypatch.setenv("E2G_OIDC_ISSUER", address)
        with pytest.raises(ConfigurationError, match="E2G_OIDC_ISSUER"):
            load_settings()
