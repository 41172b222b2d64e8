"""Access tokens of an OpenID Connect issuer: verified with the keys that it publishes, and turned into callers."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from typing import Any

import httpx
import jwt

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.graph.keys import SCOPES
from e2g_neo4j.service.problems import RETRY_SECONDS, ProblemError
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.service import Caller

logger = logging.getLogger(__name__)

ALGORITHMS = frozenset(
    ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
)  # with a secret that both sides know, the service could make tokens itself

KEYS_SECONDS = 3600.0
"""After this time the keys of the issuer are read again."""

REFETCH_SECONDS = 60.0
"""They are not read more often because of tokens with unknown keys."""

LEEWAY_SECONDS = 30
"""How far the clocks of issuer and service may differ."""

FETCH_SECONDS = 5.0

LONGEST_SUBJECT = 200
"""In characters."""

LONGEST_TOKEN = 16_384
"""In characters."""

_SECURE = re.compile(r"https://|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?/")


class Issuer:
    """An OpenID Connect issuer. Its URL is the claim `iss` of its tokens and where its configuration is found; their
    claim `aud` must name the audience."""

    def __init__(self, url: str, audience: str, corpora_claim: str) -> None:
        self._url, self._audience, self._corpora_claim = url, audience, corpora_claim
        self._keys: list[jwt.PyJWK] = []
        self._fetched = self._failed = -KEYS_SECONDS
        self._fetching = asyncio.Lock()

    async def caller(self, token: str) -> Caller | None:
        """Return the caller that a token stands for, or None if the token cannot be used. Raises a 503 if the issuer
        cannot be reached and its keys are not known."""
        if len(token) > LONGEST_TOKEN:
            return None
        try:
            header = jwt.get_unverified_header(token)
            key = await self._key(header.get("kid")) if header.get("alg") in ALGORITHMS else None
            if key is None:
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                audience=self._audience,
                issuer=self._url,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"]},  # nbf is checked where it is there
            )
        except (jwt.PyJWTError, ValueError, TypeError):
            return None
        return self._caller(claims)

    def _caller(self, claims: dict[str, Any]) -> Caller | None:
        subject = claims["sub"]
        if not 0 < len(subject) <= LONGEST_SUBJECT or not subject.isprintable():
            return None
        scope, corpora = claims.get("scope"), claims.get(self._corpora_claim)
        granted = {one.removeprefix("e2g:") for one in scope.split()} if isinstance(scope, str) else set()
        return Caller(
            f"oidc:{subject}",
            frozenset(one for one in SCOPES if one in granted),
            tuple(one for one in corpora if _is_pattern(one)) if isinstance(corpora, list) else (),
        )

    async def _key(self, kid: Any) -> jwt.PyJWK | None:
        """Return the issuer's key with an id, or its only key. The keys are read when they are old, or lack the id."""
        async with self._fetching:
            now = time.monotonic()
            found = self._find_key(kid)
            age = now - self._fetched
            if (age > KEYS_SECONDS or (found is None and age > REFETCH_SECONDS)) and now - self._failed > RETRY_SECONDS:
                try:
                    self._keys = await self._fetch()
                    self._fetched, found = time.monotonic(), self._find_key(kid)
                except (httpx.HTTPError, httpx.InvalidURL, jwt.PyJWTError, ValueError, TypeError, KeyError) as error:
                    logger.warning("The keys of the OIDC issuer cannot be read (%s).", type(error).__name__)
                    self._failed = time.monotonic()
            if found is None and self._failed > self._fetched:
                detail = "The issuer of access tokens cannot be reached."
                raise ProblemError(503, "issuer_unreachable", detail, {"Retry-After": str(RETRY_SECONDS)})
            return found

    def _find_key(self, kid: Any) -> jwt.PyJWK | None:
        if kid is None:
            return self._keys[0] if len(self._keys) == 1 else None
        return next((key for key in self._keys if key.key_id == kid), None)

    async def _fetch(self) -> list[jwt.PyJWK]:
        async with httpx.AsyncClient(timeout=FETCH_SECONDS) as http:
            found = await http.get(f"{self._url.rstrip('/')}/.well-known/openid-configuration")
            configuration = found.raise_for_status().json()
            address = configuration["jwks_uri"]
            if configuration["issuer"] != self._url or not _SECURE.match(address):
                raise ValueError("another issuer, or an address without https")
            keys = jwt.PyJWKSet.from_dict((await http.get(address)).raise_for_status().json()).keys
        return [key for key in keys if key.algorithm_name in ALGORITHMS and key.public_key_use in (None, "sig")]


def issuer_of(settings: Settings) -> Issuer | None:
    """Return the configured issuer, or None. Raises ConfigurationError if it is configured without an audience."""
    if settings.oidc_issuer is None:
        return None
    if not settings.oidc_audience:
        raise ConfigurationError(
            "E2G_OIDC_ISSUER is set without E2G_OIDC_AUDIENCE: set it to what the claim `aud` of the tokens names."
        )
    return Issuer(settings.oidc_issuer, settings.oidc_audience, settings.oidc_corpora_claim)


def looks_like_token(text: str) -> bool:
    """Return whether a text has the form of a JSON Web Token, which no API key has."""
    return text.count(".") == 2 and not text.startswith("e2g_")


def _is_pattern(corpus: Any) -> bool:
    """Return whether a claim's value names a corpus, or a prefix such as `team-*`."""
    return isinstance(corpus, str) and bool(corpus.strip()) and "*" not in corpus[:-1]
