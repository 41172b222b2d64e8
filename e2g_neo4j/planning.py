"""What indexing would cost, found out by going through the motions without the chat model."""

from __future__ import annotations

from hashlib import sha256

from e2g_neo4j.chat.chatting import ChatModel, ChatReply, ChatRequest
from e2g_neo4j.model import TokenSpans


class Rehearsal:
    """Stands in for a chat model: under its name, so that summaries that it wrote before are found, with replies as
    long as a summary may be.

    Args:
        model: the one that will be asked.
        token_spans: the tokenizer that prompts are counted with.
        summary_tokens: of each reply.
    """

    def __init__(self, model: ChatModel, token_spans: TokenSpans, summary_tokens: int) -> None:
        self.name = model.name
        self.context = model.context
        self._token_spans = token_spans
        self._summary_tokens = summary_tokens

    def count(self, text: str) -> int:
        return len(self._token_spans(text))

    def ask(self, request: ChatRequest) -> ChatReply:
        # No two replies are equal, or the level above would seem to be known.
        name = sha256(request.text.encode()).hexdigest()[:12]
        text = " ".join([name, *["word"] * self._summary_tokens])
        return ChatReply(text, "stop", self.count(request.text), self._summary_tokens)
