"""Ask a chat model about many texts. Unusable replies are asked for again; all replies are cached in Neo4j, so that a
corpus never pays for the same text twice."""

from __future__ import annotations

import json
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Self, TypeAlias, TypeVar

from e2g_neo4j.indexing.layer import NotMadeError
from e2g_neo4j.models.chat.prompts import fill_prompt, load_prompt, text_request
from e2g_neo4j.models.chat.until_usable import JudgedReply, ask_metered
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.requests import Execute, GetExecutor, Operation, Read, Write
from e2g_neo4j.runtime.threads import beside
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatModel, ChatReply, ChatRequest, ChatUsage
from e2g_neo4j.types.documents import TokenSpans
from e2g_neo4j.types.ids import cache_key
from e2g_neo4j.types.reports import Progress, TokenUsage

HEARTBEAT = 0.5
"""Seconds after which progress is reported even if there is none."""

REPLIES_READ = 500
"""Cached replies that one statement reads."""


class TextTask(ABC):
    """What a chat model is asked about a text.

    Args:
        model: The chat model.
        prompts: A folder with prompts that replace the bundled ones.
        further: Prompts that are added to it.

    Attributes:
        level: Where its usage is counted. Summaries have the levels from 1.
        prompt: The bundled prompt file. What is added to a request after an unusable reply is in NAME_retry.txt.
        tokens: The expected length of a reply. The first reply may be twice as long, each further one twice as that.
        values: What the $names in the prompts are replaced with.
        schema: The JSON schema of a reply; None if it is no JSON.
        name: A name that differs between tasks whose replies would differ.
    """

    stage: ClassVar[str]
    level: ClassVar[int]
    prompt: ClassVar[Path]
    tokens: ClassVar[int]
    values: ClassVar[Mapping[str, int]]
    schema: Mapping[str, Any] | None = None

    def __init__(
        self, model: ChatModel, *, prompts: Path | None = None, concurrency: int = 1, further: Sequence[str] = ()
    ) -> None:
        self.model, self.concurrency = model, concurrency
        self._instructions = "\n\n".join([load_prompt(self.prompt, prompts), *further])
        self._again = load_prompt(self.prompt.with_name(f"{self.prompt.stem}_retry.txt"), prompts)
        identity = json.dumps([model.name, self._instructions, self._again])
        self.name = f"{self.stage}-{sha256(identity.encode()).hexdigest()[:12]}"

    @classmethod
    def of(cls, models: Models) -> Self | None:
        """Return the task for the configured chat model; None without one."""
        return cls(models.chat_model, **cls.options(models.settings)) if models.chat_model else None

    @classmethod
    def options(cls, settings: Settings) -> dict[str, Any]:
        """Return the arguments for a new task that the settings name."""
        return {"prompts": settings.prompts, "concurrency": settings.llm_concurrency}

    def request(self, text: str, attempt: int = 0, wrong: str = "") -> ChatRequest:
        """Return the request; after an unusable reply, with another seed and the reason."""
        retry = fill_prompt(self._again, fault=wrong, **self.values)
        request = text_request(
            text, self._instructions, retry=retry, tokens=self.tokens, attempt=attempt, **self.values
        )
        return replace(request, schema=self.schema)

    def estimate(self, texts: Iterable[str], token_spans: TokenSpans, usage: TokenUsage) -> None:
        """Add to the usage what it would cost to ask about texts."""
        for text in texts:
            usage.calls += 1
            usage.prompt_tokens += len(token_spans(self.request(text).text))
            usage.completion_tokens += self.tokens

    @abstractmethod
    def judge(self, reply: ChatReply) -> JudgedReply:
        """Return what a reply is worth."""

    def ask(self, key: str, text: str, cache: SummaryCache, meter: UsageMeter) -> None:
        """Ask about a text until a reply is usable, and cache the best reply."""
        best, used = self.best_reply(text, meter)
        cache.keep(key, best, model=self.model.name, used=used)

    def best_reply(self, text: str, meter: UsageMeter) -> tuple[str, ChatUsage]:
        """Return the usable reply to a text, or the best of the others, and what all calls used."""
        best, used = ask_metered(self.model, partial(self.request, text), self.judge, meter, self.level)
        return best.text, used


