"""Templates whose parameters a chat model fills in from a question, without a database."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from operations import conversation

from e2g_neo4j.answering.template_questions import PROMPT, run_template_for
from e2g_neo4j.errors import ConfigurationError, InputError, NotFoundError, QueryError, UnusableReplyError
from e2g_neo4j.graph.read_only import Rows
from e2g_neo4j.models.chat.prompts import load_prompt
from e2g_neo4j.models.chat.until_usable import TRIES
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.requests import CallDriver
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.chat import ChatRequest
from e2g_neo4j.types.statements import StatementResult

QUESTION = "Which three names stand beside the captain's?"


def models(*, chat: bool = True) -> Models:
    return Models(Settings(), FakeListChatModel(responses=["unused"]) if chat else None)


def run(*replies: str, chat: bool = True, **given: Any) -> tuple[StatementResult, list[ChatRequest]]:
    """What the template `neighbours_of` finds, and what the model was asked."""

    def other(request: Any) -> Any:
        if isinstance(request, CallDriver):
            return Rows(("neighbour",), ({"neighbour": "Josiah Quill"},), False)
        names = request.parameters.get("names", ())
        found = [{"name": name, "entity": name} for name in names]
        return found if request.statement == "query/resolve" else [{"found": True}]

    operation = run_template_for(models(chat=chat), "neighbours_of", given, "novels", QUESTION)
    result, asked = conversation(operation, replies, other, (100, 10))
    assert all((one.shown.add("x"), one.shown.end()) == ("", "") for one in asked)
    return result, [one.request for one in asked]


def test_the_model_fills_in_what_is_missing() -> None:
    result, [request] = run('Here: {"entity": "Luke Farran", "limit": "3", "corpus": "other"}')
    assert result.parameters == {"entity": "luke farran", "limit": 3, "corpus": "novels"}
    assert (result.template, result.calls, result.prompt_tokens, result.completion_tokens) == (
        "neighbours_of",
        1,
        100,
        10,
    )
    lines = request.user.splitlines()
    assert lines[1] == (
        "The entities that occur in one sentence with an entity, those that occur most often with it first."
    )
    assert lines[2:4] == ["entity: entity - The entity.", "limit: integer - How many neighbours at most."]
    assert lines[-1] == f"Question: {QUESTION}"
    assert (request.seed, request.temperature) == (0, 0.0)


def test_given_parameters_win_and_are_not_asked_for() -> None:
    result, [request] = run('{"entity": "Luke Farran", "limit": 3}', limit="7")
    assert result.parameters["limit"] == 7
    assert "limit" not in request.user
    result, requests = run(limit=7, entity="Luke Farran", chat=False)
    assert (result.parameters["entity"], result.calls, requests) == ("luke farran", 0, [])


def test_values_of_other_types_are_asked_for_again_with_the_reason() -> None:
    result, requests = run(
        "Luke Farran.", '{"entity": "Luke Farran"}', '<think>{"entity": 1}</think>{"entity": "Luke", "limit": 2}'
    )
    assert result.parameters["entity"] == "luke"
    assert (result.calls, result.prompt_tokens) == (3, 300)
    assert [one.seed for one in requests] == [0, 1, 2]
    assert "needs the parameter 'entity'" in requests[1].user
    assert "needs the parameter 'limit'" in requests[2].user
    _, requests = run('{"entity": "Luke", "limit": "many"}', '{"entity": "Luke", "limit": 2}')
    assert "The parameter 'limit' of the template neighbours_of is of type integer, not 'many'." in requests[1].user


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Luke Farran",
        '{"entity": null, "limit": 3}',
        '{"entity": "  ", "limit": 3}',
        '{"entity": ["Luke"], "limit": 3}',
        '{"entity": "Luke", "limit": true}',
        '{"entity": "Luke", "limit": 1e999}',
        '{"entity": "\\ud800", "limit": 3}',
        '{"entity": "Luke", "limit": ' + "9" * 5000 + "}",
        '{"parameters": {"entity": "Luke", "limit": 3}}',
    ],
)
def test_replies_of_no_use_end_in_an_error_with_the_next_step(reply: str) -> None:
    with pytest.raises(UnusableReplyError, match=r"or give them yourself \(entity, limit\)"):
        run(*[reply] * TRIES)


def test_what_is_wrong_is_said_before_the_model_is_asked() -> None:
    with pytest.raises(InputError, match=r"has no parameter 'speed'\. Its parameters: entity"):
        run(speed=3)
    with pytest.raises(InputError, match="of type integer, not 'many'"):
        run(limit="many")
    with pytest.raises(ConfigurationError, match=r"set E2G_CHAT_MODEL, or give the parameters yourself \(entity\)"):
        run(limit=3, chat=False)
    with pytest.raises(NotFoundError, match="There is no template 'ships'"):
        next(run_template_for(models(), "ships", {}, "novels", QUESTION))
    with pytest.raises(QueryError, match="empty"):
        next(run_template_for(models(), "neighbours_of", {}, "novels", " "))


def test_the_example_of_the_prompt_is_a_usable_reply() -> None:
    assert run(load_prompt(PROMPT))[0].parameters["entity"] == "orla venn"
