"""Ask a chat model what parts of a text state. Unusable replies are asked for again; all replies are cached."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from concurrent.futures import wait
from hashlib import sha256
from pathlib import Path
from threading import Lock

from e2g_neo4j.errors import ModelError
from e2g_neo4j.indexing.statements.replies import parse
from e2g_neo4j.indexing.summaries.cache import SummaryCache
from e2g_neo4j.indexing.summaries.chat import TRIES
from e2g_neo4j.models.chat.prompts import delimited, delimiter_for, filled, load_prompt
from e2g_neo4j.models.chat.retry import ask
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.runtime.threads import beside
from e2g_neo4j.types.chat import ChatModel, ChatReply, ChatRequest
from e2g_neo4j.types.reports import Progress

PROMPTS = Path(__file__).with_name("prompts")

MOST = 16
"""Statements that the prompt asks for at most."""

REPLY_TOKENS = 600
"""The expected length of a reply, for plans. The first reply may be twice as long, each further one twice as that."""

LEVEL = 0
"""Where the usage of the chat model for statements is counted. Summaries have the levels from 1."""

HEARTBEAT = 0.5
"""Seconds after which progress is reported even if there is none."""


class StatementExtractor:
    """Asks a chat model what texts state.

    Args:
        model: the chat model.
        prompts: a folder with prompts that replace the bundled ones.
        concurrency: the maximum number of concurrent calls.
    """

    def __init__(self, model: ChatModel, *, prompts: Path | None = None, concurrency: int = 1) -> None:
        self._model = model
        self._instructions = load_prompt(PROMPTS / "statements.txt", prompts)
        self._again = load_prompt(PROMPTS / "statements_retry.txt", prompts)
        self._concurrency = concurrency
        identity = json.dumps([model.name, self._instructions, self._again])
        self.name = f"statements-{sha256(identity.encode()).hexdigest()[:12]}"

    def request(self, text: str, attempt: int = 0, wrong: str = "") -> ChatRequest:
        """Return the request; after an unusable reply, with more tokens, another seed and the reason."""
        fence = delimiter_for(text)
        user = delimited(text, fence)
        if attempt:
            user += "\n\n" + filled(self._again, fault=wrong, most=MOST)
        return ChatRequest(
            filled(self._instructions, fence=fence, most=MOST),
            user,
            max_tokens=2 * REPLY_TOKENS * 2**attempt,
            temperature=0.7 if attempt else 0.0,
            seed=attempt,
        )

    def ask(self, texts: Sequence[tuple[str, str]], cache: SummaryCache, meter: UsageMeter, progress: Progress) -> None:
        """Ask about texts, in threads. The replies are in the cache, also of those that were running at an error.

        Args:
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
                    self._ask(*one, cache, meter)
                except BaseException as error:
                    with lock:
                        errors.append(error)
                    return
                with lock:
                    done += 1

        workers = {beside(work) for _ in range(min(self._concurrency, len(texts)))}
        try:
            while workers:
                workers = wait(workers, HEARTBEAT).not_done
                progress("statements", done, len(texts))
        finally:
            closed = True
        if errors:
            raise errors[0]

    def _ask(self, key: str, text: str, cache: SummaryCache, meter: UsageMeter) -> None:
        """Ask about a text until a reply is usable, and cache the best reply."""
        wrong, kept, most_claims = "", "", -1
        prompt_tokens = completion_tokens = 0
        for attempt in range(TRIES):
            request = self.request(text, attempt, wrong)
            most = self._model.count(request.text) + request.max_tokens
            if self._model.context is not None and most > self._model.context:
                if attempt == 0:
                    raise ModelError(
                        f"{most} tokens exceed the context of {self._model.name}, {self._model.context}. Increase "
                        "E2G_LLM_CONTEXT if the model allows it, or choose another model."
                    )
                break  # there is no room for a longer reply
            with meter.call(LEVEL, most) as call:
                reply = call.reply = ask(self._model, request)
            prompt_tokens += reply.prompt_tokens
            completion_tokens += reply.completion_tokens
            said = _finished_lines(reply)
            if (claims := len(parse(said).claims)) > most_claims:
                kept, most_claims = said, claims
            wrong = fault_of(said, reply)
            if not wrong:
                break
        cache.keep(key, kept, model=self._model.name, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)


def key_of(name: str, text: str) -> str:
    """Return the key of the cache for a text, by the name of an extractor."""
    return sha256(json.dumps([name, text]).encode()).hexdigest()


def keys_of(names: Iterable[str], text: str) -> list[str]:
    """Return the keys of the cache for a text, by the names of several extractors."""
    return [key_of(name, text) for name in names]


def fault_of(said: str, reply: ChatReply) -> str:
    """Return why a reply is not a usable list of statements; "" if it is.

    Args:
        said: the lines of the reply that are finished, without thinking.
        reply: the reply.
    """
    parsed = parse(said)
    if reply.finish == "length" and len(parsed.claims) < MOST:
        return f"it was not finished after {reply.completion_tokens} tokens"
    if parsed.usable:
        return ""
    if reply.finish == "refusal":
        return "the model refused"
    if not said:
        thought = reply.thinking or reply.text.strip()
        return "it returned no text but only its thinking" if thought else "it returned no text"
    return "no line has a subject, a predicate and an object with bars between them"


def _finished_lines(reply: ChatReply) -> str:
    """Return the text of a reply without thinking, and without a last line that was cut off."""
    said = without_thought(reply.text).strip()
    return said.rpartition("\n")[0] if reply.finish == "length" else said
