"""Chat models of a real Ollama server, tiny ones that say what a test wants."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace
from uuid import uuid4

import pytest
from memory import remembering
from real_ollama import THINKING, RealOllama
from scripted_models import Chooses, Says

from e2g_neo4j.errors import ModelError
from e2g_neo4j.indexing.summaries.base import SummaryInput
from e2g_neo4j.indexing.summaries.chat import ChatSummariser
from e2g_neo4j.models.chat import retry
from e2g_neo4j.models.chat.base import TooLongError
from e2g_neo4j.models.chat.ollama import OllamaChat
from e2g_neo4j.models.chat.retry import ask
from e2g_neo4j.models.chat.until_usable import TRIES
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.retrieval.chat_calls import relevant_schema
from e2g_neo4j.types.chat import ChatReply, ChatRequest

TALE = "Two friends met at sea, and in the end it went well for both of them."
TEXT = "The brig Averil left Port Hesk in May with Luke Farran at the helm. " * 8


@pytest.fixture(scope="module")
def teller(ollama_server: RealOllama) -> OllamaChat:
    return OllamaChat(ollama_server.create("teller", Says(TALE)), ollama_server.host)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.01)


def summariser(model: OllamaChat, **options) -> tuple[ChatSummariser, UsageMeter, dict]:
    meter, (cache, kept) = UsageMeter(), remembering()
    return ChatSummariser(model, cache, meter, **{"budget": 40, **options}), meter, kept


def model_that(server: RealOllama, replies, **options) -> str:
    return server.create(f"m{uuid4().hex[:8]}", replies, **options)


# --- the port ----------------------------------------------------------------------------------------


def test_a_reply_has_its_text_its_end_and_the_servers_own_counts(teller):
    reply = teller.ask(ChatRequest("Be brief.", "Tell me.", 60))
    assert (reply.text, reply.finish) == (TALE, "stop")
    assert 0 < reply.prompt_tokens - len("Be brief.Tell me.") < 10  # the bytes, and what the template adds
    assert 5 < reply.completion_tokens <= len(TALE.split()) + 1


def test_streamed_and_async_replies_are_the_same(teller):
    async def listen() -> list:
        return [piece async for piece in retry.stream_async(teller, request)]

    request = ChatRequest("", "Tell me.", 60)
    pieces = list(retry.stream(teller, request))
    assert len(pieces) > 5
    assert "".join(map(str, pieces[:-1])) == TALE
    assert isinstance(pieces[-1], ChatReply)
    assert asyncio.run(listen()) == pieces
    assert asyncio.run(retry.ask_async(teller, request)) == pieces[-1] == ask(teller, request)


def test_a_model_is_known_by_its_weights(ollama_server, teller):
    ollama_server.create("changing", Says(TALE))
    before = OllamaChat("changing", ollama_server.host)
    assert before.name.startswith("ollama:changing@")
    ollama_server.create("changing", Says("Another tale of the sea."))
    assert OllamaChat("changing", ollama_server.host).name != before.name


def test_the_prompt_is_never_cut(ollama_server):
    """The server's own window is 512 tokens; a text of 4500 is read whole, whatever came before it."""
    model = OllamaChat(ollama_server.create("reader", Says(TALE)), ollama_server.host)
    for text in ("Short.", "word " * 300, "§†‡ " * 400, "word " * 900):
        reply = ask(model, ChatRequest("", text, 30))
        assert reply.prompt_tokens >= len(text.encode())


def test_a_cut_prompt_is_noticed_and_sent_again(ollama_server, quick):
    model = OllamaChat(ollama_server.create("cutter", Says(TALE)), ollama_server.host)
    model._estimator.learn("x" * 1000, 50)  # as if the text before had had few tokens
    text = "§†‡ " * 350
    reply = ask(model, ChatRequest("", text, 30))
    assert reply.prompt_tokens >= len(text.encode())


def test_a_prompt_longer_than_the_model_reads_is_an_error(ollama_server):
    model = OllamaChat(model_that(ollama_server, Says(TALE), context=1024), ollama_server.host)
    assert model.context == 1024
    with pytest.raises(TooLongError, match="E2G_LLM_CONTEXT"):
        ask(model, ChatRequest("", "word " * 1000, 30))


def test_a_model_that_is_not_there_is_named(ollama_server):
    with pytest.raises(ModelError, match="ollama pull no-such"):
        ask(OllamaChat("no-such", ollama_server.host), ChatRequest("", "Hello", 10))


def test_a_server_that_is_not_there_is_an_error_with_the_next_step(quick):
    with pytest.raises(ModelError, match="ollama serve"):
        ask(OllamaChat("any", "http://127.0.0.1:9"), ChatRequest("", "Hello", 10))


def test_a_model_that_takes_too_long_is_given_up(ollama_server, quick, monkeypatch):
    monkeypatch.setattr(retry, "ATTEMPTS", 2)
    model = OllamaChat(model_that(ollama_server, Says(TALE)), ollama_server.host, timeout=30)
    assert model.context
    slow = OllamaChat(model._model, ollama_server.host, timeout=0.002)
    slow.__dict__["_info"] = model._info
    with pytest.raises(ModelError, match="E2G_LLM_TIMEOUT"):
        ask(slow, ChatRequest("", "Hello", 10))


