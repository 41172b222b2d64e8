"""API keys, and what they used, on a real server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any

import pytest
from at_server import migrated
from libraries import driven, performing
from neo4j import Driver

from e2g_neo4j.errors import InputError
from e2g_neo4j.graph import keys
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.types.service import UsageInfo

Run = Callable[[Any], Any]


@pytest.fixture(scope="module")
def server(scratch: Connection) -> Iterator[Driver]:
    with migrated(scratch) as driver:
        yield driver


@pytest.fixture
def run(server: Driver) -> Run:
    server.execute_query("MATCH (n:E2GKey|E2GUsage) DELETE n")
    perform = performing(server)
    return lambda operation: driven(perform, operation)


def test_a_key_is_created_found_listed_and_revoked(run: Run, server: Driver) -> None:
    assert run(keys.any_key()) is False
    given, text = run(
        keys.create("CI", ["write", "read", "read"], ["novels", "team-*"], requests_per_minute=5, tokens_per_day=7)
    )
    assert keys.SECRET.fullmatch(text)
    assert (given.name, given.scopes, given.corpora) == ("CI", ("read", "write"), ("novels", "team-*"))
    assert (given.requests_per_minute, given.requests_per_day, given.tokens_per_day) == (5, None, 7)
    assert (given.expires, given.revoked) == (None, None)
    secret = text[17:]
    other, _ = run(keys.create("B", ["admin"], ["*"]))
    assert run(keys.list_keys()) == [given, other]
    assert run(keys.verify_key(text)) == [given]
    revoked = run(keys.revoke(given.id))
    assert revoked.revoked is not None
    assert run(keys.revoke(given.id)) == revoked
    assert run(keys.verify_key(text)) == []
    assert run(keys.any_key()) is True
    run(keys.revoke(other.id))
    assert run(keys.any_key()) is False, "whoever revokes the last one is not locked out"
    assert run(keys.revoke("0" * 12)) is None
    stored = server.execute_query("MATCH (k:E2GKey) RETURN properties(k) AS held").records
    assert [row["held"]["sha256"] for row in stored if row["held"]["id"] == given.id] == [
        sha256(secret.encode()).hexdigest()
    ]
    assert not any(secret in str(row["held"]) for row in stored)


def test_a_key_is_refused_with_those_that_made_it(run: Run, server: Driver) -> None:
    first, _ = run(keys.create("first", ["admin"], ["*"], tokens_per_day=9))
    second, text = run(keys.create("second", ["admin"], ["*"], makers=[first.id]))
    third, deepest = run(keys.create("third", ["read"], ["*"], makers=[second.id, first.id]))
    other, others = run(keys.create("other", ["read"], ["*"], makers=["oidc:ann"]))
    assert third.makers == (second.id, first.id)
    key, *makers = run(keys.verify_key(deepest))
    assert (key, makers) == (third, [second, first])
    key, maker = run(keys.verify_key(others))
    assert (key, maker.id) == (other, "oidc:ann")
    assert not run(keys.is_refused(third.id))
    server.execute_query("MATCH (k:E2GKey {id: $id}) SET k.revoked = 1", id=second.id)
    assert run(keys.verify_key(deepest)) == [], "also one that was made while its maker was revoked"
    assert run(keys.is_refused(third.id))
    server.execute_query("MATCH (k:E2GKey {id: $id}) REMOVE k.revoked", id=second.id)
    assert run(keys.revoke(second.id)).revoked
    assert [one.name for one in run(keys.list_keys()) if one.revoked] == ["second", "third"]
    assert (run(keys.verify_key(text)), run(keys.verify_key(deepest))) == ([], [])
    assert run(keys.verify_key(others))[0] == other
    assert not run(keys.is_refused("local"))


def test_what_a_key_uses_today_counts_for_its_makers(run: Run) -> None:
    first, _ = run(keys.create("first", ["admin"], ["*"]))
    second, _ = run(keys.create("second", ["read"], ["*"], makers=[first.id]))
    rows = [(first.id, 1, 10), (second.id, 2, 20), ("local", 3, 30)]
    run(keys.add_usage({"key": key, "requests": n, "prompt_tokens": tokens} for key, n, tokens in rows))
    assert run(keys.used_today()) == {first.id: (3, 30), second.id: (2, 20), "local": (3, 30)}


def test_only_the_whole_key_is_accepted(run: Run) -> None:
    given, text = run(keys.create("a", ["read"], ["*"]))
    _, other = run(keys.create("b", ["read"], ["*"]))
    last = "A" if text[-2] != "A" else "B"
    wrong = [
        "",
        "e2g_",
        text[:-1],
        text + "A",
        text + "\n",
        f" {text}",
        text.upper(),
        text[:-2] + last + text[-1],
        text[:17] + other[17:],
        f"e2g_{'0' * 12}_{text[17:]}",
        text.replace("e2g", "E2G"),
        "e2g_" + "٣" * 12 + text[16:],
        text[:20] + "\0" + text[21:],
        text[:20] + "\ud800" + text[21:],
    ]
    assert [run(keys.verify_key(one)) for one in wrong] == [[]] * len(wrong)
    assert run(keys.verify_key(text)) == [given]


def test_a_wrong_key_is_looked_up_like_a_malformed_one() -> None:
    """So neither the answer nor the number of round trips tells which it is."""
    for text in ("", "e2g_x", f"e2g_{'0' * 12}_{'A' * 43}"):
        operation: Any = keys.verify_key(text)
        assert operation.send(None).statement == "service/key"
        with pytest.raises(StopIteration) as end:
            operation.send([])
        assert end.value.value == []


def test_a_key_expires_by_the_clock_of_the_server(run: Run, server: Driver) -> None:
    now = server.execute_query("RETURN timestamp() AS now").records[0]["now"]
    given, text = run(keys.create("a", ["read"], ["*"], expires=now + 3_600_000))
    assert given.expires == now + 3_600_000
    assert run(keys.verify_key(text)) == [given]
    server.execute_query("MATCH (k:E2GKey) SET k.expires = timestamp() - 1")
    assert run(keys.verify_key(text)) == []
    with pytest.raises(InputError, match="expired"):
        run(keys.create("b", ["read"], ["*"], expires=now - 1))
    assert len(run(keys.list_keys())) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": " "},
        {"name": "x" * 101},
        {"name": "a\nb"},
        {"scopes": []},
        {"scopes": ["read", "root"]},
        {"corpora": []},
        {"corpora": "novels"},
        {"corpora": [""]},
        {"corpora": ["a*b"]},
        {"corpora": ["**"]},
        {"corpora": ["x" * 1001]},
        {"corpora": ["\ud800"]},
        {"corpora": ["a"] * 1001},
        pytest.param({"corpora": ["x" * 1000] * 17}, id="corpora that are too long together"),
        {"expires": 0},
        {"expires": 2**60},
        {"tokens_per_day": 0},
        {"requests_per_minute": -1},
        {"requests_per_day": 2**63},
    ],
    ids=str,
)
def test_what_cannot_be_used_is_refused(wrong: dict[str, Any], run: Run) -> None:
    given = {"name": "a", "scopes": ["read"], "corpora": ["novels"]}
    with pytest.raises(InputError):
        run(keys.create(**{**given, **wrong}))
    assert run(keys.any_key()) is False


def test_usage_adds_up_per_key_and_day(run: Run, server: Driver) -> None:
    perform = performing(server)
    rows = [{"key": f"k{number % 3}", "requests": 1, "prompt_tokens": 10} for number in range(9)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: driven(perform, keys.add_usage(rows)), range(8)))
    run(keys.add_usage([{"key": "k0", "completion_tokens": 5}]))
    run(keys.add_usage([]))
    today = server.execute_query("RETURN toString(date({timezone: 'UTC'})) AS day").records[0]["day"]
    assert run(keys.usage()) == [
        UsageInfo("k0", today, 24, 240, 5),
        UsageInfo("k1", today, 24, 240, 0),
        UsageInfo("k2", today, 24, 240, 0),
    ]
    assert [one.key for one in run(keys.usage(["k1"], 1))] == ["k1"]
    server.execute_query(
        "MATCH (u:E2GUsage {key: 'k1'}) SET u.day = toString(date({timezone: 'UTC'}) - duration('P1D'))"
    )
    assert [one.key for one in run(keys.usage(days=1))] == ["k0", "k2"]
    assert [one.key for one in run(keys.usage(days=2))] == ["k0", "k2", "k1"]
    for days in (0, 4000):
        with pytest.raises(InputError):
            run(keys.usage(days=days))
