"""From evidence to an answer: what a chat model is told."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from e2g_neo4j.errors import ConfigurationError, ModelError
from e2g_neo4j.model import Answer, Evidence
from e2g_neo4j.queries import Chat, Story
from e2g_neo4j.settings import Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

_INSTRUCTIONS = Path(__file__).with_name("prompts") / "answer.txt"


def prompt_for(evidence: Evidence) -> list[BaseMessage]:
    """The messages that ask a chat model to answer from numbered evidence, and from nothing else."""
    from langchain_core.messages import HumanMessage, SystemMessage

    numbered = "\n\n".join(
        f"[{number}] {passage.document}\n{passage.labelled()}" for number, passage in enumerate(evidence.passages, 1)
    )
    return [
        SystemMessage(_INSTRUCTIONS.read_text(encoding="utf-8")),
        HumanMessage(f"<evidence>\n{numbered}\n</evidence>\n\nQuestion: {evidence.question}"),
    ]


def answer(evidence: Evidence, model: BaseChatModel | None) -> Story[Answer]:
    """Ask the chat model, if there is one. Raises ModelError when it says nothing."""
    if model is None:
        return Answer(None, evidence)
    message = yield Chat(model, prompt_for(evidence))
    text = message.text.strip()
    if not text:
        raise ModelError("The chat model returned no text: try again, or set another E2G_CHAT_MODEL.")
    return Answer(text, evidence)


def load_chat_model(settings: Settings) -> BaseChatModel | None:
    """The chat model that the settings name as `provider:NAME`, by langchain's `init_chat_model`; None without one.

    Raises ConfigurationError where langchain or the provider's package is not installed.
    """
    if settings.chat_model is None:
        return None
    try:
        make = importlib.import_module("langchain.chat_models").init_chat_model
        model: BaseChatModel = make(settings.chat_model)
    except ImportError as error:
        raise ConfigurationError(
            f"The chat model {settings.chat_model!r} needs a package that is missing ({error}): run "
            "`pip install langchain langchain-PROVIDER`, or hand E2G(chat_model=…) a model of your own."
        ) from error
    except ValueError as error:
        raise ConfigurationError(
            f"E2G_CHAT_MODEL {settings.chat_model!r} cannot be used ({error}): write provider:NAME."
        ) from error
    return model
