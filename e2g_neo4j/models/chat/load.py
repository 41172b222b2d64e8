"""Load the configured chat model."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.runtime.lazy_imports import needs, pip_install
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import StreamingChatModel

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_HOW_TO_NAME = (
    "set it to provider:NAME, such as ollama:qwen3:8b, and set what else the provider needs, such as an API key"
)


def load_chat_model(settings: Settings, given: BaseChatModel | None = None) -> StreamingChatModel | None:
    """Return the chat model to use, or None if none is configured.

    `ollama:NAME` is a model on an Ollama server. Any other `provider:NAME` is passed to langchain's `init_chat_model`.

    Args:
        given: A chat model that the caller passed in. It takes precedence.

    Raises:
        ConfigurationError: langchain or the provider's package is not installed, or the provider needs more than the
            name, such as an API key.
    """
    if given is not None:
        return _langchain_chat(given, settings)
    if settings.chat_model is None:
        return None
    provider, _, name = settings.chat_model.partition(":")
    if not name:
        raise ConfigurationError(f"E2G_CHAT_MODEL {settings.chat_model!r} has no model name: {_HOW_TO_NAME}.")
    if provider.lower() == "ollama":
        from e2g_neo4j.models.chat.ollama import OllamaChat

        return OllamaChat(
            name,
            settings.ollama_host,
            context=settings.llm_context,
            timeout=settings.llm_timeout,
            schemas=settings.llm_schemas,
        )
    return _langchain_chat(_initialise(settings.chat_model), settings)


def _langchain_chat(model: BaseChatModel, settings: Settings) -> StreamingChatModel:
    with needs("A chat model of LangChain", "langchain"):
        from e2g_neo4j.models.chat.langchain import LangChainChat

    return LangChainChat(model, context=settings.llm_context, schemas=settings.llm_schemas)


def _initialise(name: str) -> BaseChatModel:
    try:
        model: BaseChatModel = importlib.import_module("langchain.chat_models").init_chat_model(name)
    except ImportError as error:
        package = re.search(r"\blangchain-[\w-]+", str(error))  # of the provider, as langchain names it
        needed = package[0] if package else "langchain"
        raise ConfigurationError(
            f"The chat model {name!r} needs {needed}, which is not installed: run `{pip_install(needed)}`, or pass a "
            "model as E2G(chat_model=…)."
        ) from error
    except Exception as error:  # providers raise any type of error: unknown provider, no key, unknown option
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise ConfigurationError(f"Cannot use E2G_CHAT_MODEL {name!r} ({reason}): {_HOW_TO_NAME}.") from error
    return model
