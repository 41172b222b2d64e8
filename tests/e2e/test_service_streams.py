"""Answers of the service as streams, with a real Ollama server: equal to whole answers, cancelled, ended in time."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from at_server import settings_of
from real_ollama import RealOllama
from running_service import RunningService, create_key, environment, linked_text, running
from scripted_models import Says

from e2g_neo4j import E2G, Answer, Evidence
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import QueryError
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.remote_client import RemoteE2G

TEXT = "Luke Farran was at the helm of the brig Averil. She left Port Hesk at dawn and met a gale off Gannet Head."
REPLY = "Luke Farran was at the helm [1]. He came from the moon [7, 1]."
ASKED = "Who was at the helm of the Averil?"
THOUGHT = "<think>A riddle [1]: the sphinx may know <who> was there [9].</think>"
QUESTION = {"question": ASKED, "corpora": ["ships"], "stream": True}
STREAMS = 50


@pytest.fixture(scope="module")
def variables(scratch: Connection, ollama_server: RealOllama) -> dict[str, str]:
    ollama_server.create("teller", Says(REPLY))
    ollama_server.create("thinker", Says(f"{THOUGHT}\n\n{REPLY}"))
    waves = "".join(f"And after {number} waves another came over the rail. " for number in range(100, 110))
    ollama_server.create("endless", Says(waves, endless=True))
    return environment(scratch, E2G_CHAT_MODEL="ollama:teller", E2G_OLLAMA_HOST=ollama_server.host)


@pytest.fixture(scope="module")
def key(variables: dict[str, str]) -> str:
    return create_key(variables, scopes="read,ask,write", corpora="*")


@pytest.fixture(scope="module")
def service(variables: dict[str, str], key: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    running = RunningService(variables, tmp_path_factory.mktemp("service") / "log")
    with RemoteE2G(running.url, key) as client:
        client.index([from_text(TEXT, corpus="ships", source="log", title="The log")], corpus="ships")
        client.enrich(corpus="ships", layers=["sentences"])
    yield running
    running.stop()


@pytest.fixture
def endless(
    variables: dict[str, str], service: RunningService, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service whose model never ends an answer by itself."""
    more = {"E2G_CHAT_MODEL": "ollama:endless", "E2G_ANSWER_TOKENS": "20000"}
    running = RunningService({**variables, **more}, tmp_path_factory.mktemp("endless") / "log", "--no-worker")
    yield running
    running.kill()


def events(lines: Iterator[str]) -> Iterator[tuple[str, Any]]:
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def test_a_streamed_answer_equals_the_whole_one(service: RunningService, key: str) -> None:
    with service.client(key) as http:
        whole = http.post("/v1/ask", json={**QUESTION, "stream": False}).json()
        with http.stream("POST", "/v1/ask", json=QUESTION) as reply:
            assert reply.headers["content-type"].startswith("text/event-stream")
            streamed = list(events(reply.iter_lines()))
        names = [name for name, _ in streamed]
        assert (names[0], names[-2:]) == ("evidence", ["citation", "done"])
        text = "".join(data["text"] for name, data in streamed if name == "delta")
        assert text == whole["text"] == "Luke Farran was at the helm [1]. He came from the moon [1]."
        done = streamed[-1][1]
        for name in (
            "text",
            "citations",
            "given",
            "dropped",
            "calls",
            "prompt_tokens",
            "completion_tokens",
            "found",
            "finished",
        ):
            assert done[name] == whole[name]
        assert whole["dropped"] == [7]
        [citation] = whole["citations"]
        there = linked_text(citation["url"], str(http.base_url).rstrip("/"), dict(http.headers))
        assert there == citation["passage"]["text"] == TEXT
        assert whole["prompt_tokens"] > 0


