"""Who sends a request, and what they may see: keys, scopes, walls between corpora, and web pages of other origins.

A page elsewhere can make a browser on this machine send forms and simple requests, and can give its own name the
address of this machine (DNS rebinding). Programs send none of the headers by which it is known.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from hashlib import sha256
from ipaddress import ip_address
from typing import Annotated, Any
from urllib.parse import quote, unquote, urlsplit

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPBearer
from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Connection

from e2g_neo4j.async_client import AsyncE2G
from e2g_neo4j.errors import CorpusNotFoundError, DocumentNotFoundError, E2GError
from e2g_neo4j.graph import keys
from e2g_neo4j.service.limits import QUESTIONS, Limits
from e2g_neo4j.service.oidc import Issuer, looks_like_token
from e2g_neo4j.service.problems import ProblemError, problem_of
from e2g_neo4j.types.ids import check_corpus_name, has_address
from e2g_neo4j.types.reports import DocumentInfo, DocumentText
from e2g_neo4j.types.results import Answer, Citation, Evidence, Passage
from e2g_neo4j.types.service import LIMITS, LOCAL, OF_USERS_GRAPH, Caller, KeyInfo, Scope, TaskInfo

HEALTH = ("/livez", "/readyz", "/metrics")
"""Paths for probes and monitoring."""

OPEN = (*HEALTH, "/openapi.json", "/docs", "/swagger", "/ui")
"""Paths that need no key. They show nothing of any corpus."""

HERE = ("localhost", "127.0.0.1", "[::1]", "::1")
"""Hosts that the service always answers for."""

_OWN = ("same-origin", "none")
"""Values of Sec-Fetch-Site: the page is ours, or a person typed the address."""

_INSTEAD = "Use the page of the service at /ui, or a program."

_LOOPBACK = ("127.0.0.1", "::1", "localhost", "testclient")

_PATH = re.compile(r"(?:file:)?(?:[A-Za-z]:)?[/\\].*?([^/\\]*)", re.DOTALL)

_bearer = HTTPBearer(
    auto_error=False, description="`Authorization: Bearer e2g_ID_SECRET`, an API key, or an access token."
)
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="An API key.")


class Authenticate:
    """Middleware that finds the caller of a request, before any of its body is read.

    The caller is `request.state.caller`. Without a key in the database, requests from this machine need none, and
    whatever they send as one is ignored: clients of OpenAI's API cannot but send one. With an issuer, whose access
    tokens are accepted too, and with `always`, because a proxy may send requests for others, every request needs a key
    or a token.

    Every request looks its key up, so that a revoked key is refused at once.
    """

    def __init__(self, app: ASGIApp, client: AsyncE2G, limits: Limits, *, issuer: Issuer | None, always: bool) -> None:
        self._app, self._client, self._limits, self._issuer = app, client, limits, issuer
        self._always = always or issuer is not None
        self._accounts: dict[bytes, str] = {}  # by the SHA-256 of keys that were valid once

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not _is_open(scope["path"]):
            connection = HTTPConnection(scope)
            caller = await self._caller(connection)
            self._limits.admit(caller)
            connection.state.caller = caller
        await self._app(scope, receive, send)

    async def _caller(self, connection: HTTPConnection) -> Caller:
        text = _key_in(connection.headers)
        caller: Caller | None = None
        if text is not None and self._issuer is not None and looks_like_token(text):
            caller = await self._issuer.caller(text)
        elif text is not None:
            digest = sha256(text.encode()).digest()
            known = self._accounts.get(digest) if connection.scope["path"] in QUESTIONS else None
            with self._limits.questions.wait(known) if known else nullcontext():
                found = await self._client.runner.look_up(keys.verify_key(text))
            if found:
                caller = caller_of(*found)
                self._accounts[digest] = caller.account
        from_here = connection.client is not None and connection.client.host in _LOOPBACK
        if caller is None and from_here and not self._always:
            caller = None if await self._client.runner.look_up(keys.any_key()) else LOCAL
        if caller is None:
            parts = keys.SECRET.fullmatch(text or "")
            connection.state.refused_key = parts[1] if parts else None
            raise ProblemError(401, "unauthenticated", "This needs a valid API key.", {"WWW-Authenticate": "Bearer"})
        return caller


class KnownHosts(TrustedHostMiddleware):
    """Middleware that refuses requests for other hosts.

    Probes and Prometheus address a container by its IP. For their paths, every IP is admitted: a name that somebody
    else gave to this machine is not.
    """

    def __init__(self, app: ASGIApp, public_host: str | None) -> None:
        super().__init__(app, [*HERE, *([public_host] if public_host else [])], www_redirect=False)

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        probe = scope["type"] == "http" and scope["path"] in HEALTH and _is_ip(Headers(scope=scope).get("host", ""))
        await (self.app if probe else super().__call__)(scope, receive, send)


class OwnPages:
    """Middleware that refuses requests of web pages of other origins, but opening an address, as a link does."""

    def __init__(self, app: ASGIApp, public_url: str) -> None:
        self._app, self._public = app, urlsplit(public_url).netloc

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._is_foreign(scope["method"], Headers(scope=scope)):
            detail = "A web page of another origin may not use the service."
            raise ProblemError(403, "foreign_page", detail, next_step=_INSTEAD)
        await self._app(scope, receive, send)

    def _is_foreign(self, method: str, headers: Headers) -> bool:
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is None:  # an old browser, or no connection that it trusts
            own = origin is None or urlsplit(origin).netloc in {headers.get("host", ""), self._public} - {""}
        else:
            own = site in _OWN
        opened = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        return not own and not (opened and method in ("GET", "HEAD"))


def _is_ip(host: str) -> bool:
    try:
        return bool(ip_address(urlsplit(f"//{host}").hostname or ""))
    except ValueError:
        return False


class CorpusAddresses:
    """Middleware that answers addresses whose corpus or document has a slash, sent as %2F, as those of unknown ones.

    The router sees addresses decoded, and would read `a%2Fdocuments` as the documents of the corpus `a`.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                _check_names(scope["method"], [unquote(part) for part in scope["raw_path"].decode("ascii").split("/")])
            except E2GError as error:
                return await problem_of(error, scope["state"]["request_id"])(scope, receive, send)
        return await self._app(scope, receive, send)


