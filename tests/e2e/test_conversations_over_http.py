"""Conversations that the service keeps for its keys: their walls, bounds, exports, and `e2g eval` on the ratings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from at_server import settings_of
from neo4j import Driver
from running_service import RunningService, create_key, e2g, environment

from e2g_neo4j import E2G
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.graph import conversations
from e2g_neo4j.managed_neo4j import Connection

A, B = "conv-a", "conv-b"
SENTENCE = "Theodora Quill kept the lamps of Port Hesk."
TEXT = f"Luke Farran sailed on the Averil. {SENTENCE} Nobody saw land."
SOURCE = "/srv/library/log.txt"
AT = TEXT.index(SENTENCE)


@pytest.fixture(scope="module")
def variables(scratch: Connection) -> dict[str, str]:
    return environment(scratch)


@pytest.fixture(scope="module")
def client(scratch: Connection) -> Iterator[E2G]:
    with E2G(settings=settings_of(scratch, workers=1)) as client:
        client.migrate(["service"])
        for corpus in (A, B):
            client.index(
                [from_text(TEXT, corpus=corpus, source="/srv/library/log.txt", title="The log")], corpus=corpus
            )
        yield client


@pytest.fixture
def keys(variables: dict[str, str], database: Driver) -> Iterator[list[str]]:
    """Two keys: one for both corpora, one for the first."""
    yield [create_key(variables, scopes="read", corpora=corpora) for corpora in (f"{A},{B}", A)]
    database.execute_query("MATCH (n:E2GKey|E2GConversation) DELETE n")


@pytest.fixture
def http(service: RunningService, keys: list[str]) -> Iterator[httpx.Client]:
    with service.client(keys[0]) as http:
        yield http


def turn(client: E2G, question: str = "Who kept the lamps?", corpora: tuple[str, ...] = (A,), **more: Any) -> Any:
    [document] = client.documents(corpora[0])
    place = {"number": 1, "corpus": corpora[0], "document_id": document.id, "document": "The log"}
    place |= {"start": AT, "end": AT + len(SENTENCE)}
    asked = {"question": question, "corpora": corpora, "mode": "auto", "k": 5, "hops": 3}
    return asked | {"answer": "Theodora Quill [1].", "citations": [place]} | more


def keep(http: httpx.Client, conversation: str, number: int, body: Any, status: int = 200) -> dict[str, Any]:
    reply = http.put(f"/v1/conversations/{conversation}/turns/{number}", json=body)
    assert reply.status_code == status, reply.text
    found: dict[str, Any] = reply.json()
    return found


def test_a_turn_is_kept_replaced_and_read_back(http: httpx.Client, client: E2G) -> None:
    one = uuid4().hex
    kept = keep(http, one, 0, turn(client))
    assert keep(http, one, 0, turn(client)) == kept, "repeating has no effect"
    keep(http, one, 1, turn(client, "And where?", searched_as="Where did Theodora Quill keep the lamps?"))
    keep(http, one, 0, turn(client, rating="down"))
    found = http.get(f"/v1/conversations/{one}").json()
    assert [(one["question"], one["rating"]) for one in found["turns"]] == [
        ("Who kept the lamps?", "down"),
        ("And where?", None),
    ]
    assert (found["info"]["title"], found["info"]["turns"], found["hidden"]) == ("Who kept the lamps?", 2, 0)
    for number, question in ((0, "Another?"), (3, "Who?")):
        refused = keep(http, one, number, turn(client, question), 409)
        assert (refused["code"], "Read the conversation again" in refused["next"]) == ("conversation_changed", True)
    assert keep(http, uuid4().hex, 1, turn(client), 404)["code"] == "conversation_not_found"
    assert http.get(f"/v1/conversations/{one}").json() == found


def test_conversations_are_listed_renamed_and_deleted(http: httpx.Client, client: E2G) -> None:
    ids = [uuid4().hex for _ in range(3)]
    for one in ids:
        keep(http, one, 0, turn(client))
    keep(http, ids[0], 1, turn(client, "And then?"))
    listed = http.get("/v1/conversations", params={"limit": 2}).json()
    assert [(one["id"], one["turns"]) for one in listed] == [(ids[0], 2), (ids[2], 1)]
    assert http.put(f"/v1/conversations/{ids[1]}", json={"title": "Lamps"}).json()["title"] == "Lamps"
    assert http.delete(f"/v1/conversations/{ids[1]}").status_code == 200
    for method, body in (("GET", None), ("DELETE", None), ("PUT", {"title": "x"})):
        reply = http.request(method, f"/v1/conversations/{ids[1]}", json=body)
        assert (reply.status_code, reply.json()["code"]) == (404, "conversation_not_found")
    assert len(http.get("/v1/conversations").json()) == 2


def test_text_of_passages_is_not_kept(http: httpx.Client, client: E2G, database: Driver) -> None:
    one = uuid4().hex
    keep(http, one, 0, turn(client))
    [stored] = database.execute_query("MATCH (c:E2GConversation {id: $id}) RETURN c.turns AS turns", id=one).records
    assert SENTENCE not in json.dumps(stored["turns"])
    cited = turn(client)["citations"][0]
    keep(http, one, 1, turn(client, citations=[cited | {"text": SENTENCE}]), 422)


def test_a_conversation_is_of_its_key_alone(
    service: RunningService, keys: list[str], client: E2G, http: httpx.Client
) -> None:
    one = uuid4().hex
    keep(http, one, 0, turn(client))
    with service.client(keys[1]) as other:
        assert other.get("/v1/conversations").json() == []
        for path in ("", "/markdown"):
            assert other.get(f"/v1/conversations/{one}{path}").status_code == 404
        assert other.delete(f"/v1/conversations/{one}").status_code == 404
        keep(other, one, 0, turn(client, "Mine?"))
        assert keep(other, one, 1, turn(client, corpora=(B,)), 404)["code"] == "corpus_not_found"
    assert [one["question"] for one in http.get(f"/v1/conversations/{one}").json()["turns"]] == ["Who kept the lamps?"]


def test_a_turn_about_a_lost_corpus_is_not_shown(http: httpx.Client, client: E2G, database: Driver) -> None:
    one = uuid4().hex
    keep(http, one, 0, turn(client, "Of B?", (B,), rating="up"))
    keep(http, one, 1, turn(client, "Of A?"))
    keep(http, one, 2, turn(client, "Of both?", (A, B)))
    database.execute_query("MATCH (k:E2GKey) SET k.corpora = [$corpus]", corpus=A)
    found = http.get(f"/v1/conversations/{one}").json()
    assert [(one["number"], one["question"]) for one in found["turns"]] == [(1, "Of A?")]
    assert (found["hidden"], found["info"]["title"], found["info"]["corpora"]) == (2, None, [A])
    assert http.get("/v1/conversations").json() == [found["info"]]
    text = http.get(f"/v1/conversations/{one}/markdown").text
    assert "Of A?" in text
    assert "Of B?" not in text
    assert http.get(f"/v1/corpora/{B}/ratings").status_code == 404


def test_a_revoked_key_leaves_no_conversation(
    http: httpx.Client, client: E2G, variables: dict[str, str], keys: list[str], database: Driver
) -> None:
    keep(http, uuid4().hex, 0, turn(client))
    assert e2g(variables, "keys", "revoke", keys[0].split("_")[1]).returncode == 0
    assert http.get("/v1/conversations").status_code == 401
    assert database.execute_query("MATCH (c:E2GConversation) RETURN c").records == []


def test_bounds_are_told_and_nothing_is_dropped(
    http: httpx.Client, client: E2G, database: Driver, keys: list[str]
) -> None:
    one = uuid4().hex
    for number in range(2):
        keep(http, one, number, turn(client, answer="x" * 100_000))
    full = keep(http, one, 2, turn(client, answer="x" * 100_000), 409)
    assert (full["code"], full["next"]) == ("conversation_full", "Begin a new conversation.")
    database.execute_query(
        "MATCH (c:E2GConversation {id: $id}) SET c.turns = [n IN range(1, $most) | '{}']",
        id=one,
        most=conversations.MOST_TURNS,
    )
    assert http.put(f"/v1/conversations/{one}/turns/{conversations.MOST_TURNS}", json=turn(client)).status_code == 422
    database.execute_query(
        "UNWIND range(2, $most) AS n CREATE (:E2GConversation {key: $key, id: toString(n), title: '', corpora: [], "
        "turns: [], created: 0, updated: 0})",
        key=keys[0].split("_")[1],
        most=conversations.MOST,
    )
    many = keep(http, uuid4().hex, 0, turn(client), 409)
    assert (many["code"], many["next"][:20]) == ("conversation_many", "Delete conversations")
    assert len(http.get("/v1/conversations", params={"limit": conversations.MOST}).json()) == conversations.MOST


def test_a_conversation_is_exported_as_markdown(http: httpx.Client, client: E2G) -> None:
    one = uuid4().hex
    keep(http, one, 0, turn(client))
    keep(http, one, 1, turn(client, "And then?", answer="", citations=[]))
    reply = http.get(f"/v1/conversations/{one}/markdown")
    assert reply.headers["content-type"] == "text/markdown; charset=utf-8"
    assert reply.text == (
        "# Who kept the lamps?\n\n## Who kept the lamps?\n\nTheodora Quill [1].\n\n"
        f"1. The log, characters {AT}–{AT + len(SENTENCE)}\n\n*{A} · mode auto · k 5 · hops 3*\n\n"
        "## And then?\n\n(Evidence only: no chat model answered.)\n\n"
        f"*{A} · mode auto · k 5 · hops 3*\n"
    )


def test_ratings_are_questions_for_eval(
    http: httpx.Client, client: E2G, variables: dict[str, str], tmp_path: Path
) -> None:
    one = uuid4().hex
    keep(http, one, 0, turn(client, rating="up"))
    written_out = "Who saw the land of Port Hesk?"
    keep(http, one, 1, turn(client, "And who saw it?", rating="down", searched_as=written_out))
    [down] = [json.loads(line) for line in http.get(f"/v1/corpora/{A}/ratings?rating=down").text.splitlines()]
    assert down == {
        "id": f"{one}-1",
        "question": "And who saw it?",
        "history": [{"question": "Who kept the lamps?", "answer": "Theodora Quill [1]."}],
        "written_out": written_out,
        "rejected": "Theodora Quill [1].",
    }
    file = tmp_path / "rated.jsonl"
    file.write_text(http.get(f"/v1/corpora/{A}/ratings").text, encoding="utf-8")
    [up] = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert (up["answer"], up["gold_passages"]) == ("Theodora Quill [1].", ["log.txt"]), "no paths for a reader"
    assert up["evidence"] == [{"document": "log.txt", "start": AT, "end": AT + len(SENTENCE)}]
    ran = e2g(variables, "eval", str(file), "--corpus", A, "--modes", "auto,dense", "--json", str(tmp_path / "scores"))
    assert ran.returncode == 0, ran.stderr
    scores = json.loads((tmp_path / "scores").read_text())["modes"]["auto"]["overall"]["scores"]
    assert scores["R@5"]["mean"] == scores["evidence@5 chunks"]["mean"] == 1
    file.write_text(json.dumps(down), encoding="utf-8")
    refused = e2g(variables, "eval", str(file), "--corpus", A, "--modes", "auto")
    assert refused.returncode != 0, "without a gold it is not scored"
    assert "line 1: gold_passages, evidence and answer are all missing" in " ".join(refused.stderr.split())
    file.write_text(json.dumps(down | {"gold_passages": ["log.txt"]}), encoding="utf-8")
    assert e2g(variables, "eval", str(file), "--corpus", A, "--modes", "auto").returncode == 0


def test_evidence_of_a_changed_document_is_left_out(http: httpx.Client, client: E2G) -> None:
    one = uuid4().hex
    keep(http, one, 0, turn(client, rating="up"))
    client.index([from_text(f"New. {TEXT}", corpus=A, source=SOURCE, title="The log")], corpus=A)
    [up] = [json.loads(line) for line in http.get(f"/v1/corpora/{A}/ratings").text.splitlines()]
    assert (up["answer"], up["gold_passages"], up["evidence"]) == ("Theodora Quill [1].", [], [])
