"""The MCP server with the SDK's own client, in both generations of the protocol: in memory, over stdio and over HTTP.

What a caller may not see is answered exactly as what does not exist.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from at_server import settings_of, variables_of
from langchain_core.language_models import FakeListChatModel
from libraries import remove
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent, TextResourceContents
from neo4j import Driver
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.routing import Route
from tiers import at_length, need

from e2g_neo4j import E2G, AsyncE2G, Settings
from e2g_neo4j.cli.setup import LIBRARY
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.models.embedding import load
from e2g_neo4j.models.entities import pipeline
from e2g_neo4j.service import limits as bounds
from e2g_neo4j.service.limits import QUESTIONS_AT_ONCE, Limits
from e2g_neo4j.service.mcp import caller_of_request, create_mcp, mount
from e2g_neo4j.service.mcp_results import MAX_TOKENS
from e2g_neo4j.service.mcp_tools import SCOPES
from e2g_neo4j.service.mcp_writing import DirectWriter
from e2g_neo4j.types.properties import Properties
from e2g_neo4j.types.service import LOCAL, Caller, TaskInfo

CORPUS, SECRET, NOWHERE = "mcp-sample", "mcp-secret", "mcp-nowhere"
HIDDEN = "Zanthorp Quibbledown of Wexcombe keeps the obsidian key under the third pew of Wexcombe church."
SECRETS = ("zanthorp", "quibbledown", "wexcombe", "obsidian", "vestry")
TENANT = Caller("0123456789ab", frozenset(["read", "ask", "write"]), (CORPUS,))
READER = Caller("ba9876543210", frozenset(["read"]), (CORPUS,))
MODES = ("legacy", "auto")
QUESTION = "Who rang the bell at Kelp Cove?"

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module", autouse=True)
def _models_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "load_embedder", cache(load.load_embedder))
        patch.setattr(pipeline, "load_pipeline", cache(pipeline.load_pipeline))
        patch.setenv("E2G_WORKERS", "1")
        yield


@pytest.fixture(scope="module")
def settings(neo4j_connection, _models_once) -> Settings:
    return settings_of(neo4j_connection, chunk_tokens=300, chunk_overlap=50)


@pytest.fixture(scope="module")
def ids(settings: Settings, driver: Driver) -> Iterator[dict[str, str]]:
    """The id of a document of each corpus, which both are indexed here."""
    with E2G(settings=settings) as e2g:
        e2g.index([LIBRARY], corpus=CORPUS)
        e2g.enrich(corpus=CORPUS)
        e2g.index([from_text(HIDDEN, corpus=SECRET, source="vestry.txt", title="Vestry")], corpus=SECRET)
        yield {corpus: e2g.documents(corpus)[0].id for corpus in (CORPUS, SECRET)}
    remove(driver, [CORPUS, SECRET])


@asynccontextmanager
async def connected(
    settings: Settings, mode: str = "auto", caller: Caller = TENANT, *, write: bool = True, replies: str = ""
) -> AsyncIterator[Client]:
    """A client of a server in this process."""
    chat_model = FakeListChatModel(responses=[replies]) if replies else None
    async with AsyncE2G(settings=settings, chat_model=chat_model) as e2g:
        server = create_mcp(e2g, lambda _: caller, writer=DirectWriter(e2g) if write else None)
        async with Client(server, mode=mode) as client:
            yield client


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


async def call(client: Client, tool: str, **arguments: Any) -> tuple[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return text_of(result), result.structured_content["result"]


async def failure(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text_of(result)
    assert result.structured_content is None
    return text_of(result)


async def read(client: Client, uri: str) -> str:
    [content] = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


async def prompt(client: Client, name: str, **arguments: str) -> str:
    [message] = (await client.get_prompt(name, arguments)).messages
    assert isinstance(message.content, TextContent)
    return message.content.text


@pytest.mark.parametrize("mode", MODES)
async def test_tools_answer_with_citations_and_fenced_text(settings, ids, mode):
    async with connected(settings, mode) as client:
        assert client.protocol_version >= ("2026-07-28" if mode == "auto" else "2025")
        assert "[1]" in (client.instructions or "")
        text, found = await call(client, "search", question=QUESTION, tokens=600)
        [first, *_] = found["passages"]
        fence = re.search(r"<(text-\w+)>", first["text"])
        assert fence is not None
        assert "The bell had been rung by Miss Hester Pendry" in text
        # of each passage, its names and its text; one around the reason, and one in the notice
        assert text.count(f"</{fence[1]}>") == 2 * len(found["passages"]) + 2
        excerpt = first["excerpt"]
        assert first["start"] <= excerpt["start"] < excerpt["end"] <= first["end"]
        whole, shown = (" ".join(text.splitlines()[1:-1]) for text in (first["text"], excerpt["text"]))
        assert all(part.strip() in whole for part in shown.split("…"))
        head = f"[1] document {first['document_id']}, characters {first['start']} to {first['end']}, the best part "
        names = f"<{fence[1]}>{first['document']}, corpus {CORPUS}"
        assert f"{head}{excerpt['start']} to {excerpt['end']}: {names}" in text

        span = {"document": first["document_id"], "start": first["start"], "end": first["end"]}
        _, read = await call(client, "read_passage", **span)
        assert read["text"].splitlines()[1:-1] == first["text"].splitlines()[1:-1]

        _, explained = await call(client, "explain", question="How does Hester Pendry know Theodora Quill?", tokens=300)
        evidence = explained["evidence"]
        assert evidence["entity_types"] == {"hester pendry": "person", "theodora quill": "person"}
        assert evidence["pairs"] == [{"a": "hester pendry", "b": "theodora quill", "hops": 1}]
        assert explained["cypher"].startswith(f':params {{corpora: ["{CORPUS}"]')
        assert all(not one["text"] and one["excerpt"]["text"] for one in evidence["passages"])

        _, entities = await call(client, "find_entities", query="theodora", type="person")
        assert "Theodora Quill" in [one["name"] for one in entities]
        _, listed = await call(client, "list_corpora")
        assert listed == {CORPUS: 12}


async def test_a_connection_is_a_path_with_sentences_that_name_both_ends_of_each_step(settings, ids):
    async with connected(settings) as client:
        _, steps = await call(client, "connect", a="Hester Pendry", b="Walter Crail", corpus=CORPUS)
        assert (steps[0]["a"], steps[-1]["b"]) == ("Hester Pendry", "Walter Crail")
        assert len(steps) > 1
        assert all(one["b"] == other["a"] for one, other in pairwise(steps))
        for step in steps:
            assert step["quotes"]
            for quote in step["quotes"]:
                span = {"document": quote["document"], "start": quote["start"], "end": quote["end"]}
                _, read = await call(client, "read_passage", corpus=CORPUS, **span)
                assert read["text"].splitlines()[1:-1] == quote["text"].splitlines()[1:-1]
                last_names = [step[end].split()[-1].casefold() for end in ("a", "b")]
                assert all(name in quote["text"].casefold() for name in last_names)
        text, near = await call(client, "connect", a="Hester Pendry", b="Walter Crail", hops=1)
        assert near == []
        assert "No path of at most 1 edges" in text
        assert (await call(client, "connect", a="Hester Pendry", b="the Hester Pendry"))[1] == []
        assert "no entity 'Nobody At All'" in await failure(client, "connect", a="Nobody At All", b="Walter Crail")


async def test_ask_needs_a_chat_model_and_its_scope(settings, ids):
    async with connected(settings) as client:
        assert "ask" not in {one.name for one in (await client.list_tools()).tools}
    async with connected(settings, replies="It was Miss Hester Pendry [1]. " * 4000) as client:
        assert "ask" in {one.name for one in (await client.list_tools()).tools}
        text, answer = await call(client, "ask", question=QUESTION)
        assert answer["text"].splitlines()[1].startswith("It was Miss Hester Pendry [1].")
        assert [one["number"] for one in answer["citations"]] == [1]
        assert short_enough(settings, text, answer)
    async with connected(settings, caller=READER, replies="No.") as client:
        assert "ask" not in {one.name for one in (await client.list_tools()).tools}
        assert "scope 'ask'" in await failure(client, "ask", question=QUESTION)


async def test_ask_takes_the_turns_before(settings, ids):
    rewritten = "Who was the father of Hester Pendry?"
    responses = [json.dumps({"question": rewritten}), "It was Amos Pendry [1]."]
    history = [{"question": "Who was Hester Pendry?", "answer": "The keeper's daughter."}]
    async with (
        AsyncE2G(settings=settings, chat_model=FakeListChatModel(responses=responses)) as e2g,
        Client(create_mcp(e2g, lambda _: TENANT)) as client,
    ):
        text, answer = await call(client, "ask", question="And her father?", history=history)
        assert answer["evidence"]["searched_as"] == rewritten
        assert f">{rewritten}<" in text
        assert "It was Amos Pendry [1]." in answer["text"]
        assert "question" in await failure(client, "ask", question="And her father?", history=[{"answer": "x"}])


async def test_searches_take_their_turn(settings, ids, monkeypatch):
    """What searches waits for its turn, and says so when it does not come; all else is answered."""
    monkeypatch.setattr(bounds, "QUESTION_WAIT_SECONDS", 0.25)
    async with AsyncE2G(settings=settings, chat_model=FakeListChatModel(responses=["It was [1]."])) as e2g:
        limits = Limits(e2g)
        server = create_mcp(e2g, lambda _: TENANT, turn=limits.turn)
        async with Client(server) as client, AsyncExitStack() as others:
            for _ in range(QUESTIONS_AT_ONCE // 2 - 1):
                await others.enter_async_context(limits.turn(TENANT))
            questions = [(tool, {"question": QUESTION}) for tool in ("search", "explain", "ask")]
            questions.append(("connect", {"a": "Hester Pendry", "b": "Walter Crail"}))
            for tool, arguments in questions:
                await call(client, tool, **arguments)
            await others.enter_async_context(limits.turn(TENANT))
            for tool, arguments in questions:
                refused = await failure(client, tool, **arguments)
                assert "The service is busy" in refused
            history = [{"question": "Who was Hester Pendry?"}]
            await call(client, "ask", question=QUESTION, history=history)  # the chat model would keep others waiting
            await call(client, "list_corpora")
            await call(client, "find_entities", query="Hester")


async def test_a_key_that_may_only_read_is_shown_no_more_and_can_do_no_more(settings, ids):
    async with connected(settings, caller=READER) as client:
        named = {one.name: one for one in (await client.list_tools()).tools}
        assert set(named) == {name for name, scope in SCOPES.items() if scope == "read"}
        assert all(one.annotations and one.annotations.read_only_hint for one in named.values())
        assert all(one.title and one.description and one.output_schema for one in named.values())
        for tool, arguments in tool_calls(CORPUS, ids[CORPUS]).items():
            if SCOPES[tool] == "write":
                assert "scope 'write'" in await failure(client, tool, **arguments)
        assert "scope 'write'" in await failure(client, "task_status", task="0")
    nothing = replace(READER, scopes=frozenset(["admin"]))
    async with connected(settings, caller=nothing) as client:
        assert (await client.list_tools()).tools == []
        assert [one.uri for one in (await client.list_resources()).resources] == ["e2g://schema"]
        assert "scope 'read'" in await failure(client, "list_corpora")


def tool_calls(corpus: str, document: str) -> dict[str, dict[str, Any]]:
    """A call of each tool that takes a corpus."""
    return {
        "search": {"question": HIDDEN, "corpora": [corpus]},
        "ask": {"question": HIDDEN, "corpora": [corpus]},
        "explain": {"question": HIDDEN, "corpora": [corpus]},
        "find_entities": {"corpus": corpus},
        "describe_entity": {"corpus": corpus, "name": "Ann"},
        "connect": {"a": "Zanthorp Quibbledown", "b": "Wexcombe", "corpus": corpus},
        "read_passage": {"document": document, "corpus": corpus},
        "index_text": {"corpus": corpus, "title": "A note", "text": "A note."},
        "delete_document": {"corpus": corpus, "document": document},
    }


@pytest.mark.parametrize("mode", MODES)
async def test_a_foreign_corpus_is_one_that_does_not_exist(settings, ids, driver, mode):
    async with connected(settings, mode, replies="Yes [1].") as client:
        assert {one.name for one in (await client.list_tools()).tools} == set(SCOPES)
        for tool, arguments in tool_calls(SECRET, ids[SECRET]).items():
            foreign = await failure(client, tool, **arguments)
            missing = await failure(client, tool, **tool_calls(NOWHERE, ids[SECRET])[tool])
            assert foreign.replace(SECRET, NOWHERE) == missing
            assert not [word for word in SECRETS if word in foreign.casefold()]
        both = [CORPUS, SECRET]
        assert f"{SECRET!r} holds no document" in await failure(client, "search", question="Who?", corpora=both)
        for path in ("documents", f"documents/{ids[SECRET]}"):
            errors = []
            for corpus in (SECRET, NOWHERE):
                with pytest.raises(MCPError) as raised:
                    await client.read_resource(f"e2g://{corpus}/{path}")
                errors.append((raised.value.code, str(raised.value).replace(corpus, NOWHERE)))
            assert errors[0] == errors[1]
        seen = [
            *(await call(client, "list_corpora")),
            *(await call(client, "search", question=HIDDEN)),
            *(await call(client, "find_entities", query="quibbledown")),
            str(await client.list_resources()),
        ]
        assert SECRET not in str(seen)
        assert "third pew" not in str(seen)
        # The document exists, but in the other corpus.
        assert "no document with the id" in await failure(client, "read_passage", document=ids[SECRET], corpus=CORPUS)
        assert "no document with the id" in await failure(
            client, "delete_document", document=ids[SECRET], corpus=CORPUS
        )
    [row] = driver.execute_query(
        "MATCH (d:Document) WHERE d.corpus IN $corpora RETURN count(d) AS number", corpora=[SECRET, NOWHERE]
    ).records
    assert row["number"] == 1


async def test_the_only_corpus_is_the_default_and_several_are_listed(settings, ids):
    async with connected(settings) as client:
        _, found = await call(client, "search", question=QUESTION, tokens=100)
        assert {one["corpus"] for one in found["passages"]} == {CORPUS}
    both = replace(TENANT, corpora=("mcp-s*",))
    async with connected(settings, caller=both) as client:
        for tool in ("search", "explain"):
            assert "Name a corpus: there are 2, see list_corpora." in await failure(client, tool, question=QUESTION)
        assert "Name a corpus: there are 2, see list_corpora." in await failure(client, "find_entities")
    async with connected(settings, caller=replace(TENANT, corpora=())) as client:
        assert "there is none yet" in await failure(client, "search", question=QUESTION)


def short_enough(settings: Settings, text: str, structured: Any) -> bool:
    spans = load.load_embedder(
        settings.embedding_model,
        ollama_host=settings.ollama_host,
        precision=settings.embedding_precision,
        dimensions=settings.embedding_dimensions,
    ).token_spans
    return all(len(spans(one)) <= MAX_TOKENS for one in (text, json.dumps(structured)))


@pytest.mark.full
async def test_no_result_is_longer_than_it_may_be_and_none_has_vectors(settings, ids, corpus, driver):
    async with connected(settings, caller=LOCAL) as client:
        long = " ".join(f"Ada Lund met Otto Vinge at {number} Old Street." for number in range(at_length(9000, 900)))
        await call(client, "index_text", corpus=corpus, title="Addresses " * 15, text=long)
        document = (await call(client, "search", question="Ada Lund", corpora=[corpus], k=1))[1]["passages"][0]
        calls: list[tuple[str, dict[str, Any]]] = [
            ("search", {"question": "What went wrong?", "corpora": [CORPUS, corpus], "tokens": 4000}),
            ("search", {"question": "What went wrong?", "corpora": [CORPUS], "k": 50, "mode": "dense"}),
            ("explain", {"question": "What went wrong?", "corpora": [CORPUS], "k": 50}),
            ("find_entities", {"corpus": CORPUS, "limit": 100}),
            ("describe_entity", {"corpus": CORPUS, "name": "Theodora Quill"}),
            ("connect", {"a": "Hester Pendry", "b": "Walter Crail", "corpus": CORPUS, "hops": 6}),
            ("read_passage", {"document": document["document_id"], "corpus": corpus, "end": 1_000_000}),
        ]
        for tool, arguments in calls:
            text, structured = await call(client, tool, **arguments)
            assert short_enough(settings, text, structured), tool
            assert not re.search(r"-?0\.\d+, ?-?0\.\d+, ?-?0\.\d+", text + json.dumps(structured)), tool
        _, span = await call(client, "read_passage", document=document["document_id"], corpus=corpus, end=1_000_000)
        assert span["end"] == 4000
        for uri in (f"e2g://{CORPUS}/documents", f"e2g://{corpus}/documents/{document['document_id']}"):
            text = await read(client, uri)
            assert short_enough(settings, text, None), uri
            assert len(text) > 1000
    remove(driver, [corpus])


@pytest.mark.parametrize("mode", MODES)
async def test_resources_and_prompts(settings, ids, mode):
    async with connected(settings, mode) as client:
        listed = [one.uri for one in (await client.list_resources()).resources]
        assert listed == ["e2g://schema", f"e2g://{CORPUS}/documents"]
        templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
        assert templates == ["e2g://{corpus}/documents", "e2g://{corpus}/documents/{document}"]
        rows = [json.loads(line) for line in (await read(client, listed[1])).splitlines() if line.startswith("{")]
        assert len(rows) == 12
        assert rows[0]["title"] in await read(client, f"e2g://{CORPUS}/documents/{rows[0]['document']}")
        prompts = {one.name: one for one in (await client.list_prompts()).prompts}
        assert set(prompts) == {"answer_with_citations", "map_corpus"}
        asked = await prompt(client, "answer_with_citations", question="Is $x {y}?", corpus=CORPUS)
        assert "Is $x {y}?" in asked
        assert f'corpora ["{CORPUS}"]' in asked
        assert CORPUS in await prompt(client, "map_corpus", corpus=CORPUS)


async def test_the_schema_is_that_of_the_graph(settings, ids, driver):
    async with connected(settings) as client:
        schema = await read(client, "e2g://schema")
    nodes = re.findall(r"^\(:(\w+) \{([^}]*)\}\)", schema, re.MULTILINE)
    assert {label for label, _ in nodes} == {
        "Document",
        "Chunk",
        "Window",
        "Summary",
        "Entity",
        "Alias",
        "Community",
        "Cluster",
    }
    for label, properties in nodes:
        [row] = driver.execute_query(
            f"MATCH (n:{label} {{corpus: $corpus}}) UNWIND keys(n) AS key RETURN collect(DISTINCT key) AS keys",
            corpus=CORPUS,
        ).records
        told = {one.split(":")[0].strip() for one in properties.split(",")}
        assert told - {"page"} <= set(row["keys"]), label  # the library has no pages
    kinds = re.findall(r"^\(:.*-\[:(\w+)(?: \{([^}]*)\})?\]->?\(:", schema, re.MULTILINE)
    assert len(kinds) == 11  # besides those to nodes of other programs
    for kind, properties in kinds:
        [row] = driver.execute_query(
            f"MATCH (n {{corpus: $corpus}})-[r:{kind}]->() UNWIND keys(r) + [''] AS key "
            "RETURN collect(DISTINCT key) AS keys",
            corpus=CORPUS,
        ).records
        assert set(row["keys"]) >= {one.strip() for one in properties.split(",")}, kind


async def test_texts_are_indexed_found_replaced_and_deleted(settings, ids, corpus, driver):
    writer = replace(TENANT, corpora=(CORPUS, corpus))
    async with connected(settings, caller=writer) as client:
        named = {one.name: one for one in (await client.list_tools()).tools}
        for name in ("index_text", "delete_document"):
            annotations = named[name].annotations
            assert annotations
            assert annotations.destructive_hint
            assert not annotations.read_only_hint
        for text in ("Otto Vinge bought a brass telescope.", "Otto Vinge sold the brass telescope."):
            _, task = await call(client, "index_text", corpus=corpus, title="/etc/passwd", text=text)
            assert (task["state"], task["kind"]) == ("succeeded", "index")
        assert (await call(client, "task_status", task=task["id"]))[1] == task
        assert "no task" in await failure(client, "task_status", task="0" * 32)
        text, found = await call(client, "search", question="What of the telescope?", corpora=[corpus])
        assert "sold" in text
        assert "bought" not in text
        document = task["result"]["document"]
        assert found["passages"][0]["document_id"] == document
        await call(client, "delete_document", corpus=corpus, document=document)
        assert "holds no document" in await failure(client, "search", question="What?", corpora=[corpus])
    remove(driver, [corpus])


async def test_texts_have_properties_and_keep_them(settings, ids, corpus, driver):
    writer = replace(TENANT, corpora=(CORPUS, corpus))
    async with connected(settings, caller=writer) as client:
        note = {"corpus": corpus, "title": "A note", "text": "Otto Vinge bought a brass telescope."}
        given = {"year": 1908, "tags": ["sea", "trade"]}
        await call(client, "index_text", **note, properties=given)
        asked = {"question": "What of the telescope?", "corpora": [corpus]}
        assert (await call(client, "search", **asked, where=["year>1900", "tags=sea"]))[1]["passages"]
        assert not (await call(client, "search", **asked, where=["year>1908"]))[1]["passages"]
        await call(client, "index_text", **{**note, "text": "Otto Vinge sold the brass telescope."})
        assert (await call(client, "search", **asked, where=["tags=trade"]))[1]["passages"]
        refused = await failure(client, "index_text", **note, properties={"year": {"of": 1}})
        assert "The property 'year' has a value of type dict" in refused
        await call(client, "index_text", **note, properties={})
        assert "has a property 'year'" in await failure(client, "search", **asked, where=["year>1900"])
    remove(driver, [corpus])


async def test_arguments_out_of_range_are_refused(settings, ids):
    async with connected(settings) as client:
        for arguments in ({"question": ""}, {"question": "x" * 4001}, {"question": "Who?", "k": 51}, {"question": " "}):
            assert "Traceback" not in await failure(client, "search", **arguments)
        await failure(client, "search", question="Who?", mode="magic")
        assert (
            await failure(client, "search", question="Who?", corpora="names")
            == "corpora: Input should be a valid list."
        )
        assert await failure(client, "connect", names=["a", "b"]) == "a: Field required. b: Field required."
        await failure(client, "connect", a="a", b="b", hops=7)
        assert "within these" in await failure(client, "read_passage", document=ids[CORPUS], start=10**9)
        assert "within these" in await failure(client, "read_passage", document=ids[CORPUS], start=9, end=9)


# --- over HTTP ---------------------------------------------------------------------------------------


class Queue:
    """Notes what it is asked to do."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.tasks: dict[str, TaskInfo] = {}

    def _queued(self, kind: Any, caller: Caller, corpus: str) -> TaskInfo:
        task = TaskInfo(str(len(self.tasks)), kind, corpus, caller.key, "queued", 0)
        self.tasks[task.id] = task
        return task

    async def index_text(
        self, caller: Caller, corpus: str, title: str, text: str, properties: Properties | None
    ) -> TaskInfo:
        self.asked.append(("index", corpus, title, text, properties))
        return self._queued("index", caller, corpus)

    async def delete_document(self, caller: Caller, corpus: str, document: str) -> TaskInfo:
        self.asked.append(("delete", corpus, document))
        return self._queued("delete", caller, corpus)

    async def task(self, caller: Caller, task: str) -> TaskInfo | None:
        return self.tasks.get(task)


