"""What cannot be provoked on a real Ollama server: a server that fails in ways that pass, over a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from failing_ollama import END, WHOLE, Failing, part
from memory import remembering

from e2g_neo4j.errors import ModelError
from e2g_neo4j.indexing.summaries.base import SummaryInput
from e2g_neo4j.indexing.summaries.chat import ChatSummariser
from e2g_neo4j.models.chat import retry
from e2g_neo4j.models.chat.retry import ask, ask_async, stream
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.models.embedding.ollama import OllamaEmbedder
from e2g_neo4j.types.chat import ChatReply, ChatRequest

REQUEST = ChatRequest("", "Tell me.", 20)


def in_seconds(seconds: int) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.fixture
def server() -> Iterator[Failing]:
    failing = Failing()
    yield failing
    failing.stop()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were waited for, without waiting."""
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr("tenacity.nap.time.sleep", found.append)
    monkeypatch.setattr("asyncio.sleep", sleep)
    return found


FAULTS: dict[str, Any] = {
    "busy": (429, {}),
    "failed": (500, {}),
    "away": (503, {}),
    "cut in mid-stream": part("All "),
    "ended before its last part": part("All ", note={"done": True}),  # for the server whole, and so not cut
    "cut in mid-line": part("All ") + WHOLE[:20],
    "no UTF-8": b'{"message": {"role": "assistant", "content": "\xff\xfe\n',
    "an error in mid-stream": part("All ") + b'{"error": "the runner has stopped"}\n' + END,
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_what_may_pass_is_tried_again(server, waits, fault):
    server.replies = [fault, fault, WHOLE]
    assert ask(server.model, REQUEST).text == "All well."
    assert len(server.asked) == 3
    assert len(waits) == 2


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_async_calls_are_as_patient(server, waits, fault):
    server.replies = [fault, WHOLE]
    assert asyncio.run(ask_async(server.model, REQUEST)).text == "All well."
    assert len(server.asked) == 2


@pytest.mark.parametrize(("first", "status"), [("/api/show", 429), ("/api/tags", 500), ("sample", 503)])
def test_a_server_that_is_busy_at_the_first_call_is_waited_for(server, waits, first, status):
    """What a model is, and how many tokens a text has, is asked before the first reply."""
    server.busy = {first: [(status, {"retry-after": "7"}), (status, {})]}
    server.replies = [WHOLE]
    assert server.model.count("A text.") > 0
    assert ask(server.model, REQUEST).text == "All well."
    assert len(waits) == 2
    assert 7 <= waits[0] <= 8


@pytest.mark.parametrize("first", ["/api/show", "sample"])
def test_one_that_stays_busy_is_reported_plainly(server, waits, first):
    server.busy = {first: [(503, {})] * 20}
    with pytest.raises(ModelError, match=r"ollama:failing failed .*not now.*E2G_CHAT_MODEL"):
        server.model.count("A text.")
    assert len(server.busy[first]) == 20 - retry.ATTEMPTS
    server.busy = {first: [(503, {})] * 20}
    with pytest.raises(ModelError, match="not now"):
        asyncio.run(ask_async(server.model, REQUEST))
    assert len(server.busy[first]) == 20 - retry.ATTEMPTS, "retries of retries"


def test_so_is_one_that_embeds(server, waits):
    server.busy = {"/api/embed": [(503, {}), (429, {"retry-after": "7"})], "/api/show": [(503, {})]}
    model = OllamaEmbedder("ollama:failing", server.host)
    assert model.embed(["A text."]).shape == (1, 2)
    assert len(waits) == 3
    server.busy = {"/api/embed": [(503, {})] * 20}
    with pytest.raises(ModelError, match="busy"):
        model.embed(["A text."])


def test_waits_grow_and_differ(server, waits):
    server.replies = [(500, {})] * 5 + [WHOLE]
    ask(server.model, REQUEST)
    assert len(waits) == 5
    assert all(0 <= wait <= 2**number for number, wait in enumerate(waits))
    assert len(set(waits)) == 5


@pytest.mark.parametrize("written", [str, in_seconds])
def test_a_server_that_says_how_long_is_left_alone_for_so_long(server, waits, written):
    server.replies = [(429, {"retry-after": written(17)}), WHOLE]
    ask(server.model, REQUEST)
    [waited] = waits
    assert 15 <= waited <= 18


def test_a_server_that_wants_to_be_left_alone_for_too_long_is_given_up(server, waits):
    server.replies = [(429, {"retry-after": "86400"}), WHOLE]
    with pytest.raises(ModelError, match="not now"):
        ask(server.model, REQUEST)
    assert waits == []


def test_patience_ends_with_a_clear_error(server, waits):
    server.replies = [(500, {})] * retry.ATTEMPTS
    with pytest.raises(ModelError, match="E2G_CHAT_MODEL"):
        ask(server.model, REQUEST)
    assert len(server.asked) == retry.ATTEMPTS


def test_what_will_not_pass_is_not_tried_again(server, waits):
    server.replies = [(400, {}), WHOLE]
    with pytest.raises(ModelError, match="rejected the request"):
        ask(server.model, REQUEST)
    assert len(server.asked) == 1


def test_a_stream_begins_anew_only_before_it_has_begun(server, waits):
    server.replies = [(503, {}), WHOLE]
    assert [piece for piece in stream(server.model, REQUEST) if not isinstance(piece, ChatReply)] == ["All ", "well."]
    server.replies = [part("All "), WHOLE]
    heard = stream(server.model, REQUEST)
    assert next(heard) == "All "
    with pytest.raises(ModelError, match="failed in the middle"):
        next(heard)


def test_a_server_that_cuts_prompts_is_found_out(server, waits):
    """It says that it read fewer tokens than the prompt has words."""
    server.replies = [WHOLE.replace(b'"prompt_eval_count": 5', b'"prompt_eval_count": 1400')]
    with pytest.raises(ModelError, match="truncates prompts"):
        ask(server.model, ChatRequest("", "a " * 1500, 20))


def test_a_summary_goes_on_after_faults_and_is_kept(server, waits):
    cache, kept = remembering()
    writer = ChatSummariser(server.model, cache, UsageMeter(), budget=40)
    end = END.replace(b'"prompt_eval_count": 5', b'"prompt_eval_count": 900')
    server.replies = [(500, {}), part("All "), part("All well.") + end]
    assert writer.summarise(SummaryInput("The brig left the port in May.")).text == "All well."
    assert [one["text"] for one in kept.values()] == ["All well."]
