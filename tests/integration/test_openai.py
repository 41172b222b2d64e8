"""Corpora as models of OpenAI's API, asked by its own client over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, cast
from uuid import uuid4

import httpx
import openai
import pytest
from at_server import settings_of
from langchain_core.messages import AIMessageChunk
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from real_ollama import RealOllama
from running_service import linked_text, running
from scripted_models import Says

from e2g_neo4j import E2G, Settings
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.graph import keys
from e2g_neo4j.models.chat import retry
from e2g_neo4j.retrieval.options import TURNS
from e2g_neo4j.service.limits import QUESTIONS_AT_ONCE
from e2g_neo4j.service.openai import PLAIN, ChatMessage, Part, turns_of
from e2g_neo4j.types.results import Turn

NAME = f"api-{uuid4().hex[:8]}"
LOG, LETTERS, SIGNS, FOREIGN = f"{NAME}-log", f"{NAME}-letters", f"{NAME}-a b-50.x", f"foreign-{NAME}"
TEXTS = {
    LOG: "On the third day Luke Farran stood at the helm of the Averil. The wind was in the north.",
    LETTERS: "Dear Sarah, Luke Farran was at the helm all night, and the Averil came safe to Port Hesk.",
    SIGNS: "Luke Farran sold the helm of the Averil at a sale in spring.",
    FOREIGN: "Luke Farran never was at the helm of the Averil.",
}
QUESTION = "Who was at the helm of the Averil?"
SAID = "Luke Farran was at the helm [1]. He wrote of it to Sarah [2]."
FROM_ONE = "Luke Farran was at the helm [1]. He wrote of it to Sarah."
TITLE = "A tale of the brig Averil and of her helmsman"


@dataclass(frozen=True)
class Served:
    """The running service, and a key for all corpora of these tests but one."""

    url: str
    key: str
    e2g: E2G

    def new_key(self, **limits: int) -> str:
        return self.e2g.runner.run(keys.create(NAME, ["read", "ask"], [f"{NAME}-*"], **cast(Any, limits)))[1]

    def client(self, key: str | None = None) -> openai.OpenAI:
        return openai.OpenAI(base_url=f"{self.url}/v1", api_key=key or self.key, max_retries=0, timeout=60)

    def async_client(self) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(base_url=f"{self.url}/v1", api_key=self.key, max_retries=0, timeout=60)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


@pytest.fixture(scope="module")
def settings(neo4j_connection, ollama_server: RealOllama) -> Settings:
    rewritten = json.dumps({"question": QUESTION})
    ollama_server.create("api-writer", {"": Says(TITLE), "?": Says(SAID), "!": Says(rewritten)})
    return settings_of(neo4j_connection, ollama_host=ollama_server.host, chat_model="ollama:api-writer")


@pytest.fixture(scope="module")
def served(settings: Settings) -> Iterator[Served]:
    with E2G(settings=without_model(settings)) as e2g:
        e2g.migrate(["service"])
        for corpus, text in TEXTS.items():
            e2g.index([from_text(text, corpus=corpus, source=f"memory:{corpus}", title="The log")], corpus=corpus)
        _, key = e2g.runner.run(keys.create(NAME, ["read", "ask"], [f"{NAME}-*"]))
        with running(settings) as url:
            yield Served(url, key, e2g)


def without_model(settings: Settings) -> Settings:
    return settings.model_copy(update={"chat_model": None})


def asked(text: str = QUESTION):
    return [{"role": "user", "content": text}]


def model(*corpora: str) -> str:
    return "e2g/" + "+".join(corpora)


# --- OpenAI ------------------------------------------------------------------------------------------


def test_the_models_are_the_visible_corpora_and_the_plain_one(served):
    listed = {one.id: one for one in served.client().models.list()}
    signs = model(SIGNS.replace("%", "%25").replace("+", "%2B"))
    assert set(listed) == {model(LOG), model(LETTERS), signs, PLAIN}
    for name in listed:
        assert served.client().models.retrieve(name) == listed[name]


def test_an_answer_has_its_citations_and_usage(served):
    completion = served.client().chat.completions.create(model=model(LOG), messages=asked(), temperature=0.5)
    [choice] = completion.choices
    assert (completion.object, completion.model) == ("chat.completion", model(LOG))
    assert (choice.message.role, choice.message.content, choice.finish_reason) == ("assistant", FROM_ONE, "stop")
    [citation] = choice.message.annotations
    cited = citation.url_citation
    assert choice.message.content[cited.start_index : cited.end_index] == "[1]"
    assert cited.title == "The log"
    assert linked_text(cited.url, served.url, served.headers) == TEXTS[LOG]
    usage = completion.usage
    assert usage.prompt_tokens > len(TEXTS[LOG])  # a byte is a token
    assert usage.completion_tokens > 0
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


def test_several_corpora_are_asked_together_also_with_signs_in_their_names(served):
    for second in (LETTERS, SIGNS):
        name = model(LOG, second.replace("%", "%25").replace("+", "%2B"))
        message = served.client().chat.completions.create(model=name, messages=asked()).choices[0].message
        assert message.content == SAID
        texts = [linked_text(one.url_citation.url, served.url, served.headers) for one in message.annotations]
        assert sorted(texts) == sorted([TEXTS[LOG], TEXTS[second]])


def test_a_stream_is_the_whole_answer_in_pieces(served):
    whole = served.client().chat.completions.create(model=model(LOG, LETTERS), messages=asked())
    chunks = list(
        served.client().chat.completions.create(
            model=model(LOG, LETTERS), messages=asked(), stream=True, stream_options={"include_usage": True}
        )
    )
    *parts, usage = chunks
    deltas = [one.choices[0].delta for one in parts]
    assert len([one for one in deltas if one.content]) > 1
    assert "".join(one.content or "" for one in deltas) == whole.choices[0].message.content
    assert deltas[0].role == "assistant"
    assert [one.choices[0].finish_reason for one in parts] == [None] * (len(parts) - 1) + ["stop"]
    assert deltas[-1].model_extra["annotations"] == [one.to_dict() for one in whole.choices[0].message.annotations]
    assert (usage.choices, usage.usage.prompt_tokens) == ([], whole.usage.prompt_tokens)
    assert {one.id for one in chunks} == {chunks[0].id}
    assert all(one.usage is None for one in parts)


def test_a_stream_ends_with_done_and_has_usage_only_on_request(served):
    body = {"model": model(LOG), "messages": asked(), "stream": True}
    reply = httpx.post(f"{served.url}/v1/chat/completions", json=body, headers=served.headers, timeout=60)
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.text.endswith("data: [DONE]\n\n")
    assert "event:" not in reply.text
    assert "usage" not in reply.text


async def test_the_async_client_gets_the_same(served):
    async with served.async_client() as client:
        whole = await client.chat.completions.create(model=model(LOG), messages=asked())
        stream = await client.chat.completions.create(model=model(LOG), messages=asked(), stream=True)
        text = "".join([one.choices[0].delta.content or "" async for one in stream])
        names = [one.id async for one in client.models.list()]
    assert text == whole.choices[0].message.content == FROM_ONE
    assert PLAIN in names


def test_the_last_message_of_the_user_is_the_question_also_in_parts(served):
    earlier = [{"role": "system", "content": "Be brief."}, {"role": "assistant", "content": "Hello."}]
    parts = [{"type": "text", "text": "Tell me this."}, {"type": "text", "text": QUESTION}]
    messages = [*earlier, {"role": "user", "content": parts}]
    create = served.client().chat.completions.create
    alone = create(model=model(LOG), messages=asked(f"Tell me this.\n{QUESTION}"))
    completion = create(model=model(LOG), messages=messages)
    assert completion.choices[0].message.content == FROM_ONE
    assert completion.usage == alone.usage


def test_a_question_is_rewritten_with_the_messages_before_it(served):
    """The model rewrites what ends with "!" into the question, and answers only that as it should."""
    messages = [*asked("Tell me of the Averil."), {"role": "assistant", "content": "A brig."}, *asked("And its helm!")]
    completion = served.client().chat.completions.create(model=model(LOG), messages=messages)
    assert completion.choices[0].message.content == FROM_ONE
    alone = served.client().chat.completions.create(model=model(LOG), messages=asked())
    assert completion.usage.prompt_tokens > alone.usage.prompt_tokens + len("Tell me of the Averil.")


def test_the_history_has_the_latest_turns_without_what_is_no_text():
    image = Part(type="image_url")
    messages = [
        ChatMessage(role="system", content="Be brief."),
        *(ChatMessage(role="user", content=f"Question {number}?") for number in range(TURNS)),
        ChatMessage(role="user", content=[Part(type="text", text="Who is this?"), image]),
        ChatMessage(role="assistant", content="A helmsman."),
        ChatMessage(role="tool", content="42"),
        ChatMessage(role="user", content=[image]),
        ChatMessage(role="assistant", content="I cannot see it."),
        ChatMessage(role="user", content="And she?"),
    ]
    assert turns_of(messages) == (
        *(Turn(f"Question {number}?") for number in range(2, TURNS)),
        Turn("Who is this?", "A helmsman."),
        Turn("And she?"),
    )


def test_without_evidence_a_stream_says_so_as_the_whole_answer_does(served):
    body = {"model": model(LOG), "messages": asked("ξ?")}
    create = served.client().chat.completions.create
    whole = create(**body)
    streamed = "".join(one.choices[0].delta.content or "" for one in create(**body, stream=True))
    assert streamed == whole.choices[0].message.content


def test_a_reply_ends_at_its_maximum_of_tokens(served):
    create = served.client().chat.completions.create
    for name in (model(LOG), PLAIN):
        for limit in ({"max_tokens": 2}, {"max_completion_tokens": 2}):
            completion = create(model=name, messages=asked(), **limit)
            assert completion.choices[0].finish_reason == "length"
            assert completion.usage.completion_tokens == 2


def test_the_plain_model_gets_the_conversation_and_no_evidence(served):
    messages = asked("Name this chat.")
    create = served.client().chat.completions.create
    alone = create(model=PLAIN, messages=messages)
    assert alone.choices[0].message.content == TITLE
    assert alone.choices[0].message.annotations == []
    earlier = [
        {"role": "system", "content": "Be brief."},
        *asked("Who are you?"),
        {"role": "assistant", "content": "I am a model."},
    ]
    long = create(model=PLAIN, messages=[*earlier, *messages])
    # A byte is a token, and messages follow each other.
    assert long.usage.prompt_tokens - alone.usage.prompt_tokens == sum(len(one["content"]) for one in earlier)
    streamed = create(model=PLAIN, messages=messages, stream=True)
    assert "".join(one.choices[0].delta.content or "" for one in streamed) == TITLE


async def test_many_chats_at_once_wait_shortly_for_their_turn(served):
    asked = [{"role": "user", "content": QUESTION}]
    async with served.async_client() as client:
        replies = await asyncio.gather(
            *(client.chat.completions.create(model=f"e2g/{LOG}", messages=asked) for _ in range(24)),
            return_exceptions=True,
        )
    refused = [one for one in replies if isinstance(one, openai.RateLimitError)]
    assert len([one for one in replies if not isinstance(one, BaseException)]) == 24 - len(refused)
    assert 24 - len(refused) > 2 * QUESTIONS_AT_ONCE, "all of them on a machine that does nothing else"


def test_what_is_not_there_is_an_error_in_the_same_shape(served):
    client = served.client()
    for ask in (
        partial(client.embeddings.create, model=PLAIN, input="x"),
        partial(client.responses.create, model=PLAIN, input="x"),
        partial(client.completions.create, model=PLAIN, prompt="x"),
    ):
        with pytest.raises(openai.NotFoundError) as error:
            ask()
        assert error.value.code == "not_found"


def test_a_foreign_corpus_is_an_unknown_model(served):
    def refusal(name: str) -> tuple[int, str]:
        request = served.client().chat.completions.with_raw_response.create
        with pytest.raises(openai.NotFoundError) as raised:
            request(model=name, messages=asked())
        error = raised.value
        assert (error.code, error.param, error.type) == ("model_not_found", "model", "invalid_request_error")
        with pytest.raises(openai.NotFoundError) as of_model:
            served.client().models.retrieve(name)
        assert of_model.value.message == error.message
        body = error.response.text.replace(error.response.headers["x-request-id"], "ID")
        return error.status_code, body.replace(name, "NAME")

    unknown = refusal(model(f"{NAME}-none"))
    assert refusal(model(FOREIGN)) == unknown
    assert refusal(model(LOG, FOREIGN)) == unknown == refusal(model(LOG, f"{NAME}-none"))
    assert refusal(LOG) == unknown


@pytest.mark.parametrize(
    "body",
    [
        {"n": 2},
        {"response_format": {"type": "json_object"}},
        {"tool_choice": "required"},
        {"logprobs": True},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]},
        {"messages": [{"role": "system", "content": "Be brief."}]},
        {"messages": [{"role": "user", "content": " "}]},
        {"messages": [{"role": "user", "content": "x" * 100_001}]},
    ],
)
def test_what_cannot_be_done_is_refused(served, body):
    with pytest.raises(openai.BadRequestError) as raised:
        served.client().chat.completions.create(**{"model": model(LOG), "messages": asked(), **body})
    assert raised.value.type == "invalid_request_error"


def test_what_cannot_be_read_is_refused_in_the_same_shape(served):
    with pytest.raises(openai.UnprocessableEntityError) as raised:
        served.client().chat.completions.create(model=model(LOG), messages=[])
    assert "messages" in raised.value.message
    assert raised.value.type == "invalid_request_error"


@pytest.mark.parametrize("key", ["none", "e2g_000000000000_" + "A" * 43])
def test_a_wrong_key_is_an_authentication_error(served, key):
    with pytest.raises(openai.AuthenticationError) as raised:
        served.client(key).models.list()
    assert raised.value.code == "invalid_api_key"
    with pytest.raises(openai.AuthenticationError):
        served.client(key).chat.completions.create(model=PLAIN, messages=asked())


def test_no_key_is_refused_and_so_is_one_without_the_scope(served):
    reply = httpx.get(f"{served.url}/v1/models")
    assert (reply.status_code, reply.json()["error"]["code"]) == (401, "invalid_api_key")
    assert reply.json()["code"] == "unauthenticated"
    _, reader = served.e2g.runner.run(keys.create(NAME, ["read"], ["*"]))
    with pytest.raises(openai.PermissionDeniedError):
        served.client(reader).models.list()
    with pytest.raises(openai.PermissionDeniedError):
        served.client(reader).chat.completions.create(model=PLAIN, messages=asked())


def test_limits_of_requests_and_of_tokens_are_rate_limits(served):
    client = served.client(served.new_key(requests_per_minute=1))
    client.models.list()
    with pytest.raises(openai.RateLimitError) as raised:
        client.models.list()
    assert raised.value.code == "rate_limit_exceeded"
    assert int(raised.value.response.headers["retry-after"]) > 0
    for name in (model(LOG), PLAIN):
        client = served.client(served.new_key(tokens_per_minute=1))
        with pytest.raises(openai.APIError, match="limited to 1 tokens per minute"):  # before the model is called
            list(client.chat.completions.create(model=name, messages=asked(), stream=True))
        with pytest.raises(openai.RateLimitError):
            client.chat.completions.create(model=name, messages=asked())


def test_without_a_chat_model_a_request_is_refused(served, settings):
    with running(without_model(settings)) as url:
        other = Served(url, served.key, served.e2g)
        assert len(list(other.client().models.list())) == 4
        with pytest.raises(openai.APIStatusError, match="E2G_CHAT_MODEL") as raised:
            other.client().chat.completions.create(model=model(LOG), messages=asked())
        assert (raised.value.status_code, raised.value.type) == (501, "server_error")


def test_a_model_that_fails_within_a_stream_ends_it_with_an_error(served, settings, monkeypatch):
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.01)
    with running(settings.model_copy(update={"chat_model": "ollama:no-such"})) as url:
        other = Served(url, served.key, served.e2g)
        for name in (model(LOG), PLAIN):
            with pytest.raises(openai.APIError, match="no-such") as raised:
                list(other.client().chat.completions.create(model=name, messages=asked(), stream=True))
            assert not isinstance(raised.value, openai.APIStatusError)
            with pytest.raises(openai.InternalServerError, match="no-such"):
                other.client().chat.completions.create(model=name, messages=asked())


async def test_langchain_asks_a_corpus(served):
    chat = ChatOpenAI(
        base_url=f"{served.url}/v1", api_key=SecretStr(served.key), model=model(LOG), max_retries=0, temperature=0
    )
    reply = await asyncio.to_thread(chat.invoke, QUESTION)
    assert reply.text == FROM_ONE
    assert reply.usage_metadata is not None
    assert reply.usage_metadata["input_tokens"] > len(TEXTS[LOG])
    assert reply.response_metadata["finish_reason"] == "stop"
    pieces = [piece async for piece in chat.astream(QUESTION)]
    assert all(isinstance(piece, AIMessageChunk) for piece in pieces)
    assert "".join(piece.text for piece in pieces) == FROM_ONE
