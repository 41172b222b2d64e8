"""Types of the service: API keys, callers and tasks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Scope: TypeAlias = Literal["read", "ask", "write", "admin"]
"""What a key may do: read (corpora, documents, evidence), ask (call the chat model), write (change corpora), admin
(keys, usage, and what reads or changes graphs of other programs)."""

TaskKind: TypeAlias = Literal[
    "index", "replace", "delete", "delete_corpus", "import", "enrich", "adopt", "unadopt", "link", "unlink"
]

TaskState: TypeAlias = Literal["queued", "running", "succeeded", "failed", "cancelled"]

ENDED: frozenset[TaskState] = frozenset(["succeeded", "failed", "cancelled"])
"""The states that a task stays in."""

OF_USERS_GRAPH: frozenset[TaskKind] = frozenset(["adopt", "unadopt", "link", "unlink"])
"""Tasks that read or change the user's graph, which no corpus walls in."""

ALL_CORPORA = "*"

LIMITS = ("expires", "requests_per_minute", "requests_per_day", "tokens_per_minute", "tokens_per_day")
"""What limits a key, besides its scopes and corpora."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a request, and what it may see and do.

    Attributes:
        key: the id of the API key; `local` where no key is needed.
        scopes: what the caller may do.
        corpora: names of corpora, prefixes such as `team-*`, or `*` for all.
        requests_per_minute: maximum number of requests per minute; None: no limit. The other limits likewise.
        expires: when the API key expires, in milliseconds since 1970, UTC; None: never, or it is no API key.
        maker: who made the API key over HTTP; None: `e2g keys create` did. What it limits, it limits together with all
            that it made.
    """

    key: str
    scopes: frozenset[Scope]
    corpora: tuple[str, ...]
    requests_per_minute: int | None = None
    requests_per_day: int | None = None
    tokens_per_minute: int | None = None
    tokens_per_day: int | None = None
    expires: int | None = None
    maker: Caller | None = None

    @property
    def line(self) -> tuple[Caller, ...]:
        """The caller, its maker, the maker of that one, and so on."""
        return (self, *self.maker.line) if self.maker else (self,)

    @property
    def account(self) -> str:
        """The id of the last of the line, whose share of the service the whole line has."""
        return self.line[-1].key

    def sees(self, corpus: str) -> bool:
        """Return whether the caller may use a corpus."""
        return any(corpus.startswith(one[:-1]) if one.endswith("*") else corpus == one for one in self.corpora)

    def covers(self, pattern: str) -> bool:
        """Return whether the caller may use every corpus of a name, a prefix such as `team-*`, or `*`."""
        if not pattern.endswith("*"):
            return self.sees(pattern)
        return any(one.endswith("*") and pattern.startswith(one[:-1]) for one in self.corpora)

    @property
    def is_graph_admin(self) -> bool:
        """Whether the caller may use the user's own graph: an administrator of all corpora."""
        return "admin" in self.scopes and ALL_CORPORA in self.corpora

    def visible(self, corpora: Iterable[str]) -> list[str]:
        """Return the corpora that the caller may use."""
        return [one for one in corpora if self.sees(one)]


LOCAL = Caller("local", frozenset(["read", "ask", "write", "admin"]), (ALL_CORPORA,))
"""The caller on the same machine while there are no keys."""


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """An API key without its secret. Times are milliseconds since 1970, UTC.

    Attributes:
        makers: the ids of who made it over HTTP, of who made that one, and so on; none: `e2g keys create` did.
    """

    id: str
    name: str
    scopes: tuple[Scope, ...]
    corpora: tuple[str, ...]
    created: int
    expires: int | None = None
    revoked: int | None = None
    requests_per_minute: int | None = None
    requests_per_day: int | None = None
    tokens_per_minute: int | None = None
    tokens_per_day: int | None = None
    makers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """A task of the queue. Times are milliseconds since 1970, UTC.

    Attributes:
        id: the id of the task.
        kind: what it does.
        corpus: the corpus that it changes.
        key: the id of the key that created it.
        state: its state.
        created: when it was created.
        started: when its last attempt began.
        ended: when it ended.
        attempt: the number of attempts so far, at most 3.
        stage: what it is doing, such as `reading`.
        done: how much of the stage is done.
        total: how much there is to do.
        tokens: tokens of the chat model that all attempts cost so far.
        prompt_tokens: tokens that the last attempt sent to the chat model, once the task has succeeded.
        completion_tokens: tokens that it received, likewise.
        cost: their cost, in the currency of the configured prices.
        result: what the client's call returned, as JSON; None in lists. Of more than 1 MiB, lists and texts are
            cut, and `left_out` counts what is missing.
        error: `{code, detail}` if it failed.
    """

    id: str
    kind: TaskKind
    corpus: str
    key: str
    state: TaskState
    created: int
    started: int | None = None
    ended: int | None = None
    attempt: int = 0
    stage: str | None = None
    done: int = 0
    total: int = 0
    tokens: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    result: dict[str, Any] | None = None
    error: dict[str, str] | None = field(default=None)


@dataclass(frozen=True, slots=True)
class TaskLease:
    """A task that a worker has taken.

    Attributes:
        task: the task.
        worker: the id of this lease. A task that another worker has taken over has another one.
        parameters: what the kind of the task needs.
        left: tokens of the chat model that the API key of the task may still use today; None: no limit.
    """

    task: TaskInfo
    worker: str
    parameters: dict[str, Any]
    left: int | None = None


@dataclass(frozen=True, slots=True)
class BlobInfo:
    """A file of a task.

    Attributes:
        file: its number, from 0.
        name: what the client calls it. Never a path on the server.
        content_type: its type as the client gave it, if at all.
        parts: the number of its parts.
    """

    file: int
    name: str
    content_type: str | None
    parts: int


@dataclass(frozen=True, slots=True)
class UsageInfo:
    """What a key used on a day, `YYYY-MM-DD` in UTC."""

    key: str
    day: str
    requests: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class ConversationInfo:
    """A conversation that the service keeps for a key. Times are milliseconds since 1970, UTC.

    Attributes:
        id: its id, which its key knows it by.
        title: its first question, or what it was renamed to; None if the key may not see all of its corpora any more.
        corpora: those that its questions are about.
        turns: the number of its turns.
        created: when it began.
        updated: when a turn was kept last.
    """

    id: str
    title: str | None
    corpora: tuple[str, ...]
    turns: int
    created: int
    updated: int