KEYS = {b"tenant": TENANT, b"reader": READER}


class Authenticates:
    """Puts the caller that a header names into the state of the request."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            caller = KEYS.get(dict(scope["headers"]).get(b"x-api-key", b""))
            if caller is not None:
                Request(scope).state.caller = caller
        await self.app(scope, receive, send)


@pytest.fixture
def service(settings, ids) -> Iterator[tuple[str, Queue]]:
    """The address of a bare web application with MCP in it, and its queue."""
    queue = Queue()
    client = AsyncE2G(settings=settings)
    mounted = mount(create_mcp(client, caller_of_request, writer=queue))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with client, mounted.lifespan():
            yield

    app = Starlette(
        routes=[Route("/mcp", endpoint=mounted.app)], middleware=[Middleware(Authenticates)], lifespan=lifespan
    )
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", queue
    server.should_exit = True
    thread.join(30)
    assert not thread.is_alive()


@asynccontextmanager
async def over_http(address: str, mode: str, key: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"X-API-Key": key}, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", MODES)
async def test_http_serves_each_caller_what_is_its_own(service, ids, mode):
    address, queue = service
    async with over_http(address, mode, "tenant") as client, over_http(address, mode, "reader") as reader:
        text, found = await call(client, "search", question=QUESTION, tokens=600)
        assert "Hester Pendry" in text
        assert found["passages"]
        foreign = await failure(client, "search", question=QUESTION, corpora=[SECRET])
        missing = await failure(client, "search", question=QUESTION, corpora=[NOWHERE])
        assert foreign.replace(SECRET, NOWHERE) == missing
        note = {"corpus": CORPUS, "title": "A note", "text": "Of no use.", "properties": {"year": 1908}}
        _, task = await call(client, "index_text", **note)
        assert task["state"] == "queued"
        assert (await call(client, "task_status", task=task["id"]))[1] == task
        await call(client, "delete_document", corpus=CORPUS, document=ids[CORPUS])
        assert queue.asked == [
            ("index", CORPUS, "A note", "Of no use.", {"year": 1908}),
            ("delete", CORPUS, ids[CORPUS]),
        ]
        queue.tasks["foreign"] = TaskInfo("foreign", "index", SECRET, "another", "queued", 0)
        assert (await failure(client, "task_status", task="foreign")).replace("foreign", "missing") == (
            await failure(client, "task_status", task="missing")
        )
        assert {one.name for one in (await reader.list_tools()).tools} == {
            name for name, scope in SCOPES.items() if scope == "read"
        }
        await failure(reader, "index_text", corpus=CORPUS, title="A note", text="Of no use.")
        assert len(queue.asked) == 2
        assert [one.uri for one in (await reader.list_resources()).resources][1:] == [f"e2g://{CORPUS}/documents"]


async def test_http_refuses_who_is_not_known_and_other_hosts(service):
    address, _ = service
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(headers=accept) as http:
        for header in ({}, {"X-API-Key": "wrong"}):
            refused = await http.post(address, json=body, headers=header)
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
            assert "tools" not in refused.text
        known = {"X-API-Key": "tenant"}
        assert (await http.post(address, json=body, headers=known)).status_code == 200
        assert (await http.post(address, json=body, headers={**known, "Host": "evil.example"})).status_code == 421
        origin = {**known, "Origin": "https://evil.example"}
        assert (await http.post(address, json=body, headers=origin)).status_code == 403
        stream = await http.get(address, headers={**known, "Accept": "text/event-stream"})
        assert (stream.status_code, stream.headers["allow"]) == (405, "POST")
        large = await http.post(address, content=b"x" * (4 * 2**20 + 1), headers=known)
        assert large.status_code == 413


# --- over stdio --------------------------------------------------------------------------------------


@pytest.fixture
def environment(settings: Settings, tmp_path: Path) -> dict[str, str]:
    return {**variables_of(settings), "E2G_CHUNK_TOKENS": "300", "E2G_CHUNK_OVERLAP": "50"}


COMMAND = ("-c", "from e2g_neo4j.cli import main; main()", "mcp")


@pytest.mark.full
async def test_the_command_serves_a_client_over_stdio(environment, ids, tmp_path):
    command = StdioServerParameters(command=sys.executable, args=list(COMMAND), env=environment, cwd=tmp_path)
    async with Client(command) as client:
        tools = {one.name for one in (await client.list_tools()).tools}
        assert tools == {name for name, scope in SCOPES.items() if scope == "read"}
        text, _ = await call(client, "search", question=QUESTION, corpora=[CORPUS], tokens=600)
        assert "Hester Pendry" in text


@pytest.mark.full
def test_the_command_prints_nothing_but_the_old_protocol(environment, ids, tmp_path):
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--mcp-write"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
        cwd=tmp_path,
        text=True,
    )
    assert process.stdin
    assert process.stdout

    def ask(number: int, method: str, **params: Any) -> dict[str, Any]:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
        process.stdin.flush()
        reply = json.loads(process.stdout.readline())
        assert reply["id"] == number
        result: dict[str, Any] = reply["result"]
        return result

    client = {"name": "test", "version": "1"}
    started = ask(1, "initialize", protocolVersion="2025-03-26", capabilities={}, clientInfo=client)
    assert started["protocolVersion"] == "2025-03-26"
    process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    assert {one["name"] for one in ask(2, "tools/list")["tools"]} == set(SCOPES) - {"ask"}
    arguments = {"question": QUESTION, "corpora": [CORPUS], "tokens": 600}
    found = ask(3, "tools/call", name="search", arguments=arguments)
    assert "Hester Pendry" in found["content"][0]["text"]
    rest, _ = process.communicate(timeout=60)
    assert rest == ""
    assert process.returncode == 0


@pytest.mark.full
def test_the_command_line_of_the_inspector(environment, ids, tmp_path):
    """The inspector speaks to it as docs/mcp.md shows."""
    need("mcp-inspector")

    def inspect(*arguments: str) -> Any:
        command = ["mcp-inspector", "--cli", str(Path(sys.executable).parent / "e2g"), "mcp", *arguments]
        variables = {**os.environ, **environment}
        done = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    tools = {one["name"] for one in inspect("--method", "tools/list")["tools"]}
    assert tools == {name for name, scope in SCOPES.items() if scope == "read"}
    call = ("--method", "tools/call", "--tool-name", "search", "--tool-arg", f"question={QUESTION}")
    found = inspect(*call, "--tool-arg", f'corpora=["{CORPUS}"]', "--tool-arg", "tokens=200")
    assert "Hester Pendry" in found["content"][0]["text"]
