"""Ask a chat model about many texts. Unusable replies are asked for again; all replies are cached."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from functools import partial
from hashlib import sha256
from threading import Lock
from typing import Any, Protocol

from e2g_neo4j.indexing.summaries.cache import SummaryCache
from e2g_neo4j.models.chat.until_usable import JudgedReply, ask_metered
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

    def judge(self, reply: ChatReply) -> JudgedReply: ...


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
    best, used = ask_metered(reader.model, partial(reader.request, text), reader.judge, meter, reader.level)
    cache.keep(key, best.text, model=reader.model.name, used=used)


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
