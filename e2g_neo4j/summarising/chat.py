"""Summaries by a chat model: what fits is asked for at once, what does not in parts; what cannot be used is asked for
again in other words; what was ever written is remembered."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock

from e2g_neo4j.chat.chatting import Askable, ChatReply, ChatRequest, TooLongError, ask
from e2g_neo4j.chat.prompting import fence_for, fenced, filled, load_prompt
from e2g_neo4j.chat.spending import Meter
from e2g_neo4j.errors import ModelError
from e2g_neo4j.summarising.cache import SummaryCache
from e2g_neo4j.summarising.tree import Prose

TRIES = 3
"""Requests for one summary, each worded otherwise than the one before, until a reply can be used."""

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
_THOUGHT = re.compile(r"\A\s*<think(ing)?>.*?(</think(ing)?>|\Z)", re.DOTALL)


class ChatSummariser:
    """Summaries by a chat model.

    Args:
        model: the chat model.
        cache: where summaries are remembered.
        meter: counts what they cost.
        prompts: a folder with prompts that replace the bundled ones.
        budget: tokens that a summary may have. Models count words better than tokens, so the prompt asks for at
            most three words for every four tokens.
        concurrency: calls under way at once.
    """

    needs_sentences = False

    def __init__(
        self,
        model: Askable,
        cache: SummaryCache,
        meter: Meter,
        *,
        prompts: Path | None = None,
        budget: int = 400,
        concurrency: int = 1,
    ) -> None:
        self._model = model
        self._cache = cache
        self._meter = meter
        self._instructions = load_prompt("summary", prompts)
        self._again = load_prompt("again", prompts)
        self._budget = budget
        self.concurrency = concurrency
        told = json.dumps([model.name, budget, self._instructions, self._again])
        self.name = f"chat-{sha256(told.encode()).hexdigest()[:12]}"
        self._one_at_a_time: defaultdict[str, Lock] = defaultdict(Lock)
        self._lock = Lock()

    def summarise(self, prose: Prose) -> Prose:
        return Prose(self._summary(prose.text, prose.level))

    def _summary(self, text: str, level: int) -> str:
        key = sha256(json.dumps([self.name, text]).encode()).hexdigest()
        with self._lock:
            same = self._one_at_a_time[key]
        with same:  # equal texts in two documents are paid for once
            known = self._cache.find(key)
            if known is not None:
                self._meter.remembered(level)
                return known
            try:
                return self._written(text, level, key)
            except TooLongError as error:
                parts = self._parts(text, error)
            shorter = "\n\n".join(self._summary(part, level) for part in parts)
            summary = self._summary(shorter, level)
            self._cache.keep(key, summary, model=self._model.name)
            return summary

    def _written(self, text: str, level: int, key: str) -> str:
        """A summary of a text that fits. Raises TooLongError where it does not, ModelError where none can be had."""
        wrong = ""
        prompt_tokens = completion_tokens = 0
        for attempt in range(TRIES):
            request = self._request(text, attempt, wrong)
            most = self._model.count(request.text) + request.max_tokens
            if self._model.context is not None and most > self._model.context:
                if attempt == 0:
                    raise TooLongError(f"{most} tokens do not fit into the {self._model.context} of the model.")
                break  # there is no room for a longer reply
            with self._meter.call(level, most) as call:
                reply = call.reply = ask(self._model, request)
            prompt_tokens += reply.prompt_tokens
            completion_tokens += reply.completion_tokens
            summary = _THOUGHT.sub("", reply.text).strip()
            wrong = fault_of(summary, reply, text, self._instructions)
            if not wrong:
                self._cache.keep(
                    key,
                    summary,
                    model=self._model.name,
                    prompt_tokens=prompt_tokens,
                    completion_tokens=completion_tokens,
                )
                return summary
        raise ModelError(f"{self._model.name} wrote no summary: {wrong}. Index again, or choose another model.")

    def _request(self, text: str, attempt: int, wrong: str) -> ChatRequest:
        """The request, and after a reply that could not be used one with more room, another seed and a remark."""
        fence = fence_for(text)
        words = self._budget * 3 // 4
        user = fenced(text, fence)
        if attempt:
            user += "\n\n" + filled(self._again, fault=wrong, words=words // 2**attempt)
        return ChatRequest(
            filled(self._instructions, fence=fence, words=words),
            user,
            max_tokens=2 * self._budget * 2**attempt,
            temperature=0.7 if attempt else 0.0,
            seed=attempt,
        )

    def _parts(self, text: str, error: TooLongError) -> Sequence[str]:
        """As few parts of the text, about equally long, as fit. Raises ModelError where that leads nowhere."""
        tokens = self._model.count(text)
        bare = self._request("", 0, "")
        room = (self._model.context or tokens) - bare.max_tokens - self._model.count(bare.text) - 100
        # Otherwise the summaries of the parts would be as long as the text.
        if room < 2 * self._budget or tokens < 2 * self._budget:
            raise ModelError(
                f"{error} That is too little for summaries of {self._budget} tokens: set E2G_LLM_CONTEXT higher where "
                "the model allows, or E2G_SUMMARY_TOKENS lower."
            ) from error
        return split(text, max(2, -(-tokens // (room * 3 // 4))))  # parts are not quite equal


def split(text: str, parts: int) -> list[str]:
    """A text in about equal parts, cut at paragraphs, sentences or words, wherever one ends in time."""
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
    """Why a reply is no summary of a text; "" for one that is."""
    if reply.finish == "refusal" or (_SORRY.match(summary) and summary[:40] not in text):
        return "the model refused"
    if reply.finish == "length":
        return f"it was not finished after {reply.completion_tokens} tokens"
    if not summary:
        return (
            "it returned no text but only its thinking"
            if reply.thinking or reply.text.strip()
            else "it returned no text"
        )
    said, given = " ".join(summary.split()), " ".join(text.split())
    copied = len(given) > _ECHO and given[:_ECHO] in said
    if copied or fence_for(text) in summary or " ".join(instructions.split())[:80] in said:
        return "it repeated what it was given"
    return ""