def _check_names(method: str, address: list[str]) -> None:
    """Raise the error of a name that no address can have. What would make a corpus is told to choose another name."""
    match address:
        case [_, "v1", "corpora", corpus, *_] if not has_address(corpus):
            if method == "POST":
                check_corpus_name(corpus)
            raise CorpusNotFoundError(corpus)
        case [_, "v1", "corpora", corpus, "documents", document, *_] if "/" in document:
            raise DocumentNotFoundError(document, corpus)


def caller_of(key: KeyInfo, *makers: KeyInfo) -> Caller:
    limits = {name: getattr(key, name) for name in LIMITS}
    maker = caller_of(*makers) if makers else None
    return Caller(key.id, frozenset(key.scopes), key.corpora, **limits, maker=maker)


def _is_open(path: str) -> bool:
    return path == "/" or any(path == one or path.startswith(f"{one}/") for one in OPEN)


def _key_in(headers: Headers) -> str | None:
    """Return the key that a request carries. An empty one is a wrong one."""
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return credentials.strip()
    return headers.get("x-api-key")


async def current_caller(
    request: Request, _bearer: Annotated[Any, Depends(_bearer)], _header: Annotated[Any, Depends(_header)]
) -> Caller:
    """Return the caller of a request. The two schemes are only for the API's description."""
    caller: Caller = request.state.caller
    return caller


def needs(scope: Scope) -> Callable[..., Awaitable[Caller]]:
    """Return a dependency: the caller, who must have a scope. It waits for the bookmark of the request."""

    async def check_caller(request: Request, caller: Annotated[Caller, Depends(current_caller)]) -> Caller:
        check_scope(caller, scope)
        await request.state.catch_up()
        return caller

    return check_caller


def check_scope(caller: Caller, scope: Scope) -> None:
    """Raise a 403 if the caller lacks a scope."""
    if scope not in caller.scopes:
        raise ProblemError(403, "scope", f"This needs a key with the scope {scope!r}.")


