"""What web pages of other origins may do: open an address of the service, and nothing else.

A page elsewhere can make a browser on this machine send forms and simple requests, and can give its own name the
address of this machine (DNS rebinding). Programs send none of these headers, and are not concerned.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from e2g_neo4j.service.limits import HEALTH
from e2g_neo4j.service.problems import ProblemError

HERE = ("localhost", "127.0.0.1", "[::1]", "::1")
"""Hosts that the service always answers for."""

_OWN = ("same-origin", "none")
"""Values of Sec-Fetch-Site: the page is ours, or a person typed the address."""

_NEXT = "Use the page of the service at /ui, or a program."


class KnownHosts(TrustedHostMiddleware):
    """Middleware that refuses requests for other hosts.

    Probes and Prometheus address a container by its IP. For their paths, every IP is admitted: a name that somebody
    else gave to this machine is not.

    Args:
        app: The application.
        public_host: The host of the service's address for others, if it has one.
    """

    def __init__(self, app: ASGIApp, public_host: str | None) -> None:
        super().__init__(app, [*HERE, *([public_host] if public_host else [])], www_redirect=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        probe = scope["type"] == "http" and scope["path"] in HEALTH and _is_ip(Headers(scope=scope).get("host", ""))
        await (self.app if probe else super().__call__)(scope, receive, send)


class OwnPages:
    """Middleware that refuses requests of web pages of other origins, but opening an address, as a link does.

    Args:
        app: The application.
        public_url: The service's address for others, or an empty text.
    """

    def __init__(self, app: ASGIApp, public_url: str) -> None:
        self._app, self._public = app, urlsplit(public_url).netloc

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._is_foreign(scope["method"], Headers(scope=scope)):
            detail = "A web page of another origin may not use the service."
            raise ProblemError(403, "foreign_page", detail, next_step=_NEXT)
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
