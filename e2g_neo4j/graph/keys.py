"""API keys of the service, and what they used.

A key is `e2g_ID_SECRET`. The database holds the SHA-256 of the secret, which is 256 random bits.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from hashlib import sha256
from hmac import compare_digest
from typing import Any, get_args

from e2g_neo4j.errors import InputError
from e2g_neo4j.graph.tasks import write_one
from e2g_neo4j.runtime.requests import Operation, Read, Write
from e2g_neo4j.types.ids import LONGEST_CORPUS_NAME, utf8
from e2g_neo4j.types.service import KeyInfo, Scope, UsageInfo

SECRET = re.compile(r"e2g_([0-9a-f]{12})_([A-Za-z0-9_-]{43})", re.ASCII)

SCOPES: tuple[Scope, ...] = get_args(Scope)

LONGEST_NAME = 100
"""In characters."""

MOST_CORPORA = 1000

MOST_CORPORA_BYTES = 2**14
"""Of all names of corpora of a key, which each of its requests reads."""

MOST_DAYS = 3660


def create(
    name: str,
    scopes: Sequence[str],
    corpora: Sequence[str],
    *,
    expires: int | None = None,
    requests_per_minute: int | None = None,
    requests_per_day: int | None = None,
    tokens_per_minute: int | None = None,
    tokens_per_day: int | None = None,
    makers: Sequence[str] = (),
) -> Operation[tuple[KeyInfo, str]]:
    """Create an API key.

    Args:
        name: what it is for, to recognise it.
        scopes: what it may do: `read`, `ask`, `write`, `admin`.
        corpora: names of corpora, prefixes such as `team-*`, or `*` for all.
        expires: when it expires, in milliseconds since 1970, UTC; None: never.
        requests_per_minute: maximum number of requests per minute; None: no limit. The other limits likewise.
        requests_per_day: as `requests_per_minute`.
        tokens_per_minute: as `requests_per_minute`.
        tokens_per_day: as `requests_per_minute`.
        makers: as `KeyInfo.makers`.

    Returns:
        The key, and its text, which cannot be read again.

    Raises:
        InputError: a value cannot be used.
    """
    _check_name(name)
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise InputError(f"The scopes of a key are some of {', '.join(SCOPES)}, not {', '.join(unknown) or 'none'}.")
    _check_corpora(corpora)
    limits = {
        "requests_per_minute": requests_per_minute,
        "requests_per_day": requests_per_day,
        "tokens_per_minute": tokens_per_minute,
        "tokens_per_day": tokens_per_day,
    }
    for limit, value in limits.items():
        if value is not None and not 0 < value < 2**63:
            raise InputError(f"{limit} is {value}. It must be more than 0, or absent for no limit.")
    if expires is not None and not 0 < expires < 2**53:
        raise InputError("The time at which the key expires must be in milliseconds since 1970.")
    key, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    parameters = {
        "key": key,
        "name": name,
        "sha256": _hash(secret),
        "scopes": [scope for scope in SCOPES if scope in scopes],
        "corpora": list(dict.fromkeys(corpora)),
        "expires": expires,
        "makers": list(makers),
        **limits,
    }
    rows = yield write_one("service/create_key", **parameters)
    if not rows:
        raise InputError("The key would have expired already. Give a later time. Nothing was created.")
    return _info(rows[0]["found"]), f"e2g_{key}_{secret}"


def verify_key(text: str) -> Operation[list[KeyInfo]]:
    """Return the key of a text `e2g_ID_SECRET`, then its makers; none if it is malformed, wrong, expired or revoked, or
    a maker is revoked. A maker that is no key, but signed in otherwise, has no limits."""
    parts = SECRET.fullmatch(text)
    key, secret = parts.groups() if parts else ("", "")
    rows = yield Read("service/key", {"key": key})  # also for a malformed one, which so takes as long as a wrong one
    expected = rows[0]["found"]["sha256"] if rows else _hash("")
    same = compare_digest(_hash(secret), expected)
    valid = parts and rows and same and rows[0]["valid"]
    if not valid:
        return []
    found, makers = _info(rows[0]["found"]), {one["id"]: _info(one) for one in rows[0]["makers"]}
    return [found, *(makers.get(one) or KeyInfo(one, "", (), (), 0) for one in found.makers)]


def is_refused(key: str) -> Operation[bool]:
    """Return whether there is such a key, but it or a maker is revoked, or it has expired."""
    rows = yield Read("service/key", {"key": key})
    return bool(rows) and not rows[0]["valid"]


def list_keys() -> Operation[list[KeyInfo]]:
    """List the keys, the oldest first, revoked and expired ones included."""
    rows = yield Read("service/keys", {})
    return [_info(row["found"]) for row in rows]


def revoke(key: str) -> Operation[KeyInfo | None]:
    """Revoke a key, and those that it made, at once. Returns None if there is none."""
    rows = yield write_one("service/revoke_key", key=key)
    return _info(rows[0]["found"]) if rows else None


def any_key() -> Operation[bool]:
    """Return whether there is a key that was not revoked, so that every request needs one."""
    return bool((yield Read("service/any_key", {})))


def add_usage(rows: Iterable[Mapping[str, Any]]) -> Operation[None]:
    """Add to what keys used today.

    Args:
        rows: {key, requests, prompt_tokens, completion_tokens}; what is absent is 0.
    """
    names = ("requests", "prompt_tokens", "completion_tokens")
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        counted[row["key"]].update({name: row.get(name, 0) for name in names})
    if counted:  # in order, so that two writers cannot wait for each other
        yield Write((("service/add_usage", {"rows": [{"key": key, **counted[key]} for key in sorted(counted)]}),))


def usage(keys: Sequence[str] | None = None, days: int = 30) -> Operation[list[UsageInfo]]:
    """Return what keys used, or all if `keys` is None, on the last days, today included. The latest day comes first."""
    if not 1 <= days <= MOST_DAYS:
        raise InputError(f"The number of days is {days}. It must be from 1 to {MOST_DAYS}.")
    rows = yield Read("service/usage", {"keys": None if keys is None else list(keys), "days": days})
    return [UsageInfo(**row) for row in rows]


def used_today() -> Operation[dict[str, tuple[int, int]]]:
    """Return the requests and tokens of today that count against each key: those of the keys that it made too, and
    those of tasks that have not ended, which usage has later."""
    return {row["key"]: (row["requests"], row["tokens"]) for row in (yield Read("service/used_today", {}))}


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(f"The name of a key must have 1 to {LONGEST_NAME} printable characters.")


def _check_corpora(corpora: Sequence[str]) -> None:
    if isinstance(corpora, str) or not 0 < len(corpora) <= MOST_CORPORA:
        raise InputError(f"A key needs 1 to {MOST_CORPORA} corpora: names, prefixes such as `team-*`, or `*` for all.")
    for one in corpora:
        utf8(one, "The name of a corpus")
        if "*" in one[:-1]:
            raise InputError(f"The corpus {one!r} of a key has a `*` before its end. Only a prefix can be given.")
        if not one.strip() or not one.isprintable() or len(one.encode()) > LONGEST_CORPUS_NAME:
            raise InputError(f"The corpus {one!r} of a key is not the name of a corpus, or a prefix of names.")
    if sum(len(one.encode()) for one in corpora) > MOST_CORPORA_BYTES:
        raise InputError(f"The names of the corpora of a key have more than {MOST_CORPORA_BYTES} bytes: give a prefix.")


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


_NAMES = frozenset(field.name for field in fields(KeyInfo))


def _info(found: dict[str, Any]) -> KeyInfo:
    values = {name: value for name, value in found.items() if name in _NAMES}
    lists = {name: tuple(values.get(name, ())) for name in ("scopes", "corpora", "makers")}
    return KeyInfo(**values | lists)