def test_a_mode_that_calls_the_chat_model_needs_a_key_that_may_ask(
    service: RunningService, key: str, variables: dict[str, str]
) -> None:
    """The teller's reply is of no use to the mode, so that it is asked three times."""
    body = {"question": ASKED, "corpora": ["ships"], "mode": "hipporag", "llm": True}
    with service.client(key) as http:
        found = http.post("/v1/retrieve", json=body).json()
        assert found["calls"] == 3
        assert "sent no usable reply in 3 calls" in found["reason"]
        assert http.post("/v1/retrieve", json={**body, "mode": "auto"}).status_code == 422
        whole = http.post("/v1/ask", json=body).json()
        assert whole["calls"] == 4
        assert whole["prompt_tokens"] > whole["evidence"]["prompt_tokens"] > 0
        assert http.post("/v1/ask", json={**body, "method": "map_reduce", "choices": ["A", "B"]}).status_code == 422
    reader = create_key(variables, scopes="read", corpora="*")
    with service.client(reader) as http:
        assert http.post("/v1/retrieve", json={**body, "llm": False}).status_code == 200
        assert http.post("/v1/retrieve", json=body).status_code == 403
        assert http.post("/v1/explain", json=body).status_code == 403


def test_a_client_elsewhere_answers_by_map_reduce(
    scratch: Connection, variables: dict[str, str], service: RunningService, ollama_server: RealOllama
) -> None:
    ollama_server.create("pointer", Says('{"points": [{"text": "Luke.", "score": 9, "passages": [1]}]}'))
    settings = settings_of(scratch, ollama_host=ollama_server.host, chat_model="ollama:pointer")
    key = create_key(variables, scopes="read,ask", corpora="*")
    with running(settings) as url, RemoteE2G(url, key) as client:
        answer = client.answer(ASKED, corpus="ships", method="map_reduce")
        _, *pieces, streamed = client.stream(ASKED, corpus="ships", method="map_reduce")
    assert "Map-reduce: points above 0: 1, batches: 1" in answer.evidence.reason
    assert (answer.calls, [one.number for one in answer.citations]) == (2, [1])
    assert "".join(map(str, pieces)) == answer.text
    assert isinstance(streamed, Answer)
    assert streamed.calls == 2


def test_a_client_elsewhere_answers_by_follow_up_questions_and_from_reports(
    scratch: Connection, variables: dict[str, str], service: RunningService, ollama_server: RealOllama
) -> None:
    reply = {
        "points": [{"text": "Luke.", "score": 9, "passages": [1], "reports": [1]}],
        "follow_ups": [{"question": "Who met Luke Farran?", "score": 70}],
    }
    ollama_server.create("drifter", Says(json.dumps(reply)))
    settings = settings_of(scratch, ollama_host=ollama_server.host, chat_model="ollama:drifter")
    key = create_key(variables, scopes="read,ask", corpora="*")
    with running(settings) as url, RemoteE2G(url, key) as client:
        with pytest.raises(QueryError, match="has no communities"):
            client.answer(ASKED, corpus="ships", method="drift")
        with E2G(settings=settings) as e2g:
            e2g.enrich(corpus="ships", layers=["communities"])
        answer = client.answer(ASKED, corpus="ships", method="drift")
        _, *pieces, streamed = client.stream(ASKED, corpus="ships", method="drift")
        read = client.answer(ASKED, corpus="ships", method="global", level=1)
        planned, *_, last = client.stream(ASKED, corpus="ships", method="all_text")
        refused: tuple[dict[str, Any], ...] = ({"method": "global", "k": 3}, {"method": "drift", "level": 1})
        for wrong in refused:
            with pytest.raises(QueryError, match="leave out"):
                client.answer(ASKED, corpus="ships", **wrong)
    assert (read.calls, [one.level for one in read.points[0].reports]) == (2, [1])
    assert read.citations[0].passage.text in TEXT
    assert isinstance(planned, Evidence)
    assert planned.reason.startswith("All text: documents: 1. 1 batch ")
    assert isinstance(last, Answer)
    assert last.citations[0].passage.text in TEXT
    assert answer.evidence.reason.endswith("Follow-up questions in mode auto: Who met Luke Farran?")
    assert (answer.calls, [one.number for one in answer.citations]) == (4, [1])
    assert "".join(map(str, pieces)) == answer.text
    assert isinstance(streamed, Answer)
    assert streamed.calls == 4


