"""Chat models of langchain-core."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import reduce
from hashlib import sha256
from operator import add
from typing import Any, Literal, TypeAlias

from langchain_core.exceptions import ContextOverflowError
from langchain_core.exceptions import ModelError as LangChainModelError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, BaseMessageChunk, HumanMessage, SystemMessage
from langchain_core.messages.ai import UsageMetadata

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.chat.base import RetryableError, TokenEstimator, TooLongError, first_line, seconds_in
from e2g_neo4j.types.chat import ChatReply, ChatRequest, Finish

_TRUNCATED = {"length", "max_tokens", "model_length"}
_REFUSED = {"content_filter", "refusal", "safety", "prohibited_content", "blocklist"}
_TRANSIENT = {"TransportError", "APIConnectionError", "RateLimitError", "ThrottlingException"}
_RETRYABLE = {408, 409, 425, 429, 500, 502, 503, 504, 529}
_UNSUPPORTED = {400, 415, 422, 501}

Form: TypeAlias = Literal["json_schema", "json_mode"] | None
"""How a reply is held to JSON."""

_FORMS: tuple[Form, ...] = ("json_schema", "json_mode", None)

logger = logging.getLogger(__name__)


class LangChainChat:
    """A chat model of langchain-core. Its own temperature, limits and timeouts apply.

    Args:
        context: Maximum number of tokens of prompt and reply. Default: from the model's profile, if it has one.
        schemas: Whether replies are held to the schema of their request.
    """

    def __init__(self, model: BaseChatModel, *, context: int | None = None, schemas: bool = True) -> None:
        self._model = model
        self._form: Form = _FORMS[0] if schemas else None
        self.context = context or (model.profile or {}).get("max_input_tokens")
        self._estimator = TokenEstimator(0.3)  # tokens per byte: about right for Chinese, high for English
        params = sorted((key, value) for key, value in model._get_ls_params().items() if value is not None)
        self.name = (
            f"{dict(params).get('ls_model_name') or model._llm_type}-{sha256(repr(params).encode()).hexdigest()[:12]}"
        )

    def count(self, text: str) -> int:
        return self._estimator.count(text)

    def ask(self, request: ChatRequest) -> ChatReply:
        for form in self._forms(request):
            try:
                message = _raw(self._bind(request, form).invoke(_messages(request)))
            except Exception as error:
                if (found := self._message_in(error, form)) is None:
                    continue
                message = found
            return self._reply(request, message, form)
        raise AssertionError("unreachable")

    async def ask_async(self, request: ChatRequest) -> ChatReply:
        for form in self._forms(request):
            try:
                message = _raw(await self._bind(request, form).ainvoke(_messages(request)))
            except Exception as error:
                if (found := self._message_in(error, form)) is None:
                    continue
                message = found
            return self._reply(request, message, form)
        raise AssertionError("unreachable")

    def stream(self, request: ChatRequest) -> Iterator[str | ChatReply]:
        if request.schema:
            yield self.ask(request)
            return
        received = []
        try:
            for chunk in self._bind(request, None).stream(_messages(request)):
                received.append(chunk)
                if chunk.text:
                    yield str(chunk.text)
        except Exception as error:
            raise _translate_error(error) from error
        yield self._reply(request, _message(received))

    async def stream_async(self, request: ChatRequest) -> AsyncIterator[str | ChatReply]:
        if request.schema:
            yield await self.ask_async(request)
            return
        received = []
        try:
            async for chunk in self._bind(request, None).astream(_messages(request)):
                received.append(chunk)
                if chunk.text:
                    yield str(chunk.text)
        except Exception as error:
            raise _translate_error(error) from error
        yield self._reply(request, _message(received))

    def _forms(self, request: ChatRequest) -> tuple[Form, ...]:
        """Return how a reply may be held to JSON: as before, or more loosely, if the server refuses this."""
        return _FORMS[_FORMS.index(self._form) :] if request.schema else (None,)

    def _bind(self, request: ChatRequest, form: Form) -> Any:
        if request.schema and form:
            try:
                return self._model.with_structured_output(dict(request.schema), method=form, include_raw=True)
            except (NotImplementedError, TypeError, ValueError):  # the model has no such method
                return self._model
        if request.logprobs and "top_logprobs" in type(self._model).model_fields:
            return self._model.bind(logprobs=True, top_logprobs=20)
        return self._model

    def _message_in(self, error: Exception, form: Form) -> BaseMessage | None:
        """Return the message that an error of a provider is about: one that was cut off, or refused. None if the server
        refuses to hold a reply to JSON like this, but perhaps not more loosely. Raise the error otherwise."""
        if getattr(error, "code", None) in _REFUSED or type(error).__name__ == "ContentFilterFinishReasonError":
            return AIMessage("", response_metadata={"finish_reason": "content_filter"})
        if completion := getattr(error, "completion", None):  # of OpenAI's package
            used = completion.usage
            return AIMessage(
                completion.choices[0].message.content or "",
                response_metadata={"finish_reason": "length"},
                usage_metadata=used
                and UsageMetadata(
                    input_tokens=used.prompt_tokens,
                    output_tokens=used.completion_tokens,
                    total_tokens=used.total_tokens,
                ),
            )
        translated = _translate_error(error)
        if form and type(translated) is ModelError and getattr(error, "status_code", None) in _UNSUPPORTED:
            return None
        raise translated from error

    def _reply(self, request: ChatRequest, message: BaseMessage, form: Form = None) -> ChatReply:
        if request.schema and _FORMS.index(form) > _FORMS.index(self._form):
            logger.warning(
                "The server of %s refuses JSON schemas: replies are held to %s from now on. E2G_LLM_SCHEMAS=false asks "
                "for none.",
                self.name,
                "JSON" if form else "nothing",
            )
            self._form = form
        usage = message.usage_metadata if isinstance(message, AIMessage) else None
        prompt_tokens = usage["input_tokens"] if usage else 0
        if self._estimator.is_truncated(request.text, prompt_tokens):
            words = len(request.text.split())
            raise ModelError(
                f"{self.name} read {prompt_tokens} tokens of a prompt of {words} words: its server truncates prompts. "
                f"Set a longer context (num_ctx of ChatOllama), or set E2G_LLM_CONTEXT to {prompt_tokens}."
            )
        if prompt_tokens:
            self._estimator.learn(request.text, prompt_tokens)
        text = str(message.text) or str(message.additional_kwargs.get("refusal") or "")
        return ChatReply(
            text=text,
            finish=_finish(message),
            prompt_tokens=prompt_tokens or self.count(request.text),
            completion_tokens=usage["output_tokens"] if usage else self.count(text),
            thinking=_extract_thoughts(message),
            logprobs=_logprobs(message.response_metadata),
        )


def _raw(reply: Any) -> BaseMessage:
    """Return the message of a reply, of which a structured one is a part."""
    message: BaseMessage = reply["raw"] if isinstance(reply, dict) else reply
    return message


def _message(chunks: Sequence[BaseMessageChunk]) -> BaseMessage:
    """Join the chunks of a streamed message. Raise RetryableError if there are none."""
    if not chunks:
        raise RetryableError("the model sent an empty stream")
    message = reduce(add, chunks)
    if message.response_metadata.get("model_provider") == "openai" and not _reasons(message):
        message.response_metadata["finish_reason"] = "length"  # a server that has not failed says why it ended
    return message


def _messages(request: ChatRequest) -> list[BaseMessage]:
    earlier = [
        HumanMessage(message.text) if message.role == "user" else AIMessage(message.text) for message in request.earlier
    ]
    system = [SystemMessage(request.system)] if request.system else []
    return [*system, *earlier, HumanMessage(request.user)]


def _finish(message: BaseMessage) -> Finish:
    reported = _reasons(message)
    if reported & _REFUSED or message.additional_kwargs.get("refusal"):
        return "refusal"
    return "length" if reported & _TRUNCATED else "stop"


def _reasons(message: BaseMessage) -> set[str]:
    reasons = map(message.response_metadata.get, ("finish_reason", "stop_reason", "done_reason"))
    return {str(reason).lower() for reason in reasons if reason}


def _extract_thoughts(message: BaseMessage) -> str:
    blocks = message.content if isinstance(message.content, list) else []
    thoughts = [block.get("reasoning") or block.get("thinking") for block in blocks if isinstance(block, dict)]
    return "".join(
        str(thought) for thought in [*thoughts, message.additional_kwargs.get("reasoning_content")] if thought
    )


def _logprobs(metadata: Mapping[str, Any]) -> tuple[Mapping[str, float], ...]:
    """Return the log-probabilities of each token's alternatives. Some APIs, like OpenAI's, wrap them."""
    logprobs = metadata.get("logprobs") or []
    tokens = logprobs.get("content") or [] if isinstance(logprobs, Mapping) else logprobs
    return tuple({one["token"]: one["logprob"] for one in token.get("top_logprobs") or [token]} for token in tokens)


def _translate_error(error: Exception) -> Exception:
    """Translate an error. Errors of langchain-core state whether they are transient; others by HTTP status or type."""
    reason = first_line(error)
    if isinstance(error, ContextOverflowError):
        return TooLongError(f"the prompt does not fit into the model's context ({reason}). Set E2G_LLM_CONTEXT.")
    return retryable(error) or ModelError(f"the chat model failed ({reason}). Check E2G_CHAT_MODEL and its server.")


def retryable(error: Exception) -> RetryableError | None:
    """Return the error to raise for one of a provider that is transient, or None."""
    causes = [error, *([error.__cause__] if isinstance(error.__cause__, Exception) else [])]
    for cause in causes:
        if _is_transient(cause):
            headers = getattr(getattr(cause, "response", None), "headers", None)
            return RetryableError(first_line(error), seconds_in(headers))
    return None


def _is_transient(error: Exception) -> bool:
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):  # of boto3
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    else:
        codes = [getattr(error, name, None) for name in ("status_code", "code")]  # `code` in Google's packages
        status = next((code for code in codes if isinstance(code, int)), getattr(response, "status_code", None))
    if isinstance(error, LangChainModelError) and getattr(error, "is_retryable", False):
        return True
    named = any(kind.__name__ in _TRANSIENT for kind in type(error).__mro__)
    return status in _RETRYABLE or named or isinstance(error, ConnectionError | TimeoutError | UnicodeDecodeError)