def check_wall(caller: Caller, corpora: Sequence[str]) -> None:
    """Raise the error of a corpus that does not exist, if the caller may not see one of these."""
    for corpus in corpora:
        if not caller.sees(corpus):
            raise CorpusNotFoundError(corpus)


async def visible_corpus(request: Request, corpus: str) -> str:
    """Return the corpus in the path of a request, if the caller may see it."""
    check_wall(request.state.caller, [corpus])
    return corpus


async def graph_admin(caller: Annotated[Caller, Depends(needs("admin"))]) -> Caller:
    """Return an administrator of all corpora, as links and adoption read any node of the database."""
    if not caller.is_graph_admin:
        raise ProblemError(403, "scope", "This needs a key with the scope 'admin' for all corpora.")
    return caller


def hide_from_caller(caller: Caller, task: TaskInfo) -> TaskInfo:
    """Return a task as its caller may see it: only who may use the user's graph sees what was found there."""
    if task.kind in OF_USERS_GRAPH and not caller.is_graph_admin:
        return replace(task, result=None, error=None)
    return task


def check_may_change(caller: Caller, task: TaskInfo) -> None:
    """Raise a 403 if the caller may not cancel or retry a task, because it could not have made it."""
    if task.kind in OF_USERS_GRAPH and not caller.is_graph_admin:
        detail = f"A task of the kind {task.kind!r} needs a key with the scope 'admin' for all corpora."
        raise ProblemError(403, "scope", detail)


VisibleCorpus = Annotated[str, Depends(visible_corpus)]
Reader = Annotated[Caller, Depends(needs("read"))]
Asker = Annotated[Caller, Depends(needs("ask"))]
Writer = Annotated[Caller, Depends(needs("write"))]
Admin = Annotated[Caller, Depends(needs("admin"))]
GraphAdmin = Annotated[Caller, Depends(graph_admin)]


# --- what callers see: paths of files on the server only with the scope `admin`, and links to the page ------


def file_name(source: str) -> str:
    """Return the name of the file whose path a source is. Other sources, such as `upload:NAME`, stay as they are."""
    path = _PATH.fullmatch(source)
    return path[1] if path else source


def hide_in_evidence(evidence: Evidence, caller: Caller) -> Evidence:
    return evidence if _sees_paths(caller) else replace(evidence, passages=tuple(map(_passage, evidence.passages)))


def hide_in_answer(answer: Answer, caller: Caller, base: str) -> Answer:
    """Return an answer as a caller may see it, with links under the address of the service."""
    citations = tuple(replace(one, url=link_of(one, base)) for one in answer.citations)
    if _sees_paths(caller):
        return replace(answer, citations=citations)
    citations = tuple(replace(one, passage=_passage(one.passage)) for one in citations)
    evidence = hide_in_evidence(answer.evidence, caller)
    return replace(answer, citations=citations, given=tuple(map(_passage, answer.given)), evidence=evidence)


def link_of(citation: Citation, base: str) -> str | None:
    """Return the address of a cited passage in the page; None for a fact and for a corpus without an address."""
    passage = citation.passage
    if citation.fact is not None or not has_address(passage.corpus):
        return None
    document = f"corpora/{quote(passage.corpus, safe='')}/documents/{passage.document_id}"
    return f"{base}/ui/#/{document}?at={passage.shown.start}"


def hide_in_document(document: DocumentInfo, caller: Caller) -> DocumentInfo:
    name = document.source if _sees_paths(caller) else file_name(document.source)
    why = document.why and document.why.replace(document.source, name)
    return replace(document, source=name, why=why)


def hide_in_text(text: DocumentText, caller: Caller) -> DocumentText:
    return text if _sees_paths(caller) else replace(text, source=file_name(text.source))


def hide_properties(properties: dict[str, object], caller: Caller) -> dict[str, object]:
    source = properties.get("source")
    hidden = isinstance(source, str) and not _sees_paths(caller)
    return {**properties, "source": file_name(str(source))} if hidden else properties


def _sees_paths(caller: Caller) -> bool:
    return "admin" in caller.scopes


def _passage(passage: Passage) -> Passage:
    return replace(passage, source=file_name(passage.source))