@pytest.fixture
def thinker(service: RunningService, scratch: Connection, variables: dict[str, str]) -> Iterator[str]:
    """The address of a service whose model thinks aloud before it answers."""
    settings = settings_of(scratch, ollama_host=variables["E2G_OLLAMA_HOST"], chat_model="ollama:thinker")
    with running(settings) as url:
        yield url


def test_what_a_model_thinks_is_never_sent(thinker: str, key: str) -> None:
    """Neither in a stream nor in a whole reply, and citations are where the text that was sent has them."""
    said = "Luke Farran was at the helm [1]. He came from the moon [1]."
    chat = {"model": "e2g/ships", "messages": [{"role": "user", "content": ASKED}]}
    with httpx.Client(base_url=thinker, headers={"Authorization": f"Bearer {key}"}, timeout=60) as http:

        def sent(path: str, body: dict[str, Any]) -> str:
            reply = http.post(path, json=body)
            assert reply.status_code == 200, reply.text
            for hidden in ("think", "riddle", "sphinx", "<who>", "[9]"):
                assert hidden not in reply.text
            return reply.text

        whole = json.loads(sent("/v1/ask", {**QUESTION, "stream": False}))
        streamed = list(events(iter(sent("/v1/ask", QUESTION).splitlines())))
        deltas = [data["text"] for name, data in streamed if name == "delta"]
        done = streamed[-1][1]
        assert "".join(deltas) == done["text"] == whole["text"] == said
        assert done["dropped"] == whole["dropped"] == [7]
        [citation] = [data for name, data in streamed if name == "citation"]
        assert [citation] == done["citations"] == whole["citations"]
        there = linked_text(citation["url"], str(http.base_url).rstrip("/"), dict(http.headers))
        assert there == citation["passage"]["text"] == TEXT

        message = json.loads(sent("/v1/chat/completions", chat))["choices"][0]["message"]
        lines = sent("/v1/chat/completions", {**chat, "stream": True}).split("\n\n")
        chunks = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]
        parts = [chunk["choices"][0]["delta"] for chunk in chunks]
        assert "".join(part.get("content") or "" for part in parts) == message["content"] == said
        assert parts[-1]["annotations"] == message["annotations"]
        places = [one["url_citation"] for one in message["annotations"]]
        assert [said[one["start_index"] : one["end_index"]] for one in places] == ["[1]", "[1]"]
        assert places[0]["start_index"] == said.index("[1]") < places[1]["start_index"]

        plain = sent("/v1/chat/completions", {**chat, "model": "e2g-plain", "stream": True})
        assert "the helm" in plain


def test_the_remote_client_answers_and_streams(service: RunningService, key: str) -> None:
    with RemoteE2G(service.url, key) as client:
        whole = client.answer(ASKED, corpus="ships")
        found, *pieces, last = client.stream(ASKED, corpus="ships")
        assert isinstance(found, Evidence)
        assert isinstance(last, Answer)
        assert "".join(map(str, pieces)) == whole.text == last.text
        assert (last.citations, last.given) == (whole.citations, whole.given)
        assert whole.citations[0].passage.text == TEXT


def test_tokens_are_limited_by_key(service: RunningService, variables: dict[str, str]) -> None:
    limited = create_key(variables, scopes="ask", tokens_per_minute="10")
    with service.client(limited) as http:
        for stream in (False, True):
            refused = http.post("/v1/ask", json={**QUESTION, "stream": stream})
            assert ("may use" in refused.text, "[1]" in refused.text) == (True, False), "before the model is called"
    assert '"quota"' in refused.text


def test_a_disconnect_ends_the_call_of_the_model(endless: RunningService, key: str) -> None:
    with endless.client(key) as http:
        with http.stream("POST", "/v1/ask", json=QUESTION) as reply:
            for name, _ in events(reply.iter_lines()):
                if name == "delta":
                    break
        until = time.monotonic() + 30
        while time.monotonic() < until:
            if "e2g_requests_in_flight 1.0" in http.get("/metrics").text:  # this one
                return
            time.sleep(0.2)
    raise AssertionError("The request is still at work.")
