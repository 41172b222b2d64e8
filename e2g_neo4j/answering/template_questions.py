"""Run a Cypher template for a question: a chat model fills in its parameters.

This is LlamaIndex' CypherTemplateRetriever. The model only gives values, which have to be of the declared types; the
statement is that of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from e2g_neo4j.errors import ConfigurationError, InputError, UnusableReplyError
from e2g_neo4j.models.chat.json_replies import object_schema, objects_in
from e2g_neo4j.models.chat.prompts import fenced, load_prompt
from e2g_neo4j.models.chat.thinking import without_thought
from e2g_neo4j.models.chat.until_usable import ask_until_usable
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.options import check_question
from e2g_neo4j.retrieval.templates import checked, run_template, template_of
from e2g_neo4j.runtime.requests import Operation
from e2g_neo4j.types.chat import ChatReply, ChatRequest, ChatUsage
from e2g_neo4j.types.statements import ParameterType, StatementResult, Template, TemplateParameter

PROMPT = Path(__file__).with_name("prompts") / "template.txt"

SCHEMA_TYPES: Mapping[ParameterType, str] = {
    "entity": "string",
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
}
"""The types of parameters in JSON schemas."""

REPLY_TOKENS = 300
"""Maximum length of the first reply."""


def run_template_for(
    models: Models, name: str, parameters: Mapping[str, Any], corpus: str, question: str
) -> Operation[StatementResult]:
    """Run a template with parameters that the chat model takes from a question. `E2G.run_template` executes this
    operation.

    Args:
        models: The models.
        name: The name of the template.
        parameters: The parameters that are given. The model is asked for the others, if there are any.
        corpus: The corpus.
        question: The question.

    Raises:
        ConfigurationError: No chat model is configured.
        UnusableReplyError: The model gave no usable values.
        ModelError: The model failed.
        NotFoundError: There is no such template, corpus or entity.
        InputError: A given parameter is unknown or of another type, or the statement does not only read.
    """
    check_question(question)
    template = template_of(models.settings, name)
    checked(template, parameters, all_given=False)
    missing = [one for one in template.parameters if one.name not in parameters]
    used = ChatUsage()
    values = (yield from _values(models, template, missing, parameters, question, used)) if missing else parameters
    result = yield from run_template(models.settings, name, values, corpus)
    return replace(result, calls=used.calls, prompt_tokens=used.prompt_tokens, completion_tokens=used.completion_tokens)


def _values(
    models: Models,
    template: Template,
    missing: Sequence[TemplateParameter],
    given: Mapping[str, Any],
    question: str,
    used: ChatUsage,
) -> Operation[dict[str, Any]]:
    """Ask the chat model for the missing parameters, and return all of them."""
    model, names = models.chat_model, ", ".join(one.name for one in missing)
    if model is None:
        raise ConfigurationError(
            f"To take the parameters of the template {template.name} from a question, a chat model is needed, but none "
            f"is configured: set E2G_CHAT_MODEL, or give the parameters yourself ({names})."
        )
    instructions, problem = load_prompt(PROMPT, models.settings.prompts), ""
    wanted = {one.name for one in missing}

    def parse(reply: ChatReply) -> dict[str, Any] | None:
        nonlocal problem
        found = objects_in(without_thought(reply.text))
        values = {name: value for one in found for name, value in one.items() if name in wanted}
        try:
            return checked(template, {**values, **given})
        except InputError as error:
            problem = f"The last reply was not usable. {error}"
            return None

    def request() -> ChatRequest:
        return request_for(template, missing, question, instructions, problem)

    values = yield from ask_until_usable(model, request(), parse, used, again=request)
    if values is not None:
        return values
    raise UnusableReplyError(
        f"The chat model {model.name} gave no usable parameters. {problem} Ask in another way, or give them yourself "
        f"({names})."
    )


def request_for(
    template: Template,
    missing: Sequence[TemplateParameter],
    question: str,
    instructions: str,
    problem: str = "",
) -> ChatRequest:
    """Build the request: the template and its parameters between two tags, then the question.

    Args:
        template: The template.
        missing: The parameters to fill in.
        question: The question.
        instructions: The system prompt.
        problem: What was wrong with the last reply.
    """
    listed = "\n".join([template.description, *(f"{one.name}: {one.type} - {one.description}" for one in missing)])
    system, shown = fenced(instructions, listed)
    parts = [shown, problem, f"Question: {question}"]
    return ChatRequest(
        system,
        "\n\n".join(part for part in parts if part),
        max_tokens=REPLY_TOKENS,
        schema=object_schema(**{one.name: {"type": SCHEMA_TYPES[one.type]} for one in missing}),
    )
