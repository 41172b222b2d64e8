"""Chat models of langchain's own packages, on a real Ollama server."""

from __future__ import annotations

import asyncio

import pytest
from langchain.chat_models import init_chat_model
from real_ollama import RealOllama
from scripted_models import Chooses, Says

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.chat import retry
from e2g_neo4j.models.chat.base import TooLongError
from e2g_neo4j.models.chat.load import load_chat_model
from e2g_neo4j.models.chat.retry import ask
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatReply, ChatRequest, StreamingChatModel

TALE = "Two friends met at sea, and in the end it went well for both of them."


@pytest.fixture
def load(ollama_server: RealOllama, monkeypatch: pytest.MonkeyPatch):
    """A chat model of a provider, by the name of the model."""
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.01)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{ollama_server.host}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    def load(provider: str, name: str, **options) -> StreamingChatModel:
        if provider == "openai":  # by the settings, as users name it
            model = load_chat_model(Settings(chat_model=f"openai:{name}"))
        else:
            given = init_chat_model(f"ollama:{name}", base_url=ollama_server.host, **options)
            model = load_chat_model(Settings(), given)
        assert model is not None
        return model

    return load


@pytest.fixture(scope="module", autouse=True)
def models(ollama_server: RealOllama) -> None:
    ollama_server.create("lc-teller", Says(TALE))
    ollama_server.create("lc-chooser", Chooses({"A": 0.2, "B": 0.7, "C": 0.1}))
    ollama_server.create("lc-endless", Says("Around and around it goes. ", endless=True))


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_replies_streams_and_async_calls_are_the_same(load, provider):
    async def both() -> tuple:
        return (
            await retry.ask_async(model, request),
            [piece async for piece in retry.stream_async(model, request)],
        )

    model, request = load(provider, "lc-teller"), ChatRequest("Be brief.", "Tell me.", 60)
    reply = ask(model, request)
    assert (reply.text, reply.finish) == (TALE, "stop")
    assert 0 < reply.prompt_tokens - len("Be brief.Tell me.") < 10
    *pieces, streamed = retry.stream(model, request)
    assert len(pieces) > 5
    assert isinstance(streamed, ChatReply)
    assert "".join(map(str, pieces)) == streamed.text == TALE
    assert streamed.finish == "stop"
    replied, heard = asyncio.run(both())
    assert replied == reply
    assert heard == [*pieces, streamed]


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_log_probabilities_of_the_first_letter(load, provider):
    reply = ask(load(provider, "lc-chooser"), ChatRequest("", "Which?", 8, logprobs=True))
    assert reply.text in ("A", "B", "C")  # its provider's temperature is not 0
    found = {letter: round(2.718281828**value, 2) for letter, value in reply.logprobs[0].items() if value > -5}
    assert found == {"A": 0.2, "B": 0.7, "C": 0.1}


def test_a_reply_that_reached_its_limit_says_so(load):
    assert ask(load("ollama", "lc-endless", num_predict=20), ChatRequest("", "Tell me.", 20)).finish == "length"


def test_a_prompt_that_the_server_cut_is_an_error(load):
    """langchain's Ollama leaves the window to the server, and the server's is 512 tokens."""
    with pytest.raises(ModelError, match=r"read 512 tokens of a prompt of 900 words.*num_ctx"):
        ask(load("ollama", "lc-teller"), ChatRequest("", "word " * 900, 30))
    request = ChatRequest("", "word " * 900, 30)
    assert ask(load("ollama", "lc-teller", num_ctx=8192), request).prompt_tokens >= 4500


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_a_model_that_is_not_there_is_an_error_at_once(load, provider):
    with pytest.raises(ModelError, match=r"no-such.*not found") as error:
        ask(load(provider, "no-such"), ChatRequest("", "Hello", 10))
    assert not isinstance(error.value, TooLongError)
