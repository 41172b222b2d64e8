"""Replies of a chat model about communities, which is asked only for those that are not cached."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from e2g_neo4j.indexing.asking import SummaryCache, TextTask, ask_about, key_of, read_replies
from e2g_neo4j.indexing.layer import RepliesMissingError
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.runtime.requests import GetExecutor, Operation
from e2g_neo4j.types.documents import TokenSpans
from e2g_neo4j.types.reports import Progress, TokenUsage

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


def asking(corpus: str, task: TextTask | None, meter: UsageMeter, progress: Progress) -> Replies:
    """Return a function that asks a chat model. Without a task, it raises RepliesMissingError."""

    def ask(missing: Mapping[str, str]) -> Operation[Mapping[str, str]]:
        if task is None:
            raise RepliesMissingError(
                f"A chat model writes the reports of the corpus {corpus!r}, and none is configured: set "
                "E2G_CHAT_MODEL, such as ollama:NAME, or run `e2g enrich --with communities --reports extractive "
                f"--corpus {shlex.quote(corpus)}`."
            )
        execute = (yield GetExecutor()).execute
        ask_about(task, list(missing.items()), SummaryCache(execute, corpus), meter, progress)
        return (yield from read_replies(corpus, missing))

    return ask


def estimating(task: TextTask, field: str, token_spans: TokenSpans, usage: TokenUsage) -> Replies:
    """Return a function that asks nothing, but adds to the usage what it would cost. Its replies have the expected
    length, in this field, and differ, as those that are made of them must."""

    def ask(missing: Mapping[str, str]) -> Operation[Mapping[str, str]]:
        task.estimate(missing.values(), token_spans, usage)
        return {key: json.dumps({field: " ".join([key[:12], *["word"] * task.tokens])}) for key in missing}
        yield

    return ask