def ask_about(
    task: TextTask, texts: Sequence[tuple[str, str]], cache: SummaryCache, meter: UsageMeter, progress: Progress
) -> None:
    """Ask about texts, in threads. The replies are in the cache, also of those that were running at an error.

    Args:
        task: what is asked.
        texts: keys of the cache, and the texts.
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
                task.ask(*one, cache, meter)
            except BaseException as error:
                with lock:
                    errors.append(error)
                return
            with lock:
                done += 1

    workers = {beside(work) for _ in range(min(task.concurrency, len(texts)))}
    try:
        while workers:
            workers = wait(workers, HEARTBEAT).not_done
            progress(task.stage, done, len(texts))
    finally:
        closed = True
    if errors:
        raise errors[0]


def key_of(name: str, text: str) -> str:
    """Return the key of the cache for a text, by the name of a task."""
    return sha256(json.dumps([name, text]).encode()).hexdigest()


def read_replies(corpus: str, keys: Mapping[str, Any]) -> Operation[dict[str, str]]:
    """Read the cached replies of a corpus, by key."""
    replies: dict[str, str] = {}
    first = cache_key(corpus)
    for batch in split_batches(keys, REPLIES_READ):
        rows = yield Read("statements/cached", {"keys": [first + key for key in batch]})
        replies |= {row["key"].removeprefix(first): row["text"] for row in rows}
    return replies


class SummaryCache:
    """Summaries of a corpus by key. They are stored in the database before they are used."""

    def __init__(self, perform: Execute, corpus: str, *, read_only: bool = False) -> None:
        self._perform = perform
        self._corpus = corpus
        self._read_only = read_only
        self._made: dict[str, str] = {}

    def find(self, key: str) -> str | None:
        """Return a cached summary, or None."""
        if key in self._made:
            return self._made[key]
        rows = self._perform(Read("index/cached_summary", {"key": cache_key(self._corpus, key)}))
        if rows:
            self._made[key] = rows[0]["text"]
        return self._made.get(key)

    def keep(self, key: str, text: str, *, model: str = "", used: ChatUsage | None = None) -> None:
        """Store a summary, with the tokens that it took."""
        self._made[key] = text
        if self._read_only:
            return
        used = used or ChatUsage()
        values = {"model": model, "prompt_tokens": used.prompt_tokens, "completion_tokens": used.completion_tokens}
        parameters = {"key": cache_key(self._corpus, key), "corpus": self._corpus, "text": text, **values}
        self._perform(Write((("index/cache_summary", parameters),)))


Replies: TypeAlias = Callable[[Mapping[str, str]], Operation[Mapping[str, str]]]
"""Returns replies to texts, by the keys of the cache."""

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class CachedReplies:
    """The replies of one task.

    Attributes:
        names: the names of the tasks whose cached replies count, the one to ask last.
        ask: returns replies that are not cached.
    """

    corpus: str
    names: Sequence[str]
    ask: Replies

    def read(self, texts: Mapping[K, str]) -> Operation[tuple[dict[K, str], int]]:
        """Return the reply to each text, and how many were cached."""
        keys = {one: [key_of(name, text) for name in self.names] for one, text in texts.items()}
        replies = yield from read_replies(self.corpus, dict.fromkeys(key for each in keys.values() for key in each))
        missing = {keys[one][-1]: text for one, text in texts.items() if replies.keys().isdisjoint(keys[one])}
        cached = len({tuple(each) for each in keys.values()}) - len(missing)
        if missing:
            replies |= yield from self.ask(missing)
        return {one: next(replies[key] for key in each if key in replies) for one, each in keys.items()}, cached


def ask_model(corpus: str, task: TextTask | None, meter: UsageMeter, progress: Progress) -> Replies:
    """Return a function that asks a chat model. Without a task, it raises NotMadeError."""

    def ask(missing: Mapping[str, str]) -> Operation[Mapping[str, str]]:
        if task is None:
            raise NotMadeError(
                f"A chat model writes the reports of the corpus {corpus!r}, and none is configured: set "
                "E2G_CHAT_MODEL, such as ollama:NAME, or run `e2g enrich --with communities --reports extractive "
                f"--corpus {shlex.quote(corpus)}`."
            )
        execute = (yield GetExecutor()).execute
        ask_about(task, list(missing.items()), SummaryCache(execute, corpus), meter, progress)
        return (yield from read_replies(corpus, missing))

    return ask


def estimate_usage(task: TextTask, field: str, token_spans: TokenSpans, usage: TokenUsage) -> Replies:
    """Return a function that asks nothing, but adds to the usage what it would cost. Its replies have the expected
    length, in this field, and differ, as those that are made of them must."""

    def ask(missing: Mapping[str, str]) -> Operation[Mapping[str, str]]:
        task.estimate(missing.values(), token_spans, usage)
        return {key: json.dumps({field: " ".join([key[:12], *["word"] * task.tokens])}) for key in missing}
        yield

    return ask