def test_log_probabilities_of_the_first_letter(ollama_server):
    model = OllamaChat(model_that(ollama_server, Chooses({"A": 0.2, "B": 0.7, "C": 0.1})), ollama_server.host)
    reply = ask(model, ChatRequest("", "Which?", 8, logprobs=True))
    assert reply.text == "B"
    assert {k: round(2.718281828**v, 2) for k, v in reply.logprobs[0].items() if v > -5} == {
        "A": 0.2,
        "B": 0.7,
        "C": 0.1,
    }


def test_a_letter_is_no_less_probable_for_standing_in_the_prompt(ollama_server):
    model = OllamaChat(model_that(ollama_server, Chooses({"A": 0.2, "B": 0.1, "C": 0.7})), ollama_server.host)
    options = f"A) {'one' * 30}\nB) {'two' * 30}\nC) three"
    assert ask(model, ChatRequest("", options, 8, logprobs=True)).text == "C"


# --- summaries ---------------------------------------------------------------------------------------


def test_a_summary_is_written_remembered_and_paid_for_once(teller):
    writer, meter, kept = summariser(teller)
    assert writer.summarise(SummaryInput(TEXT)).text == TALE
    assert writer.summarise(SummaryInput(TEXT)).text == TALE
    assert (meter.levels[1].calls, meter.levels[1].remembered) == (1, 1)
    assert [one["text"] for one in kept.values()] == [TALE]


@pytest.mark.parametrize(
    ("first", "template"),
    [
        (Says("Around and around it goes. ", endless=True), None),
        (Says(""), None),
        (Says("I'm sorry, but I cannot help with that."), None),
        (Says("<think> I wonder what is meant."), THINKING),
        (Says(" ".join(TEXT.split())[:480]), None),
    ],
    ids=["endless", "empty", "refusal", "thinking", "echo"],
)
def test_a_useless_reply_is_asked_for_again_in_other_words(ollama_server, first, template):
    """A prompt ends with the fence, and one for another try with a full stop."""
    options = {"template": template} if template else {}
    name = model_that(ollama_server, {"": first, ".": Says(TALE)}, **options)
    writer, meter, kept = summariser(OllamaChat(name, ollama_server.host), budget=10 if first.endless else 100)
    assert writer.summarise(SummaryInput(TEXT)).text == TALE
    assert meter.levels[1].calls == 2
    assert [one["text"] for one in kept.values()] == [TALE]


@pytest.mark.parametrize(
    ("always", "says"),
    [
        (Says("Around and around it goes. ", endless=True), "it repeated itself"),
        (Says(""), "no text"),
        (Says("I cannot assist with this request at all."), "refused"),
        (Says("<think> I wonder what is meant."), "only its thinking"),
    ],
    ids=["endless", "empty", "refusal", "thinking"],
)
def test_what_stays_useless_is_reported_and_never_kept(ollama_server, always, says):
    writer, meter, kept = summariser(OllamaChat(model_that(ollama_server, always), ollama_server.host), budget=8)
    with pytest.raises(ModelError, match=says):
        writer.summarise(SummaryInput(TEXT))
    assert kept == {}
    assert meter.levels[1].calls == TRIES


def test_a_text_longer_than_the_model_reads_is_summarised_in_parts(ollama_server):
    name = model_that(ollama_server, Says(TALE), context=4096)
    writer, meter, kept = summariser(OllamaChat(name, ollama_server.host))
    long = TEXT * 12  # 6500 bytes, each a token
    assert writer.summarise(SummaryInput(long)).text == TALE
    assert meter.levels[1].calls >= 4  # at least three parts, and their summaries together
    assert len(kept) == meter.levels[1].calls + 1  # and that of the whole, which is the last


def test_a_window_too_small_for_any_summary_is_explained(ollama_server):
    name = model_that(ollama_server, Says(TALE), context=1024)
    writer, *_ = summariser(OllamaChat(name, ollama_server.host))
    with pytest.raises(ModelError, match="E2G_SUMMARY_TOKENS"):
        writer.summarise(SummaryInput(TEXT * 12))


def test_a_reply_is_held_to_its_schema(ollama_server):
    """The model would name three numbers."""
    chat = OllamaChat(model_that(ollama_server, Says('{"relevant": [1, 2, 3]}')), ollama_server.host)
    request = ChatRequest("", TEXT, 100)
    assert chat.ask(request).text == '{"relevant": [1, 2, 3]}'
    assert len(json.loads(chat.ask(replace(request, schema=relevant_schema(1))).text)["relevant"]) <= 1


def test_a_server_that_comes_back_is_waited_for(ollama_server, tmp_path, quick, monkeypatch):
    from ollama_build import BINARY

    monkeypatch.setattr(retry, "FIRST_WAIT", 1.0)
    server = RealOllama(BINARY, tmp_path)
    server.create("teller", Says(TALE))
    model = OllamaChat("teller", server.host)
    assert ask(model, ChatRequest("", "One", 30)).text == TALE
    server.stop()
    again = threading.Timer(1, server.start)
    again.start()
    try:
        assert ask(model, ChatRequest("", "Two", 30)).text == TALE
    finally:
        again.join()
        server.stop()
