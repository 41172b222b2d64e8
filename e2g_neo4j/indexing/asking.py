"""Ask a chat model about many texts. Unusable replies are asked for again; all replies are cached."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from typing import Any, Protocol

from e2g_neo4j.errors import ModelError
from e2g_neo4j.indexing.summaries.cache import SummaryCache
from e2g_neo4j.indexing.summaries.chat import TRIES
from e2g_neo4j.models.chat.retry import ask
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.runtime.batched import batched
from e2g_neo4j.runtime.requests import Operation, Read
from e2g_neo4j.runtime.threads import beside
from e2g_neo4j.types.chat import ChatModel, ChatReply, ChatRequest
from e2g_neo4j.types.ids import cached_key
from e2g_neo4j.types.reports import Progress

HEARTBEAT = 0.5
"""Seconds after which progress is reported even if there is none."""

REPLIES_READ = 500
"""Cached replies that one statement reads."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a reply is worth.

    Attributes:
        text: what to keep of it.
        value: how much can be read of it. Of several replies that are not usable, the one with the highest is kept.
        fault: why it is not usable; "" if it is.
    """

    text: str
    value: int
    fault: str


class Reader(Protocol):
    """Asks a chat model for something about a text.

    Attributes:
        level: where its usage is counted. Summaries have the levels from 1.
        stage: the name of its progress.
        concurrency: the maximum number of concurrent calls.
    """

    @property
    def model(self) -> ChatModel: ...
    @property
    def level(self) -> int: ...
    @property
    def stage(self) -> str: ...
    @property
    def concurrency(self) -> int: ...

    def request(self, text: str, attempt: int = 0, wrong: str = "") -> ChatRequest:
        """Return the request; after an unusable reply, with more tokens, another seed and the reason."""
        ...

    def judge(self, reply: ChatReply) -> Judgement: ...


def ask_about(
    reader: Reader, texts: Sequence[tuple[str, str]], cache: SummaryCache, meter: UsageMeter, progress: Progress
) -> None:
    """Ask about texts, in threads. The replies are in the cache, also of those that were running at an error.

    Args:
        reader: what is asked.
        texts: keys of the cache, and the texts.
        cache: the cache of replies.
        meter: counts the use of the chat model.
        progress: called while this waits, and may raise an exception: no further text is asked about.

    Raises:
        BudgetError: the budget of the meter is used up.
        ModelError: the model failed, or its context is too small.
    """
    left, lock = iter(texts), Lock()
    done, closed = 0, False
    errors: list[BaseException] = []

    def work() -> None:
        nonlocal done
        while True:
            with lock:
                one = None if errors or closed else next(left, None)
            if one is None:
                return
            try:
                _ask(reader, *one, cache, meter)
            except BaseException as error:
                with lock:
                    errors.append(error)
                return
            with lock:
                done += 1

    workers = {beside(work) for _ in range(min(reader.concurrency, len(texts)))}
    try:
        while workers:
            workers = wait(workers, HEARTBEAT).not_done
            progress(reader.stage, done, len(texts))
    finally:
        closed = True
    if errors:
        raise errors[0]


def _ask(reader: Reader, key: str, text: str, cache: SummaryCache, meter: UsageMeter) -> None:
    """Ask about a text until a reply is usable, and cache the best reply."""
    model = reader.model
    best = Judgement("", -1, "")
    prompt_tokens = completion_tokens = 0
    wrong = ""
    for attempt in range(TRIES):
        request = reader.request(text, attempt, wrong)
        most = model.count(request.text) + request.max_tokens
        if model.context is not None and most > model.context:
            if attempt == 0:
                raise ModelError(
                    f"{most} tokens exceed the context of {model.name}, {model.context}. Increase "
                    "E2G_LLM_CONTEXT if the model allows it, or choose another model."
                )
            break  # there is no room for a longer reply
        with meter.call(reader.level, most) as call:
            reply = call.reply = ask(model, request)
        prompt_tokens += reply.prompt_tokens
        completion_tokens += reply.completion_tokens
        judged = reader.judge(reply)
        if not judged.fault or judged.value > best.value:
            best = judged
        wrong = judged.fault
        if not wrong:
            break
    cache.keep(key, best.text, model=model.name, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)


def key_of(name: str, text: str) -> str:
    """Return the key of the cache for a text, by the name of a reader."""
    return sha256(json.dumps([name, text]).encode()).hexdigest()


def read_replies(corpus: str, keys: Mapping[str, Any]) -> Operation[dict[str, str]]:
    """Read the cached replies of a corpus, by key."""
    replies: dict[str, str] = {}
    first = cached_key(corpus)
    for batch in batched(keys, REPLIES_READ):
        rows = yield Read("statements/cached", {"keys": [first + key for key in batch]})
        replies |= {row["key"].removeprefix(first): row["text"] for row in rows}
    return replies
