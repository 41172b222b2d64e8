"""When the key of a request is looked up: before the request is worked on, or for a question meanwhile."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from e2g_neo4j.errors import UnreachableError
from e2g_neo4j.service import access
from e2g_neo4j.service.access import CHECKED_MEANWHILE, Authenticate
from e2g_neo4j.types.service import KeyInfo

KEY = KeyInfo("0" * 12, "test", ("read",), ("*",), created=0)
EVIDENCE = b'{"passages": ["the third ledger"]}'


class Service:
    """The middleware, an application that answers every request with EVIDENCE, and a database of keys.

    Attributes:
        found: What the database finds: a key, None or an error.
        may_find: It waits for this.
        worked: How many requests the application has worked on.
        limited: How many requests were counted.
        worked_meanwhile: Whether the application had worked on the last slow request before its key was found.
    """

    def __init__(self) -> None:
        self.found: KeyInfo | Exception | None = KEY
        self.may_find = asyncio.Event()
        self.may_find.set()
        self.worked = self.limited = 0
        self.worked_meanwhile = False
        client: Any = SimpleNamespace(runner=SimpleNamespace(look_up=self._look_up))
        limits: Any = SimpleNamespace(admit=self._admit)
        self._asked = Authenticate(self._app, client, limits)

    async def ask(self, path: str = CHECKED_MEANWHILE, key: str = "e2g_key") -> tuple[int, bytes]:
        """Return the status and the body of the reply."""
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        scope: dict[str, Any] = {
            "type": "http",
            "method": "POST",
            "path": path,
            "headers": [(b"x-api-key", key.encode())],
            "client": ("192.0.2.1", 1),
            "state": {"request_id": "r"},
        }
        await self._asked(scope, self._receive, send)
        assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
        return sent[0]["status"], sent[1]["body"]

    async def ask_slowly(self, path: str = CHECKED_MEANWHILE) -> tuple[int, bytes]:
        """Ask, while the database finds nothing until the application has had time to work on the request."""
        self.may_find.clear()
        worked = self.worked
        asked = asyncio.create_task(self.ask(path))
        await asyncio.sleep(0.05)
        assert not asked.done(), "nothing is sent before the key is found"
        self.worked_meanwhile = self.worked > worked
        self.may_find.set()
        return await asked

    async def _app(self, scope: Any, receive: Any, send: Callable[[Any], Any]) -> None:
        self.worked += 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": EVIDENCE})

    async def _look_up(self, operation: Any) -> Any:
        operation.close()
        await self.may_find.wait()
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    def _admit(self, caller: Any) -> None:
        self.limited += 1

    @staticmethod
    async def _receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}


@pytest.mark.parametrize(
    ("path", "again", "meanwhile"),
    [(CHECKED_MEANWHILE, True, True), (CHECKED_MEANWHILE, False, False), ("/v1/ask", True, False)],
)
async def test_only_a_question_of_a_known_key_is_worked_on_before_the_key_is_found(
    path: str, again: bool, meanwhile: bool
) -> None:
    service = Service()
    if again:
        assert await service.ask(path) == (200, EVIDENCE)
    assert await service.ask_slowly(path) == (200, EVIDENCE)
    assert service.worked_meanwhile == meanwhile
    assert service.worked == service.limited == 1 + again


@pytest.mark.parametrize(
    ("found", "status", "code"),
    [(None, 401, "unauthenticated"), (UnreachableError("The database is away."), 503, "unreachable")],
)
async def test_nothing_is_sent_if_the_key_is_not_found_again(found: Any, status: int, code: str) -> None:
    service = Service()
    await service.ask()
    service.found = found
    refused, body = await service.ask_slowly()
    assert (refused, json.loads(body)["code"], b"ledger" in body) == (status, code, False)


async def test_a_refused_key_is_not_known_any_more() -> None:
    service = Service()
    await service.ask()
    service.found = None
    assert [(await service.ask())[0] for _ in range(3)] == [401] * 3
    assert service.worked == 2, "once before, and once while the key was looked up"


async def test_a_key_with_other_rights_is_refused_once() -> None:
    service = Service()
    await service.ask()
    service.found = KeyInfo(KEY.id, KEY.name, KEY.scopes, ("other",), created=0)
    assert [(await service.ask())[0] for _ in range(2)] == [401, 200]


async def test_a_known_key_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """After some time, and when there are too many."""
    monkeypatch.setattr(access, "MOST_ACCEPTED", 2)
    service = Service()
    for key in ("a", "b", "c"):
        await service.ask(key=key)
    service.found, worked = None, service.worked
    assert (await service.ask(key="a"))[0] == 401
    assert service.worked == worked, "a was forgotten when c came"
    assert (await service.ask(key="c"))[0] == 401
    assert service.worked == worked + 1
    monkeypatch.setattr(access, "ACCEPTED_SECONDS", 0.0)
    service.found = KEY
    await service.ask(key="d")
    service.found, worked = None, service.worked
    assert (await service.ask(key="d"))[0] == 401
    assert service.worked == worked
