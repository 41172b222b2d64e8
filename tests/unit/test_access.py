"""What a key may see on every route, and how much it may send."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from growing_requests import example
from langchain_core.language_models import FakeListChatModel

from e2g_neo4j.errors import UnreachableError
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.service import limits
from e2g_neo4j.service.access import caller_of, hide_in_evidence, link_of
from e2g_neo4j.service.app import create_app
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.results import Citation, Evidence, Excerpt, Passage
from e2g_neo4j.types.service import KeyInfo, TaskInfo

KEY = KeyInfo("0" * 12, "test", ("read",), ("*",), created=0)
TEAM = KeyInfo("1" * 12, "team", ("read", "ask", "write", "admin"), ("mine", "team-*"), created=0)
OWN, FOREIGN = "team-a", "vault"


class Client:
    """A client that notes what it is asked, and whose database is away but for the key TEAM.

    Attributes:
        asked: Methods of the client, and operations, but those that look up keys.
        task: The task that is found, if any.
    """

    def __init__(self) -> None:
        self.settings = Settings(upload_mb=1, fetch_pages=True)
        self.models = Models(self.settings, FakeListChatModel(responses=["It was so [1]."]))
        self.asked: list[str] = []
        self.task: TaskInfo | None = None
        self.runner = SimpleNamespace(look_up=self._verified, ask=self._executed, run=self._executed)

    async def corpora(self) -> dict[str, int]:
        return {OWN: 1, FOREIGN: 1}

    async def bookmark(self) -> str:
        return ""

    async def stream(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        self.asked.append("stream")
        raise UnreachableError("The database is away.")
        yield

    async def _verified(self, operation: Any) -> list[KeyInfo]:
        operation.close()
        return [TEAM]

    async def _executed(self, operation: Any) -> Any:
        operation.close()
        if operation.__name__ == "get" and self.task:
            return self.task
        self.asked.append(operation.__name__)
        raise UnreachableError("The database is away.")

    def __getattr__(self, name: str) -> Any:
        async def noted(*_: Any, **__: Any) -> Any:
            self.asked.append(name)
            raise UnreachableError("The database is away.")

        return noted


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
async def http(client: Client) -> AsyncIterator[httpx.AsyncClient]:
    """The service, in this process, with the key TEAM."""
    app = create_app(cast(Any, client))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    headers = {"X-API-Key": f"e2g_{TEAM.id}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as http:
        yield http


MESSAGES: dict[str, Any] = {"messages": [{"role": "user", "content": "Who?"}]}
SAID: dict[str, Any] = {
    "/v1/chat/completions": MESSAGES,
    "/v1/corpora/{corpus}/documents/fetch": {"url": "https://example.com/"},
}
"""Fields that may be absent, but without which nobody is asked, or whose form matters."""


def requests(description: dict[str, Any], corpus: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """A request about a corpus for every route that takes one, by method and path."""
    schemas = description["components"]["schemas"]
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            bodies = operation.get("requestBody", {}).get("content", {})
            sent: dict[str, Any] = {}
            if "application/json" in bodies:
                sent = {
                    "json": {**example(bodies["application/json"]["schema"], schemas, corpus), **SAID.get(path, {})}
                }
            elif bodies:
                sent = {"data": {"corpus": corpus}, "files": {"file": ("a.zip", b"nothing")}}
            address = path.replace("{corpus}", corpus).replace("{model}", f"e2g/{corpus}").replace("{number}", "0")
            address = re.sub(r"{\w+}", "none", address)
            params = [
                one["name"] for one in operation.get("parameters", ()) if one["in"] == "query" and one["required"]
            ]
            sent["params"] = dict.fromkeys(params, "none")
            if corpus in address + str(sent):
                yield f"{method.upper()} {path}", {"method": method, "url": address, **sent}


async def test_no_route_goes_on_to_a_foreign_corpus(http: httpx.AsyncClient, client: Client) -> None:
    description = (await http.get("/openapi.json")).json()

    async def replies(corpus: str) -> dict[str, tuple[int, list[str]]]:
        found = {}
        for name, request in requests(description, corpus):
            client.asked.clear()
            status = (await http.request(**request)).status_code
            found[name] = status, client.asked.copy()
        return found

    own, foreign = await replies(OWN), await replies(FOREIGN)
    assert len(foreign) > 25
    assert own.keys() == foreign.keys()
    assert {name: reply for name, reply in foreign.items() if reply[0] not in (403, 404) or reply[1]} == {}
    of_graphs = {name for name, (status, _) in own.items() if status == 403}
    assert all(name.endswith(("/links", "/adoption")) for name in of_graphs), "for administrators of all corpora"
    shown = {"GET /v1/models/{model}"}
    assert {name for name, (_, asked) in own.items() if not asked} == of_graphs | shown


async def test_each_of_several_corpora_is_checked(http: httpx.AsyncClient, client: Client) -> None:
    for path in ("/v1/retrieve", "/v1/explain", "/v1/ask"):
        reply = await http.post(path, json={"question": "Who?", "corpora": [OWN, FOREIGN]})
        assert (reply.status_code, client.asked) == (404, []), path
    chat = {"model": f"e2g/{OWN}+{FOREIGN}", "messages": [{"role": "user", "content": "Who?"}]}
    assert (await http.post("/v1/chat/completions", json=chat)).status_code == 404
    assert [one["corpus"] for one in (await http.get("/v1/corpora")).json()] == [OWN]


async def test_a_task_on_a_foreign_corpus_is_not_there(http: httpx.AsyncClient, client: Client) -> None:
    async def statuses(corpus: str) -> list[int]:
        client.task = TaskInfo("t", "index", corpus, "another key", "succeeded", 0)
        calls = [("GET", ""), ("GET", "/events"), ("POST", "/cancel"), ("POST", "/retry")]
        return [(await http.request(method, f"/v1/tasks/t{path}")).status_code for method, path in calls]

    assert await statuses(FOREIGN) == [404] * 4
    assert client.asked == []
    assert (await statuses(OWN))[:2] == [200, 200]


@pytest.mark.parametrize(
    ("corpora", "corpus", "seen"),
    [
        (("novels",), "novels", True),
        (("novels",), "novels-2", False),
        (("novels",), "novel", False),
        (("novels",), "Novels", False),
        (("team-*",), "team-a", True),
        (("team-*",), "team-", True),
        (("team-*",), "team", False),
        (("team-*",), "teams", False),
        (("team-*",), "my-team-a", False),
        (("a", "team-*"), "a", True),
        (("*",), "anything", True),
        ((), "novels", False),
    ],
)
def test_a_key_sees_the_corpora_of_its_names_and_prefixes(corpora: tuple[str, ...], corpus: str, seen: bool) -> None:
    assert caller_of(replace(KEY, corpora=corpora)).sees(corpus) == seen


@pytest.mark.parametrize(
    ("corpora", "pattern", "covered"),
    [
        (("team-*",), "team-a", True),
        (("team-*",), "team-a*", True),
        (("team-*",), "team-*", True),
        (("team-*",), "team*", False),
        (("team-*",), "*", False),
        (("novels",), "novels", True),
        (("novels",), "novels*", False),
        (("*",), "*", True),
    ],
)
def test_a_key_gives_access_to_nothing_beyond_its_own(corpora: tuple[str, ...], pattern: str, covered: bool) -> None:
    assert caller_of(replace(KEY, corpora=corpora)).covers(pattern) == covered


def test_only_administrators_see_paths_of_files() -> None:
    passages = tuple(
        Passage("So.", "A", source, 0, 3, 1.0) for source in ("/srv/secret/a.txt", "C:\\secret\\a.txt", "upload:a.txt")
    )
    found = Evidence("Who?", (OWN,), "global", "", (), (), 0, passages)
    reader, administrator = (caller_of(replace(KEY, scopes=one)) for one in (("read", "ask", "write"), ("admin",)))
    assert [one.source for one in hide_in_evidence(found, reader).passages] == ["a.txt", "a.txt", "upload:a.txt"]
    assert hide_in_evidence(found, administrator) == found


def test_a_citation_links_to_the_place_that_is_shown() -> None:
    passage = Passage("One. Two.", "d", "s", 120, 129, 1.0, corpus="a b", document_id="d1")
    link = "http://here/ui/#/corpora/a%20b/documents/d1?at="
    assert link_of(Citation(1, passage), "http://here") == f"{link}120"
    assert link_of(Citation(1, replace(passage, excerpt=Excerpt("Two.", 125, 129))), "http://here") == f"{link}125"


async def test_bodies_have_a_limit(http: httpx.AsyncClient, client: Client) -> None:
    """Of a question and of an upload; and what is just below them goes on."""
    question = {"question": "Who?", "corpora": [OWN]}
    for size, status in ((limits.MAX_BODY, 413), (limits.MAX_BODY - 1000, 503)):
        body = json.dumps(question) + " " * (size - 10)
        headers = {"Content-Type": "application/json"}
        assert (await http.post("/v1/retrieve", content=body, headers=headers)).status_code == status
    for path, field in ((f"/v1/corpora/{OWN}/documents", "files"), ("/v1/imports", "file")):
        for size, status in ((2**20, 413), (2**20 - 1000, 503)):
            name = {"corpus": OWN} if field == "file" else {}
            reply = await http.post(path, files={field: ("a.txt", b"x" * size)}, data=name)
            assert reply.status_code == status, (path, size)
