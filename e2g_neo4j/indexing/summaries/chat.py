"""Summaries by a chat model.

Texts that exceed the context are summarised in parts. If a reply is unusable, the request is repeated with another
wording. All summaries are cached.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import Lock

from e2g_neo4j.errors import ModelError
from e2g_neo4j.indexing.asking import SummaryCache
from e2g_neo4j.indexing.summaries.base import SummaryInput
from e2g_neo4j.models.chat.base import TooLongError
from e2g_neo4j.models.chat.prompts import delimiter_for, fault_of_empty, fill_prompt, load_prompt, text_request
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import JudgedReply, ask_metered
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.types.chat import ChatModel, ChatReply, ChatRequest, StreamingChatModel
from e2g_neo4j.types.documents import TokenSpans

PROMPTS = Path(__file__).with_name("prompts")

_ECHO = 400
"""Characters that a summary may share with the beginning of its text before it counts as a copy."""

_SORRY = re.compile(
    r"(i['’]m|i am) (very |really )?(sorry|afraid)\b.{0,40}\b(can['’]?t|cannot|unable|not able)"
    r"|(sorry|i apologi[sz]e)\b.{0,20}\bi (can['’]?t|cannot|am unable|am not able)"
    r"|i (can['’]?t|cannot|am unable to|am not able to|won['’]?t|will not)"
    r" (help|assist|comply|fulfil|summari[sz]e|provide|create|generate|process|continue|do that)"
    r"|as an ai\b",
    re.IGNORECASE,
)


class ChatSummariser:
    """Summaries by a chat model.

    Args:
        prompts: a folder with prompts that replace the bundled ones.
        budget: the maximum number of tokens of a summary. Models count words better than tokens, so the prompt asks for
            at most three words for every four tokens.
    """

    needs_sentences = False

    def __init__(
        self,
        model: ChatModel,
        cache: SummaryCache,
        meter: UsageMeter,
        *,
        prompts: Path | None = None,
        budget: int = 400,
        concurrency: int = 1,
    ) -> None:
        self._model = model
        self._cache = cache
        self._meter = meter
        self._instructions = load_prompt(PROMPTS / "summary.txt", prompts)
        self._again = load_prompt(PROMPTS / "retry.txt", prompts)
        self._budget = budget
        self.concurrency = concurrency
        identity = json.dumps([model.name, budget, self._instructions, self._again])
        self.name = f"chat-{sha256(identity.encode()).hexdigest()[:12]}"
        self._one_at_a_time: defaultdict[str, Lock] = defaultdict(Lock)
        self._lock = Lock()

    def summarise(self, prose: SummaryInput) -> SummaryInput:
        return SummaryInput(self._summary(prose.text, prose.level))

    def _summary(self, text: str, level: int) -> str:
        key = sha256(json.dumps([self.name, text]).encode()).hexdigest()
        with self._lock:
            same = self._one_at_a_time[key]
        with same:  # equal texts in two documents are paid for once
            known = self._cache.find(key)
            if known is not None:
                self._meter.count_cached(level)
                return known
            try:
                return self._write_summary(text, level, key)
            except TooLongError as error:
                parts = self._parts(text, error)
            shorter = "\n\n".join(self._summary(part, level) for part in parts)
            summary = self._summary(shorter, level)
            self._cache.keep(key, summary, model=self._model.name)
            return summary

    def _write_summary(self, text: str, level: int, key: str) -> str:
        """Request a summary. Raises TooLongError if the text does not fit, ModelError if no reply is usable."""

        def judge(reply: ChatReply) -> JudgedReply:
            summary = without_thought(reply.text).strip()
            return JudgedReply(summary, 0, fault_of(summary, reply, text, self._instructions))

        judged, used = ask_metered(self._model, partial(self._request, text), judge, self._meter, level)
        if judged.fault:
            raise ModelError(
                f"{self._model.name} wrote no summary: {judged.fault}. Index again, or choose another model."
            )
        self._cache.keep(key, judged.text, model=self._model.name, used=used)
        return judged.text

    def _request(self, text: str, attempt: int = 0, wrong: str = "") -> ChatRequest:
        """Return the request; after an unusable reply, with more tokens, another seed and the reason."""
        words = self._budget * 3 // 4
        retry = fill_prompt(self._again, fault=wrong, words=words // 2**attempt)
        return text_request(text, self._instructions, retry=retry, tokens=self._budget, attempt=attempt, words=words)

    def _parts(self, text: str, error: TooLongError) -> Sequence[str]:
        """Split a text into few parts of about equal length that fit. Raises ModelError if the context is too small."""
        tokens = self._model.count(text)
        bare = self._request("")
        room = (self._model.context or tokens) - bare.max_tokens - self._model.count(bare.text) - 100
        # Otherwise the summaries of the parts would be as long as the text.
        if room < 2 * self._budget or tokens < 2 * self._budget:
            raise ModelError(
                f"{error} This is too small for summaries of {self._budget} tokens. You may also reduce "
                "E2G_SUMMARY_TOKENS."
            ) from error
        return split(text, max(2, -(-tokens // (room * 3 // 4))))  # parts are not quite equal


def split(text: str, parts: int) -> list[str]:
    """Split a text into about equal parts, at the end of paragraphs, sentences or words if possible."""
    if parts == 1:
        return [text]
    middle = len(text) * (parts // 2) // parts
    reach = len(text) // (4 * parts)
    near = text[middle - reach : middle + reach]
    cut = middle
    for border in ("\n\n", "\n", ". ", "。", " "):
        at = near.rfind(border)
        if at >= 0:
            cut = middle - reach + at + len(border)
            break
    left, right = text[:cut], text[cut:]
    return split(left, parts // 2) + split(right, parts - parts // 2)


def fault_of(summary: str, reply: ChatReply, text: str, instructions: str) -> str:
    """Return why a reply is not a usable summary of a text; "" if it is.

    Args:
        summary: the text of the reply without thinking.
        text: the text to summarise.
        instructions: the instructions of the request.
    """
    if reply.finish == "refusal" or (_SORRY.match(summary) and summary[:40] not in text):
        return "the model refused"
    if reply.finish == "repetition":
        return "it repeated itself"
    if reply.finish == "length":
        return f"it was not finished after {reply.completion_tokens} tokens"
    if not summary:
        return fault_of_empty(reply)
    said, given = " ".join(summary.split()), " ".join(text.split())
    copied = len(given) > _ECHO and given[:_ECHO] in said
    if copied or delimiter_for(text) in summary or " ".join(instructions.split())[:80] in said:
        return "it repeated what it was given"
    return ""


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
