"""A scripted chat model that states something about texts, for tests without a server for chat models."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from libraries import MODELS

from e2g_neo4j import E2G
from e2g_neo4j.graph.fingerprint import read_models
from e2g_neo4j.indexing.communities.layer import COMMUNITIES
from e2g_neo4j.indexing.statements.layer import STATEMENTS
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.runtime.requests import CallDriver, Operation, with_vectors
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatReply, ChatRequest

MODEL = "stated"
"""The model's name, by which replies are cached."""


def statements(lines: str) -> str:
    """The reply that states lines of subject | predicate | object | description | keywords | strength, with types,
    status and period."""
    fields = "subject predicate object description keywords strength subject_type object_type status period"
    names = fields.split()
    rows = [dict(zip(names, map(str.strip, line.split("|")), strict=False)) for line in lines.splitlines()]
    return json.dumps({"statements": [] if lines == "NONE" else rows})


class Model:
    """A chat model that gives the first of the replies whose word is in the text, and records what it was asked."""

    context: int | None = None

    def __init__(self, replies: dict[str, str | list[str]], name: str = MODEL) -> None:
        self.name, self.replies = name, replies
        self.requests: list[ChatRequest] = []

    def count(self, text: str) -> int:
        return len(text.split())

    def ask(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        reply: str | list[str] = next((reply for word, reply in self.replies.items() if word in request.user), "NONE")
        text = reply if isinstance(reply, str) else reply[min(request.seed, len(reply) - 1)]
        text = statements(text) if "|" in text or text == "NONE" else text
        return ChatReply(text, "stop", self.count(request.text), self.count(text))


class Models:
    """What makes statements without real models."""

    embedder, language = MODELS.embedder, MODELS.language

    def __init__(self, model: Model | None, *, gleanings: int = 0, claims: bool = False) -> None:
        self.chat_model = model
        self.settings = Settings(
            llm_concurrency=1, price_prompt=1.0, price_completion=2.0, gleanings=gleanings, claims=claims
        )


def state(client: E2G, corpus: str, *, forget: bool = True) -> None:
    """Make statements of a corpus, about the entities that most chunks mention, and forget the replies."""
    client.migrate(["statements"])
    keys = [one.key for one in client.entities(corpus=corpus, limit=12)]
    more = "places | 3 | person | place | suspected | in May"
    lines = [f"{a} | is near | {b} | {a} is near {b}. | {more}" for a, b in pairwise(keys)]
    models: Any = Models(
        Model({"": "\n".join([*lines, f"{keys[0]} | is | - | There is {keys[0]}."]) if keys else "NONE"})
    )
    own = client.runner.run(read_models(client.models, corpus))
    models.embedder = own.models.embedder
    client.runner.run(with_vectors(STATEMENTS.enrich(models, corpus, None, UsageMeter()), own.vectors))
    client.runner.run(with_vectors(COMMUNITIES.update(own.models, corpus), own.vectors))
    if forget:
        client.runner.run(_forget(corpus))


def _forget(corpus: str) -> Operation[None]:
    statement = "MATCH (s:CachedSummary) WHERE s.corpora = [$corpus] AND s.model = $model DELETE s"
    yield CallDriver(lambda driver, name: driver.execute_query(statement, corpus=corpus, model=MODEL, database_=name))
