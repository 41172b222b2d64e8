"""Conversations of keys on a real server: whose they are, what is appended and replaced, and their bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from libraries import driven, performing
from neo4j import Driver

from e2g_neo4j.graph import conversations, keys

Run = Callable[[Any], Any]

A, B, C = KEYS = [uuid4().hex for _ in range(3)]
"""Ids of keys that nobody else has."""


@pytest.fixture
def run(driver: Driver) -> Iterator[Run]:
    driver.execute_query("MATCH (n:E2GConversation) WHERE n.key IN $keys DELETE n", keys=KEYS)
    perform = performing(driver)
    yield lambda operation: driven(perform, operation)
    driver.execute_query("MATCH (n:E2GConversation) WHERE n.key IN $keys DELETE n", keys=KEYS)


def put(run: Run, number: int, question: str = "Who?", key: str = A, conversation: str = "c", **more: Any) -> Any:
    turn = {"question": question, "corpora": ["novels"], **more}
    return run(conversations.put_turn(key, conversation, number, turn))


def questions(run: Run, key: str = A) -> list[str]:
    _, turns = run(conversations.read_conversation(key, "c"))
    return [one["question"] for one in turns]


def test_a_turn_is_appended_or_replaced_by_one_with_the_same_question(run: Run) -> None:
    assert put(run, 1) == "gone"
    assert [put(run, 0), put(run, 0, rating="up"), put(run, 1, "Where?"), put(run, 1, "Where?")] == [None] * 4
    assert [put(run, 0, "Where?"), put(run, 0, "Who?!"), put(run, 3)] == ["changed"] * 3
    info, turns = run(conversations.read_conversation(A, "c"))
    assert ([one.get("rating") for one in turns], info.title, info.turns) == (["up", None], "Who?", 2)
    assert run(conversations.list_conversations(A)) == [info]


def test_each_key_has_its_own(run: Run) -> None:
    put(run, 0)
    put(run, 0, "Mine?", key=B)
    assert (questions(run), questions(run, B)) == (["Who?"], ["Mine?"])
    assert [len(run(conversations.list_conversations(key))) for key in KEYS] == [1, 1, 0]
    assert run(conversations.rename_conversation(C, "c", "x")) is None
    assert run(conversations.delete_conversation(B, "c"))
    assert not run(conversations.delete_conversation(B, "c"))
    assert questions(run) == ["Who?"]


def test_bounds_refuse_and_drop_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "MOST", 2)
    monkeypatch.setattr(conversations, "MOST_TURNS", 2)
    monkeypatch.setattr(conversations, "MOST_CHARACTERS", 500)
    assert [put(run, 0), put(run, 1), put(run, 2)] == [None, None, "full"]
    assert put(run, 1, answer="x" * 500) == "full"
    assert [put(run, 0, conversation=one) for one in "de"] == [None, "many"]
    assert put(run, 0, rating="up") is None, "what is there can be rated"
    assert put(run, 0, key=B) is None, "of another key"
    assert questions(run) == ["Who?", "Who?"]


def test_of_several_at_once_one_is_kept(run: Run) -> None:
    with ThreadPoolExecutor(8) as pool:
        refused = list(pool.map(lambda number: put(run, 0, f"Question {number}?"), range(8)))
    assert sorted(map(str, refused)) == ["None"] + ["changed"] * 7
    assert len(questions(run)) == 1


def test_a_revoked_key_and_those_that_it_made_leave_nothing(run: Run, driver: Driver) -> None:
    made = {name: run(keys.create(name, ["read"], ["*"]))[0].id for name in ("maker", "other")}
    made["child"] = run(keys.create("child", ["read"], ["*"], makers=[made["maker"]]))[0].id
    for key in made.values():
        put(run, 0, key=key)
    run(keys.revoke(made["maker"]))
    found = {name: len(run(conversations.list_conversations(key))) for name, key in made.items()}
    assert found == {"maker": 0, "child": 0, "other": 1}
    driver.execute_query(
        "MATCH (n:E2GKey|E2GConversation) WHERE coalesce(n.key, n.id) IN $keys DELETE n", keys=list(made.values())
    )
