"""Estimate the cost of indexing without calling the chat model."""

from __future__ import annotations

from hashlib import sha256

from e2g_neo4j.types.chat import ChatReply, ChatRequest, StreamingChatModel
from e2g_neo4j.types.documents import TokenSpans


class DryRunChatModel:
    """Replaces a chat model. It has the same name, so cached summaries are found, and replies of the maximum length.

    Args:
        model: the chat model that it replaces.
        token_spans: the tokenizer that counts prompts.
        summary_tokens: the length of each reply.
    """

    def __init__(self, model: StreamingChatModel, token_spans: TokenSpans, summary_tokens: int) -> None:
        self.name = model.name
        self.context = model.context
        self._token_spans = token_spans
        self._summary_tokens = summary_tokens

    def count(self, text: str) -> int:
        return len(self._token_spans(text))

    def ask(self, request: ChatRequest) -> ChatReply:
        # Replies must differ, or summaries of the next level would be found in the cache.
        name = sha256(request.text.encode()).hexdigest()[:12]
        text = " ".join([name, *["word"] * self._summary_tokens])
        return ChatReply(text, "stop", self.count(request.text), self._summary_tokens)
