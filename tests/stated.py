"""A scripted chat model that states something about texts, for tests without a server for chat models."""

from __future__ import annotations

from libraries import MODELS

from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatReply, ChatRequest


class Model:
    """A chat model that gives the first of the replies whose word is in the text, and records what it was asked."""

    context: int | None = None

    def __init__(self, replies: dict[str, str | list[str]], name: str = "model") -> None:
        self.name, self.replies = name, replies
        self.requests: list[ChatRequest] = []

    def count(self, text: str) -> int:
        return len(text.split())

    def ask(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        reply: str | list[str] = next((reply for word, reply in self.replies.items() if word in request.user), "NONE")
        text = reply if isinstance(reply, str) else reply[min(request.seed, len(reply) - 1)]
        return ChatReply(text, "stop", self.count(request.text), self.count(text))


class Models:
    """What makes statements without real models."""

    embedder = MODELS.embedder

    def __init__(self, model: Model | None) -> None:
        self.chat_model = model
        self.settings = Settings(llm_concurrency=1, price_prompt=1.0, price_completion=2.0)
